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
 * be unpacked without those before it.  A piece begins with the first member
 * that begins in its step, and ends where the next piece begins.  A step in
 * which no member begins has an empty piece.
 *
 * 1. A process takes the piece whose turn it is, if it is not taken, or else
 *    the next one, ahead of its turn.
 * 2. In turn it knows where the piece begins: where those before it have
 *    ended.  Ahead it guesses, by what seems to be a border (source/border.c),
 *    and unpacks from there.
 * 3. When the turn of a piece comes, either the pieces before it have ended
 *    where it begins: then its bytes are the file's next ones.  Or its guess
 *    was wrong: then its bytes are dropped, and it is unpacked once more.
 * 4. The process that has the turn finds the chunks of the file, in order, and
 *    publishes them: in its own piece as that is unpacked, in pieces that were
 *    unpacked ahead by reading them from the copy.
 *
 * So a wrong guess never changes the unpacked bytes.  A fault that is met
 * ahead does not count, because a wrong guess may have caused it.  Wrong
 * guesses cost temporary files, which temp_file_limit bounds, and time of
 * processes that had nothing else to do.
 *
 * Unpacking never waits for another piece, nor for processes that scan or
 * load, so that one process alone comes to an end, too.  A process puts all
 * its pieces into one temporary copy: a file's bytes are in extents of several
 * copies.
 *
 * Temporary copies belong to a SharedFileSet, and libraries' memory to
 * source/decompress.c; all else is in the phase's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "intake/pieces.h"

struct FcHand
{
	FcContext  *ctx;
	dsm_segment *segment;
	FcUnpackArea *area;			/* in it */
	FcSource   *source;			/* the packed files */
	int			process;
	bool		finds;			/* ... chunks, too */
	FcUnpacker	unpacker;
	bool		counted;		/* as one that has unpacked something */

	/* the current piece */
	uint32		number;			/* of its file */
	uint32		piece;			/* its own in the file */
	bool		in_turn;		/* its turn has come */
	FcFinder	finder;			/* of its chunks, from then on */
	FcFileInput input;			/* its packed bytes */
};

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
	Assert(i < fc_hand_chain(hand)->npieces);
	return &fc_area_pieces(hand->area)[fc_hand_chain(hand)->first + i];
}

/*
 * Takes a piece of the file: the one whose turn it is, if it is not taken,
 * else the next one; false if all are taken.  With the lock.
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
	Assert(fc_hand_piece(hand, hand->piece)->state == FC_PIECE_NEW);
	*fc_hand_piece(hand, hand->piece) = (FcPiece)
	{
		/* in a load, copy 0 has the heads of the files */
		.state = FC_PIECE_TAKEN,.copy = hand->process + (hand->finds ? 1 : 0),
			.at = hand->unpacker.in_file
	};
	return true;
}

/* Takes a piece of any file, in turn or ahead; false: none is left */
static bool
fc_piece_take(FcHand *hand)
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
	hand->in_turn = taken && hand->piece == fc_hand_chain(hand)->head;
	LWLockRelease(&area->lock);
	return taken;
}

/*
 * Notes that the next bytes of the file are those of the piece.  No other
 * process does so for the file meanwhile: it is the turn of one piece.
 */
static void
fc_chain_extend(FcHand *hand, const FcPiece *piece)
{
	FcChain    *chain = fc_hand_chain(hand);
	FcFile	   *file = hand->finds ? &fc_shared_files(hand->ctx->shared)[hand->number] : NULL;
	FcExtent   *extents = file ? fc_shared_extents(hand->ctx->shared) + file->extent :
		fc_area_extents(hand->area) + chain->first;
	uint64		offset = chain->unpacked + (file ? file->base : 0);
	const FcExtent *last = chain->nextents > 0 ? &extents[chain->nextents - 1] : NULL;

	/* right after the last bytes of the file so far there is one extent */
	if (last && last->copy == piece->copy && last->at + (offset - last->offset) == piece->at)
		return;
	if (file && last == NULL)
		file->identity.size = 0;	/* that was its head's */
	Assert(chain->nextents < chain->npieces);
	extents[chain->nextents++] = (FcExtent)
	{
		offset, piece->at, piece->copy
	};
	pg_write_barrier();
	if (file)
		file->nextents = chain->nextents;
}

