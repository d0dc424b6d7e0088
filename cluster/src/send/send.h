/*-------------------------------------------------------------------------
 *
 * send/send.h
 *	  The leaf of a record, and the leader's pass over the file, which sends
 *	  the records of leaves on other servers as they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SEND_H
#define FC_SEND_H

#include "elsewhere/elsewhere.h"
#include "remote/remote.h"

/*
 * send/dispatch.c
 */

/* A table that takes rows */
typedef struct FcDispatchLeaf
{
	Oid			oid;
	bool		foreign;
	const FcRemoteTable *table; /* that the load makes for it; NULL: none */
	int			number;			/* of a foreign one, from 0 */
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

/* The leaves on other servers, by number: FcDispatchLeaf */
extern const List *fc_dispatch_foreign(const FcDispatch *dispatch);

/*
 * Finds the leaf of the record, which stays as it is; *leaf is NULL if it has
 * none.  Returns NULL, or the error about the record, as fc_error_catch does.
 * Memory is taken from the current context.
 */
extern ErrorData *fc_dispatch_find(FcDispatch *dispatch, const FcRecord *record,
								   const FcDispatchLeaf **leaf);

/*
 * send/send.c
 */

/* So many COPYs are open at a time */
#define FC_SEND_STREAMS	32

/* How records are sent */
typedef struct FcSendPlan
{
	FcElsewhereLoad load;		/* what is asked for */
	Oid			userid;			/* who must be allowed to */
	const List *attnums;		/* the target's columns that the file has, in
								 * its order */
	FcShards   *shards;			/* of the target, which are its leaves; or
								 * NULL */
	FcRemoteOptions options;	/* of COPY on the servers */
} FcSendPlan;

/*
 * Locks the leaves on other servers, and makes ready for a pass over the whole
 * file, which finds its chunks if it is the whole load.  Beside
 * workers no COPY may begin: "open", before they start, begins as many as may
 * be open.
 */
extern FcSender *fc_send_begin(FcContext *ctx, const FcSendPlan *plan);
extern void fc_send_open(FcSender *sender);

/* FcContext.lead: sends some more records; false at the end of the pass */
extern bool fc_send_step(void *sender);

/*
 * Ends the pass, makes more while there are more leaves than COPYs may be open
 * at a time, and ends all COPYs.  From then on the first error of the file is
 * known.  False if a partition is missing, as load.makes asks: then nothing
 * was loaded that the rest of the transaction must not undo.
 */
extern bool fc_send_finish(FcSender *sender);

/* Frees it; the COPYs have ended */
extern void fc_send_end(FcSender *sender);

/* Rows in all COPYs, as the servers have counted them; and leaf by leaf */
extern uint64 fc_send_rows(const FcSender *sender);
extern int	fc_send_count(const FcSender *sender);
extern FcElsewhereSent fc_send_sent(const FcSender *sender, int i);

/*
 * send/raw.c
 */

/*
 * Returns why core must load because of this foreign table, which is the target
 * or a leaf of it; NULL: its records can be sent as they are.
 */
extern const char *fc_raw_refusal(const FcTarget *target, Relation foreign);

/*
 * Returns why records cannot be sent to the target's shards, as a sentence;
 * NULL: they can
 */
extern const char *fc_raw_shards_refusal(const FcTarget *target);

#endif							/* FC_SEND_H */
