/*-------------------------------------------------------------------------
 *
 * copyfrom/core.c
 *	  Core's own COPY: for targets only it can load, and for its errors.
 *
 * CopyFrom loads targets with triggers, views and foreign tables.
 * NextCopyFrom is shown each record that the parser refuses: message, detail
 * and SQLSTATE are core's, the context is fast_copy's.  Core reads from
 * copyfrom/feed.c; an error ends a feed, too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/execPartition.h"

#include "context/process.h"
#include "copyfrom/core.h"
#include "copyfrom/feed.h"
#include "errors/first_error.h"
#include "rejects/rejects.h"
#include "row/executor.h"

#define FC_CORE_READ	65536	/* bytes of the file read at a time */

/* Core inserts a batch that has so many rows, or so many bytes of the file */
#define FC_CORE_BATCH_ROWS	1000
#define FC_CORE_BATCH_BYTES	65535

/* Is the last line of the file a marker, which core has taken for the end? */
static bool
fc_core_ends_in_marker(const FcSource *source, uint32 file)
{
	char		tail[5];
	uint64		size = fc_source_end(source, file) - source->files[file].base;
	int			len = Min(size, sizeof(tail));

	if (FC_CORE_LONE_MARKER)
		return false;
	fc_source_read(source, fc_source_end(source, file) - len, tail, len);
	if (len > 0 && tail[len - 1] == '\n')
		len--;
	if (len > 0 && tail[len - 1] == '\r')
		len--;
	if (len < 2 || tail[len - 2] != '\\' || tail[len - 1] != '.')
		return false;
	return len == 2 || tail[len - 3] == '\n' || tail[len - 3] == '\r';
}

/* Refuses a file with "\." in csv data, where core before 18 stops reading */
static void
fc_core_check_end(FcFeed *feed, CopyFromState cstate)
{
	FcTarget   *target = feed->target;

	if (feed->parser || target->dialect.mode != FC_MODE_CSV ||
		target->dialect.csv_marker)
		return;
	if (INPUT_BUF_BYTES(cstate) > 0 || feed->left > 0 ||
		fc_core_ends_in_marker(target->source, feed->file))
		fc_format_error(errmsg("end-of-copy marker before the end of %s \"%s\"",
							   fc_source_word(target->source),
							   fc_source_path(target->source, feed->file)),
						errdetail("COPY on this version takes a line with \\. alone for the end of the data."),
						errhint("Quote the value."));
}

/* Checks that every record found went to core, was skipped or rejected */
static void
fc_core_check_count(FcFeed *feed)
{
	FcTarget   *target = feed->target;
	uint64		rejected = pg_atomic_read_u64(&target->shared->counts.rejected);

	if (feed->found == feed->fed + feed->skipped + rejected &&
		(!target->counted || feed->found == target->found))
		return;
	fc_throw(ERRCODE_INTERNAL_ERROR, errmsg("fast_copy lost count of its rows"),
			 errdetail("The file has " UINT64_FORMAT " records; " UINT64_FORMAT
					   " went to COPY, " UINT64_FORMAT " were skipped and " UINT64_FORMAT " were rejected.",
					   feed->found, feed->fed, feed->skipped, rejected));
}

/* Runs a COPY for the file, as if each were a command of its own */
static void
fc_core_copy_file(FcFeed *feed, uint32 file)
{
	FcTarget   *target = feed->target;
	CopyFromState cstate;
	const char *header = fc_feed_whole(feed, file);

	uint64		before = feed->found;

	if (file > 0)
		CommandCounterIncrement();
	cstate = fc_feed_copy(feed, target->planned->where, header, target->plan->freeze);
	feed->rows += CopyFrom(cstate);
	fc_core_check_end(feed, cstate);
	EndCopyFrom(cstate);
	if (target->options->reject_percent > 0 && target->options->reject_each)
		fc_notices_judge(target, file, feed->found - before);
}

/* Refuses to tolerate errors that come in CopyFrom */
void
fc_core_check(FcTarget *target)
{
	const uint32 classes = FC_CLASS_CHECK | FC_CLASS_NOT_NULL |
		FC_CLASS_NO_PARTITION | FC_CLASS_UNIQUE;

	/* an unsettled file has one row, or core refuses it */
	bool		order = target->options->order_by != NIL && !target->facts.unsettled;
	bool		tolerates = target->options->tolerated & classes;

	if (!order && !tolerates && !fc_columns_none(&target->planned->columns))
		return;
	fc_unsupported(order ? errmsg("cannot load rows in the order of order_by here") :
				   tolerates ? errmsg("cannot tolerate violated constraints or missing partitions here") :
				   errmsg("the file has no column of the target"),
				   errdetail("Rows are loaded one by one, as COPY does: %s.", target->course.reason),
				   !order && tolerates ?
				   errhint("Use only the classes conversion, missing_columns, extra_columns and encoding.") : 0);
}

