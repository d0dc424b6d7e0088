/*-------------------------------------------------------------------------
 *
 * accelerate.c
 *	  COPY ... FROM as it is, faster: fast_copy.accelerate_copy.
 *
 *	 CopyStmt ──► core's checks ──► first bytes ──┬─► few, or not ours: CopyFrom
 *												  └─► FcOptions ──► load/run.c
 *
 * The caller of the command must see no difference but the time.
 *
 * 1. Core's own functions do, in its order, all that core does before it reads
 *    the first byte.
 * 2. Bytes are kept until there are fast_copy.accelerate_min_size, because
 *    only then a load is worth its workers (source/input.h).  If the client or
 *    the program ends before, core loads what was kept.  A file has a size;
 *    core itself reads a small one, or one that does not tell its size.
 * 3. If fast_copy would not do all that COPY does for this command, core
 *    loads, and fast_copy_report() says why.
 * 4. Else a load reads on from what core has opened.
 *
 * All is allocated in a memory context of the command; files, programs and
 * relations go with the (sub)transaction, as they do in core.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_authid.h"
#include "parser/parse_relation.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"

#include "fast_copy.h"
#include "load/steps.h"
#include "row/where.h"
#include "source/client.h"

#define FC_ACCELERATE_BYTES	((size_t) fc_accelerate_min_kb * 1024)

/* A COPY FROM on its way */
typedef struct FcAccelerated
{
	const CopyStmt *stmt;
	Relation	rel;
	List	   *attnums;		/* of the columns in the data */
	ParseState *pstate;
	List	   *where;
	CopyFromState cstate;
	FcInput    *input;			/* of a program or the client, once asked */
	uint64		size;			/* bytes of the data; PG_UINT64_MAX: unknown */
	FcSource   *file;			/* what core has opened */
	MemoryContext mcxt;			/* of the input, which outlives core's COPY
								 * state */
	struct FcAccelerated *outer;	/* the COPY whose trigger, or other code,
									 * runs this one; NULL: none */
} FcAccelerated;

/* The innermost one: core reads through a callback without an argument */
static FcAccelerated *current = NULL;

bool
fc_accelerate_may(const CopyStmt *stmt)
{
	struct stat st;

	if (!fc_accelerate_copy || !stmt->is_from || IsInParallelMode() ||
		RecoveryInProgress())
		return false;
	if (stmt->filename == NULL)
		return whereToSendOutput == DestRemote && MyProcPort != NULL;
	if (stmt->is_program)
		return has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM);
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES) &&
		is_absolute_path(stmt->filename) && stat(stmt->filename, &st) == 0 &&
		S_ISREG(st.st_mode) && st.st_size >= (off_t) FC_ACCELERATE_BYTES;
}

/* Does what DoCopy does before it begins to read */
static void
fc_accelerate_open(FcAccelerated *copy, const char *query)
{
	const CopyStmt *stmt = copy->stmt;

	copy->rel = table_openrv(stmt->relation, RowExclusiveLock);
	copy->pstate = fc_executor_parse_state(copy->rel, NIL);
	copy->pstate->p_sourcetext = query;
	if (stmt->whereClause)
		copy->where = fc_where_transform(copy->pstate, copy->rel,
										 copyObject(stmt->whereClause));
	copy->attnums = CopyGetAttnums(RelationGetDescr(copy->rel), copy->rel, stmt->attlist);
	fc_executor_insert_columns(copy->pstate, copy->attnums);
	fc_check_permissions(copy->pstate);
	fc_access_refuse_rls(RelationGetRelid(copy->rel));
	if (XactReadOnly && !copy->rel->rd_islocaltemp)
		PreventCommandIfReadOnly("COPY FROM");
}

/*
 * Asks the client for data, or starts the program, when core would.  For binary
 * data that is while BeginCopyFrom reads their header, before it has returned
 * the COPY state.
 */
static void
fc_accelerate_ask(FcAccelerated *copy)
{
	const CopyStmt *stmt = copy->stmt;
	MemoryContext old = MemoryContextSwitchTo(copy->mcxt);

	/* core reads by a callback, and has said so */
	pgstat_progress_update_param(PROGRESS_COPY_TYPE, stmt->is_program ?
								 PROGRESS_COPY_TYPE_PROGRAM : PROGRESS_COPY_TYPE_PIPE);
	if (stmt->is_program)
		copy->input = fc_program_begin(stmt->filename);
	else
		copy->input = fc_client_begin(copy->cstate == NULL || fc_format_is_binary(&copy->cstate->opts) ?
									  FC_CLIENT_BINARY :
									  fc_format_is_csv(&copy->cstate->opts) ? FC_CLIENT_CSV_WHOLE : FC_CLIENT_TEXT,
									  copy->cstate ? copy->cstate->file_encoding : 0,
									  list_length(copy->attnums));
	MemoryContextSwitchTo(old);
}

