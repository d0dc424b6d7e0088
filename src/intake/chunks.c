/*-------------------------------------------------------------------------
 *
 * intake/chunks.c
 *	  Unpacks files, and lets other processes scan what there is of them.
 *
 *	 packed file ──► source/decompress.c ──► bytes ─┐
 *							└─► chunks ─────┴─► published ──► phase/scan.c
 *
 * Where there are fewer packed files than processes, those that have none to
 * unpack scan, or load, what the others have unpacked so far.  The process that
 * unpacks a file sees all of its bytes in order, and so knows of each chunk at
 * once where its first record begins, without the leader's pass over all of
 * them.  In the same way the leader finds the chunks of what it receives from a
 * program or the client.
 *
 * A chunk is published as soon as a record is known to begin after it: all
 * records that begin in it are whole then, with their line ends.  How many
 * chunks a file will have is not known.  Each file has room for a fixed
 * number, and as the room is used up the chunks become larger.  Chunks are
 * taken in the order of their numbers, as in other scans; a process waits for
 * a chunk that is not published yet.  Unpacking never waits for scanning, so
 * that one process alone comes to an end, too.
 *
 * Where a marker ends the data before the file does, its chunk and those after
 * it are published with the file's last.
 *
 * If a file cannot be unpacked, what was scanned is of no use, and the scan
 * ends.
 *
 * Temporary copies belong to a SharedFileSet, and libraries' memory to
 * source/decompress.c; all else is in the phase's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "context/pace.h"
#include "errors/first_error.h"
#include "heap/insert.h"
#include "intake/chunks.h"
#include "intake/ring.h"
#include "intake/split.h"

/*
 * The first half of a file's chunks have the size that was asked for; after
 * them each 32nd part of all has twice the size of the one before.
 */
#define FC_INFLOW_STEPS	32

#define FC_INFLOW_PIECE	(1024 * 1024)	/* bytes received before the leader
										 * looks for an error again */
#define FC_INFLOW_BLOCK	((size_t) 256 * 1024)	/* bytes read at a time */

/* The chunks of a file that is being unpacked, as one process finds them */
typedef struct FcFinder
{
	FcContext  *ctx;
	FcDialect	dialect;
	FcFile	   *file;			/* in shared memory */
	FcInflow   *inflow;
	FcChunk    *chunks;			/* of this file */
	FcChunkStart *starts;
	FcChunkScan scan;			/* of the chunk that is being found */
	uint64		left;			/* bytes it lacks; 0: none has begun */
	uint64		offset;			/* of the next byte */
	uint32		n;				/* chunks found */
	uint32		known;			/* number of the last chunk in which a record
								 * begins: records in chunks before are whole */
	FcChunkPoint at;			/* where the chunks found so far end */
	uint32		held;			/* number of the first chunk held back, because
								 * the marker is in it */
	bool		bad;			/* binary: a record is malformed, and all that
								 * is known is published */
} FcFinder;

/* What the leader receives */
struct FcReceiver
{
	FcUnpacker *unpacker;
	FcUnpacking *unpacking;
	bool		leaves;			/* what comes after a marker may stay unread */
	FcFinder	finder;
};

static size_t
fc_inflow_read(FcInput *input, char *buf, size_t len)
{
	FcFileInput *file = (FcFileInput *) input;
	size_t		n = Min(len, file->end - file->at);

	fc_source_read(file->source, file->at, buf, n);
	file->at += n;
	return n;
}

void
fc_inflow_input(FcFileInput *input, const FcSource *source, uint32 number)
{
	memset(input, 0, sizeof(FcFileInput));
	input->input.read = fc_inflow_read;
	input->input.word = fc_source_word(source);
	input->input.path = fc_source_path(source, number);
	input->source = source;
	input->at = source->files[number].base;
	input->end = fc_source_end(source, number);
}

/* The place in the arrays of the file's chunk number i */
static uint32
fc_inflow_place(const FcFinder *finder, uint32 i)
{
	uint32		places = finder->ctx->shared->source.places;

	return places ? i % places : i;
}

/* The number of places in use; with a ring those of finished chunks are free */
static uint32
fc_inflow_taken(const FcFinder *finder)
{
	return finder->n - (finder->ctx->shared->source.places ?
						pg_atomic_read_u32(&finder->ctx->turns[0].next) : 0);
}

