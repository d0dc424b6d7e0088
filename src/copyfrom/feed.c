/*-------------------------------------------------------------------------
 *
 * copyfrom/feed.c
 *	  What core's COPY reads, and how its errors say where they are.
 *
 *	 file ──► bytes as they are, if core knows every option ──► core
 *	 file ──► records ──► values ──► canonical records ──► core
 *
 * A canonical record has all columns of the load in their order, NULL as an
 * empty field, and an empty string in quotes for any value, which core gets in
 * place of what the type would make of that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/backend_progress.h"
#include "utils/datum.h"

#include "context/process.h"
#include "copyfrom/feed.h"
#include "errors/first_error.h"
#include "rejects/rejects.h"
#include "row/executor.h"
#include "row/where.h"
#include "source/client.h"
#include "source/recode.h"

#define FC_FEED_BLOCK	65536

/* A column of a record for core */
typedef struct FcFeedColumn
{
	const Datum *value;			/* of the current row */
	int16		typlen;
	bool		typbyval;
} FcFeedColumn;

void
fc_feed_begin(FcFeed *feed, FcTarget *target, void (*context) (void *arg))
{
	memset(feed, 0, sizeof(FcFeed));
	feed->target = target;
	feed->source = target->source;
	fc_error_context_push(&feed->context, context, feed);
}

void
fc_feed_end(FcFeed *feed)
{
	error_context_stack = feed->context.previous;
}

/*
 * Core reads through a callback without an argument: the feed is the one whose
 * context is the innermost.  A trigger may start another load, and catch its
 * error, which puts the contexts back.
 */
static FcFeed *
fc_feed_current(void)
{
	const ErrorContextCallback *context = error_context_stack;

	while (context->callback != fc_feed_context && context->callback != fc_feed_file_context)
		context = context->previous;
	return context->arg;
}

void
fc_feed_bytes(FcFeed *feed, const char *bytes, size_t len)
{
	feed->bytes = bytes;
	feed->left = len;
}

/* Says that the file is fed from a line on, as it was before conversion */
static void
fc_feed_file(FcFeed *feed, uint64 offset)
{
	const FcTarget *target = feed->target;
	uint64		end = fc_source_end(target->source, feed->file);

	if (target->original)
	{
		feed->source = target->original;
		offset = fc_recode_original(target->original, target->source, feed->file, offset);
		end = fc_recode_original(target->original, target->source, feed->file, end);
	}
	feed->position = offset;
	feed->left = end - offset;
}

void
fc_feed_refuse_original(const FcTarget *target, uint64 offset)
{
	const FcSource *source = target->original;
	int			encoding = target->options->file_encoding;
	uint32		file = fc_source_number(target->source, offset);

	offset = fc_recode_original(source, target->source, file, offset);
	fc_recode_refuse(source, encoding, fc_recode_good(source, encoding, offset, fc_source_end(source, file)));
}

void
fc_feed_name(FcFeed *feed, uint64 offset, uint64 length, uint64 first, uint64 line)
{
	feed->file = fc_source_number(feed->target->source, offset);
	feed->offset = offset;
	feed->length = length;
	feed->first = first;
	feed->line = line;
}

bool
fc_feed_is_canonical(const FcTarget *target)
{
	const FcOptions *options = target->options;

	for (int i = 0; i < list_length(target->planned->columns.fields); i++)
		if (list_nth_int(target->planned->columns.fields, i) == 0 ||
			target->planned->columns.patterns[i] ||
			(target->planned->columns.flags[i] & FC_FIELD_OURS))
			return true;
	return (options->default_string && !FC_CORE_HAS_DEFAULT) || options->time_zone || options->own_grammar ||
		options->skip_empty_lines || options->comment || options->pads || options->drops ||
		target->planned->columns.origins || target->form.headers || options->on_error != FC_ON_ERROR_STOP;
}

