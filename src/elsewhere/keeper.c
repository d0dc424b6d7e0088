/*-------------------------------------------------------------------------
 *
 * elsewhere/keeper.c
 *	  Tables whose rows another extension keeps elsewhere.
 *
 *	catalog of the extension ──► tables listed ──► is the target one of them?
 *
 * Citus stores the rows of a table in shards, TimescaleDB in tables that it
 * calls chunks, and both take COPY out of core's hands to send rows there.  In
 * pg_class such a table looks like any other, but no query sees rows that are
 * written to it.  So the leader refuses the tables in these extensions' lists,
 * but for those of Citus to whose shards fast_copy_cluster can send the
 * records.
 *
 * The leader reads the lists as catalogs, whatever the caller may read.  The
 * extensions are not linked with, and nothing is kept between loads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "elsewhere/elsewhere.h"

/*
 * An extension, and its list of tables.  A list counts only if a superuser has
 * put it in place: only superusers make tables in pg_catalog, and an extension
 * of a given name is made from files on the server.  A table of such a name
 * anywhere else is not looked at.
 */
typedef struct FcKeeper
{
	const char *name;
	const char *extension;		/* must be installed; NULL: a list in its
								 * schema is proof enough */
	const char *schema;
	const char *list;
	const char *relid;			/* column of type regclass, or NULL and two
								 * columns of type name */
	const char *relschema;
	const char *relname;
} FcKeeper;

/* Its place in the list */
#define FC_KEEPER_CITUS	0

static const FcKeeper keepers[] = {
	{"Citus", NULL, "pg_catalog", "pg_dist_partition", "logicalrelid", NULL, NULL},
	{"TimescaleDB", "timescaledb", "_timescaledb_catalog", "hypertable",
	NULL, "schema_name", "table_name"},
};

/* Where the columns are; 0 for one that the list does not have */
typedef struct FcListColumns
{
	AttrNumber	relid;
	AttrNumber	relschema;
	AttrNumber	relname;
} FcListColumns;

/* What is known of a target that an extension may keep elsewhere */
typedef struct FcKept
{
	const FcKeeper *keeper;		/* NULL: none does */
	Oid			listed;			/* InvalidOid: the list is not as expected */
	bool		lacks_elsewhere;	/* fast_copy_cluster could send there */
} FcKept;

/* "why" is a sentence, or NULL */
static void
fc_keeper_throw(const FcKept *kept, Oid target, const char *why)
{
	const FcKeeper *keeper = kept->keeper;

	if (!OidIsValid(kept->listed))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot tell whether %s keeps the rows of table \"%s\"",
						keeper->name, get_rel_name(target)),
				 errdetail("\"%s.%s\", where it lists its tables, does not have the form that fast_copy knows.",
						   keeper->schema, keeper->list),
				 errhint("Use COPY without the option fast_copy.")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("fast_copy cannot load table \"%s\", whose rows %s keeps elsewhere",
					get_rel_name(target), keeper->name),
			 errdetail("Table \"%s\" is listed in \"%s.%s\".%s%s",
					   get_rel_name(kept->listed), keeper->schema, keeper->list,
					   why ? " " : "", why ? why : ""),
			 errhint("Use COPY without the option fast_copy: %s sends its rows to where they belong.%s%s",
					 keeper->name, kept->lacks_elsewhere ? " Or: " : "",
					 kept->lacks_elsewhere ? fc_elsewhere_hint() : "")));
}

/*
 * Finds the list.  False if the extension is not installed; *list is
 * InvalidOid if it is installed without the list that is expected of it.
 */
static bool
fc_keeper_list(const FcKeeper *keeper, Oid *list)
{
	Oid			schema = get_namespace_oid(keeper->schema, true);

	if (keeper->extension && !OidIsValid(get_extension_oid(keeper->extension, true)))
		return false;
	*list = !OidIsValid(schema) ? InvalidOid :
		get_relname_relid(keeper->list, schema);
	if (!OidIsValid(*list) && keeper->extension == NULL)
		return false;
	if (OidIsValid(*list) && get_rel_relkind(*list) != RELKIND_RELATION)
		*list = InvalidOid;
	return true;
}

/* 0 if there is no such column, or it is of another type */
static AttrNumber
fc_keeper_column(Relation list, const char *name, Oid type)
{
	AttrNumber	attnum = name ? get_attnum(RelationGetRelid(list), name) : 0;

	if (attnum <= 0 || TupleDescAttr(RelationGetDescr(list), attnum - 1)->atttypid != type)
		return 0;
	return attnum;
}

/* False if the list does not have the columns that it should have */
static bool
fc_keeper_columns(const FcKeeper *keeper, Relation list, FcListColumns *columns)
{
	columns->relid = fc_keeper_column(list, keeper->relid, REGCLASSOID);
	columns->relschema = fc_keeper_column(list, keeper->relschema, NAMEOID);
	columns->relname = fc_keeper_column(list, keeper->relname, NAMEOID);
	return columns->relid != 0 || (columns->relschema != 0 && columns->relname != 0);
}

