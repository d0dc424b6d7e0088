/*-------------------------------------------------------------------------
 *
 * fc_partman.c
 *	  Partitioned tables that pg_partman keeps.
 *
 *		part_config ──find──► FcPartman ──► interval, names, faults
 *		new table ──prepare──► (rows) ──► attach ──finish──► its partition
 *
 * pg_partman makes partitions ahead, by its own rules, from a row for each
 * table in part_config.  A partition that a load makes must be what pg_partman
 * would have made: its maintenance reads times out of names (4.x), steps from
 * the highest partition to the next, and passes over a name that is taken.  So
 * the row decides here, and pg_partman's own functions cut names and hand down
 * what a template, the parent and its privileges have.  Which columns the row
 * has depends on the version: it is read as jsonb, and one that is not there
 * is NULL.
 *
 * Partitions are only made where there are rows.  pg_partman does not mind
 * holes.
 *
 * Everything that happens is the caller's SQL, in the caller's transaction, so
 * an error leaves nothing behind.  Its functions change search_path and put it
 * back for the whole session; all settings are put back here by the level they
 * were changed in.  SPI is connected and finished within each function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_constraint.h"
#include "common/int.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "fc_compat.h"
#include "fc_index.h"
#include "fc_options.h"
#include "fc_partman.h"

/* Columns of the query for a row of part_config */
enum
{
	CONFIG_CONTROL = 1,
	CONFIG_TYPE,
	CONFIG_INTERVAL,
	CONFIG_DATETIME,
	CONFIG_EPOCH,
	CONFIG_RETENTION,
	CONFIG_PREMAKE,
	CONFIG_ZONE,
	CONFIG_TEMPLATE,
	CONFIG_PRIVILEGES,
	CONFIG_UNDO,
	CONFIG_ASYNC,
	CONFIG_ENCODER,
	CONFIG_PUBLICATIONS,
	CONFIG_SUB,
	CONFIG_TEMPLATE_INDEX,
	CONFIG_PARENT_PROPERTIES,
	CONFIG_REPLICA_IDENTITY,
	CONFIG_ZONES
};

/* Ends what SPI and settings have begun; see the file's head */
static int
fc_partman_begin(void)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	SPI_connect();
	return level;
}

static void
fc_partman_end(int level)
{
	SPI_finish();
	AtEOXact_GUC(false, level);
}

/* Runs what gives rows; returns how many, but no more than one is fetched */
static uint64
fc_partman_query(const char *sql)
{
	int			rc = SPI_execute(sql, XactReadOnly, 1);

	if (rc != SPI_OK_SELECT)
		elog(ERROR, "unexpected result of \"%s\": %s", sql,
			 SPI_result_code_string(rc));
	return SPI_processed;
}

static void
fc_partman_run(const char *sql)
{
	int			rc = SPI_execute(sql, false, 0);

	if (rc != SPI_OK_SELECT && rc != SPI_OK_UTILITY)
		elog(ERROR, "unexpected result of \"%s\": %s", sql,
			 SPI_result_code_string(rc));
}

/* A column of the row fetched, in the SPI procedure's context; or NULL */
static char *
fc_partman_value(int column)
{
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
}

static char *
fc_partman_text(int column, MemoryContext mcxt)
{
	char	   *value = fc_partman_value(column);

	return value ? MemoryContextStrdup(mcxt, value) : NULL;
}

static bool
fc_partman_flag(int column)
{
	char	   *value = fc_partman_value(column);

	return value && value[0] == 't';
}

static FcFault *
fc_partman_fault(const char *name, int sqlerrcode, char *message, char *detail,
				 char *hint)
{
	FcFault    *fault = palloc(sizeof(FcFault));

	fault->name = name;
	fault->sqlerrcode = sqlerrcode;
	fault->message = message;
	fault->detail = detail;
	fault->hint = hint;
	return fault;
}

void
fc_partman_throw(const FcFault *fault)
{
	ereport(ERROR,
			(errcode(fault->sqlerrcode),
			 errmsg("%s", fault->message),
			 fault->detail ? errdetail("%s", fault->detail) : 0,
			 fault->hint ? errhint("%s", fault->hint) : 0));
}

