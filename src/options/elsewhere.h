/*-------------------------------------------------------------------------
 *
 * options/elsewhere.h
 *	  Tables whose rows another extension keeps elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ELSEWHERE_H
#define FC_ELSEWHERE_H

#include "citus/shards.h"

/*
 * Throws ERROR 0A000 if Citus or TimescaleDB keeps the rows of the table, of
 * one of its partitions or of a table that it inherits from; or if that cannot
 * be found out, because the extension's catalog has an unknown form.  The
 * caller's lock keeps the table from being handed over to them.
 *
 * Returns the shards of a table of Citus whose rows can be sent to them: then
 * they must not go anywhere else.  NULL: nobody keeps them elsewhere.
 */
extern FcShards *fc_elsewhere_check(Oid target);

/* The same once all shards are locked */
extern FcShards *fc_elsewhere_lock(Oid target);

/*
 * Throws the error of fc_elsewhere_check() for a table that has shards, with
 * the reason why rows cannot be sent to them: a sentence
 */
extern void fc_elsewhere_refuse(Oid target, const char *why);

/* Does one of them keep rows of the table? */
extern bool fc_elsewhere_keeps(Oid target);

/*
 * Does what fc_elsewhere_check() does, before the table is locked and only if
 * the caller may insert into it: other hooks need not see a command that will
 * be refused.
 */
extern void fc_elsewhere_foresee(Oid target);

#endif							/* FC_ELSEWHERE_H */
