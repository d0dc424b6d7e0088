/*-------------------------------------------------------------------------
 *
 * remote/copy.c
 *	  Streams of raw records into COPY ... FROM STDIN on nodes.
 *
 *	 records ──► buffer of the stream ──► pieces ──► libpq ──► socket
 *
 * A piece is sent when the socket takes it.  If it does not, records gather
 * in the buffer, so that the leader can serve other nodes; only when that is
 * full it waits.
 *
 * A node that has met an error takes all that still comes, and drops it.
 * libpq says nothing of the error until the stream ends; but nothing else
 * than an error or a message for the user can come while a COPY runs, so that
 * what comes and is no message ends the stream.
 *
 * A stream lies in the memory of its member, with which it goes
 * (remote/transaction.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <poll.h>

#include "foreign/fdwapi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "remote/agree.h"
#include "remote/conninfo.h"
#include "remote/names.h"
#include "remote/remote.h"
#include "remote/transaction.h"

/*
 * Bytes of a buffer, and of a piece: small enough to fit into the buffer of a
 * socket that can be written to, for else libpq reads from it, and what the
 * node says is missed here.
 */
#define FC_COPY_BUFFER	(256 * 1024)
#define FC_COPY_PIECE	(32 * 1024)

/* Sockets that are waited for at a time */
#define FC_COPY_SOCKETS	64

/* ms that a COPY has to end when it is abandoned */
#define FC_COPY_END_MS	5000

/* ms, and how often, to wait for the rest of a message */
#define FC_COPY_REST_MS	10
#define FC_COPY_RESTS	3

struct FcRemoteCopy
{
	FcMember   *member;
	char	   *place;			/* how a context begins that names a line */
	char	   *buffer;			/* FC_COPY_BUFFER bytes */
	Size		sent;			/* of these, how many libpq has */
	Size		len;			/* and how many there are */
	Size		try_at;			/* so many are enough to look at the socket */
	bool		waiting;		/* libpq has bytes that are not sent */
	bool		ended;			/* the node was told so */
	bool		failed;
};

/* The number of the server, as nodes have it */
static Oid
fc_copy_server(Oid table, const FcShard *shard)
{
	return shard ? FC_NODE_OF_GROUP(shard->group) : GetForeignServerIdByRelId(table);
}

char *
fc_remote_server(Oid table, const FcShard *shard)
{
	return fc_conninfo_name(fc_copy_server(table, shard));
}

static char *
fc_copy_sql(const FcRemotePlace *place, const List *attnums, const char *with)
{
	StringInfoData sql;
	const char *separator = "(";
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "COPY %s ", fc_remote_table(place));
	foreach(lc, attnums)
	{
		appendStringInfo(&sql, "%s%s", separator,
						 quote_identifier(fc_remote_column(place, lfirst_int(lc))));
		separator = ", ";
	}
	appendStringInfoString(&sql, ") FROM STDIN");
	if (with && with[0] != '\0')
		appendStringInfo(&sql, " WITH (%s)", with);
	return sql.data;
}

/* "COPY table,", with the name as the node clips it */
static char *
fc_copy_place(const FcRemotePlace *place)
{
	char	   *name = fc_remote_relname(place);

	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	return psprintf("COPY %s,", name);
}

FcRemoteCopy *
fc_remote_copy_begin(const FcRemotePlace *place, Oid userid, const List *attnums, const char *with)
{
	FcMember   *member = fc_transaction_join(fc_copy_server(RelationGetRelid(place->rel), place->shard),
											 userid);
	char	   *sql = fc_copy_sql(place, attnums, with);
	FcRemoteCopy *copy;

	fc_agree_check(member->node, place, attnums);
	member->failed = true;
	if (fc_wire()->kind(fc_node_run(member->node, sql)) != FC_WIRE_COPY_IN)
		fc_node_throw(member->node, sql);
	member->copying = AllocSetContextCreate(member->node->context, "fast_copy stream",
											ALLOCSET_SMALL_SIZES);
	copy = MemoryContextAllocZero(member->copying, sizeof(FcRemoteCopy));
	copy->member = member;
	copy->place = MemoryContextStrdup(member->copying, fc_copy_place(place));
	copy->buffer = MemoryContextAlloc(member->copying, FC_COPY_BUFFER);
	copy->try_at = FC_COPY_PIECE;
	member->failed = false;
	member->copy = copy;
	return copy;
}

/* Reads what has come; true if it was nothing but messages for the user */
static bool
fc_copy_read(FcRemoteCopy *copy)
{
	uint64		before = fc_wire()->notices();
	FcNode	   *node = copy->member->node;

	for (int i = 0; i < FC_COPY_RESTS; i++)
	{
		if (!fc_wire()->consume(node->wire))
			return false;
		(void) fc_wire()->is_busy(node->wire);
		if (fc_wire()->notices() != before)
			return true;
		(void) fc_node_wait(node, WL_SOCKET_READABLE,
							TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_COPY_REST_MS));
	}
	return false;
}

/* Hands libpq the next piece, if it has sent the one before */
static void
fc_copy_send_piece(FcRemoteCopy *copy)
{
	FcWire	   *wire = copy->member->node->wire;
	Size		n = Min(copy->len - copy->sent, FC_COPY_PIECE);
	int			rc = 0;

	if (!copy->waiting)
	{
		if (fc_wire()->put(wire, copy->buffer + copy->sent, n) == 1)
			copy->sent += n;
		else
			copy->failed = true;
	}
	if (!copy->failed)
		rc = fc_wire()->flush(wire);
	copy->waiting = rc > 0;
	copy->failed |= rc < 0;
}

