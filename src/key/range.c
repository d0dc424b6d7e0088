/*-------------------------------------------------------------------------
 *
 * key/range.c
 *	  From a key to the range of keys that share its partition.
 *
 * 1. fc_route_build makes a sorted array of ranges of the partition
 *    descriptor.
 * 2. fc_route_find finds the range of a key: an existing partition, or a hole.
 * 3. A hole is cut to the key's interval (fc_interval_floor).
 *
 * Core routes row by row; in a range two comparisons do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/date.h"

#include "compat/compat.h"
#include "key/range.h"

/*
 * The key type of a column's type, FC_KEY_NONE for all but six.  Not for a
 * domain either: rows are routed by its base type's operator class, but its
 * values have a CHECK of their own.
 */
FcKeyType
fc_key_type(Oid typid)
{
	for (FcKeyType type = FC_KEY_TIMESTAMP; type <= FC_KEY_INT8; type++)
		if (fc_key_kinds[type].typid == typid)
			return type;
	return FC_KEY_NONE;
}

/* "key", which is in the type's range, as a value of the type */
Datum
fc_key_datum(FcKeyType type, int64 key)
{
	switch (fc_key_kinds[type].size)
	{
		case sizeof(int64):
			return Int64GetDatum(key);
		case sizeof(int32):
			Assert(key >= PG_INT32_MIN && key <= PG_INT32_MAX);
			return Int32GetDatum((int32) key);
		case sizeof(int16):
			Assert(key >= PG_INT16_MIN && key <= PG_INT16_MAX);
			return Int16GetDatum((int16) key);
	}
	elog(ERROR, "unexpected key type: %d", (int) type);
}

/* The opposite of fc_key_datum */
int64
fc_key_from_datum(FcKeyType type, Datum value)
{
	switch (fc_key_kinds[type].size)
	{
		case sizeof(int64):
			return DatumGetInt64(value);
		case sizeof(int32):
			return DatumGetInt32(value);
		case sizeof(int16):
			return DatumGetInt16(value);
	}
	elog(ERROR, "unexpected key type: %d", (int) type);
}

bool
fc_key_is_infinite(FcKeyType type, int64 key)
{
	int64		last = fc_key_kinds[type].past;

	return !fc_key_is_integer(type) && (key == last || key == -last - 1);
}

/*
 * As for COPY, one that is being detached concurrently is left out, unless this
 * transaction's snapshot must not notice
 */
PartitionDesc
fc_route_partdesc(Relation parent)
{
	return RelationGetPartitionDesc(parent, !IsolationUsesXactSnapshot());
}

bool
fc_route_keyed(Relation parent, AttrNumber *attnum)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	Oid			opclass;

	if (key->strategy != PARTITION_STRATEGY_RANGE || key->partnatts != 1 ||
		key->partattrs[0] == 0 ||
		fc_key_type(key->parttypid[0]) == FC_KEY_NONE)
		return false;
	/* rows must be compared the way the type's own < compares them */
	opclass = GetDefaultOpClass(key->parttypid[0], BTREE_AM_OID);
	if (!OidIsValid(opclass) || key->partopfamily[0] != get_opclass_family(opclass) ||
		key->partopcintype[0] != key->parttypid[0])
		return false;
	*attnum = key->partattrs[0];
	return true;
}

bool
fc_route_possible(Relation parent, AttrNumber *attnum)
{
	PartitionDesc desc;

	if (parent->rd_rel->relkind != RELKIND_PARTITIONED_TABLE || !fc_route_keyed(parent, attnum))
		return false;
	desc = fc_route_partdesc(parent);
	return desc->nparts == 0 || memchr(desc->is_leaf, false, desc->nparts) == NULL;
}

/*
 * The range below bound number "i", which is a partition's upper bound.  The
 * kind is looked at first: MINVALUE and MAXVALUE have no datum.
 */
static FcRange
range_below_bound(FcKeyType type, PartitionBoundInfo bounds, int i)
{
	FcRange		range = {.lo = PG_INT64_MIN,.hi = PG_INT64_MAX};

	Assert(i > 0);
	range.lo_min = bounds->kind[i - 1][0] != PARTITION_RANGE_DATUM_VALUE;
	range.hi_max = bounds->kind[i][0] != PARTITION_RANGE_DATUM_VALUE;
	if (!range.lo_min)
		range.lo = fc_key_from_datum(type, bounds->datums[i - 1][0]);
	if (!range.hi_max)
		range.hi = fc_key_from_datum(type, bounds->datums[i][0]);
	Assert(range.lo < range.hi);
	return range;
}

