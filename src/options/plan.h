/*-------------------------------------------------------------------------
 *
 * options/plan.h
 *	  What a load will do, from the options and from what the target has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PLAN_H
#define FC_PLAN_H

#include "parser/parse_node.h"

#include "options/columns.h"

typedef struct FcPlan
{
	FcColumns	columns;		/* that the file has */
	ParseState *pstate;			/* target, and the columns its user must be
								 * allowed to insert and to read */
	bool		subtransactions;	/* values must be tried in them */
	List	   *where;			/* condition, an implicit AND; NIL: none */
	List	   *numbers;		/* FcNumber of columns that a sequence numbers */
	bool		in_order;		/* defaults depend on the order in which they
								 * are evaluated: it must be the file's */
	bool		effects;		/* a row's evaluation runs code of users whose
								 * effects others may see, such as a NOTICE:
								 * it must not be evaluated twice */
	bool		where_late;		/* the condition looks at such values: the
								 * scan cannot filter */
	bool		key_early;		/* for these reasons the key only finds the
								 * partitions that are missing; the load goes
								 * without it */
	AttrNumber	key_attnum;		/* 0: file order */
	int			key_field;		/* of fields, from 0 */
	FcKeyType	key_type;
	bool		partitioned;
	bool		key_routes;		/* fc_route knows the partitions */
	bool		routed;			/* partitioned, but core routes */
	List	   *order;			/* FcSortKey: what rows are sorted by when
								 * they are built; NIL: they come as they
								 * should */
	bool		order_sliced;	/* see FcShared */
	bool		foreign_keys;	/* the only insert triggers are those of
								 * foreign keys: fine for new partitions */
	const char *core_reason;	/* not NULL: core's CopyFrom loads, because
								 * ... */
	const char *leader_reason;	/* not NULL: no workers, because ... */
	bool		need_transcoding;
} FcPlan;

/* COPY's errors for relations it cannot copy to */
extern void fc_plan_check_relkind(Relation rel);

/* rel is open and locked, and of a kind that COPY takes; COPY's errors */
extern FcPlan *fc_plan_make(Relation rel, const FcOptions *options);

/* Has the relation insert triggers that would fire in this session? */
extern bool fc_plan_has_triggers(Relation rel, bool *only_foreign_keys);

/* Why this leaf's rows must not be inserted by a worker, or NULL */
extern const char *fc_plan_leaf_reason(Relation leaf);

/* Can the table refuse a row because of another one? */
extern bool fc_plan_has_unique(Relation rel);

/*
 * Refuses an order in which the first of two equal rows in the file might not
 * come first, where the other one is to be rejected.  "rel" is the target or a
 * partition of it.
 */
extern void fc_plan_check_unique(Relation target, Relation rel,
								 const FcOptions *options, const FcPlan *plan);

/* Does core route the rows, once the missing partitions are there? */
extern bool fc_plan_ends_routed(const FcPlan *plan);

/* Is a row inserted into this table, by itself or an ancestor, published? */
extern bool fc_plan_is_published(Relation rel);

/* The parts of fc_plan_make that have files of their own */

/* options/plan_key.c: the key, if there is one */
extern void fc_plan_key(Relation rel, const FcOptions *options, FcPlan *plan);

/* Rows that are read in the order of the key need not be sorted by it */
extern void fc_plan_order(FcPlan *plan);

/* options/plan_way.c: why core loads, or the leader alone; NULL: it does not */
extern const char *fc_plan_core_reason(Relation rel, const FcOptions *options,
									   FcPlan *plan);
extern const char *fc_plan_leader_reason(Relation rel, const FcOptions *options,
										 const FcPlan *plan);

#endif							/* FC_PLAN_H */
