/*-------------------------------------------------------------------------
 *
 * fc_client.c
 *	  What the client sends, as input.
 *
 *	 server: CopyInResponse ──► client: CopyData ... CopyDone | CopyFail
 *
 * The part of the frontend/backend protocol that COPY FROM STDIN speaks, spoken
 * by a procedure: CALL answers with nothing before it is done, so that a client
 * takes it for a COPY, and asks whoever is in front of it for data.
 *
 * The client is told that the data are binary.  Then it passes them through
 * untouched: psql would else end them at a line with "\." and lose NULs, and
 * packed data may have both.
 *
 * A cancel is looked at before each message, while nothing of it has been read;
 * within one it would leave the client and us at different places.  For the same
 * reason a message is read whole before anything is done with it.
 *
 * After an error core skips the rest: CopyData, CopyDone and CopyFail in the
 * simple protocol, everything up to the next Sync in the extended one.  That one
 * may come while data are awaited, from clients that do not know what they have
 * called; then it is passed over.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

/*
 * The headers of these libraries need not be there to build an extension.  They
 * are for members of struct Port only, which nothing here looks into.
 */
#undef ENABLE_GSS
#undef USE_OPENSSL
#undef USE_SSL

#include "lib/stringinfo.h"
#include "libpq/libpq.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "nodes/primnodes.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
#include "utils/portal.h"

#include "fc_client.h"
#include "fc_compat.h"

/* Messages of the protocol */
#define FC_MSG_COPY_IN_RESPONSE	'G'
#define FC_MSG_COPY_DATA		'd'
#define FC_MSG_COPY_DONE		'c'
#define FC_MSG_COPY_FAIL		'f'
#define FC_MSG_FLUSH			'H'
#define FC_MSG_SYNC				'S'

typedef struct FcClient
{
	FcInput		input;
	StringInfoData message;		/* the last one; what is read of CopyData
								 * is behind its cursor */
	bool		done;
} FcClient;

/* Is the portal that runs the client's command this very call? */
static bool
fc_client_calls(Oid procedure)
{
	PlannedStmt *stmt;

	if (ActivePortal == NULL || list_length(ActivePortal->stmts) != 1)
		return false;
	stmt = linitial_node(PlannedStmt, ActivePortal->stmts);
	return stmt->utilityStmt && IsA(stmt->utilityStmt, CallStmt) &&
		castNode(CallStmt, stmt->utilityStmt)->funcexpr->funcid == procedure;
}

/*
 * SPI runs a call in a memory context of its own, a portal in the portal's: so
 * the two are told apart even if a trigger calls what has fired it.
 */
void
fc_client_check(Oid procedure, MemoryContext called_in)
{
	if (whereToSendOutput == DestRemote && MyProcPort != NULL &&
		fc_client_calls(procedure) && called_in == PortalContext)
		return;
	fc_client_refuse();
}

void
fc_client_refuse(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot COPY from the client here"),
			 errdetail("The client must send the command itself, to be asked for the data."),
			 errhint("Use COPY or CALL fast_copy_stdin() as a command of its own, neither in a function nor in a DO block.")));
}

static void
fc_client_lost(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("unexpected EOF on client connection with an open transaction")));
}

/* Until something comes, from the client or another process */
static void
fc_client_wait(void)
{
	WaitEvent	event;

	ModifyWaitEvent(FeBeWaitSet, FeBeWaitSetSocketPos, WL_SOCKET_READABLE, NULL);
	(void) WaitEventSetWait(FeBeWaitSet, -1, &event, 1, WAIT_EVENT_CLIENT_READ);
	if (event.events & WL_POSTMASTER_DEATH)
		ereport(FATAL,
				(errcode(ERRCODE_ADMIN_SHUTDOWN),
				 errmsg("terminating connection due to unexpected postmaster exit")));
	if (event.events & WL_LATCH_SET)
		ResetLatch(MyLatch);
}

/* The first byte of a message, waiting for it so that a cancel is heard */
static int
fc_client_message_type(void)
{
	unsigned char type;
	int			rc;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		HOLD_CANCEL_INTERRUPTS();
		pq_startmsgread();
		rc = pq_getbyte_if_available(&type);
		if (rc > 0)
			return type;
		if (rc < 0)
			fc_client_lost();
		pq_endmsgread();
		RESUME_CANCEL_INTERRUPTS();
		fc_client_wait();
	}
}

static int
fc_client_limit(int type)
{
	switch (type)
	{
		case FC_MSG_COPY_DATA:
			return PQ_LARGE_MESSAGE_LIMIT;
		case FC_MSG_COPY_DONE:
		case FC_MSG_COPY_FAIL:
		case FC_MSG_FLUSH:
		case FC_MSG_SYNC:
			return PQ_SMALL_MESSAGE_LIMIT;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_PROTOCOL_VIOLATION),
					 errmsg("unexpected message type 0x%02X during COPY from stdin",
							type)));
	}
	return 0;
}

/* Reads one whole message; cancels are held from its first byte to its last */
static int
fc_client_message(FcClient *client)
{
	int			type = fc_client_message_type();

	if (pq_getmessage(&client->message, fc_client_limit(type)))
		fc_client_lost();
	RESUME_CANCEL_INTERRUPTS();
	return type;
}

/* Goes on to the next message that has data; false: there is none */
static bool
fc_client_next(FcClient *client)
{
	while (!client->done && client->message.cursor >= client->message.len)
	{
		switch (fc_client_message(client))
		{
			case FC_MSG_COPY_DATA:
				break;
			case FC_MSG_COPY_DONE:
				client->done = true;
				break;
			case FC_MSG_COPY_FAIL:
				ereport(ERROR,
						(errcode(ERRCODE_QUERY_CANCELED),
						 errmsg("COPY from stdin failed: %s",
								pq_getmsgstring(&client->message))));
				break;
			default:
				/* Flush and Sync mean nothing yet */
				client->message.cursor = client->message.len;
				break;
		}
	}
	return !client->done;
}

static size_t
fc_client_read(FcInput *input, char *buf, size_t len)
{
	FcClient   *client = (FcClient *) input;
	size_t		n;

	if (!fc_client_next(client))
		return 0;
	n = Min(len, (size_t) (client->message.len - client->message.cursor));
	pq_copymsgbytes(&client->message, buf, (int) n);
	return n;
}

/* One column of bytes, as far as the client is concerned */
static void
fc_client_ask(void)
{
	StringInfoData buf;

	pq_beginmessage(&buf, FC_MSG_COPY_IN_RESPONSE);
	pq_sendbyte(&buf, 1);
	pq_sendint16(&buf, 1);
	pq_sendint16(&buf, 1);
	pq_endmessage(&buf);
	pq_flush();
}

FcInput *
fc_client_begin(void)
{
	FcClient   *client = palloc0(sizeof(FcClient));

	client->input.read = fc_client_read;
	client->input.word = "file";
	client->input.path = "stdin";
	initStringInfo(&client->message);
	fc_client_ask();
	return &client->input;
}

void
fc_client_end(FcInput *input)
{
	FcClient   *client = (FcClient *) input;

	pfree(client->message.data);
	pfree(client);
}
