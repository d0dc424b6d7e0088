/*-------------------------------------------------------------------------
 *
 * sort/fetch_window.c
 *	  Reads records of the source file in an order that is not the file's.
 *
 * There are two windows of entries in key order.  The records of one are read
 * in file order, neighbors with small gaps by one read, while those of the
 * other are handed out in key order; when these are used up they swap.
 *
 *	entry stream --> window: entries in key order
 *							 pieces in file order --> requests --> queue
 *							 arena in key order  <--------------------+
 *
 * All memory is in the reader's own context, in which the queue is opened as
 * well.  The queue's reset callback ends the reads in flight before the blocks
 * are freed, on error too.  No block is freed while reads of its window are
 * under way.
 *
 * The size of the window matters more than the method: the more records it
 * has, the fewer times a file in random order is read.  io_uring and preadv
 * are close on a cached file; fast_copy_report() shows the bytes read and the
 * rows per read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "io/io.h"
#include "sort/fetch_window.h"
#include "sort/item.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Bytes between records that are certainly a line end */
#define FC_READ_JOIN		2

/* Largest merged read.  It is copied from, so it should stay in L2. */
#define FC_READ_MAX			((Size) 64 * 1024)
#define FC_READ_MAX_LEAST	((Size) 8 * 1024)

/*
 * Largest read straight into the arena.  One read cannot be interrupted, and
 * several in flight let the CPU parse while the disk delivers.
 */
#define FC_READ_DIRECT		((Size) 256 * 1024)

/* Sizes of a window: the first one, one in file order, the largest */
#define FC_WINDOW_FIRST		((Size) 256 * 1024)
#define FC_WINDOW_STREAM	((Size) 1024 * 1024)
#define FC_WINDOW_MAX		((Size) 128 * 1024 * 1024)

#define FC_READ_LEAST		((Size) 64 * 1024)	/* memory, at least */

/* Records handed out between two looks at the queue */
#define FC_READ_PUMP		32

/*
 * What one read can bring to its final place, mostly one record.  Records that
 * follow each other in the file as in key order, nothing but a line end
 * between them, keep that distance in the arena and become one piece.  So a
 * presorted file turns into large reads, with no work for each record but
 * taking its entry.
 */
typedef struct FcReadPiece
{
	uint64		offset;			/* in the file */
	uint32		place;			/* in the arena */
	uint32		length;
} FcReadPiece;

StaticAssertDecl(sizeof(FcReadPiece) == sizeof(FcItem) &&
				 offsetof(FcReadPiece, offset) == offsetof(FcItem, key),
				 "pieces are sorted as items, by their offset");

/* Walks over entries in key order and gives each its place in the arena */
typedef struct FcWindowCursor
{
	uint64		end;			/* file offset after the last record */
	Size		place;			/* of the last record */
	Size		free;			/* arena bytes given away */
} FcWindowCursor;

/*
 * A window is one block of memory, filled from both ends:
 *
 *	| arena -->		  | pieces | scratch |			<-- entries |
 *
 * so that few long records and many short ones use it equally well.  A record
 * has its place in the arena as soon as its entry is taken from the stream;
 * one byte after it is free.
 */
typedef struct FcWindow
{
	char	   *block;			/* the arena starts here; NULL at first */
	Size		allocated;		/* bytes of the block */
	Size		size;			/* bytes of it in use; entries end there */
	uint32		nentries;

	/* handing out */
	uint32		row;			/* next entry */
	FcWindowCursor cursor;		/* at the entry before it */

	/* reading */
	FcReadPiece    *pieces;
	uint32		npieces;
	uint32		piece;			/* next piece to request */
	uint32		within;			/* bytes of it requested already */
	int			in_flight;
} FcWindow;

/* A request and what to do when it is back */
typedef struct FcOp
{
	FcRequest	request;
	FcWindow   *window;
	uint32		first;			/* pieces to copy from the staging buffer */
	uint32		count;
	char	   *stage;			/* NULL if read straight into the arena */
	FcDescriptor *pinned;		/* NULL if the source has one file */
	struct FcOp *next_free;
} FcOp;

