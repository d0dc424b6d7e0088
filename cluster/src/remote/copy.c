/*-------------------------------------------------------------------------
 *
 * remote/copy.c
 *	  Streams of raw records into COPY ... FROM STDIN on nodes.
 *
 *	 records ──► buffer of the stream ──► pieces ──► libpq ──► socket
 *
 * A piece is sent when the socket takes it.  Else records gather in the
 * buffer, so that the leader can serve other nodes; only if it is full he
 * waits.  A stream is in the memory of its member.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <poll.h>
#include <sys/socket.h>

#include "foreign/fdwapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "remote/conninfo.h"
#include "remote/remote.h"

/* Bytes of a buffer */
#define FC_COPY_BUFFER	(256 * 1024)

/*
 * libpq sends packets of so many bytes, and what is left over by a call of its
 * own; a message has a head of five
 */
#define FC_COPY_PACKET	8192
#define FC_COPY_HEAD	5

/*
 * libpq copies a piece.  Some processors (Zen 3 and 4) copy ten times as
 * slowly to a place that lies 1 to 15 bytes further on in its page than the
 * source does.  Half a page keeps the buffer away from where large blocks
 * begin, as libpq's own does.
 */
#define FC_COPY_PAGE	4096

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
	char	   *table;			/* there, as contexts name it */
	bool		fast;			/* the node's fast_copy loads it */
	char	   *buffer;			/* FC_COPY_BUFFER bytes */
	Size		sent;			/* of these, how many libpq has */
	Size		len;			/* and how many there are */
	Size		try_at;			/* so many are enough to look at the socket */
	Size		piece;			/* bytes that are sent at a time */
	int			share;			/* how many pieces the socket's buffer holds */
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
	return fc_conninfo_name(fc_copy_server(table, shard), false);
}

static char *
fc_copy_sql(const FcRemotePlace *place, const List *attnums, const FcRemoteOptions *options, bool fast)
{
	StringInfo	sql = makeStringInfo();
	const char *separator = "(";

	appendStringInfo(sql, "COPY %s ", fc_remote_table(place));
	foreach_int(attnum, attnums)
	{
		appendStringInfo(sql, "%s%s", separator,
						 quote_identifier(fc_remote_column(place, attnum)));
		separator = ", ";
	}
	appendStringInfo(sql, ") FROM STDIN WITH (%s%s%s)", fast ? options->fast : "",
					 fast ? ", " : "", options->copy);
	return sql->data;
}

/*
 * Finds or begins the member for the table.  Only the member that has made a
 * table in this transaction sees it; NULL: that is at another COPY.
 */
static FcMember *
fc_copy_join(const FcRemotePlace *place, Oid userid, const FcRemoteTable *table)
{
	Oid			server = fc_copy_server(RelationGetRelid(place->rel), place->shard);
	FcMember   *member = fc_transaction_maker(server, userid, fc_remote_table(place));

	if (member && member->copy)
		return NULL;
	if (member)
		fc_transaction_rejoin(member);
	else
	{
		member = fc_transaction_join(server, userid, table != NULL);
		if (table)
			fc_make_table(member, table);
	}
	return member;
}

/*
 * Which part of the socket's buffer is free when it can be written to: three
 * quarters of a Unix socket's, a third of another one's
 */
static int
fc_copy_share(int fd)
{
	struct sockaddr_storage addr = {0};
	socklen_t	len = sizeof(addr);

	(void) getsockname(fd, (struct sockaddr *) &addr, &len);
	return addr.ss_family == AF_UNIX ? 2 : 4;
}

/*
 * Makes a piece fit into what is free of the socket's buffer, which may grow.
 * A larger one would make libpq read from the socket, and what the node says
 * would be missed here.
 */
static void
fc_copy_set_piece(FcRemoteCopy *copy, int fd)
{
	int			bytes = 0;
	socklen_t	size = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size) < 0)
		bytes = 0;
	bytes = Min(bytes / copy->share, FC_COPY_BUFFER / 2);
	copy->piece = Max(bytes / FC_COPY_PACKET, 1) * FC_COPY_PACKET - FC_COPY_HEAD;
}

