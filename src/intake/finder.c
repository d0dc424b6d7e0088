/*-------------------------------------------------------------------------
 *
 * intake/finder.c
 *	  Finds chunks in bytes as they come, and lets other processes take them.
 *
 *	 bytes in order ──► chunks ──► published ──► phase/scan.c, phase/load.c
 *
 * A process that sees all bytes of a file in order knows at once where the
 * first record of each chunk begins, without the leader's pass over all
 * chunks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "context/process.h"
#include "intake/finder.h"

/*
 * How many chunks a file will have is not known, and it has room for a fixed
 * number of them.  Chunks have the size that was asked for while half of the
 * room is free; from then on the size doubles with each 32nd part of the room.
 */
#define FC_FINDER_STEPS	32

#define FC_FINDER_BLOCK	((size_t) 256 * 1024)	/* bytes read at a time */

static uint64
fc_finder_chunk_size(const FcFinder *finder)
{
	const FcShared *shared = finder->ctx->shared;
	const FcSharedSource *source = &shared->source;
	/* half of a ring's room keeps finished chunks, for the line of an error */
	uint32		room = source->places ? source->places / 2 : source->room - source->ahead;
	uint32		half = room / 2;
	uint32		step = Max(room / FC_FINDER_STEPS, 1);
	uint64		size = source->chunk_size;
	uint32		taken = finder->found.n;
	const FcRing *ring = fc_shared_ring(shared);

	/* in a ring the room of finished chunks is free */
	if (source->places)
		taken -= pg_atomic_read_u32(&finder->ctx->turns[0].next);
	Assert(room > 0 && size > 0);
	if (taken + 1 >= room)
		return PG_UINT64_MAX;
	if (taken >= half)
		size <<= (taken - half) / step + 1;
	return ring ? Min(size, ring->size / 4) : size;
}

/* Lets other processes take the first n chunks, whose bytes are in the copy */
static void
fc_finder_publish(FcFinder *finder, uint32 n, bool whole)
{
	Assert(n >= pg_atomic_read_u32(&finder->inflow->published) && n <= finder->found.n);
	Assert(pg_atomic_read_u32(&finder->inflow->whole) == 0);
	if (n == pg_atomic_read_u32(&finder->inflow->published) && !whole)
		return;
	pg_write_barrier();
	pg_atomic_write_u32(&finder->inflow->published, n);
	pg_write_barrier();
	if (whole)
		pg_atomic_write_u32(&finder->inflow->whole, 1);
	ConditionVariableBroadcast(&finder->ctx->shared->inflow_cv);
}

/*
 * Makes the bytes in the copy readable to other processes, and publishes
 * chunks up to the last one in which a record begins: the records of those
 * before it are complete, line ends included.  Chunks from the marker on are
 * held back until the file ends.
 */
static void
fc_finder_tell(FcFinder *finder)
{
	/* other processes read up to the size meanwhile: it must not shrink */
	pg_write_barrier();
	finder->file->identity.size = Max(finder->file->identity.size,
									  finder->found.offset - finder->file->base);
	fc_finder_publish(finder, Min(finder->found.known, finder->found.held), false);
}

static FcChunk *
fc_finder_chunk(const FcFinder *finder, uint32 i)
{
	Assert(finder->ctx->shared->source.places > 0 || i < finder->ctx->shared->source.room);
	return fc_shared_chunk(finder->ctx->shared, finder->first + i);
}

static FcChunkStart *
fc_finder_start(const FcFinder *finder, uint32 i)
{
	return fc_shared_start(finder->ctx->shared, finder->first + i);
}

/* Ends the chunk, and notes where its records begin */
static void
fc_finder_end_chunk(FcFinder *finder)
{
	FcChunk    *chunk = fc_finder_chunk(finder, finder->found.n);
	FcChunkStart *start = fc_finder_start(finder, finder->found.n);

	fc_chunk_finish(&finder->scan, chunk);
	Assert(chunk->start + chunk->length == finder->found.offset);
	finder->left = 0;
	(void) fc_chunk_resolve(finder->dialect, chunk, 1, &finder->found.at, start);
	/* the marker may begin in a chunk before the one that it ends in */
	if (finder->found.at.marker != FC_NOWHERE && finder->found.held == PG_UINT32_MAX)
		for (finder->found.held = finder->found.n;
			 fc_finder_chunk(finder, finder->found.held)->start > finder->found.at.marker;)
			finder->found.held--;
	if (start->first != FC_NOWHERE)
		finder->found.known = finder->found.n;
	finder->found.n++;
}

void
fc_finder_pause(FcFinder *finder)
{
	if (finder->left > 0)
		fc_finder_end_chunk(finder);
}

/*
 * Ends the chunk in which a binary record is malformed, and publishes it at
 * once, so that the load meets the error: no record can be found after it.
 */
static void
fc_finder_meet_bad(FcFinder *finder)
{
	if (finder->bad || !finder->scan.walk.bad)
		return;
	finder->bad = true;
	fc_finder_pause(finder);
	finder->found.known = finder->found.n;
}

