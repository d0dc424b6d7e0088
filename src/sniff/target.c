/*-------------------------------------------------------------------------
 *
 * sniff/target.c
 *	  Makes what was guessed the call for a table that is there.
 *
 *	 fields of the header, or their order ──► columns of the table ──► which
 *		guesses these can take
 *
 * The key and the width of partitions are the table's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

#include "compat/compat.h"
#include "sniff/steps.h"

/* The columns by the names of the fields; NIL if one is none, or comes twice */
static List *
fc_sniff_named(Relation rel, const FcTable *table)
{
	List	   *attnums = NIL;

	for (int i = 0; i < table->ncolumns; i++)
	{
		const FcColumnSeen *column = &table->columns[i];
		AttrNumber	attnum = fc_columns_called(rel, NULL, 0, column->header ? column->header : column->name);

		if (attnum == 0 || list_member_int(attnums, attnum))
			return NIL;
		attnums = lappend_int(attnums, attnum);
	}
	return attnums;
}

/* Takes back what the column's type cannot be read with */
static void
fc_sniff_fit_column(FcColumnSeen *column, Form_pg_attribute att)
{
	char		category;
	bool		preferred;

	column->name = pstrdup(NameStr(att->attname));
	get_type_category_preferred(att->atttypid, &category, &preferred);
	if (category != TYPCATEGORY_DATETIME)
		column->pattern = NULL;
	if (category != TYPCATEGORY_NUMERIC)
		column->format = column->amount = false;
}

void
fc_sniff_fit_target(FcTable *table, FcKeyGuess *key, Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *order = CopyGetAttnums(desc, rel, NIL);
	bool		given = table->options->given[FC_OPTION_columns];
	const char *folder;
	bool		has_names = table->header_lines > table->guess->skip || given;
	List	   *attnums = has_names ? fc_sniff_named(rel, table) : NIL;

	/* the table need not have what folders say */
	while ((folder = table->columns[table->ncolumns - 1].folder) != NULL && fc_columns_called(rel, NULL, 0, folder) == 0)
		table->ncolumns--;
	key->column = -1;
	key->interval = NULL;
	key->notes = NIL;
	if (attnums != NIL && !equal(attnums, order))
	{
		/* a header that is not the first line is not read */
		table->map |= !given && table->header_lines == 1;
		table->list = !given && table->header_lines > 1;
	}
	else if (list_length(order) == table->ncolumns)
		attnums = order;
	if (attnums == NIL)
		fc_sniff_note(table->notes, "The records have %d fields, and %s has %d columns that a file can fill: name those of the file in columns, or fields to skip by header => 'map', ignore_extra_columns => true.",
					  table->ncolumns, RelationGetRelationName(rel), list_length(order));
	foreach_int(attnum, attnums)
		fc_sniff_fit_column(&table->columns[foreach_current_index(attnum)], TupleDescAttr(desc, attnum - 1));
	relation_close(rel, AccessShareLock);
}
