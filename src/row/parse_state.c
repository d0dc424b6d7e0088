/*-------------------------------------------------------------------------
 *
 * row/parse_state.c
 *	  What is known of the record that was parsed last.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "row/parse.h"
#include "row/parser.h"

bool
fc_parse_is_cut(const FcParser *parser)
{
	return parser->record.cut;
}

bool
fc_parse_at(const FcParser *parser, const char *record, const char **column,
			const char **value)
{
	const FcField *field = &parser->record.was;

	if (parser->record.column == NULL)
		return false;
	*column = parser->record.column->name;
	*value = field->null ? NULL : field->data;
	if (field->data == fc_column_nothing)
		*value = record;
	return true;
}

const FcFaults *
fc_parse_faults(const FcParser *parser)
{
	return &parser->faults;
}

void
fc_parse_count_kept(const FcParser *parser, uint64 offset, uint64 length)
{
	fc_reject_keep(parser->ctx, offset, length, parser->faults.kept, parser->faults.nkept);
}