/* Notes why pg_partman makes no partitions that we could imitate */
static void
fc_partman_refuse(FcPartman *partman, int sqlerrcode, const char *detail)
{
	if (partman->refusal)
		return;
	partman->refusal =
		fc_partman_fault("pg_partman", sqlerrcode,
						 psprintf("cannot make partitions of table \"%s\", which pg_partman keeps",
								  partman->table),
						 pstrdup(detail),
						 pstrdup("Set missing_partitions to \"error\" or \"default\" to load into the partitions that exist, or switch fast_copy.use_partman off."));
}

/*
 * Is the table named in part_config?  Looked up without asking whether the
 * caller may read it: a table that pg_partman keeps must not get partitions
 * that its next maintenance would stumble over.
 */
static bool
fc_partman_keeps(Oid config, const char *table)
{
	Relation	rel = table_open(config, AccessShareLock);
	AttrNumber	attnum = get_attnum(config, "parent_table");
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	bool		found = false;

	while (!found && attnum > 0 &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attnum, &isnull);

		CHECK_FOR_INTERRUPTS();
		found = !isnull && strcmp(TextDatumGetCString(value), table) == 0;
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return found;
}

/* Where pg_partman is: *config is its table.  NULL: it is not there. */
static FcPartman *
fc_partman_extension(MemoryContext mcxt, Oid *config, bool *readable)
{
	FcPartman  *partman;

	if (fc_partman_query("SELECT quote_ident(n.nspname), c.oid,"
						 " split_part(e.extversion, '.', 1)::int * 100 + split_part(e.extversion, '.', 2)::int,"
						 " has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
						 " FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
						 " JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'part_config'"
						 " WHERE e.extname = 'pg_partman'") == 0)
		return NULL;
	partman = MemoryContextAllocZero(mcxt, sizeof(FcPartman));
	partman->schema = fc_partman_text(1, mcxt);
	*config = atooid(fc_partman_value(2));
	partman->version = atoi(fc_partman_value(3));
	*readable = fc_partman_flag(4);
	return partman;
}

/* The row of the table, in the order of CONFIG_* */
static char *
fc_partman_config_sql(const FcPartman *partman, Oid parent)
{
	const char *schema = partman->schema;
	const char *function = "EXISTS (SELECT FROM pg_proc p WHERE p.proname = '%s'"
		" AND p.pronamespace = '%s'::regnamespace)";
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "SELECT c->>'control', c->>'partition_type', c->>'partition_interval',"
					 " c->>'datetime_string', coalesce(c->>'epoch', 'none'), c->>'retention',"
					 " coalesce(c->>'premake', '0'), c->>'partition_timezone', c->>'template_table',"
					 " c->>'inherit_privileges', c->>'undo_in_progress',"
					 " c->>'async_partitioning_in_progress', c->>'time_encoder',"
					 " CASE jsonb_typeof(c->'publications') WHEN 'array' THEN jsonb_array_length(c->'publications') > 0 END,"
					 " EXISTS (SELECT FROM pg_partition_ancestors(%u) a"
					 " JOIN pg_class t ON t.oid = a.relid JOIN pg_namespace n ON n.oid = t.relnamespace"
					 " JOIN %s.part_config_sub s ON s.sub_parent = n.nspname || '.' || t.relname),"
					 " EXISTS (SELECT FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid"
					 " JOIN pg_namespace n ON n.oid = t.relnamespace"
					 " WHERE n.nspname || '.' || t.relname = c->>'template_table'), ",
					 parent, schema);
	appendStringInfo(&sql, function, "inherit_parent_properties", schema);
	appendStringInfoString(&sql, ", ");
	appendStringInfo(&sql, function, "inherit_replica_identity", schema);
	appendStringInfoString(&sql,
						   ", (SELECT string_agg(DISTINCT substr(s, 10), E'\\n')"
						   " FROM pg_db_role_setting, unnest(setconfig) AS s"
						   " WHERE lower(s) LIKE 'timezone=%' AND setdatabase IN"
						   " (0, (SELECT oid FROM pg_database WHERE datname = current_database())))");
	appendStringInfo(&sql,
					 " FROM (SELECT to_jsonb(p) AS c FROM %s.part_config p"
					 " WHERE p.parent_table = %s) AS config",
					 schema, quote_literal_cstr(partman->table));
	return sql.data;
}

