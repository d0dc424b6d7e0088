/*-------------------------------------------------------------------------
 *
 * intake/pieces.c
 *	  Packed files, which processes unpack piece by piece.
 *
 *	 packed file   |.. step ..|.. step ..|.. step ..|.. step ..|
 *	 members       |---- A ----|--- B ---|------------ C -------|-- D --|
 *	 pieces        |---- 0 ----|--- 1 ---|------------ 2 -------|-- 3 --|
 *
 * Formats allow members (frames, streams) to follow each other, and each can
 * be unpacked without those before it.  A piece goes from the first border of
 * members in its step of the packed file, or after it, to that of the next
 * step; a step in which no member begins has an empty piece.  So a file of one
 * member is one piece, which one process unpacks from front to back.
 *
 * Only a process that has unpacked all bytes before a member knows where the
 * member begins.  A process that takes a piece ahead of its turn looks for
 * what seems to be a border (source/border.c) and unpacks from there.  The
 * guess is confirmed, or not, when the turn of the piece comes: all pieces
 * before it are unpacked then, and the last of them has ended where the piece
 * begins, or somewhere else.  In that case what has been unpacked is dropped,
 * and the piece is unpacked once more, from where it does begin.  So a wrong
 * guess never changes the unpacked bytes: they are those that one process
 * would find from front to back.  Nor does a fault that is met before a
 * piece's turn, because a wrong guess may have caused it.  After the first
 * wrong guess that could be unpacked no process guesses in that file any more.
 * What it costs until then is the time of processes that had nothing else to
 * do, and temporary files, which temp_file_limit bounds.
 *
 *	 head ──► unpacked in order, chunks published at once ──┐
 *	 others ──► unpacked ahead, chunks noted ──► turn ──────┴─► head
 *
 * Where the turn comes before a piece has ended, as that of a large member
 * after a small one does, its chunks are published from then on.
 *
 * A process puts all that it unpacks into one temporary copy, piece after
 * piece, so that the file's bytes are in extents of several copies.  Unpacking
 * never waits for another piece, nor for who scans or loads, so that one
 * process alone comes to an end, too.
 *
 * Of several files that cannot be unpacked the first one counts: from then on
 * only files before it are unpacked.
 *
 * Temporary copies belong to a SharedFileSet, and libraries' memory to
 * source/decompress.c; all else is in the hand's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "intake/pieces.h"
#include "source/border.h"

/*
 * Bytes of a step, at least (unless fast_copy.chunk_size is smaller) and at
 * most, and steps for each process; and pieces that all files have together, at
 * most, if there are fewer files
 */
#define FC_STEP_LEAST	(256 * 1024)
#define FC_STEP_MOST	(4 * 1024 * 1024)
#define FC_STEPS_EACH	16
#define FC_PIECES_MOST	1024

struct FcHand
{
	FcUnpackArea *area;
	const FcSource *source;		/* the packed files */
	int			process;
	FcContext  *ctx;			/* or NULL */
	FcUnpacker	unpacker;
	MemoryContext mcxt;
	bool		counted;		/* as one that has unpacked something */

	/* the piece in hand */
	uint32		number;			/* of its file */
	uint32		piece;			/* its own in the file */
	FcFinder	finder;			/* of its chunks, with ctx */
	FcUnpackFault fault;
};

void
fc_chain_init(FcChain *chain, uint64 packed, uint32 nfiles, int processes, bool whole)
{
	uint64		most = Max(FC_PIECES_MOST / nfiles, 1);
	uint64		step = packed / (FC_STEPS_EACH * Max(processes, 1));

	step = Min(Max(step, FC_STEP_LEAST), FC_STEP_MOST);
	step = Max(Min(step, (uint64) fc_chunk_size), packed / most + 1);
	chain->packed = packed;
	chain->step = whole ? packed : step;
	chain->npieces = (packed + chain->step - 1) / chain->step;
}

static size_t
fc_piece_read(FcInput *input, char *buf, size_t len)
{
	FcFileInput *file = (FcFileInput *) input;
	size_t		n = Min(len, file->end - file->at);

	fc_source_read(file->source, file->at, buf, n);
	file->at += n;
	return n;
}

void
fc_piece_input(FcFileInput *input, const FcSource *source, uint32 number, uint64 from)
{
	memset(input, 0, sizeof(FcFileInput));
	input->input.read = fc_piece_read;
	input->input.word = fc_source_word(source);
	input->input.path = fc_source_path(source, number);
	input->source = source;
	input->at = source->files[number].base + from;
	input->end = fc_source_end(source, number);
}