/* Bytes of the chunk that is about to begin */
static uint64
fc_inflow_chunk_size(const FcFinder *finder)
{
	const FcShared *shared = finder->ctx->shared;
	/* half of a ring's places keep finished chunks, for the line of an error */
	uint32		room = shared->source.places ? shared->source.places / 2 : shared->source.room;
	uint32		half = room / 2;
	uint32		step = room / FC_INFLOW_STEPS;
	uint64		size = shared->source.chunk_size;
	uint32		taken = fc_inflow_taken(finder);
	const FcRing *ring = fc_shared_ring(shared);

	if (taken + 1 >= room)
		return PG_UINT64_MAX;
	if (taken >= half)
		size <<= (taken - half) / step + 1;
	return ring ? Min(size, ring->size / 4) : size;
}

/* Lets other processes take the first n chunks, whose bytes are in the copy */
static void
fc_inflow_publish(FcFinder *finder, uint32 n, bool whole)
{
	if (n == pg_atomic_read_u32(&finder->inflow->published) && !whole)
		return;
	pg_write_barrier();
	pg_atomic_write_u32(&finder->inflow->published, n);
	pg_write_barrier();
	if (whole)
		pg_atomic_write_u32(&finder->inflow->whole, 1);
	ConditionVariableBroadcast(&finder->ctx->shared->inflow_cv);
}

/* Ends the chunk that is being found, and notes where its records begin */
static void
fc_inflow_end_chunk(FcFinder *finder)
{
	FcChunk    *chunk = &finder->chunks[fc_inflow_place(finder, finder->n)];
	FcChunkStart *start = &finder->starts[fc_inflow_place(finder, finder->n)];

	fc_chunk_finish(&finder->scan, chunk);
	(void) fc_chunk_resolve(&finder->dialect, chunk, 1, &finder->at, start);
	/* the marker may begin in a chunk before the one that it ends in */
	if (finder->at.marker != FC_NOWHERE && finder->held == PG_UINT32_MAX)
		for (finder->held = finder->n;
			 finder->chunks[fc_inflow_place(finder, finder->held)].start > finder->at.marker;)
			finder->held--;
	if (start->first != FC_NOWHERE)
		finder->known = finder->n;
	finder->n++;
	finder->left = 0;
}

/*
 * Ends the chunk in which a binary record is malformed, and has it published:
 * no record can be found after it, and the load is to meet the error at once.
 */
static void
fc_inflow_meet_bad(FcFinder *finder)
{
	if (finder->bad || !finder->scan.walk.bad)
		return;
	finder->bad = true;
	if (finder->left > 0)
		fc_inflow_end_chunk(finder);
	finder->known = finder->n;
}

/* FcUnpacker.look: finds chunks in bytes that are in the temporary copy */
static void
fc_inflow_look(void *arg, const char *buf, size_t len)
{
	FcFinder   *finder = arg;
	uint64		skip = 0;
	size_t		looked = len;

	if (finder->offset < finder->file->data_start)
		skip = Min(len, finder->file->data_start - finder->offset);
	finder->offset += skip;
	for (buf += skip, len -= skip; len > 0;)
	{
		size_t		n;

		if (finder->left == 0)
		{
			finder->chunks[fc_inflow_place(finder, finder->n)].start = finder->offset;
			finder->left = fc_inflow_chunk_size(finder);
			fc_chunk_begin(&finder->dialect, &finder->scan);
		}
		n = Min(len, finder->left);
		fc_chunk_feed(&finder->dialect, &finder->scan, buf, n);
		pg_atomic_fetch_add_u64(&finder->ctx->shared->counts.split_bytes, n);
		finder->offset += n;
		buf += n;
		len -= n;
		finder->left -= n;
		if (finder->left == 0)
			fc_inflow_end_chunk(finder);
		fc_inflow_meet_bad(finder);
	}
	/* the size never shrinks: other processes read up to it meanwhile */
	finder->file->identity.size = Max(finder->file->identity.size,
									  finder->offset - finder->file->base);
	fc_inflow_publish(finder, Min(finder->known, finder->held), false);
	/* what goes through a ring is paid for by those who take it from there */
	if (fc_shared_ring(finder->ctx->shared) == NULL)
		fc_pace(finder->ctx, looked);
}

