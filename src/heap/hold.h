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

/* The leader, before the load: opens a locked table, and adds it to the list */
extern List *fc_hold_begin(List *held, Oid table);

/*
 * Does no other code of this session have the table open?  It is held, and the
 * caller has opened it once more.
 */
extern bool fc_hold_alone(Relation rel);

/*
 * The leader, when all rows are there and before it does anything else with
 * the tables: ERROR 55006 if one of them has been changed
 */
extern void fc_hold_check(List *held);

/* Closes the tables and frees the list */
extern void fc_hold_end(List *held);

#endif							/* FC_HOLD_H */
