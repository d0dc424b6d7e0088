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
	.notices = fc_libpq_notices
};

const FcWireFunctions *
fc_wire_table(Size size)
{
	return size == sizeof(functions) ? &functions : NULL;
}
