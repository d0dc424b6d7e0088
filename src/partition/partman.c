/*-------------------------------------------------------------------------
 *
 * partition/partman.c
 *	  Partitioned tables that pg_partman keeps.
 *
 *		FcPartman (partition/partman_find.c) ──► interval, names, faults
 *		new table ──prepare──► (rows) ──► attach ──finish──► its partition
 *
 * pg_partman makes partitions ahead, by its own rules, from a row for each
 * table in part_config.  A partition that a load makes must be what pg_partman
 * would have made: its maintenance reads times out of names (4.x), steps from
 * the highest partition to the next, and passes over a name that is taken.  So
 * the row decides here, and pg_partman's own functions cut names and hand down
 * what a template, the parent and its privileges have.
 *
 * Partitions are only made where there are rows.  pg_partman does not mind
 * holes.
 *
 * Everything that happens is the caller's SQL, in the caller's transaction, so
 * an error leaves nothing behind.  pg_partman's functions are called by OID, as
 * the role that fc_partman_find has found right for them.  They change
 * search_path and put it back for the whole session; all settings are put back
 * here by the level they were changed in.  SPI is connected and finished within
 * each function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
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

#include "compat/compat.h"
#include "compat/settings.h"
#include "partition/empty_table.h"
#include "partition/index_define.h"
#include "partition/partman.h"

/* Returns the level that settings are put back to, see the file's head */
static int
fc_partman_pin(void)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	return level;
}

static int
fc_partman_begin(void)
{
	int			level = fc_partman_pin();

	SPI_connect();
	return level;
}

/* Ends what SPI and settings have begun */
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

FcFault *
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

/* What stands behind "_p" in a name */
static char *
fc_partman_suffix(const FcPartman *partman, const FcRoute *route, int64 key)
{
	if (route->type >= FC_KEY_INT2 && route->interval.epoch == 0)
		return fc_key_text(route->type, key);
	return TextDatumGetCString(DirectFunctionCall2Coll(timestamp_to_char, DEFAULT_COLLATION_OID,
													   TimestampGetDatum(fc_partman_local(route, key)),
													   CStringGetTextDatum(partman->datetime_string)));
}

static Node *
fc_partman_argument(const char *text)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
							  CStringGetTextDatum(text), false, false);
}

/* Evaluates the call; its result, if that is a text and not NULL */
static char *
fc_partman_evaluate(Oid function, List *args)
{
	Oid			type = get_func_rettype(function);
	EState	   *estate = CreateExecutorState();
	FuncExpr   *call = makeFuncExpr(function, type, args, InvalidOid,
									DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
	ExprState  *state;
	Datum		value;
	bool		isnull;
	char	   *result = NULL;

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	state = ExecPrepareExpr((Expr *) call, estate);
	value = ExecEvalExprSwitchContext(state, GetPerTupleExprContext(estate),
									  &isnull);
	if (type == TEXTOID && !isnull)
		result = TextDatumGetCString(value);
	PopActiveSnapshot();
	FreeExecutorState(estate);
	CommandCounterIncrement();
	return result;
}

/*
 * Calls one of pg_partman's functions as SQL would, but by its OID and as the
 * role that may be trusted with it.
 */
static char *
fc_partman_call(const FcPartman *partman, FcPartmanFunction function, List *args)
{
	Oid			userid;
	int			sec_context;
	int			level = fc_partman_pin();
	char	   *result;

	GetUserIdAndSecContext(&userid, &sec_context);
	if (partman->user != userid)
		SetUserIdAndSecContext(partman->user, sec_context |
							   SECURITY_LOCAL_USERID_CHANGE |
							   SECURITY_RESTRICTED_OPERATION);
	result = fc_partman_evaluate(partman->functions[function], args);
	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(userid, sec_context);
	return result;
}

char *
fc_partman_name(const FcPartman *partman, const FcRoute *route, int64 key)
{
	List	   *args = list_make3(fc_partman_argument(partman->name),
								  fc_partman_argument(fc_partman_suffix(partman, route, key)),
								  makeBoolConst(true, false));
	char	   *name = fc_partman_call(partman, FC_PARTMAN_CHECK_NAME, args);

	if (name == NULL)
		elog(ERROR, "pg_partman gave no name for a partition of \"%s\"",
			 partman->table);
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

/* Those that roles and the database are set to */
static List *
fc_partman_add_set_zones(List *zones)
{
	MemoryContext mcxt = CurrentMemoryContext;
	int			level = fc_partman_begin();
	char	   *names;

	fc_partman_query("SELECT string_agg(DISTINCT substr(s, 10), E'\\n')"
					 " FROM pg_db_role_setting, unnest(setconfig) AS s"
					 " WHERE lower(s) LIKE 'timezone=%' AND setdatabase IN"
					 " (0, (SELECT oid FROM pg_database WHERE datname = current_database()))");
	names = fc_partman_value(1);
	MemoryContextSwitchTo(mcxt);
	for (char *name = names ? strtok(names, "\n") : NULL; name; name = strtok(NULL, "\n"))
		zones = fc_partman_add_zone(zones, name);
	fc_partman_end(level);
	return zones;
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
	zones = fc_partman_add_set_zones(zones);
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

Oid
fc_partman_template(const FcPartman *partman)
{
	char	   *schema = partman->template ? pstrdup(partman->template) : NULL;
	char	   *name = schema ? strchr(schema, '.') : NULL;

	if (name == NULL)
		return InvalidOid;
	*name++ = '\0';
	return get_relname_relid(name, get_namespace_oid(schema, true));
}

static Oid
fc_partman_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* It is called by its name, and who may rename a schema is not asked for */
static void
fc_partman_keep_template(const FcPartman *partman)
{
	Oid			nspid;

	if (OidIsValid(partman->template_oid))
	{
		LockRelationOid(partman->template_oid, AccessShareLock);
		nspid = get_rel_namespace(partman->template_oid);
		if (OidIsValid(nspid))
			fc_table_keep_schema(nspid);
	}
	if (fc_partman_template(partman) != partman->template_oid ||
		fc_partman_owner(partman->template_oid) != partman->template_owner)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("template \"%s\" of table \"%s\" was changed while the table was being loaded",
						partman->template, partman->table),
				 errhint("Load it again.")));
}

void
fc_partman_check_names(const FcPartman *partman, Relation parent)
{
	if (strcmp(partman->table,
			   psprintf("%s.%s", get_namespace_name(RelationGetNamespace(parent)),
						RelationGetRelationName(parent))) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" was renamed while it was being loaded",
						partman->table),
				 errhint("pg_partman knows it by its name. Load it again.")));
	if (partman->template)
		fc_partman_keep_template(partman);
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

