/*-------------------------------------------------------------------------
 *
 * heap/hold.h
 *	  The tables of a load, kept as they are until it is done with them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HOLD_H
#define FC_HOLD_H

#include "utils/relcache.h"

/* What a table is held for; it is closed when that has been done */
typedef enum FcHeldFor
{
	FC_HELD_ROWS,				/* to get its rows, and be indexed */
	FC_HELD_PLACE				/* to be attached, to exchange files, or to
								 * pass on the rows of a stage */
} FcHeldFor;

/* The leader's, in the memory context that is current when it is made */
typedef struct FcHold FcHold;

extern FcHold *fc_hold_create(void);

/*
 * Opens a table that the leader has locked, and stores what it is; does
 * nothing if it is held already
 */
extern void fc_hold_begin(FcHold *hold, Oid table, FcHeldFor what);

/*
 * Is the table closed to all other code of this session?  It is held, and the
 * caller has opened it once more.
 */
extern bool fc_hold_alone(Relation rel);

/*
 * ERROR 55006 if one of the tables has been changed.  The second stores files
 * and indexes anew, after the load has changed these itself.
 */
extern void fc_hold_check(FcHold *hold);
extern void fc_hold_renew(FcHold *hold);

/*
 * ERROR 55006 for a table that code of users has changed; "detail" says how, or
 * is NULL
 */
extern void fc_hold_refuse(const char *relname, const char *detail);

/*
 * Closes the table, if it is held; directly before the load changes it.  The
 * second closes all that are held for their rows or, with FC_HELD_PLACE, at
 * all.
 */
extern void fc_hold_end(FcHold *hold, Oid table);
extern void fc_hold_end_all(FcHold *hold, FcHeldFor what);

#endif							/* FC_HOLD_H */
