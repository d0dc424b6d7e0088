/*-------------------------------------------------------------------------
 *
 * remote/node.c
 *	  A session with another server: a node.
 *
 *	 server, mapping ──► connection ──► settings ──► commands and results
 *
 * The leader waits on its latch and the socket, so that it can be cancelled.
 * At the end of a transaction nothing may throw, and each wait has an end.
 *
 * The session's owner calls fc_node_close, which releases memory, connection
 * and external descriptor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "remote/conninfo.h"
#include "remote/node.h"

/*
 * ms that a session waits for a lock there if lock_timeout is not set here.
 * No server finds a deadlock between two of them.
 */
#define FC_NODE_LOCK_MS	60000

/*
 * ms after which a busy node looks whether this session is still there, where
 * it can: from 14 on, on Linux
 */
#define FC_NODE_LOOK_MS	1000

/* Results of what is sent at once: there is one for each statement in it */
#define FC_NODE_RESULTS	65536

#define FC_NODE_SOMETHING_ELSE	"The server has answered something else."

static uint32
fc_node_wait_event(void)
{
	static uint32 wait_event = 0;

	if (wait_event == 0)
		wait_event = WaitEventExtensionNew("FastCopyNode");
	return wait_event;
}

WaitEventSet *
fc_node_wait_begin(int n)
{
	WaitEventSet *set = fc_create_wait_event_set(n + 2);

	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	return set;
}

void
fc_node_wait_end(WaitEventSet *set)
{
	WaitEvent	event;

	(void) WaitEventSetWait(set, -1L, &event, 1, fc_node_wait_event());
	FreeWaitEventSet(set);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* As fc_node_wait, for any socket */
static bool
fc_node_wait_socket(int sock, int events, TimestampTz until)
{
	bool		held = InterruptHoldoffCount > 0;
	long		ms = -1L;

	if (until != 0)
	{
		ms = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);
		if (ms <= 0)
			return false;
		events |= WL_TIMEOUT;
	}
	events |= WL_LATCH_SET | (held ? WL_POSTMASTER_DEATH : WL_EXIT_ON_PM_DEATH);
	events = WaitLatchOrSocket(MyLatch, events, sock, ms, fc_node_wait_event());
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	return !(QueryCancelPending || ProcDiePending || (events & WL_POSTMASTER_DEATH));
}

bool
fc_node_wait(FcNode *node, int events, TimestampTz until)
{
	return fc_node_wait_socket(fc_wire_socket(node->wire), events, until);
}

static int
fc_node_events(FcWirePoll poll)
{
	return poll == FC_WIRE_READS ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE;
}

void
fc_node_interrupt(FcNode *node, TimestampTz until)
{
	FcWireCancel *cancel;
	FcWirePoll	poll = FC_WIRE_WRITES;

	if (!AcquireExternalFD())
		return;
	/* only this function ends the request: what interrupts it ends the wait */
	HOLD_INTERRUPTS();
	cancel = fc_wire_cancel_begin(node->wire);
	while (cancel && poll != FC_WIRE_STANDS && poll != FC_WIRE_FAILED)
	{
		int			sock = fc_wire_cancel_socket(cancel);

		if (sock < 0 || !fc_node_wait_socket(sock, fc_node_events(poll), until))
			break;
		poll = fc_wire_cancel_poll(cancel);
	}
	if (cancel)
		fc_wire_cancel_end(cancel);
	RESUME_INTERRUPTS();
	ReleaseExternalFD();
}

bool
fc_node_send(FcNode *node, const char *sql)
{
	return node->wire && fc_wire_send(node->wire, sql) == 1 &&
		fc_wire_flush(node->wire) >= 0;
}

/*
 * Waits until the next result is there; false if the time is over.  What has
 * come by then counts: the time may have been over before it was asked for.
 */