/*
 * Begins to find chunks in file "number", which begins at byte "at" of
 * temporary copy number "copy", from 1, where "size" bytes of it are already.
 */
static void
fc_inflow_begin(FcFinder *finder, FcContext *ctx, uint32 number, uint32 copy,
				uint64 at, uint64 size)
{
	FcShared   *shared = ctx->shared;
	FcFile	   *file = &fc_shared_files(shared)[number];

	memset(finder, 0, sizeof(FcFinder));
	finder->ctx = ctx;
	finder->dialect = ctx->dialect;
	finder->dialect.eol = file->eol;
	finder->file = file;
	finder->inflow = &fc_shared_inflow(shared)[number];
	finder->chunks = fc_shared_chunks(shared) + (Size) shared->source.room * number;
	finder->starts = fc_shared_starts(shared) + (Size) shared->source.room * number;
	finder->offset = file->base;
	finder->at = (FcChunkPoint)
	{
		FC_OUTSIDE, true, file->lines_before, 0, 0, FC_NOWHERE
	};
	finder->held = PG_UINT32_MAX;
	file->copy = copy;
	file->copy_at = at;
	file->identity.size = size;
}

/* Copies n chunks from number "first" on to "to", or back if that is "back" */
static void
fc_inflow_copy(FcFinder *finder, uint32 first, uint32 n, FcChunk *chunks,
			   FcChunkStart *starts, bool back)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint32		place = fc_inflow_place(finder, first + i);

		if (back)
		{
			finder->chunks[place] = chunks[i];
			finder->starts[place] = starts[i];
		}
		else
		{
			chunks[i] = finder->chunks[place];
			starts[i] = finder->starts[place];
		}
	}
}

/* Takes the bytes from "end" on out of the chunks from number "first" on */
static void
fc_inflow_cut(FcFinder *finder, uint32 first, uint64 end)
{
	uint32		n = finder->n - first;
	FcChunk    *chunks;
	FcChunkStart *starts;
	FcChunkPoint at;

	if (end == finder->offset || n == 0)
		return;
	chunks = palloc(sizeof(FcChunk) * n);
	starts = palloc(sizeof(FcChunkStart) * n);
	fc_inflow_copy(finder, first, n, chunks, starts, false);
	at = (FcChunkPoint)
	{
		starts->state, starts->first == chunks->start, starts->line, starts->before, 0, FC_NOWHERE
	};
	fc_split_cut(finder->ctx, chunks, n, end);
	(void) fc_chunk_resolve(&finder->dialect, chunks, n, &at, starts);
	fc_inflow_copy(finder, first, n, chunks, starts, true);
	finder->offset = end;
}

/* Where the tuple in hand begins */
static uint64
fc_inflow_tuple(const FcFinder *finder)
{
	return finder->file->data_start + finder->scan.walk.start;
}

/* Ends the last chunk and publishes all, once the whole file is unpacked */
static void
fc_inflow_end(FcFinder *finder)
{
	if (finder->left > 0)
		fc_inflow_end_chunk(finder);
	finder->file->identity.size = finder->offset - finder->file->base;
	if (finder->dialect.mode == FC_MODE_BINARY && fc_walk_may_end(&finder->scan.walk))
		fc_inflow_cut(finder, finder->known, fc_inflow_tuple(finder));
	if (finder->at.marker != FC_NOWHERE)
		fc_inflow_cut(finder, finder->held, finder->at.marker);
	fc_inflow_publish(finder, finder->n, true);
}

static void
fc_inflow_keep_fault(FcUnpackArea *area, uint32 number,
					 const FcUnpackFault *fault)
{
	SpinLockAcquire(&area->mutex);
	if (number < area->faulty)
	{
		area->faulty = number;
		area->fault = *fault;
	}
	SpinLockRelease(&area->mutex);
}

static uint32
fc_inflow_faulty(FcUnpackArea *area)
{
	uint32		faulty;

	SpinLockAcquire(&area->mutex);
	faulty = area->faulty;
	SpinLockRelease(&area->mutex);
	return faulty;
}

