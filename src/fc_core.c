/*-------------------------------------------------------------------------
 *
 * fc_core.c
 *	  Core's own COPY: for targets only it can load, and for its errors.
 *
 * Triggers, views, foreign tables: CopyFrom in the leader has COPY's meaning
 * by being COPY.  A record that our parser refuses is shown to NextCopyFrom,
 * so that message, detail and SQLSTATE are core's; only the context is ours.
 *
 * Core reads through a callback without an argument, so that what it reads
 * from is kept in a static variable.  A trigger may start another load, and
 * catch its error: each use of the variable puts back what it found.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "commands/copyfrom_internal.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"

#include "fc_compat.h"
#include "fc_core.h"
#include "fc_error.h"
#include "fc_fields.h"
#include "fc_target.h"

/* Up to three pieces of bytes, one after the other */
typedef struct FcPiece
{
	const char *bytes;			/* NULL: from the file */
	uint64		offset;			/* next byte of the file */
	uint64		left;
} FcPiece;

typedef struct FcFeed
{
	FcJob	   *job;
	int			npieces;
	FcPiece		pieces[3];
} FcFeed;

static FcFeed feed;

/* For error contexts */
typedef struct FcCoreContext
{
	FcJob	   *job;
	CopyFromState cstate;
	uint64		line;
	uint64		offset;			/* of the record */
	uint64		length;
} FcCoreContext;

static int
fc_core_read(void *outbuf, int minread, int maxread)
{
	char	   *out = outbuf;
	int			n = 0;

	for (int i = 0; i < feed.npieces && n < maxread; i++)
	{
		FcPiece    *piece = &feed.pieces[i];
		int			len = Min((uint64) (maxread - n), piece->left);

		if (piece->bytes)
		{
			memcpy(out + n, piece->bytes, len);
			piece->bytes += len;
		}
		else
			fc_source_read(feed.job->source, piece->offset, out + n, len);
		piece->offset += len;
		piece->left -= len;
		n += len;
	}
	return n;
}

static void
fc_core_feed(FcJob *job)
{
	memset(&feed, 0, sizeof(feed));
	feed.job = job;
}

static void
fc_core_feed_bytes(const char *bytes, size_t len)
{
	FcPiece    *piece = &feed.pieces[feed.npieces++];

	piece->bytes = bytes;
	piece->left = len;
}

static void
fc_core_feed_file(uint64 offset, uint64 end)
{
	FcPiece    *piece = &feed.pieces[feed.npieces++];

	piece->bytes = NULL;
	piece->offset = offset;
	piece->left = end - offset;
}

/* The list as COPY's grammar makes it; "*" is not in every version's */
static List *
fc_core_options(FcJob *job, const char *header, bool freeze)
{
	List	   *list = NIL;
	ListCell   *lc;

	foreach(lc, job->options->copy_options)
	{
		DefElem    *def = copyObject(lfirst_node(DefElem, lc));

		if (IsA(def->arg, List))
			def->arg = (Node *) fc_fields_force((List *) def->arg, job->options,
												job->rel, job->plan->attnums);
		list = lappend(list, def);
	}
	if (header)
		list = lappend(list, makeDefElem("header", (Node *) makeString(pstrdup(header)), -1));
	if (freeze)
		list = lappend(list, makeDefElem("freeze", (Node *) makeString("true"), -1));
	return list;
}

static CopyFromState
fc_core_begin(FcJob *job, List *where, const char *header, bool freeze)
{
	ParseState *pstate = fc_target_parse_state(job->rel, job->plan->attnums);

	return BeginCopyFrom(pstate, job->rel, (Node *) where, NULL, false,
						 fc_core_read, job->options->columns,
						 fc_core_options(job, header, freeze));
}

static void
fc_core_file_context(void *arg)
{
	FcJob	   *job = arg;

	errcontext("fast_copy %s, file \"%s\"", job->relname, job->options->path);
}

/* "\." ends csv data for COPY on 15 to 17: nothing may be left behind it */
static void
fc_core_check_end(FcJob *job, CopyFromState cstate)
{
	if (job->dialect.mode == FC_MODE_TEXT)
		return;
	if (INPUT_BUF_BYTES(cstate) > 0 || feed.pieces[0].left > 0)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("end-of-copy marker before the end of file \"%s\"",
						job->options->path),
				 errdetail("COPY on this version takes a line with \\. alone for the end of the data."),
				 errhint("Quote the value.")));
}

