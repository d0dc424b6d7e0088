/*-------------------------------------------------------------------------
 *
 * sort/fetch.c
 *	  Reads records of the source file into the blocks of a cell.
 *
 *	records of a block, in file order --> requests --> queue
 *			  their bytes <---------- staging buffers <--'
 *
 * Neighbors with small gaps are one read, into a staging buffer, from which
 * each is copied to its block.  A record that stands alone is read directly
 * into it.
 *
 * The queue is opened in the memory context of the records.  Its reset callback
 * ends the reads in flight before that memory is freed, on error too.
 *
 * The size of a cell matters more than the method: the more records it has, the
 * fewer times a file in random order is read.  io_uring and preadv are close on
 * a cached file; fast_copy_report() shows the bytes read and the rows per read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "io/io.h"
#include "sort/spilled.h"

/* A staging buffer.  It is copied from, so it should stay in L2. */
#define FC_FETCH_MAX		((Size) 64 * 1024)
#define FC_FETCH_MAX_LEAST	((Size) 8 * 1024)

/*
 * Largest read straight into a block.  One read cannot be interrupted, and
 * several in flight deliver sooner.
 */
#define FC_FETCH_DIRECT		((Size) 256 * 1024)

/* A request, and what to do when it is back */
typedef struct FcFetchOp
{
	FcRequest	request;
	FcSpilled  *first;			/* records to copy from the staging buffer */
	char	   *end;			/* after the last of them */
	char	   *stage;			/* NULL if read straight into the block */
	FcDescriptor *pinned;		/* NULL: none */
	struct FcFetchOp *next_free;
} FcFetchOp;

struct FcFetch
{
	const FcSource *source;
	const FcIoMethod *method;
	void	   *io;
	Size		head;			/* bytes before a record's */
	FcReadStats *stats;

	/* the current block */
	const FcSpillBlock *block;
	char	   *at;				/* its first record that is not requested */
	uint32		within;			/* bytes of that record that are */
	int			in_flight;

	/* requests */
	FcFetchOp  *ops;
	int			nops;
	FcFetchOp  *free_ops;
	Size		stage_size;
	int			free_stages;
	char	  **stages;			/* free ones first */
};

FcFetch *
fc_fetch_begin(const FcSource *source, const FcShared *shared, Size head, Size memory,
			   FcReadStats *stats)
{
	FcFetch    *fetch = palloc0(sizeof(FcFetch));
	int			depth = shared->io.depth;
	Size		size = FC_FETCH_MAX;
	char	   *staging;
	int			err;

	while (size > FC_FETCH_MAX_LEAST && size * Min(depth, 4) > memory)
		size /= 2;
	fetch->source = source;
	fetch->head = head;
	fetch->stats = stats;
	fetch->stage_size = size;
	fetch->free_stages = Min(depth, Max(memory / size, 1));
	fetch->stages = palloc(fetch->free_stages * sizeof(char *));
	staging = MemoryContextAllocHuge(CurrentMemoryContext, fetch->free_stages * size);
	for (int i = 0; i < fetch->free_stages; i++)
		fetch->stages[i] = staging + i * size;
	fetch->nops = depth;
	fetch->ops = palloc0(depth * sizeof(FcFetchOp));
	for (int i = 0; i < depth; i++)
	{
		fetch->ops[i].request.owner = &fetch->ops[i];
		fetch->ops[i].next_free = fetch->free_ops;
		fetch->free_ops = &fetch->ops[i];
	}
	fetch->method = shared->io.uring ? &fc_io_uring : &fc_io_sync;
	fetch->io = fetch->method->open(source->paths, depth, &err);
	if (fetch->io == NULL)
	{
		/* the kernel has io_uring, but refuses this ring */
		stats->refused = err;
		fetch->method = &fc_io_sync;
		fetch->io = fetch->method->open(source->paths, depth, &err);
	}
	return fetch;
}

static inline char *
fc_fetch_block_end(const FcFetch *fetch)
{
	return (char *) fetch->block + fetch->block->size;
}

static inline uint64
fc_fetch_offset(const FcFetch *fetch, const char *at)
{
	return fetch->block->base + ((const FcSpilled *) at)->after;
}

/*
 * Returns the end of the records, from the next one on, that one read takes;
 * sets *end to the offset at which the last of them ends.  "limit" is the end
 * of the first one's file.
 */
static char *
fc_fetch_neighbors(const FcFetch *fetch, uint64 limit, uint64 *end)
{
	uint64		start = fc_fetch_offset(fetch, fetch->at);
	char	   *at = fetch->at;

	*end = start;
	do
	{
		uint64		offset = fc_fetch_offset(fetch, at);
		uint64		after = offset + fc_spilled_length((FcSpilled *) at);

		if (at != fetch->at &&
			(fc_spilled_kind((FcSpilled *) at) != FC_SPILLED_RECORD ||
			 offset - *end > FC_FETCH_GAP || after > limit || after - start > fetch->stage_size))
			break;
		*end = after;
		at += fc_spilled_size((FcSpilled *) at, fetch->head);
	} while (at < fc_fetch_block_end(fetch));
	return at;
}