static bool
fc_node_settle(FcNode *node, TimestampTz until)
{
	CHECK_FOR_INTERRUPTS();
	while (fc_wire_is_busy(node->wire))
	{
		int			rest = fc_wire_flush(node->wire);

		if (!fc_node_wait(node, WL_SOCKET_READABLE | (rest > 0 ? WL_SOCKET_WRITEABLE : 0), until))
			return fc_wire_consume(node->wire) && !fc_wire_is_busy(node->wire);
		(void) fc_wire_consume(node->wire);
	}
	return true;
}

static void
fc_node_forget_result(FcNode *node)
{
	fc_wire_clear(node->result);
	node->result = NULL;
}

/* Keeps a result, unless there is an error from before */
static void
fc_node_keep_result(FcNode *node, FcWireResult *result)
{
	if (node->result && fc_wire_kind(node->result) == FC_WIRE_ERROR)
		fc_wire_clear(result);
	else
	{
		fc_node_forget_result(node);
		node->result = result;
	}
}

/* The node does not do what the protocol says: nothing of it is believed */
static FcWireResult *
fc_node_distrust(FcNode *node)
{
	fc_node_forget_result(node);
	fc_wire_give_up(node->wire, FC_NODE_SOMETHING_ELSE);
	return NULL;
}

/*
 * All results are there: returns the one that counts.  If the connection was
 * lost, only an error tells what was done.
 */
static FcWireResult *
fc_node_ended(FcNode *node)
{
	if (node->result == NULL)
		return fc_node_distrust(node);
	if (!fc_wire_is_open(node->wire) && fc_wire_kind(node->result) != FC_WIRE_ERROR)
		fc_node_forget_result(node);
	return node->result;
}

/*
 * As fc_node_result.  With "copy" the result may be that a COPY takes rows.
 * One that was not asked for ends the connection, because libpq would tell of
 * it again and again.
 */
static FcWireResult *
fc_node_collect(FcNode *node, bool copy, TimestampTz until)
{
	fc_node_forget_result(node);
	for (int i = 0; i < FC_NODE_RESULTS; i++)
	{
		FcWireResult *next;

		if (!fc_node_settle(node, until))
		{
			fc_node_forget_result(node);
			return NULL;
		}
		next = fc_wire_result(node->wire);
		if (next == NULL)
			return fc_node_ended(node);
		switch (fc_wire_kind(next))
		{
			case FC_WIRE_COPY_IN:
			case FC_WIRE_OTHER:
				if (copy && node->result == NULL && fc_wire_kind(next) == FC_WIRE_COPY_IN)
					return node->result = next;
				fc_wire_clear(next);
				return fc_node_distrust(node);
			default:
				fc_node_keep_result(node, next);
		}
	}
	return fc_node_distrust(node);
}

FcWireResult *
fc_node_result(FcNode *node, TimestampTz until)
{
	if (until == 0)
		until = node->until;
	return fc_node_collect(node, false, until);
}

bool
fc_node_try(FcNode *node, const char *sql, TimestampTz until)
{
	fc_node_forget_result(node);
	return fc_node_send(node, sql) &&
		fc_wire_kind(fc_node_result(node, until)) != FC_WIRE_ERROR;
}

FcWireResult *
fc_node_run(FcNode *node, const char *sql)
{
	if (!fc_node_try(node, sql, 0))
		fc_node_throw(node, sql);
	return node->result;
}

FcWireResult *
fc_node_ask(FcNode *node, const char *sql, int columns)
{
	FcWireResult *result = fc_node_run(node, sql);

	if (fc_wire_kind(result) != FC_WIRE_ROWS || fc_wire_columns(result) != columns)
		fc_node_throw(node, sql);
	return result;
}

/* The same, and it must be one row */
static FcWireResult *
fc_node_ask_row(FcNode *node, const char *sql, int columns)
{
	FcWireResult *result = fc_node_ask(node, sql, columns);

	if (fc_wire_rows(result) != 1)
		fc_node_throw(node, sql);
	return result;
}