/*
 * The turn of the piece has come, of which so many bytes have been unpacked
 * ahead: they are the next ones of the file.
 */
static void
fc_piece_begin_turn(FcHand *hand, const FcPiece *piece, uint64 size)
{
	FcChain    *chain = fc_hand_chain(hand);

	Assert(piece->start == chain->border);
	fc_chain_extend(hand, piece);
	if (hand->finds)
	{
		if (!hand->in_turn)
			fc_finder_begin(&hand->finder, hand->ctx, hand->number,
							chain->border > 0 ? &chain->found : NULL);
		fc_finder_look_back(&hand->finder, piece->copy, piece->at, size);
	}
	hand->in_turn = true;
}

/*
 * Drops what has been unpacked of a piece ahead of its turn.  A wrong guess
 * that could be unpacked is no accident: there are packed data inside the
 * members.  Then the file is unpacked in order from now on.  With the lock.
 */
static void
fc_piece_drop(FcHand *hand, FcPiece *piece)
{
	FcChain    *chain = fc_hand_chain(hand);

	Assert(LWLockHeldByMe(&hand->area->lock));
	if (!piece->sound)
		return;
	piece->sound = false;
	pg_atomic_fetch_sub_u64(&hand->area->taken, piece->end - piece->start);
	if (piece->start != chain->border)
		chain->next = chain->npieces;
}

/* Goes on to the piece after those that are unpacked.  With the lock. */
static FcPiece *
fc_chain_next(FcHand *hand)
{
	FcChain    *chain = fc_hand_chain(hand);

	for (; chain->head < chain->npieces &&
		 (chain->border == chain->packed || (chain->head + 1) * chain->step <= chain->border);
		 chain->head++)
		fc_piece_drop(hand, fc_hand_piece(hand, chain->head));
	return chain->head < chain->npieces ? fc_hand_piece(hand, chain->head) : NULL;
}

/*
 * Counts a file that is done, well or not; the process with the last one notes
 * the time
 */
static void
fc_chain_count(FcHand *hand)
{
	Assert(pg_atomic_read_u32(&hand->area->done) < hand->area->npacked);
	if (pg_atomic_fetch_add_u32(&hand->area->done, 1) + 1 == hand->area->npacked)
		INSTR_TIME_SET_CURRENT(hand->area->ended);
}

/*
 * Takes over the pieces that have been unpacked ahead and whose turn comes
 * now, and ends the file if these were its last.  Called with the lock, which
 * it releases, and while it looks for chunks, too: a piece that is taken is its
 * own.
 */
static void
fc_chain_advance(FcHand *hand)
{
	FcChain    *chain = fc_hand_chain(hand);
	FcPiece    *piece;

	Assert(LWLockHeldByMe(&hand->area->lock));
	while ((piece = fc_chain_next(hand)) != NULL && piece->state == FC_PIECE_DONE)
	{
		if (!piece->sound || piece->start != chain->border)
		{
			fc_piece_drop(hand, piece);
			piece->state = FC_PIECE_NEW;
			break;
		}
		piece->state = FC_PIECE_TAKEN;
		LWLockRelease(&hand->area->lock);
		fc_piece_begin_turn(hand, piece, piece->size);
		LWLockAcquire(&hand->area->lock, LW_EXCLUSIVE);
		chain->unpacked += piece->size;
		chain->border = piece->end;
		piece->sound = false;
	}
	if (hand->in_turn && hand->finds)
	{
		fc_finder_pause(&hand->finder);
		chain->found = hand->finder.found;
	}
	LWLockRelease(&hand->area->lock);
	if (piece)
		return;
	if (hand->finds)
		fc_finder_end(&hand->finder);
	fc_chain_count(hand);
}

/*
 * Notes that the file cannot be unpacked.  All processes stop scanning then,
 * and unpack only the files before it: the load reports the first faulty file.
 * A lack of memory is no fault of the file, and is thrown at once.
 */
static void
fc_hand_fail(FcHand *hand)
{
	FcUnpackArea *area = hand->area;

	if (hand->unpacker.fault.result == FC_CODEC_OUT_OF_MEMORY)
		fc_unpack_throw(&hand->unpacker);
	LWLockAcquire(&area->lock, LW_EXCLUSIVE);
	area->faulty = Min(area->faulty, hand->number);
	LWLockRelease(&area->lock);
	if (hand->finds)
	{
		pg_atomic_write_u32(&hand->ctx->shared->inflow_failed, 1);
		ConditionVariableBroadcast(&hand->ctx->shared->inflow_cv);
	}
	fc_chain_count(hand);
}

