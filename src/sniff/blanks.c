/*-------------------------------------------------------------------------
 *
 * sniff/blanks.c
 *	  Blanks around values, which trim takes off.
 *
 * Most types take values with blanks around them.  Those that do not, and words
 * for NULL, need trim, which is for all columns: a comment says of which texts
 * it changes some.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "sniff/steps.h"

/* Do the values have no type with blanks around them? */
static bool
fc_blanks_hurt(const FcColumnSeen *column)
{
	if (column->typid == TEXTOID)
		return false;
	for (int word = 0; word < FC_NULL_WORDS; word++)
		if (column->padded_words[word] > 0 && (column->null_words & ((uint32) 1 << word)))
			return true;
	return column->padded > 0 &&
		(column->pattern != NULL || column->typid == UUIDOID || column->typid == INETOID);
}

/* Have all values of several texts blanks, which nobody has put in quotes? */
static bool
fc_blanks_fill(const FcTable *table, const FcColumnSeen *column)
{
	return table->ncolumns > 1 && column->typid == TEXTOID && column->values > 1 &&
		column->padded == column->values && column->padded_quoted == 0;
}

/* Says of a text what trim does to it */
static void
fc_blanks_note(const FcTable *table, FcColumnSeen *column)
{
	uint64		n = column->padded -
		(strcmp(table->trim, "all") == 0 ? 0 : column->padded_quoted);

	if (column->typid == TEXTOID && n > 0)
		column->notes = lappend(column->notes,
								n == column->values ?
								pstrdup("all values begin or end with blanks, which trim takes off") :
								psprintf(UINT64_FORMAT " of " UINT64_FORMAT " values begin or end with blanks, which trim takes off, too",
										 n, column->values));
}

void
fc_blanks_decide(FcTable *table)
{
	bool		quoted = false;

	if (table->options->given[FC_OPTION_trim])
		return;
	for (int i = 0; i < table->ncolumns; i++)
	{
		const FcColumnSeen *column = &table->columns[i];
		bool		hurt = fc_blanks_hurt(column);

		quoted |= hurt && column->padded_quoted > 0;
		if (hurt || fc_blanks_fill(table, column))
			table->trim = quoted ? "all" : "unquoted";
	}
	for (int i = 0; i < table->ncolumns && table->trim; i++)
		fc_blanks_note(table, &table->columns[i]);
}
