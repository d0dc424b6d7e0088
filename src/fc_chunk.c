/*-------------------------------------------------------------------------
 *
 * fc_chunk.c
 *	  Cuts a file into chunks at records without reading it serially.
 *
 *	chunk 0        chunk 1        chunk 2          workers, in any order
 *	   |              |              |
 *	a run for each state the chunk may begin in    fc_chunk_feed
 *	   |              |              |
 *	   +-- state ---> +-- state ---> +-- state     fc_chunk_resolve, serial
 *	   |              |              |
 *	first record, line                             FcChunkStart
 *
 * Most of what is serial in CSV is the one question whether a byte stands in
 * quotes; the runs answer it for all chunks at once and the serial pass costs
 * a few additions per chunk.  Nothing is allocated here.
 *
 *-------------------------------------------------------------------------
 */
#include "fc_chunk.h"

#include <string.h>

/* bytes given to one run after another; fits a first-level cache */
#define SLICE	((size_t) 16384)

/* Begins a chunk, see fc_chunk.h. */
void
fc_chunk_begin(const FcDialect *dialect, FcChunkScan *scan)
{
	memset(scan, 0, sizeof(*scan));
	/* FC_ESCAPED is the last state, and cannot occur with a mere toggle */
	scan->nruns = dialect->escape == dialect->quote ? FC_ESCAPED : FC_NQUOTES;
	for (int i = 0; i < scan->nruns; i++)
		fc_run_init(&scan->run[i], (FcQuote) i);
}

/* Feeds the chunk's next len bytes to all runs, see fc_chunk.h. */
void
fc_chunk_feed(const FcDialect *dialect, FcChunkScan *scan,
			  const char *buf, size_t len)
{
	while (len > 0)
	{
		size_t		slice = len < SLICE ? len : SLICE;

		for (int i = 0; i < scan->nruns; i++)
			fc_run_feed(dialect, &scan->run[i], buf, slice);
		buf += slice;
		len -= slice;
	}
}

/* Writes the report of a chunk that was fed whole, see fc_chunk.h. */
void
fc_chunk_finish(const FcChunkScan *scan, FcChunk *chunk)
{
	chunk->length = scan->run[0].fed;
	memset(chunk->run, 0, sizeof(chunk->run));
	for (int i = 0; i < scan->nruns; i++)
	{
		const FcRun *run = &scan->run[i];
		FcChunkRun *report = &chunk->run[i];

		report->records = run->records;
		report->embedded = run->embedded;
		report->first = run->first;
		report->before = run->before;
		report->state = run->state;
		report->ends_record = run->last == run->fed;
	}
}

/*
 * Describes the beginning of a chunk, not empty, that lies behind "at".
 */
static void
describe_start(const FcChunk *chunk, const FcChunkPoint *at,
			   FcChunkStart *start)
{
	const FcChunkRun *run = &chunk->run[at->state];

	start->records = run->records;
	if (at->starts_record)
	{
		start->records++;
		start->first = chunk->start;
	}
	else if (run->first < chunk->length)	/* nor FC_NOWHERE */
	{
		start->first = chunk->start + run->first;
		start->first_line += run->before + 1;
	}

	/* what starts behind the last byte is the next chunk's, or nobody's */
	if (run->ends_record)
		start->records--;
}

/* The serial pass, see fc_chunk.h. */
bool
fc_chunk_resolve(const FcChunk *chunks, size_t n, FcChunkPoint *at,
				 FcChunkStart *starts)
{
	for (size_t i = 0; i < n; i++)
	{
		const FcChunk *chunk = &chunks[i];
		const FcChunkRun *run = &chunk->run[at->state];
		FcChunkStart *start = &starts[i];

		if (i > 0 && chunk->start != chunks[i - 1].start + chunks[i - 1].length)
			return false;

		start->state = at->state;
		start->line = at->line;
		start->first = FC_NOWHERE;
		start->first_line = at->line;
		start->records = 0;
		if (chunk->length == 0)
			continue;

		describe_start(chunk, at, start);
		at->state = run->state;
		at->starts_record = run->ends_record;
		at->line += run->records + run->embedded;
		at->records += start->records;
	}
	return true;
}