static inline void
fc_fetch_unpin(const FcFetch *fetch, FcFetchOp *op)
{
	if (op->pinned)
		fc_descriptors_unpin(fetch->source->descriptors, op->pinned);
	op->pinned = NULL;
}

/*
 * Sets up the next read: of one record straight into the block, or of several
 * with small gaps between them.  False if no staging buffer or descriptor is
 * free for it.
 *
 * A read ends where its file does.  The file stays open until the read is back.
 */
static bool
fc_fetch_plan(FcFetch *fetch, FcFetchOp *op)
{
	FcSpilled  *first = (FcSpilled *) fetch->at;
	uint32		length = fc_spilled_length(first);
	uint64		start = fc_fetch_offset(fetch, fetch->at) + fetch->within;
	char	   *next = fetch->at + fc_spilled_size(first, fetch->head);
	uint64		end = start;
	FcSourcePlace place;

	/* the last record of one of several files may lack its line end */
	Assert(start + length - fetch->within <= fetch->source->size || fetch->source->nfiles > 1);
	if (!fc_source_pin(fetch->source, start, &place))
		return false;
	op->pinned = place.pinned;
	op->request.fd = place.fd;
	op->request.path = place.path;
	op->request.offset = place.offset;
	op->first = first;
	op->stage = NULL;
	op->end = fetch->within == 0 ? fc_fetch_neighbors(fetch, start + place.left, &end) : next;
	if (op->end != next)
	{
		if (fetch->free_stages == 0)
		{
			fc_fetch_unpin(fetch, op);
			return false;
		}
		op->stage = op->request.buf = fetch->stages[--fetch->free_stages];
		op->request.len = end - start;
		fetch->at = op->end;
		return true;
	}
	/* a record may go on in the next file */
	op->request.buf = fetch->at + fetch->head + fetch->within;
	op->request.len = Min(Min(length - fetch->within, FC_FETCH_DIRECT), place.left);
	fetch->within += op->request.len;
	if (fetch->within == length)
	{
		fetch->at = next;
		fetch->within = 0;
	}
	return true;
}

/* Queues reads of the block as long as there is room */
static void
fc_fetch_queue(FcFetch *fetch)
{
	while (fetch->free_ops != NULL && fetch->at < fc_fetch_block_end(fetch))
	{
		FcFetchOp  *op = fetch->free_ops;
		FcSpilled  *spilled = (FcSpilled *) fetch->at;

		/* records of no length need no read */
		if (fc_spilled_kind(spilled) != FC_SPILLED_RECORD || fc_spilled_length(spilled) == 0)
		{
			fetch->at += fc_spilled_size(spilled, fetch->head);
			continue;
		}
		if (!fc_fetch_plan(fetch, op))
			break;
		fetch->method->queue(fetch->io, &op->request);
		fetch->free_ops = op->next_free;
		fetch->in_flight++;
		fetch->stats->reads++;
		fetch->stats->bytes += op->request.len;
	}
}

/* Copies the records of a staging buffer to the block; frees the request */
static void
fc_fetch_finish(FcFetch *fetch, FcFetchOp *op)
{
	Assert(op->request.done == op->request.len);
	if (op->stage != NULL)
	{
		uint32		start = op->first->after;

		for (char *at = (char *) op->first; at < op->end;
			 at += fc_spilled_size((FcSpilled *) at, fetch->head))
		{
			uint32		from = ((FcSpilled *) at)->after - start;

			Assert(from + fc_spilled_length((FcSpilled *) at) <= op->request.len);
			memcpy(at + fetch->head, op->stage + from, fc_spilled_length((FcSpilled *) at));
		}
		fetch->stages[fetch->free_stages++] = op->stage;
	}
	fc_fetch_unpin(fetch, op);
	fetch->in_flight--;
	op->next_free = fetch->free_ops;
	fetch->free_ops = op;
}

void
fc_fetch_block(FcFetch *fetch, FcSpillBlock *block)
{
	fetch->block = block;
	fetch->at = (char *) (block + 1);
	for (fc_fetch_queue(fetch); fetch->in_flight > 0; fc_fetch_queue(fetch))
	{
		FcRequest  *request;

		CHECK_FOR_INTERRUPTS();
		request = fetch->method->next(fetch->io, true);
		for (; request != NULL; request = fetch->method->next(fetch->io, false))
			fc_fetch_finish(fetch, request->owner);
	}
	if (fetch->at != fc_fetch_block_end(fetch))
		elog(ERROR, "records of a cell were not read");
}

void
fc_fetch_end(FcFetch *fetch)
{
	fetch->method->close(fetch->io);
	for (int i = 0; i < fetch->nops; i++)
		fc_fetch_unpin(fetch, &fetch->ops[i]);
}
