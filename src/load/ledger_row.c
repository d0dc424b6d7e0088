/*-------------------------------------------------------------------------
 *
 * load/ledger_row.c
 *	  The ledger as a table, and its rows.
 *
 * A row is about the table that "target" names.  But a dump writes a table
 * that was dropped as its OID, which another table may have where the dump is
 * restored.  So each row also says which database the OID is from, and which
 * transaction wrote the row; a dump does not restore its xmin
 * (fc_ledger_counts).  The OID, the database and the path are the key: they
 * are unique in each ledger, restored or not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/ledger_row.h"

static const FcOwnColumn ledger_columns[FC_LEDGER_NCOLUMNS] = {FC_LEDGER_COLUMNS(FC_OWN_COLUMN)};

static const int ledger_key[] = {FC_LEDGER_PATH, FC_LEDGER_TARGET_OID, FC_LEDGER_ORIGIN};

const FcOwnTable fc_ledger_kind = {
	"ledger", "fast_copy_create_ledger_table", "files that fast_copy has loaded",
	ledger_columns, FC_LEDGER_NCOLUMNS, lengthof(ledger_key), ledger_key, ""
};

void
fc_ledger_check(Relation rel)
{
	fc_own_table_check_closed(&fc_ledger_kind, rel);
}

Relation
fc_ledger_open(Oid table, Oid target)
{
	Relation	rel = fc_own_table_open(&fc_ledger_kind, table);

	fc_ledger_check(rel);
	if (table == target)
		fc_own_table_refuse(&fc_ledger_kind, table, "It is the table that is loaded.");
	fc_ddl_keep_schema(RelationGetNamespace(rel));
	return rel;
}

char *
fc_ledger_origin(void)
{
	return psprintf(UINT64_FORMAT "/%u", GetSystemIdentifier(), MyDatabaseId);
}

char *
fc_ledger_identity(Oid target)
{
	return psprintf("%u::pg_catalog.oid, %s::pg_catalog.text, '%s'::pg_catalog.text, '%u'::pg_catalog.xid", target,
					quote_literal_cstr(fc_ddl_table(target)), fc_ledger_origin(), GetCurrentTransactionId());
}

/*
 * A row counts if it was written in this database, for this table or for one
 * that is gone; or if it came here with its xmin, by pg_upgrade or a copy of
 * the database; or if a dump that named the table was restored, which gave the
 * table another OID.
 */
char *
fc_ledger_counts(void)
{
	return psprintf("(CASE l.origin WHEN '%s' "
					"THEN l.target = l.target_oid OR NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = l.target_oid) "
					"ELSE l.target <> l.target_oid OR coalesce(l.xmin = l.xid, false) END)", fc_ledger_origin());
}

void
fc_ledger_set(FcLedgerRow *row, FcLedgerColumn column, Datum value)
{
	row->values[column] = value;
	row->nulls[column] = ' ';
}

void
fc_ledger_row(FcLedgerRow *row, Oid target, const char *path)
{
	memset(row->nulls, 'n', sizeof(row->nulls));
	fc_ledger_set(row, FC_LEDGER_TARGET, ObjectIdGetDatum(target));
	fc_ledger_set(row, FC_LEDGER_PATH, CStringGetTextDatum(path));
}

uint64
fc_ledger_run(const char *sql, FcLedgerRow *row)
{
	Oid			types[FC_LEDGER_NPARAMS];

	for (int i = 0; i < FC_LEDGER_NPARAMS; i++)
		types[i] = ledger_columns[i].typid;
	return fc_ddl_execute(NULL, sql, FC_LEDGER_NPARAMS, types, row->values, row->nulls);
}

uint64
fc_ledger_set_columns(Oid table, FcLedgerRow *row, const char *columns)
{
	return fc_ledger_run(psprintf("UPDATE ONLY %s AS l SET %s, (" FC_LEDGER_IDENTITY ") = ROW(%s) "
								  "WHERE l.target = $1 AND l.path = $2 AND %s",
								  fc_ddl_table(table), columns,
								  fc_ledger_identity(DatumGetObjectId(row->values[FC_LEDGER_TARGET])),
								  fc_ledger_counts()), row);
}

const char *
fc_ledger_key_type(FcKeyType type)
{
	return fc_key_is_integer(type) ? "pg_catalog.int8" :
		format_type_be_qualified(type == FC_KEY_NONE ? TEXTOID : fc_key_kinds[type].typid);
}

/*
 * The new value of a column about keys.  Rows that an earlier load of the file
 * gave may still be there: the range grows, and is unknown if one of the two
 * is.  A row that counts 0 rows and knows no keys is of a file without any; if
 * only its last load found none, the name of its column is empty.
 */
static char *
fc_ledger_widened(FcLedgerColumn column, const char *type)
{
	const char *name = ledger_columns[column].name;
	int			number = column + 1;
	char	   *both = psprintf("$%d", number);

	if (column != FC_LEDGER_KEY_COLUMN)
		both = psprintf("CASE WHEN l.%s::%s %c $%d::%s THEN l.%s ELSE $%d END", name, type,
						column == FC_LEDGER_FIRST_KEY ? '<' : '>', number, type, name, number);
	return psprintf("CASE WHEN l.key_column = $%d THEN %s WHEN l.key_column IS NULL AND coalesce(l.rows, l.size) = 0 THEN $%d "
					"WHEN $%d = 0 THEN %s END", FC_LEDGER_KEY_COLUMN + 1, both, number, FC_LEDGER_ROWS + 1,
					column == FC_LEDGER_KEY_COLUMN ? psprintf("coalesce(l.%s, '')", name) : psprintf("l.%s", name));
}

void
fc_ledger_update(Oid table, FcLedgerRow *row, FcKeyType type, bool adds)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = FC_LEDGER_PATH + 1; i < FC_LEDGER_NPARAMS; i++)
	{
		const char *name = quote_identifier(ledger_columns[i].name);
		bool		sum = adds && (i == FC_LEDGER_ROWS || i == FC_LEDGER_REJECTED || i == FC_LEDGER_FILTERED);

		appendStringInfo(&columns, "%s%s = %s", i > FC_LEDGER_PATH + 1 ? ", " : "", name,
						 i >= FC_LEDGER_FIRST_KEY && i <= FC_LEDGER_KEY_COLUMN ? fc_ledger_widened(i, fc_ledger_key_type(type)) :
						 psprintf("%s$%d", sum ? psprintf("l.%s + ", name) : "", i + 1));
	}
	if (fc_ledger_set_columns(table, row, columns.data) != 1)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("the row of \"%s\" in ledger \"%s\" is gone",
																  TextDatumGetCString(row->values[FC_LEDGER_PATH]), get_rel_name(table)),
				 errdetail("It was deleted while the file was loaded."));
}