static bool
fc_inflow_unpack_one(FcUnpackArea *area, const FcSource *source,
					 FcUnpacker *unpacker, uint32 number, FcUnpackFault *fault)
{
	FcUnpacked *unpacked = &fc_area_unpacked(area)[number];
	FcFileInput input;
	bool		whole;

	fc_inflow_input(&input, source, number);
	unpacked->at = unpacker->written;
	whole = fc_unpack(unpacker, &input.input,
					  (FcCodecKind) source->files[number].kind, fault);
	/* a file that was written to meanwhile may look faulty in any way */
	fc_source_check_at(source, source->files[number].base);
	unpacked->size = unpacker->written - unpacked->at;
	return whole;
}

/* Unpacks one file, and with ctx publishes the chunks in it */
static void
fc_inflow_take_file(FcUnpackArea *area, const FcSource *source,
					FcUnpacker *unpacker, uint32 number, FcContext *ctx)
{
	uint32		copy = fc_area_unpacked(area)[number].copy;
	FcFinder	finder;
	FcUnpackFault fault;

	if (ctx)
	{
		fc_inflow_begin(&finder, ctx, number, copy + 1, unpacker->written, 0);
		unpacker->look = fc_inflow_look;
		unpacker->look_arg = &finder;
	}
	if (!fc_inflow_unpack_one(area, source, unpacker, number, &fault))
	{
		fc_inflow_keep_fault(area, number, &fault);
		if (ctx == NULL)
			return;
		pg_atomic_write_u32(&ctx->shared->inflow_failed, 1);
		ConditionVariableBroadcast(&ctx->shared->inflow_cv);
	}
	else if (ctx)
		fc_inflow_end(&finder);
}

/* Counts a file that is done; the process with the last one notes the time */
static void
fc_inflow_count(FcUnpackArea *area)
{
	if (pg_atomic_fetch_add_u32(&area->done, 1) + 1 == area->npacked)
		INSTR_TIME_SET_CURRENT(area->ended);
}

void
fc_inflow_unpack(FcUnpackArea *area, const FcSource *source, int process,
				 FcContext *ctx, void (*progress) (void *arg), void *progress_arg)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy unpacking",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcUnpacker	unpacker;
	uint32		i;

	fc_unpack_begin(&unpacker, &area->fileset, process, &area->budget,
					&area->taken);
	unpacker.progress = progress;
	unpacker.progress_arg = progress_arg;
	/* place 0 has the temporary copy of the files' heads */
	if (ctx)
		strlcpy(fc_shared_copies(ctx->shared)[process + 1].path,
				FilePathName(unpacker.file), MAXPGPATH);
	while ((i = pg_atomic_fetch_add_u32(&area->next, 1)) < area->npacked)
	{
		uint32		number = fc_area_order(area)[i];

		CHECK_FOR_INTERRUPTS();
		fc_area_unpacked(area)[number].copy = process + 1;
		if (number < fc_inflow_faulty(area))
			fc_inflow_take_file(area, source, &unpacker, number, ctx);
		fc_inflow_count(area);
	}
	fc_unpack_end(&unpacker, fc_area_copies(area)[process].path, MAXPGPATH);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

