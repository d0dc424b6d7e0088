/*-------------------------------------------------------------------------
 *
 * send/dispatch.h
 *	  The leaf of a record, by its partition key alone, and whether that leaf
 *	  is on another server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DISPATCH_H
#define FC_DISPATCH_H

#include "citus/shards.h"
#include "elsewhere/elsewhere.h"
#include "row/parse.h"

/* A table that takes rows */
typedef struct FcDispatchLeaf
{
	Oid			oid;
	bool		foreign;
	const FcNewPartition *created;	/* by this load; NULL: it was there */
	int			number;			/* of the foreign ones, from 0 */
	const FcShard *shard;		/* of the table, where it has shards */
} FcDispatchLeaf;

/*
 * Returns why records of such a file cannot be dispatched, or NULL.  "fields"
 * are the columns of its fields.
 */
extern const char *fc_dispatch_refusal(Relation target, const List *fields);

/*
 * Reads the partitions of ctx->target into the current memory context; a
 * target that is not partitioned is the one leaf.  Locks partitions that are
 * partitioned as well, and keeps the locks.  Partitions that the load has
 * created, by key, are leaves before they are attached.
 */
extern FcDispatch *fc_dispatch_begin(FcContext *ctx, FcParser *parser,
									 const FcNewPartition *created, int ncreated);

/* The same for ctx->target's shards, which are its leaves then */
extern FcDispatch *fc_dispatch_begin_shards(FcContext *ctx, FcParser *parser, FcShards *shards);
extern void fc_dispatch_end(FcDispatch *dispatch);

/* The leaves on other servers: n, by number */
extern int	fc_dispatch_nforeign(const FcDispatch *dispatch);
extern const FcDispatchLeaf *fc_dispatch_foreign(const FcDispatch *dispatch, int number);

/*
 * Finds the leaf of the record, which stays as it is; *leaf is NULL if it has
 * none.  Returns NULL, or the error about the record, as fc_error_catch does.
 * Memory is taken from the current context.
 */
extern ErrorData *fc_dispatch_find(FcDispatch *dispatch, const FcRecord *record,
								   const FcDispatchLeaf **leaf);

#endif							/* FC_DISPATCH_H */
