/*-------------------------------------------------------------------------
 *
 * citus/catalog.c
 *	  The tables in which Citus keeps what it knows, read as catalogs.
 *
 *	 name, columns by name ──► rows as they are now ──► values
 *
 * Citus is not linked with.  Its tables are in pg_catalog, where only
 * superusers make tables.  Columns are found by name: their order differs
 * between versions.  Open tables belong to the current resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace_d.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "citus/citus.h"

/*
 * Is its library loaded, too?  Until it has defined its settings anybody could
 * set them, and so say how to connect.
 */
bool
fc_citus_is_here(void)
{
	static const char name[] = "citus.enable_manual_changes_to_shards";

	return OidIsValid(get_extension_oid("citus", true)) &&
		GetConfigOption(name, true, false) != NULL &&
		(GetConfigOptionFlags(name, true) & GUC_CUSTOM_PLACEHOLDER) == 0;
}

static void
fc_citus_refuse_form(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot tell where Citus keeps rows"),
			 errdetail("\"%s.%s\" does not have the form that fast_copy knows.", "pg_catalog", name),
			 errhint("Use COPY without the option fast_copy.")));
}

/* Finds the table; ERROR if it is not one of Citus' extension */
static Oid
fc_citus_table(const char *name)
{
	Oid			table = get_relname_relid(name, PG_CATALOG_NAMESPACE);

	if (!OidIsValid(table) || get_rel_relkind(table) != RELKIND_RELATION ||
		getExtensionOfObject(RelationRelationId, table) != get_extension_oid("citus", true))
		fc_citus_refuse_form(name);
	return table;
}

FcCitusScan
fc_citus_scan(const char *name, const FcCitusColumn *columns, int n)
{
	FcCitusScan scan = {table_open(fc_citus_table(name), AccessShareLock), .n = n, .columns = columns};

	Assert(n <= FC_CITUS_COLUMNS);
	for (int i = 0; i < n; i++)
	{
		AttrNumber	attnum = get_attnum(RelationGetRelid(scan.rel), columns[i].name);

		if (attnum <= 0 ||
			(OidIsValid(columns[i].type) &&
			 TupleDescAttr(RelationGetDescr(scan.rel), attnum - 1)->atttypid != columns[i].type))
			fc_citus_refuse_form(name);
		scan.attnums[i] = attnum;
	}
	scan.scan = systable_beginscan(scan.rel, InvalidOid, false, NULL, 0, NULL);
	return scan;
}

bool
fc_citus_next(FcCitusScan *scan)
{
	HeapTuple	tuple = systable_getnext(scan->scan);
	TupleDesc	desc = RelationGetDescr(scan->rel);
	Oid			output;
	bool		is_varlena;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; tuple && i < scan->n; i++)
	{
		scan->values[i] = heap_getattr(tuple, scan->attnums[i], desc, &scan->nulls[i]);
		if (scan->nulls[i] || OidIsValid(scan->columns[i].type))
			continue;
		/* the text of a value, whatever type the column has */
		getTypeOutputInfo(TupleDescAttr(desc, scan->attnums[i] - 1)->atttypid, &output, &is_varlena);
		scan->values[i] = CStringGetDatum(OidOutputFunctionCall(output, scan->values[i]));
	}
	if (tuple)
		return true;
	systable_endscan(scan->scan);
	table_close(scan->rel, AccessShareLock);
	return false;
}

void
fc_citus_lock(const char *name, LOCKMODE lock)
{
	LockRelationOid(fc_citus_table(name), lock);
}