/* Reports how far core's own COPY has come */
static void
fc_feed_progress(FcFeed *feed, uint64 position)
{
	FcContext  *ctx = &feed->target->ctx;
	uint64		before;
	uint64		now;

	if (!feed->counts)
		return;
	now = position - Min(position, feed->target->source->files->data_start);
	before = pg_atomic_exchange_u64(&ctx->shared->counts.load_bytes, now);
	fc_context_pace(ctx, now - Min(now, before));
	fc_context_progress(ctx);
}

/*
 * Copies bytes as they are, up to len; returns their number.  If the client has
 * given up, the load ends in an error where its data end.
 */
static int
fc_feed_piece(FcFeed *feed, char *out, int len)
{
	const FcTarget *target = feed->target;

	if (feed->left == 0 && feed->bytes == NULL && target->given_up &&
		target->options->client && feed->position == fc_source_end(feed->source, feed->file))
		fc_client_check_whole(target->given_up);
	len = Min((uint64) len, feed->left);
	if (feed->bytes)
	{
		memcpy(out, feed->bytes, len);
		feed->bytes += len;
	}
	else
		fc_source_read(feed->source, feed->position, out, len);
	feed->position += len;
	feed->left -= len;
	if (feed->bytes == NULL)
		fc_feed_progress(feed, feed->position);
	return len;
}

/* Writes the parser's row as one line of CSV */
static void
fc_feed_canonical(FcFeed *feed)
{
	resetStringInfo(&feed->row);
	foreach_int(attnum, feed->target->planned->columns.attnums)
		appendStringInfoString(&feed->row, feed->nulls[attnum - 1] ? "," : "\"\",");
	/* no comma follows the last field */
	if (feed->row.len > 0)
		feed->row.data[feed->row.len - 1] = '\n';
	else
		appendStringInfoChar(&feed->row, '\n');
	fc_feed_bytes(feed, feed->row.data, feed->row.len);
}

/*
 * Shows core the record as it stands in the file, because core says best what
 * is wrong with line ends, quotes or bytes.  Returns if core finds nothing, or
 * does not know the grammar.
 */
static void
fc_feed_malformed(FcFeed *feed)
{
	FcFeed		raw;
	ErrorContextCallback *context = error_context_stack;

	if (feed->target->options->own_grammar)
		return;
	/* the innermost context is about the same record, and is left out */
	error_context_stack = context->previous;
	fc_feed_begin(&raw, feed->target, fc_feed_context);
	fc_feed_name(&raw, feed->offset, feed->length, feed->first, feed->line);
	fc_feed_raw_record(&raw);
	(void) fc_feed_copy(&raw, NIL, NULL, false);
	(void) fc_feed_next_row(&raw, CreateExecutorState(),
							MakeSingleTupleTableSlot(RelationGetDescr(feed->target->rel), &TTSOpsVirtual));
	error_context_stack = context;
}

void
fc_feed_refuse_grammar(const FcDialect *dialect, FcEnd end, bool unterminated)
{
	bool		text = dialect->mode == FC_MODE_TEXT;
	const struct
	{
		const char *message;
		const char *hint;
	}			faults[] = {
		[FC_END_FOUND] = {unterminated ? "unterminated CSV quoted field" : NULL},
		[FC_END_BARE_CR] = {text ? "literal carriage return found in data" : "unquoted carriage return found in data",
			text ? "Use \"\\r\" to represent carriage return." : "Use quoted CSV field to represent carriage return."},
		[FC_END_BARE_NL] = {text ? "literal newline found in data" : "unquoted newline found in data",
			text ? "Use \"\\n\" to represent newline." : "Use quoted CSV field to represent newline."},
		[FC_END_MARKER_CORRUPT] = {FC_CORE_LONE_MARKER ? "end-of-copy marker is not alone on its line" :
		"end-of-copy marker corrupt"},
		[FC_END_MARKER_STYLE] = {"end-of-copy marker does not match previous newline style"},
		[FC_END_MALFORMED] = {dialect->mode == FC_MODE_BINARY ? NULL : "a comment does not end on its line",
			text ? "The backslash at its end takes the next line with it." : "A quote in it opens a field. If the file quotes no values, add quote 'none'."}
	};
	const char *hint = dialect->raw ? "All lines must end as the first one does." : faults[end].hint;

	if (faults[end].message)
		fc_format_error(errmsg("%s", faults[end].message),
						hint ? errhint("%s", hint) : 0);
}

