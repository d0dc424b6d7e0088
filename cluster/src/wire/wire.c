/*-------------------------------------------------------------------------
 *
 * wire/wire.c
 *	  The client of other servers: what wire/wire.h promises, by libpq.
 *
 * libpq keeps whatever a server sends: rows and notifications until they are
 * asked for, names of settings for good, and a message once its length is
 * announced.  So bytes that arrive after a command, and the memory that libpq
 * takes for them, are counted here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/ioctl.h>

#include "libpq-fe.h"
#include "mb/pg_wchar.h"

#include "wire/wire.h"

/* More options of a connection than libpq has */
#define FC_LIBPQ_OPTIONS	128

/* Bytes that a server may send after a command: our questions have few rows */
#define FC_LIBPQ_BYTES	(1024 * 1024)

/* Bytes that libpq reads at once, as long as its buffer has the first size */
#define FC_LIBPQ_READ	(16 * 1024)

/*
 * Bytes that libpq may take for it.  It has a message in several places, and
 * libraries for encryption take some, too.
 */
#define FC_LIBPQ_MEMORY	(8 * 1024 * 1024)

#define FC_LIBPQ_TOO_MUCH	"The server has sent more than any command of ours is answered with."

struct FcWire
{
	PGconn	   *conn;			/* NULL: given up */
	uint64		notices;
	uint64		bytes;			/* that arrived since the last command */
	int64		memory;			/* that libpq has taken since then */
	char		error[2048];	/* the last one that was asked for, or why it
								 * was given up */
};

/*
 * Neither options for debugging nor those that the caller sets itself.  libpq's
 * list does not change, and is kept.
 */
bool
fc_wire_is_option(const char *name)
{
	static PQconninfoOption *options = NULL;

	if (options == NULL)
		options = PQconndefaults();
	if (strcmp(name, "client_encoding") == 0 || strcmp(name, "fallback_application_name") == 0)
		return false;
	for (PQconninfoOption *option = options; option && option->keyword; option++)
		if (strcmp(option->keyword, name) == 0)
			return strchr(option->dispchar, 'D') == NULL;
	return false;
}

/* The bytes in use of all that malloc has given out, where it tells */
static int64
fc_wire_memory(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	struct mallinfo2 info = mallinfo2();

	return (int64) (info.uordblks + info.hblkhd);
#elif defined(__GLIBC__)
	struct mallinfo info = mallinfo();

	return (int64) (uint32) info.uordblks + (uint32) info.hblkhd;
#else
	return 0;
#endif
}

/*
 * Makes a text of the server's valid in this database's encoding, in its
 * place.  The memory is libpq's, which gives it out to be written to.
 */
static char *
fc_wire_text(char *text)
{
	int			encoding = GetDatabaseEncoding();
	int			len;

	if (text == NULL)
		return NULL;
	len = (int) strnlen(text, FC_WIRE_TEXT);
	if (text[len] != '\0')
		text[len] = '\0';
	for (int i = 0; i < len; i++)
	{
		i += pg_encoding_verifymbstr(encoding, text + i, len - i);
		if (i < len)
			text[i] = '?';
	}
	return text;
}

void
fc_wire_give_up(FcWire *wire, const char *why)
{
	if (wire->conn == NULL)
		return;
	if (why != wire->error)
		strlcpy(wire->error, why, sizeof(wire->error));
	PQfinish(wire->conn);
	wire->conn = NULL;
}

bool
fc_wire_is_open(const FcWire *wire)
{
	return wire->conn != NULL;
}

/*
 * Counts what is about to be read; false if it is too much.  What stays unread
 * is counted before the next read.  If libpq has made itself a larger buffer
 * it reads more at once, but what it keeps of that is weighed (fc_wire_weigh).
 */
static bool
fc_wire_count(FcWire *wire)
{
	int			bytes = 0;

	if (wire->conn == NULL)
		return false;
	if (PQsocket(wire->conn) >= 0 && ioctl(PQsocket(wire->conn), FIONREAD, &bytes) == 0)
		wire->bytes += Min(Max(bytes, 0), FC_LIBPQ_READ);
	if (wire->bytes > FC_LIBPQ_BYTES)
		fc_wire_give_up(wire, FC_LIBPQ_TOO_MUCH);
	return wire->conn != NULL;
}

/*
 * Counts the memory that libpq has taken since "before" to look at what it had
 * read; false if it is too much
 */
static bool
fc_wire_weigh(FcWire *wire, int64 before)
{
	wire->memory += fc_wire_memory() - before;
	if (wire->memory > FC_LIBPQ_MEMORY)
		fc_wire_give_up(wire, FC_LIBPQ_TOO_MUCH);
	return wire->conn != NULL;
}

static void
fc_wire_notice(void *arg, const PGresult *result)
{
	((FcWire *) arg)->notices++;
}

