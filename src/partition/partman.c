/*-------------------------------------------------------------------------
 *
 * partition/partman.c
 *	  Partitioned tables that pg_partman manages: names, intervals, what new
 *	  partitions inherit, and why a table should not get some.
 *
 *	partman_find.c		──► FcPartman, if pg_partman keeps the table
 *	partman.c			──► names of new partitions, their interval, and
 *							what they get before and after they are attached;
 *							maintenance is kept away meanwhile; and what
 *							speaks against making them:
 *
 *	retention	maintenance would remove the rows at once
 *	premake		maintenance would go on from the new partitions, and make
 *				no nearer ones
 *	pg_partman	a new partition would be no whole interval, because another
 *				one is in its way
 *
 * A partition that a load makes must be what pg_partman would have made from
 * the table's row in part_config: its maintenance reads times out of names
 * (4.x), steps from the highest partition to the next, and passes over a name
 * that is taken.  It accepts holes, and so a load makes partitions only where
 * there are rows.
 *
 * Everything is the caller's SQL, in the caller's transaction, which undoes it
 * on error.  SPI is connected and finished within each function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/indexing.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "common/int.h"
#include "storage/lock.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"

#include "errors/context.h"
#include "index/index.h"
#include "partition/partition.h"

/* Returns a bound as wall clocks show it; ERROR 22008 if there is none */
static Timestamp
fc_partman_local(const FcRoute *route, int64 key)
{
	int64		local = key;
	bool		good = true;

	if (route->interval.epoch)
		good = fc_key_epoch_to_time(route->interval.epoch, key, &local);
	else if (route->type == FC_KEY_DATE)
		good = IS_VALID_DATE(key) &&
			!pg_mul_s64_overflow(key, USECS_PER_DAY, &local);
	if (!good || !IS_VALID_TIMESTAMP(local))
		fc_throw(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, errmsg("timestamp out of range"));
	return route->interval.epoch || route->type == FC_KEY_TIMESTAMPTZ ?
		fc_key_local(local, route->interval.zone) : local;
}

/* Returns a text as an argument */
static Node *
fc_partman_argument(const char *text)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
							  CStringGetTextDatum(text), false, false);
}

