/*-------------------------------------------------------------------------
 *
 * options/plan_code.h
 *	  What code the rows of a table run on their way in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PLAN_CODE_H
#define FC_PLAN_CODE_H

#include "nodes/nodes.h"
#include "utils/relcache.h"

/* Must a worker not evaluate this expression? */
extern bool fc_code_unsafe(Node *node);

/* Must a worker not evaluate generated columns and CHECKs, or indexes? */
extern bool fc_code_constraints_unsafe(Relation rel);
extern bool fc_code_indexes_unsafe(Relation rel);

/*
 * Must the leader read values of the type?  Yes, if its input function
 * (receive function, in binary) is not parallel safe, and for a domain, whose
 * constraints may call any function; and if that holds for a type that is a
 * part of it.
 */
extern bool fc_code_type_unsafe(Oid typid, bool binary);

/*
 * May only the leader compare values of the type?  Values that are made of
 * others are compared by their functions.
 */
extern bool fc_code_type_unordered(Oid typid);

/*
 * Does core send the client a NOTICE about some values of the type?  From a
 * worker it would come at another time, and would not say where the value is.
 */
extern bool fc_code_type_talks(Oid typid, bool binary);

/*
 * Can the type's input leave effects when it fails in the middle?  It cannot
 * if the type and all its parts are read by core's own code: that only reads,
 * and what it holds at an error belongs to a resource owner.
 */
extern bool fc_code_type_foreign(Oid typid, bool binary);

/* The same of the functions of an expression, which may be NULL */
extern bool fc_code_foreign(Node *node);

/* Do effects show how often this expression is evaluated? */
extern bool fc_code_visible(Node *node);

/* Do effects show how often a value of the type is read? */
extern bool fc_code_type_visible(Oid typid, bool binary);

/* Is the test true of any index of the table? */
typedef bool (*FcIndexTest) (Relation index);
extern bool fc_code_any_index(Relation rel, FcIndexTest test);

#endif							/* FC_PLAN_CODE_H */