void
fc_core_binary_header(FcTarget *target, uint32 file)
{
	FcFeed		feed;

	fc_feed_begin(&feed, target, fc_feed_file_context);
	(void) fc_feed_whole(&feed, file);
	EndCopyFrom(fc_feed_copy(&feed, NIL, NULL, false));
	target->source->files[file].data_start = feed.position;
	fc_feed_end(&feed);
}

uint64
fc_core_copy(FcTarget *target)
{
	FcFeed		feed;

	fc_pace_enter(&target->ctx);
	fc_feed_begin(&feed, target, fc_feed_file_context);
	feed.counts = true;
	if (fc_feed_is_canonical(target))
		fc_feed_records(&feed);
	fc_feed_files(&feed, fc_core_copy_file);
	if (feed.stream)
	{
		fc_core_check_count(&feed);
		if (target->options->reject_percent > 0 && !target->options->reject_each)
			fc_notices_judge(target, PG_UINT32_MAX, feed.found);
		fc_feed_records_end(&feed);
	}
	fc_feed_end(&feed);
	return feed.rows;
}

void
fc_core_match_header(FcTarget *target, uint32 file, const FcRecord *header)
{
	/* the bytes of a byte order mark that the header begins with */
	size_t		mark = target->form.encoding == PG_UTF8 && !fc_caller_errors_as_core(target->options->caller) &&
		header->total >= strlen(FC_MARK) && memcmp(header->data, FC_MARK, strlen(FC_MARK)) == 0 ? strlen(FC_MARK) : 0;
	FcFeed		feed;
	TupleTableSlot *row = MakeSingleTupleTableSlot(RelationGetDescr(target->rel), &TTSOpsVirtual);

	fc_feed_begin(&feed, target, fc_feed_context);
	fc_feed_name(&feed, header->offset, header->length, 1, target->options->header_lines);
	feed.file = file;
	feed.follow = true;
	fc_feed_bytes(&feed, header->data + mark, header->total - mark);
	/* core would look for other names than those of the fields */
	if (!fc_columns_match(target->options, &target->planned->columns, &target->dialect,
						  target->form.encoding, header->data, header->length))
	{
		(void) fc_feed_copy(&feed, NIL, "match", false);
		(void) fc_feed_next_row(&feed, CreateExecutorState(), row);
		EndCopyFrom(feed.cstate);
	}
	fc_feed_end(&feed);
	ExecDropSingleTupleTableSlot(row);
}

/* A row that no partition takes */
typedef struct FcUnrouted
{
	const FcTarget *target;
	TupleTableSlot *slot;		/* NULL: not at hand any more */
} FcUnrouted;

/* Error context callback: how such a row gets a partition, or is left out */
static void
fc_core_route_hint(void *arg)
{
	const FcUnrouted *row = arg;
	const FcTarget *target = row->target;
	const char *key;

	if (fc_caller_errors_as_core(target->options->caller) || geterrcode() != ERRCODE_CHECK_VIOLATION ||
		!fc_error_wants_hint("no partition of relation"))
		return;
	if (!fc_shared_key_routes(target->shared))
		errhint("If it is to have one, make that before the load%s%s.", target->plan->missing != FC_MISSING_CREATE ?
				psprintf(", or use missing_partitions%s 'create'", fc_caller_arrow(target->options->caller)) :
				": none is made for NULL or a value of more than 1 kB", target->planned->fault ?
				psprintf(", nor %s", target->planned->fault) : "");
	else if (row->slot == NULL)
		;
	else if (slot_attisnull(row->slot, target->plan->key.attnum))
	{
		key = quote_identifier(get_attname(target->oid, target->plan->key.attnum, false));
		errhint(fc_caller_wrote_copy(target->options->caller) ?
				"If rows without a key are to be left out, add WHERE %s IS NOT NULL; only a default partition takes them." :
				"If rows without a key are to be left out, add where_clause => '%s IS NOT NULL'; only a default partition takes them.",
				key);
	}
	else if (target->plan->missing == FC_MISSING_CREATE)
		errhint("If it is to have one, make that before the load: a default partition, or one from MINVALUE or to MAXVALUE.");
	else
		errhint("If it is to have one, use missing_partitions%s 'create'.",
				fc_caller_arrow(target->options->caller));
}