struct FcReader
{
	MemoryContext context;		/* all that is allocated, and the queue */
	const FcSource *source;
	const FcIoMethod *method;
	FcIo	   *io;

	/* the stream of entries */
	FcEntryNext next;
	void	   *arg;
	FcEntry		pending;		/* taken from the stream, not in a window */
	bool		has_pending;
	bool		at_end;

	/* windows */
	FcWindow	windows[2];
	FcWindow   *current;		/* handed out */
	FcWindow   *ahead;			/* read ahead, empty if there is nothing */
	Size		window_max;
	Size		window_size;	/* wanted for the next one */
	int			since_pump;		/* records handed out since the last pump */

	/* requests */
	FcOp	   *ops;
	int			nops;
	FcOp	   *free_ops;
	Size		stage_size;
	int			nstages;
	int			free_stages;
	char	  **stages;			/* free ones first; NULL until needed */

	FcReadStats stats;
};

/*
 * Places an entry after the last one.  True if it continues the last one's
 * piece.
 */
static inline bool
fc_cursor_place(FcWindowCursor *cursor, const FcEntry *entry)
{
	uint64		gap = entry->offset - cursor->end;
	bool		joined = cursor->free > 0 && gap >= 1 && gap <= FC_READ_JOIN;

	/* the byte kept free after a record is the first of its line end */
	cursor->place = cursor->free + (joined ? gap - 1 : 0);
	cursor->free = cursor->place + entry->length + 1;
	cursor->end = entry->offset + entry->length;
	return joined;
}

/* Entries grow down from the window's end, to meet the arena in between. */
static inline FcEntry *
fc_window_entry(FcWindow *window, uint32 i)
{
	return (FcEntry *) (window->block + window->size) - 1 - i;
}

static inline bool
fc_window_busy(FcWindow *window)
{
	return window->in_flight > 0 || window->piece < window->npieces;
}

/*
 * Cuts a window's entries into pieces, in file order.  True if the entries
 * were in that order already.
 */
static bool
fc_window_cut(FcWindow *window, Size arena, uint32 npieces)
{
	FcReadPiece    *pieces = (FcReadPiece *) (window->block + MAXALIGN(arena));
	FcWindowCursor cursor = {0};
	uint64		max = 0;
	bool		sorted = true;
	uint32		n = 0;

	for (uint32 i = 0; i < window->nentries; i++)
	{
		FcEntry    *entry = fc_window_entry(window, i);

		if (fc_cursor_place(&cursor, entry))
		{
			FcReadPiece    *last = &pieces[n - 1];

			last->length = cursor.place + entry->length - last->place;
			continue;
		}
		pieces[n].offset = entry->offset;
		pieces[n].place = cursor.place;
		pieces[n].length = entry->length;
		n++;
		sorted = sorted && entry->offset >= max;
		max = entry->offset;
	}
	Assert(n == npieces);

	if (!sorted)
		pieces = (FcReadPiece *) fc_item_sort((FcItem *) pieces, (FcItem *) (pieces + n), n);
	window->pieces = pieces;
	window->npieces = n;
	return sorted;
}

/* Makes reader->pending valid; false at the end of the stream. */
static bool
fc_reader_peek(FcReader *reader)
{
	if (!reader->has_pending && !reader->at_end)
	{
		reader->has_pending = reader->next(reader->arg, &reader->pending);
		reader->at_end = !reader->has_pending;
	}
	return reader->has_pending;
}

/* Bytes of a window that this arena, these entries and their pieces need */
static inline Size
fc_window_need(Size arena, uint32 nentries, uint32 npieces)
{
	return MAXALIGN(arena) + (Size) npieces * 2 * sizeof(FcReadPiece) +
		(Size) nentries * sizeof(FcEntry);
}

/*
 * Gives a window that is not in use a block for the next entries.  False if
 * the first of them is larger than a window may be, and must wait until the
 * other window is used up.
 */