void
fc_feed_refuse_unsettled(void)
{
	fc_unsupported(errmsg("cannot tell how the lines of the file end"),
				   errdetail("The first row ends with \\., and COPY on this version does not take its line end for that of the file."),
				   errhint("Load the file without the options that COPY on this version does not have, and without on_error. If it is partitioned, use missing_partitions 'error'."));
}

/* Refuses a record that the parser refuses, but core does not */
static void
fc_feed_refuse(FcFeed *feed)
{
	if (feed->target->facts.unsettled)
		fc_feed_refuse_unsettled();
	elog(ERROR, "record at byte " UINT64_FORMAT " was refused by fast_copy, but not by COPY",
		 feed->offset);
}

/*
 * Parses the record in place, for core, which says what is wrong with bad
 * bytes; false if on_error rejects it
 */
static bool
fc_feed_parse(FcFeed *feed, char *data)
{
	MemoryContext mcxt = CurrentMemoryContext;
	FcRecord	record = {feed->offset, data, feed->length,.line = feed->line,.row = feed->number};
	volatile bool ok = false;

	MemoryContextReset(feed->mcxt);
	ResetPerTupleExprContext(feed->estate);
	feed->parsing = true;
	PG_TRY();
	{
		MemoryContextSwitchTo(feed->mcxt);
		ok = fc_parse_for_core(feed->parser, &record, feed->values, feed->nulls);
		if (ok)
			fc_feed_canonical(feed);
		MemoryContextSwitchTo(mcxt);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		if (fc_parse_is_cut(feed->parser))
			PG_RE_THROW();
		/* the parser had looked at bytes only, and run no code of users */
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		FlushErrorState();
		if (feed->target->original && feed->target->options->own_grammar && edata->sqlerrcode == ERRCODE_CHARACTER_NOT_IN_REPERTOIRE)
			fc_feed_refuse_original(feed->target, feed->offset);
		fc_feed_malformed(feed);
		ReThrowError(edata);
	}
	PG_END_TRY();
	feed->parsing = false;
	return ok;
}

/* Keeps what on_error made of the record, and tells of it */
static void
fc_feed_reject(FcFeed *feed, bool ok)
{
	FcParser   *parser = feed->parser;
	const FcFaults *faults = fc_parse_faults(parser);
	const FcBad *bad = ok ? faults->kept : &faults->bad;
	int			n = ok ? faults->nkept : 1;
	FcReject	reject;

	/* a NOTICE has its context already */
	feed->silent = true;
	if (ok)
		fc_parse_count_kept(parser, feed->offset, feed->length);
	else
		fc_reject_put(&feed->target->ctx, feed->offset, feed->length, bad);
	for (int i = 0; i < n; i++)
	{
		fc_reject_fill(&reject, feed->offset, feed->length, &bad[i]);
		fc_notices_show(feed->target, &reject, feed->line);
	}
	feed->silent = false;
	if (!ok)
		fc_parse_pass_over(parser);
}

/* Parses a record, and keeps it if on_error rejects it, up to reject_limit */
static bool
fc_feed_accept(FcFeed *feed, char *data)
{
	FcContext  *ctx = &feed->target->ctx;
	MemoryContext old;
	bool		ok;

	ctx->evaluating = true;
	ok = fc_feed_parse(feed, data);
	ctx->evaluating = false;
	old = MemoryContextSwitchTo(feed->mcxt);

	/* core resets its memory for each row it gets, not for each record */
	fc_feed_reject(feed, ok);
	MemoryContextSwitchTo(old);
	if (ok)
		return true;
	if (fc_error_beyond(ctx->shared, feed->offset))
	{
		feed->silent = true;
		fc_reject_end(ctx);
		fc_notices_throw(feed->target);
	}
	return false;
}

