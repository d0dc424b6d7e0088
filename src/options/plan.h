/*-------------------------------------------------------------------------
 *
 * options/plan.h
 *	  What a load will do, from the options and from what the target has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PLAN_H
#define FC_PLAN_H

#include "nodes/nodes.h"

#include "options/columns.h"

/*
 * The plan while it is made, with what needs pointers.  It is the leader's
 * alone; what is in "plan" all processes have once load/layout.c has copied it.
 */
typedef struct FcPlanned
{
	FcPlan		plan;
	FcColumns	columns;		/* columns of the file */
	ParseState *pstate;			/* the target, and the columns that the caller
								 * must be allowed to insert and to read */
	List	   *where;			/* condition, an implicit AND; NIL: none */
	List	   *mark;			/* delete_where, the same */
	List	   *numbers;		/* FcNumber: columns whose default is the next
								 * number of a sequence */
	List	   *order;			/* FcSortKey, plan.order.nkeys of them */
	List	   *keys;			/* FcSortKey: columns in which no two rows may
								 * be equal */
	List	   *newest;			/* FcSortKey: of equal rows the one stays that
								 * is the greatest in these */
	List	   *dedup;			/* the keys and these, if the load compares
								 * rows by them; or NIL */
	const char *fault;			/* where core routes: which partitions that
								 * rows lack are not made, and why; or NULL */
	bool		visible;		/* a field has FC_FIELD_VISIBLE */
	bool		staged;			/* with on_conflict all rows are inserted by
								 * core: new partitions, too, have triggers */
	const char *core_reason;	/* why core's CopyFrom loads, or NULL */
	const char *leader_reason;	/* why no workers load, or NULL */
} FcPlanned;

/* Throws COPY's errors for relations that it cannot copy to */
extern void fc_plan_check_relkind(Relation rel);

/*
 * Makes the plan; rel is open, locked and of a kind that COPY takes.  where is
 * the condition of a plain COPY, as core has it.
 */
extern FcPlanned *fc_plan_make(Relation rel, const FcOptions *options,
							   const FcFileForm *form, List *where);

/* Which triggers of a table fire for INSERT; each includes those before it */
typedef enum FcTriggers
{
	FC_TRIGGERS_NONE,
	FC_TRIGGERS_FOREIGN_KEYS,
	FC_TRIGGERS_DEFERRED,		/* of unique or exclusion constraints that are
								 * checked at the end */
	FC_TRIGGERS_ANY
} FcTriggers;

/* Would this trigger fire for an INSERT in this session? */
extern bool fc_plan_trigger_fires(const Trigger *trigger);

/* Which insert triggers of the relation would fire in this session? */
extern FcTriggers fc_plan_triggers(Relation rel);

/* Returns why workers must not insert this leaf's rows, or NULL */
extern const char *fc_plan_leaf_reason(Relation leaf);

/*
 * The triggers with which we load a table.  Of several rows that refer to none
 * core names the first one of the file: we know the order of one table's rows.
 */
#define fc_plan_triggers_taken(caller, partitioned) \
	(fc_caller_errors_as_core(caller) && (partitioned) ? FC_TRIGGERS_NONE : FC_TRIGGERS_FOREIGN_KEYS)

/* Returns why core's CopyFrom must load because of this leaf, or NULL */
extern const char *fc_plan_leaf_core_reason(Relation leaf, FcCaller caller);

/* Has the target a default partition, or one of its partitions? */
extern bool fc_plan_has_default(Oid target);

/* Can the table refuse a row because of another one? */
extern bool fc_plan_has_unique(Relation rel);

/*
 * ERROR 0A000 if the order of the key, or of order_by, may change which of two
 * rows is rejected.  An index rejects the row that comes second, and that must
 * be the second one in the file.  "rel" is the target or a partition of it.
 */
extern void fc_plan_check_unique(Relation target, Relation rel,
								 const FcOptions *options, const FcPlanned *planned);

/* Does a publication of the table or of an ancestor publish its new rows? */
extern bool fc_plan_is_published(Relation rel);

/* Parts of fc_plan_make */

/* options/plan_key.c: finds the key, if there is one */
extern void fc_plan_key(Relation rel, const FcOptions *options, FcPlanned *planned);

/*
 * ERROR 0A000 for a table, or one of its partitions, whose rows are to move.
 * NULL: it is not partitioned as it must be.
 */
