/*-------------------------------------------------------------------------
 *
 * elsewhere/keeper.h
 *	  Tables whose rows another extension keeps elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_KEEPER_H
#define FC_KEEPER_H

/*
 * ERROR 0A000 if Citus or TimescaleDB keeps rows of the table, of a partition
 * of it or of a table that it inherits from, or if their catalog has an
 * unknown form.  The caller's lock keeps the table from being handed over to
 * them.
 *
 * Returns FcTarget.kept if rows must, and can, be sent to where they are kept;
 * else NULL.
 */
extern void *fc_keeper_check(Oid target);

/* The same once nothing can move any more before the transaction ends */
extern void *fc_keeper_check_still(Oid target);

/*
 * Throws the error of fc_keeper_check() for a table that has FcTarget.kept,
 * with the reason why rows cannot be sent to there: a sentence
 */
extern void fc_keeper_refuse(Oid target, const char *why);

/* Does one of them keep rows of the table? */
extern bool fc_keeper_keeps(Oid target);

/*
 * Does what fc_keeper_check() does, before the table is locked and only if the
 * caller may insert into it: other hooks need not see a command that will be
 * refused.
 */
extern void fc_keeper_foresee(Oid target);

#endif							/* FC_KEEPER_H */
