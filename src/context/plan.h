/*-------------------------------------------------------------------------
 *
 * context/plan.h
 *	  What a load will do, as all its processes know it.
 *
 * options/plan.c decides it, once, from what the caller said and the target
 * has.  load/setup.c sets the encoding of a converted file, before
 * load/layout.c copies the plan into shared memory: it has no pointers (see
 * FcPlanned), and does not change there.  What differs between phases is in
 * FcShared.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONTEXT_PLAN_H
#define FC_CONTEXT_PLAN_H

#include "grammar/record.h"
#include "key/range.h"

/* Who called */
typedef enum FcCaller
{
	FC_CALLER_FUNCTION,			/* fast_copy() */
	FC_CALLER_ANALYSIS,			/* fast_copy_analyze() */
	FC_CALLER_OPTION,			/* COPY ... WITH (fast_copy, ...) */
	FC_CALLER_PLAIN				/* a COPY without our option, which must do
								 * what core does, only faster */
} FcCaller;

/* Did the caller write COPY, and not call a function? */
static inline bool
fc_caller_wrote_copy(FcCaller caller)
{
	return caller == FC_CALLER_OPTION || caller == FC_CALLER_PLAIN;
}

/* What the caller writes between an option's name and its value, for hints */
static inline const char *
fc_caller_arrow(FcCaller caller)
{
	return fc_caller_wrote_copy(caller) ? "" : " =>";
}

/* Are rows loaded?  An analysis only looks at them. */
static inline bool
fc_caller_writes(FcCaller caller)
{
	return caller != FC_CALLER_ANALYSIS;
}

/*
 * Must nothing but the time tell the load from core's COPY?  The predicates
 * below say what follows from that.
 */
static inline bool
fc_caller_is_plain(FcCaller caller)
{
	return caller == FC_CALLER_PLAIN;
}

/* Errors have core's context, and no hint of ours */
#define fc_caller_errors_as_core(caller) fc_caller_is_plain(caller)

/* Rows go where core routes them, in the order of the file, and no other way */
#define fc_caller_routes_as_core(caller) fc_caller_is_plain(caller)

/* Bytes are read as core reads them: not unpacked, and up to a marker */
#define fc_caller_reads_as_core(caller) fc_caller_is_plain(caller)

/* Core has checked privileges, parsed the condition and opened the source */
#define fc_caller_opened_by_core(caller) fc_caller_is_plain(caller)

/* Does the load say what it did, by a NOTICE or a row of the history? */
static inline bool
fc_caller_is_told(FcCaller caller)
{
	return caller == FC_CALLER_FUNCTION || caller == FC_CALLER_OPTION;
}

/* missing_partitions */
typedef enum FcMissing
{
	FC_MISSING_CREATE,
	FC_MISSING_ERROR,
	FC_MISSING_DEFAULT
} FcMissing;

/* existing_rows */
typedef enum FcExisting
{
	FC_EXISTING_KEEP,
	FC_EXISTING_REPLACE,
	FC_EXISTING_MERGE,			/* they are put in order with those of the
								 * file */
	FC_EXISTING_MOVE			/* they go to other partitions, and there is
								 * no file; never an option's value */
} FcExisting;

/* Which rows are moved, and what becomes of their partitions */
typedef enum FcMove
{
	FC_MOVE_NOTHING,
	FC_MOVE_DRAIN,				/* of the default partition, which stays */
	FC_MOVE_SOME,				/* of a range of it: by a DELETE, because the
								 * others, of which there may be many more,
								 * are not written anew */
	FC_MOVE_DROP,				/* and of others, which are dropped, */
	FC_MOVE_DETACH				/* or detached */
} FcMove;

/* What the rows are sorted and routed by */
typedef struct FcPlanKey
{
	FcKeyType	type;			/* FC_KEY_NONE: in file order */
	AttrNumber	attnum;			/* 0: there is no key */
	int			field;			/* number of the key among the file's fields;
								 * -1: none */
	bool		routes;			/* a key alone tells the partition of a row */
	bool		early;			/* in_order or where_late: the scan uses the
								 * key to find the missing partitions, and the
								 * load does not use it */
	int			place;			/* where its value is after the header of a
								 * row without NULLs, in bytes; -1: not in the
								 * same place in all */
	int16		width;			/* bytes of its value */
} FcPlanKey;

/* The order that rows of a leaf are written in, if not the key's */
typedef struct FcPlanOrder
{
	int			nkeys;			/* that a process still sorts rows by after it
								 * has built them; 0: they come in the right
								 * order */
	bool		append;			/* rows go after those of the table, as
								 * order_by was given, and never into free
								 * space */
	bool		sliced;			/* the first key is that of the partitions,
								 * ascending: slices of a leaf follow each
								 * other in this order */
} FcPlanOrder;

/* on_conflict */
typedef enum FcConflict
{
	FC_CONFLICT_ERROR,
	FC_CONFLICT_NOTHING,
	FC_CONFLICT_UPDATE
} FcConflict;

/* Which of several rows stays that are equal in some columns */
typedef struct FcPlanDedup
{
	int			nkeys;			/* columns that the load compares; 0: none */
	int			norder;			/* and those after them, in which the greatest
								 * row stays; if these are equal, too: */
	bool		first;			/* the first of them, not the last */
	bool		nulls_equal;
	bool		marks;			/* if the one that stays is a mark, none does */
} FcPlanDedup;