void
fc_node_copy(FcNode *node, const char *sql)
{
	fc_node_forget_result(node);
	if (!fc_node_send(node, sql) ||
		fc_wire_kind(fc_node_collect(node, true, node->until)) != FC_WIRE_COPY_IN)
		fc_node_throw(node, sql);
}

char *
fc_node_complaint(FcNode *node)
{
	char	   *message = fc_wire_field(node->result, PG_DIAG_MESSAGE_PRIMARY);

	if (fc_wire_kind(node->result) != FC_WIRE_ERROR)
		message = FC_NODE_SOMETHING_ELSE;
	if (message == NULL && node->wire)
		message = fc_wire_error(node->wire);
	if (message == NULL || message[0] == '\0')
		message = "The server has not answered in time.";
	return pchomp(message);
}

/* The SQLSTATE of an error, or of a lost connection */
static int
fc_node_sqlstate(const FcWireResult *result)
{
	const char *state = fc_wire_field(result, PG_DIAG_SQLSTATE);

	if (state == NULL || strlen(state) != 5 ||
		strspn(state, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5)
		return ERRCODE_CONNECTION_FAILURE;
	return MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
}

bool
fc_node_quietly(void (*body) (void *arg), void *arg)
{
	MemoryContext old = CurrentMemoryContext;
	uint32		held = InterruptHoldoffCount;
	volatile bool done = false;

	PG_TRY();
	{
		body(arg);
		done = true;
	}
	PG_CATCH();
	{
		InterruptHoldoffCount = held;
		MemoryContextSwitchTo(old);
		FlushErrorState();
	}
	PG_END_TRY();
	return done;
}

/* Body of fc_node_quietly */
static void
fc_node_convert(void *text)
{
	(void) pg_server_to_client(text, strlen(text));
}

char *
fc_node_tellable(const char *text)
{
	char	   *copy = pstrdup(text);

	if (!fc_node_quietly(fc_node_convert, copy))
		for (char *c = copy; *c; c++)
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
	return copy;
}

ErrorData *
fc_node_error(FcNode *node)
{
	ErrorData  *edata = palloc0(sizeof(ErrorData));

	edata->elevel = ERROR;
	edata->sqlerrcode = fc_node_sqlstate(node->result);
	edata->message = fc_node_complaint(node);
	edata->detail = fc_wire_field(node->result, PG_DIAG_MESSAGE_DETAIL);
	edata->hint = fc_wire_field(node->result, PG_DIAG_MESSAGE_HINT);
	edata->context = fc_wire_field(node->result, PG_DIAG_CONTEXT);
	edata->assoc_context = CurrentMemoryContext;
	return edata;
}

void
fc_node_throw(FcNode *node, const char *sql)
{
	ErrorData  *edata = fc_node_error(node);

	edata->context = psprintf("%s%sremote SQL command on server \"%s\": %s",
							  edata->context ? edata->context : "", edata->context ? "\n" : "",
							  node->name, sql);
	ThrowErrorData(edata);
}

static void
fc_node_add_setting(StringInfo sql, const char *name, const char *value)
{
	appendStringInfo(sql, ", pg_catalog.set_config('%s', %s, false)", name, quote_literal_cstr(value));
}

/*
 * The command that sets a session up.  Its first statement, which looks
 * nothing up, sets the search_path: the owner of the database there may have
 * set one on which operators of his own are found.
 */
static char *
fc_node_settings(const FcNode *node)
{
	/* what the input of types looks at */
	static const char *const names[] = {
		"DateStyle", "IntervalStyle", "TimeZone", "timezone_abbreviations", "array_nulls", "xmloption"
	};
	StringInfo	sql = makeStringInfo();
	const char *lock = GetConfigOption("lock_timeout", false, false);

	appendStringInfoString(sql, "SET search_path = pg_catalog; SELECT pg_catalog.set_config('client_min_messages', 'error', false)");
	for (int i = 0; i < lengthof(names); i++)
		fc_node_add_setting(sql, names[i], GetConfigOption(names[i], false, false));
	fc_node_add_setting(sql, "lock_timeout",
						strcmp(lock, "0") == 0 ? psprintf("%d", FC_NODE_LOCK_MS) : lock);
	/* what a node has said to have done must still be so after a crash of it */
	appendStringInfoString(sql, ", pg_catalog.set_config('synchronous_commit', CASE pg_catalog.current_setting('synchronous_commit')"
						   " WHEN 'off' THEN 'local' ELSE pg_catalog.current_setting('synchronous_commit') END, false)");
	if (FC_NODE_IS_CITUS(node->server))
	{
		/* Citus hides shards, and keeps others from changing them */
		fc_node_add_setting(sql, "citus.override_table_visibility", "off");
		fc_node_add_setting(sql, "citus.enable_manual_changes_to_shards", "on");
	}
	appendStringInfo(sql, ", CASE WHEN pg_catalog.version() LIKE '%%linux%%'"
					 " AND pg_catalog.current_setting('client_connection_check_interval', true) IS NOT NULL"
					 " THEN pg_catalog.set_config('client_connection_check_interval', '%d', false) END",
					 FC_NODE_LOOK_MS);
	return sql->data;
}

void
fc_node_set_up(FcNode *node)
{
	char	   *settings = fc_node_settings(node);

	if (node->settings && strcmp(node->settings, settings) == 0)
		return;
	(void) fc_node_run(node, settings);
	node->settings = MemoryContextStrdup(node->context, settings);
}

static void
fc_node_throw_unreachable(FcNode *node, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
			 errmsg("could not connect to server \"%s\"", node->name),
			 errdetail_internal("%s", why)));
}