/* How many of the key make a second; 0: it is none; -1: unknown */
static int64
fc_partman_epoch(const char *name)
{
	static const struct
	{
		const char *name;
		int64		unit;
	}			units[] = {
		{"none", 0},
		{"seconds", 1},
		{"milliseconds", 1000},
		{"microseconds", 1000000},
		{"nanoseconds", INT64CONST(1000000000)},
	};

	for (int i = 0; i < lengthof(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return units[i].unit;
	return -1;
}

/* Takes over what the query has fetched */
static void
fc_partman_take(FcPartman *partman, MemoryContext mcxt)
{
	partman->control = fc_partman_text(CONFIG_CONTROL, mcxt);
	partman->type = fc_partman_text(CONFIG_TYPE, mcxt);
	partman->interval = fc_partman_text(CONFIG_INTERVAL, mcxt);
	partman->datetime_string = fc_partman_text(CONFIG_DATETIME, mcxt);
	partman->epoch = fc_partman_epoch(fc_partman_value(CONFIG_EPOCH));
	partman->retention = fc_partman_text(CONFIG_RETENTION, mcxt);
	partman->premake = atoi(fc_partman_value(CONFIG_PREMAKE));
	partman->zone = fc_partman_text(CONFIG_ZONE, mcxt);
	partman->has_template = fc_partman_value(CONFIG_TEMPLATE) != NULL;
	partman->privileges = fc_partman_flag(CONFIG_PRIVILEGES);
	partman->publications = fc_partman_flag(CONFIG_PUBLICATIONS);
	partman->early = partman->publications ||
		fc_partman_flag(CONFIG_TEMPLATE_INDEX);
	partman->parent_properties = fc_partman_flag(CONFIG_PARENT_PROPERTIES);
	partman->replica_identity = fc_partman_flag(CONFIG_REPLICA_IDENTITY);
	partman->zones = fc_partman_text(CONFIG_ZONES, mcxt);
}

/* What pg_partman is doing to the table, or what it has done */
static void
fc_partman_check_state(FcPartman *partman)
{
	if (fc_partman_flag(CONFIG_UNDO))
		fc_partman_refuse(partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						  "pg_partman is undoing its partitioning (undo_in_progress).");
	if (fc_partman_value(CONFIG_ASYNC))
		fc_partman_refuse(partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						  "pg_partman is moving its rows to partitions (async_partitioning_in_progress).");
	if (fc_partman_flag(CONFIG_SUB))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "It is sub-partitioned (part_config_sub).");
	if (strcmp(partman->type, "native") != 0 &&
		strcmp(partman->type, "range") != 0)
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  psprintf("Its partition type is \"%s\".", partman->type));
	if (fc_partman_value(CONFIG_ENCODER))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "Its keys are times that a function encodes (time_encoder).");
}

/* Whether the table is partitioned by what pg_partman thinks it is */
static void
fc_partman_check_key(FcPartman *partman, Relation parent)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	FcKeyType	type;

	if (key->strategy != PARTITION_STRATEGY_RANGE || key->partnatts != 1 ||
		key->partattrs[0] == 0 ||
		strcmp(get_attname(RelationGetRelid(parent), key->partattrs[0], false),
			   partman->control) != 0)
	{
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  psprintf("Its control column \"%s\" is not the partition key.",
								   partman->control));
		return;
	}
	type = fc_key_type(key->parttypid[0]);
	if (type == FC_KEY_NONE || (partman->epoch != 0 && type < FC_KEY_INT2))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  psprintf("Its control column \"%s\" is of type %s.",
								   partman->control,
								   format_type_be(key->parttypid[0])));
	if (partman->epoch < 0)
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "Its control column counts time in an unknown unit (epoch).");
	if (partman->datetime_string == NULL &&
		(partman->epoch != 0 || type < FC_KEY_INT2))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "It says nothing about the names of partitions (datetime_string).");
}

static void
fc_partman_read(FcPartman *partman, Relation parent, MemoryContext mcxt)
{
	MemoryContext old;

	if (fc_partman_query(fc_partman_config_sql(partman,
											   RelationGetRelid(parent))) == 0)
		elog(ERROR, "no configuration of \"%s\" found", partman->table);
	fc_partman_take(partman, mcxt);
	old = MemoryContextSwitchTo(mcxt);
	fc_partman_check_state(partman);
	fc_partman_check_key(partman, parent);
	MemoryContextSwitchTo(old);
}

