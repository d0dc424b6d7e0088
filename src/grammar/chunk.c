/*-------------------------------------------------------------------------
 *
 * grammar/chunk.c
 *	  Cuts a file into chunks at records without reading it serially.
 *
 *	chunk 0        chunk 1        chunk 2          processes, in any order
 *	   |              |              |
 *	a run for each state the chunk may begin in    fc_chunk_feed
 *	   |              |              |
 *	   +-- state ---> +-- state ---> +-- state     fc_chunk_resolve, serial
 *	   |              |              |
 *	first record, line                             FcChunkStart
 *
 * The serial pass costs a few additions for each chunk.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/chunk.h"

#include <string.h>

/* bytes given to one run after another; fits a first-level cache */
#define SLICE	((size_t) 16384)

/* Can a byte of the file stand in this state? */
static bool
state_occurs(const FcDialect *dialect, FcQuote state)
{
	if (dialect->mode != FC_MODE_CSV)
		return state == FC_OUTSIDE ||
			(state == FC_ESCAPED && dialect->mode == FC_MODE_TEXT && !dialect->raw);
	/* where the escape is the quote, a quote only toggles */
	return state != FC_ESCAPED || dialect->escape != dialect->quote;
}

void
fc_chunk_begin(const FcDialect *dialect, FcChunkScan *scan)
{
	memset(scan, 0, offsetof(FcChunkScan, walk));
	for (int i = 0; i < FC_NQUOTES; i++)
	{
		scan->occurs[i] = state_occurs(dialect, (FcQuote) i);
		fc_quote_run_init(&scan->run[i], (FcQuote) i);
	}
}

/*
 * Joins a run to another that must find the same from here on: where both have
 * met the same record end, they were in the same state.
 */
static void
join_run(FcChunkScan *scan, int i, int with)
{
	const FcQuoteRun *run = &scan->run[i];
	const FcQuoteRun *other = &scan->run[with];

	if (run->last != other->last || run->last == FC_NOWHERE ||
		run->marker != other->marker)
		return;
	Assert(with < i && run->fed == other->fed);
	scan->joined[i] = true;
	scan->with[i] = (FcQuote) with;
	scan->records[i] = run->records - other->records;
	scan->embedded[i] = run->embedded - other->embedded;
}

void
fc_chunk_feed(const FcDialect *dialect, FcChunkScan *scan,
			  const char *buf, size_t len)
{
	if (dialect->mode == FC_MODE_BINARY)
	{
		fc_walk_feed(dialect, &scan->walk, &scan->run[FC_OUTSIDE], buf, len);
		return;
	}
	for (uint64_t at = scan->run[FC_OUTSIDE].fed, i = 0;
		 at < sizeof(scan->head) && i < len; at++, i++)
		scan->head[at] = buf[i];
	if (dialect->mode == FC_MODE_CSV && dialect->escape == dialect->quote)
	{
		fc_quote_run_feed_pair(dialect, &scan->run[FC_OUTSIDE],
						 &scan->run[FC_INSIDE], buf, len);
		return;
	}
	while (len > 0)
	{
		size_t		slice = len < SLICE ? len : SLICE;

		for (int i = 0; i < FC_NQUOTES; i++)
		{
			if (!scan->occurs[i] || scan->joined[i])
				continue;
			fc_quote_run_feed(dialect, &scan->run[i], buf, slice);
			for (int with = 0; with < i && !scan->joined[i]; with++)
				if (scan->occurs[with] && !scan->joined[with])
					join_run(scan, i, with);
		}
		buf += slice;
		len -= slice;
	}
}

/*
 * What the run would be if it had been fed to the end.
 */
static FcQuoteRun
whole_run(const FcChunkScan *scan, int i)
{
	FcQuoteRun	run;

	if (!scan->joined[i])
		return scan->run[i];
	run = whole_run(scan, scan->with[i]);
	run.first = scan->run[i].first;
	run.before = scan->run[i].before;
	run.records += scan->records[i];
	run.embedded += scan->embedded[i];
	return run;
}

/* Writes the report of a chunk that was fed whole */
void
fc_chunk_finish(const FcChunkScan *scan, FcChunk *chunk)
{
	chunk->length = scan->run[FC_OUTSIDE].fed;
	memcpy(chunk->head, scan->head, sizeof(chunk->head));
	memset(chunk->run, 0, sizeof(chunk->run));
	for (int i = 0; i < FC_NQUOTES; i++)
		if (scan->occurs[i])
		{
			FcQuoteRun	run = whole_run(scan, i);

			chunk->run[i] = (FcChunkRun) {run.records, run.embedded, run.first, run.before, run.marker,
			run.state, run.last == run.fed, run.opened};
		}
}

/*
 * Notes the first marker of the file, if it ends in this chunk.  The chunk is
 * not empty and begins at "at".
 */
static void
find_marker(const FcDialect *dialect, const FcChunk *chunk, FcChunkPoint *at)
{
	const FcChunkRun *run = &chunk->run[at->state];
	const char *rest = fc_dialect_marker(dialect) + at->opened;
	size_t		left = strlen(rest);
	size_t		n = chunk->length < left ? chunk->length : left;
	bool		begun = n > 0 && (at->starts_record || at->opened > 0) &&
		memcmp(chunk->head, rest, n) == 0;

	if (at->marker == FC_NOWHERE && begun && n == left)
		at->marker = chunk->start - at->opened;
	else if (at->marker == FC_NOWHERE && run->marker != FC_NOWHERE)
		at->marker = chunk->start + run->marker;
	at->opened = begun && n < left ? at->opened + n : run->opened;
}

/*
 * Describes the beginning of a chunk that is not empty and begins at "at".
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

	/* a record that starts after the last byte is the next chunk's, if any */
	if (run->ends_record)
		start->records--;
}

bool
fc_chunk_resolve(const FcDialect *dialect, const FcChunk *chunks, size_t n,
				 FcChunkPoint *at, FcChunkStart *starts)
{
	for (size_t i = 0; i < n; i++)
	{
		const FcChunk *chunk = &chunks[i];
		const FcChunkRun *run = &chunk->run[at->state];
		FcChunkStart *start = &starts[i];

		if (i > 0 && chunk->start != chunks[i - 1].start + chunks[i - 1].length)
			return false;

		Assert(at->state < FC_NQUOTES && (chunk->length == 0 || at->opened < sizeof(chunk->head)));
		*start = (FcChunkStart) {
			at->state, at->line, FC_NOWHERE, at->line,.before = at->records
		};
		if (chunk->length == 0)
			continue;

		describe_start(chunk, at, start);
		find_marker(dialect, chunk, at);
		at->state = run->state;
		at->starts_record = run->ends_record;
		at->line += run->records + run->embedded;
		at->records += start->records;
	}
	return true;
}
