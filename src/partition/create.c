/*-------------------------------------------------------------------------
 *
 * partition/create.c
 *	  Makes the missing partitions, and attaches them once filled.
 *
 * CREATE TABLE ... PARTITION OF would lock the parent against everybody from
 * its start to the end of the load, so the life of a new partition is
 *
 *		precheck	may we, and does the default partition allow it?
 *		create		a stand-alone table, equal to what PARTITION OF makes
 *		(rows and indexes, elsewhere)
 *		attach		ATTACH PARTITION, without the scans it would do
 *
 * ATTACH reads all rows of the new partition, and of the default partition,
 * unless a valid CHECK constraint proves that no row is out of place.  Here
 * such a constraint is written into the catalog without reading a row: for the
 * new partition, because the loader has compared each key with the range (and
 * not where code of the table may have written to it as well; where it may do so
 * during ATTACH, all new partitions have theirs before the first); for the
 * default, because attach_begin has read it once, under the lock, for all new
 * ranges.  Both constraints are gone again when this file is done.
 *
 * What ATTACH does of all this is cheap for one partition and not for
 * thousands: after the first it is left out where that is possible
 * (partition/attach.c).
 *
 * Everything is DDL in the caller's transaction, so an error leaves nothing
 * behind.  SPI is connected and finished within each function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_class.h"
#include "catalog/indexing.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "partitioning/partbounds.h"
#include "pgtime.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat/compat.h"
#include "partition/attach.h"
#include "partition/create.h"
#include "partition/empty_table.h"
#include "partition/index_define.h"
#include "partition/partman.h"

/* How much of a lower bound a partition's name tells */
typedef enum NameLevel
{
	NAME_YEAR,
	NAME_MONTH,
	NAME_DAY,
	NAME_MINUTE,
	NAME_SECOND,
	NAME_USEC
} NameLevel;

/* Longest suffix: a date and time to the microsecond, and a number */
#define SUFFIX_SIZE		NAMEDATALEN

/* "FROM (...) TO (...)" */
static char *
range_text(FcKeyType type, const FcRange *range)
{
	char	   *lo = range->lo_min ? pstrdup("MINVALUE") :
		quote_literal_cstr(fc_key_text(type, range->lo));
	char	   *hi = range->hi_max ? pstrdup("MAXVALUE") :
		quote_literal_cstr(fc_key_text(type, range->hi));

	return psprintf("FROM (%s) TO (%s)", lo, hi);
}

static int
compare_ranges(const void *a, const void *b)
{
	int64		lo_a = ((const FcRange *) a)->lo;
	int64		lo_b = ((const FcRange *) b)->lo;

	return lo_a < lo_b ? -1 : lo_a > lo_b ? 1 : 0;
}

/* The ranges of "parts", ascending, neighbours merged into one; *n of them */
static FcRange *
merged_ranges(const FcNewPartition *parts, int nparts, int *n)
{
	FcRange    *ranges = palloc(sizeof(FcRange) * Max(nparts, 1));
	int			last = 0;
	int			i;

	for (i = 0; i < nparts; i++)
		ranges[i] = parts[i].range;
	qsort(ranges, nparts, sizeof(FcRange), compare_ranges);

	for (i = 1; i < nparts; i++)
	{
		if (ranges[i].lo != ranges[last].hi)
			ranges[++last] = ranges[i];
		else
		{
			ranges[last].hi = ranges[i].hi;
			ranges[last].hi_max = ranges[i].hi_max;
		}
	}
	*n = nparts > 0 ? last + 1 : 0;
	return ranges;
}

/* The one of "n" ascending ranges that holds "key", or NULL */
static const FcRange *
find_range(const FcRange *ranges, int n, int64 key)
{
	int			low = 0;

	while (low < n)
	{
		int			mid = low + (n - low) / 2;

		if (!ranges[mid].hi_max && key >= ranges[mid].hi)
			low = mid + 1;
		else if (!ranges[mid].lo_min && key < ranges[mid].lo)
			n = mid;
		else
			return &ranges[mid];
	}
	return NULL;
}

/* The range of "parts" that holds "key", for a message */
static const FcRange *
part_of_key(const FcNewPartition *parts, int nparts, int64 key)
{
	int			i;

	for (i = 0; i < nparts; i++)
		if (find_range(&parts[i].range, 1, key) != NULL)
			return &parts[i].range;
	elog(ERROR, "no new partition holds the key");
}