uint64
fc_wire_notices(const FcWire *wire)
{
	return wire->notices;
}

FcWire *
fc_wire_connect(const char *const *names, const char *const *values, bool expand)
{
	FcWire	   *wire = calloc(1, sizeof(FcWire));

	if (wire == NULL)
		return NULL;
	wire->conn = PQconnectStartParams(names, values, expand);
	if (wire->conn)
	{
		(void) PQsetNoticeReceiver(wire->conn, fc_wire_notice, wire);
		return wire;
	}
	free(wire);
	return NULL;
}

void
fc_wire_finish(FcWire *wire)
{
	if (wire->conn)
		PQfinish(wire->conn);
	free(wire);
}

static FcWirePoll
fc_wire_polled(PostgresPollingStatusType status)
{
	return status == PGRES_POLLING_READING ? FC_WIRE_READS :
		status == PGRES_POLLING_WRITING ? FC_WIRE_WRITES :
		status == PGRES_POLLING_OK ? FC_WIRE_STANDS : FC_WIRE_FAILED;
}

FcWirePoll
fc_wire_poll(FcWire *wire)
{
	int64		before = fc_wire_memory();
	FcWirePoll	poll;

	if (!fc_wire_count(wire) || PQstatus(wire->conn) == CONNECTION_BAD)
		return FC_WIRE_FAILED;
	poll = fc_wire_polled(PQconnectPoll(wire->conn));
	if (!fc_wire_weigh(wire, before) ||
		(poll == FC_WIRE_STANDS && PQsetnonblocking(wire->conn, 1) != 0))
		return FC_WIRE_FAILED;
	return poll;
}

int
fc_wire_socket(const FcWire *wire)
{
	return wire->conn ? PQsocket(wire->conn) : -1;
}

int
fc_wire_used_password(const FcWire *wire)
{
	return wire->conn && PQconnectionUsedPassword(wire->conn);
}

/* A copy, because libpq may hand out what must not be written to */
char *
fc_wire_error(FcWire *wire)
{
	if (wire->conn)
		strlcpy(wire->error, PQerrorMessage(wire->conn), sizeof(wire->error));
	return fc_wire_text(wire->error);
}

int
fc_wire_send(FcWire *wire, const char *sql)
{
	wire->bytes = 0;
	wire->memory = 0;
	return wire->conn ? PQsendQuery(wire->conn, sql) : 0;
}

int
fc_wire_is_busy(FcWire *wire)
{
	int64		before = fc_wire_memory();
	int			is_busy = wire->conn && PQisBusy(wire->conn);

	return fc_wire_weigh(wire, before) && is_busy;
}

/* libpq reads where it cannot send; it looks at that here, and not in put */
int
fc_wire_flush(FcWire *wire)
{
	int			rest = wire->conn ? PQflush(wire->conn) : -1;

	if (rest > 0)
		(void) fc_wire_is_busy(wire);
	return wire->conn ? rest : -1;
}

/*
 * Reads what is there, and looks at it.  After a failure a last message of the
 * server's can still be asked for; where there is none libpq would wait for
 * it, so that the connection is given up.
 */
int
fc_wire_consume(FcWire *wire)
{
	int64		before = fc_wire_memory();
	int			done;
	PGnotify   *notify;

	if (!fc_wire_count(wire))
		return 0;
	done = PQconsumeInput(wire->conn);
	while ((notify = PQnotifies(wire->conn)) != NULL)
		PQfreemem(notify);
	if (!done && PQisBusy(wire->conn))
		fc_wire_give_up(wire, fc_wire_error(wire));
	return fc_wire_weigh(wire, before) && done;
}

PGresult *
fc_wire_result(FcWire *wire)
{
	int64		before = fc_wire_memory();
	PGresult   *result = wire->conn && !PQisBusy(wire->conn) ? PQgetResult(wire->conn) : NULL;

	if (fc_wire_weigh(wire, before))
		return result;
	PQclear(result);
	return NULL;
}

int
fc_wire_put(FcWire *wire, const char *bytes, int len)
{
	return wire->conn ? PQputCopyData(wire->conn, bytes, len) : -1;
}

int
fc_wire_put_end(FcWire *wire, const char *error)
{
	return wire->conn ? PQputCopyEnd(wire->conn, error) : -1;
}

FcWireKind
fc_wire_kind(const PGresult *result)
{
	switch (PQresultStatus(result))
	{
		case PGRES_COMMAND_OK:
			return FC_WIRE_DONE;
		case PGRES_TUPLES_OK:
			return FC_WIRE_ROWS;
		case PGRES_COPY_IN:
			return FC_WIRE_COPY_IN;
		case PGRES_FATAL_ERROR:
		case PGRES_BAD_RESPONSE:
			return FC_WIRE_ERROR;
		default:
			return FC_WIRE_OTHER;
	}
}

char *
fc_wire_field(const PGresult *result, int code)
{
	return fc_wire_text(PQresultErrorField(result, code));
}

