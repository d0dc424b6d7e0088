/*-------------------------------------------------------------------------
 *
 * citus/shards.h
 *	  The shards of a table of Citus: which one takes a row, and where it is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CITUS_SHARDS_H
#define FC_CITUS_SHARDS_H

#include "access/attnum.h"
#include "fmgr.h"

/*
 * Groups with numbers below this one are served: remote/conninfo.h turns these
 * into numbers that no user's object has as its OID
 */
#define FC_CITUS_GROUPS	16383

typedef struct FcShard
{
	int64		id;
	int32		low;			/* of hashes, both included */
	int32		high;
	int			nplaces;		/* that have it */
	int32		group;			/* of the nodes: the only one */
} FcShard;

typedef struct FcShards
{
	AttrNumber	attnum;			/* of the column that is hashed; 0: there is
								 * one shard, for all rows */
	FmgrInfo	hash;
	FunctionCallInfo call;		/* of it */
	int			n;
	FcShard    *list;			/* by their hashes, without a gap */
} FcShards;

/*
 * Reads the shards of a table that Citus lists, in the current memory context.
 * NULL, with the reason in *why, a sentence: its rows cannot be sent to them.
 */
extern FcShards *fc_shards_read(Oid table, const char **why);

/*
 * Locks the shards, as Citus' own COPY does, so that none is moved or split
 * before the transaction ends; then reads them again.
 */
extern FcShards *fc_shards_lock(Oid table, const char **why);

/* Finds the shard of a value of the column, which is not null */
extern const FcShard *fc_shards_find(FcShards *shards, Datum value);

/* The name of the shard's own table, without its schema, not quoted */
extern char *fc_shard_relname(Oid table, const FcShard *shard);

#endif							/* FC_CITUS_SHARDS_H */