FcPartman *
fc_partman_find(Relation parent)
{
	MemoryContext mcxt = CurrentMemoryContext;
	FcPartman  *partman;
	Oid			config;
	bool		readable;
	char	   *table;
	int			level;

	if (!fc_use_partman)
		return NULL;
	table = psprintf("%s.%s", get_namespace_name(RelationGetNamespace(parent)),
					 RelationGetRelationName(parent));
	level = fc_partman_begin();
	partman = fc_partman_extension(mcxt, &config, &readable);
	if (partman && !fc_partman_keeps(config, table))
		partman = NULL;
	if (partman)
	{
		partman->table = table;
		partman->name = MemoryContextStrdup(mcxt, RelationGetRelationName(parent));
	}
	if (partman && readable)
		fc_partman_read(partman, parent, mcxt);
	fc_partman_end(level);
	MemoryContextSwitchTo(mcxt);
	if (partman && !readable)
		fc_partman_refuse(partman, ERRCODE_INSUFFICIENT_PRIVILEGE,
						  "Its configuration may not be read: privileges on the schema and the tables of pg_partman are missing.");
	return partman;
}

/* A bound as the clock on the wall shows it where partitions begin */
static Timestamp
fc_partman_local(const FcRoute *route, int64 key)
{
	FcKeyType	type = route->type;
	int64		local = key;
	struct pg_tm tm;
	fsec_t		fsec;
	int			tz;
	bool		good = true;

	if (route->interval.epoch)
	{
		type = FC_KEY_TIMESTAMPTZ;
		good = fc_epoch_to_time(route->interval.epoch, key, &local);
	}
	else if (type == FC_KEY_DATE)
		good = IS_VALID_DATE(key) &&
			!pg_mul_s64_overflow(key, USECS_PER_DAY, &local);
	if (good && type == FC_KEY_TIMESTAMPTZ)
		good = timestamp2tm(local, &tz, &tm, &fsec, NULL, route->interval.zone) == 0 &&
			tm2timestamp(&tm, fsec, NULL, &local) == 0;
	if (!good || !IS_VALID_TIMESTAMP(local))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return local;
}

/* What stands behind "_p" in a name, as an SQL expression */
static char *
fc_partman_suffix(const FcPartman *partman, const FcRoute *route, int64 key)
{
	if (route->type >= FC_KEY_INT2 && route->interval.epoch == 0)
		return quote_literal_cstr(fc_partition_key_text(route->type, key));
	return psprintf("to_char(%s::timestamp, %s)",
					quote_literal_cstr(fc_partition_key_text(FC_KEY_TIMESTAMP,
															 fc_partman_local(route, key))),
					quote_literal_cstr(partman->datetime_string));
}

char *
fc_partman_name(const FcPartman *partman, const FcRoute *route, int64 key)
{
	MemoryContext mcxt = CurrentMemoryContext;
	int			level = fc_partman_begin();
	char	   *name;

	if (fc_partman_query(psprintf("SELECT %s.check_name_length(%s, %s, true)",
								  partman->schema,
								  quote_literal_cstr(partman->name),
								  fc_partman_suffix(partman, route, key))) == 0 ||
		fc_partman_value(1) == NULL)
		elog(ERROR, "pg_partman gave no name for a partition of \"%s\"",
			 partman->table);
	name = fc_partman_text(1, mcxt);
	fc_partman_end(level);
	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	return name;
}

/* The highest partition with two finite bounds, or NULL */
static const FcRange *
fc_partman_newest(const FcRoute *route)
{
	for (int i = route->nranges - 1; i >= 0; i--)
	{
		const FcRange *range = &route->ranges[i];

		if (!range->lo_min && !range->hi_max &&
			!fc_key_is_infinite(route->type, range->lo))
			return range;
	}
	return NULL;
}

/*
 * Do existing partitions speak for this interval's time zone?  They begin at
 * its midnights, or, where they are shorter, are named by its clock.
 */
