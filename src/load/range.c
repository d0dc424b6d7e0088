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

#include "load/steps.h"

#define FC_RANGE_BLOCK	((uint64) 256 * 1024)

/* Most bytes of a footer, and of a line of it that matches */
#define FC_RANGE_FOOTER	(4 * 1024 * 1024)
#define FC_RANGE_LINE	8192

/*
 * Where the last of *records records ends, of which it takes off those that
 * are there, or before that the last one that ends before so many bytes, or
 * else the first one.  The end of the file if nothing follows.  Adds the lines
 * up to there.
 */
static uint64
fc_range_end(const FcTarget *target, uint32 number, uint64 *records, uint64 bytes, uint64 *lines)
{
	const FcFile *file = &target->source->files[number];
	FcStream   *stream = fc_stream_begin(target->source, FC_RANGE_BLOCK);
	FcDialect	dialect = target->dialect;
	uint64		end = file->data_start;
	FcRecord	record;

	dialect.eol = file->eol;
	fc_stream_seek_file(stream, number, end);
	while (*records > 0)
	{
		FcEnd		found = fc_stream_next(stream, &dialect, &record);
		uint64		after = found == FC_END_FOUND ? record.offset + record.total :
			fc_source_end(target->source, number);

		CHECK_FOR_INTERRUPTS();
		/* what cannot be found is long, but nothing follows a marker */
		if (end > file->data_start && after - file->data_start > bytes && found != FC_END_MARKER)
			break;
		end = after;
		if (found != FC_END_FOUND)
			break;
		if (!fc_plan_skips(target->plan, &dialect, record.data, record.length))
			(*records)--;
		*lines += 1 + record.embedded;
	}
	fc_stream_end(stream);
	return end;
}

void
fc_range_cut(FcJob *job, uint32 number, uint64 most, bool stand, FcCut *cut)
{
	FcTarget   *target = &job->target;
	FcSource   *source = target->source;
	FcFile	   *file = &source->files[number];
	uint64		records = PG_UINT64_MAX;
	uint64		end;

	if (!stand || source->streamed != 0 || target->dialect.mode == FC_MODE_BINARY ||
		target->facts.unsettled ||
		(target->plan->origins & fc_origin_bit(FC_ORIGIN_ROW)))
	{
		if (cut->start == 0)
			return;
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("cannot go on with file \"%s\" at byte " UINT64_FORMAT,
																  fc_source_path(source, number), cut->start),
				 errdetail("With these options its text is not read in the encoding of its bytes, or records are counted from its start."),
				 errhint("Use the options by which its first part was loaded."));
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
	cut->end = fc_range_end(target, number, &records, most, &cut->end_lines);
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

/*
 * Is the line the footer's, of which there are so many after it?  Leaves its
 * memory in the context, for the next line to take.
 */
static bool
fc_range_is_footer(const FcTarget *target, MemoryContext mcxt, char *line, size_t len, int after)
{
	int			encoding = target->form.encoding;
	MemoryContext old;
	char	   *text;
	bool		is;

	if (target->options->footer == NULL)
		return after < target->options->footer_lines;
	/* what is no text is no footer, and may be rejected */
	if (len > FC_RANGE_LINE || pg_encoding_verifymbstr(encoding, line, (int) len) < (int) len)
		return false;
	MemoryContextReset(mcxt);
	old = MemoryContextSwitchTo(mcxt);
	text = pg_any_to_server(pnstrdup(line, len), (int) len, encoding);
	is = fc_edits_footer(target->options, text, strlen(text));
	MemoryContextSwitchTo(old);
	return is;
}

/*
 * Finds where the footer begins in the last bytes of a file; 0 if perhaps
 * before them, where there are so many
 */
static size_t
fc_range_footer_start(const FcTarget *target, MemoryContext mcxt, FcEol style, char *bytes, size_t size)
{
	char		eol = style == FC_EOL_CR ? '\r' : '\n';
	size_t		found = size;
	int			lines = 0;
	size_t		next;

	for (size_t end = size; end > 0; end = next)
	{
		size_t		len = end - (bytes[end - 1] == eol ? 1 : 0);
		char	   *line;

		CHECK_FOR_INTERRUPTS();
		for (next = len; next > 0 && bytes[next - 1] != eol; next--)
			;
		line = bytes + next;
		len -= next;
		if (len > 0 && (style == FC_EOL_CRNL || target->dialect.json) && line[len - 1] == '\r')
			len--;
		/* empty lines go with the footer before them, and so does a marker */
		if (fc_record_is_empty(&target->dialect, line, len) || (target->dialect.mode == FC_MODE_TEXT && !target->dialect.raw && len == 2 && memcmp(line, "\\.", 2) == 0))
			continue;
		if (!fc_range_is_footer(target, mcxt, line, len, lines))
		{
			/* what lines match may have comments after it */
			if (target->options->footer && fc_plan_skips(target->plan, &target->dialect, line, len))
				continue;
			return found;
		}
		lines++;
		found = next;
	}
	return size == FC_RANGE_FOOTER ? 0 : found;
}

/* Takes the last lines of a file for no records */
static void
fc_range_footer(const FcTarget *target, uint32 number)
{
	const FcSource *source = target->source;
	FcFile	   *file = &source->files[number];
	uint64		end = fc_source_end(source, number);
	size_t		size = Min(end - file->data_start, FC_RANGE_FOOTER);
	char	   *bytes = palloc(size + 1);
	MemoryContext mcxt = fc_context_memory(CurrentMemoryContext, "footer");
	size_t		start;
	size_t		n = 0;

	fc_source_read(source, end - size, bytes, size);
	start = fc_range_footer_start(target, mcxt, file->eol, bytes, size);
	MemoryContextDelete(mcxt);
	if (start == 0 && size == FC_RANGE_FOOTER)
		fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg("the footer of %s \"%s\" has more than %d bytes", fc_source_word(source),
														fc_source_path(source, number), FC_RANGE_FOOTER));
	file->footer = size - start;
	/* does the line before it end there? */
	start -= Min(start, file->eol == FC_EOL_CRNL ? 2 : 1);
	while (target->dialect.mode == FC_MODE_TEXT && !target->dialect.raw && file->footer > 0 && n < start && bytes[start - 1 - n] == '\\')
		n++;
	if (n % 2 == 1)
		fc_format_error(errmsg("the footer of %s \"%s\" begins within a record", fc_source_word(source),
							   fc_source_path(source, number)),
						errhint("A backslash before it takes the end of a line with it: look at skip_footer."));
	pfree(bytes);
}

void
fc_range_limit(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcOptions *options = target->options;
	FcSource   *source = target->source;
	uint64		left = options->max_records;

	if (!fc_options_cut(options))
		return;
	for (uint32 i = 0; i < source->nfiles; i++)
	{
		FcFile	   *file = &source->files[i];
		uint64		lines = 0;

		CHECK_FOR_INTERRUPTS();
		if (options->footer || options->footer_lines > 0)
			fc_range_footer(target, i);
		if (options->max_records > 0)
			file->footer = file->base + file->identity.size -
				fc_range_end(target, i, &left, PG_UINT64_MAX, &lines);
		source->passed += file->footer;
	}
}