static FcChain *
fc_hand_chain(const FcHand *hand)
{
	return &fc_area_chains(hand->area)[hand->number];
}

static FcPiece *
fc_hand_piece(const FcHand *hand, uint32 i)
{
	return &fc_area_pieces(hand->area)[fc_hand_chain(hand)->first + i];
}

/*
 * Takes a piece of the file: that whose turn it is if nobody has, else the next
 * one; false if all have been taken.  With the lock.
 */
static bool
fc_piece_take_of(FcHand *hand)
{
	FcChain    *chain = fc_hand_chain(hand);

	if (chain->border == chain->packed || hand->number >= hand->area->faulty)
		return false;
	hand->piece = chain->head;
	if (fc_hand_piece(hand, chain->head)->state != FC_PIECE_NEW)
		hand->piece = Max(chain->next, chain->head + 1);
	chain->next = Max(chain->next, hand->piece + 1);
	if (hand->piece >= chain->npieces)
		return false;
	*fc_hand_piece(hand, hand->piece) = (FcPiece)
	{
		/* in a load, copy 0 has the heads of the files */
		.state = FC_PIECE_TAKEN,.copy = hand->process + (hand->ctx ? 1 : 0),
			.at = hand->unpacker.in_file
	};
	return true;
}

/* Is the piece in hand the one whose turn it is?  With the lock. */
static bool
fc_piece_is_head(const FcHand *hand)
{
	return hand->piece == fc_hand_chain(hand)->head;
}

/* Takes a piece of any file; false if there is none.  Sets *head. */
static bool
fc_piece_take(FcHand *hand, bool *head)
{
	FcUnpackArea *area = hand->area;
	bool		taken = false;

	LWLockAcquire(&area->lock, LW_EXCLUSIVE);
	for (uint32 i = area->next; i < area->npacked && !taken; i++)
	{
		FcChain    *chain;

		hand->number = fc_area_order(area)[i];
		chain = fc_hand_chain(hand);
		taken = fc_piece_take_of(hand);
		if (i == area->next && !taken &&
			(chain->border == chain->packed || hand->number >= area->faulty))
			area->next++;
	}
	*head = taken && fc_piece_is_head(hand);
	LWLockRelease(&area->lock);
	return taken;
}

/* Are the bytes of the piece right after the last ones of the file so far? */
static bool
fc_chain_continues(const FcChain *chain, const FcExtent *extents, uint64 offset,
				   const FcPiece *piece)
{
	const FcExtent *last;

	if (chain->nextents == 0)
		return false;
	last = &extents[chain->nextents - 1];
	return last->copy == piece->copy && last->at + (offset - last->offset) == piece->at;
}

/*
 * Notes that the next bytes of the file are those of the piece.  Nobody else
 * does so for the file meanwhile: its turn is that of one piece.
 */
static void
fc_chain_extend(FcHand *hand, const FcPiece *piece)
{
	FcChain    *chain = fc_hand_chain(hand);
	FcFile	   *file = hand->ctx ? &fc_shared_files(hand->ctx->shared)[hand->number] : NULL;
	FcExtent   *extents = file ? fc_shared_extents(hand->ctx->shared) + file->extent :
		fc_area_extents(hand->area) + chain->first;
	uint64		offset = chain->unpacked + (file ? file->base : 0);

	if (fc_chain_continues(chain, extents, offset, piece))
		return;
	if (file && chain->nextents == 0)
		file->identity.size = 0;	/* that was its head's */
	extents[chain->nextents++] = (FcExtent)
	{
		offset, piece->at, piece->copy
	};
	pg_write_barrier();
	if (file)
		file->nextents = chain->nextents;
}

/*
 * After a guess that was wrong, although it could be unpacked: that is no
 * accident, there are packed data inside the members.  From now on the file is
 * unpacked in order.  With the lock.
 */
static void
fc_chain_mistrust(FcChain *chain)
{
	chain->next = chain->npieces;
}

/* Drops what has been unpacked of a piece ahead of its turn.  With the lock. */
static void
fc_piece_drop(FcHand *hand, FcPiece *piece)
{
	FcChain    *chain = fc_hand_chain(hand);

	if (!piece->sound)
		return;
	piece->sound = false;
	pg_atomic_fetch_sub_u64(&hand->area->taken, piece->end - piece->start);
	if (piece->start != chain->border)
		fc_chain_mistrust(chain);
}