/* As the table's owner: who may insert need not be allowed to read */
static void
fc_partman_query_as(Oid owner, const char *sql)
{
	Oid			userid;
	int			sec_context;

	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(owner, sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	fc_partman_query(sql);
	SetUserIdAndSecContext(userid, sec_context);
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
		/* an analysis writes nothing */
		if (TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
			fc_table_keep_schema(get_rel_namespace(leaf));
		fc_partman_query_as(fc_partman_owner(leaf),
							psprintf("SELECT max(%s) FROM %s",
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
					quote_literal_cstr(fc_key_text(route->type, range->lo)),
					range->hi_max ? "MAXVALUE" :
					quote_literal_cstr(fc_key_text(route->type, range->hi)));
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
	Node	   *schema = fc_partman_argument(get_namespace_name(nspid));
	Node	   *child = fc_partman_argument(name);
	FcProgressSlot slot;

	fc_progress_slot_save(&slot);
	if (OidIsValid(partman->functions[FC_PARTMAN_PARENT]))
		fc_partman_call(partman, FC_PARTMAN_PARENT,
						list_make3(schema, fc_partman_argument(partman->name), child));
	if (partman->template)
		fc_partman_call(partman, FC_PARTMAN_TEMPLATE,
						list_make3(fc_partman_argument(partman->table), schema, child));
	fc_progress_slot_restore(&slot);
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
	char	   *name = psprintf("%s_partition_check", fc_partition_name_now(part));
	bool		implied = partman->epoch == 1 || part->range.lo >= 0;
	char	   *time = fc_partman_key_time(partman);
	int64		lo;
	int64		hi;
	int			level;

	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	if (part->range.hi_max ||
		!fc_epoch_to_time(partman->epoch, part->range.lo, &lo) ||
		!fc_epoch_to_time(partman->epoch, part->range.hi, &hi))
		return;
	level = fc_partman_begin();
	fc_partman_run(psprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s >= %s AND %s < %s)%s",
							table, quote_identifier(name),
							time, quote_literal_cstr(fc_key_text(FC_KEY_TIMESTAMPTZ, lo)),
							time, quote_literal_cstr(fc_key_text(FC_KEY_TIMESTAMPTZ, hi)),
							implied ? " NOT VALID" : ""));
	fc_partman_end(level);
	if (implied)
		fc_partman_vouch(part->range.partition, name);
}

static void
fc_partman_finish_one(const FcPartman *partman, const char *nspname,
					  const FcNewPartition *part)
{
	Node	   *schema = fc_partman_argument(nspname);
	Node	   *parent = fc_partman_argument(partman->name);
	char	   *name = fc_partition_name_now(part);
	Node	   *child = fc_partman_argument(name);

	if (partman->epoch)
		fc_partman_add_check(partman, part,
							 quote_qualified_identifier(nspname, name));
	if (partman->privileges)
		fc_partman_call(partman, FC_PARTMAN_PRIVILEGES,
						list_make4(schema, parent, schema, child));
	if (OidIsValid(partman->functions[FC_PARTMAN_REPLICA_IDENTITY]))
		fc_partman_call(partman, FC_PARTMAN_REPLICA_IDENTITY,
						list_make3(schema, parent, child));
	if (partman->publications)
		fc_partman_call(partman, FC_PARTMAN_PUBLICATIONS,
						list_make3(fc_partman_argument(partman->table), schema, child));
}

void
fc_partman_finish(const FcRoute *route, Oid nspid,
				  const FcNewPartition *parts, int nparts)
{
	const FcPartman *partman = route->partman;
	char	   *nspname = get_namespace_name(nspid);
	MemoryContext each;
	MemoryContext old;

	if (partman == NULL)
		return;
	each = AllocSetContextCreate(CurrentMemoryContext, "fast_copy pg_partman",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(each);
	for (int i = 0; i < nparts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_partman_finish_one(partman, nspname, &parts[i]);
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	CommandCounterIncrement();
}