/*
 * Plain memory without pointers to the relation cache: the array stays as it
 * is when the partitions change, and each process makes its own.
 */
FcRoute *
fc_route_build(Relation parent)
{
	return fc_route_build_from(parent, fc_route_partdesc(parent));
}

FcRoute *
fc_route_build_from(Relation parent, PartitionDesc desc)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	PartitionBoundInfo bounds = desc->boundinfo;
	FcRoute    *route = palloc0(sizeof(FcRoute));

	route->type = fc_key_type(key->parttypid[0]);
	route->attnum = key->partattrs[0];
	route->ranges = palloc0(sizeof(FcRange) * Max(desc->nparts, 1));
	if (desc->nparts == 0)
		return route;

	Assert(bounds->strategy == PARTITION_STRATEGY_RANGE && key->partnatts == 1);
	for (int i = 0; i < bounds->ndatums; i++)
	{
		FcRange    *range;

		if (bounds->indexes[i] < 0)
			continue;			/* a hole ends here, and no partition */
		range = &route->ranges[route->nranges++];
		*range = range_below_bound(route->type, bounds, i);
		range->partition = desc->oids[bounds->indexes[i]];
		Assert(route->nranges == 1 || range->lo >= range[-1].hi);
	}
	if (partition_bound_has_default(bounds))
		route->default_oid = desc->oids[bounds->default_index];
	return route;
}

void
fc_route_forget(FcRoute *route, const FcRange *bounds)
{
	int			kept = 0;

	for (int i = 0; i < route->nranges; i++)
		if (!fc_range_within(&route->ranges[i], bounds))
			route->ranges[kept++] = route->ranges[i];
	route->nranges = kept;
}

int
fc_route_number(PartitionKey key, PartitionDesc desc, Datum *values, bool *nulls)
{
	PartitionBoundInfo bounds = desc->boundinfo;
	bool		equal = false;
	int			at;

	if (bounds == NULL)
		return -1;
	if (key->strategy == PARTITION_STRATEGY_HASH)
		return bounds->indexes[compute_partition_hash_value(key->partnatts, key->partsupfunc, key->partcollation,
															values, nulls) % bounds->nindexes];
	if (memchr(nulls, true, key->partnatts))
		return bounds->null_index;
	if (key->strategy == PARTITION_STRATEGY_RANGE)
	{
		at = partition_range_datum_bsearch(key->partsupfunc, key->partcollation, bounds,
										   key->partnatts, values, &equal);
		return bounds->indexes[at + 1];
	}
	at = partition_list_bsearch(key->partsupfunc, key->partcollation, bounds, values[0], &equal);
	return at >= 0 && equal ? bounds->indexes[at] : -1;
}

/*
 * How many of the ranges start at or before "key"?  Without a branch: where
 * keys come in any order, none could be predicted.
 */
static int
ranges_up_to(const FcRoute *route, int64 key)
{
	const FcRange *ranges = route->ranges;
	int			n = 0;

	for (int left = route->nranges, half; left > 0; left -= half)
	{
		half = (left + 1) / 2;
		n += half & -(int) (ranges[n + half - 1].lo <= key);
	}
	return n;
}

/* The hole that begins after the first "below" ranges */
static FcRange
hole_after(const FcRoute *route, int below)
{
	FcRange		hole = {.lo = PG_INT64_MIN,.hi = PG_INT64_MAX};

	hole.lo_min = below == 0;
	hole.hi_max = below == route->nranges;
	if (!hole.lo_min)
		hole.lo = route->ranges[below - 1].hi;
	if (!hole.hi_max)
		hole.hi = route->ranges[below].lo;
	return hole;
}

/* Cuts a range of finite keys to those from "lo" up to "hi" */
static void
cut_range(FcKeyType type, FcRange *range, int64 lo, int64 hi)
{
	Assert(range->hi_max || range->lo < range->hi);
	if (range->lo_min || lo > range->lo)
	{
		range->lo = lo;
		range->lo_min = false;
	}
	/* no bound at the end of the integers, so that the last of them gets in */
	if (hi == PG_INT64_MAX && fc_key_is_integer(type))
		return;
	if (range->hi_max || hi < range->hi)
	{
		range->hi = hi;
		range->hi_max = false;
	}
}

int
fc_route_find_existing(const FcRoute *route, int64 key)
{
	int			i = ranges_up_to(route, key) - 1;

	if (i >= 0 && !route->ranges[i].hi_max && key >= route->ranges[i].hi)
		return -1;
	return i;
}