/* Is the record a line that core does not get?  Then counts it. */
static bool
fc_feed_skips(FcFeed *feed, const char *data)
{
	if (!fc_plan_skips(feed->target->plan, feed->dialect, data, feed->length))
		return false;
	if (fc_record_is_open(data, feed->length))
		fc_feed_refuse_grammar(feed->dialect, FC_END_MALFORMED, false);
	feed->skipped++;
	(void) fc_context_count_out(&feed->target->ctx, filtered, feed->offset, 1);
	(void) fc_context_count_out(&feed->target->ctx, skipped, feed->offset, 1);
	return true;
}

/* Goes to the next record that core gets; false at the end of the data */
static bool
fc_feed_next(FcFeed *feed)
{
	FcRecord	record;
	FcEnd		end;

	do
	{
		CHECK_FOR_INTERRUPTS();
		end = fc_stream_next(feed->stream, feed->dialect, &record);
		if (end == FC_END_NONE || end == FC_END_MARKER)
			return false;
		feed->found++;
		feed->number++;
		feed->first = feed->line + 1;
		feed->line += 1 + record.embedded;
		feed->offset = record.offset;
		feed->length = record.length;
		if (feed->found % 1024 == 0)
			fc_feed_progress(feed, record.offset);
		if (end == FC_END_FOUND && record.unterminated && fc_plan_skips(feed->target->plan, feed->dialect, record.data, record.length))
			fc_feed_refuse_grammar(feed->dialect, FC_END_MALFORMED, false);
		if (end != FC_END_FOUND || record.unterminated)
		{
			fc_feed_malformed(feed);
			/* core is told the line when it gets the record */
			feed->cstate->cur_lineno = feed->line;
			if (feed->target->options->own_grammar)
				fc_feed_refuse_grammar(feed->dialect, end, record.unterminated);
			fc_feed_refuse(feed);
		}
	} while (fc_feed_skips(feed, record.data) || !fc_feed_accept(feed, record.data));
	feed->fed++;
	return true;
}

/*
 * Takes the place of the context that CopyFrom has put on the stack, which
 * ends with its loop over rows: errors are to name the file.  Gives its
 * condition the file's time zone, and counts by it.
 */
static void
fc_feed_take_context(FcFeed *feed)
{
	ErrorContextCallback *context = error_context_stack;
	MemoryContext old;

	if (context == NULL || context->callback != CopyFromErrorCallback ||
		context->arg != feed->cstate)
		return;
	context->callback = fc_feed_context;
	context->arg = feed;
	feed->follow = true;
	old = MemoryContextSwitchTo(feed->cstate->copycontext);
	feed->cstate->qualexpr = fc_where_wrap(feed->cstate->qualexpr, feed->target->shared, &feed->target->ctx,
										   feed->stream ? &feed->offset : &feed->target->source->files[feed->file].data_start,
										   feed->estate);
	MemoryContextSwitchTo(old);
}

/*
 * The callback by which core reads.  Each call feeds one record, because core
 * asks for the next one only when it needs it.
 */
static int
fc_feed_read(void *outbuf, int minread, int maxread)
{
	FcFeed	   *feed = fc_feed_current();

	fc_feed_take_context(feed);
	/* the header of a binary file is read before the context can be taken */
	if (feed->cstate == NULL)
		maxread = minread;
	if (feed->stream && feed->left == 0)
	{
		if (!fc_feed_next(feed))
			return 0;
		/* core goes to the next line before it reads */
		feed->cstate->cur_lineno = feed->line;
		feed->cstate->bytes_processed = feed->offset + feed->length - feed->target->source->files[feed->file].base;
	}
	return fc_feed_piece(feed, outbuf, maxread);
}

/*
 * Returns the options as COPY's grammar makes them, "*" written out, or those
 * that canonical records are written in
 */
