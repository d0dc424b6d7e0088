/*-------------------------------------------------------------------------
 *
 * heap/count.h
 *	  Rows that workers insert, in the leader's statistics of their tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COUNT_H
#define FC_COUNT_H

#include "context/shared.h"

/*
 * Worker: hands what core has counted in this process over to the leader, if
 * that has the tables open; with "last", in any case.  "toast" is NULL if
 * there is none.  Does nothing in the leader.  Does not throw.
 */
extern void fc_count_hand_over(FcTurn *turn, Relation heap, Relation toast, bool last);

/*
 * Leader: opens the table of a turn, which it has locked, to count rows of
 * workers until fc_count_end
 */
extern void fc_count_open(FcContext *ctx, uint32 turn);

/* Leader: counts what workers have handed over so far, and opens nothing */
extern void fc_count_take(FcContext *ctx);

/* Leader: counts it for the last time, and closes the tables */
extern void fc_count_end(FcContext *ctx);

#endif							/* FC_COUNT_H */
