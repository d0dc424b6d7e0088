/*-------------------------------------------------------------------------
 *
 * load/header.c
 *	  The headers of the files, and how their lines end.
 *
 *	 header lines ──► encoding, names ──► first record ──► line end
 *
 * With header "match" core compares the names with the columns; with "map" the
 * names tell which column each field is.  Core reads the header of a binary
 * file.  The names live in the load's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "copyfrom/feed.h"
#include "load/steps.h"
#include "source/client.h"

/*
 * Finds out from the first record how lines end, if the header did not show
 * it.  COPY counts each '\r' in quotes as a line until it knows, and then
 * perhaps each '\n'.  We count one of the two: the difference in the first
 * record is taken off the number of lines before it.
 */
static void
fc_header_first_record(FcJob *job, FcStream *stream, uint32 i)
{
	FcTarget   *target = &job->target;
	FcDialect  *dialect = &target->dialect;
	FcFile	   *file = &target->source->files[i];
	FcRecord	record;
	FcQuoteRun	run;
	FcEnd		end;

	if (dialect->eol != FC_EOL_UNKNOWN)
		return;
	end = fc_stream_next(stream, dialect, &record);
	if (end == FC_END_NONE)
		record.total = record.embedded = 0;
	if (end == FC_END_MARKER)
		file->data_start = fc_source_end(target->source, i);
	/* after "x\.\n", which is a row, only core can tell how lines end */
	file->unsettled = (end == FC_END_FOUND && record.marked);
	if (dialect->eol == FC_EOL_UNKNOWN)
		dialect->eol = FC_EOL_NL;
	fc_quote_run_init(&run, FC_OUTSIDE);
	fc_quote_run_feed(dialect, &run, record.data, record.total);
	file->lines_before -= run.embedded - record.embedded;
}

/* The line of a fault that is found in a header, for the error context */
typedef struct FcLineContext
{
	FcTarget   *target;
	uint32		file;
	uint64		line;
	const FcRecord *record;		/* NULL: its bytes are not known */
} FcLineContext;

static void
fc_header_line_context(void *arg)
{
	FcLineContext *context = arg;
	FcRefused	refused = {context->target,.file = context->file};

	if (context->record && fc_hint_about(context->target->options) == FC_REFUSED_BYTES)
	{
		refused.what = FC_REFUSED_BYTES;
		refused.offset = context->record->offset;
		refused.length = context->record->total;
		fc_hint(&refused);
	}
	errcontext("%s, line " UINT64_FORMAT,
			   fc_target_place(context->target, context->file), context->line);
}

/* Would core ask the client for more before it takes the line as ended? */
static bool
fc_header_is_open(const FcTarget *target, FcEnd end, const FcRecord *record, uint32 file)
{
	if (end != FC_END_FOUND)
		return end == FC_END_NONE;
	return record->total == record->length ||
		(fc_client_ends_in_return(target->given_up) &&
		 record->offset + record->total == fc_source_end(target->source, file));
}

/*
 * Throws COPY's error if a line of the header is malformed, or if the client
 * has given up before the end of the line
 */
static void
fc_header_check_line(FcJob *job, FcEnd end, const FcRecord *record, uint32 file,
					 uint64 line)
{
	FcTarget   *target = &job->target;
	FcLineContext context = {target, file, line};
	ErrorContextCallback callback;

	fc_error_context_push(&callback, fc_header_line_context, &context);
	if (target->given_up && target->options->client &&
		fc_header_is_open(target, end, record, file))
		fc_client_check_whole(target->given_up);
	fc_feed_refuse_grammar(&job->target.dialect, end, false);
	fc_error_context_pop();
}

/* Counts the line ends in quotes that core has met before byte "pos" */
static uint64
fc_header_embedded(FcJob *job, const FcRecord *record, uint64 line, int pos)
{
	FcDialect	dialect = job->target.dialect;
	FcQuoteRun	run;

	if (line == 1)
		dialect.eol = FC_EOL_UNKNOWN;
	fc_quote_run_init(&run, FC_OUTSIDE);
	/* core looks at the byte after '\r' before it counts the line */
	fc_quote_run_feed(&dialect, &run, record->data,
					  pos > 0 && record->data[pos - 1] == '\r' ? pos - 1 : pos);
	return run.embedded;
}

/*
 * Verifies and converts a header line only for the errors, as COPY does if it
 * does not need the names.  Before it throws the error of a bad character it
 * adds to *line the line ends in quotes before the character.
 */
static void
fc_header_check_encoding(FcJob *job, const FcRecord *record, uint64 *line)
{
	FcTarget   *target = &job->target;
	int			encoding = target->form.encoding;
	int			server = GetDatabaseEncoding();
	bool		convert = encoding != server && encoding != PG_SQL_ASCII && server != PG_SQL_ASCII;
	int			good = convert ? fc_recode_good(target->source, encoding, record->offset, record->offset + record->total) - record->offset :
		pg_encoding_verifymbstr(encoding, record->data, record->total);

	if (good == record->total)
		return;
	*line += fc_header_embedded(job, record, *line, good);
	if (target->original)
		fc_feed_refuse_original(target, record->offset);
	fc_recode_refuse(target->source, encoding, record->offset + good);
}

/*
 * Takes the columns from the header for header => 'map'; those of other files
 * may have others
 */