/* Is there something to send, or has libpq something left? */
static bool
fc_copy_has_more(const FcRemoteCopy *copy)
{
	return !copy->failed && (copy->waiting || copy->sent < copy->len);
}

/* Sends as much as the socket takes */
static void
fc_copy_pump(FcRemoteCopy *copy)
{
	struct pollfd look = {.fd = fc_wire()->socket(copy->member->node->wire), .events = POLLIN | POLLOUT};

	if (look.fd < 0)
		copy->failed = true;
	while (fc_copy_has_more(copy))
	{
		look.revents = 0;
		if (poll(&look, 1, 0) <= 0)
			break;
		if ((look.revents & ~POLLOUT) && !fc_copy_read(copy))
			copy->failed = true;
		else if (look.revents & POLLOUT)
			fc_copy_send_piece(copy);
		else
			break;
	}
	if (copy->sent == copy->len)
		copy->sent = copy->len = 0;
	copy->try_at = copy->len + FC_COPY_PIECE;
}

/* Sends what all streams have, as far as their sockets take it */
static void
fc_copy_pump_all(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, fc_transaction_members())
	{
		FcRemoteCopy *copy = dlist_container(FcMember, link, iter.cur)->copy;

		if (copy && fc_copy_has_more(copy))
			fc_copy_pump(copy);
	}
}

/* Waits until one of the streams can go on that have something to send */
static void
fc_copy_wait(void)
{
	WaitEventSet *set = fc_node_wait_begin(FC_COPY_SOCKETS);
	int			n = 0;
	dlist_iter	iter;

	dlist_foreach(iter, fc_transaction_members())
	{
		FcMember   *member = dlist_container(FcMember, link, iter.cur);

		if (member->copy && fc_copy_has_more(member->copy) && n++ < FC_COPY_SOCKETS)
			AddWaitEventToSet(set, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE,
							  fc_wire()->socket(member->node->wire), NULL, NULL);
	}
	fc_node_wait_end(set);
}

/* Sends all that this stream has, and serves the others meanwhile */
static void
fc_copy_drain(FcRemoteCopy *copy)
{
	for (;;)
	{
		fc_copy_pump(copy);
		if (!fc_copy_has_more(copy))
			break;
		fc_copy_wait();
		fc_copy_pump_all();
	}
}

bool
fc_remote_copy_put(FcRemoteCopy *copy, const char *bytes, Size len)
{
	while (!copy->failed && len > 0)
	{
		Size		n = Min(len, FC_COPY_BUFFER - copy->len);

		memcpy(copy->buffer + copy->len, bytes, n);
		copy->len += n;
		bytes += n;
		len -= n;
		if (copy->len == FC_COPY_BUFFER)
			fc_copy_drain(copy);
		else if (copy->len >= copy->try_at)
			fc_copy_pump(copy);
	}
	return !copy->failed;
}

bool
fc_remote_copy_finish(FcRemoteCopy *copy)
{
	FcWire	   *wire = copy->member->node->wire;

	if (copy->ended)
		return !copy->failed;
	fc_copy_drain(copy);
	copy->ended = true;
	if (fc_wire()->put_end(wire, NULL) != 1 || fc_wire()->flush(wire) < 0)
		copy->failed = true;
	return !copy->failed;
}

/*
 * Cuts what the context says of the stream off it, "COPY t, line 17, column v:
 * ..." at the start of a line, and returns that line of the stream.  What is
 * above may name lines of other things, such as a value's.
 */
static uint64
fc_copy_line(const FcRemoteCopy *copy, char *context)
{
	Size		len = strlen(copy->place);

	for (char *at = context; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
	{
		if (strncmp(at, copy->place, len) != 0)
			continue;
		*at = '\0';
		/* the word before the number is in the node's language */
		at += len;
		return strtoull(at + strcspn(at, "0123456789\n"), NULL, 10);
	}
	return 0;
}

static char *
fc_copy_error_field(FcWireResult *result, int code)
{
	char	   *field = result ? fc_wire()->field(result, code) : NULL;

	return field ? pstrdup(field) : NULL;
}

static void
fc_copy_take_error(FcRemoteCopy *copy, FcWireResult *result, FcRemoteError *error)
{
	char	   *state = fc_copy_error_field(result, PG_DIAG_SQLSTATE);

	memset(error, 0, sizeof(FcRemoteError));
	error->sqlerrcode = state ? MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]) :
		ERRCODE_CONNECTION_FAILURE;
	error->message = fc_node_complaint(copy->member->node);
	error->detail = fc_copy_error_field(result, PG_DIAG_MESSAGE_DETAIL);
	error->hint = fc_copy_error_field(result, PG_DIAG_MESSAGE_HINT);
	error->context = fc_copy_error_field(result, PG_DIAG_CONTEXT);
	error->line = fc_copy_line(copy, error->context);
}

bool
fc_remote_copy_end(FcRemoteCopy *copy, uint64 *rows, FcRemoteError *error)
{
	FcMember   *member = copy->member;
	FcWireResult *result;
	bool		done;

	(void) fc_remote_copy_finish(copy);
	result = fc_node_result(member->node, 0);
	done = !copy->failed && result && fc_wire()->kind(result) == FC_WIRE_DONE;
	if (done)
		*rows = strtoull(fc_wire()->tag_rows(result), NULL, 10);
	else
	{
		fc_copy_take_error(copy, result, error);
		member->failed = true;
	}
	fc_member_end_copy(member);
	return done;
}

void
fc_remote_copy_abandon(FcRemoteCopy *copy)
{
	FcMember   *member = copy->member;

	fc_member_cancel(member, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), FC_COPY_END_MS));
	member->failed = true;
}
