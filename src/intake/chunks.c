/*-------------------------------------------------------------------------
 *
 * intake/chunks.c
 *	  The chunks of files that are unpacked or received meanwhile.
 *
 *	 intake/pieces.c, receiver ──► intake/finder.c ──► published ──► taken
 *
 * If there are fewer packed files than processes, the processes that scan or
 * load the files unpack them, too.  Chunks are taken in the order of their
 * numbers, as in other scans.  A process that would have to wait for the next
 * chunk unpacks a piece instead, before it takes the chunk: others could not
 * take it then, and might wait for its turn.  If no piece is left, it waits.
 *
 * If a file cannot be unpacked, what was scanned is of no use, and the scan
 * ends.
 *
 * All is in the phase's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "errors/first_error.h"
#include "heap/turn.h"
#include "intake/chunks.h"
#include "intake/ring.h"
#include "intake/split.h"

#define FC_INFLOW_PIECE	(1024 * 1024)	/* bytes received before the leader
										 * looks for an error again */
#define FC_INFLOW_BLOCK	((size_t) 256 * 1024)	/* bytes read at a time */

/* What the leader receives */
struct FcReceiver
{
	FcUnpacker *unpacker;
	FcUnpacking *unpacking;
	bool		leaves;			/* what comes after a marker may stay unread */
	FcFinder	finder;
};

/* One process's part in unpacking the files of a phase */
typedef struct FcHelp
{
	FcHand	   *hand;
	FcSource   *source;			/* the packed files */
	dsm_segment *segment;
} FcHelp;

bool
fc_chunks_begin(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	FcHelp	   *help;
	FcUnpackArea *area;

	if (shared->source.room == 0 || shared->source.area == DSM_HANDLE_INVALID)
		return true;
	help = palloc(sizeof(FcHelp));
	/* the leader has the segment mapped already */
	help->segment = ctx->in_worker ? dsm_attach(shared->source.area) :
		dsm_find_mapping(shared->source.area);
	if (help->segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	area = dsm_segment_address(help->segment);
	if (ctx->in_worker)
		SharedFileSetAttach(&area->fileset, help->segment);
	help->source = fc_source_attach(fc_area_files(area), area->nfiles,
									fc_area_names(area), NULL, 0, NULL);
	if (ctx->in_worker && !fc_source_hold(help->source))
	{
		fc_source_close(help->source);
		dsm_detach(help->segment);
		return false;
	}
	help->hand = fc_hand_begin(area, help->source, ctx->worker, ctx, ctx->progress,
							   ctx->progress_arg);
	ctx->help = help;
	return true;
}

void
fc_chunks_end(FcContext *ctx)
{
	FcHelp	   *help = ctx->help;

	if (help == NULL)
		return;
	/* after a fault those before it in the order of the files are looked for */
	while (fc_hand_step(help->hand))
		;
	fc_hand_end(help->hand);
	fc_source_close(help->source);
	if (ctx->in_worker)
		dsm_detach(help->segment);
	ctx->help = NULL;
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
		fc_finder_look(finder, buf, n);
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
		!fc_error_beyond(finder->ctx->shared, finder->found.offset))
		return false;
	pg_atomic_write_u32(&finder->inflow->whole, 1);
	ConditionVariableBroadcast(&finder->ctx->shared->inflow_cv);
	return true;
}

