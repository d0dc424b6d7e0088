/*-------------------------------------------------------------------------
 *
 * load/range.c
 *	  The part of a file that one load has.
 *
 *	 | header | loaded before | whole records, no more than | later | footer |
 *			  data_start      data_start of this load		   its end
 *
 * All that follows sees a file that begins and ends there.  The header is read
 * by each load, as it may name the columns.
 *
 * Where a part of so many bytes ends (load/ledger.c), or the last of
 * max_records, the leader finds by reading all up to there, ahead of all
 * others, because only the bytes before an end of line tell whether it is in
 * quotes.  As when a file is converted there is no segment yet that a pace
 * could be kept by.
 *
 * The footer is found from the file's end, by lines.  In a csv file it may
 * begin within quotes, which then do not end: the load is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "load/steps.h"
#include "source/recode.h"

#define FC_RANGE_BLOCK	((uint64) 256 * 1024)

/* Bytes of a file's end at first; most of a footer, and of a line of it */
#define FC_RANGE_TAIL	((uint64) 64 * 1024)
#define FC_RANGE_FOOTER	(16 * 1024 * 1024)
#define FC_RANGE_LINE	8192

/* Adds the bytes from one offset to another */
static void
fc_range_feed(const FcSource *source, const FcDialect *dialect, FcQuoteRun *run, uint64 from, uint64 to)
{
	char	   *buf = palloc(FC_RANGE_BLOCK);

	while (from < to)
	{
		size_t		n = Min(FC_RANGE_BLOCK, to - from);

		CHECK_FOR_INTERRUPTS();
		fc_source_read(source, from, buf, n);
		fc_quote_run_feed(dialect, run, buf, n);
		from += n;
	}
	pfree(buf);
}

/*
 * Finds the end of the last record that ends before "most" bytes, or of the
 * first one; and the lines up to there, which come in as those before "from".
 * Returns "end" if there is nothing after it, or a marker before it.
 */
static uint64
fc_range_end(const FcSource *source, const FcDialect *dialect, uint64 from, uint64 end, uint64 most, uint64 *lines)
{
	FcQuoteRun	run;
	FcQuoteRun	rest;
	uint64		to = from;

	/* as if a line ended just before: a marker may stand at the start */
	fc_quote_run_init(&run, FC_OUTSIDE);
	fc_quote_run_feed(dialect, &run, dialect->eol == FC_EOL_CR ? "\r" : "\n", 1);
	for (uint64 next; to < end && run.records == 1; to = next)
	{
		next = to + Min(most, end - to);
		fc_range_feed(source, dialect, &run, to, next);
	}
	if (to == end || run.marker != FC_NOWHERE)
		return end;
	from += run.last - 1;
	fc_quote_run_init(&rest, FC_OUTSIDE);
	fc_range_feed(source, dialect, &rest, from, to);
	*lines += run.records - 1 + run.embedded - rest.embedded;
	return from;
}

void
fc_range_cut(FcJob *job, uint32 number, uint64 most, bool stand, FcCut *cut)
{
	FcTarget   *target = &job->target;
	FcSource   *source = target->source;
	FcFile	   *file = &source->files[number];
	FcDialect	dialect = target->dialect;
	uint64		end;

	dialect.eol = file->eol;
	if (!stand || source->streamed != 0 || dialect.mode == FC_MODE_BINARY ||
		target->facts.unsettled || target->facts.unconvertible ||
		(target->plan->origins & fc_origin_bit(FC_ORIGIN_ROW)))
	{
		if (cut->start == 0)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot go on with file \"%s\" at byte " UINT64_FORMAT,
						fc_source_path(source, number), cut->start),
				 errdetail("With these options its text is not read in the encoding of its bytes, or records are counted from its start."),
				 errhint("Use the options by which its first part was loaded.")));
	}
	if (cut->start > 0)
	{
		source->passed += cut->start;
		file->data_start = file->base + cut->start;
		file->lines_before = cut->lines;
		file->resumed = true;
	}
	cut->end_lines = file->lines_before;
	end = fc_source_end(source, number);
	if (most == 0 || source->nfiles > 1 || end - file->data_start <= most)
		return;
	cut->end = fc_range_end(source, &dialect, file->data_start, end, most, &cut->end_lines);
	/* the footer goes with the last part */
	if (cut->end == end)
		cut->end = source->size;
	else
	{
		source->passed -= file->footer;
		file->footer = 0;
		source->size = file->identity.size = cut->end;
	}
}

/* The end of a file, as far as it has been read for its footer */
typedef struct FcRangeTail
{
	const FcOptions *options;
	const FcDialect *dialect;
	int			encoding;
	char	   *bytes;
	size_t		len;
	int			lines;			/* of the footer so far */
} FcRangeTail;

/* Does the line match, made a text in the server's encoding? */
static bool
fc_range_matches(const FcRangeTail *tail, char *line, int len)
{
	int			server = GetDatabaseEncoding();
	int			encoding = tail->encoding;
	unsigned char *text;
	bool		matches;

	/* what cannot be converted is no footer, and may be rejected */
	if (len > FC_RANGE_LINE || pg_encoding_verifymbstr(encoding, line, len) < len)
		return false;
	if (encoding == server || encoding == PG_SQL_ASCII || server == PG_SQL_ASCII)
		return fc_edits_footer(tail->options, line, len);
	text = palloc(len * MAX_CONVERSION_GROWTH + 1);
	matches = pg_do_encoding_conversion_buf(fc_recode_proc(encoding), encoding, server, (unsigned char *) line,
											len, text, len * MAX_CONVERSION_GROWTH + 1, true) == len &&
		fc_edits_footer(tail->options, (char *) text, strlen((char *) text));
	pfree(text);
	return matches;
}