static void
fc_node_ask_abilities(FcNode *node)
{
	/* only the database that has prepared a transaction can end it */
	FcWireResult *result = fc_node_ask_row(node, "SELECT system_identifier # (oid::pg_catalog.int8 << 32), pg_catalog.current_setting('max_prepared_transactions'),"
										   " pg_catalog.current_setting('lc_messages') ~* '^(c|posix|en)($|[_.@])', pg_catalog.pg_is_in_recovery()"
										   " FROM pg_catalog.pg_control_system(), pg_catalog.pg_database WHERE datname = pg_catalog.current_database()", 4);

	/* one has the primary's identifier, and does not show what is prepared */
	if (strcmp(fc_wire_value(result, 0, 3), "f") != 0)
		fc_node_throw_unreachable(node, "It is a standby.");
	node->system = strtoll(fc_wire_value(result, 0, 0), NULL, 10);
	node->prepares = atoi(fc_wire_value(result, 0, 1));
	node->speaks_other = strcmp(fc_wire_value(result, 0, 2), "f") == 0;
}

/*
 * Has messages in English, whose lines can be read, if the role there may set
 * that: a superuser, and from 15 on who has been granted it
 */
static void
fc_node_agree_language(FcNode *node)
{
	FcWireResult *result;

	if (!node->speaks_other)
		return;
	result = fc_node_ask_row(node, "SELECT pg_catalog.current_setting('is_superuser') = 'on', EXISTS (SELECT FROM pg_catalog.pg_proc"
						 " WHERE proname = 'has_parameter_privilege' AND pronamespace = 'pg_catalog'::pg_catalog.regnamespace)", 2);
	if (fc_wire_value(result, 0, 0)[0] == 't')
		result = fc_node_ask(node, "SELECT pg_catalog.set_config('lc_messages', 'C', false)", 1);
	else if (fc_wire_value(result, 0, 1)[0] == 't')
		result = fc_node_ask(node, "SELECT pg_catalog.set_config('lc_messages', 'C', false)"
							 " WHERE pg_catalog.has_parameter_privilege('lc_messages', 'SET')", 1);
	else
		return;
	node->speaks_other = fc_wire_rows(result) == 0;
}