/* Whatever the server has sent: empty for what is not there */
char *
fc_wire_value(const PGresult *result, int row, int column)
{
	if (row >= PQntuples(result) || column >= PQnfields(result))
		return "";
	return fc_wire_text(PQgetvalue(result, row, column));
}

#ifdef LIBPQ_HAS_ASYNC_CANCEL

FcWireCancel *
fc_wire_cancel_begin(FcWire *wire)
{
	PGcancelConn *cancel = wire->conn ? PQcancelCreate(wire->conn) : NULL;

	if (cancel && PQcancelStart(cancel) == 0)
	{
		PQcancelFinish(cancel);
		return NULL;
	}
	return (FcWireCancel *) cancel;
}

FcWirePoll
fc_wire_cancel_poll(FcWireCancel *cancel)
{
	return fc_wire_polled(PQcancelPoll((PGcancelConn *) cancel));
}

int
fc_wire_cancel_socket(const FcWireCancel *cancel)
{
	return PQcancelSocket((const PGcancelConn *) cancel);
}

void
fc_wire_cancel_end(FcWireCancel *cancel)
{
	PQcancelFinish((PGcancelConn *) cancel);
}

#else

/*
 * Before version 17 libpq waits for such a request without an end.  So the same
 * user asks for it by a command, in another session.
 */
struct FcWireCancel
{
	FcWire	   *wire;
	bool		asked;
	char		sql[64];
};

/* The option's value in a session with the very server that this one is with */
static const char *
fc_wire_same(const PGconn *conn, const PQconninfoOption *option)
{
	if (strcmp(option->keyword, "host") == 0)
		return PQhost(conn);
	if (strcmp(option->keyword, "hostaddr") == 0)
		return PQhostaddr(conn);
	if (strcmp(option->keyword, "port") == 0)
		return PQport(conn);
	return option->val;
}

/* Begins another session like this one; NULL: out of memory */
static FcWire *
fc_wire_again(PGconn *conn)
{
	PQconninfoOption *options = PQconninfo(conn);
	const char *names[FC_LIBPQ_OPTIONS];
	const char *values[FC_LIBPQ_OPTIONS];
	FcWire	   *again = NULL;
	int			n = 0;

	for (PQconninfoOption *option = options; option && option->keyword; option++)
	{
		const char *value = fc_wire_same(conn, option);

		if (value == NULL || n == FC_LIBPQ_OPTIONS - 1)
			continue;
		names[n] = option->keyword;
		values[n++] = value;
	}
	names[n] = NULL;
	values[n] = NULL;
	if (options)
		again = fc_wire_connect(names, values, false);
	PQconninfoFree(options);
	return again;
}

void
fc_wire_cancel_end(FcWireCancel *cancel)
{
	if (cancel->wire)
		fc_wire_finish(cancel->wire);
	free(cancel);
}

FcWireCancel *
fc_wire_cancel_begin(FcWire *wire)
{
	FcWireCancel *cancel = wire->conn ? calloc(1, sizeof(FcWireCancel)) : NULL;

	if (cancel == NULL)
		return NULL;
	snprintf(cancel->sql, sizeof(cancel->sql), "SELECT pg_catalog.pg_cancel_backend(%d)",
			 PQbackendPID(wire->conn));
	cancel->wire = fc_wire_again(wire->conn);
	if (cancel->wire && PQstatus(cancel->wire->conn) != CONNECTION_BAD)
		return cancel;
	fc_wire_cancel_end(cancel);
	return NULL;
}

FcWirePoll
fc_wire_cancel_poll(FcWireCancel *cancel)
{
	FcWirePoll	poll;

	if (!cancel->asked)
	{
		poll = fc_wire_poll(cancel->wire);
		if (poll != FC_WIRE_STANDS)
			return poll;
		if (fc_wire_send(cancel->wire, cancel->sql) == 0)
			return FC_WIRE_FAILED;
		cancel->asked = true;
	}
	else if (fc_wire_consume(cancel->wire) == 0)
		return FC_WIRE_FAILED;
	if (fc_wire_flush(cancel->wire) > 0)
		return FC_WIRE_WRITES;
	return fc_wire_is_busy(cancel->wire) ? FC_WIRE_READS : FC_WIRE_STANDS;
}

int
fc_wire_cancel_socket(const FcWireCancel *cancel)
{
	return fc_wire_socket(cancel->wire);
}

#endif							/* LIBPQ_HAS_ASYNC_CANCEL */

int
fc_wire_rows(const FcWireResult *result)
{
	return PQntuples(result);
}

int
fc_wire_columns(const FcWireResult *result)
{
	return PQnfields(result);
}

char *
fc_wire_tag(FcWireResult *result)
{
	return PQcmdStatus(result);
}

void
fc_wire_clear(FcWireResult *result)
{
	PQclear(result);
}