static bool
fc_partman_fits(const FcPartman *partman, const FcRoute *route,
				const FcInterval *interval)
{
	const FcRange *newest = fc_partman_newest(route);
	FcRoute		trial = *route;

	if (!interval->elapsed || newest == NULL)
		return fc_interval_lines_up(route, interval);
	trial.interval = *interval;
	return strcmp(fc_partman_name(partman, &trial, newest->lo),
				  get_rel_name(newest->partition)) == 0;
}

static void
fc_partman_refuse_zone(const FcPartman *partman, const char *zone)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("partitions of table \"%s\" do not line up with the interval of pg_partman",
					partman->table),
			 errdetail("The interval is \"%s\", and not all partitions begin at midnight in the time zone \"%s\".",
					   partman->interval, zone),
			 partman->zone ? 0 :
			 errhint("Set TimeZone to the one in which pg_partman makes partitions, or switch fast_copy.use_partman off.")));
}

static List *
fc_partman_add_zone(List *zones, const char *name)
{
	pg_tz	   *zone = name ? pg_tzset(name) : NULL;

	return zone ? list_append_unique_ptr(zones, zone) : zones;
}

/*
 * Time zones in which maintenance may run: this session's, those that sessions
 * of this database begin with, the server's
 */
static List *
fc_partman_zones(const FcPartman *partman)
{
	List	   *zones = list_make1(session_timezone);

	if (partman->zone)
	{
		zones = fc_partman_add_zone(NIL, partman->zone);
		if (zones == NIL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("time zone \"%s\" not recognized", partman->zone)));
		return zones;
	}
	zones = fc_partman_add_zone(zones, GetConfigOptionResetString("TimeZone"));
	if (partman->zones)
	{
		char	   *names = pstrdup(partman->zones);

		for (char *name = strtok(names, "\n"); name; name = strtok(NULL, "\n"))
			zones = fc_partman_add_zone(zones, name);
	}
	zones = list_append_unique_ptr(zones, log_timezone);
	return fc_partman_add_zone(zones, "UTC");
}

FcInterval
fc_partman_interval(const FcPartman *partman, const FcRoute *route)
{
	List	   *zones = fc_partman_zones(partman);
	FcInterval	interval = {0};
	ListCell   *lc;

	foreach(lc, zones)
	{
		interval = fc_interval_step(route, partman->interval, partman->epoch,
									lfirst(lc));
		if (fc_partman_fits(partman, route, &interval))
			return interval;
	}
	/* names may be anything, but midnight must be at midnight */
	if (!interval.elapsed)
		fc_partman_refuse_zone(partman, pg_get_timezone_name(linitial(zones)));
	return fc_interval_step(route, partman->interval, partman->epoch,
							linitial(zones));
}

/* The advisory lock that maintenance tries */
static int64
fc_partman_lock_key(void)
{
	Datum		name = CStringGetTextDatum("pg_partman run_maintenance");

	return DatumGetInt32(DirectFunctionCall1Coll(hashtext, DEFAULT_COLLATION_OID, name));
}

bool
fc_partman_try_lock(void)
{
	return DatumGetBool(DirectFunctionCall1(pg_try_advisory_xact_lock_shared_int8,
											Int64GetDatum(fc_partman_lock_key())));
}

/* As the functions for locks of one key have it */
static bool
fc_partman_is_held(const LockInstanceData *lock, int64 key)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key, 1);
	return memcmp(&lock->locktag, &tag, sizeof(LOCKTAG)) == 0 &&
		(lock->holdMask & LOCKBIT_ON(ExclusiveLock)) != 0;
}

/*
 * Who has the lock for itself: any role can take it, so that it need not be
 * maintenance.  NULL: nobody has it any more, or somebody waits for it before
 * us.
 */
static char *
fc_partman_lock_holder(int64 key)
{
	LockData   *data = GetLockStatusData();
	PGPROC	   *proc;
	char	   *role;
	int			i;

	for (i = 0; i < data->nelements; i++)
		if (fc_partman_is_held(&data->locks[i], key))
			break;
	if (i == data->nelements)
		return NULL;
	if (data->locks[i].pid == 0)
		return "a prepared transaction";
	proc = BackendPidGetProc(data->locks[i].pid);
	role = proc ? GetUserNameFromId(proc->roleId, true) : NULL;
	if (role == NULL)
		return NULL;
	return psprintf("process %d of role \"%s\"", data->locks[i].pid, role);
}

