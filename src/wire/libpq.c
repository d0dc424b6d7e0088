/*-------------------------------------------------------------------------
 *
 * wire/libpq.c
 *	  The module fast_copy_libpq: what wire/wire.h promises, by libpq.
 *
 * This file alone sees libpq.  It is a library of its own (Makefile), so that
 * it needs nothing of fast_copy's.
 *
 * libpq keeps whatever a server sends: rows and notifications until they are
 * asked for, names of settings for good, and a message as soon as its length is
 * announced.  So what arrives after a command is counted here, before libpq
 * reads it, and so is the memory that libpq takes while it looks at it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/ioctl.h>

#include "fmgr.h"
#include "libpq-fe.h"
#include "mb/pg_wchar.h"

#include "wire/wire.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT const FcWireFunctions *fc_wire_table(Size size);

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
static bool
fc_libpq_is_option(const char *name)
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
fc_libpq_memory(void)
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
 * Makes a text of the server's one of this database, in its place.  The memory
 * is libpq's, which gives it out to be written to.
 */
static char *
fc_libpq_text(char *text)
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

static void
fc_libpq_give_up(FcWire *wire, const char *why)
{
	if (wire->conn == NULL)
		return;
	if (why != wire->error)
		strlcpy(wire->error, why, sizeof(wire->error));
	PQfinish(wire->conn);
	wire->conn = NULL;
}

static bool
fc_libpq_is_open(const FcWire *wire)
{
	return wire->conn != NULL;
}

/*
 * Counts what is about to be read; false if it is too much.  What is not read
 * now is counted then.  If libpq has made itself a larger buffer it reads more
 * at once, but what it keeps of that is weighed (fc_libpq_weigh).
 */
static bool
fc_libpq_count(FcWire *wire)
{
	int			bytes = 0;

	if (wire->conn == NULL)
		return false;
	if (PQsocket(wire->conn) >= 0 && ioctl(PQsocket(wire->conn), FIONREAD, &bytes) == 0)
		wire->bytes += Min(Max(bytes, 0), FC_LIBPQ_READ);
	if (wire->bytes > FC_LIBPQ_BYTES)
		fc_libpq_give_up(wire, FC_LIBPQ_TOO_MUCH);
	return wire->conn != NULL;
}

/*
 * Counts what libpq has taken since there was "before", while it looked at what
 * it had read; false if it is too much
 */
static bool
fc_libpq_weigh(FcWire *wire, int64 before)
{
	wire->memory += fc_libpq_memory() - before;
	if (wire->memory > FC_LIBPQ_MEMORY)
		fc_libpq_give_up(wire, FC_LIBPQ_TOO_MUCH);
	return wire->conn != NULL;
}

static void
fc_libpq_notice(void *arg, const PGresult *result)
{
	((FcWire *) arg)->notices++;
}

static uint64
fc_libpq_notices(const FcWire *wire)
{
	return wire->notices;
}

static FcWire *
fc_libpq_connect(const char *const *names, const char *const *values, bool expand)
{
	FcWire	   *wire = calloc(1, sizeof(FcWire));

	if (wire == NULL)
		return NULL;
	wire->conn = PQconnectStartParams(names, values, expand);
	if (wire->conn)
	{
		(void) PQsetNoticeReceiver(wire->conn, fc_libpq_notice, wire);
		return wire;
	}
	free(wire);
	return NULL;
}

static void
fc_libpq_finish(FcWire *wire)
{
	if (wire->conn)
		PQfinish(wire->conn);
	free(wire);
}

static FcWirePoll
fc_libpq_poll(FcWire *wire)
{
	int64		before = fc_libpq_memory();
	PostgresPollingStatusType status;

	if (!fc_libpq_count(wire) || PQstatus(wire->conn) == CONNECTION_BAD)
		return FC_WIRE_FAILED;
	status = PQconnectPoll(wire->conn);
	if (!fc_libpq_weigh(wire, before))
		return FC_WIRE_FAILED;
	switch (status)
	{
		case PGRES_POLLING_READING:
			return FC_WIRE_READS;
		case PGRES_POLLING_WRITING:
			return FC_WIRE_WRITES;
		case PGRES_POLLING_OK:
			return PQsetnonblocking(wire->conn, 1) == 0 ? FC_WIRE_STANDS : FC_WIRE_FAILED;
		default:
			return FC_WIRE_FAILED;
	}
}