/* Takes over what has been unpacked of a piece ahead of its turn */
static void
fc_piece_join(FcHand *hand, const FcPiece *piece)
{
	FcChain    *chain = fc_hand_chain(hand);
	FcChunk    *notes;
	FcFinder	finder;

	fc_chain_extend(hand, piece);
	chain->unpacked += piece->size;
	if (hand->ctx == NULL)
		return;
	notes = fc_area_notes(hand->area) + FC_NOTES * (Size) (piece - fc_area_pieces(hand->area));
	fc_finder_begin(&finder, hand->ctx, hand->number, &chain->found);
	fc_finder_append(&finder, notes, piece->nnotes, piece->size);
	chain->found = finder.found;
}

/*
 * Does the piece go on where those before it end?  Chunks begin after the
 * header, so that a piece with bytes of that has no notes to be taken over.
 */
static bool
fc_piece_joins(const FcHand *hand, const FcPiece *piece)
{
	const FcChain *chain = fc_hand_chain(hand);

	return piece->start == chain->border &&
		(hand->ctx == NULL ||
		 (chain->nextents > 0 && chain->found.offset >= fc_shared_files(hand->ctx->shared)[hand->number].data_start));
}

/*
 * Goes on to the pieces after those that are unpacked, and takes over what is
 * there of them.  True if these were the last of the file.  With the lock.
 */
static bool
fc_chain_advance(FcHand *hand)
{
	FcChain    *chain = fc_hand_chain(hand);

	while (chain->border < chain->packed)
	{
		FcPiece    *piece;

		for (; (chain->head + 1) * chain->step <= chain->border; chain->head++)
			fc_piece_drop(hand, fc_hand_piece(hand, chain->head));
		piece = fc_hand_piece(hand, chain->head);
		if (piece->state != FC_PIECE_DONE)
			return false;
		if (!piece->sound || !fc_piece_joins(hand, piece))
		{
			fc_piece_drop(hand, piece);
			piece->state = FC_PIECE_NEW;
			return false;
		}
		fc_piece_join(hand, piece);
		chain->border = piece->end;
		piece->sound = false;
	}
	for (; chain->head < chain->npieces; chain->head++)
		fc_piece_drop(hand, fc_hand_piece(hand, chain->head));
	return true;
}

/*
 * Counts a file that is done, well or not; the process with the last one notes
 * the time
 */
static void
fc_chain_count(FcHand *hand)
{
	if (pg_atomic_fetch_add_u32(&hand->area->done, 1) + 1 == hand->area->npacked)
		INSTR_TIME_SET_CURRENT(hand->area->ended);
}

/* Ends the file, of which all is unpacked.  The finder has come to its end. */
static void
fc_chain_end(FcHand *hand)
{
	if (hand->ctx)
		fc_finder_end(&hand->finder);
	fc_chain_count(hand);
}

/*
 * Remembers that the file cannot be unpacked; nobody scans on then.  A lack of
 * memory is no fault of the file.
 */
static void
fc_hand_fail(FcHand *hand)
{
	FcUnpackArea *area = hand->area;

	if (hand->fault.result == FC_CODEC_OUT_OF_MEMORY)
		fc_unpack_throw(&hand->fault, fc_source_word(hand->source),
						fc_source_path(hand->source, hand->number));
	LWLockAcquire(&area->lock, LW_EXCLUSIVE);
	area->faulty = Min(area->faulty, hand->number);
	LWLockRelease(&area->lock);
	fc_chain_count(hand);
	if (hand->ctx == NULL)
		return;
	pg_atomic_write_u32(&hand->ctx->shared->inflow_failed, 1);
	ConditionVariableBroadcast(&hand->ctx->shared->inflow_cv);
}

/* Unpacks the piece in hand from where it begins; *taken: bytes of it */
static FcUnpackEnd
fc_piece_unpack(FcHand *hand, uint64 *taken)
{
	const FcChain *chain = fc_hand_chain(hand);
	uint64		from = fc_hand_piece(hand, hand->piece)->start;
	FcCodecKind kind = (FcCodecKind) hand->source->files[hand->number].kind;
	FcFileInput input;

	if (!hand->counted)
		pg_atomic_fetch_add_u32(&hand->area->processes, 1);
	hand->counted = true;
	fc_piece_input(&input, hand->source, hand->number, from);
	return fc_unpack_members(&hand->unpacker, &input.input, kind, from > 0,
							 (hand->piece + 1) * chain->step - from, taken, &hand->fault);
}