/* Evaluates the call; returns its result, or NULL if that is no text */
static char *
fc_partman_evaluate(Oid function, List *args)
{
	Oid			type = get_func_rettype(function);
	EState	   *estate = CreateExecutorState();
	FuncExpr   *call = makeFuncExpr(function, type, args, InvalidOid,
									DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
	Datum		value;
	bool		isnull;
	char	   *result = NULL;

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	value = ExecEvalExprSwitchContext(ExecPrepareExpr((Expr *) call, estate),
									  GetPerTupleExprContext(estate), &isnull);
	if (type == TEXTOID && !isnull)
		result = TextDatumGetCString(value);
	PopActiveSnapshot();
	FreeExecutorState(estate);
	CommandCounterIncrement();
	return result;
}

/*
 * Calls one of pg_partman's functions as SQL would, but by its OID and as the
 * owner of the table.  Returns its result if that is a text and not NULL, or
 * NULL.
 *
 * The functions change search_path for the whole session and put it back; here
 * the end of the nest level restores all settings that they change.
 */
static char *
fc_partman_call(const FcPartman *partman, FcPartmanFunction function, List *args)
{
	Oid			userid;
	int			sec_context;
	int			level = fc_ddl_pin();
	char	   *result;

	Assert(OidIsValid(partman->functions[function]));
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
	char	   *suffix;			/* the name after "_p" */
	char	   *name;

	if (route->type >= FC_KEY_INT2 && route->interval.epoch == 0)
		suffix = fc_key_text(route->type, key);
	else
		suffix = TextDatumGetCString(DirectFunctionCall2Coll(timestamp_to_char, DEFAULT_COLLATION_OID,
															 TimestampGetDatum(fc_partman_local(route, key)),
															 CStringGetTextDatum(partman->datetime_string)));
	name = fc_partman_call(partman, FC_PARTMAN_CHECK_NAME,
						   list_make3(fc_partman_argument(partman->name),
									  fc_partman_argument(suffix),
									  makeBoolConst(true, false)));
	if (name == NULL)
		elog(ERROR, "pg_partman gave no name for a partition of \"%s\"",
			 partman->table);
	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	return name;
}

/* Returns the highest partition with two finite bounds, or NULL */
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
 * Do existing partitions fit this interval's time zone?  Those of a day or
 * more begin at its midnights, and shorter ones are named by its clock.
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

static List *
fc_partman_add_zone(List *zones, const char *name)
{
	pg_tz	   *zone = name ? pg_tzset(name) : NULL;

	return zone ? list_append_unique_ptr(zones, zone) : zones;
}

/* Adds the time zones that roles and the database are set to */
static List *
fc_partman_add_set_zones(List *zones)
{
	char	   *names = fc_ddl_of_catalogs("SELECT string_agg(DISTINCT substr(s, 10), E'\\n')"
									 " FROM pg_db_role_setting, unnest(setconfig) AS s"
									 " WHERE lower(s) LIKE 'timezone=%' AND setdatabase IN"
									 " (0, (SELECT oid FROM pg_database WHERE datname = current_database()))");

	for (char *name = names ? strtok(names, "\n") : NULL; name; name = strtok(NULL, "\n"))
		zones = fc_partman_add_zone(zones, name);
	return zones;
}

/*
 * Returns the time zones in which maintenance may run: this session's, those
 * that sessions of this database begin with, the server's
 */
static List *
fc_partman_zones(const FcPartman *partman)
{
	List	   *zones = list_make1(session_timezone);

	if (partman->zone)
	{
		zones = fc_partman_add_zone(NIL, partman->zone);
		if (zones == NIL)
			fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("time zone \"%s\" not recognized", partman->zone));
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

	foreach_ptr(pg_tz, zone, zones)
	{
		interval = fc_interval_step(route, partman->interval, partman->epoch, zone);
		if (fc_partman_fits(partman, route, &interval))
			return interval;
	}
	/* names of short partitions may be any, but days must begin at midnight */
	if (!interval.elapsed)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("partitions of table \"%s\" do not line up with the interval of pg_partman",
																  partman->table),
				 errdetail("The interval is \"%s\", and not all partitions begin at midnight in the time zone \"%s\".",
						   partman->interval, pg_get_timezone_name(linitial(zones))),
				 partman->zone ? 0 :
				 errhint("Set TimeZone to the one in which pg_partman creates partitions, or switch fast_copy.use_partman off."));
	return fc_interval_step(route, partman->interval, partman->epoch,
							linitial(zones));
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

/* Marks a constraint in the catalog as valid */
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

/*
 * Gives a partition of an epoch set the constraint that says its bounds in
 * times, written as pg_partman writes them.  It follows from the bounds, but
 * before 1970, where divisions round up: rows near a bound may have to be
 * refused there.
 */
static void
fc_partman_add_check(const FcPartman *partman, const FcNewPartition *part)
{
	char	   *name = psprintf("%s_partition_check", fc_new_partition_name_now(part));
	bool		implied = partman->epoch == 1 || part->range.lo >= 0;
	const char *control = quote_identifier(partman->control);
	char	   *time = partman->epoch == 1 ? psprintf("to_timestamp(%s)", control) :
		psprintf("to_timestamp((%s/" INT64_FORMAT ")::float)", control, partman->epoch);
	int64		lo;
	int64		hi;
	int			level;

	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	if (part->range.hi_max ||
		!fc_key_epoch_to_time(partman->epoch, part->range.lo, &lo) ||
		!fc_key_epoch_to_time(partman->epoch, part->range.hi, &hi))
		return;
	level = fc_ddl_begin();
	fc_ddl_run(psprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s >= %s AND %s < %s)%s",
						fc_ddl_table(part->range.partition), quote_identifier(name),
						time, quote_literal_cstr(fc_key_text(FC_KEY_TIMESTAMPTZ, lo)),
						time, quote_literal_cstr(fc_key_text(FC_KEY_TIMESTAMPTZ, hi)),
						implied ? " NOT VALID" : ""));
	fc_ddl_end(level, false);
	if (implied)
		fc_partman_vouch(part->range.partition, name);
}