/* The first byte that a process may still read */
static uint64
fc_inflow_tail(const FcFinder *finder, uint32 done)
{
	if (done < finder->found.n || finder->left > 0)
		return finder->chunks[fc_finder_place(finder, Min(done, finder->found.n))].start;
	return finder->found.offset;
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
	FcShared   *shared = finder->ctx->shared;
	FcUnpackPut put = FC_PUT_NOT;

	ConditionVariablePrepareToSleep(&shared->turn_cv);
	while (fc_ring_takes(ring, finder->found.offset))
	{
		uint32		done = pg_atomic_read_u32(&finder->ctx->turns[0].next);

		pg_read_barrier();
		put = FC_PUT_DROPPED;
		if (fc_error_beyond(shared, finder->found.offset))
			break;
		put = FC_PUT_ELSEWHERE;
		if (finder->found.offset + len <= fc_inflow_tail(finder, done) + ring->size)
			break;
		put = FC_PUT_NOT;
		if (done >= pg_atomic_read_u32(&finder->inflow->published) ||
			!finder->ctx->parallel)
			fc_ring_leave(ring, finder->found.offset);
		else
			ConditionVariableSleep(&shared->turn_cv, fc_wait_event(FC_WAIT_RING));
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
		fc_ring_copy(ring, finder->found.offset, buf, len);
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
	fc_finder_begin(finder, ctx, 0, NULL);
	fc_inflow_look_back(finder, unpacker->written);
	unpacker->look = fc_finder_look;
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
	if (receiver->leaves && *end == FC_UNPACK_MORE && finder->found.at.marker != FC_NOWHERE)
		*end = FC_UNPACK_END;
	if (*end == FC_UNPACK_MORE && !fc_inflow_is_enough(finder, receiver->unpacking))
		return true;
	unpacker->look = NULL;
	unpacker->put = NULL;
	if (*end == FC_UNPACK_END)
		fc_finder_end(finder);
	return false;
}

/* The file that the chunk is of; sets its number in that */
static FcInflow *
fc_inflow_of(FcShared *shared, uint32 chunk, uint32 *number)
{
	uint32		each = shared->source.places ? PG_UINT32_MAX : shared->source.room;

	*number = chunk % each;
	return &fc_shared_inflow(shared)[chunk / each];
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
	FcShared   *shared = ctx->shared;
	uint32		number;
	FcInflow   *inflow = fc_inflow_of(shared, chunk, &number);

	while (ctx->lead && fc_inflow_comes(shared, inflow, number))
		(void) fc_context_lead(ctx);
	if (fc_inflow_comes(shared, inflow, number))
		fc_turn_finish(ctx);
	ConditionVariablePrepareToSleep(&shared->inflow_cv);
	while (fc_inflow_comes(shared, inflow, number))
		if (ctx->help == NULL || !fc_hand_step(ctx->help->hand))
			ConditionVariableSleep(&shared->inflow_cv, fc_wait_event(FC_WAIT_INFLOW));
	ConditionVariableCancelSleep();
	pg_read_barrier();
	return pg_atomic_read_u32(&inflow->published) > number;
}

/*
 * Unpacks as long as the next chunk is not there.  Others may wait for the
 * turns of this process's slices, so that these end before.
 */
static void
fc_inflow_help(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	uint32		next;
	uint32		number;
	FcInflow   *inflow;

	do
	{
		next = pg_atomic_read_u32(&shared->next);
		if (next >= shared->source.nchunks)
			return;
		inflow = fc_inflow_of(shared, next, &number);
		if (!fc_inflow_comes(shared, inflow, number))
			return;
		fc_turn_finish(ctx);
	} while (fc_hand_step(ctx->help->hand));
}

bool
fc_chunks_take(FcContext *ctx, uint32 *chunk)
{
	FcShared   *shared = ctx->shared;
	uint32		n = shared->source.places ? PG_UINT32_MAX : shared->source.nchunks;

	if (ctx->help)
		fc_inflow_help(ctx);
	while (pg_atomic_read_u32(&shared->inflow_failed) == 0 &&
		   fc_context_take(ctx, n, chunk))
	{
		if (shared->source.room == 0 || fc_inflow_wait(ctx, *chunk))
			return true;
		if (shared->source.nfiles == 1)
			break;
	}
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
	if (shared->source.nfiles > 1 || fc_shared_inflow(shared)->uneven ||
		nchunks > (shared->source.room - shared->source.ahead) / 2)
		shared->source.chunk_size = 0;
	/* a single file has no chunks after its data */
	while (shared->source.nfiles == 1 && nchunks > 0 &&
		   fc_shared_chunk(shared, nchunks - 1)->length == 0)
		nchunks--;
	shared->source.nchunks = nchunks;
	shared->source.room = 0;
	return records;
}