/*
 * ERROR 23514 if a row of the default partition belongs to one of "parts".
 * The message is the one that ATTACH would end the load with.
 */
static void
scan_default(Relation defrel, AttrNumber attnum, FcKeyType type,
			 const FcNewPartition *parts, int nparts)
{
	int			n;
	FcRange    *ranges = merged_ranges(parts, nparts, &n);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(defrel, NULL);
	TableScanDesc scan = table_beginscan(defrel, snapshot, 0, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attnum, &isnull);
		int64		key;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		key = fc_key_from_datum(type, value);
		if (find_range(ranges, n, key) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_CHECK_VIOLATION),
					 errmsg("updated partition constraint for default partition \"%s\" would be violated by some row",
							RelationGetRelationName(defrel)),
					 errdetail("A row belongs to the partition to be made for values %s.",
							   range_text(type, part_of_key(parts, nparts, key))),
					 errhint("Move such rows out of the default partition first."),
					 errtable(defrel)));
	}

	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	pfree(ranges);
}

/*
 * Looks for rows that are in the way, if there can be any that we can read
 * (ATTACH deals with foreign and partitioned defaults itself).  True if the
 * default partition has rows, and none of them is.
 */
static bool
check_default(Relation defrel, Relation parent, const FcRoute *route,
			  const FcNewPartition *parts, int nparts)
{
	AttrNumber	attnum;

	if (defrel->rd_rel->relkind != RELKIND_RELATION ||
		RelationGetNumberOfBlocks(defrel) == 0)
		return false;
	attnum = get_attnum(RelationGetRelid(defrel),
						get_attname(RelationGetRelid(parent), route->attnum,
									false));
	scan_default(defrel, attnum, route->type, parts, nparts);
	return true;
}

void
fc_partition_check_owner(Relation parent)
{
	if (!fc_owns_relation(RelationGetRelid(parent), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(parent->rd_rel->relkind),
					   RelationGetRelationName(parent));
}

/* May the parent's owner make tables where partitions of it belong? */
static bool
owner_may_create(Relation parent)
{
	Form_pg_class form = parent->rd_rel;
	Oid			tablespace = OidIsValid(form->reltablespace) ? form->reltablespace :
		GetDefaultTablespace(form->relpersistence, true);

	return fc_namespace_aclcheck(form->relnamespace, form->relowner,
								 ACL_CREATE) == ACLCHECK_OK &&
		(!OidIsValid(tablespace) || tablespace == MyDatabaseTableSpace ||
		 fc_tablespace_aclcheck(tablespace, form->relowner, ACL_CREATE) == ACLCHECK_OK);
}

/* May the caller make partitions, and may their owner have them there? */
static void
check_rights(Relation parent)
{
	Oid			nspid = RelationGetNamespace(parent);
	Oid			owner = parent->rd_rel->relowner;

	fc_partition_check_owner(parent);
	if (!superuser() &&
		fc_namespace_aclcheck(nspid, owner, ACL_CREATE) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for schema %s", get_namespace_name(nspid)),
				 owner == GetUserId() ? 0 :
				 errdetail("New partitions of table \"%s\" belong to its owner, role \"%s\", who may not create tables there.",
						   RelationGetRelationName(parent),
						   GetUserNameFromId(owner, false)),
				 owner == GetUserId() ? 0 :
				 errhint("Grant CREATE on the schema to the owner, or make the partitions ahead.")));
}

void
fc_partition_precheck(Relation parent, const FcRoute *route,
					  FcNewPartition *parts, int nparts)
{
	Relation	defrel;

	if (nparts == 0)
		return;
	check_rights(parent);
	if (!OidIsValid(route->default_oid))
		return;

	/*
	 * Not kept until commit: a second load that waits for the parent would
	 * hold it against our ATTACH.
	 */
	defrel = table_open(route->default_oid, AccessShareLock);
	(void) check_default(defrel, parent, route, parts, nparts);
	table_close(defrel, AccessShareLock);
}

/* The coarsest level that tells neighbouring intervals apart */
static NameLevel
level_of_interval(const FcRoute *route)
{
	const FcInterval *interval = &route->interval;

	if (interval->months > 0)
		return interval->months % 12 == 0 ? NAME_YEAR : NAME_MONTH;
	if (interval->days || route->type == FC_KEY_DATE)
		return NAME_DAY;
	if (interval->width % USECS_PER_MINUTE == 0)
		return NAME_MINUTE;
	return interval->width % USECS_PER_SEC == 0 ? NAME_SECOND : NAME_USEC;
}