/* Those that on_error tolerates and this class, as the caller writes them */
static char *
fc_core_classes(const FcOptions *options, uint32 class)
{
	bool		copy = fc_caller_wrote_copy(options->caller);
	StringInfo	list = makeStringInfo();

	for (uint32 each = 1; each <= FC_CLASS_CUT_LONG; each <<= 1)
		if ((options->tolerated | class) & each)
			appendStringInfo(list, copy ? "%s'%s'" : "%s%s", list->len == 0 ? "" : copy ? ", " : ",",
							 fc_options_class_name(each));
	return psprintf(copy ? "(%s)" : "=> '{%s}'", list->data);
}

/*
 * Error context callback: how an error is tolerated, if the caller asked
 * on_error to tolerate others
 */
static void
fc_core_class_hint(void *arg)
{
	const FcTarget *target = arg;
	static const struct
	{
		int			code;
		const char *says;
		uint32		class;
	}			classes[] = {
		{ERRCODE_BAD_COPY_FILE_FORMAT, "missing data for column", FC_CLASS_MISSING_COLUMNS},
		{ERRCODE_BAD_COPY_FILE_FORMAT, "extra data after last expected column", FC_CLASS_EXTRA_COLUMNS},
		{ERRCODE_NOT_NULL_VIOLATION, "", FC_CLASS_NOT_NULL},
		{ERRCODE_CHECK_VIOLATION, "new row for relation", FC_CLASS_CHECK},
		{ERRCODE_UNIQUE_VIOLATION, "", FC_CLASS_UNIQUE},
	};

	if (target->options->on_error == FC_ON_ERROR_STOP || target->course.core ||
		fc_caller_errors_as_core(target->options->caller))
		return;
	for (int i = 0; i < lengthof(classes); i++)
		if (geterrcode() == classes[i].code && fc_error_wants_hint(classes[i].says))
			errhint("If on_error is to tolerate it, add on_error_classes %s.",
					fc_core_classes(target->options, classes[i].class));
}

/* Makes core route the row, which finds no partition, or only the default */
static void
fc_core_route(FcTarget *target, TupleTableSlot *slot)
{
	FcUnrouted	row = {target, slot};
	ErrorContextCallback callback;
	EState	   *estate = fc_executor_begin(&target->ctx);
	ResultRelInfo *root = estate->es_result_relations[0];
	ModifyTableState *mtstate = makeNode(ModifyTableState);
	PartitionTupleRouting *proute;

	mtstate->ps.state = estate;
	mtstate->operation = CMD_INSERT;
	mtstate->mt_nrels = 1;
	mtstate->resultRelInfo = root;
	mtstate->rootResultRelInfo = root;
	proute = ExecSetupPartitionTupleRouting(estate, target->rel);
	fc_error_context_push(&callback, fc_core_route_hint, &row);
	(void) ExecFindPartition(mtstate, root, proute, slot, estate);
	fc_error_context_pop();
	fc_throw(ERRCODE_CHECK_VIOLATION, errmsg("no partition of relation \"%s\" found for row", target->relname),
			 errdetail("Only the default partition would take it."),
			 errhint("Use missing_partitions%s 'default' or 'create'.",
					 fc_caller_arrow(target->options->caller)),
			 errtable(target->rel));
}

/*
 * Makes core read the fed record, and route it if that was the error.  Defaults
 * have been evaluated once, and are not again: a sequence may have no number
 * left by now, and code of users would be seen to run twice.
 */
static bool
fc_core_show_fed(FcFeed *feed, const FcErrorSlot *slot)
{
	TupleTableSlot *row = MakeSingleTupleTableSlot(RelationGetDescr(feed->target->rel), &TTSOpsVirtual);
	bool		found;

	fc_feed_copy(feed, NIL, NULL, false)->num_defaults = 0;
	found = fc_feed_next_row(feed, CreateExecutorState(), row);
	feed->cstate = NULL;
	if (!found)
		return false;
	if (slot->kind == FC_ERROR_ROUTE)
		fc_core_route(feed->target, row);
	return true;
}

/*
 * Shows core the record in the form in which core would load it.  A malformed
 * record is shown as it stands in the file, and so is any other at first if
 * core reads such files as they are.  But core before 18 takes some of these
 * for the end of the data, and is shown them made canonical.
 */
static void
fc_core_show(FcFeed *feed, const FcErrorSlot *slot)
{
	FcTarget   *target = feed->target;
	bool		grammar = (slot->kind == FC_ERROR_GRAMMAR);

	if (grammar ? !target->options->own_grammar : !fc_feed_is_canonical(target))
	{
		fc_feed_raw_record(feed);
		if (fc_core_show_fed(feed, slot))
			return;
	}
	if (grammar)
		return;
	/* an empty list of columns would mean all */
	if (fc_columns_none(&target->planned->columns))
		return;
	if (fc_feed_record(feed))
		(void) fc_core_show_fed(feed, slot);
}

