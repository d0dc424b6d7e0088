/*-------------------------------------------------------------------------
 *
 * load/range.c
 *	  The part of a large file that one load has, for load/ledger.c.
 *
 *	 | header | loaded before | whole records, at most so many bytes | later |
 *			  data_start      data_start of this load				 its end
 *
 * All that follows sees a file that begins and ends there.  The header is read
 * by each load, as it may name the columns.
 *
 * The leader reads the part once, ahead of all others, because only the bytes
 * before an end of line tell whether it is in quotes.  As when a file is
 * converted there is no segment yet that a pace could be kept by.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"

#define FC_RANGE_BLOCK	((uint64) 256 * 1024)

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
	if (most == 0 || source->nfiles > 1 || source->size - file->data_start <= most)
		return;
	cut->end = source->size = file->identity.size =
		fc_range_end(source, &dialect, file->data_start, source->size, most, &cut->end_lines);
}
