/*-------------------------------------------------------------------------
 *
 * fc_plan.h
 *	  Which way a load takes, from what the target has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PLAN_H
#define FC_PLAN_H

#include "fc_options.h"

typedef struct FcPlan
{
	List	   *attnums;		/* columns in the file, in its order */
	AttrNumber	key_attnum;		/* 0: file order */
	int			key_field;		/* of attnums, from 0 */
	FcKeyType	key_type;
	bool		partitioned;
	bool		key_routes;		/* fc_route knows the partitions */
	bool		routed;			/* partitioned, but core routes */
	bool		foreign_keys;	/* the only insert triggers are those of foreign
								 * keys: fine for new partitions */
	const char *core_reason;	/* not NULL: core's CopyFrom loads, because ... */
	const char *leader_reason;	/* not NULL: no workers, because ... */
	bool		need_transcoding;
} FcPlan;

/* rel is open and locked.  COPY's errors for targets COPY refuses. */
extern FcPlan *fc_plan_make(Relation rel, const FcOptions *options);

/* Has the relation insert triggers that would fire in this session? */
extern bool fc_plan_has_triggers(Relation rel, bool *only_foreign_keys);

/* Why this leaf's rows must not be inserted by a worker, or NULL */
extern const char *fc_plan_leaf_reason(Relation leaf);

/* Can the table refuse a row because of another one? */
extern bool fc_plan_has_unique(Relation rel);

/* Is a row inserted into this table, by itself or an ancestor, published? */
extern bool fc_plan_is_published(Relation rel);

#endif							/* FC_PLAN_H */