FcRemoteCopy *
fc_remote_copy_begin(const FcRemotePlace *place, Oid userid, const List *attnums,
					 const FcRemoteOptions *options, const FcRemoteTable *table, bool *fast)
{
	FcMember   *member = fc_copy_join(place, userid, table);
	MemoryContext copying;
	char	   *sql;
	char	   *name;
	FcRemoteCopy *copy;

	if (member == NULL)
		return NULL;
	/* partitions of a shard are not the node's to make */
	*fast = fc_agree_check(member->node, place, attnums) &&
		member->node->has_fast_copy && place->shard == NULL;
	sql = fc_copy_sql(place, attnums, options, *fast);
	member->failed = true;
	fc_node_copy(member->node, sql);
	copying = AllocSetContextCreate(member->node->context, "fast_copy stream",
									ALLOCSET_SMALL_SIZES);
	copy = MemoryContextAllocZero(copying, sizeof(FcRemoteCopy));
	copy->member = member;
	copy->fast = *fast;
	/* as the node clips it */
	name = fc_remote_relname(place);
	name[pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1)] = '\0';
	copy->table = MemoryContextStrdup(copying, name);
	copy->buffer = MemoryContextAlloc(copying, FC_COPY_BUFFER + 2 * FC_COPY_PAGE);
	copy->buffer = (char *) TYPEALIGN(FC_COPY_PAGE, copy->buffer) + FC_COPY_PAGE / 2;
	copy->share = fc_copy_share(fc_wire_socket(member->node->wire));
	copy->try_at = copy->piece = FC_COPY_PACKET - FC_COPY_HEAD;
	member->failed = false;
	member->copy = copy;
	return copy;
}

/*
 * Reads what has come; true if it was nothing but messages for the user.
 * While a COPY runs nothing else comes but an error, of which libpq says
 * nothing until the stream ends.  The node would take all that still comes,
 * and drop it.
 */
