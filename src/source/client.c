/*-------------------------------------------------------------------------
 *
 * source/client.c
 *	  What the client sends, as input.
 *
 *	 server: CopyInResponse ──► client: CopyData ... CopyDone | CopyFail
 *
 * This is the part of the frontend/backend protocol that COPY FROM STDIN
 * speaks.  After an error core skips the rest: CopyData, CopyDone and CopyFail
 * in the simple protocol, everything up to the next Sync in the extended one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

/*
 * The headers of these libraries need not be there to build an
 * extension.  They are for members of struct Port only, which nothing here
 * looks into.
 */
#undef ENABLE_GSS
#undef USE_OPENSSL
#undef USE_SSL

#include "libpq/libpq.h"
#include "libpq/pqformat.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"

#include "compat/compat.h"
#include "grammar/record.h"
#include "source/client.h"

/* Messages of the protocol */
#define FC_MSG_COPY_IN_RESPONSE	'G'
#define FC_MSG_COPY_DATA		'd'
#define FC_MSG_COPY_DONE		'c'
#define FC_MSG_COPY_FAIL		'f'
#define FC_MSG_FLUSH			'H'
#define FC_MSG_SYNC				'S'

#define FC_CLIENT_MARKER		4	/* bytes of a line with "\.", at most */

/*
 * Looks for "\." with a line end in text.  Core before 18 ends a client's data
 * there; in a file the marker ends only its line, unless it is alone on it.
 * Core and a load read these data like a file's: so they are cut before the
 * marker.
 */
typedef struct FcMarkerScan
{
	FcDialect	dialect;		/* text; its first line tells how lines end */
	int			encoding;		/* of the bytes */
	size_t		skip;			/* so many of the bytes to come are of a
								 * character that has begun before */
	bool		bad;			/* a line, or a marker, is malformed */
} FcMarkerScan;

typedef struct FcClient
{
	FcInput		input;
	StringInfoData message;		/* the last one; what is read of CopyData is
								 * after its cursor */
	bool		done;
	StringInfoData failure;		/* the CopyFail with which the client has
								 * ended the data; data is NULL: none */
	bool		lost;			/* the connection is lost */
	int			unexpected;		/* type of a message that has no place here,
								 * or 0 */
	bool		marked;			/* CSV that may end with a marker */
	bool		in_line;		/* the data before "held" end within a line */
	bool		scanned;		/* text, which a marker ends anywhere */
	bool		ended;			/* the marker has come; drops what follows */
	FcMarkerScan scan;
	char		held[FC_CLIENT_MARKER]; /* bytes held back: they may be the
										 * marker, or begin it */
	int			nheld;
	char		last;			/* the last byte that was given away */
} FcClient;

void
fc_client_check(void)
{
	if (whereToSendOutput == DestRemote && MyProcPort != NULL)
		return;
	fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("cannot COPY from the client here"),
			 errdetail("There is no client that could be asked for the data."));
}

/* Waits until something comes, from the client or another process */
static void
fc_client_wait(void)
{
	WaitEvent	event;

	ModifyWaitEvent(FeBeWaitSet, FeBeWaitSetSocketPos, WL_SOCKET_READABLE, NULL);
	(void) WaitEventSetWait(FeBeWaitSet, -1, &event, 1, WAIT_EVENT_CLIENT_READ);
	if (event.events & WL_POSTMASTER_DEATH)
		ereport(FATAL, errcode(ERRCODE_ADMIN_SHUTDOWN),
				errmsg("terminating connection due to unexpected postmaster exit"));
	if (event.events & WL_LATCH_SET)
		ResetLatch(MyLatch);
}

/*
 * The first byte of a message, or EOF.  A cancel is heard while it waits for
 * that byte.  Then cancels are held: within a message they would leave client
 * and server at different places.
 */
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
		if (rc != 0)
			return rc > 0 ? type : EOF;
		pq_endmsgread();
		RESUME_CANCEL_INTERRUPTS();
		fc_client_wait();
	}
}

/*
 * Reads one message, whole before anything is done with it, and returns its
 * type; 0: there is none to be read
 */