/* Does the record begin as a comment? */
static bool
fc_core_is_comment(const FcTarget *target, uint64 offset)
{
	char		first;

	if (target->plan->comment == '\0')
		return false;
	fc_source_read(target->source, offset, &first, 1);
	return first == target->plan->comment;
}

/* Throws the error of a malformed record that core does not refuse */
static void
fc_core_throw_grammar(FcFeed *feed)
{
	FcTarget   *target = feed->target;
	FcStream   *stream = fc_stream_begin(target->source, FC_CORE_READ);
	FcDialect  *dialect = &target->shared->dialects[target->source->files[feed->file].eol];
	FcRecord	record;
	FcEnd		end;

	fc_stream_seek(stream, feed->offset);
	end = fc_stream_next(stream, dialect, &record);
	/* core has not found the end of the line */
	feed->unseen = !record.unterminated;
	fc_feed_refuse_grammar(dialect, end, record.unterminated);
}

/*
 * The line that core has come to when it inserts the row at this offset, with
 * those that it has read since it last did
 */
static uint64
fc_core_batch_line(const FcTarget *target, uint64 offset)
{
	const FcFile *file = fc_source_file(target->source, offset);
	FcStream   *stream = fc_stream_begin(target->source, FC_CORE_READ);
	FcDialect  *dialect = &target->shared->dialects[file->eol];
	uint64		line = file->lines_before;
	uint64		rows = 0;
	uint64		bytes = 0;
	FcRecord	record;

	fc_stream_seek_file(stream, fc_source_number(target->source, offset), file->data_start);
	while (fc_stream_next(stream, dialect, &record) == FC_END_FOUND)
	{
		CHECK_FOR_INTERRUPTS();
		line += 1 + record.embedded;
		rows++;
		/* core counts lines, and a tuple is none */
		if (dialect->mode != FC_MODE_BINARY)
			bytes += record.length;
		if (rows < FC_CORE_BATCH_ROWS && bytes < FC_CORE_BATCH_BYTES)
			continue;
		if (record.offset >= offset)
			return line;
		rows = bytes = 0;
	}
	return line + 1;
}

void
fc_core_throw(FcTarget *target)
{
	FcErrorSlot slot = target->shared->errors.first;
	FcUnrouted	row = {target, NULL};
	FcFeed		feed;
	ErrorContextCallback hint;
	ErrorContextCallback class;
	uint64		first;
	uint64		line;

	fc_error_context_push(&class, fc_core_class_hint, target);
	if (slot.kind == FC_ERROR_INDEX)
		ThrowErrorData(fc_error_kept(target->shared));
	first = fc_error_line(&target->ctx, slot.offset, 0);
	line = fc_error_line(&target->ctx, slot.offset, slot.length);
	if (slot.kind == FC_ERROR_BATCH && fc_caller_errors_as_core(target->options->caller) &&
		target->planned->where == NIL && fc_shared_ring(target->shared) == NULL)
		line = fc_core_batch_line(target, slot.offset);
	fc_feed_begin(&feed, target, fc_feed_context);
	fc_feed_name(&feed, slot.offset, slot.length, first, line);
	if (fc_plan_counts(target->plan))
		feed.number = fc_lines_row(fc_lines_begin(&target->ctx), slot.offset);
	feed.unseen = (slot.kind == FC_ERROR_ENTRY || slot.kind == FC_ERROR_BATCH);
	if (slot.kind == FC_ERROR_GRAMMAR && fc_core_is_comment(target, slot.offset))
		fc_feed_refuse_grammar(&target->dialect, FC_END_MALFORMED, false);
	if (!feed.unseen && slot.kind != FC_ERROR_ROW)
		fc_core_show(&feed, &slot);
	if (slot.kind <= FC_ERROR_BATCH)
	{
		/* a process has caught it, without the hint */
		fc_error_context_push(&hint, fc_core_route_hint, &row);
		ThrowErrorData(fc_error_kept(target->shared));
	}
	if (slot.kind == FC_ERROR_ROUTE)
		fc_throw(ERRCODE_CHECK_VIOLATION, errmsg("no partition of relation \"%s\" found for row", target->relname),
				 errtable(target->rel));
	if (slot.kind == FC_ERROR_GRAMMAR)
		fc_core_throw_grammar(&feed);
	elog(ERROR, "record at byte " UINT64_FORMAT " was refused by fast_copy, but not by COPY",
		 slot.offset);
}
