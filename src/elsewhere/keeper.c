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

#include "commands/extension.h"

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
	const char *columns[2];		/* of type name: a table's schema and name; or
								 * one of type regclass, and NULL */
} FcKeeper;

/* Its place in the list */
#define FC_KEEPER_CITUS	0

static const FcKeeper keepers[] = {
	{"Citus", NULL, "pg_catalog", "pg_dist_partition", {"logicalrelid", NULL}},
	{"TimescaleDB", "timescaledb", "_timescaledb_catalog", "hypertable", {"schema_name", "table_name"}},
};

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
		fc_unsupported(errmsg("cannot tell whether %s keeps the rows of table \"%s\"",
							  keeper->name, get_rel_name(target)),
					   errdetail("\"%s.%s\", where it lists its tables, does not have the form that fast_copy knows.",
								 keeper->schema, keeper->list),
					   errhint("Use COPY without the option fast_copy."));
	fc_unsupported(errmsg("fast_copy cannot load table \"%s\", whose rows %s keeps elsewhere",
						  get_rel_name(target), keeper->name),
				   errdetail("Table \"%s\" is listed in \"%s.%s\".%s%s",
							 get_rel_name(kept->listed), keeper->schema, keeper->list,
							 why ? " " : "", why ? why : ""),
				   errhint("Use COPY without the option fast_copy: %s sends its rows to where they belong.%s%s",
						   keeper->name, kept->lacks_elsewhere ? " Or: " : "",
						   kept->lacks_elsewhere ? fc_elsewhere_hint() : ""));
}

/*
 * Finds the list.  False if the extension is not installed; *list is
 * InvalidOid if it is installed without the list that is expected of it.
 */
static bool
fc_keeper_list(const FcKeeper *keeper, Oid *list)
{
	if (keeper->extension && !OidIsValid(get_extension_oid(keeper->extension, true)))
		return false;
	*list = get_relname_relid(keeper->list,
							  get_namespace_oid(keeper->schema, true));
	if (!OidIsValid(*list) && keeper->extension == NULL)
		return false;
	if (OidIsValid(*list) && get_rel_relkind(*list) != RELKIND_RELATION)
		*list = InvalidOid;
	return true;
}

/* Finds the columns; false if the list does not have those that it should */
static bool
fc_keeper_columns(const FcKeeper *keeper, Oid list, AttrNumber *columns)
{
	Oid			type = keeper->columns[1] ? NAMEOID : REGCLASSOID;

	for (int i = 0; i < lengthof(keeper->columns) && keeper->columns[i]; i++)
	{
		columns[i] = get_attnum(list, keeper->columns[i]);
		if (columns[i] <= 0 || get_atttype(list, columns[i]) != type)
			return false;
	}
	return true;
}

/* The table that an entry is about; InvalidOid if there is none */
static Oid
fc_keeper_listed(Relation list, HeapTuple tuple, const AttrNumber *columns)
{
	Datum		values[2];

	for (int i = 0; i < lengthof(values) && columns[i] != 0; i++)
	{
		bool		isnull;

		values[i] = heap_getattr(tuple, columns[i], RelationGetDescr(list), &isnull);
		if (isnull)
			return InvalidOid;
	}
	return columns[1] == 0 ? DatumGetObjectId(values[0]) :
		get_relname_relid(NameStr(*DatumGetName(values[1])),
						  get_namespace_oid(NameStr(*DatumGetName(values[0])), true));
}

/* Does the table inherit from the other one, as a chunk or a partition does? */
static bool
fc_keeper_inherits(Oid table, Oid other)
{
	Oid			type = get_rel_type_id(table);
	Oid			from = get_rel_type_id(other);

	return OidIsValid(type) && OidIsValid(from) && typeInheritsFrom(type, from);
}

/*
 * Looks for an entry about the target, and sets the table it is about: the
 * target itself, if that is listed; else a parent or a partition of it
 */
static void
fc_keeper_look(Relation list, const AttrNumber *columns, Oid target, Oid *listed)
{
	SysScanDesc scan = systable_beginscan(list, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (*listed != target && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			entry = fc_keeper_listed(list, tuple, columns);

		CHECK_FOR_INTERRUPTS();
		if (!OidIsValid(entry) || (OidIsValid(*listed) && entry != target))
			continue;
		if (entry == target || fc_keeper_inherits(target, entry) ||
			(get_rel_relkind(target) == RELKIND_PARTITIONED_TABLE && fc_keeper_inherits(entry, target)))
			*listed = entry;
	}
	systable_endscan(scan);
}

/*
 * May this extension keep rows of the target?  Yes, with *listed InvalidOid,
 * if the list is not as expected: to load rows that no query would find is
 * worse than an error.
 */
static bool
fc_keeper_has(const FcKeeper *keeper, Oid target, Oid *listed)
{
	AttrNumber	columns[2] = {0};
	Relation	rel;
	Oid			list;
	bool		known;

	*listed = InvalidOid;
	if (!fc_keeper_list(keeper, &list))
		return false;
	if (!OidIsValid(list))
		return true;
	rel = table_open(list, AccessShareLock);
	known = fc_keeper_columns(keeper, list, columns);
	if (known)
		fc_keeper_look(rel, columns, target, listed);
	table_close(rel, AccessShareLock);
	return !known || OidIsValid(*listed);
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
	const char *why = NULL;
	void	   *known = NULL;

	if (kept.keeper == NULL)
		return NULL;
	if (kept.keeper == &keepers[FC_KEEPER_CITUS] && kept.listed == target)
	{
		const char *lacks;
		const FcElsewhere *elsewhere = fc_elsewhere(&lacks);

		kept.lacks_elsewhere = elsewhere == NULL;
		if (elsewhere)
			known = elsewhere->keep(target, &why);
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
 * The check before other hooks see the command: the extension's own hook would
 * run it, and complain of an option that it does not know.  A caller who may
 * not insert into the table is told that, and not where its rows are.
 */
void
fc_keeper_foresee(Oid target)
{
	Oid			user = GetUserId();

	if (get_rel_name(target) != NULL &&
		fc_namespace_aclcheck(get_rel_namespace(target), user, ACL_USAGE) == ACLCHECK_OK &&
		(pg_class_aclcheck(target, user, ACL_INSERT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck_all(target, user, ACL_INSERT, ACLMASK_ANY) == ACLCHECK_OK))
		(void) fc_keeper_check(target);
}