/* The coarsest level that tells all of "key" */
static NameLevel
level_of_key(FcKeyType type, int64 key, const struct pg_tm *tm, fsec_t fsec)
{
	if (fc_key_day_start(type, fc_key_local_day(type, key)) == key)
		return tm->tm_mday != 1 ? NAME_DAY :
			tm->tm_mon != 1 ? NAME_MONTH : NAME_YEAR;
	return fsec != 0 ? NAME_USEC : tm->tm_sec != 0 ? NAME_SECOND : NAME_MINUTE;
}

/* Years that have not four digits are marked, so that no two dates look alike */
static void
append_year(StringInfo buf, int year)
{
	if (year <= 0)
		appendStringInfo(buf, "bc%04d", 1 - year);
	else if (year > 9999)
		appendStringInfo(buf, "y%d", year);
	else
		appendStringInfo(buf, "%04d", year);
}

static void
append_time_suffix(StringInfo buf, const FcRoute *route, int64 key)
{
	struct pg_tm tm;
	fsec_t		fsec;
	NameLevel	level;

	fc_key_to_tm(route->type, key, false, &tm, &fsec);
	level = Max(level_of_interval(route),
				level_of_key(route->type, key, &tm, fsec));

	append_year(buf, tm.tm_year);
	if (level >= NAME_MONTH)
		appendStringInfo(buf, "%s%02d", tm.tm_year > 9999 ? "_" : "", tm.tm_mon);
	if (level >= NAME_DAY)
		appendStringInfo(buf, "%02d", tm.tm_mday);
	if (level >= NAME_MINUTE)
		appendStringInfo(buf, "_%02d%02d", tm.tm_hour, tm.tm_min);
	if (level >= NAME_SECOND)
		appendStringInfo(buf, "%02d", tm.tm_sec);
	if (level >= NAME_USEC)
		appendStringInfo(buf, "_%06d", fsec);
}

/* What the name of the partition that starts at "key" ends with */
static char *
name_suffix(const FcRoute *route, int64 key)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "_p");
	if (route->type < FC_KEY_INT2)
		append_time_suffix(&buf, route, key);
	else if (key < 0)
		appendStringInfo(&buf, "m" UINT64_FORMAT, -(uint64) key);
	else
		appendStringInfo(&buf, INT64_FORMAT, key);
	return buf.data;
}

/* Would CREATE TABLE find the name in use, by a relation or by a type? */
static bool
name_is_taken(const char *name, Oid nspid)
{
	return OidIsValid(get_relname_relid(name, nspid)) ||
		SearchSysCacheExists2(TYPENAMENSP, CStringGetDatum(name),
							  ObjectIdGetDatum(nspid));
}

/*
 * A name for the partition that starts at "key", in the current memory
 * context.  Only the parent's part of it is cut to fit.
 */
static char *
choose_name(Relation parent, const FcRoute *route, int64 key)
{
	const char *base = RelationGetRelationName(parent);
	char	   *suffix = name_suffix(route, key);
	int			n;

	for (n = 0;; n++)
	{
		char	   *tail = n == 0 ? suffix : psprintf("%s_%d", suffix, n);
		int			len = pg_mbcliplen(base, strlen(base),
									   NAMEDATALEN - 1 - strlen(tail));
		char	   *name = psprintf("%.*s%s", len, base, tail);

		CHECK_FOR_INTERRUPTS();
		if (!name_is_taken(name, RelationGetNamespace(parent)))
			return name;
	}
}

/*
 * pg_partman passes over a name that is taken, and rows would go to the default
 * partition for ever after.  Only where clocks are put back two partitions may
 * bear the same name.
 */
static void
refuse_taken(Relation parent, const FcRoute *route, const FcRange *range,
			 const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_TABLE),
			 errmsg("relation \"%s\" already exists", name),
			 errdetail("pg_partman gives this name to the partition of table \"%s\" for values %s.",
					   RelationGetRelationName(parent),
					   range_text(route->type, range)),
			 errhint("Attach, rename or drop it first.")));
}

static bool
is_partition_of(Relation parent, Oid relid)
{
	return OidIsValid(relid) && get_rel_relispartition(relid) &&
		get_partition_parent(relid, true) == RelationGetRelid(parent);
}