FcRange
fc_route_find(const FcRoute *route, int64 key)
{
	int			existing = fc_route_find_existing(route, key);
	int64		last = fc_key_kinds[route->type].past;
	int64		lo;
	int64		hi;
	FcRange		hole;

	if (existing >= 0)
		return route->ranges[existing];

	hole = hole_after(route, ranges_up_to(route, key));
	if (fc_key_is_infinite(route->type, key))
	{
		hole.lo = key;
		hole.lo_min = false;
		hole.hi_max = key > 0;
		hole.hi = hole.hi_max ? PG_INT64_MAX : key + 1;
		return hole;
	}

	/*
	 * The infinities can only be at the ends of a hole.  As a bound 'infinity'
	 * keeps them out, where MAXVALUE would let infinite rows in.
	 */
	if (!fc_key_is_integer(route->type))
		cut_range(route->type, &hole, -last, last);
	if (route->create)
	{
		fc_interval_floor(route->type, &route->interval, key, &lo, &hi);
		cut_range(route->type, &hole, lo, hi);
	}
	Assert(fc_range_has(&hole, key) && (hole.hi_max || hole.lo < hole.hi));
	return hole;
}

void
fc_key_to_tm(FcKeyType type, int64 key, pg_tz *zone, struct pg_tm *tm, fsec_t *fsec)
{
	int			tz;
	bool		local = type == FC_KEY_TIMESTAMPTZ && zone != NULL;

	memset(tm, 0, sizeof(*tm));
	*fsec = 0;
	if (type == FC_KEY_DATE)
		j2date((int) (key + POSTGRES_EPOCH_JDATE),
			   &tm->tm_year, &tm->tm_mon, &tm->tm_mday);
	else if (timestamp2tm(key, local ? &tz : NULL, tm, fsec, NULL, zone) != 0)
		fc_throw(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, errmsg("timestamp out of range"));
}

Timestamp
fc_key_local(TimestampTz time, pg_tz *zone)
{
	struct pg_tm tm;
	fsec_t		fsec;
	Timestamp	local;

	fc_key_to_tm(FC_KEY_TIMESTAMPTZ, time, zone, &tm, &fsec);
	if (tm2timestamp(&tm, fsec, NULL, &local) != 0)
		fc_throw(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, errmsg("timestamp out of range"));
	return local;
}

char *
fc_key_text(FcKeyType type, int64 key)
{
	char		buf[MAXDATELEN + 1];
	struct pg_tm tm;
	fsec_t		fsec;

	if (fc_key_is_integer(type))
		return psprintf(INT64_FORMAT, key);
	if (fc_key_is_infinite(type, key))
		return pstrdup(key < 0 ? "-infinity" : "infinity");

	fc_key_to_tm(type, key, NULL, &tm, &fsec);
	tm.tm_isdst = 0;			/* else the zone would not be printed */
	if (type == FC_KEY_DATE)
		EncodeDateOnly(&tm, USE_ISO_DATES, buf);
	else
		EncodeDateTime(&tm, fsec, type == FC_KEY_TIMESTAMPTZ, 0, NULL,
					   USE_ISO_DATES, buf);
	return pstrdup(buf);
}

char *
fc_new_partition_name_now(const FcNewPartition *part)
{
	char	   *name = get_rel_name(part->range.partition);

	if (name == NULL)
		fc_throw(ERRCODE_UNDEFINED_TABLE, errmsg("new partition \"%s\" was dropped while it was being loaded",
												 part->name));
	return name;
}

void
fc_range_check(FcKeyType type, const FcRange *range, int64 key, bool null)
{
	if (null ? range->hi_max : fc_range_has(range, key))
		return;
	fc_throw(ERRCODE_CHECK_VIOLATION, null ? errmsg("a row without a key lies outside of the range that is replaced") :
			 errmsg("key \"%s\" lies outside of the range that is replaced", fc_key_text(type, key)),
			 errdetail("Rows are replaced %s.", fc_range_text(type, range)),
			 errhint("Name a wider range, or leave such rows out by a condition."));
}

char *
fc_range_text(FcKeyType type, const FcRange *range)
{
	const char *lo = range->lo_min ? "MINVALUE" : quote_literal_cstr(fc_key_text(type, range->lo));
	const char *hi = range->hi_max ? "MAXVALUE" : quote_literal_cstr(fc_key_text(type, range->hi));

	return psprintf("FROM (%s) TO (%s)", lo, hi);
}
