/*-------------------------------------------------------------------------
 *
 * partition/name.c
 *	  The name of a new partition.
 *
 * If pg_partman manages the table the name is the one that pg_partman would
 * give (partition/partman.c).  Otherwise it is made of the parent's and the
 * lower bound, as coarsely as the interval allows:
 *
 *	events_p2024	events_p202403	events_p20240315_1430	ids_p1000
 *
 * By list it is made of the value's letters and digits (cities_p_Oslo), and
 * below a new partition of what the sibling's partitions are called.  If the
 * name is taken a number follows it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "partition/partition.h"

/*
 * How much of its lower bound a partition's name shows: so many characters
 * after the year
 */
typedef enum FcNameLevel
{
	FC_NAME_YEAR = 0,
	FC_NAME_MONTH = 2,
	FC_NAME_DAY = 4,
	FC_NAME_MINUTE = 9,
	FC_NAME_SECOND = 11,
	FC_NAME_USEC = 18
} FcNameLevel;

/* Returns the coarsest level that tells neighbouring intervals apart */
static FcNameLevel
fc_name_level_of_interval(const FcRoute *route)
{
	const FcInterval *interval = &route->interval;

	if (interval->months > 0)
		return interval->months % 12 == 0 ? FC_NAME_YEAR : FC_NAME_MONTH;
	if (interval->days || route->type == FC_KEY_DATE)
		return FC_NAME_DAY;
	if (interval->width % USECS_PER_MINUTE == 0)
		return FC_NAME_MINUTE;
	return interval->width % USECS_PER_SEC == 0 ? FC_NAME_SECOND : FC_NAME_USEC;
}

/* Returns the coarsest level that shows all of a key */
static FcNameLevel
fc_name_level_of_key(const struct pg_tm *tm, fsec_t fsec, bool starts_day)
{
	if (starts_day)
		return tm->tm_mday != 1 ? FC_NAME_DAY :
			tm->tm_mon != 1 ? FC_NAME_MONTH : FC_NAME_YEAR;
	return fsec != 0 ? FC_NAME_USEC : tm->tm_sec != 0 ? FC_NAME_SECOND : FC_NAME_MINUTE;
}

/* Writes a year, marked if it does not have four digits: no two look alike */
static void
fc_name_append_year(StringInfo buf, int year)
{
	if (year <= 0)
		appendStringInfo(buf, "bc%04d", 1 - year);
	else if (year > 9999)
		appendStringInfo(buf, "y%d", year);
	else
		appendStringInfo(buf, "%04d", year);
}

static void
fc_name_append_time_suffix(StringInfo buf, const FcRoute *route, int64 key)
{
	pg_tz	   *zone = fc_interval_zone(&route->interval);
	struct pg_tm tm;
	fsec_t		fsec;
	FcNameLevel least = fc_name_level_of_interval(route);
	FcNameLevel level;

	fc_key_to_tm(route->type, key, zone, &tm, &fsec);
	level = fc_name_level_of_key(&tm, fsec, fc_key_starts_day(route->type, key, zone));
	level = Max(level, least);

	fc_name_append_year(buf, tm.tm_year);
	if (level > FC_NAME_YEAR)
		appendStringInfo(buf, "%s%.*s", tm.tm_year > 9999 ? "_" : "", level,
						 psprintf("%02d%02d_%02d%02d%02d_%06d", tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, fsec));
}

char *
fc_name_suffix(const FcRoute *route, int64 key)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "_p");
	if (route->type < FC_KEY_INT2)
		fc_name_append_time_suffix(&buf, route, key);
	else if (key < 0)
		appendStringInfo(&buf, "m" UINT64_FORMAT, -(uint64) key);
	else
		appendStringInfo(&buf, INT64_FORMAT, key);
	return buf.data;
}

char *
fc_name_of_value(const char *value)
{
	char	   *name = psprintf(isdigit((unsigned char) *value) ? "_p%s" : "_p_%s", value);

	for (char *c = name; *c; c++)
		if (!IS_HIGHBIT_SET(*c) && !isalnum((unsigned char) *c))
			*c = '_';
	return name;
}

char *
fc_name_free(const char *base, const char *end, Oid nspid)
{
	int			most = pg_mbcliplen(end, strlen(end), NAMEDATALEN / 2);

	for (int n = 0;; n++)
	{
		char	   *tail = n == 0 ? pnstrdup(end, most) : psprintf("%.*s_%d", most, end, n);
		int			len = pg_mbcliplen(base, strlen(base),
									   NAMEDATALEN - 1 - strlen(tail));
		char	   *name = psprintf("%.*s%s", len, base, tail);

		CHECK_FOR_INTERRUPTS();
		if (!fc_ddl_name_is_taken(name, nspid))
			return name;
	}
}

/*
 * Refuses a name that is taken: pg_partman would pass over it, and rows would
 * go to the default partition for good.  Only when clocks are put back may two
 * partitions get one name, the second with a number after it.
 */
static void
fc_name_refuse_taken(Relation parent, const FcRoute *route, const FcRange *range,
					 const char *name)
{
	fc_throw(ERRCODE_DUPLICATE_TABLE, errmsg("relation \"%s\" already exists", name),
			 errdetail("pg_partman gives this name to the partition of table \"%s\" for values %s.",
					   RelationGetRelationName(parent),
					   fc_range_text(route->type, range)),
			 errhint("Attach, rename or drop it first."));
}

static bool
fc_name_is_partition_of(Relation parent, Oid relid)
{
	return OidIsValid(relid) && get_rel_relispartition(relid) &&
		get_partition_parent(relid, true) == RelationGetRelid(parent);
}

char *
fc_partition_name(Relation parent, const FcRoute *route, const FcRange *range)
{
	if (route->partman)
		return fc_partman_name(route->partman, route, range->lo);
	return fc_name_free(RelationGetRelationName(parent), fc_name_suffix(route, range->lo),
						RelationGetNamespace(parent));
}

char *
fc_name_choose(Relation parent, const FcRoute *route, const FcRange *range,
			   const char *before)
{
	Oid			nspid = RelationGetNamespace(parent);
	char	   *base = fc_partition_name(parent, route, range);
	char	   *name = base;

	for (int n = 1; route->partman && fc_ddl_name_is_taken(name, nspid); n++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!route->interval.elapsed ||
			!((before && strcmp(before, name) == 0) ||
			  fc_name_is_partition_of(parent, get_relname_relid(name, nspid))))
			fc_name_refuse_taken(parent, route, range, name);
		name = psprintf("%s_%d", base, n);
		if (strlen(name) >= NAMEDATALEN)
			fc_name_refuse_taken(parent, route, range, base);
	}
	return name;
}