/*
 * Finds where the footer begins in the bytes, which end with the file; *more:
 * it may begin before them
 */
static size_t
fc_range_footer_start(FcRangeTail *tail, bool *more)
{
	const FcOptions *options = tail->options;
	char		eol = tail->dialect->eol == FC_EOL_CR ? '\r' : '\n';
	size_t		found = tail->len;
	size_t		next;

	tail->lines = 0;
	for (size_t end = tail->len; end > 0; end = next)
	{
		size_t		len = end - (tail->bytes[end - 1] == eol ? 1 : 0);
		char	   *line;

		CHECK_FOR_INTERRUPTS();
		for (next = len; next > 0 && tail->bytes[next - 1] != eol; next--)
			;
		*more = next == 0;
		line = tail->bytes + next;
		len -= next;
		if (len > 0 && tail->dialect->eol == FC_EOL_CRNL && line[len - 1] == '\r')
			len--;
		/* empty lines go with the footer before them, and so does a marker */
		if (len == 0 || (tail->dialect->mode == FC_MODE_TEXT && len == 2 && memcmp(line, "\\.", 2) == 0))
			continue;
		if (options->footer ? !fc_range_matches(tail, line, (int) Min(len, FC_RANGE_LINE + 1)) : tail->lines == options->footer_lines)
		{
			*more = *more && options->footer && len <= FC_RANGE_LINE;
			break;
		}
		tail->lines++;
		found = next;
	}
	return found;
}

/* ERROR if the line before the footer does not end there: it has a backslash */
static void
fc_range_check_footer(const FcSource *source, const FcRangeTail *tail, size_t start, uint32 number)
{
	size_t		n = 0;

	if (tail->dialect->mode != FC_MODE_TEXT || start == tail->len)
		return;
	start -= Min(start, tail->dialect->eol == FC_EOL_CRNL ? 2 : 1);
	while (n < start && tail->bytes[start - 1 - n] == '\\')
		n++;
	if (n % 2 == 1)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("the footer of %s \"%s\" begins within a record", fc_source_word(source),
						fc_source_path(source, number)),
				 errhint("A backslash before it takes the end of a line with it: look at skip_footer.")));
}

/* Takes the last lines of a file for no records */
static void
fc_range_footer(FcJob *job, uint32 number, const FcDialect *dialect)
{
	const FcTarget *target = &job->target;
	FcFile	   *file = &target->source->files[number];
	uint64		end = fc_source_end(target->source, number);
	FcRangeTail tail = {target->options, dialect, target->form.encoding};
	uint64		most = end - file->data_start;
	bool		more = most > 0;
	size_t		start = 0;

	for (uint64 size = FC_RANGE_TAIL; more; size *= 16)
	{
		if (size > FC_RANGE_FOOTER)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the footer of %s \"%s\" has more than %d bytes", fc_source_word(target->source),
							fc_source_path(target->source, number), FC_RANGE_FOOTER)));
		tail.len = Min(size, most);
		tail.bytes = palloc(tail.len);
		fc_source_read(target->source, end - tail.len, tail.bytes, tail.len);
		start = fc_range_footer_start(&tail, &more);
		more = more && tail.len < most;
		if (!more)
			fc_range_check_footer(target->source, &tail, start, number);
		pfree(tail.bytes);
	}
	file->footer = tail.len - start;
}

/* Cuts the file after so many records; returns how many it may have less */
static uint64
fc_range_records(FcJob *job, uint32 number, FcDialect *dialect, FcStream *stream, uint64 most)
{
	const FcTarget *target = &job->target;
	FcFile	   *file = &target->source->files[number];
	uint64		end = file->data_start;
	uint64		n = 0;
	FcRecord	record;

	fc_stream_seek_file(stream, number, file->data_start);
	while (n < most && fc_stream_next(stream, dialect, &record) == FC_END_FOUND)
	{
		CHECK_FOR_INTERRUPTS();
		n += !fc_plan_skips(target->plan, dialect, record.data, record.length);
		end = record.offset + record.total;
	}
	if (n == most)
		file->footer = file->base + file->identity.size - end;
	return n;
}

void
fc_range_limit(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcOptions *options = target->options;
	FcSource   *source = target->source;
	uint64		left = options->max_records;
	FcStream   *stream;

	if (!fc_options_cut(options))
		return;
	stream = fc_stream_begin(source, FC_RANGE_BLOCK);
	for (uint32 i = 0; i < source->nfiles; i++)
	{
		FcDialect	dialect = target->dialect;

		CHECK_FOR_INTERRUPTS();
		dialect.eol = source->files[i].eol;
		if (options->footer || options->footer_lines > 0)
			fc_range_footer(job, i, &dialect);
		if (options->max_records > 0)
			left -= fc_range_records(job, i, &dialect, stream, left);
		source->passed += source->files[i].footer;
	}
	fc_stream_end(stream);
}