static List *
fc_feed_options(FcFeed *feed)
{
	FcTarget   *target = feed->target;
	bool		converted = target->original && feed->bytes;
	List	   *list = NIL;

	if (feed->parser)
	{
		list = fc_option_add(list, "format", "csv");
		return fc_option_add(list, "encoding", GetDatabaseEncodingName());
	}
	foreach_node(DefElem, option, target->options->copy_options)
	{
		DefElem    *def = copyObject(option);

		if (converted && strcmp(def->defname, "encoding") == 0)
			continue;
		if (IsA(def->arg, List))
			def->arg = (Node *) fc_columns_force((List *) def->arg, target->rel,
												 target->planned->columns.attnums);
		list = lappend(list, def);
	}
	if (converted)
		list = fc_option_add(list, "encoding", pg_encoding_to_char(target->form.encoding));
	return list;
}

StaticAssertDecl((int) FC_EOL_NL == (int) EOL_NL && (int) FC_EOL_CR == (int) EOL_CR &&
				 (int) FC_EOL_CRNL == (int) EOL_CRNL, "line ends are numbered as core's");

/*
 * Sets core's state as if core had read the lines before.  Before the first
 * record of a file core knows no line end, and counts those in quotes in
 * another way.
 */
static void
fc_feed_middle(FcFeed *feed)
{
	const FcFile *file = &feed->target->source->files[feed->file];

	if (feed->target->options->header_lines == 0 && feed->offset == file->data_start && !file->resumed)
	{
		feed->cstate->cur_lineno = 0;
		return;
	}
	if (!file->unsettled)
		feed->cstate->eol_type = (EolType) file->eol;
	feed->cstate->cur_lineno = feed->first - 1;
}

/* Stands in for a type's input function where core gets a canonical record */
static Datum
fc_feed_value(PG_FUNCTION_ARGS)
{
	const FcFeedColumn *column = fcinfo->flinfo->fn_extra;

	if (PG_GETARG_CSTRING(0) == NULL)
		PG_RETURN_NULL();
	/* it must last as long as what the type's function would have made */
	return datumCopy(*column->value, column->typbyval, column->typlen);
}

/* Makes core take the values that the parser has converted */
static void
fc_feed_hand_over(FcFeed *feed)
{
	foreach_int(attnum, feed->target->planned->columns.attnums)
	{
		FcFeedColumn *column = palloc(sizeof(FcFeedColumn));
		FmgrInfo   *input = &feed->cstate->in_functions[attnum - 1];

		column->value = &feed->values[attnum - 1];
		get_typlenbyval(TupleDescAttr(RelationGetDescr(feed->target->rel), attnum - 1)->atttypid,
						&column->typlen, &column->typbyval);
		input->fn_addr = fc_feed_value;
		input->fn_extra = column;
	}
}

/* Begins core's COPY, which reads the header of binary data at once */
static CopyFromState
fc_feed_begin_copy(FcFeed *feed, List *where, List *list)
{
	FcTarget   *target = feed->target;
	List	   *attnums = target->planned->columns.attnums;
	ParseState *pstate = fc_executor_parse_state(target->rel, attnums);
	FcFeed		fed = *feed;
	bool		header = feed->middle && target->dialect.mode == FC_MODE_BINARY;
	int64		type = fc_target_progress_type(target);
	CopyFromState cstate;

	if (header)
		fc_feed_bytes(feed, FC_BINARY_HEADER, FC_BINARY_HEADER_LEN);
	cstate = BeginCopyFrom(pstate, target->rel, (Node *) where, NULL, false,
						   fc_feed_read, fc_columns_names(target->rel, attnums), list);
	/* shown in the progress view, although core reads by a callback */
	pgstat_progress_update_param(PROGRESS_COPY_TYPE, type);
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_TOTAL, type != PROGRESS_COPY_TYPE_FILE ? 0 :
								 feed->source->files[feed->file].identity.size);
	if (header)
		*feed = fed;
	return cstate;
}