void
fc_finder_look(void *arg, const char *buf, size_t len)
{
	FcFinder   *finder = arg;
	uint64		skip = 0;
	size_t		looked = len;

	if (finder->found.offset < finder->file->data_start)
		skip = Min(len, finder->file->data_start - finder->found.offset);
	finder->found.offset += skip;
	for (buf += skip, len -= skip; len > 0;)
	{
		size_t		n;

		if (finder->left == 0)
		{
			fc_finder_chunk(finder, finder->found.n)->start = finder->found.offset;
			finder->left = fc_finder_chunk_size(finder);
			fc_chunk_begin(finder->dialect, &finder->scan);
		}
		n = Min(len, finder->left);
		fc_chunk_feed(finder->dialect, &finder->scan, buf, n);
		pg_atomic_fetch_add_u64(&finder->ctx->shared->counts.split_bytes, n);
		finder->found.offset += n;
		buf += n;
		len -= n;
		finder->left -= n;
		if (finder->left == 0)
			fc_finder_end_chunk(finder);
		fc_finder_meet_bad(finder);
	}
	fc_finder_tell(finder);
	/* bytes in a ring are paced by the processes that read them */
	if (fc_shared_ring(finder->ctx->shared) == NULL)
		fc_context_pace(finder->ctx, looked);
}

void
fc_finder_look_back(FcFinder *finder, uint32 copy, uint64 at, uint64 size)
{
	char	   *buf = palloc(FC_FINDER_BLOCK);

	for (uint64 end = at + size; at < end;)
	{
		size_t		n = Min(end - at, FC_FINDER_BLOCK);

		fc_source_read_copy(finder->ctx->source, copy, at, buf, n);
		fc_finder_look(finder, buf, n);
		at += n;
	}
	pfree(buf);
}

void
fc_finder_begin(FcFinder *finder, FcContext *ctx, uint32 number, const FcFound *found)
{
	FcShared   *shared = ctx->shared;
	FcFile	   *file = &fc_shared_files(shared)[number];

	memset(finder, 0, sizeof(FcFinder));
	Assert(number < shared->source.nfiles && shared->source.room > 0);
	finder->ctx = ctx;
	finder->dialect = &shared->dialects[file->eol];
	finder->file = file;
	finder->inflow = &fc_shared_inflow(shared)[number];
	finder->first = shared->source.room * number;
	if (found)
	{
		finder->found = *found;
		finder->inflow->uneven = true;
		return;
	}
	finder->found.offset = file->base;
	finder->found.at = (FcChunkPoint)
	{
		FC_OUTSIDE, true, file->lines_before, 0, 0, FC_NOWHERE
	};
	finder->found.held = PG_UINT32_MAX;
}

void
fc_finder_read_chunk(FcContext *ctx, FcChunkScan *scan, FcChunk *chunk)
{
	uint64		start = chunk->start;
	uint64		end = start + chunk->length;
	const FcDialect *dialect = fc_context_dialect(ctx, start);
	char	   *buf = palloc(FC_FINDER_BLOCK);

	fc_chunk_begin(dialect, scan);
	for (uint64 pos = start; pos < end;)
	{
		size_t		len = Min(FC_FINDER_BLOCK, end - pos);

		fc_source_read(ctx->source, pos, buf, len);
		fc_chunk_feed(dialect, scan, buf, len);
		pg_atomic_fetch_add_u64(&ctx->shared->counts.split_bytes, len);
		pos += len;
		fc_context_pace(ctx, len);
		fc_context_progress(ctx);
	}
	fc_chunk_finish(scan, chunk);
	Assert(chunk->start == start && chunk->length == end - start);
	pfree(buf);
}

/*
 * Only the chunk in which the data end is read again; not even that if they
 * end with a tuple
 */
void
fc_finder_cut_chunk(FcContext *ctx, FcChunk *chunk, uint64 end)
{
	FcChunkScan scan;

	if (chunk->start >= end)
	{
		memset(chunk, 0, sizeof(FcChunk));
		chunk->start = end;
		return;
	}
	if (chunk->start + chunk->length < end)
		return;
	chunk->length = end - chunk->start;
	if (ctx->shared->dialects->mode == FC_MODE_BINARY)
		chunk->run[FC_OUTSIDE].ends_record = true;
	else
		fc_finder_read_chunk(ctx, &scan, chunk);
}

/* Cuts the chunks, from number "first" on, at the byte "end" */
static void
fc_finder_cut(FcFinder *finder, uint32 first, uint64 end)
{
	FcChunkStart *start;
	FcChunkPoint at;

	Assert(first <= finder->found.n);
	if (end == finder->found.offset || first == finder->found.n)
		return;
	start = fc_finder_start(finder, first);
	at = (FcChunkPoint)
	{
		start->state, start->first == fc_finder_chunk(finder, first)->start,
			start->line, start->before, 0, FC_NOWHERE
	};
	for (uint32 i = first; i < finder->found.n; i++)
	{
		fc_finder_cut_chunk(finder->ctx, fc_finder_chunk(finder, i), end);
		(void) fc_chunk_resolve(finder->dialect, fc_finder_chunk(finder, i), 1, &at,
								fc_finder_start(finder, i));
	}
	finder->found.offset = end;
}

void
fc_finder_end(FcFinder *finder)
{
	fc_finder_pause(finder);
	finder->file->identity.size = finder->found.offset - finder->file->base;
	/* where the current tuple begins */
	if (finder->dialect->mode == FC_MODE_BINARY && fc_walk_may_end(&finder->scan.walk))
		fc_finder_cut(finder, finder->found.known, finder->file->data_start + finder->scan.walk.start);
	if (finder->found.at.marker != FC_NOWHERE)
		fc_finder_cut(finder, finder->found.held, finder->found.at.marker);
	fc_finder_publish(finder, finder->found.n, true);
}