/*
 * copy_data_source_cb: core asks for min to max bytes, and takes fewer than min
 * for the end.  The header of binary data, which BeginCopyFrom reads, is kept
 * for the load.
 */
static int
fc_accelerate_read(void *out, int min, int max)
{
	FcAccelerated *copy = current;
	MemoryContext old = MemoryContextSwitchTo(copy->mcxt);
	bool		header = (copy->cstate == NULL);
	int			n = 0;

	if (copy->input == NULL)
		fc_accelerate_ask(copy);
	while (n < min)
	{
		size_t		got = header ?
			fc_input_read_head(copy->input, (char *) out + n, min - n) :
			fc_input_read(copy->input, (char *) out + n, max - n);

		if (got == 0 && !copy->stmt->is_program)
			fc_client_check_whole(copy->input);
		if (got == 0)
			break;
		n += got;
	}
	MemoryContextSwitchTo(old);
	return n;
}

/* Reads what the client sends after the marker that has ended its data */
static void
fc_accelerate_drain(FcAccelerated *copy)
{
	char		rest[1024];

	/* as in core, an error's context has the marker's line, without its text */
	copy->cstate->line_buf_valid = false;
	while (fc_input_read(copy->input, rest, sizeof(rest)) > 0)
		;
	fc_client_check_whole(copy->input);
	fc_client_end(copy->input);
}

/* Says in the report, and in a message for DEBUG1, why core loads */
static void
fc_accelerate_tell(const char *reason)
{
	FcReportRow row = {
		.phase = FC_PHASE_COPY, .whole = true, .alone = -1, .rows = -1, .bytes = -1,
		.reads = -1, .wal_bytes = -1, .spill_bytes = -1, .choice = psprintf("core's COPY: %s", reason),
		.way = fc_report_way(FC_WAY_COPY), .reason = pstrdup(reason)
	};

	fc_report_start();
	fc_report_add(&row);
	ereport(DEBUG1, errmsg_internal("COPY is not accelerated: %s", reason));
}

/* Loads by core, from a file that core has opened or from copy->input */
static uint64
fc_accelerate_by_core(FcAccelerated *copy, const char *reason)
{
	ErrorContextCallback callback;
	uint64		rows;

	fc_accelerate_tell(reason);
	rows = CopyFrom(copy->cstate);
	if (copy->input && !copy->stmt->is_program)
	{
		fc_error_context_push(&callback, CopyFromErrorCallback, copy->cstate);
		fc_accelerate_drain(copy);
		fc_error_context_pop();
	}
	EndCopyFrom(copy->cstate);
	if (copy->input && copy->stmt->is_program)
	{
		fc_program_end(copy->input);
		fc_program_check_end(copy->input, NULL);
	}
	return rows;
}

/* The load's options, once core has checked the command's own */
static FcOptions *
fc_accelerate_options(FcAccelerated *copy)
{
	const CopyStmt *stmt = copy->stmt;
	FcOptions  *options = fc_options_begin(FC_CALLER_PLAIN);

	options->missing_partitions_word = "default";
	options->target = RelationGetRelid(copy->rel);
	options->columns = stmt->attlist;
	options->client = stmt->filename == NULL;
	options->program = stmt->is_program;
	options->sources = list_make1(makeString(stmt->filename ? stmt->filename : FC_CLIENT_PATH));
	fc_options_take(options, stmt->options, copy->pstate);
	fc_options_check(options);
	return options;
}

/*
 * Returns why core must load because of a partition, or NULL.  This does not
 * wait for a lock on the partition: a COPY without a row for it would not.
 */
static const char *
fc_accelerate_leaf_reason(Oid leaf)
{
	const char *reason = NULL;
	Relation	rel;

	if (!ConditionalLockRelationOid(leaf, AccessShareLock))
		return "another session has locked a partition";
	rel = try_relation_open(leaf, NoLock);
	if (rel)
	{
		reason = fc_plan_leaf_core_reason(rel, FC_CALLER_PLAIN);
		if (reason == NULL)
			reason = fc_plan_leaf_reason(rel);
		relation_close(rel, NoLock);
	}
	UnlockRelationOid(leaf, AccessShareLock);
	return reason;
}