/* "before" is the name of the partition made before this one, or NULL */
static char *
choose_partman_name(Relation parent, const FcRoute *route,
					const FcRange *range, const char *before)
{
	Oid			nspid = RelationGetNamespace(parent);
	char	   *base = fc_partman_name(route->partman, route, range->lo);
	char	   *name = base;

	for (int n = 1; name_is_taken(name, nspid); n++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!route->interval.elapsed ||
			!((before && strcmp(before, name) == 0) ||
			  is_partition_of(parent, get_relname_relid(name, nspid))))
			refuse_taken(parent, route, range, name);
		name = psprintf("%s_%d", base, n);
		if (strlen(name) >= NAMEDATALEN)
			refuse_taken(parent, route, range, base);
	}
	return name;
}

char *
fc_partition_name(Relation parent, const FcRoute *route, const FcRange *range)
{
	if (route->partman)
		return fc_partman_name(route->partman, route, range->lo);
	return choose_name(parent, route, range->lo);
}

/*
 * Pins what DDL text could be misread by.  Returns the level for
 * AtEOXact_GUC(); an error ends it with the transaction.
 */
static int
pin_settings(void)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	return level;
}

static void
run_ddl(const char *sql)
{
	int			rc = SPI_execute(sql, false, 0);

	if (rc != SPI_OK_UTILITY)
		elog(ERROR, "unexpected result of \"%s\": %s", sql,
			 SPI_result_code_string(rc));
}

static char *
quoted_name(Oid nspid, const char *relname)
{
	return quote_qualified_identifier(get_namespace_name(nspid), relname);
}

/*
 * LIKE copies what PARTITION OF inherits once indexes, identity, statistics
 * and comments are left out; pg_partman takes some of them along.  Access
 * method (17 and later) and tablespace are the parent's if it names one, and
 * else what the settings say.
 */
static char *
create_table_sql(Relation parent, const FcPartman *partman, const char *name)
{
	Form_pg_class form = parent->rd_rel;
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
					 " INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION%s)",
					 quoted_name(form->relnamespace, name),
					 quoted_name(form->relnamespace, NameStr(form->relname)),
					 partman == NULL ? "" : partman->version < 502 ?
					 " INCLUDING COMMENTS" :
					 " INCLUDING COMMENTS INCLUDING STATISTICS");
	if (OidIsValid(form->relam))
		appendStringInfo(&sql, " USING %s",
						 quote_identifier(get_am_name(form->relam)));
	if (OidIsValid(form->reltablespace))
		appendStringInfo(&sql, " TABLESPACE %s",
						 quote_identifier(get_tablespace_name(form->reltablespace)));
	return sql.data;
}

/*
 * Waiting for the disk, once for each table, is most of the time that making
 * small partitions takes.
 */
static void
create_table(Relation parent, const char *sql)
{
	if (FC_CORE_SYNCS_INDEXES && XLogIsNeeded() && !fc_attach_is_watched() &&
		!RelationUsesLocalBuffers(parent))
		fc_table_create(sql);
	else
		run_ddl(sql);
}

/*
 * Privileges as if the owner had made the table: those by default are of who
 * makes it.
 */
static void
give_default_privileges(Oid table, Oid owner)
{
	Relation	classes = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	old = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Acl		   *acl = get_user_default_acl(OBJECT_TABLE, owner, get_rel_namespace(table));
	Datum		values[Natts_pg_class] = {0};
	bool		nulls[Natts_pg_class] = {0};
	bool		replace[Natts_pg_class] = {0};
	bool		isnull;
	Datum		value;
	Oid		   *before;
	Oid		   *after;
	int			nbefore;
	int			nafter;
	HeapTuple	new;

	if (!HeapTupleIsValid(old))
		elog(ERROR, "cache lookup failed for relation %u", table);
	value = SysCacheGetAttr(RELOID, old, Anum_pg_class_relacl, &isnull);
	nbefore = aclmembers(isnull ? NULL : DatumGetAclP(value), &before);
	nafter = aclmembers(acl, &after);
	values[Anum_pg_class_relacl - 1] = PointerGetDatum(acl);
	nulls[Anum_pg_class_relacl - 1] = (acl == NULL);
	replace[Anum_pg_class_relacl - 1] = true;
	new = heap_modify_tuple(old, RelationGetDescr(classes), values, nulls, replace);
	CatalogTupleUpdate(classes, &new->t_self, new);
	updateAclDependencies(RelationRelationId, table, 0, owner, nbefore, before, nafter, after);
	heap_freetuple(new);
	ReleaseSysCache(old);
	table_close(classes, RowExclusiveLock);
}