static void
fc_header_map(FcJob *job, const FcRecord *record, uint32 file)
{
	FcTarget   *target = &job->target;
	FcFileForm	other = {.encoding = target->form.encoding};
	MemoryContext old;

	target->form.extra = other.extra = target->options->transforms != NIL || target->options->delete_where;

	/* a program that has failed prints no names */
	if (record->total == 0)
		fc_receive_check_whole(&job->intake);
	fc_columns_map(target->rel, target->options, &target->dialect, record->data,
				   record->length, file == 0 ? &target->form : &other);
	if (file == 0)
		return;
	old = MemoryContextSwitchTo(job->mcxt);
	target->source->files[file].header = fc_columns_join(&target->form, &other);
	MemoryContextSwitchTo(old);
}

/*
 * Once the headers of all files are read: makes the columns of all of them
 * those of the load.  A column that a file lacks has its default there, as if a
 * field stood for that: a string that no field can be.
 */
static void
fc_header_join(FcTarget *target)
{
	FcOptions  *options = unconstify(FcOptions *, target->options);

	if (list_length(target->form.headers) < 2)
		target->form.headers = NIL;
	target->form.columns = fc_columns_names(target->rel, target->form.fields);
	if (options->default_string || !fc_columns_any_default(target->rel, options, &target->form))
		return;
	options->default_string = pstrdup(options->delimiter);
	target->dialect.default_string = options->default_string;
	target->dialect.default_len = strlen(options->default_string);
}

/* Takes or compares the names; most headers are the first, byte by byte */
static void
fc_header_names(FcJob *job, const FcRecord *record, uint32 file)
{
	if (file > 0 && record->total == job->header->len &&
		memcmp(record->data, job->header->data, record->total) == 0)
		return;
	if (job->target.options->header_match)
		fc_core_match_header(&job->target, file, record);
	if (job->target.options->header_map)
		fc_header_map(job, record, file);
	if (file > 0)
		return;
	job->header = makeStringInfo();
	appendBinaryStringInfo(job->header, record->data, record->total);
}

/* Checks one line of a header; the last one has the names */
static void
fc_header_line(FcJob *job, const FcRecord *record, uint32 file, int line)
{
	FcTarget   *target = &job->target;
	FcLineContext context = {target, file, target->source->files[file].lines_before + 1, record};
	ErrorContextCallback callback;
	bool		last = (line == target->options->header_lines);

	fc_error_context_push(&callback, fc_header_line_context, &context);
	fc_header_check_encoding(job, record, &context.line);
	/* the context says which of several files has the wrong names */
	if (last && target->options->header_map && target->source->nfiles > 1)
		fc_header_names(job, record, file);
	fc_error_context_pop();
	if (last && (target->options->header_match ||
				 (target->options->header_map && target->source->nfiles == 1)))
		fc_header_names(job, record, file);
}

static void
fc_header_read_file(FcJob *job, FcStream *stream, uint32 i)
{
	FcTarget   *target = &job->target;
	FcFile	   *file = &target->source->files[i];
	FcRecord	record;

	target->dialect.eol = FC_EOL_UNKNOWN;
	file->data_start = file->base;
	file->footer = file->lines_before = 0;
	file->eol = FC_EOL_UNKNOWN;
	if (target->dialect.mode == FC_MODE_BINARY)
	{
		fc_core_binary_header(target, i);
		return;
	}
	fc_stream_seek_file(stream, i, file->base);
	for (int line = 1; line <= target->options->header_lines; line++)
	{
		uint64		lines = file->lines_before;
		FcEnd		end = fc_stream_next_but(stream, &target->dialect, target->options->comment, &record, &lines);

		CHECK_FOR_INTERRUPTS();
		if (end == FC_END_NONE)
			record.length = record.total = 0;
		else
			file->lines_before = lines;
		fc_header_check_line(job, end, &record, i, file->lines_before + 1);
		fc_header_line(job, &record, i, line);
		if (end == FC_END_NONE)
			break;
		if (record.marked)
		{
			file->data_start = fc_source_end(target->source, i);
			break;
		}
		file->data_start = record.offset + record.total;
		file->lines_before += 1 + record.embedded;
	}
	fc_header_first_record(job, stream, i);
	file->eol = target->dialect.eol;
	target->facts.unsettled |= file->unsettled;
}

/*
 * Looks how many fields the first record has that has any, where others than
 * columns are ignored; a record with another number of them takes longer
 */
static void
fc_header_count(FcTarget *target, FcStream *stream)
{
	FcRecord	record;

	for (uint32 i = 0; i < target->source->nfiles && target->form.nfields == 0; i++)
	{
		FcDialect	dialect = target->dialect;
		uint64		lines = 0;

		CHECK_FOR_INTERRUPTS();
		dialect.eol = target->source->files[i].eol;
		fc_stream_seek_file(stream, i, target->source->files[i].data_start);
		if (fc_stream_next_but(stream, &dialect, target->options->comment, &record, &lines) == FC_END_FOUND)
			target->form.nfields = fc_columns_of_record(&dialect, record.data, record.length);
	}
}

void
fc_header_read(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcStream   *stream = fc_stream_begin(target->source, 65536);
	MemoryContext mcxt = fc_context_memory(CurrentMemoryContext, "header");

	for (uint32 i = 0; i < target->source->nfiles; i++)
	{
		/* the names of the first header outlive the loop */
		MemoryContext old = MemoryContextSwitchTo(i == 0 ? job->mcxt : mcxt);

		CHECK_FOR_INTERRUPTS();
		fc_header_read_file(job, stream, i);
		MemoryContextSwitchTo(old);
		MemoryContextReset(mcxt);
	}
	if (target->options->header_map)
		fc_header_join(target);
	if (target->options->drops && target->planned == NULL)
		fc_header_count(target, stream);
	MemoryContextDelete(mcxt);
	fc_stream_end(stream);
}
