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
	FcColumns	columns;		/* columns of the file */
	ParseState *pstate;			/* the target, and the columns that the caller
								 * must be allowed to insert and to read */
	bool		subtransactions;	/* some values must be tried in them */
	List	   *where;			/* condition, an implicit AND; NIL: none */
	List	   *numbers;		/* FcNumber: columns whose default is the next
								 * number of a sequence */
	bool		in_order;		/* defaults depend on the order in which they
								 * are evaluated: it must be the file's */
	bool		effects;		/* a row's evaluation runs code of users whose
								 * effects others may see, such as a NOTICE:
								 * it must not be evaluated twice */
	bool		where_late;		/* the condition looks at values that must not
								 * be evaluated twice: no filter in the scan */
	bool		key_early;		/* in_order or where_late: the scan uses the
								 * key to find the missing partitions, and the
								 * load does not use it */
	AttrNumber	key_attnum;		/* 0: file order */
	int			key_field;		/* the key's field, from 0; -1: none */
	FcKeyType	key_type;
	bool		partitioned;
	bool		key_routes;		/* fc_route finds the partition of a key */
	bool		routed;			/* partitioned, but core routes */
	List	   *order;			/* FcSortKey: what a process still sorts rows
								 * by after it has built them; NIL: they come
								 * in the order asked for */
	bool		order_sliced;	/* see FcShared */
	bool		foreign_keys;	/* the only insert triggers are those of
								 * foreign keys: ATTACH checks these for new
								 * partitions */
	const char *core_reason;	/* why core's CopyFrom loads, or NULL */
	const char *leader_reason;	/* why no workers load, or NULL */
	bool		need_transcoding;
} FcPlan;

/* Throws COPY's errors for relations that it cannot copy to */
extern void fc_plan_check_relkind(Relation rel);

/* Makes the plan; rel is open, locked and of a kind that COPY takes */
extern FcPlan *fc_plan_make(Relation rel, const FcOptions *options);

/* Has the relation insert triggers that would fire in this session? */
extern bool fc_plan_has_triggers(Relation rel, bool *only_foreign_keys);

/* Returns why workers must not insert this leaf's rows, or NULL */
extern const char *fc_plan_leaf_reason(Relation leaf);

/* Returns why core's CopyFrom must load because of this leaf, or NULL */
extern const char *fc_plan_leaf_core_reason(Relation leaf);

/* Can the table refuse a row because of another one? */
extern bool fc_plan_has_unique(Relation rel);

/*
 * ERROR 0A000 if the order of the key, or of order_by, may change which of two
 * rows is rejected.  An index rejects the row that comes second, and that must
 * be the second one in the file.  "rel" is the target or a partition of it.
 */
extern void fc_plan_check_unique(Relation target, Relation rel,
								 const FcOptions *options, const FcPlan *plan);

/* Does a publication of the table or of an ancestor publish its new rows? */
extern bool fc_plan_is_published(Relation rel);

/* Parts of fc_plan_make */

/* options/plan_key.c: finds the key, if there is one */
extern void fc_plan_key(Relation rel, const FcOptions *options, FcPlan *plan);

/*
 * Takes the key out of plan->order where rows are read in its order anyway;
 * what is left is for the sort
 */
extern void fc_plan_order(FcPlan *plan);

/* options/plan_way.c: return why core loads, why the leader alone, or NULL */
extern const char *fc_plan_core_reason(Relation rel, const FcOptions *options,
									   FcPlan *plan);
extern const char *fc_plan_leader_reason(Relation rel, const FcOptions *options,
										 const FcPlan *plan);

#endif							/* FC_PLAN_H */
