/*-------------------------------------------------------------------------
 *
 * key/range.h
 *	  From a key to the range of keys that share its partition.
 *
 * Tables partitioned by RANGE over one plain column of a known type are
 * routed here: keys are int64 in the type's own unit, a partition is a range
 * of them, and a hole between partitions is cut into intervals.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RANGE_H
#define FC_RANGE_H

#include "access/attnum.h"
#include "datatype/timestamp.h"
#include "partitioning/partdefs.h"
#include "pgtime.h"
#include "utils/relcache.h"

/* Types of keys.  All keys are int64; the comments tell their units */
typedef enum FcKeyType
{
	FC_KEY_NONE = 0,			/* no key of a type known here */
	FC_KEY_TIMESTAMP,			/* microseconds, as Timestamp */
	FC_KEY_TIMESTAMPTZ,			/* microseconds, as TimestampTz */
	FC_KEY_DATE,				/* days, as DateADT, infinities included */
	FC_KEY_INT2,
	FC_KEY_INT4,
	FC_KEY_INT8
} FcKeyType;

/* A width of partitions: either months, or units of the key */
typedef struct FcInterval
{
	int32		months;			/* > 0: whole months, and width is 0 */
	int64		width;			/* microseconds, days for dates, or integers */
	bool		days;			/* width is whole calendar days of a time
								 * zone (timestamptz), in microseconds of
								 * 24-hour days */
	int64		origin;			/* a key where an interval starts */
	bool		elapsed;		/* a width below a day is time that passes,
								 * whatever clocks and days do meanwhile */
	int64		epoch;			/* > 0: integer keys count time from 1970, so
								 * many in a second; all fields above are of
								 * timestamptz */
	Oid			unsure;			/* the existing partition whose width does not
								 * tell that of new ones, or InvalidOid */
	struct pg_tz *zone;			/* of days and months, in this process's
								 * memory; NULL: the session's */
} FcInterval;

/* Keys lo <= key < hi belong together */
typedef struct FcRange
{
	int64		lo;
	int64		hi;
	bool		lo_min;			/* no lower bound, lo is PG_INT64_MIN */
	bool		hi_max;			/* no upper bound (PG_INT64_MAX included), hi
								 * is PG_INT64_MAX */
	Oid			partition;		/* the partition that exists, or InvalidOid */
} FcRange;

/* A partition that this load makes */
typedef struct FcNewPartition
{
	FcRange		range;			/* range.partition is its OID once created */
	char	   *name;			/* relation name, chosen before it is made */
	struct FcRemoteTable *remote;	/* what a foreign table stands for; NULL:
									 * the partition is on this server */
} FcNewPartition;

/* Where the keys of a table go */
typedef struct FcRoute
{
	FcKeyType	type;
	AttrNumber	attnum;			/* of the key in the parent */
	Oid			default_oid;	/* default partition or InvalidOid */
	Oid			null_oid;		/* where NULL keys go: default_oid for RANGE */
	int			nranges;
	FcRange    *ranges;			/* existing partitions, ascending, disjoint */
	bool		create;			/* cut holes into intervals
								 * (missing_partitions => 'create') */
	FcInterval	interval;		/* only if create */
	const struct FcPartman *partman;	/* leader: names the partitions to be
										 * made; NULL: fast_copy does */
} FcRoute;

extern FcKeyType fc_key_type(Oid typid);
extern Datum fc_key_datum(FcKeyType type, int64 key);
extern int64 fc_key_from_datum(FcKeyType type, Datum value);

/* An infinite timestamp or date, for which no partition is ever made */
extern bool fc_key_is_infinite(FcKeyType type, int64 key);

/*
 * True if "parent" is partitioned by RANGE over one plain column of a known
 * type, with that type's default operator class, and has only leaf
 * partitions.  Then *attnum is the key.
 */
extern bool fc_route_possible(Relation parent, AttrNumber *attnum);

/*
 * Reads the bounds of the partitions of "parent", for which
 * fc_route_possible is true, into the current memory context.  The
 * interval is left zero.
 */
extern FcRoute *fc_route_build(Relation parent);

/* The same, from a partition descriptor of "parent" that the caller has */
extern FcRoute *fc_route_build_from(Relation parent, PartitionDesc desc);

/* The number in route->ranges of the range with "key" in it; -1: none has it */
extern int	fc_route_find_existing(const FcRoute *route, int64 key);

/*
 * The range that "key" belongs to.  ->partition is the existing partition;
 * or InvalidOid, and then the range is the interval around the key cut to the
 * hole between existing partitions (route->create), or the whole hole.  An
 * infinite key in a hole gets a range of itself alone.
 */
extern FcRange fc_route_find(const FcRoute *route, int64 key);

/*
 * The width of the partitions to be made: "text" (an interval such as '1 day',
 * an integer width for integer keys), or else what the existing partitions
 * use, or else one day.  Of existing ones the time zone and the day are taken
 * in which they are regular; if they are so in none, "unsure" is set.  ERROR
 * 22023 for what cannot be a width, and for integer keys without text and
 * existing partitions.
 */
extern FcInterval fc_interval_choose(const FcRoute *route, const char *text);

/*
 * The width by which pg_partman steps, counted from the existing partitions.
 * If "epoch" is not 0, integer keys are times, so many of them in a second, and
 * "text" is an interval; else it is an integer for integer keys.  Days and
 * months are those of "zone" (NULL: the session's).  Errors as
 * fc_interval_choose.
 */
extern FcInterval fc_interval_step(const FcRoute *route, const char *text,
								   int64 epoch, struct pg_tz *zone);

/* Do existing partitions begin and end where such days or months do? */
extern bool fc_interval_lines_up(const FcRoute *route,
								 const FcInterval *interval);

/*
 * Turn integer keys that count time from 1970, "unit" of them in a second,
 * into a timestamptz and back.  False for a key that is beyond all timestamps;
 * for a time that is beyond all bigints the nearest key.
 */
extern bool fc_epoch_to_time(int64 unit, int64 key, int64 *time);
extern int64 fc_epoch_from_time(int64 unit, int64 time);

/*
 * The start of the interval that holds the finite "key", and the start of the
 * next.  At the type's end *hi is 'infinity' (timestamps and dates, so that no
 * infinite row gets in), or PG_INT64_MAX for no bound (integers).
 */
extern void fc_interval_floor(const FcRoute *route, int64 key,
							  int64 *lo, int64 *hi);

/* Is it the first key of a day, in the interval's time zone for timestamptz? */
extern bool fc_interval_starts_day(const FcRoute *route, int64 key);

/* The time zone that days, months and names of new partitions are of */
extern struct pg_tz *fc_interval_zone(const FcInterval *interval);

/* Broken-down time of a key; of a timestamptz in a zone, NULL: in UTC */
extern void fc_key_to_tm(FcKeyType type, int64 key, struct pg_tz *zone, struct pg_tm *tm,
						 fsec_t *fsec);

/* A key as text that means the same in every session */
extern char *fc_key_text(FcKeyType type, int64 key);

/* The current name of a new partition; ERROR 42P01 if it was dropped */
extern char *fc_partition_name_now(const FcNewPartition *part);

/* The range as commands and messages have it: "FROM (...) TO (...)" */
extern char *fc_range_text(FcKeyType type, const FcRange *range);

#endif							/* FC_RANGE_H */
