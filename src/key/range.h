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
#include "nodes/execnodes.h"
#include "partitioning/partdefs.h"
#include "utils/partcache.h"

#include "key/interval.h"

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

/* All keys */
#define FC_RANGE_ALL	((FcRange) {PG_INT64_MIN, PG_INT64_MAX, true, true, InvalidOid})

static inline bool
fc_range_has(const FcRange *range, int64 key)
{
	return (range->lo_min || key >= range->lo) && (range->hi_max || key < range->hi);
}

/* Are all keys of a range among those of another one? */
static inline bool
fc_range_within(const FcRange *range, const FcRange *bounds)
{
	return (bounds->lo_min || (!range->lo_min && range->lo >= bounds->lo)) &&
		(bounds->hi_max || (!range->hi_max && range->hi <= bounds->hi));
}

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
	Oid			default_oid;	/* default partition or InvalidOid; NULL keys
								 * go there, too */
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

/* The partitions of "parent" that rows may go to */
extern PartitionDesc fc_route_partdesc(Relation parent);

/*
 * True if "parent" is partitioned by RANGE over one plain column of a known
 * type, with that type's default operator class.  Then *attnum is the key.
 */
extern bool fc_route_keyed(Relation parent, AttrNumber *attnum);

/* The same, and it has only leaf partitions; false for all other relations */
extern bool fc_route_possible(Relation parent, AttrNumber *attnum);

/*
 * Reads the bounds of the partitions of "parent", for which
 * fc_route_possible is true, into the current memory context.  The
 * interval is left zero.
 */
extern FcRoute *fc_route_build(Relation parent);

/* The same, from a partition descriptor of "parent" that the caller has */
extern FcRoute *fc_route_build_from(Relation parent, PartitionDesc desc);

/* Forgets the partitions that lie within these bounds, as if there were none */
extern void fc_route_forget(FcRoute *route, const FcRange *bounds);

/*
 * The number in desc of the partition whose bound has these values of the key,
 * by core's search; -1: none but the default partition, if there is one, may
 * take them
 */
extern int	fc_route_number(PartitionKey key, PartitionDesc desc, Datum *values, bool *nulls);

/* The number in route->ranges of the range with "key" in it; -1: none has it */
extern int	fc_route_find_existing(const FcRoute *route, int64 key);

/*
 * The range that "key" belongs to.  With ->partition it is an existing
 * partition.  With InvalidOid it is the interval around the key, cut to the
 * hole between existing partitions (route->create), or else the whole hole.
 * An infinite key in a hole gets a range of itself alone.
 */
extern FcRange fc_route_find(const FcRoute *route, int64 key);

/* Broken-down time of a key; of a timestamptz in a zone, NULL: in UTC */
extern void fc_key_to_tm(FcKeyType type, int64 key, struct pg_tz *zone, struct pg_tm *tm,
						 fsec_t *fsec);

/* What clocks of a zone show at an instant; ERROR 22008 if they cannot */
extern Timestamp fc_key_local(TimestampTz time, struct pg_tz *zone);

/* A key as text that means the same in every session */
extern char *fc_key_text(FcKeyType type, int64 key);

/* The current name of a new partition; ERROR 42P01 if it was dropped */
extern char *fc_new_partition_name_now(const FcNewPartition *part);

/*
 * ERROR 23514 if a row's key, or one that is NULL, is not among the keys that
 * the rows of this load may have
 */
extern void fc_range_check(FcKeyType type, const FcRange *range, int64 key, bool null);

/* The range as commands and messages have it: "FROM (...) TO (...)" */
extern char *fc_range_text(FcKeyType type, const FcRange *range);

/*
 * Moves "at" to the first number, below "n", for which "before" is false, or
 * to n.  "before" is an expression in "mid", and true of all numbers before
 * that one.
 */
#define fc_search(type, at, n, mid, before) \
	do { \
		type		fc_search_end = (n); \
\
		while ((at) < fc_search_end) \
		{ \
			type		mid = (at) + (fc_search_end - (at)) / 2; \
\
			if (before) \
				(at) = mid + 1; \
			else \
				fc_search_end = mid; \
		} \
	} while (0)

/*
 * key/width.c: how wide new partitions are
 */

/*
 * The width of the partitions to be made: "text" ('1 day', or an integer for
 * integer keys), else the existing partitions', else one day.  Existing ones
 * are counted in the time zone in which they are regular; "unsure" if in none.
 *
 * ERROR 22023 for what cannot be a width, and for integer keys with neither
 * text nor existing partitions.
 */