extern void fc_plan_refuse_move(Relation rel, const char *why, const char *hint) __attribute__((noreturn));

/*
 * options/plan_key.c: sets the bounds of the keys that rows may have, once key
 * and patterns are known.  ERROR 22023 or 0A000 if nothing tells which rows are
 * replaced, or if rows are merged and there is no key.
 */
extern void fc_plan_bounds(Relation rel, const FcOptions *options, FcPlanned *planned);

/*
 * Takes the key out of planned->order where rows are read in its order anyway;
 * what is left is for the sort
 */
extern void fc_plan_order(FcPlanned *planned);

/*
 * options/plan_transform.c: sets columns->transforms, and the flags of their
 * fields.  Throws the errors of expressions: 42703 for a field that the file
 * does not have, 42804 for a value of another type than the column's.
 */
extern void fc_plan_transforms(Relation rel, const FcOptions *options, FcColumns *columns);

/* A hook of the parser: $file and the like; p_ref_hook_state is an FcColumns */
extern Node *fc_plan_origin(ParseState *pstate, ColumnRef *cref);

/*
 * options/plan_transform.c: sets planned->mark, where names are columns of the
 * table, or else fields of the file.  Throws COPY's errors, and 0A000 for a
 * volatile function.
 */
extern void fc_plan_mark(Relation rel, const FcOptions *options, FcPlanned *planned);

/*
 * options/plan_dedup.c: finds the columns by which rows are equal, once the key
 * is found.  ERROR 22023 if it is not one of them, 0A000 if rows cannot be
 * brought in its order, 42P10 if no index tells which rows are in conflict.
 */
extern void fc_plan_dedup(Relation rel, const FcOptions *options, FcPlanned *planned);

/* options/plan_way.c: return why core loads, why the leader alone, or NULL */
extern const char *fc_plan_core_reason(Relation rel, const FcOptions *options,
									   FcPlanned *planned);
extern const char *fc_plan_leader_reason(Relation rel, const FcOptions *options,
										 const FcPlanned *planned);

/*
 * options/plan_code.c
 */

/* Must a worker not evaluate this expression? */
extern bool fc_code_unsafe(Node *node);

/* Can the functions of an expression, which may be NULL, leave effects? */
extern bool fc_code_foreign(Node *node);

/* Do effects show how often this expression is evaluated? */
extern bool fc_code_visible(Node *node);

/* Is it true of a CHECK or a generated column of the table, or a default? */
extern bool fc_code_any_constraint(Relation rel, bool (*test) (Node *), bool defaults);

/* Must a worker not evaluate the index? */
extern bool fc_code_index_unsafe(Relation index);

/* Is the test true of any index of the table? */
typedef bool (*FcIndexTest) (Relation index);
extern bool fc_code_any_index(Relation rel, FcIndexTest test);

/*
 * Is the test, one of those that follow, true of the type, or of any that a
 * value of it is made of?  "input" is its receive function, if binary is set.
 */
typedef bool (*FcTypeTest) (Oid typid, char typtype, Oid input, bool binary);
extern bool fc_code_type_any(Oid typid, FcTypeTest test, bool binary);

/*
 * Must the leader read values of the type?  Yes, if its input function is not
 * parallel safe, and for a domain, whose constraints may call any function.
 */
extern bool fc_code_is_unsafe(Oid typid, char typtype, Oid input, bool binary);

/*
 * May only the leader compare values of the type?  Values that are made of
 * others are compared by their functions.
 */
extern bool fc_code_is_unordered(Oid typid, char typtype, Oid input, bool binary);

/*
 * Does core send the client a NOTICE about some values of the type?  From a
 * worker it would come at another time, and would not say where the value is.
 */
extern bool fc_code_is_talking(Oid typid, char typtype, Oid input, bool binary);

/*
 * Can the type's input leave effects when it fails in the middle?  It cannot
 * if the type and all its parts are read by core's own code: that only reads,
 * and what it holds at an error belongs to a resource owner.
 */
extern bool fc_code_is_foreign(Oid typid, char typtype, Oid input, bool binary);

/* Do effects show how often a value of the type is read? */
extern bool fc_code_is_visible(Oid typid, char typtype, Oid input, bool binary);

#endif							/* FC_PLAN_H */
