/*-------------------------------------------------------------------------
 *
 * load/away.h
 *	  Which rows go to other servers, before any row does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_AWAY_H
#define FC_AWAY_H

#include "load/job.h"

/*
 * Before all else: ERROR 0A000 if options for other servers need what is not
 * there, 22023 if they are wrong
 */
extern void fc_away_check_options(const FcOptions *options);

/* Sets job->places; ERROR if the option for it cannot be used for the table */
extern void fc_away_take_places(FcJob *job);

/*
 * Returns why core must load because of this foreign table, which is the target
 * or a leaf of it; NULL: its records can be sent as they are.
 */
extern const char *fc_away_refusal(FcJob *job, Relation foreign);

/*
 * Before the way is final: takes FC_WAY_SEND if all leaves are on other servers
 * and their records can be sent, and FC_WAY_COPY if the target is a foreign
 * table for which they cannot.  Sets job->foreign.  ERROR 0A000 if another
 * extension keeps the rows elsewhere, and records cannot be sent there.
 */
extern void fc_away_foresee(FcJob *job);

/*
 * With a ledger: ERROR 0A000 if rows go to other servers, which could commit
 * them when the row of the ledger here is lost, or to unlogged tables, which
 * lose them in a crash
 */
extern void fc_away_check_ledger(const FcJob *job);

/*
 * Once all leaves are locked, or what another extension keeps: are all leaves
 * still such ones?  If not, takes the way of a load into leaves here.
 */
extern bool fc_away_confirm(FcJob *job);

/* Before core loads: ERROR if it must not, or if the rows belong elsewhere */
extern void fc_away_check_core(FcJob *job);

/* ERROR if rows would be loaded here that another extension keeps elsewhere */
extern void fc_away_check_here(const FcTarget *target);

/* Is what was loaded into the table not seen before the transaction commits? */
extern bool fc_away_is_unseen(FcJob *job, Oid table);

#endif							/* FC_AWAY_H */
