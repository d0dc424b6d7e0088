/*-------------------------------------------------------------------------
 *
 * row/where.h
 *	  The condition of COPY ... WHERE.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WHERE_H
#define FC_WHERE_H

#include "context/shared.h"

/*
 * Makes the condition a list of expressions that must all be true.  pstate has
 * the target as its only relation, and notes which columns the user must be
 * allowed to read.  Throws COPY's errors.
 */
extern List *fc_where_parse(ParseState *pstate, Relation rel, const char *text);

/* The same, from the grammar's expression, which it changes */
extern List *fc_where_transform(ParseState *pstate, Relation rel, Node *where);

/*
 * Makes a condition be evaluated in the time zone of the file, if it has one;
 * in the current memory context.  NULL for none.
 *
 * If ctx is set it is core's: it counts the rows that it leaves out as
 * filtered, as those of the file of *offset then, and sees what the parser with
 * the EState "parsed" has parsed last, unless that is NULL.
 */
extern ExprState *fc_where_wrap(ExprState *where, FcShared *shared, FcContext *ctx,
								const uint64 *offset, EState *parsed);

/*
 * Prepares the condition in shared memory; NULL: there is none.  again: for
 * rows for which it was true in the scan; NULL also if it is volatile, and may
 * not be true again.
 */
extern ExprState *fc_where_begin(FcShared *shared, bool again);

/*
 * Prepares delete_where, which looks at the fields of the record that the
 * parser has parsed last, too; NULL: no row is a mark
 */
extern ExprState *fc_where_begin_mark(FcShared *shared);

/* Is it true for this row of the target? */
extern bool fc_where_accepts(ExprState *where, EState *estate,
							 TupleTableSlot *slot);

#endif							/* FC_WHERE_H */