static int
fc_libpq_socket(const FcWire *wire)
{
	return wire->conn ? PQsocket(wire->conn) : -1;
}

static int
fc_libpq_used_password(const FcWire *wire)
{
	return wire->conn && PQconnectionUsedPassword(wire->conn);
}

/* A copy, because libpq may hand out what must not be written to */
static char *
fc_libpq_error(FcWire *wire)
{
	if (wire->conn)
		strlcpy(wire->error, PQerrorMessage(wire->conn), sizeof(wire->error));
	return fc_libpq_text(wire->error);
}

static int
fc_libpq_send(FcWire *wire, const char *sql)
{
	wire->bytes = 0;
	wire->memory = 0;
	return wire->conn ? PQsendQuery(wire->conn, sql) : 0;
}

static int
fc_libpq_is_busy(FcWire *wire)
{
	int64		before = fc_libpq_memory();
	int			is_busy = wire->conn && PQisBusy(wire->conn);

	return fc_libpq_weigh(wire, before) && is_busy;
}

/* libpq reads where it cannot send; it looks at that here, and not in put */
static int
fc_libpq_flush(FcWire *wire)
{
	int			rest = wire->conn ? PQflush(wire->conn) : -1;

	if (rest > 0)
		(void) fc_libpq_is_busy(wire);
	return wire->conn ? rest : -1;
}

/*
 * Reads what is there, and looks at it.  If that fails, a last word of the
 * server's can be asked for yet; but where there is none libpq would wait for
 * it.
 */
static int
fc_libpq_consume(FcWire *wire)
{
	int64		before = fc_libpq_memory();
	int			done;
	PGnotify   *notify;

	if (!fc_libpq_count(wire))
		return 0;
	done = PQconsumeInput(wire->conn);
	while ((notify = PQnotifies(wire->conn)) != NULL)
		PQfreemem(notify);
	if (!done && PQisBusy(wire->conn))
		fc_libpq_give_up(wire, fc_libpq_error(wire));
	return fc_libpq_weigh(wire, before) && done;
}

static PGresult *
fc_libpq_result(FcWire *wire)
{
	int64		before = fc_libpq_memory();
	PGresult   *result = wire->conn && !PQisBusy(wire->conn) ? PQgetResult(wire->conn) : NULL;

	if (fc_libpq_weigh(wire, before))
		return result;
	PQclear(result);
	return NULL;
}

static int
fc_libpq_put(FcWire *wire, const char *bytes, int len)
{
	return wire->conn ? PQputCopyData(wire->conn, bytes, len) : -1;
}

static int
fc_libpq_put_end(FcWire *wire, const char *error)
{
	return wire->conn ? PQputCopyEnd(wire->conn, error) : -1;
}

static FcWireKind
fc_libpq_kind(const PGresult *result)
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

static char *
fc_libpq_field(const PGresult *result, int code)
{
	return fc_libpq_text(PQresultErrorField(result, code));
}

/* Whatever the server has sent: empty for what is not there */
static char *
fc_libpq_value(const PGresult *result, int row, int column)
{
	if (row >= PQntuples(result) || column >= PQnfields(result))
		return "";
	return fc_libpq_text(PQgetvalue(result, row, column));
}

#ifdef LIBPQ_HAS_ASYNC_CANCEL

static FcWireCancel *
fc_libpq_cancel_begin(FcWire *wire)
{
	PGcancelConn *cancel = wire->conn ? PQcancelCreate(wire->conn) : NULL;

	if (cancel && PQcancelStart(cancel) == 0)
	{
		PQcancelFinish(cancel);
		return NULL;
	}
	return (FcWireCancel *) cancel;
}

static FcWirePoll
fc_libpq_cancel_poll(FcWireCancel *cancel)
{
	switch (PQcancelPoll((PGcancelConn *) cancel))
	{
		case PGRES_POLLING_READING:
			return FC_WIRE_READS;
		case PGRES_POLLING_WRITING:
			return FC_WIRE_WRITES;
		case PGRES_POLLING_OK:
			return FC_WIRE_STANDS;
		default:
			return FC_WIRE_FAILED;
	}
}