/* Statistics of pg_partman's sets are objects of their own */
static void
give_statistics(Oid table, Oid owner)
{
	Relation	rel = table_open(table, NoLock);
	List	   *statistics = RelationGetStatExtList(rel);
	ListCell   *lc;

	table_close(rel, NoLock);
	foreach(lc, statistics)
		fc_change_statistics_owner(lfirst_oid(lc), owner);
}

/* What a superuser made becomes the owner's */
static void
give_table(Oid table, Oid owner)
{
	ATExecChangeOwner(table, owner, false, AccessExclusiveLock);
	CommandCounterIncrement();
	give_default_privileges(table, owner);
	give_statistics(table, owner);
	CommandCounterIncrement();
}

/*
 * The table is the parent's owner's, and so is all that is in it: whoever loads
 * the rows has nothing of it, and no code of the owner's is ever run as him.
 * A superuser may give the owner what the owner may not make.
 */
static Oid
create_owned_table(Relation parent, const char *name, const char *sql)
{
	Oid			owner = parent->rd_rel->relowner;
	bool		give = superuser() && !owner_may_create(parent);
	Oid			userid;
	int			sec_context;
	Oid			table;

	GetUserIdAndSecContext(&userid, &sec_context);
	if (!give)
		SetUserIdAndSecContext(owner, sec_context | SECURITY_LOCAL_USERID_CHANGE);
	create_table(parent, sql);
	SetUserIdAndSecContext(userid, sec_context);
	table = get_relname_relid(name, RelationGetNamespace(parent));
	if (!OidIsValid(table))
		elog(ERROR, "could not find the table \"%s\" just created", name);
	if (give)
		give_table(table, owner);
	return table;
}

/* An event trigger, or what else sees a new table, may have written to it */
static void
check_empty(const FcNewPartition *part)
{
	Relation	rel = table_open(part->range.partition, NoLock);

	if (RelationGetNumberOfBlocks(rel) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("new partition \"%s\" has rows before it is loaded", part->name)));
	table_close(rel, NoLock);
}

/* SPI is connected.  The name is made in "mcxt". */
static void
create_one(Relation parent, const FcRoute *route, FcNewPartition *part,
		   const char *before, MemoryContext mcxt)
{
	char	   *name = route->partman ?
		choose_partman_name(parent, route, &part->range, before) :
		choose_name(parent, route, part->range.lo);
	FcProgressSlot slot;

	fc_progress_slot_save(&slot);
	part->range.partition = create_owned_table(parent, name,
											   create_table_sql(parent, route->partman,
																name));
	fc_progress_slot_restore(&slot);
	if (route->partman)
		fc_partman_prepare(route->partman, RelationGetNamespace(parent), name);
	part->name = MemoryContextStrdup(mcxt, name);
}

void
fc_partition_create(FcContext *ctx, const FcRoute *route,
					FcNewPartition *parts, int nparts)
{
	Relation	parent = ctx->target;
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext each;
	int			level;
	int			i;

	if (nparts == 0)
		return;
	fc_table_keep_schema(RelationGetNamespace(parent));
	if (route->partman)
		fc_partman_check_names(route->partman, parent);
	level = pin_settings();
	SPI_connect();
	each = AllocSetContextCreate(CurrentMemoryContext, "fast_copy partition",
								 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(each);
	for (i = 0; i < nparts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		create_one(parent, route, &parts[i], i > 0 ? parts[i - 1].name : NULL,
				   caller);
		MemoryContextReset(each);
		fc_context_progress(ctx);
	}
	SPI_finish();
	AtEOXact_GUC(true, level);
	CommandCounterIncrement();
	for (i = 0; i < nparts; i++)
		check_empty(&parts[i]);
}

/* One bound as the parser makes it */
static Node *
bound_datum(PartitionKey key, FcKeyType type, int64 bound,
			PartitionRangeDatumKind kind)
{
	PartitionRangeDatum *datum = makeNode(PartitionRangeDatum);

	datum->kind = kind;
	datum->location = -1;
	if (kind == PARTITION_RANGE_DATUM_VALUE)
		datum->value = (Node *)
			makeConst(key->parttypid[0], key->parttypmod[0],
					  key->parttypcoll[0], key->parttyplen[0],
					  fc_key_datum(type, bound), false, key->parttypbyval[0]);
	return (Node *) datum;
}

/* FOR VALUES as the parser makes it */
static PartitionBoundSpec *
range_bound(Relation parent, FcKeyType type, const FcRange *range)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	PartitionBoundSpec *spec = makeNode(PartitionBoundSpec);

	spec->strategy = PARTITION_STRATEGY_RANGE;
	spec->location = -1;
	spec->lowerdatums =
		list_make1(bound_datum(key, type, range->lo, range->lo_min ?
							   PARTITION_RANGE_DATUM_MINVALUE :
							   PARTITION_RANGE_DATUM_VALUE));
	spec->upperdatums =
		list_make1(bound_datum(key, type, range->hi, range->hi_max ?
							   PARTITION_RANGE_DATUM_MAXVALUE :
							   PARTITION_RANGE_DATUM_VALUE));
	return spec;
}