/* Also for the server's log, where core says that somebody still waits */
static void
fc_partman_wait_context(void *arg)
{
	errcontext("waiting for the lock of pg_partman's maintenance, which %s held",
			   (char *) arg);
}

void
fc_partman_lock(void)
{
	int64		key = fc_partman_lock_key();
	char	   *holder = fc_partman_lock_holder(key);
	ErrorContextCallback callback;

	callback.callback = fc_partman_wait_context;
	callback.arg = holder ? holder : "another session";
	callback.previous = error_context_stack;
	if (holder)
		ereport(NOTICE,
				(errmsg("fast_copy waits for the maintenance of pg_partman"),
				 errdetail("Its lock is held by %s.", holder)));
	error_context_stack = &callback;
	DirectFunctionCall1(pg_advisory_xact_lock_shared_int8, Int64GetDatum(key));
	error_context_stack = callback.previous;
}

/* An instant as a key of the table */
static int64
fc_partman_key(const FcRoute *route, TimestampTz time)
{
	pg_tz	   *zone = route->interval.zone;
	struct pg_tm tm;
	fsec_t		fsec;
	int			tz;
	Timestamp	local;

	if (route->type >= FC_KEY_INT2)
		return fc_epoch_from_time(route->interval.epoch, time);
	if (route->type == FC_KEY_TIMESTAMPTZ)
		return time;
	if (timestamp2tm(time, &tz, &tm, &fsec, NULL, zone) != 0 ||
		tm2timestamp(&tm, fsec, NULL, &local) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	if (route->type == FC_KEY_TIMESTAMP)
		return local;
	return local / USECS_PER_DAY - (local % USECS_PER_DAY < 0 ? 1 : 0);
}

/* now() and then some: an SQL expression; as a key of the table */
static int64
fc_partman_instant(const FcRoute *route, const char *expression)
{
	int			level = fc_partman_begin();
	bool		isnull;
	Datum		time;

	fc_partman_query(psprintf("SELECT %s", expression));
	time = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	fc_partman_end(level);
	return fc_partman_key(route, DatumGetTimestampTz(time));
}

/* The highest integer key in the table, or "least" if that is higher */
static int64
fc_partman_highest(const FcPartman *partman, const FcRoute *route, int64 least)
{
	int			level = fc_partman_begin();
	bool		found = false;

	for (int i = route->nranges - 1; i >= 0 && !found; i--)
	{
		Oid			leaf = route->ranges[i].partition;
		char	   *value;

		CHECK_FOR_INTERRUPTS();
		fc_partman_query(psprintf("SELECT max(%s) FROM %s",
								  quote_identifier(partman->control),
								  quote_qualified_identifier(get_namespace_name(get_rel_namespace(leaf)),
															 get_rel_name(leaf))));
		value = fc_partman_value(1);
		found = value != NULL;
		if (found)
			least = Max(least, pg_strtoint64(value));
	}
	fc_partman_end(level);
	return least;
}

/* Ranges that end below this key are removed by maintenance */
static int64
fc_partman_oldest_kept(const FcPartman *partman, const FcRoute *route,
					   int64 high)
{
	int64		kept;

	if (route->type < FC_KEY_INT2 || route->interval.epoch != 0)
		return fc_partman_instant(route,
								  psprintf("now() - %s::interval",
										   quote_literal_cstr(partman->retention)));
	high = fc_partman_highest(partman, route, high);
	if (pg_sub_s64_overflow(high, pg_strtoint64(partman->retention), &kept) ||
		kept == PG_INT64_MAX)
		return PG_INT64_MIN;
	return kept + 1;
}

static char *
fc_partman_range_text(const FcRoute *route, const FcRange *range)
{
	return psprintf("FROM (%s) TO (%s)",
					range->lo_min ? "MINVALUE" :
					quote_literal_cstr(fc_partition_key_text(route->type, range->lo)),
					range->hi_max ? "MAXVALUE" :
					quote_literal_cstr(fc_partition_key_text(route->type, range->hi)));
}

static FcFault *
fc_partman_too_old(const FcPartman *partman, const FcRoute *route,
				   const FcRange *lowest, int64 high)
{
	if (partman->retention == NULL || fc_ignore_retention || lowest->hi_max ||
		lowest->hi >= fc_partman_oldest_kept(partman, route, high))
		return NULL;
	return fc_partman_fault("retention", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							psprintf("rows are older than the retention of pg_partman for table \"%s\"",
									 partman->table),
							psprintf("The retention is \"%s\", and the oldest rows belong to values %s: the next maintenance would remove them.",
									 partman->retention,
									 fc_partman_range_text(route, lowest)),
							pstrdup("Leave such rows out by where_clause, or set fast_copy.ignore_retention."));
}

/* pg_partman counts its premade partitions up to the highest there is */
static FcFault *
fc_partman_too_new(const FcPartman *partman, const FcRoute *route,
				   const FcRange *highest)
{
	const FcRange *newest = fc_partman_newest(route);

	if (fc_ignore_premake ||
		(route->type >= FC_KEY_INT2 && route->interval.epoch == 0) ||
		(newest != NULL && highest->lo < newest->lo) ||
		highest->lo <= fc_partman_instant(route,
										  psprintf("now() + %d * %s::interval",
												   partman->premake,
												   quote_literal_cstr(partman->interval))))
		return NULL;
	return fc_partman_fault("premake", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							psprintf("rows lie beyond the partitions that pg_partman makes ahead for table \"%s\"",
									 partman->table),
							psprintf("It makes %d partitions of \"%s\" ahead of now, and the latest rows belong to values %s: maintenance would go on from there and make no nearer ones.",
									 partman->premake, partman->interval,
									 fc_partman_range_text(route, highest)),
							pstrdup("Leave such rows out by where_clause, or set fast_copy.ignore_premake."));
}

/* A partition that is no whole interval, because another is in the way */
static FcFault *
fc_partman_misfit(const FcPartman *partman, const FcRoute *route,
				  const FcNewPartition *parts, int nparts)
{
	for (int i = 0; i < nparts; i++)
	{
		const FcRange *range = &parts[i].range;
		int64		lo;
		int64		hi;

		fc_interval_floor(route, range->lo, &lo, &hi);
		if (lo == range->lo && hi == range->hi)
			continue;
		return fc_partman_fault("pg_partman", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
								psprintf("partitions of table \"%s\" do not line up with the interval of pg_partman",
										 partman->table),
								psprintf("The interval is \"%s\", and between existing partitions there is only room for values %s.",
										 partman->interval,
										 fc_partman_range_text(route, range)),
								pstrdup("Make a partition for these values first, or switch fast_copy.use_partman off."));
	}
	return NULL;
}

List *
fc_partman_faults(const FcPartman *partman, const FcRoute *route,
				  const FcRange *lowest, int64 high,
				  const FcNewPartition *parts, int nparts)
{
	List	   *faults = NIL;
	FcFault    *fault;

	if (partman->refusal)
	{
		/* without privileges nothing is known but that there is a row */
		if (nparts > 0 ||
			partman->refusal->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE)
			faults = lappend(faults, partman->refusal);
		return faults;
	}
	if (lowest && (fault = fc_partman_too_old(partman, route, lowest, high)))
		faults = lappend(faults, fault);
	if (nparts > 0 && (fault = fc_partman_too_new(partman, route, &parts[nparts - 1].range)))
		faults = lappend(faults, fault);
	if ((fault = fc_partman_misfit(partman, route, parts, nparts)))
		faults = lappend(faults, fault);
	return faults;
}

void
fc_partman_prepare(const FcPartman *partman, Oid nspid, const char *name)
{
	char	   *schema = quote_literal_cstr(get_namespace_name(nspid));
	int			level = fc_partman_begin();
	FcProgressSlot slot;

	fc_progress_slot_save(&slot);
	if (partman->parent_properties)
		fc_partman_run(psprintf("SELECT %s.inherit_parent_properties(%s, %s, %s)",
								partman->schema, schema,
								quote_literal_cstr(partman->name),
								quote_literal_cstr(name)));
	if (partman->has_template)
		fc_partman_run(psprintf("SELECT %s.inherit_template_properties(%s, %s, %s)",
								partman->schema,
								quote_literal_cstr(partman->table), schema,
								quote_literal_cstr(name)));
	fc_progress_slot_restore(&slot);
	fc_partman_end(level);
}

/* The catalog's word that all rows fulfil a constraint */
static void
fc_partman_vouch(Oid partition, const char *name)
{
	Relation	rel = table_open(ConstraintRelationId, RowExclusiveLock);
	Oid			constraint = get_relation_constraint_oid(partition, name, false);
	HeapTuple	tuple = SearchSysCacheCopy1(CONSTROID, ObjectIdGetDatum(constraint));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", constraint);
	((Form_pg_constraint) GETSTRUCT(tuple))->convalidated = true;
	CatalogTupleUpdate(rel, &tuple->t_self, tuple);
	heap_freetuple(tuple);
	table_close(rel, RowExclusiveLock);
	CacheInvalidateRelcacheByRelid(partition);
	CommandCounterIncrement();
}

/* The key of an epoch set as a time, as pg_partman writes it */
static char *
fc_partman_key_time(const FcPartman *partman)
{
	const char *control = quote_identifier(partman->control);

	if (partman->epoch == 1)
		return psprintf("to_timestamp(%s)", control);
	return psprintf("to_timestamp((%s/" INT64_FORMAT ")::float)", control,
					partman->epoch);
}

/*
 * A partition of an epoch set has a constraint that says its bounds in times.
 * It says no more than they do; but below 1970 divisions round up, and rows
 * near a bound may have to be refused.
 */
static void
fc_partman_add_check(const FcPartman *partman, const FcNewPartition *part,
					 const char *table)
{
	char	   *name = psprintf("%s_partition_check", part->name);
	bool		implied = partman->epoch == 1 || part->range.lo >= 0;
	char	   *time = fc_partman_key_time(partman);
	int64		lo;
	int64		hi;

	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	if (part->range.hi_max ||
		!fc_epoch_to_time(partman->epoch, part->range.lo, &lo) ||
		!fc_epoch_to_time(partman->epoch, part->range.hi, &hi))
		return;
	fc_partman_run(psprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s >= %s AND %s < %s)%s",
							table, quote_identifier(name),
							time, quote_literal_cstr(fc_partition_key_text(FC_KEY_TIMESTAMPTZ, lo)),
							time, quote_literal_cstr(fc_partition_key_text(FC_KEY_TIMESTAMPTZ, hi)),
							implied ? " NOT VALID" : ""));
	if (implied)
		fc_partman_vouch(part->range.partition, name);
}