static bool
fc_window_prepare(FcReader *reader, FcWindow *window, bool other_used)
{
	Size		least = fc_window_need((Size) reader->pending.length + 1, 1, 1);
	Size		size = Max(MAXALIGN(least), reader->window_size);

	if (size > reader->window_max && other_used)
		return false;

	if (size > window->allocated || window->allocated > reader->window_max)
	{
		if (window->block != NULL)
			pfree(window->block);
		window->block = NULL;
		window->allocated = 0;
		window->block = MemoryContextAllocHuge(reader->context, size);
		window->allocated = size;
	}
	window->size = size;
	return true;
}

/*
 * Takes the next entries from the stream into a window that is not in use, and
 * plans their reads.  The window stays empty at the end of the stream, or if a
 * huge record must wait (fc_window_prepare).
 *
 * Windows look ahead beyond the partition that is being written: a file in
 * random order has each partition's records everywhere.
 */
static void
fc_window_fill(FcReader *reader, FcWindow *window, bool other_used)
{
	FcWindowCursor cursor = {0};
	uint32		npieces = 0;

	window->nentries = window->row = 0;
	window->npieces = window->piece = window->within = 0;
	memset(&window->cursor, 0, sizeof(FcWindowCursor));

	if (!fc_reader_peek(reader) ||
		!fc_window_prepare(reader, window, other_used))
		return;

	while (fc_reader_peek(reader))
	{
		FcWindowCursor trial = cursor;
		bool		joined = fc_cursor_place(&trial, &reader->pending);

		CHECK_FOR_INTERRUPTS();

		if (fc_window_need(trial.free, window->nentries + 1,
						   npieces + !joined) > window->size)
			break;
		*fc_window_entry(window, window->nentries++) = reader->pending;
		reader->has_pending = false;
		npieces += !joined;
		cursor = trial;
	}

	/* file order gains nothing from a window larger than the CPU's cache */
	if (fc_window_cut(window, cursor.free, npieces))
		reader->window_size = Min(FC_WINDOW_STREAM, reader->window_max);
	else
		reader->window_size = reader->window_max;
}

/*
 * How many pieces, from the next one on, one read takes into a staging buffer,
 * from which they are copied to their places; *end is the end of the last one
 * in the file.  "limit" is the end of the file that the first one is in.
 */
static uint32
fc_window_neighbours(FcReader *reader, FcWindow *window, uint64 limit,
					 uint64 *end)
{
	FcReadPiece    *first = &window->pieces[window->piece];
	uint32		left = window->npieces - window->piece;
	uint32		n = 1;

	*end = first->offset + first->length;
	while (n < left)
	{
		FcReadPiece    *piece = &first[n];
		uint64		piece_end = piece->offset + piece->length;

		/* unsigned: a piece that overlaps is no neighbour */
		if (piece->offset - *end > FC_READ_GAP || piece_end > limit ||
			piece_end - first->offset > reader->stage_size)
			break;
		*end = piece_end;
		n++;
	}
	return n;
}

static inline void
fc_op_unpin(FcReader *reader, FcOp *op)
{
	if (op->pinned)
		fc_source_unpin(reader->source, op->pinned);
	op->pinned = NULL;
}

/* Makes the staging buffers, when the first one is needed. */
static void
fc_reader_make_stages(FcReader *reader)
{
	char	   *memory = MemoryContextAllocHuge(reader->context,
												reader->nstages * reader->stage_size);

	reader->stages = MemoryContextAlloc(reader->context,
										reader->nstages * sizeof(char *));
	for (int i = 0; i < reader->nstages; i++)
		reader->stages[i] = memory + i * reader->stage_size;
	reader->free_stages = reader->nstages;
}

/*
 * Sets up the next read of a window that has pieces left: of one piece
 * straight into the arena, or of several with small gaps between them.  False
 * if it takes a staging buffer or a descriptor and none is free.
 *
 * A read ends where its file does.  The file stays open until the read is
 * back.
 */