/* The condition on "rel", a partition to be or the default, to be in "range" */
static Expr *
range_condition(Relation rel, Relation parent, FcKeyType type,
				const FcRange *range)
{
	List	   *quals = get_qual_from_partbound(parent,
												range_bound(parent, type, range));

	quals = map_partition_varattnos(quals, 1, rel, parent);
	return make_ands_explicit(quals);
}

/*
 * Writes a CHECK into the catalog as valid although no row was looked at: the
 * caller knows that all rows fulfil it.  Returns its OID.
 */
static Oid
vouch(Relation rel, Expr *expr)
{
	char	   *name = ChooseConstraintName(RelationGetRelationName(rel), NULL,
											"fast_copy",
											RelationGetNamespace(rel), NIL);
	List	   *added;

	added = AddRelationNewConstraints(rel, NIL,
									  list_make1(fc_make_check(name, nodeToString(expr))),
									  false, true, true, NULL);
	CommandCounterIncrement();
	return ((CookedConstraint *) linitial(added))->conoid;
}

/* Vouches that no row of the default partition is in one of "parts" */
static Oid
vouch_for_default(Relation defrel, Relation parent, FcKeyType type,
				  FcNewPartition *parts, int nparts)
{
	int			n;
	FcRange    *ranges = merged_ranges(parts, nparts, &n);
	List	   *outside = NIL;
	int			i;

	for (i = 0; i < n; i++)
	{
		Expr	   *inside = range_condition(defrel, parent, type, &ranges[i]);

		outside = lappend(outside,
						  makeBoolExpr(NOT_EXPR, list_make1(inside), -1));
	}
	return vouch(defrel, make_ands_explicit(outside));
}

/* Vouches for the default partition if there is reason to; locks it, if any */
static Oid
spare_default(Relation parent, const FcRoute *route, FcNewPartition *parts,
			  int nparts)
{
	Relation	defrel;
	Oid			spared = InvalidOid;

	if (!OidIsValid(route->default_oid))
		return InvalidOid;
	defrel = table_open(route->default_oid, AccessExclusiveLock);
	if (check_default(defrel, parent, route, parts, nparts))
		spared = vouch_for_default(defrel, parent, route->type, parts, nparts);
	table_close(defrel, NoLock);
	return spared;
}

/*
 * ATTACH looks whether a partition overlaps another, and most are attached
 * without it: the bounds are compared with those that there are now.
 */
static void
check_holes(Relation parent, const FcNewPartition *parts, int nparts)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy bounds",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	const FcRoute *now = fc_route_build(parent);

	for (int i = 0; i < nparts; i++)
	{
		const FcRange *range = &parts[i].range;
		FcRange		hole = fc_route_find(now, range->lo);

		if (OidIsValid(hole.partition))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("partition \"%s\" would overlap partition \"%s\"",
							get_rel_name(range->partition), get_rel_name(hole.partition))));
		if (!hole.hi_max && (range->hi_max || range->hi > hole.hi))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("partition \"%s\" would overlap partition \"%s\"",
							get_rel_name(range->partition),
							get_rel_name(fc_route_find(now, hole.hi).partition))));
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

/* Vouches for the rows of a new partition */
static Oid
vouch_for_part(Oid parentid, const FcRoute *route, const FcNewPartition *part)
{
	Relation	parent = table_open(parentid, ShareUpdateExclusiveLock);
	Relation	rel = table_open(part->range.partition, AccessExclusiveLock);
	Oid			constraint;

	constraint = vouch(rel, range_condition(rel, parent, route->type,
											&part->range));
	table_close(rel, NoLock);
	table_close(parent, NoLock);
	return constraint;
}