void
fc_partman_finish(const FcRoute *route, Oid nspid,
				  const FcNewPartition *parts, int nparts)
{
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "fast_copy pg_partman",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(each);
	const FcPartman *partman = route->partman;

	for (int i = 0; i < nparts; i++)
	{
		Node	   *schema = fc_partman_argument(get_namespace_name(nspid));
		Node	   *parent = fc_partman_argument(partman->name);
		Node	   *child = fc_partman_argument(fc_new_partition_name_now(&parts[i]));

		CHECK_FOR_INTERRUPTS();
		if (partman->epoch)
			fc_partman_add_check(partman, &parts[i]);
		if (partman->privileges)
			fc_partman_call(partman, FC_PARTMAN_PRIVILEGES,
							list_make4(schema, parent, schema, child));
		if (OidIsValid(partman->functions[FC_PARTMAN_REPLICA_IDENTITY]))
			fc_partman_call(partman, FC_PARTMAN_REPLICA_IDENTITY,
							list_make3(schema, parent, child));
		if (partman->publications)
			fc_partman_call(partman, FC_PARTMAN_PUBLICATIONS,
							list_make3(fc_partman_argument(partman->table), schema, child));
		MemoryContextReset(each);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
	CommandCounterIncrement();
}

/*
 * Returns the key of the advisory lock that maintenance takes in exclusive
 * mode; maintenance ends if it cannot have it at once.  Loads share it.  The
 * end of the transaction releases it, also on error.
 */
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

/*
 * Returns the session that has the lock in exclusive mode, in words: any role
 * can take it, not only maintenance.  NULL if no session has it: it was
 * released, or others only wait for it.
 */
static char *
fc_partman_lock_holder(int64 key)
{
	LockData   *data = GetLockStatusData();
	LOCKTAG		tag;
	PGPROC	   *proc;
	char	   *role;
	int			i;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key, 1);
	for (i = 0; i < data->nelements; i++)
		if (memcmp(&data->locks[i].locktag, &tag, sizeof(LOCKTAG)) == 0 &&
			(data->locks[i].holdMask & LOCKBIT_ON(ExclusiveLock)) != 0)
			break;
	if (i == data->nelements)
		return NULL;
	if (data->locks[i].pid == 0)
		return "a prepared transaction";
	proc = BackendPidGetProc(data->locks[i].pid);
	role = proc ? GetUserNameFromId(proc->roleId, true) : NULL;
	return role ? psprintf("process %d of role \"%s\"", data->locks[i].pid, role) : NULL;
}

void
fc_partman_lock(void)
{
	int64		key = fc_partman_lock_key();
	char	   *holder = fc_partman_lock_holder(key);
	ErrorContextCallback callback;

	if (holder)
		ereport(NOTICE, errmsg("fast_copy waits for the maintenance of pg_partman"),
				errdetail("Its lock is held by %s.", holder));
	/* also for the server's log when core logs a lock wait */
	fc_error_context_push(&callback, fc_error_context_add,
						  psprintf("waiting for the lock of pg_partman's maintenance, which %s held", holder ? holder : "another session"));
	DirectFunctionCall1(pg_advisory_xact_lock_shared_int8, Int64GetDatum(key));
	fc_error_context_pop();
}

/*
 * Returns now, moved by so many intervals, as a key of the table; ERROR 22008
 * if there is none
 */
static int64
fc_partman_instant(const FcRoute *route, const char *interval, int times)
{
	Datum		span = DirectFunctionCall3(interval_in, CStringGetDatum(interval),
										   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	Datum		time = DirectFunctionCall2(timestamptz_pl_interval,
										   TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()),
										   DirectFunctionCall2(interval_mul, span, Float8GetDatum(times)));
	Timestamp	local;

	if (route->type >= FC_KEY_INT2)
		return fc_key_epoch_from_time(route->interval.epoch, DatumGetTimestampTz(time));
	if (route->type == FC_KEY_TIMESTAMPTZ)
		return DatumGetTimestampTz(time);
	local = fc_key_local(DatumGetTimestampTz(time), route->interval.zone);
	return route->type == FC_KEY_TIMESTAMP ? local : fc_key_day_of(FC_KEY_TIMESTAMP, local, NULL);
}