/* SPI is connected */
static void
fc_partman_finish_one(const FcPartman *partman, const char *nspname,
					  const FcNewPartition *part)
{
	const char *schema = quote_literal_cstr(nspname);
	const char *parent = quote_literal_cstr(partman->name);
	const char *child = quote_literal_cstr(part->name);

	if (partman->epoch)
		fc_partman_add_check(partman, part,
							 quote_qualified_identifier(nspname, part->name));
	if (partman->privileges)
		fc_partman_run(psprintf("SELECT %s.apply_privileges(%s, %s, %s, %s)",
								partman->schema, schema, parent, schema, child));
	if (partman->replica_identity)
		fc_partman_run(psprintf("SELECT %s.inherit_replica_identity(%s, %s, %s)",
								partman->schema, schema, parent, child));
	if (partman->publications)
		fc_partman_run(psprintf("SELECT %s.apply_publications(%s, %s, %s)",
								partman->schema,
								quote_literal_cstr(partman->table), schema, child));
}

void
fc_partman_finish(const FcRoute *route, Oid nspid,
				  const FcNewPartition *parts, int nparts)
{
	const FcPartman *partman = route->partman;
	char	   *nspname = get_namespace_name(nspid);
	MemoryContext each;
	int			level;

	if (partman == NULL ||
		(!partman->epoch && !partman->privileges &&
		 !partman->replica_identity && !partman->publications))
		return;
	level = fc_partman_begin();
	each = AllocSetContextCreate(CurrentMemoryContext, "fast_copy pg_partman",
								 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(each);
	for (int i = 0; i < nparts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_partman_finish_one(partman, nspname, &parts[i]);
		MemoryContextReset(each);
	}
	fc_partman_end(level);
	CommandCounterIncrement();
}