static const char *
fc_accelerate_leaves_reason(Oid target)
{
	const char *reason = NULL;

	foreach_oid(table, find_all_inheritors(target, NoLock, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		if (reason == NULL && table != target)
			reason = fc_accelerate_leaf_reason(table);
	}
	return reason;
}

/*
 * Returns why core must load, as far as that can be told before a byte is read,
 * or NULL.  Core refuses a table, and fires the triggers of a statement, before
 * it reads.
 */
static const char *
fc_accelerate_first_reason(const FcAccelerated *copy)
{
	Relation	rel = copy->rel;
	char		relkind = rel->rd_rel->relkind;
	SubTransactionId subxid = GetCurrentSubTransactionId();

	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		return "the target is not a table";
	if (rel->trigdesc && rel->trigdesc->trig_insert_before_statement)
		return "the target has triggers";
	if (!copy->cstate->opts.freeze)
		return NULL;
	if (relkind == RELKIND_PARTITIONED_TABLE)
		return "FREEZE is for a partitioned table";
	InvalidateCatalogSnapshot();
	if (!ThereAreNoPriorRegisteredSnapshots() || !ThereAreNoReadyPortals() ||
		(rel->rd_createSubid != subxid && fc_new_storage_subid(rel) != subxid))
		return "FREEZE is refused";
	return NULL;
}

/*
 * Returns why core must load, as the command and its table tell, or NULL and
 * the load's options
 */
static const char *
fc_accelerate_reason(FcAccelerated *copy, FcOptions **options)
{
	FcPlanned  *planned;
	FcFileForm	form = {0};

	if (copy->cstate->volatile_defexprs || contain_volatile_functions((Node *) copy->where))
		return "a default or the condition may look at the rows before";
	/* a later version of core may have other options */
	foreach_node(DefElem, def, copy->stmt->options)
		if (fc_option_find(def->defname, FC_FROM_COPY) == NULL)
			return "an option is not known";
	foreach_int(attnum, copy->attnums)
		if (fc_code_type_any(attnumTypeId(copy->rel, attnum), fc_code_is_talking,
							 fc_format_is_binary(&copy->cstate->opts)))
			return "a column's type tells of its values";
	if (fc_keeper_keeps(RelationGetRelid(copy->rel)))
		return "another extension may keep the rows elsewhere";
	*options = fc_accelerate_options(copy);
	if ((*options)->on_error != FC_ON_ERROR_STOP)
		return "errors are tolerated";
	form.columns = copy->stmt->attlist;
	form.encoding = (*options)->file_encoding;
	planned = fc_plan_make(copy->rel, *options, &form, copy->where);
	if (planned->core_reason || planned->leader_reason)
		return planned->core_reason ? planned->core_reason : planned->leader_reason;
	if (planned->plan.effects)
		return "a row's evaluation has effects that others may see";
	return planned->plan.partitioned ? fc_accelerate_leaves_reason(RelationGetRelid(copy->rel)) : NULL;
}

/*
 * Would core name a line for the current error, for which no process has named
 * one?  It would for a cancel, and for trouble with a page, a disk or memory.
 */
static bool
fc_accelerate_lacks_line(const FcAccelerated *copy)
{
	bool		given_up = copy->input && copy->input->failed;
	ErrorData  *edata;
	bool		bare;

	/* the error that the client has given up brings a context of its own */
	if (geterrcode() == ERRCODE_QUERY_CANCELED)
		return !given_up;
	if (geterrcode() == ERRCODE_ADMIN_SHUTDOWN)
		return true;
	edata = fc_error_so_far();
	bare = edata->context == NULL || strcmp(edata->context, _("parallel worker")) == 0;
	FreeErrorData(edata);
	switch (ERRCODE_TO_CATEGORY(geterrcode()))
	{
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_SYSTEM_ERROR:
			return bare;
		default:
			return false;
	}
}

/*
 * Error context of a load.  Core names the line that it works on.  Here several
 * processes work on a line each, or the leader reads bytes that no process has
 * looked at yet; so the context names the first line that is not loaded.
 */
static void
fc_accelerate_context(void *arg)
{
	FcAccelerated *copy = arg;
	int64		rows = MyBEEntry->st_progress_param[PROGRESS_COPY_TUPLES_PROCESSED];

	if (fc_accelerate_lacks_line(copy))
		errcontext("COPY %s, line " INT64_FORMAT,
				   RelationGetRelationName(copy->rel), rows + 1);
}

/* Loads once the data have turned out to be many */
static uint64
fc_accelerate_large(FcAccelerated *copy)
{
	FcOptions  *options;
	const char *reason = fc_accelerate_reason(copy, &options);
	FcOpened	opened = {copy->input, copy->file, NULL, copy->where};
	ErrorContextCallback callback;
	uint64		rows;

	if (reason == NULL)
		opened.segment = fc_setup_segment(options, copy->size);
	if (reason == NULL && opened.segment == NULL)
		reason = "there is too little shared memory";
	if (reason)
	{
		if (copy->file)
			fc_source_close(copy->file);
		return fc_accelerate_by_core(copy, reason);
	}
	EndCopyFrom(copy->cstate);
	if (copy->input)
		fc_input_rewind(copy->input);
	fc_error_context_push(&callback, fc_accelerate_context, copy);
	rows = fc_job_run(options, &opened);
	fc_error_context_pop();
	return rows;
}

/* Loads a file; another one may have its path by now */
static uint64
fc_accelerate_file(FcAccelerated *copy)
{
	const char *path = copy->stmt->filename;
	int			fd = fileno(copy->cstate->copy_file);

	if (!fc_source_is_plain(fd, path))
		return fc_accelerate_by_core(copy, "the file does not tell its size");
	copy->file = fc_source_begin();
	fc_source_add(copy->file, path, fd, 0);
	copy->size = copy->file->size;
	return fc_accelerate_large(copy);
}

/* Loads by core or by a load; core reads by "current", which the caller sets */
static uint64
fc_accelerate_load(FcAccelerated *copy)
{
	const CopyStmt *stmt = copy->stmt;
	bool		file = stmt->filename && !stmt->is_program;
	ErrorContextCallback callback;
	const char *reason;
	bool		large;

	copy->cstate = BeginCopyFrom(copy->pstate, copy->rel, (Node *) copy->where,
								 file ? stmt->filename : NULL, false,
								 file ? NULL : fc_accelerate_read,
								 stmt->attlist, stmt->options);
	if (!file && copy->input == NULL)
		fc_accelerate_ask(copy);
	reason = fc_accelerate_first_reason(copy);
	if (reason)
		return fc_accelerate_by_core(copy, reason);
	if (file)
		return fc_accelerate_file(copy);
	fc_error_context_push(&callback, fc_accelerate_context, copy);
	large = fc_input_look_ahead(copy->input, FC_ACCELERATE_BYTES);
	/* what is small takes less memory, unless the caller wants workers */
	copy->size = PG_UINT64_MAX;
	if (large && fc_processors_workers(-1, true) == 0 &&
		!fc_input_look_ahead(copy->input, FC_PROCESSORS_SMALL))
		copy->size = copy->input->ahead->len;
	fc_error_context_pop();
	if (large)
		return fc_accelerate_large(copy);
	return fc_accelerate_by_core(copy, "the data are smaller than fast_copy.accelerate_min_size");
}

/* Re-throws the current error as if no worker had been there */
static void
fc_accelerate_rethrow(MemoryContext mcxt)
{
	char	   *worker = psprintf("\n%s\n", _("parallel worker"));
	size_t		len = strlen(worker) - 1;
	ErrorData  *edata;
	char	   *context;
	char	   *at;

	MemoryContextSwitchTo(mcxt);
	edata = CopyErrorData();
	context = psprintf("\n%s\n", edata->context ? edata->context : "");
	at = strstr(context, worker);
	if (at == NULL)
		PG_RE_THROW();
	/* of the line ends around it one stays */
	memmove(at, at + len, strlen(at + len) + 1);
	context[strlen(context) - 1] = '\0';
	edata->context = context[0] == '\0' ? NULL : context + 1;
	FlushErrorState();
	ReThrowError(edata);
}

uint64
fc_accelerate_run(const CopyStmt *stmt, const char *query)
{
	FcAccelerated copy = {.stmt = stmt,.mcxt = CurrentMemoryContext,.outer = current};
	volatile uint64 rows = 0;

	fc_accelerate_open(&copy, query);
	PG_TRY();
	{
		current = &copy;
		rows = fc_accelerate_load(&copy);
	}
	PG_CATCH();
	{
		current = copy.outer;
		fc_accelerate_rethrow(copy.mcxt);
	}
	PG_END_TRY();
	current = copy.outer;
	table_close(copy.rel, NoLock);
	return rows;
}