static bool
fc_op_plan(FcReader *reader, FcWindow *window, FcOp *op)
{
	FcReadPiece    *piece = &window->pieces[window->piece];
	uint64		start = piece->offset + window->within;
	FcSourcePlace place;
	uint64		end;
	uint32		n = 1;

	if (!fc_source_pin(reader->source, start, &place))
		return false;
	op->window = window;
	op->first = window->piece;
	op->pinned = place.pinned;
	op->request.fd = place.fd;
	op->request.path = place.path;
	op->request.offset = place.offset;
	if (window->within == 0)
		n = fc_window_neighbours(reader, window, start + place.left, &end);

	if (n > 1)
	{
		if (reader->stages == NULL)
			fc_reader_make_stages(reader);
		if (reader->free_stages == 0)
		{
			fc_op_unpin(reader, op);
			return false;
		}
		op->stage = reader->stages[--reader->free_stages];
		op->count = n;
		op->request.buf = op->stage;
		op->request.len = end - piece->offset;
		window->piece += n;
		return true;
	}

	op->stage = NULL;
	op->count = 1;
	op->request.buf = window->block + piece->place + window->within;
	/* a piece may go on in the next file */
	op->request.len = Min(Min(piece->length - window->within, FC_READ_DIRECT),
						  place.left);
	window->within += op->request.len;
	if (window->within == piece->length)
	{
		window->piece++;
		window->within = 0;
	}
	return true;
}

/* Queues reads of a window as long as there is room. */
static void
fc_window_queue(FcReader *reader, FcWindow *window)
{
	while (reader->free_ops != NULL)
	{
		FcOp	   *op = reader->free_ops;

		/* records of no length need no read */
		while (window->piece < window->npieces &&
			   window->pieces[window->piece].length == 0)
			window->piece++;
		if (window->piece == window->npieces ||
			!fc_op_plan(reader, window, op))
			break;

		if (!reader->method->queue(reader->io, &op->request))
			elog(ERROR, "read queue is full");
		reader->free_ops = op->next_free;
		window->in_flight++;
		reader->stats.reads++;
		reader->stats.bytes += op->request.len;
	}
}

/* Brings what a request has read to its place; returns its pieces. */
static uint32
fc_op_finish(FcReader *reader, FcOp *op)
{
	FcWindow   *window = op->window;

	if (op->stage != NULL)
	{
		FcReadPiece    *pieces = &window->pieces[op->first];

		for (uint32 i = 0; i < op->count; i++)
			memcpy(window->block + pieces[i].place,
				   op->stage + (pieces[i].offset - pieces[0].offset),
				   pieces[i].length);
		reader->stages[reader->free_stages++] = op->stage;
	}
	fc_op_unpin(reader, op);
	window->in_flight--;
	op->next_free = reader->free_ops;
	reader->free_ops = op;
	return op->count;
}

/*
 * Goes on with the reads of the window ahead, without waiting, and only so far
 * that they keep ahead of the records handed out.  The synchronous method
 * spends its time here, and one record should not pay for all.
 */
static void
fc_reader_pump(FcReader *reader)
{
	uint32		done = 0;
	FcRequest  *request;

	reader->since_pump = 0;
	if (!fc_window_busy(reader->ahead))
		return;

	while (done < 2 * FC_READ_PUMP &&
		   (request = reader->method->next(reader->io, false)) != NULL)
		done += fc_op_finish(reader, request->owner);
	fc_window_queue(reader, reader->ahead);
	reader->method->submit(reader->io);
}

static void
fc_window_finish(FcReader *reader, FcWindow *window)
{
	while (fc_window_busy(window))
	{
		FcRequest  *request;

		CHECK_FOR_INTERRUPTS();

		fc_window_queue(reader, window);
		reader->method->submit(reader->io);
		request = reader->method->next(reader->io, true);
		while (request != NULL)
		{
			fc_op_finish(reader, request->owner);
			request = reader->method->next(reader->io, false);
		}
	}
}