static int
fc_client_message(FcClient *client)
{
	int			type = fc_client_message_type();
	int			limit = type == FC_MSG_COPY_DATA ? PQ_LARGE_MESSAGE_LIMIT :
		type == FC_MSG_COPY_DONE || type == FC_MSG_COPY_FAIL ||
		type == FC_MSG_FLUSH || type == FC_MSG_SYNC ? PQ_SMALL_MESSAGE_LIMIT : 0;

	if (type != EOF && limit == 0)
		client->unexpected = type;
	else if (type == EOF || pq_getmessage(&client->message, limit))
		client->lost = true;
	RESUME_CANCEL_INTERRUPTS();
	return client->unexpected || client->lost ? 0 : type;
}

/*
 * The bytes with those of longer characters replaced: in the encodings that
 * only clients have, one of these may look like a backslash.  The terminating
 * zero after the bytes may be looked at.
 */
static char *
fc_marker_plain(FcMarkerScan *scan, const char *buf, size_t len)
{
	char	   *plain = memcpy(palloc(len), buf, len);
	size_t		at = scan->skip;

	memset(plain, 'x', Min(at, len));
	while (at < len)
	{
		size_t		n = pg_encoding_mblen(scan->encoding, buf + at);

		if (n > 1)
			memset(plain + at, 'x', Min(n, len - at));
		at += n;
	}
	scan->skip = at - len;
	return plain;
}

/*
 * The position of the marker that ends the data in buf[0..len), or len.  After
 * a line, or a marker, that is malformed no marker is looked for any more: the
 * reader finds the error.  The next call must have the last *held bytes first.
 */
static size_t
fc_marker_find(FcMarkerScan *scan, const char *buf, size_t len, size_t *held)
{
	bool		wide = PG_ENCODING_IS_CLIENT_ONLY(scan->encoding);
	char	   *plain = wide ? fc_marker_plain(scan, buf, len) : NULL;
	const char *text = wide ? plain : buf;
	size_t		at = 0;
	size_t		found = len;

	*held = 0;
	/* most messages have no backslash */
	if (scan->dialect.eol != FC_EOL_UNKNOWN && memchr(text, '\\', len) == NULL)
		at = len;
	while (at < len && !scan->bad)
	{
		FcScan		record = {0};
		FcEnd		end = fc_record_end(&scan->dialect, &record, text + at, len - at, false);

		at += record.total;
		if (end == FC_END_FOUND && !record.marked)
			continue;
		if (end == FC_END_MORE)
			*held = len - at - record.pos;
		else if (record.marked)
			found = at - record.total + record.content;
		else
			scan->bad = true;
		break;
	}
	if (plain)
		pfree(plain);
	return found;
}

/*
 * How many last bytes of the message could be CSV's marker on its own line?
 * psql before 18 ends the data with it.  Core before 18 ends them there
 * wherever it stands, and drops the rest; newer versions take the line for
 * data.  Here it is the end on core before 18, and only where nothing follows
 * it.
 */
static int
fc_client_marker_length(const FcClient *client)
{
	const StringInfoData *message = &client->message;

	for (int n = 1; n <= Min(message->len, FC_CLIENT_MARKER); n++)
	{
		const char *end = message->data + message->len - n;
		bool		in_line = end > message->data ? end[-1] != '\n' : client->in_line;

		/* the bytes may be the beginning of a marker, or all of it */
		if (!in_line && (strncmp(end, "\\.\n", n) == 0 || strncmp(end, "\\.\r\n", n) == 0))
			return n;
	}
	return 0;
}

/*
 * Puts the bytes held back in front of the message, and holds back what may be
 * a marker at its end
 */
static void
fc_client_hold(FcClient *client)
{
	StringInfo	message = &client->message;
	size_t		held;

	if (client->ended)
	{
		message->cursor = message->len;
		return;
	}
	if (client->nheld > 0)
	{
		enlargeStringInfo(message, client->nheld);
		memmove(message->data + client->nheld, message->data, message->len);
		memcpy(message->data, client->held, client->nheld);
		message->len += client->nheld;
		message->data[message->len] = '\0';
	}
	if (client->scanned)
	{
		size_t		end = fc_marker_find(&client->scan, message->data, message->len, &held);

		client->ended = (end < message->len);
		message->len = end;
	}
	else
		held = fc_client_marker_length(client);
	client->nheld = held;
	message->len -= client->nheld;
	memcpy(client->held, message->data + message->len, client->nheld);
	if (message->len > 0)
		client->in_line = message->data[message->len - 1] != '\n';
}