/* Lets the finder take what is unpacked, and publish chunks or note them */
static void
fc_hand_look(FcHand *hand)
{
	hand->unpacker.look = fc_finder_look;
	hand->unpacker.look_arg = &hand->finder;
}

/* FcUnpacker.put: gives up a file after one that cannot be unpacked */
static FcUnpackPut
fc_piece_put_in_order(void *arg, const char *buf, size_t len)
{
	const FcHand *hand = arg;
	const volatile FcUnpackArea *area = hand->area;

	return hand->number > area->faulty ? FC_PUT_ENOUGH : FC_PUT_NOT;
}

/* Ends a piece that was unpacked when its turn had come */
static void
fc_piece_end_in_order(FcHand *hand, FcUnpackEnd end, uint64 taken)
{
	FcChain    *chain = fc_hand_chain(hand);
	const FcPiece *piece = fc_hand_piece(hand, hand->piece);
	bool		whole;

	if (end == FC_UNPACK_FAULT)
	{
		fc_hand_fail(hand);
		return;
	}
	if (hand->unpacker.enough)
		return;
	if (hand->ctx)
		fc_finder_pause(&hand->finder);
	LWLockAcquire(&hand->area->lock, LW_EXCLUSIVE);
	chain->border = piece->start + taken;
	chain->unpacked += hand->unpacker.in_file - (piece->at + piece->size);
	if (hand->ctx)
		chain->found = hand->finder.found;
	whole = fc_chain_advance(hand);
	if (hand->ctx)
		hand->finder.found = chain->found;
	LWLockRelease(&hand->area->lock);
	if (whole)
		fc_chain_end(hand);
}

/* Unpacks the piece whose turn it is, and publishes the chunks in it */
static void
fc_piece_in_order(FcHand *hand)
{
	FcChain    *chain = fc_hand_chain(hand);
	FcPiece    *piece = fc_hand_piece(hand, hand->piece);
	FcUnpackEnd end;
	uint64		taken;

	piece->start = chain->border;
	if (hand->ctx)
	{
		fc_finder_begin(&hand->finder, hand->ctx, hand->number,
						chain->border > 0 ? &chain->found : NULL);
		fc_hand_look(hand);
	}
	fc_chain_extend(hand, piece);
	hand->unpacker.put = fc_piece_put_in_order;
	hand->unpacker.put_arg = hand;
	end = fc_piece_unpack(hand, &taken);
	fc_piece_end_in_order(hand, end, taken);
}

/* What seems to be the first border in the step; UINT64_MAX: there is none */
static uint64
fc_piece_search(FcHand *hand)
{
	const FcChain *chain = fc_hand_chain(hand);
	const FcFile *file = &hand->source->files[hand->number];
	uint64		from = hand->piece * chain->step;
	uint64		end = Min(from + chain->step, chain->packed);
	char	   *buf = hand->unpacker.in;

	while (from < end)
	{
		size_t		len = Min(FC_UNPACK_IN, chain->packed - from);
		size_t		at;

		CHECK_FOR_INTERRUPTS();
		fc_source_read(hand->source, file->base + from, buf, len);
		at = fc_border_find((FcCodecKind) file->kind, buf, len);
		if (at < len)
			return from + at < end ? from + at : PG_UINT64_MAX;
		if (from + len == chain->packed)
			break;
		/* what was too near to the end, and what may stand before it */
		from += len - 2 * FC_BORDER_HEAD;
	}
	return PG_UINT64_MAX;
}

/*
 * The turn of the piece has come while it is unpacked ahead: from now on it is
 * unpacked in order.  False if it does not go on where those before it end.
 */
static bool
fc_piece_meet_turn(FcHand *hand)
{
	FcPiece    *piece = fc_hand_piece(hand, hand->piece);
	bool		joins;

	/* what others have written for those before it is seen after this */
	LWLockAcquire(&hand->area->lock, LW_SHARED);
	joins = fc_piece_joins(hand, piece);
	LWLockRelease(&hand->area->lock);
	if (!joins)
		return false;
	if (hand->ctx)
		fc_finder_pause(&hand->finder);
	piece->size = hand->unpacker.in_file - piece->at;
	piece->nnotes = hand->finder.found.n;
	fc_piece_join(hand, piece);
	if (hand->ctx)
		fc_finder_begin(&hand->finder, hand->ctx, hand->number, &fc_hand_chain(hand)->found);
	hand->unpacker.put = fc_piece_put_in_order;
	return true;
}