static bool
fc_copy_read(FcRemoteCopy *copy)
{
	FcNode	   *node = copy->member->node;
	uint64		before = fc_wire_notices(node->wire);

	for (int i = 0; i < FC_COPY_RESTS; i++)
	{
		if (!fc_wire_consume(node->wire))
			return false;
		if (fc_wire_notices(node->wire) != before)
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
	Size		n = Min(copy->len - copy->sent, copy->piece);
	int			rc = 0;

	if (!copy->waiting)
	{
		if (fc_wire_put(wire, copy->buffer + copy->sent, n) == 1)
			copy->sent += n;
		else
			copy->failed = true;
	}
	if (!copy->failed)
		rc = fc_wire_flush(wire);
	copy->waiting = rc > 0;
	copy->failed |= rc < 0;
}

/* Has libpq something left, or are there at least so many bytes to send? */
static bool
fc_copy_is_due(const FcRemoteCopy *copy, Size least)
{
	return !copy->failed && (copy->waiting || copy->len - copy->sent >= least);
}

/*
 * Makes room after pieces have been sent, unless more is left than was sent.
 * Sets when to try again: once there is a whole piece or, if the socket has
 * not taken one, another one.
 */
static void
fc_copy_settle(FcRemoteCopy *copy)
{
	Size		left = copy->len - copy->sent;

	if (left <= copy->sent)
	{
		memcpy(copy->buffer, copy->buffer + copy->sent, left);
		copy->len = left;
		copy->sent = 0;
	}
	copy->try_at = left < copy->piece ? copy->sent + copy->piece : copy->len + copy->piece;
}

/* Sends as much as the socket takes, while there are at least so many bytes */
static void
fc_copy_pump(FcRemoteCopy *copy, Size least)
{
	struct pollfd look = {.fd = fc_wire_socket(copy->member->node->wire), .events = POLLIN | POLLOUT};

	if (look.fd < 0)
		copy->failed = true;
	else
		fc_copy_set_piece(copy, look.fd);
	while (fc_copy_is_due(copy, least))
	{
		CHECK_FOR_INTERRUPTS();
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
	fc_copy_settle(copy);
}

/* Sends the pieces that all streams have, as far as their sockets take them */
static void
fc_copy_pump_all(void)
{
	fc_members_each(member, fc_transaction_members())
		if (member->copy && fc_copy_is_due(member->copy, member->copy->piece))
			fc_copy_pump(member->copy, member->copy->piece);
}

/* Waits until this stream, or another one that has a piece, can go on */
static void
fc_copy_wait(const FcRemoteCopy *copy)
{
	WaitEventSet *set = fc_node_wait_begin(FC_COPY_SOCKETS);
	int			n = 0;

	fc_members_each(member, fc_transaction_members())
	{
		const FcRemoteCopy *other = member->copy;

		if (other && (other == copy || fc_copy_is_due(other, other->piece)) &&
			n++ < FC_COPY_SOCKETS)
			AddWaitEventToSet(set, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE,
							  fc_wire_socket(member->node->wire), NULL, NULL);
	}
	fc_node_wait_end(set);
}

/*
 * Sends what this stream has, until less than so many bytes are left, and
 * serves the others meanwhile
 */
static void
fc_copy_drain(FcRemoteCopy *copy, Size least)
{
	for (;;)
	{
		fc_copy_pump(copy, least);
		if (!fc_copy_is_due(copy, least))
			break;
		fc_copy_wait(copy);
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
			fc_copy_drain(copy, copy->piece);
		else if (copy->len >= copy->try_at)
			fc_copy_pump(copy, copy->piece);
	}
	return !copy->failed;
}

bool
fc_remote_copy_finish(FcRemoteCopy *copy)
{
	FcWire	   *wire = copy->member->node->wire;

	if (copy->ended)
		return !copy->failed;
	fc_copy_drain(copy, 1);
	copy->ended = true;
	if (fc_wire_put_end(wire, NULL) != 1 || fc_wire_flush(wire) < 0)
		copy->failed = true;
	return !copy->failed;
}

/*
 * Returns the rest of the context from the line's number on, if it says here
 * where the COPY stands; else NULL.  Most languages have "COPY t, line 17,
 * column v: ...", Japanese the table, letters, "COPY", and letters.  The
 * node's fast_copy names a file, too, and knows one language.
 */
static char *
fc_copy_place(const FcRemoteCopy *copy, char *context)
{
	static const char command[] = "COPY";
	Size		len = strlen(copy->table);
	char	   *at = context;
	bool		first = strncmp(at, "COPY ", 5) == 0 &&
		strncmp(at + 5, copy->table, len) == 0 && at[5 + len] == ',';
	char	   *fast = psprintf("fast_copy %s, file \"stdin\", ", copy->table);

	if (copy->fast && strncmp(at, fast, strlen(fast)) == 0)
		at += strlen(fast);
	else if (first)
		at += 5 + len;
	else if (strncmp(at, copy->table, len) == 0)
	{
		for (at += len; IS_HIGHBIT_SET(*at); at++)
			;
		if (strncmp(at, command, strlen(command)) != 0 || !IS_HIGHBIT_SET(at[strlen(command)]))
			return NULL;
	}
	else
		return NULL;
	at += strcspn(at, "0123456789\n");
	return *at >= '0' && *at <= '9' ? at : NULL;
}

/*
 * Cuts what the context says of the stream off it, and takes that line of the
 * stream and what comes after it.  What is above may name lines of other
 * things, such as a value's.
 */
static void
fc_copy_take_place(const FcRemoteCopy *copy, FcRemoteError *error)
{
	char	   *line = error->edata->context;
	char	   *at = NULL;

	while (line && (at = fc_copy_place(copy, line)) == NULL)
	{
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (at == NULL)
		return;
	*line = '\0';
	error->line = strtoull(at, &at, 10);
	if (strncmp(at, ", ", 2) == 0)
		error->field = at + 2;
}

static void
fc_copy_take_error(FcRemoteCopy *copy, FcRemoteError *error)
{
	FcNode	   *node = copy->member->node;
	ErrorData  *edata = fc_node_error(node);

	*error = (FcRemoteError) {edata};
	fc_copy_take_place(copy, error);
	if (error->line == 0 && edata->context && !edata->hint && node->speaks_other)
		edata->hint = "The line of the file is not known. It would be if lc_messages were C for the role there.";
}

/* Reads the rows of a tag such as "COPY 17"; false if it is no such tag */
static bool
fc_copy_take_rows(FcWireResult *result, uint64 *rows)
{
	const char *tag = fc_wire_tag(result);
	char	   *end;

	if (strncmp(tag, "COPY ", 5) != 0 || !isdigit((unsigned char) tag[5]))
		return false;
	*rows = strtoull(tag + 5, &end, 10);
	return *end == '\0';
}

bool
fc_remote_copy_end(FcRemoteCopy *copy, uint64 *rows, FcRemoteError *error)
{
	FcMember   *member = copy->member;
	FcWireResult *result;
	bool		done;

	(void) fc_remote_copy_finish(copy);
	result = fc_node_result(member->node, 0);
	done = !copy->failed && fc_wire_kind(result) == FC_WIRE_DONE &&
		fc_copy_take_rows(result, rows);
	if (!done)
	{
		fc_copy_take_error(copy, error);
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