/*
 * Goes on to the next message that has data; false: there is none.  The data
 * before a CopyFail, a lost connection or an unexpected message are read
 * first, because a record of them may be the error.  After the last two core
 * ends the session: a message was begun and not read (pq_is_reading_msg).
 */
static bool
fc_client_next(FcClient *client)
{
	while (!client->done && client->message.cursor >= client->message.len)
	{
		switch (fc_client_message(client))
		{
			case FC_MSG_COPY_DATA:
				if (client->marked || client->scanned)
					fc_client_hold(client);
				break;
			case FC_MSG_COPY_DONE:
				/* gives away what is held, unless it is the marker */
				client->done = true;
				resetStringInfo(&client->message);
				if (client->nheld > 0 && client->held[client->nheld - 1] != '\n')
					appendBinaryStringInfo(&client->message, client->held, client->nheld);
				break;
			case FC_MSG_COPY_FAIL:
				/* looked at once what came before it is loaded */
				initStringInfo(&client->failure);
				appendBinaryStringInfo(&client->failure, client->message.data, client->message.len);
				pg_fallthrough;
			case 0:
				client->message.cursor = client->message.len;
				client->done = true;
				client->input.failed = true;
				break;
			default:
				/*
				 * Flush and Sync mean nothing yet; clients that do not know
				 * that their command was a COPY may send a Sync
				 */
				client->message.cursor = client->message.len;
				break;
		}
	}
	return client->message.cursor < client->message.len;
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
	client->last = buf[n - 1];
	return n;
}

/*
 * Tells the client of the data what core tells it.  Clients act on that: psql
 * ends inline text at a line with "\.", and drivers send text for it or refuse
 * to.  Packed data would not survive that, so that they are told as one column
 * of bytes.
 */
FcInput *
fc_client_begin(FcClientData data, int encoding, int ncolumns)
{
	FcClient   *client = palloc0(sizeof(FcClient));
	bool		binary = (data == FC_CLIENT_BINARY || data == FC_CLIENT_PACKED);
	StringInfoData buf;

	client->input.read = fc_client_read;
	client->input.word = "file";
	client->input.path = FC_CLIENT_PATH;
	client->marked = (data == FC_CLIENT_CSV && FC_CORE_CSV_MARKER);
	client->scanned = (data == FC_CLIENT_TEXT && !FC_CORE_LONE_MARKER);
	client->scan = (FcMarkerScan) {.dialect.mode = FC_MODE_TEXT,.encoding = encoding};
	initStringInfo(&client->message);
	if (data == FC_CLIENT_PACKED)
		ncolumns = 1;
	pq_beginmessage(&buf, FC_MSG_COPY_IN_RESPONSE);
	pq_sendbyte(&buf, binary);
	pq_sendint16(&buf, ncolumns);
	for (int i = 0; i < ncolumns; i++)
		pq_sendint16(&buf, binary);
	pq_endmessage(&buf);
	pq_flush();
	return &client->input;
}

void
fc_client_check_whole(FcInput *input)
{
	FcClient   *client = (FcClient *) input;

	if (client->failure.data)
	{
		client->failure.cursor = 0;
		fc_throw(ERRCODE_QUERY_CANCELED, errmsg("COPY from stdin failed: %s", pq_getmsgstring(&client->failure)));
	}
	if (client->unexpected)
		fc_throw(ERRCODE_PROTOCOL_VIOLATION, errmsg("unexpected message type 0x%02X during COPY from stdin",
													client->unexpected));
	if (client->lost)
		fc_throw(ERRCODE_CONNECTION_FAILURE, errmsg("unexpected EOF on client connection with an open transaction"));
}

bool
fc_client_ends_in_return(const FcInput *input)
{
	return ((const FcClient *) input)->last == '\r';
}

void
fc_client_end(FcInput *input)
{
	pfree(((FcClient *) input)->message.data);
}