extern FcInterval fc_interval_choose(const FcRoute *route, const char *text);

/*
 * The width by which pg_partman steps, counted from the existing partitions.
 * With "epoch" 0, "text" is an integer for integer keys.  Else integer keys
 * are times, so many of them in a second, and "text" is an interval.
 *
 * Days and months are those of "zone".  Errors as fc_interval_choose.
 */
extern FcInterval fc_interval_step(const FcRoute *route, const char *text,
								   int64 epoch, struct pg_tz *zone);

/* Do existing partitions begin and end where such days or months do? */
extern bool fc_interval_lines_up(const FcRoute *route,
								 const FcInterval *interval);

/* Is it the first key of a day, in the zone for timestamptz? */
extern bool fc_key_starts_day(FcKeyType type, int64 key, struct pg_tz *zone);

/* What fits keys and size, key/fit.c */
typedef struct FcFit
{
	const char *interval;		/* as partition_interval */
	bool		usual;			/* it is what partitions get without that */
	double		partitions;		/* that there would be, about */
} FcFit;

/*
 * The width for keys from low to high, of a source of so many bytes (0: not
 * known).  Days, unless these are too many or too large; for integers a power
 * of ten.
 */
extern FcFit fc_fit_width(FcKeyType type, int64 low, int64 high, uint64 bytes);

/* Are so many partitions too many for the bytes that they get? */
extern bool fc_fit_is_small(int partitions, uint64 bytes);

/*
 * key/tree.c: a partitioned table with all that is partitioned below it, and
 * the partitions that rows lack
 *
 * For tables whose rows core routes.  New partitions are like the newest one
 * beside them (FcBranch.newest): of a list they have one value each, of ranges
 * one interval, and if it is partitioned they are, too, with the same bounds.
 *
 * Each process has its own, in the memory context in which it was begun.
 */

/* A partition that is to be made */
typedef struct FcSprout
{
	struct FcBranch *above;		/* the table that it is a partition of */
	struct FcBranch *branch;	/* itself; NULL: it is not partitioned */
	Oid			copied;			/* the partition whose bound it gets, in the
								 * table that "above" is like; InvalidOid: it
								 * gets a bound of its own */
	Datum		value;			/* of that: by list */
	FcRange		range;			/* ... or by range */
	char	   *name;			/* once it is made */
} FcSprout;

/* A partitioned table: there, or to be made like one that is there */
typedef struct FcBranch
{
	FcSprout   *sprout;			/* NULL: it is there */
	Oid			oid;			/* itself, or the table that it is like */
	PartitionKey key;			/* this and desc: until fc_tree_end() */
	Oid			type;			/* of the key's first column */
	PartitionDesc desc;
	List	   *exprs;			/* ExprState: its key, of a row of the target */
	FcRoute    *route;			/* if it makes partitions by range; else NULL */
	int			newest;			/* of desc; -1: there is none */
	const char *fault;			/* why it makes no partitions; NULL: it does */
	struct FcBranch **children; /* as in desc; NULL: a leaf */
	List	   *sprouts;		/* of bounds of their own, by these */
} FcBranch;

typedef struct FcTree
{
	Relation	target;
	EState	   *estate;
	MemoryContext mcxt;
	FcBranch   *root;
	List	   *opened;			/* Relation: all but the target */
	Bitmapset  *columns;		/* of the target, which tell the leaf, offset
								 * as by pull_varattnos() */
	bool		grows;			/* some table makes partitions */
	bool		zoned;			/* by a zone that only the leader may know */
	const char *fault;			/* where, and why, none are made, or NULL */
	List	   *sprouts;		/* FcSprout, in the order in which they can be
								 * made; from fast_copy.max_partitions on no
								 * more are added */
} FcTree;

/*
 * Opens the tables below the target that are partitioned, and locks them as
 * COPY does
 */
extern FcTree *fc_tree_begin(Relation target);

/*
 * Closes and unlocks them, so that the load sees what others attach; what was
 * found stays
 */
extern void fc_tree_end(FcTree *tree);

/*
 * Does the row go to a partition that is to be made?  Adds that one to the
 * tree.  Evaluates partition keys and compares values, by functions that may be
 * users', as core's routing does.
 */
extern bool fc_tree_find(FcTree *tree, TupleTableSlot *slot);

#endif							/* FC_RANGE_H */