/* Unpacks the current piece from where it begins; *taken: bytes of it */
static FcUnpackEnd
fc_piece_unpack(FcHand *hand, uint64 *taken)
{
	uint64		from = fc_hand_piece(hand, hand->piece)->start;
	FcCodecKind kind = (FcCodecKind) hand->source->files[hand->number].kind;

	if (!hand->counted)
		pg_atomic_fetch_add_u32(&hand->area->processes, 1);
	hand->counted = true;
	fc_piece_input(&hand->input, hand->source, hand->number, from);
	return fc_unpack_members(&hand->unpacker, &hand->input.input, kind, from > 0,
							 (hand->piece + 1) * fc_hand_chain(hand)->step - from, taken);
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

/* FcUnpacker.look: finds the chunks in what is unpacked in turn */
static void
fc_piece_look(void *arg, const char *buf, size_t len)
{
	FcHand	   *hand = arg;

	if (hand->in_turn)
		fc_finder_look(&hand->finder, buf, len);
}

/*
 * The turn of the piece has come while it is unpacked ahead, as that of a
 * large member after a small one.  False if it does not go on where those
 * before it end.  Else chunks are found in what is there, and then in the rest
 * as it comes.
 */
static bool
fc_piece_meet_turn(FcHand *hand)
{
	FcPiece    *piece = fc_hand_piece(hand, hand->piece);
	bool		joins;

	/* the lock makes visible what others wrote of the pieces before */
	LWLockAcquire(&hand->area->lock, LW_SHARED);
	joins = piece->start == fc_hand_chain(hand)->border;
	LWLockRelease(&hand->area->lock);
	if (joins)
		fc_piece_begin_turn(hand, piece, hand->unpacker.in_file - piece->at);
	return joins;
}

/*
 * FcUnpacker.put: gives up a file that follows a faulty one, and a piece that
 * turned out to begin elsewhere
 */
static FcUnpackPut
fc_piece_put(void *arg, const char *buf, size_t len)
{
	FcHand	   *hand = arg;
	uint32		faulty = ((volatile FcUnpackArea *) hand->area)->faulty;
	uint32		head = ((volatile FcChain *) fc_hand_chain(hand))->head;

	if (hand->in_turn)
		return hand->number > faulty ? FC_PUT_ENOUGH : FC_PUT_NOT;
	if (head > hand->piece || hand->number >= faulty ||
		(head == hand->piece && !fc_piece_meet_turn(hand)))
		return FC_PUT_ENOUGH;
	return FC_PUT_NOT;
}

static void
fc_piece_end_turn(FcHand *hand, FcUnpackEnd end, uint64 taken)
{
	FcChain    *chain = fc_hand_chain(hand);
	const FcPiece *piece = fc_hand_piece(hand, hand->piece);

	if (end == FC_UNPACK_FAULT)
	{
		fc_hand_fail(hand);
		return;
	}
	if (hand->unpacker.enough)
		return;
	LWLockAcquire(&hand->area->lock, LW_EXCLUSIVE);
	Assert(hand->piece == chain->head && piece->start == chain->border);
	chain->border = piece->start + taken;
	Assert(chain->border <= chain->packed);
	chain->unpacked += hand->unpacker.in_file - piece->at;
	chain->utf16 |= hand->unpacker.utf16.is;
	fc_chain_advance(hand);
}

/*
 * Keeps what was unpacked ahead until the piece's turn, if it is sound; else
 * takes it out of the copy again
 */
static void
fc_piece_end_ahead(FcHand *hand, bool sound, uint64 taken)
{
	FcChain    *chain = fc_hand_chain(hand);
	FcPiece    *piece = fc_hand_piece(hand, hand->piece);

	Assert(!hand->in_turn && piece->state == FC_PIECE_TAKEN);
	piece->end = piece->start + taken;
	piece->size = hand->unpacker.in_file - piece->at;
	if (!sound)
	{
		pg_atomic_fetch_sub_u64(&hand->area->taken, taken);
		hand->unpacker.in_file = hand->unpacker.written = piece->at;
	}
	LWLockAcquire(&hand->area->lock, LW_EXCLUSIVE);
	piece->state = FC_PIECE_DONE;
	piece->sound = sound;
	/* a wrong guess, as in fc_piece_drop */
	if (hand->unpacker.enough)
		chain->next = chain->npieces;
	if (hand->piece < chain->head)
		fc_piece_drop(hand, piece);
	if (chain->border < chain->packed)
		fc_chain_advance(hand);
	else
		LWLockRelease(&hand->area->lock);
}

/* Unpacks the current piece: in turn, or from where it seems to begin */
static void
fc_hand_unpack(FcHand *hand)
{
	FcPiece    *piece = fc_hand_piece(hand, hand->piece);
	FcUnpackEnd end = FC_UNPACK_FAULT;
	bool		ahead = !hand->in_turn;
	uint64		taken = 0;

	piece->start = ahead ? fc_piece_search(hand) : fc_hand_chain(hand)->border;
	if (!ahead)
	{
		hand->in_turn = false;
		fc_piece_begin_turn(hand, piece, 0);
	}
	if (piece->start != PG_UINT64_MAX)
		end = fc_piece_unpack(hand, &taken);
	if (hand->in_turn)
		fc_piece_end_turn(hand, end, taken);
	else
		fc_piece_end_ahead(hand, end != FC_UNPACK_FAULT && !hand->unpacker.enough, taken);
}

/* Begins the copy of the process */
static void
fc_hand_begin_copy(FcHand *hand)
{
	FcContext  *ctx = hand->ctx;
	FcUnpackArea *area = hand->area;

	/* before the first phase no header is read, so that chunks have no start */
	hand->finds = ctx->shared->source.room > 0;
	hand->process = ctx->worker;
	fc_unpack_begin(&hand->unpacker, &area->fileset, hand->process, &area->budget,
					&area->taken);
	hand->unpacker.progress = ctx->progress;
	hand->unpacker.progress_arg = ctx->progress_arg;
	hand->unpacker.hint = area->hint;
	hand->unpacker.put = fc_piece_put;
	if (hand->finds)
	{
		hand->unpacker.look = fc_piece_look;
		strlcpy(fc_shared_copies(ctx->shared)[hand->process + 1].path,
				FilePathName(hand->unpacker.file), MAXPGPATH);
	}
	hand->unpacker.arg = hand;
}

static void
fc_hand_close(FcHand *hand)
{
	fc_source_close(hand->source);
	if (hand->ctx->in_worker)
		dsm_detach(hand->segment);
	pfree(hand);
}

bool
fc_hand_begin(FcContext *ctx)
{
	dsm_handle	handle = ctx->shared->source.area;
	FcHand	   *hand;

	Assert(ctx->hand == NULL);
	if (handle == DSM_HANDLE_INVALID)
		return true;
	hand = MemoryContextAllocZero(ctx->mcxt, sizeof(FcHand));
	hand->ctx = ctx;
	/* the leader has the segment mapped already */
	hand->segment = ctx->in_worker ? dsm_attach(handle) : dsm_find_mapping(handle);
	if (hand->segment == NULL)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("could not map dynamic shared memory segment"));
	hand->area = dsm_segment_address(hand->segment);
	if (ctx->in_worker)
		SharedFileSetAttach(&hand->area->fileset, hand->segment);
	hand->source = fc_source_attach(fc_area_files(hand->area), hand->area->nfiles,
									fc_area_names(hand->area), false, NULL, 0, NULL);
	if (ctx->in_worker && !fc_source_hold(hand->source))
	{
		fc_hand_close(hand);
		return false;
	}
	fc_hand_begin_copy(hand);
	ctx->hand = hand;
	return true;
}

bool
fc_hand_step(FcHand *hand)
{
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	if (!fc_piece_take(hand))
		return false;
	old = MemoryContextSwitchTo(hand->ctx->mcxt);
	fc_hand_unpack(hand);
	hand->unpacker.enough = false;
	MemoryContextSwitchTo(old);
	return true;
}

void
fc_hand_end(FcContext *ctx)
{
	FcHand	   *hand = ctx->hand;

	if (hand == NULL)
		return;
	/* after a fault, files before the faulty one may have one, too */
	while (fc_hand_step(hand))
		;
	fc_unpack_end(&hand->unpacker, fc_area_copies(hand->area)[hand->process].path);
	fc_hand_close(hand);
	ctx->hand = NULL;
}