/* Returns the table's highest integer key, or "least" if that is higher */
static int64
fc_partman_highest(const FcPartman *partman, const FcRoute *route, int64 least)
{
	char	   *value = NULL;
	int64		highest = least;
	Oid			userid;
	int			sec_context;

	GetUserIdAndSecContext(&userid, &sec_context);
	for (int i = route->nranges - 1; i >= 0 && value == NULL; i--)
	{
		Oid			leaf = route->ranges[i].partition;

		CHECK_FOR_INTERRUPTS();
		/* an analysis has no XID, and must write nothing */
		if (TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
			fc_ddl_keep_schema(get_rel_namespace(leaf));
		/* as the owner: the caller may lack SELECT */
		SetUserIdAndSecContext(fc_ddl_class(leaf).relowner,
							   sec_context | SECURITY_LOCAL_USERID_CHANGE |
							   SECURITY_RESTRICTED_OPERATION);
		value = fc_ddl_value(psprintf("SELECT max(%s) FROM %s",
									  quote_identifier(partman->control), fc_ddl_table(leaf)));
		SetUserIdAndSecContext(userid, sec_context);
	}
	if (value)
		highest = pg_strtoint64(value);
	return Max(least, highest);
}

/* Does maintenance make partitions by numbers, not by time? */
static bool
fc_partman_by_number(const FcRoute *route)
{
	return route->type >= FC_KEY_INT2 && route->interval.epoch == 0;
}

/*
 * Returns the key before which partitions end that maintenance removes, once
 * the table has rows up to the key "high"
 */
static int64
fc_partman_oldest_kept(const FcPartman *partman, const FcRoute *route,
					   int64 high)
{
	int64		kept;

	if (!fc_partman_by_number(route))
		return fc_partman_instant(route, partman->retention, -1);
	high = fc_partman_highest(partman, route, high);
	if (pg_sub_s64_overflow(high, pg_strtoint64(partman->retention), &kept) ||
		kept == PG_INT64_MAX)
		return PG_INT64_MIN;
	return kept + 1;
}

void
fc_partman_narrow(const FcPartman *partman, const FcRoute *route, int64 high,
				  FcRange *bounds)
{
	const FcRange *newest = fc_partman_newest(route);
	FcRange		last;

	if (partman->retention && !fc_ignore_retention)
	{
		int64		kept = fc_partman_oldest_kept(partman, route, high);
		int64		first = kept > fc_key_kinds[route->type].first ? fc_route_find(route, kept - 1).lo : kept;

		bounds->lo = Max(bounds->lo, first);
		bounds->lo_min = bounds->lo == PG_INT64_MIN;
	}
	if (fc_ignore_premake || fc_partman_by_number(route))
		return;
	last = fc_route_find(route, fc_partman_instant(route, partman->interval, partman->premake));
	if (newest && newest->lo > last.lo)
		last = *newest;
	if (!last.hi_max && (bounds->hi_max || last.hi < bounds->hi))
	{
		bounds->hi = last.hi;
		bounds->hi_max = false;
	}
}

static FcFault *
fc_partman_too_old(const FcPartman *partman, const FcRoute *route,
				   const FcRange *lowest, const char *leave)
{
	return fc_fault("retention", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					psprintf("rows are older than the retention of pg_partman for table \"%s\"",
							 partman->table),
					psprintf("The retention is \"%s\", and the oldest rows belong to values %s: the next maintenance would remove them.",
							 partman->retention,
							 fc_range_text(route->type, lowest)),
					psprintf("Leave such rows out by %s, or set fast_copy.ignore_retention.", leave));
}

/*
 * Of partitions so far ahead that maintenance, which goes on from the highest
 * one, would make no nearer ones
 */
static FcFault *
fc_partman_too_new(const FcPartman *partman, const FcRoute *route,
				   const FcRange *highest)
{
	return fc_fault("premake", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					psprintf("rows lie beyond the partitions that pg_partman creates in advance for table \"%s\"",
							 partman->table),
					psprintf("It creates %d partition%s of \"%s\" ahead of now, and the latest rows belong to values %s: maintenance would go on from there and create no nearer ones.",
							 partman->premake, partman->premake == 1 ? "" : "s", partman->interval,
							 fc_range_text(route->type, highest)),
					pstrdup("Leave such rows out by where_clause, or set fast_copy.ignore_premake."));
}

/* Would another partition keep a new one from being a whole interval? */
static FcFault *
fc_partman_misfit(const FcPartman *partman, const FcRoute *route,
				  const FcNewPartition *parts, int nparts)
{
	for (int i = 0; i < nparts; i++)
	{
		const FcRange *range = &parts[i].range;
		int64		lo;
		int64		hi;

		Assert(i == 0 || parts[i - 1].range.lo < range->lo);
		fc_interval_floor(route->type, &route->interval, range->lo, &lo, &hi);
		if (lo == range->lo && hi == range->hi)
			continue;
		return fc_fault("pg_partman", ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						psprintf("partitions of table \"%s\" do not line up with the interval of pg_partman",
								 partman->table),
						psprintf("The interval is \"%s\", and between existing partitions there is only room for values %s.",
								 partman->interval,
								 fc_range_text(route->type, range)),
						pstrdup("Make a partition for these values first, or switch fast_copy.use_partman off."));
	}
	return NULL;
}

List *
fc_partman_faults(const FcPartman *partman, const FcRoute *route,
				  const FcRange *lowest, int64 high,
				  const FcNewPartition *parts, int nparts, const char *leave)
{
	List	   *faults = NIL;
	FcRange		bounds = FC_RANGE_ALL;

	if (partman->refusal)
	{
		/* without privileges only the existence of the row is known */
		if (nparts > 0 ||
			partman->refusal->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE)
			faults = lappend(faults, partman->refusal);
		return faults;
	}
	if (lowest)
		fc_partman_narrow(partman, route, high, &bounds);
	if (lowest && !lowest->hi_max && lowest->lo < bounds.lo)
		faults = lappend(faults, fc_partman_too_old(partman, route, lowest, leave));
	if (nparts > 0 && !bounds.hi_max && parts[nparts - 1].range.lo >= bounds.hi)
		faults = lappend(faults, fc_partman_too_new(partman, route, &parts[nparts - 1].range));
	return fc_faults_add(faults, fc_partman_misfit(partman, route, parts, nparts));
}