/* The table that an entry is about; InvalidOid if there is none */
static Oid
fc_keeper_listed(Relation list, HeapTuple tuple, const FcListColumns *columns)
{
	TupleDesc	desc = RelationGetDescr(list);
	bool		isnull;
	bool		noname;
	Datum		schema;
	Datum		name;

	if (columns->relid != 0)
	{
		Datum		relid = heap_getattr(tuple, columns->relid, desc, &isnull);

		return isnull ? InvalidOid : DatumGetObjectId(relid);
	}
	schema = heap_getattr(tuple, columns->relschema, desc, &isnull);
	name = heap_getattr(tuple, columns->relname, desc, &noname);
	if (isnull || noname)
		return InvalidOid;
	return get_relname_relid(NameStr(*DatumGetName(name)),
							 get_namespace_oid(NameStr(*DatumGetName(schema)), true));
}

/* The tables that the target inherits from, as a chunk does */
static List *
fc_keeper_parents(Oid target)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *parents = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(target));
	scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		parents = lappend_oid(parents, ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
	systable_endscan(scan);
	table_close(inherits, AccessShareLock);
	return parents;
}

/* Is the listed table the target, one of its parents or a partition of it? */
static bool
fc_keeper_is_target(Oid target, const List *parents, Oid listed)
{
	if (listed == target || list_member_oid(parents, listed))
		return true;
	return get_rel_relkind(target) == RELKIND_PARTITIONED_TABLE &&
		get_rel_relispartition(listed) &&
		list_member_oid(get_partition_ancestors(listed), target);
}

/*
 * Is there an entry about the target?  If so, sets the table it is about: the
 * target itself, if that is listed
 */
static bool
fc_keeper_look(Relation list, const FcListColumns *columns, Oid target, Oid *listed)
{
	List	   *parents = fc_keeper_parents(target);
	SysScanDesc scan = systable_beginscan(list, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (*listed != target && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			entry = fc_keeper_listed(list, tuple, columns);

		CHECK_FOR_INTERRUPTS();
		if (OidIsValid(entry) &&
			(entry == target || (!OidIsValid(*listed) && fc_keeper_is_target(target, parents, entry))))
			*listed = entry;
	}
	systable_endscan(scan);
	return OidIsValid(*listed);
}

/*
 * May this extension keep rows of the target?  Yes, with *listed InvalidOid,
 * if the list is not as expected: to load rows that no query would find is
 * worse than an error.
 */
static bool
fc_keeper_has(const FcKeeper *keeper, Oid target, Oid *listed)
{
	FcListColumns columns;
	Relation	rel;
	Oid			list;
	bool		has = true;

	*listed = InvalidOid;
	if (!fc_keeper_list(keeper, &list))
		return false;
	if (!OidIsValid(list))
		return true;
	rel = table_open(list, AccessShareLock);
	if (fc_keeper_columns(keeper, rel, &columns))
		has = fc_keeper_look(rel, &columns, target, listed);
	table_close(rel, AccessShareLock);
	return has;
}

/* Finds the extension that may keep rows of the target */
static FcKept
fc_keeper_find(Oid target)
{
	FcKept kept = {NULL};

	for (int i = 0; i < lengthof(keepers) && kept.keeper == NULL; i++)
		if (fc_keeper_has(&keepers[i], target, &kept.listed))
			kept.keeper = &keepers[i];
	return kept;
}

bool
fc_keeper_keeps(Oid target)
{
	return fc_keeper_find(target).keeper != NULL;
}

void *
fc_keeper_check(Oid target)
{
	FcKept		kept = fc_keeper_find(target);
	const FcElsewhere *elsewhere;
	const char *why = NULL;
	const char *lacks;
	void	   *known = NULL;

	if (kept.keeper == NULL)
		return NULL;
	if (kept.keeper == &keepers[FC_KEEPER_CITUS] && kept.listed == target)
	{
		elsewhere = fc_elsewhere(&lacks);
		if (elsewhere)
			known = elsewhere->keep(target, &why);
		else
			kept.lacks_elsewhere = true;
	}
	if (known == NULL)
		fc_keeper_throw(&kept, target, why);
	return known;
}

void
fc_keeper_refuse(Oid target, const char *why)
{
	FcKept		kept = {&keepers[FC_KEEPER_CITUS], target};

	fc_keeper_throw(&kept, target, why);
}

void *
fc_keeper_check_still(Oid target)
{
	const char *why = NULL;
	void	   *known = fc_elsewhere_get()->keep_still(target, &why);

	if (known == NULL)
		fc_keeper_refuse(target, why);
	return known;
}

/*
 * May the caller insert into the table?  One who may not is told that, and not
 * where its rows are.
 */
static bool
fc_keeper_may_insert(Oid target)
{
	Oid			user = GetUserId();

	if (fc_namespace_aclcheck(get_rel_namespace(target), user, ACL_USAGE) != ACLCHECK_OK)
		return false;
	return pg_class_aclcheck(target, user, ACL_INSERT) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(target, user, ACL_INSERT, ACLMASK_ANY) == ACLCHECK_OK;
}

/*
 * The check before other hooks see the command: the extension's own hook would
 * run it, and complain of an option that it does not know
 */
void
fc_keeper_foresee(Oid target)
{
	if (get_rel_name(target) != NULL && fc_keeper_may_insert(target))
		(void) fc_keeper_check(target);
}