/*
 * Is the extension created there, and can its library be loaded?  The
 * validator of C functions loads it, and takes a function's OID: a name could
 * stand for another function by then.  Outside of a transaction, because that
 * may fail.
 */
static void
fc_node_find_fast_copy(FcNode *node)
{
	if (!fc_node_try(node, "SELECT pg_catalog.fmgr_c_validator(pg_proc.oid) FROM pg_catalog.pg_extension"
					 " JOIN pg_catalog.pg_depend ON refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND refobjid = pg_extension.oid"
					 " JOIN pg_catalog.pg_proc ON classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND objid = pg_proc.oid"
					 " WHERE extname = 'fast_copy' AND deptype = 'e' AND proname = 'fast_copy_report' AND pronargs = 0"
					 " AND probin = '$libdir/fast_copy'"
					 " AND pg_catalog.has_function_privilege(pg_proc.oid, 'EXECUTE') AND pg_catalog.has_schema_privilege(pronamespace, 'USAGE')", 0) ||
		fc_wire_rows(node->result) != 1)
		return;
	(void) fc_node_run(node, "SELECT pg_catalog.set_config('fast_copy.accelerate_copy', 'on', false)");
	node->has_fast_copy = true;
}

/* Goes through the steps of a connection, and waits between them */
static void
fc_node_reach(FcNode *node, TimestampTz until)
{
	FcWirePoll	poll = FC_WIRE_WRITES;

	while (poll != FC_WIRE_STANDS)
	{
		if (fc_wire_socket(node->wire) < 0)
			fc_node_throw_unreachable(node, pchomp(fc_wire_error(node->wire)));
		if (!fc_node_wait(node, fc_node_events(poll), until))
			fc_node_throw_unreachable(node, "The server has not answered in time.");
		poll = fc_wire_poll(node->wire);
		if (poll == FC_WIRE_FAILED)
			fc_node_throw_unreachable(node, pchomp(fc_wire_error(node->wire)));
	}
}

/* Connects, and asks what the server can do */
static void
fc_node_begin(FcNode *node, bool load, TimestampTz until)
{
	FcConninfo	info;

	node->name = MemoryContextStrdup(node->context, fc_conninfo_name(node->server, false));
	info = fc_conninfo_make(node->server, node->userid, load);
	if (until == 0 && info.timeout > 0)
		until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), INT64CONST(1000) * info.timeout);
	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("could not connect to server \"%s\"", node->name),
				 errdetail("There are too many open files on the local server."),
				 errhint("Raise the server's max_files_per_process and/or \"ulimit -n\" limits.")));
	node->wire = fc_wire_connect(info.names, info.values, info.expand);
	if (node->wire == NULL)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	}
	fc_node_reach(node, until);
	fc_conninfo_check(node->wire, &info);
	fc_node_set_up(node);
	fc_node_ask_abilities(node);
	fc_node_agree_language(node);
	fc_node_find_fast_copy(node);
}

FcNode *
fc_node_connect(Oid server, Oid userid, bool load, TimestampTz until)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "fast_copy node",
												  ALLOCSET_SMALL_SIZES);
	FcNode	   *node = MemoryContextAllocZero(context, sizeof(FcNode));

	node->context = context;
	node->server = server;
	node->userid = userid;
	node->until = until;
	PG_TRY();
	{
		fc_node_begin(node, load, until);
	}
	PG_CATCH();
	{
		fc_node_close(node);
		PG_RE_THROW();
	}
	PG_END_TRY();
	return node;
}

void
fc_node_close(FcNode *node)
{
	fc_node_forget_result(node);
	if (node->wire)
	{
		fc_wire_finish(node->wire);
		ReleaseExternalFD();
	}
	MemoryContextDelete(node->context);
}