static int
fc_libpq_cancel_socket(const FcWireCancel *cancel)
{
	return PQcancelSocket((const PGcancelConn *) cancel);
}

static void
fc_libpq_cancel_end(FcWireCancel *cancel)
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
fc_libpq_same(const PGconn *conn, const PQconninfoOption *option)
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
fc_libpq_again(PGconn *conn)
{
	PQconninfoOption *options = PQconninfo(conn);
	const char *names[FC_LIBPQ_OPTIONS];
	const char *values[FC_LIBPQ_OPTIONS];
	FcWire	   *again = NULL;
	int			n = 0;

	for (PQconninfoOption *option = options; option && option->keyword; option++)
	{
		const char *value = fc_libpq_same(conn, option);

		if (value == NULL || n == FC_LIBPQ_OPTIONS - 1)
			continue;
		names[n] = option->keyword;
		values[n++] = value;
	}
	names[n] = NULL;
	values[n] = NULL;
	if (options)
		again = fc_libpq_connect(names, values, false);
	PQconninfoFree(options);
	return again;
}

static void
fc_libpq_cancel_end(FcWireCancel *cancel)
{
	if (cancel->wire)
		fc_libpq_finish(cancel->wire);
	free(cancel);
}

static FcWireCancel *
fc_libpq_cancel_begin(FcWire *wire)
{
	FcWireCancel *cancel = wire->conn ? calloc(1, sizeof(FcWireCancel)) : NULL;

	if (cancel == NULL)
		return NULL;
	snprintf(cancel->sql, sizeof(cancel->sql), "SELECT pg_catalog.pg_cancel_backend(%d)",
			 PQbackendPID(wire->conn));
	cancel->wire = fc_libpq_again(wire->conn);
	if (cancel->wire && PQstatus(cancel->wire->conn) != CONNECTION_BAD)
		return cancel;
	fc_libpq_cancel_end(cancel);
	return NULL;
}

static FcWirePoll
fc_libpq_cancel_poll(FcWireCancel *cancel)
{
	FcWirePoll	poll;

	if (!cancel->asked)
	{
		poll = fc_libpq_poll(cancel->wire);
		if (poll != FC_WIRE_STANDS)
			return poll;
		if (fc_libpq_send(cancel->wire, cancel->sql) == 0)
			return FC_WIRE_FAILED;
		cancel->asked = true;
	}
	else if (fc_libpq_consume(cancel->wire) == 0)
		return FC_WIRE_FAILED;
	if (fc_libpq_flush(cancel->wire) > 0)
		return FC_WIRE_WRITES;
	return fc_libpq_is_busy(cancel->wire) ? FC_WIRE_READS : FC_WIRE_STANDS;
}

static int
fc_libpq_cancel_socket(const FcWireCancel *cancel)
{
	return fc_libpq_socket(cancel->wire);
}

#endif							/* LIBPQ_HAS_ASYNC_CANCEL */

static const FcWireFunctions functions = {
	.is_option = fc_libpq_is_option,
	.connect = fc_libpq_connect,
	.poll = fc_libpq_poll,
	.finish = fc_libpq_finish,
	.give_up = fc_libpq_give_up,
	.is_open = fc_libpq_is_open,
	.socket = fc_libpq_socket,
	.used_password = fc_libpq_used_password,
	.error = fc_libpq_error,
	.send = fc_libpq_send,
	.consume = fc_libpq_consume,
	.flush = fc_libpq_flush,
	.is_busy = fc_libpq_is_busy,
	.result = fc_libpq_result,
	.kind = fc_libpq_kind,
	.field = fc_libpq_field,
	.value = fc_libpq_value,
	.rows = PQntuples,
	.columns = PQnfields,
	.tag = PQcmdStatus,
	.clear = PQclear,
	.put = fc_libpq_put,
	.put_end = fc_libpq_put_end,
	.cancel_begin = fc_libpq_cancel_begin,
	.cancel_poll = fc_libpq_cancel_poll,
	.cancel_socket = fc_libpq_cancel_socket,
	.cancel_end = fc_libpq_cancel_end,
	.notices = fc_libpq_notices
};

const FcWireFunctions *
fc_wire_table(Size size)
{
	return size == sizeof(functions) ? &functions : NULL;
}