CopyFromState
fc_feed_copy(FcFeed *feed, List *where, const char *header, bool freeze)
{
	List	   *list = fc_feed_options(feed);

	if (header)
		list = fc_option_add(list, "header", header);
	if (freeze)
		list = fc_option_add(list, "freeze", "true");
	feed->cstate = fc_feed_begin_copy(feed, where, list);
	if (feed->parser)
		fc_feed_hand_over(feed);
	if (feed->middle)
		fc_feed_middle(feed);
	return feed->cstate;
}

void
fc_feed_files(FcFeed *feed, void (*each) (FcFeed *feed, uint32 file))
{
	MemoryContext mcxt = fc_context_memory(CurrentMemoryContext, "file for core");

	for (uint32 i = 0; i < feed->target->source->nfiles; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		each(feed, i);
		MemoryContextSwitchTo(old);
		MemoryContextReset(mcxt);
	}
	MemoryContextDelete(mcxt);
}

const char *
fc_feed_whole(FcFeed *feed, uint32 file)
{
	const FcSource *source = feed->target->source;
	const FcFile *f = &source->files[file];
	int			header_lines = feed->target->options->header_lines;

	feed->file = file;
	feed->cstate = NULL;
	feed->follow = false;
	if (feed->stream)
	{
		feed->dialect = &feed->target->shared->dialects[f->eol];
		feed->line = f->lines_before;
		feed->number = 0;
		feed->left = 0;
		fc_stream_seek_file(feed->stream, file, f->data_start);
		return NULL;
	}
	feed->middle = header_lines > 1 || f->resumed;
	if (feed->middle)
		feed->first = f->lines_before + 1;
	fc_feed_file(feed, feed->middle ? f->data_start : f->base);
	/* the names have been compared, without a byte order mark before them */
	return header_lines == 1 && !feed->middle ? "true" : NULL;
}

/* Makes what parsing a record needs */
static void
fc_feed_parser(FcFeed *feed)
{
	feed->estate = CreateExecutorState();
	/* core takes sequences' numbers itself */
	feed->parser = fc_parse_begin(&feed->target->ctx, feed->estate, false);
	feed->mcxt = fc_context_memory(CurrentMemoryContext, "record for core");
	feed->values = palloc(sizeof(Datum) * RelationGetNumberOfAttributes(feed->target->rel));
	feed->nulls = palloc(sizeof(bool) * RelationGetNumberOfAttributes(feed->target->rel));
	initStringInfo(&feed->row);
}

void
fc_feed_records(FcFeed *feed)
{
	fc_feed_parser(feed);
	feed->stream = fc_stream_begin(feed->target->source, FC_FEED_BLOCK);
}

void
fc_feed_records_end(FcFeed *feed)
{
	fc_reject_end(&feed->target->ctx);
	fc_stream_end(feed->stream);
	FreeExecutorState(feed->estate);
	MemoryContextDelete(feed->mcxt);
	feed->stream = NULL;
}

bool
fc_feed_record(FcFeed *feed)
{
	char	   *data = palloc(feed->length + 1);

	fc_feed_parser(feed);
	fc_source_read(feed->target->source, feed->offset, data, feed->length);
	data[feed->length] = '\0';
	if (!fc_feed_parse(feed, data))
		return false;
	feed->middle = false;
	return true;
}

/*
 * The bytes after the record are fed, too: core must see the same quotes and
 * markers, and shows them where they may belong to a bad character.
 */
void
fc_feed_raw_record(FcFeed *feed)
{
	fc_feed_file(feed, feed->offset);
	feed->middle = true;
}

bool
fc_feed_next_row(FcFeed *feed, EState *estate, TupleTableSlot *row)
{
	ExprContext *econtext = GetPerTupleExprContext(estate);
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	bool		found;

	ExecClearTuple(row);
	ResetExprContext(econtext);
	found = NextCopyFrom(feed->cstate, econtext, row->tts_values, row->tts_isnull);
	if (found)
		ExecStoreVirtualTuple(row);
	MemoryContextSwitchTo(old);
	return found;
}