/*
 * Where a row came from, as expressions call it: attributes of the row of texts
 * (row/transform.c) after the fields; the path's have one for each name
 */
typedef enum FcRowOrigin
{
	FC_ORIGIN_FILE,
	FC_ORIGIN_LINE,
	FC_ORIGIN_BYTE_OFFSET,
	FC_ORIGIN_ROW,
	FC_ORIGIN_PATH
} FcRowOrigin;

#define fc_origin_bit(origin) (1 << (origin))

typedef struct FcPlan
{
	FcCaller	caller;
	FcPlanKey	key;
	FcPlanOrder order;
	bool		partitioned;	/* the target is */
	bool		routed;			/* partitioned, and core's tuple routing finds
								 * the leaves */
	bool		foreign_keys;	/* the only insert triggers are those of
								 * foreign keys: ATTACH checks these for new
								 * partitions */
	FcMissing	missing;
	bool		sprouts;		/* where core routes, some may be missing that
								 * are to be made: a pass over the files finds
								 * them, and the load evaluates rows again */
	FcExisting	existing;
	FcMove		move;
	FcPlanDedup dedup;
	FcRange		bounds;			/* of the keys that rows may have: all, or
								 * those that are replaced */
	bool		freeze;
	int			nfields;		/* in the file */
	int			ncolumns;		/* these, and columns that transforms make
								 * without a field of their own */
	int			nnumbers;		/* columns with numbers of sequences */
	uint8		origins;		/* fc_origin_bit: those that expressions name */
	int			encoding;		/* of the file */
	bool		need_transcoding;
	bool		skips_empty;	/* lines without a byte are no records: they
								 * are found, and count as filtered */
	char		comment;		/* so are lines that begin with it; '\0':
								 * none do */
	bool		pads;			/* fields that a record lacks are NULL */
	bool		drops;			/* fields beyond these are left out */
	int			nwanted;		/* with it: fields that a record must have */
	bool		in_order;		/* defaults depend on the order in which they
								 * are evaluated: it must be the file's */
	bool		steady;			/* no default, transform or condition is
								 * volatile or calls code of users: a record
								 * has the same values whenever they are
								 * evaluated */
	bool		effects;		/* a row's evaluation runs code of users whose
								 * effects others may see, such as a NOTICE:
								 * it must not be evaluated twice */
	bool		where_late;		/* the condition looks at values that must not
								 * be evaluated twice: no filter in the scan */
	bool		zone_set;		/* expressions call code of users, which may
								 * have settings: time_zone must be one */
	bool		subtransactions;	/* some values must be tried in them */

	/* of bad records */
	uint32		tolerated;		/* FC_CLASS_* */
	bool		set_null;		/* a refused value becomes NULL */
	bool		verbose;		/* each such value is to be told of */
	int64		reject_limit;	/* -1: none */
	bool		reject_each;	/* ... of each file */
} FcPlan;

/* Is a record, as it is found, an empty line or comment that is none? */
static inline bool
fc_plan_skips(const FcPlan *plan, const FcDialect *dialect, const char *data, size_t length)
{
	return (plan->skips_empty && fc_record_is_empty(dialect, data, length)) ||
		(plan->comment != '\0' && length > 0 && data[0] == plan->comment);
}

/* Does the load do anything with the rows that leaves have? */
static inline bool
fc_plan_replaces(const FcPlan *plan)
{
	return plan->existing != FC_EXISTING_KEEP;
}

/* Must the number of each record be known when its row is made? */
static inline bool
fc_plan_counts(const FcPlan *plan)
{
	return plan->nnumbers > 0 || (plan->origins & (fc_origin_bit(FC_ORIGIN_LINE) | fc_origin_bit(FC_ORIGIN_ROW))) != 0;
}

/* Must rows of one key come together? */
static inline bool
fc_plan_keeps_keys_whole(const FcPlan *plan)
{
	return plan->order.nkeys > 0 || plan->dedup.nkeys > 0 || plan->existing >= FC_EXISTING_MERGE;
}

/* Are they loaded once more, with those of the file if there is one? */
static inline bool
fc_plan_merges(const FcPlan *plan)
{
	return plan->existing >= FC_EXISTING_MERGE;
}

/* Are they alone loaded, into other partitions? */
static inline bool
fc_plan_moves(const FcPlan *plan)
{
	return plan->existing == FC_EXISTING_MOVE;
}

/* The partitions of the target, but for those that are cut anew */
static inline FcRoute *
fc_plan_route(const FcPlan *plan, Relation target)
{
	FcRoute    *route = fc_route_build(target);

	if (plan->move >= FC_MOVE_DROP)
		fc_route_forget(route, &plan->bounds);
	return route;
}

/* Does a row with this key leave its partition? */
static inline bool
fc_plan_moves_key(const FcPlan *plan, bool null, int64 key)
{
	return !null && fc_range_has(&plan->bounds, key) && !fc_key_is_infinite(plan->key.type, key);
}

#endif							/* FC_CONTEXT_PLAN_H */
