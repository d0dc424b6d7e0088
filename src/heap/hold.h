/*-------------------------------------------------------------------------
 *
 * heap/hold.h
 *	  The tables of a load, kept as they are while rows are put into them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HOLD_H
#define FC_HOLD_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* Leader, before the load: adds a table, which is locked, to the list */
extern List *fc_hold_begin(List *held, Oid table);

/*
 * Is the table, which is held and opened once more by the caller, used by no
 * other code of this session?
 */
extern bool fc_hold_alone(Relation rel);

/*
 * Leader, when all rows are there and before anything else is done with the
 * tables: ERROR if one of them has been changed
 */
extern void fc_hold_check(List *held);

/* Lets go of them */
extern void fc_hold_end(List *held);

#endif							/* FC_HOLD_H */
