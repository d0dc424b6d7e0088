/*-------------------------------------------------------------------------
 *
 * partition/partman_faults.c
 *	  Why a table of pg_partman should not get some partitions.
 *
 *	retention	maintenance would remove the rows at once
 *	premake		maintenance would go on from the new partitions, and make
 *				no nearer ones
 *	pg_partman	a new partition would be no whole interval, because another
 *				one is in its way
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/fmgrprotos.h"

#include "partition/partman.h"

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
	{
		int64		highest = pg_strtoint64(value);

		least = Max(least, highest);
	}
	return least;
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
	FcFault    *fault;

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
	if ((fault = fc_partman_misfit(partman, route, parts, nparts)))
		faults = lappend(faults, fault);
	return faults;
}