static uint64
fc_core_copy_file(FcJob *job)
{
	FcOptions  *options = job->options;
	ErrorContextCallback callback;
	CopyFromState cstate;
	const char *header = NULL;
	uint64		rows;

	if (options->header_lines > 0)
		header = options->header_match ? "match" : "true";
	fc_core_feed_file(job->header_start, job->source->identity.size);
	cstate = fc_core_begin(job, job->plan->where, header, options->freeze);
	cstate->cur_lineno = Max(options->header_lines - 1, 0);

	callback.callback = fc_core_file_context;
	callback.arg = job;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	rows = CopyFrom(cstate);
	error_context_stack = callback.previous;

	fc_core_check_end(job, cstate);
	EndCopyFrom(cstate);
	return rows;
}

uint64
fc_core_copy(FcJob *job)
{
	FcFeed		outer = feed;
	uint64		rows = 0;

	PG_TRY();
	{
		fc_core_feed(job);
		rows = fc_core_copy_file(job);
	}
	PG_FINALLY();
	{
		feed = outer;
	}
	PG_END_TRY();
	return rows;
}

/* A value or line as an error shows it: COPY's limit of 100 bytes */
static char *
fc_core_clip(const char *s, int len)
{
	const int	max = 100;

	if (len <= max)
		return pnstrdup(s, len);
	return psprintf("%.*s...", pg_mbcliplen(s, len, max), s);
}

/* The record as text, if it can be shown in the server's encoding */
static char *
fc_core_record_text(FcCoreContext *context)
{
	FcJob	   *job = context->job;
	int			encoding = job->options->file_encoding;
	int			len = Min(context->length, 512);
	char	   *bytes = palloc(len + 1);
	char	   *text = bytes;

	fc_source_read(job->source, context->offset, bytes, len);
	bytes[len] = '\0';
	if (job->plan->need_transcoding)
	{
		len = pg_encoding_mbcliplen(encoding, bytes, len, len);
		if (pg_encoding_verifymbstr(encoding, bytes, len) != len)
			return NULL;
		bytes[len] = '\0';
		text = pg_any_to_server(bytes, len, encoding);
		len = strlen(text);
	}
	else if (pg_encoding_verifymbstr(encoding, bytes, len) <
			 (context->length > 512 ? len - MAX_MULTIBYTE_CHAR_LEN : len))
		return NULL;
	return fc_core_clip(text, len);
}

/*
 * Column and value while core converts a value, the record otherwise: what
 * COPY says.  A record cut by wrong line ends or bad bytes is not shown.
 */
static void
fc_core_record_context(void *arg)
{
	FcCoreContext *context = arg;
	FcJob	   *job = context->job;
	CopyFromState cstate = context->cstate;
	char	   *where = psprintf("fast_copy %s, file \"%s\", line " UINT64_FORMAT,
								 job->relname, job->options->path, context->line);
	char	   *text;

	if (cstate && cstate->cur_attname && cstate->cur_attval)
		errcontext("%s, column %s: \"%s\"", where, cstate->cur_attname,
				   fc_core_clip(cstate->cur_attval, strlen(cstate->cur_attval)));
	else if (cstate && cstate->cur_attname)
		errcontext("%s, column %s: null input", where, cstate->cur_attname);
	else if ((cstate == NULL || cstate->line_buf_valid) &&
			 (text = fc_core_record_text(context)) != NULL)
		errcontext("%s: \"%s\"", where, text);
	else
		errcontext("%s", where);
}

/* One line end, so that a record shown to core has lines before it */
static const char *
fc_core_eol(FcEol eol)
{
	switch (eol)
	{
		case FC_EOL_CR:
			return "\r";
		case FC_EOL_CRNL:
			return "\r\n";
		default:
			return "\n";
	}
}

static void
fc_core_compare_header(FcJob *job, const char *header, size_t len, size_t total)
{
	CopyFromState cstate;
	EState	   *estate = CreateExecutorState();
	int			natts = RelationGetDescr(job->rel)->natts;
	FcCoreContext context = {job, NULL, job->options->header_lines,
	job->header_start, len};
	ErrorContextCallback callback;

	fc_core_feed_bytes(header, total);
	cstate = fc_core_begin(job, NIL, "match", false);
	context.cstate = cstate;
	callback.callback = fc_core_record_context;
	callback.arg = &context;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	(void) NextCopyFrom(cstate, GetPerTupleExprContext(estate),
						palloc(sizeof(Datum) * (natts + 1)),
						palloc(sizeof(bool) * (natts + 1)));
	error_context_stack = callback.previous;
	EndCopyFrom(cstate);
	FreeExecutorState(estate);
}