/*
 * Goes on to the window ahead, because the current one is used up, and starts
 * to read the one after it.  False at the end of the stream.
 */
static bool
fc_reader_advance(FcReader *reader)
{
	FcWindow   *used = reader->current;
	FcWindow   *ahead = reader->ahead;
	MemoryContext old = MemoryContextSwitchTo(reader->context);

	if (ahead->nentries == 0)
	{
		/* also frees what a huge record took */
		fc_window_fill(reader, used, false);
		ahead = used;
		used = reader->ahead;
	}
	fc_window_finish(reader, ahead);
	reader->current = ahead;
	reader->ahead = used;

	if (ahead->nentries > 0)
	{
		fc_window_fill(reader, used, true);
		fc_reader_pump(reader);
	}
	MemoryContextSwitchTo(old);
	return ahead->nentries > 0;
}

/* Shares the memory out among staging buffers and two windows. */
static void
fc_reader_budget(FcReader *reader, int depth, Size memory)
{
	Size		size = FC_READ_MAX;
	Size		least = Min(depth, 4);

	memory = Max(memory, FC_READ_LEAST);
	while (size > FC_READ_MAX_LEAST && size * least > memory / 8)
		size /= 2;
	reader->stage_size = size;
	reader->nstages = Min(depth, Max(memory / 8 / size, 1));

	memory -= reader->nstages * size;
	reader->window_max = TYPEALIGN_DOWN(MAXIMUM_ALIGNOF,
										Min(memory / 2, FC_WINDOW_MAX));
	reader->window_size = Min(FC_WINDOW_FIRST, reader->window_max);
}

FcReader *
fc_read_begin(const FcSource *source, const FcIoMethod *method, int depth,
			  Size memory, FcEntryNext next, void *arg)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "fast_copy reader",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	FcReader   *reader = palloc0(sizeof(FcReader));
	FcOp	   *ops = palloc0(depth * sizeof(FcOp));
	int			err;

	reader->context = context;
	reader->source = source;
	reader->method = method;
	reader->next = next;
	reader->arg = arg;
	reader->current = &reader->windows[0];
	reader->ahead = &reader->windows[1];
	fc_reader_budget(reader, depth, memory);
	reader->ops = ops;
	reader->nops = depth;
	for (int i = 0; i < depth; i++)
	{
		ops[i].request.owner = &ops[i];
		ops[i].next_free = reader->free_ops;
		reader->free_ops = &ops[i];
	}

	reader->io = method->open(source->fd, source->paths, depth, &err);
	if (reader->io == NULL)
	{
		/* the kernel has io_uring, but refuses this ring */
		reader->stats.refused = err;
		reader->method = &fc_io_sync;
		reader->io = reader->method->open(source->fd, source->paths, depth, &err);
	}
	MemoryContextSwitchTo(old);
	return reader;
}

bool
fc_read_next(FcReader *reader, FcEntry *entry, char **data)
{
	FcWindow   *window = reader->current;

	if (window->row == window->nentries)
	{
		if (!fc_reader_advance(reader))
			return false;
		window = reader->current;
	}
	else if (++reader->since_pump >= FC_READ_PUMP)
		fc_reader_pump(reader);

	*entry = *fc_window_entry(window, window->row++);
	fc_cursor_place(&window->cursor, entry);
	*data = window->block + window->cursor.place;
	return true;
}

uint64
fc_read_window(Size memory, uint64 length)
{
	FcReader	reader = {0};

	fc_reader_budget(&reader, 1, memory);
	return Max(reader.window_max / (length + 1 + 2 * sizeof(FcReadPiece) + sizeof(FcEntry)), 1);
}

const FcReadStats *
fc_read_stats(const FcReader *reader)
{
	return &reader->stats;
}

void
fc_read_end(FcReader *reader)
{
	reader->method->close(reader->io);
	for (int i = 0; i < reader->nops; i++)
		fc_op_unpin(reader, &reader->ops[i]);
	MemoryContextDelete(reader->context);
}
