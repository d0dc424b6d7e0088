/*-------------------------------------------------------------------------
 *
 * wire/libpq.c
 *	  The module fast_copy_libpq: what wire/wire.h promises, by libpq.
 *
 * This file alone sees libpq.  It is a library of its own (Makefile), so that
 * it needs nothing of fast_copy's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq-fe.h"

#include "wire/wire.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT const FcWireFunctions *fc_wire_table(Size size);

/* More options of a connection than libpq has */
#define FC_LIBPQ_OPTIONS	128

static uint64 notices = 0;

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

static void
fc_libpq_notice(void *arg, const PGresult *result)
{
	notices++;
}

static uint64
fc_libpq_notices(void)
{
	return notices;
}

static PGconn *
fc_libpq_connect(const char *const *names, const char *const *values, bool expand)
{
	PGconn	   *conn = PQconnectStartParams(names, values, expand);

	if (conn)
		(void) PQsetNoticeReceiver(conn, fc_libpq_notice, NULL);
	return conn;
}

static FcWirePoll
fc_libpq_poll(PGconn *conn)
{
	if (PQstatus(conn) == CONNECTION_BAD)
		return FC_WIRE_FAILED;
	switch (PQconnectPoll(conn))
	{
		case PGRES_POLLING_READING:
			return FC_WIRE_READS;
		case PGRES_POLLING_WRITING:
			return FC_WIRE_WRITES;
		case PGRES_POLLING_OK:
			return PQsetnonblocking(conn, 1) == 0 ? FC_WIRE_STANDS : FC_WIRE_FAILED;
		default:
			return FC_WIRE_FAILED;
	}
}

static FcWireKind
fc_libpq_kind(const PGresult *result)
{
	switch (PQresultStatus(result))
	{
		case PGRES_COMMAND_OK:
		case PGRES_EMPTY_QUERY:
			return FC_WIRE_DONE;
		case PGRES_TUPLES_OK:
			return FC_WIRE_ROWS;
		case PGRES_COPY_IN:
			return FC_WIRE_COPY_IN;
		default:
			return FC_WIRE_ERROR;
	}
}

/* Whatever the server has sent: empty for what is not there */
static char *
fc_libpq_value(const PGresult *result, int row, int column)
{
	if (row >= PQntuples(result) || column >= PQnfields(result))
		return "";
	return PQgetvalue(result, row, column);
}

#ifdef LIBPQ_HAS_ASYNC_CANCEL

static FcWireCancel *
fc_libpq_cancel_begin(PGconn *conn)
{
	PGcancelConn *cancel = PQcancelCreate(conn);

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
	PGconn	   *conn;
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
static PGconn *
fc_libpq_again(PGconn *conn)
{
	PQconninfoOption *options = PQconninfo(conn);
	const char *names[FC_LIBPQ_OPTIONS];
	const char *values[FC_LIBPQ_OPTIONS];
	PGconn	   *again = NULL;
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
		again = PQconnectStartParams(names, values, 0);
	PQconninfoFree(options);
	return again;
}

static void
fc_libpq_cancel_end(FcWireCancel *cancel)
{
	PQfinish(cancel->conn);
	free(cancel);
}

static FcWireCancel *
fc_libpq_cancel_begin(PGconn *conn)
{
	FcWireCancel *cancel = calloc(1, sizeof(FcWireCancel));

	if (cancel == NULL)
		return NULL;
	snprintf(cancel->sql, sizeof(cancel->sql), "SELECT pg_catalog.pg_cancel_backend(%d)",
			 PQbackendPID(conn));
	cancel->conn = fc_libpq_again(conn);
	if (cancel->conn && PQstatus(cancel->conn) != CONNECTION_BAD)
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
		poll = fc_libpq_poll(cancel->conn);
		if (poll != FC_WIRE_STANDS)
			return poll;
		if (PQsendQuery(cancel->conn, cancel->sql) == 0)
			return FC_WIRE_FAILED;
		cancel->asked = true;
	}
	else if (PQconsumeInput(cancel->conn) == 0)
		return FC_WIRE_FAILED;
	if (PQflush(cancel->conn) > 0)
		return FC_WIRE_WRITES;
	return PQisBusy(cancel->conn) ? FC_WIRE_READS : FC_WIRE_STANDS;
}

static int
fc_libpq_cancel_socket(const FcWireCancel *cancel)
{
	return PQsocket(cancel->conn);
}

#endif							/* LIBPQ_HAS_ASYNC_CANCEL */

static const FcWireFunctions functions = {
	.is_option = fc_libpq_is_option,
	.connect = fc_libpq_connect,
	.poll = fc_libpq_poll,
	.finish = PQfinish,
	.socket = PQsocket,
	.used_password = PQconnectionUsedPassword,
	.error = PQerrorMessage,
	.send = PQsendQuery,
	.consume = PQconsumeInput,
	.flush = PQflush,
	.is_busy = PQisBusy,
	.result = PQgetResult,
	.kind = fc_libpq_kind,
	.field = PQresultErrorField,
	.value = fc_libpq_value,
	.rows = PQntuples,
	.tag = PQcmdStatus,
	.tag_rows = PQcmdTuples,
	.clear = PQclear,
	.put = PQputCopyData,
	.put_end = PQputCopyEnd,
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
