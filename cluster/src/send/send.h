/*-------------------------------------------------------------------------
 *
 * send/send.h
 *	  The leader's pass over the file, which sends the records of leaves on
 *	  other servers as they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SEND_H
#define FC_SEND_H

#include "citus/shards.h"
#include "elsewhere/elsewhere.h"
#include "remote/remote.h"

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
 * file, which finds its chunks if it is the whole load (send/pass.h).  Beside
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