void
fc_core_match_header(FcJob *job, const char *header, size_t len, size_t total)
{
	FcFeed		outer = feed;

	PG_TRY();
	{
		fc_core_feed(job);
		fc_core_compare_header(job, header, len, total);
	}
	PG_FINALLY();
	{
		feed = outer;
	}
	PG_END_TRY();
}

/* Core routes the row, and finds no partition for it, or the default only */
static void
fc_core_route(FcJob *job, TupleTableSlot *slot)
{
	ResultRelInfo *root;
	EState	   *estate = fc_target_executor(fc_target_parse_state(job->rel, job->plan->attnums),
											&root);
	ModifyTableState *mtstate = makeNode(ModifyTableState);
	PartitionTupleRouting *proute;

	mtstate->ps.state = estate;
	mtstate->operation = CMD_INSERT;
	mtstate->mt_nrels = 1;
	mtstate->resultRelInfo = root;
	mtstate->rootResultRelInfo = root;
	proute = ExecSetupPartitionTupleRouting(estate, job->rel);
	(void) ExecFindPartition(mtstate, root, proute, slot, estate);
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("no partition of relation \"%s\" found for row", job->relname),
			 errdetail("Only the default partition would take it."),
			 errhint("Use missing_partitions => 'default' or 'create'."),
			 errtable(job->rel)));
}

/*
 * Shows core the record: a line end as header fixes the line end style, the
 * record follows with what stands behind it, so that core sees the same
 * quotes, line ends and markers.
 */
static void
fc_core_show(FcJob *job, FcCoreContext *context, const FcErrorSlot *slot)
{
	const char *eol = fc_core_eol(job->shared->dialect.eol);
	EState	   *estate = CreateExecutorState();
	TupleTableSlot *row = MakeSingleTupleTableSlot(RelationGetDescr(job->rel),
												   &TTSOpsVirtual);
	CopyFromState cstate;
	uint64		end = slot->offset + slot->length + 2;

	if (slot->kind == FC_ERROR_GRAMMAR || job->dialect.mode == FC_MODE_TEXT)
		end = job->source->identity.size;
	fc_core_feed_bytes(eol, strlen(eol));
	fc_core_feed_file(slot->offset, Min(end, job->source->identity.size));
	cstate = fc_core_begin(job, NIL, "true", false);
	context->cstate = cstate;
	ExecClearTuple(row);
	if (NextCopyFrom(cstate, GetPerTupleExprContext(estate), row->tts_values,
					 row->tts_isnull) &&
		slot->kind == FC_ERROR_ROUTE)
		fc_core_route(job, ExecStoreVirtualTuple(row));
	context->cstate = NULL;
}

static char *
fc_core_slot_text(char *text)
{
	return text[0] ? text : NULL;
}

static void
fc_core_throw_kept(FcErrorSlot *slot)
{
	ErrorData	edata = {0};

	edata.elevel = ERROR;
	edata.sqlerrcode = slot->sqlerrcode;
	edata.message = slot->message;
	edata.detail = fc_core_slot_text(slot->detail);
	edata.hint = fc_core_slot_text(slot->hint);
	edata.context = fc_core_slot_text(slot->context);
	edata.schema_name = fc_core_slot_text(slot->schema_name);
	edata.table_name = fc_core_slot_text(slot->table_name);
	edata.column_name = fc_core_slot_text(slot->column_name);
	edata.datatype_name = fc_core_slot_text(slot->datatype_name);
	edata.constraint_name = fc_core_slot_text(slot->constraint_name);
	edata.assoc_context = CurrentMemoryContext;
	ThrowErrorData(&edata);
}

void
fc_core_throw(FcJob *job)
{
	FcErrorSlot slot = job->shared->error;
	FcCoreContext context = {job, NULL, 0, slot.offset, slot.length};
	FcFeed		outer = feed;
	ErrorContextCallback callback;

	context.line = fc_error_line(&job->ctx, slot.offset, slot.length);
	callback.callback = fc_core_record_context;
	callback.arg = &context;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	PG_TRY();
	{
		fc_core_feed(job);
		/* to core a value that became NULL would be the fault */
		if (!job->shared->set_null || slot.kind == FC_ERROR_GRAMMAR)
			fc_core_show(job, &context, &slot);
	}
	PG_FINALLY();
	{
		feed = outer;
	}
	PG_END_TRY();
	if (slot.kind == FC_ERROR_DATA)
		fc_core_throw_kept(&slot);
	if (slot.kind == FC_ERROR_ROUTE)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("no partition of relation \"%s\" found for row", job->relname),
				 errtable(job->rel)));
	elog(ERROR, "record at byte " UINT64_FORMAT " was refused by fast_copy, but not by COPY",
		 slot.offset);
}