/* The same for all of them */
static Oid *
vouch_for_parts(Oid parentid, const FcRoute *route, const FcNewPartition *parts,
				int nparts)
{
	Oid		   *constraints = palloc(sizeof(Oid) * nparts);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy guard",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);

	for (int i = 0; i < nparts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		constraints[i] = vouch_for_part(parentid, route, &parts[i]);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	return constraints;
}

void
fc_partition_attach_begin(FcAttach *attach, Oid parentid, const FcRoute *route,
						  FcNewPartition *parts, int nparts, bool vouched)
{
	/* locks in the order in which ATTACH takes them */
	Relation	parent = table_open(parentid, ShareUpdateExclusiveLock);

	attach->parent = parentid;
	attach->route = route;
	attach->parts = parts;
	attach->vouched = vouched;
	attach->first = true;
	attach->untold = false;
	attach->spared = spare_default(parent, route, parts, nparts);
	attach->reason = vouched ? fc_attach_reason(parent, route->default_oid) :
		"code of the table ran commands of its own";
	check_holes(parent, parts, nparts);
	attach->guards = vouched && fc_attach_runs_code(parent) ?
		vouch_for_parts(parentid, route, parts, nparts) : NULL;
	attach->mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy attach",
										 ALLOCSET_DEFAULT_SIZES);
	table_close(parent, NoLock);
}

static void
attach_tell(FcAttach *attach)
{
	Relation	parent;

	if (!attach->untold)
		return;
	parent = table_open(attach->parent, NoLock);
	fc_attach_tell(parent, attach->route->default_oid);
	table_close(parent, NoLock);
	attach->untold = false;
}

void
fc_partition_attach_end(FcAttach *attach)
{
	attach_tell(attach);
	if (OidIsValid(attach->spared))
		fc_attach_drop_check(attach->spared);
	MemoryContextDelete(attach->mcxt);
}

void
fc_partition_drop(Oid partition)
{
	ObjectAddress address;

	ObjectAddressSet(address, RelationRelationId, partition);
	performDeletion(&address, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
}

static char *
attach_sql(Oid parentid, const FcRoute *route, const FcNewPartition *part)
{
	return psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES %s",
					quoted_name(get_rel_namespace(parentid), get_rel_name(parentid)),
					quoted_name(get_rel_namespace(part->range.partition),
								fc_partition_name_now(part)),
					range_text(route->type, &part->range));
}

/* ATTACH PARTITION */
static void
attach_by_command(FcAttach *attach, const FcNewPartition *part)
{
	Oid			vouched = InvalidOid;
	int			level = pin_settings();
	FcProgressSlot slot;

	attach_tell(attach);
	fc_progress_slot_save(&slot);
	SPI_connect();
	if (attach->guards)
		vouched = attach->guards[part - attach->parts];
	else if (attach->vouched)
		vouched = vouch_for_part(attach->parent, attach->route, part);
	run_ddl(attach_sql(attach->parent, attach->route, part));
	if (OidIsValid(vouched))
		fc_attach_drop_check(vouched);
	fc_attach_constraints(part->range.partition, false);
	SPI_finish();
	AtEOXact_GUC(true, level);
	fc_progress_slot_restore(&slot);
}

/* What is left of it where nobody would see the difference; false if one would */
static bool
attach_by_catalog(FcAttach *attach, const FcNewPartition *part)
{
	Relation	parent = table_open(attach->parent, NoLock);
	MemoryContext old = MemoryContextSwitchTo(attach->mcxt);
	FcProgressSlot slot;
	bool		done;

	fc_progress_slot_save(&slot);
	done = fc_attach_table(parent, part->range.partition,
						   range_bound(parent, attach->route->type, &part->range),
						   attach->guards ? attach->guards[part - attach->parts] : InvalidOid);
	fc_progress_slot_restore(&slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(attach->mcxt);
	table_close(parent, NoLock);
	attach->untold |= done;
	return done;
}

/* ATTACH checks of the parent, the first time, what there is to be checked */
void
fc_partition_attach(FcAttach *attach, const FcNewPartition *part)
{
	(void) fc_partition_name_now(part);
	if (attach->first || attach->reason || !attach_by_catalog(attach, part))
		attach_by_command(attach, part);
	attach->first = false;
}
