/*-------------------------------------------------------------------------
 *
 * row/executor.h
 *	  The target as the executor wants it: a range table of one entry.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_EXECUTOR_H
#define FC_EXECUTOR_H

#include "context/shared.h"

/*
 * ERROR 42501 if the user lacks USAGE on the schema of a table that the caller
 * gave as an OID.
 */
extern void fc_executor_check_schema(Oid relid);

/*
 * A parse state whose range table holds only this relation, and asks for
 * INSERT on the columns (a list of attribute numbers).
 */
extern ParseState *fc_executor_parse_state(Relation rel, List *attnums);

/* Asks for DELETE, too, and for SELECT on the key, if it is valid */
extern void fc_executor_require_delete(ParseState *pstate, AttrNumber key);

/*
 * Asks for what INSERT ... ON CONFLICT needs: SELECT on the keys; and on the
 * columns to be set that are no keys UPDATE, and SELECT, because of "excluded"
 */
extern void fc_executor_require_conflict(ParseState *pstate, List *keys, List *columns);

/* Asks for INSERT on other columns of such a parse state */
extern void fc_executor_insert_columns(ParseState *pstate, List *attnums);

/*
 * An executor state, which asks for INSERT on the columns that the file has
 * fields for.  The target's ResultRelInfo is the first of es_result_relations,
 * indexes not opened.
 */
extern EState *fc_executor_begin(FcContext *ctx);
extern void fc_executor_end(EState *estate);

/*
 * The indexes that a new partition gets when it is attached: a list of
 * IndexInfo, of the parent's indexes, with the columns of the child.
 */
extern List *fc_executor_child_indexes(Relation parent, Relation child);

#endif							/* FC_EXECUTOR_H */