/* FcUnpacker.put: gives up what others have found to be no piece */
static FcUnpackPut
fc_piece_put(void *arg, const char *buf, size_t len)
{
	FcHand	   *hand = arg;
	uint32		head = ((volatile FcChain *) fc_hand_chain(hand))->head;

	if (head > hand->piece || hand->number >= hand->area->faulty)
		return FC_PUT_ENOUGH;
	if (head == hand->piece && !fc_piece_meet_turn(hand))
		return FC_PUT_ENOUGH;
	return FC_PUT_NOT;
}

/*
 * Unpacks the piece in hand ahead of its turn, as far as it seems to be one.
 * False if it has ended when its turn had come already.
 */
static bool
fc_piece_guess(FcHand *hand, bool *sound)
{
	FcPiece    *piece = fc_hand_piece(hand, hand->piece);
	FcUnpackEnd end;
	uint64		taken;

	*sound = false;
	piece->start = fc_piece_search(hand);
	if (piece->start == PG_UINT64_MAX)
		return true;
	if (hand->ctx)
	{
		fc_finder_begin_notes(&hand->finder, hand->ctx, hand->number,
							  fc_area_notes(hand->area) + FC_NOTES * (Size) (piece - fc_area_pieces(hand->area)));
		fc_hand_look(hand);
	}
	hand->unpacker.put = fc_piece_put;
	hand->unpacker.put_arg = hand;
	end = fc_piece_unpack(hand, &taken);
	if (hand->unpacker.put == fc_piece_put_in_order)
	{
		fc_piece_end_in_order(hand, end, taken);
		return false;
	}
	if (hand->ctx)
		fc_finder_pause(&hand->finder);
	*sound = end != FC_UNPACK_FAULT && !hand->unpacker.enough;
	piece->end = piece->start + taken;
	piece->size = hand->unpacker.in_file - piece->at;
	piece->nnotes = hand->finder.found.n;
	if (*sound)
		return true;
	pg_atomic_fetch_sub_u64(&hand->area->taken, taken);
	hand->unpacker.in_file = hand->unpacker.written = piece->at;
	return true;
}

static void
fc_piece_ahead(FcHand *hand)
{
	FcChain    *chain = fc_hand_chain(hand);
	FcPiece    *piece = fc_hand_piece(hand, hand->piece);
	bool		sound;
	bool		whole;

	if (!fc_piece_guess(hand, &sound))
		return;
	LWLockAcquire(&hand->area->lock, LW_EXCLUSIVE);
	piece->state = FC_PIECE_DONE;
	piece->sound = sound;
	if (hand->unpacker.enough)
		fc_chain_mistrust(chain);
	if (hand->piece < chain->head)
		fc_piece_drop(hand, piece);
	whole = chain->border < chain->packed && fc_chain_advance(hand);
	LWLockRelease(&hand->area->lock);
	if (!whole)
		return;
	if (hand->ctx)
		fc_finder_begin(&hand->finder, hand->ctx, hand->number, &chain->found);
	fc_chain_end(hand);
}

FcHand *
fc_hand_begin(FcUnpackArea *area, const FcSource *source, int process, FcContext *ctx,
			  void (*progress) (void *arg), void *progress_arg)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy unpacking",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcHand	   *hand = palloc0(sizeof(FcHand));

	hand->area = area;
	hand->source = source;
	hand->process = process;
	hand->ctx = ctx;
	hand->mcxt = mcxt;
	fc_unpack_begin(&hand->unpacker, &area->fileset, process, &area->budget,
					&area->taken);
	hand->unpacker.progress = progress;
	hand->unpacker.progress_arg = progress_arg;
	if (ctx)
		strlcpy(fc_shared_copies(ctx->shared)[process + 1].path,
				FilePathName(hand->unpacker.file), MAXPGPATH);
	MemoryContextSwitchTo(old);
	return hand;
}

bool
fc_hand_step(FcHand *hand)
{
	MemoryContext old;
	bool		head;

	CHECK_FOR_INTERRUPTS();
	if (!fc_piece_take(hand, &head))
		return false;
	old = MemoryContextSwitchTo(hand->mcxt);
	if (head)
		fc_piece_in_order(hand);
	else
		fc_piece_ahead(hand);
	hand->unpacker.look = NULL;
	hand->unpacker.put = NULL;
	hand->unpacker.enough = false;
	MemoryContextSwitchTo(old);
	return true;
}

void
fc_hand_end(FcHand *hand)
{
	fc_unpack_end(&hand->unpacker, fc_area_copies(hand->area)[hand->process].path, MAXPGPATH);
	MemoryContextDelete(hand->mcxt);
}