void
fc_inflow_run(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	dsm_segment *segment;
	FcUnpackArea *area;
	FcSource   *source;

	if (shared->source.room == 0 || shared->source.area == DSM_HANDLE_INVALID)
		return;
	/* the leader has the segment mapped already */
	segment = ctx->in_worker ? dsm_attach(shared->source.area) :
		dsm_find_mapping(shared->source.area);
	if (segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	area = dsm_segment_address(segment);
	if (ctx->in_worker)
		SharedFileSetAttach(&area->fileset, segment);
	source = fc_source_attach(fc_area_files(area), area->nfiles,
							  fc_area_names(area), NULL, 0);
	if (pg_atomic_read_u32(&area->next) < area->npacked)
		fc_inflow_unpack(area, source, ctx->worker, ctx, ctx->progress,
						 ctx->progress_arg);
	fc_source_close(source);
	if (ctx->in_worker)
		dsm_detach(segment);
}

/* Finds the chunks of what was in the temporary copy before the phase */
static void
fc_inflow_look_back(FcFinder *finder, uint64 size)
{
	char	   *buf = palloc(FC_INFLOW_BLOCK);

	for (uint64 at = 0; at < size;)
	{
		size_t		n = Min(size - at, FC_INFLOW_BLOCK);

		fc_source_read(finder->ctx->source, at, buf, n);
		fc_inflow_look(finder, buf, n);
		at += n;
	}
	pfree(buf);
}

/*
 * Does a record that was received end the load?  Packed data are received to
 * their end in any case, because only the end says whether they are sound.
 */
static bool
fc_inflow_is_enough(const FcFinder *finder, const FcUnpacking *unpacking)
{
	if (fc_unpack_is_packed(unpacking) ||
		!fc_error_beyond(finder->ctx->shared, finder->offset))
		return false;
	pg_atomic_write_u32(&finder->inflow->whole, 1);
	ConditionVariableBroadcast(&finder->ctx->shared->inflow_cv);
	return true;
}

/* The first byte that a process may still read */
static uint64
fc_inflow_tail(const FcFinder *finder, uint32 done)
{
	if (done < finder->n || finder->left > 0)
		return finder->chunks[fc_inflow_place(finder, Min(done, finder->n))].start;
	return finder->offset;
}

/*
 * Waits until the ring has room for len bytes: chunks make room when their turn
 * is over.  If that of all published chunks is, a record is longer than the
 * ring; and a leader that loads alone has nobody to wait for.  In both cases it
 * leaves the ring.  A process keeps an error before it passes on the turn of
 * its chunk, so that the turn must be read before the error.
 */
static FcUnpackPut
fc_inflow_wait_room(const FcFinder *finder, FcRing *ring, size_t len)
{
	static uint32 wait_event = 0;
	FcShared   *shared = finder->ctx->shared;
	FcUnpackPut put = FC_PUT_NOT;

	if (wait_event == 0)
		wait_event = fc_wait_event("FastCopyRing");
	ConditionVariablePrepareToSleep(&shared->turn_cv);
	while (fc_ring_takes(ring, finder->offset))
	{
		uint32		done = pg_atomic_read_u32(&finder->ctx->turns[0].next);

		pg_read_barrier();
		put = FC_PUT_DROPPED;
		if (fc_error_beyond(shared, finder->offset))
			break;
		put = FC_PUT_ELSEWHERE;
		if (finder->offset + len <= fc_inflow_tail(finder, done) + ring->size)
			break;
		put = FC_PUT_NOT;
		if (done >= pg_atomic_read_u32(&finder->inflow->published) ||
			!finder->ctx->parallel)
			fc_ring_leave(ring, finder->offset);
		else
			ConditionVariableSleep(&shared->turn_cv, wait_event);
	}
	ConditionVariableCancelSleep();
	return put;
}

/* FcUnpacker.put: puts bytes into the ring */
static FcUnpackPut
fc_inflow_put(void *arg, const char *buf, size_t len)
{
	FcFinder   *finder = arg;
	FcRing	   *ring = fc_shared_ring(finder->ctx->shared);
	FcUnpackPut put = fc_inflow_wait_room(finder, ring, len);

	if (put == FC_PUT_ELSEWHERE)
		fc_ring_copy(ring, finder->offset, buf, len);
	return put;
}

FcReceiver *
fc_inflow_begin_receiving(FcContext *ctx, FcUnpacker *unpacker,
						  FcUnpacking *unpacking, bool leaves)
{
	FcRing	   *ring = fc_shared_ring(ctx->shared);
	FcReceiver *receiver = palloc(sizeof(FcReceiver));
	FcFinder   *finder = &receiver->finder;

	receiver->unpacker = unpacker;
	receiver->unpacking = unpacking;
	receiver->leaves = leaves;
	fc_inflow_begin(finder, ctx, 0, 1, 0, unpacker->written);
	fc_inflow_look_back(finder, unpacker->written);
	unpacker->look = fc_inflow_look;
	unpacker->look_arg = finder;
	if (ring && ctx->shared->phase == FC_PHASE_LOAD)
	{
		fc_ring_begin(ring, unpacker->written);
		unpacker->put = fc_inflow_put;
		unpacker->put_arg = finder;
	}
	return receiver;
}

bool
fc_inflow_receive(FcReceiver *receiver, FcUnpackEnd *end, FcUnpackFault *fault)
{
	FcUnpacker *unpacker = receiver->unpacker;
	FcFinder   *finder = &receiver->finder;

	*end = fc_unpack_some(receiver->unpacking,
						  unpacker->written + FC_INFLOW_PIECE, fault);
	if (receiver->leaves && *end == FC_UNPACK_MORE && finder->at.marker != FC_NOWHERE)
		*end = FC_UNPACK_END;
	if (*end == FC_UNPACK_MORE && !fc_inflow_is_enough(finder, receiver->unpacking))
		return true;
	unpacker->look = NULL;
	unpacker->put = NULL;
	if (*end == FC_UNPACK_END)
		fc_inflow_end(finder);
	return false;
}

/* May a chunk that is not published yet still come? */
static bool
fc_inflow_comes(FcShared *shared, FcInflow *inflow, uint32 number)
{
	return pg_atomic_read_u32(&inflow->published) <= number &&
		pg_atomic_read_u32(&inflow->whole) == 0 &&
		pg_atomic_read_u32(&shared->inflow_failed) == 0;
}

/*
 * Waits for the chunk to be published; false if the file has fewer chunks.  A
 * leader that loads alone receives it itself.  Any other process first ends its
 * deferred slices: other processes may wait for their turns, and the leader,
 * which receives, for those processes.
 */
static bool
fc_inflow_wait(FcContext *ctx, uint32 chunk)
{
	static uint32 wait_event = 0;
	FcShared   *shared = ctx->shared;
	uint32		each = shared->source.places ? PG_UINT32_MAX : shared->source.room;
	FcInflow   *inflow = &fc_shared_inflow(shared)[chunk / each];
	uint32		number = chunk % each;

	if (wait_event == 0)
		wait_event = fc_wait_event("FastCopyInflow");
	while (ctx->lead && fc_inflow_comes(shared, inflow, number))
		(void) fc_context_lead(ctx);
	if (fc_inflow_comes(shared, inflow, number))
		fc_turn_finish(ctx);
	ConditionVariablePrepareToSleep(&shared->inflow_cv);
	while (fc_inflow_comes(shared, inflow, number))
		ConditionVariableSleep(&shared->inflow_cv, wait_event);
	ConditionVariableCancelSleep();
	pg_read_barrier();
	return pg_atomic_read_u32(&inflow->published) > number;
}

bool
fc_inflow_take(FcContext *ctx, uint32 *chunk)
{
	FcShared   *shared = ctx->shared;
	uint32		n = shared->source.places ? PG_UINT32_MAX : shared->source.nchunks;

	while (pg_atomic_read_u32(&shared->inflow_failed) == 0 &&
		   fc_context_take(ctx, n, chunk))
		if (shared->source.room == 0 || fc_inflow_wait(ctx, *chunk))
			return true;
		else if (shared->source.nfiles == 1)
			break;
	return false;
}

/* Moves a file's chunks to after those before it; returns their number */
static uint32
fc_inflow_gather(FcShared *shared, uint32 number, uint32 to, uint64 records)
{
	FcChunk    *chunks = fc_shared_chunks(shared);
	FcChunkStart *starts = fc_shared_starts(shared);
	uint32		n = pg_atomic_read_u32(&fc_shared_inflow(shared)[number].published);
	Size		from = (Size) shared->source.room * number;

	if (shared->source.places > 0)
		return n;
	memmove(chunks + to, chunks + from, sizeof(FcChunk) * n);
	memmove(starts + to, starts + from, sizeof(FcChunkStart) * n);
	for (uint32 i = to; i < to + n; i++)
		starts[i].before += records;
	return n;
}

uint64
fc_inflow_finish(FcShared *shared)
{
	uint32		nchunks = 0;
	uint64		records = 0;

	for (uint32 i = 0; i < shared->source.nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		nchunks += fc_inflow_gather(shared, i, nchunks, records);
		if (nchunks > 0)
			records = fc_shared_start(shared, nchunks - 1)->before +
				fc_shared_start(shared, nchunks - 1)->records;
	}
	if (shared->source.nfiles > 1 || nchunks > shared->source.room / 2)
		shared->source.chunk_size = 0;
	/* a single file has no chunks after its data */
	while (shared->source.nfiles == 1 && nchunks > 0 &&
		   fc_shared_chunk(shared, nchunks - 1)->length == 0)
		nchunks--;
	shared->source.nchunks = nchunks;
	shared->source.room = 0;
	return records;
}
