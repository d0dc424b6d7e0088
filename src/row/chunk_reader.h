/*-------------------------------------------------------------------------
 *
 * row/chunk_reader.h
 *	  The records that start in a chunk, one after the other.
 *
 * Every walk over a chunk's records uses this: it knows where the chunk ends,
 * notes an error for a malformed record, ends the walk after the first known
 * bad record, and counts.  A process that alone walks over all chunks, in
 * their order, needs no split before: when it comes to a chunk it knows how
 * that begins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CHUNK_READER_H
#define FC_CHUNK_READER_H

#include "context/process.h"
#include "errors/first_error.h"
#include "row/batch.h"

typedef struct FcChunkReader
{
	FcContext  *ctx;
	FcStream   *stream;
	FcDialect  *dialect;		/* of the chunk's file */
	bool		looks;			/* the caller samples records: known errors do
								 * not end the walk, none is noted, and
								 * beginnings that are not found yet are
								 * guessed */
	FcUnsplit	unsplit;		/* see fc_chunk_reader_find */
	struct						/* sums over the chunks so far, of a reader
								 * that finds the chunks */
	{
		uint64		line;		/* lines of its file */
		uint64		records;	/* of all files */
		uint64		embedded;	/* line ends in quotes, of the current chunk */
		bool		over;		/* the walk has ended before a chunk did */
	}			pass;
	uint32		chunk;
	uint64		end;			/* of the chunk, or before, as the caller sets
								 * it */
	uint64		line;			/* lines of the file before the chunk's first
								 * record, and records, if an expression names
								 * them */
	uint64		row;
	uint64		found;			/* records so far, with a malformed one */
	bool		malformed;		/* the walk has ended at a malformed record */
	bool		marker;			/* unsplit: ... or at a marker, at
								 * record.offset */
	FcRecord	record;			/* the current one; its data is NULL if an
								 * error was thrown in the search for it */
} FcChunkReader;

/* buffer: bytes read at a time.  Allocates in the current memory context. */
extern void fc_chunk_reader_begin(FcChunkReader *reader, FcContext *ctx,
								  size_t buffer);

/*
 * Lets the reader find records by itself, without a split.  Its process calls
 * fc_chunk_reader_leave after each chunk that it could enter.
 *
 * FC_UNSPLIT_FIND: it walks over all chunks, one after the other.  This sets
 * where each ends, at the next record, and its number of records.  A marker
 * ends the walk, and chunks after a file's data become empty; after a bad
 * record chunks have no records.
 *
 * FC_UNSPLIT_GUESS: any process takes any chunk.  Its first record is taken to
 * begin after its first line end, as if its first bytes were in no quotes.  In
 * the end fc_chunks_prove says whether all guesses were right.
 */
extern void fc_chunk_reader_find(FcChunkReader *reader, FcUnsplit unsplit);

/*
 * Goes to the first record of a chunk; false if it has none, or none before an
 * error
 */
extern bool fc_chunk_reader_enter(FcChunkReader *reader, uint32 chunk);

/*
 * Ends the walk at the current record, which is malformed or, if "end" says
 * so, a marker; returns false
 */
extern bool fc_chunk_reader_refuse(FcChunkReader *reader, FcEnd end);

/*
 * Counts the current record, an empty line or a comment, unless the caller only
 * looks; false, as fc_chunk_reader_refuse, if a comment has line ends in it
 */
extern bool fc_chunk_reader_skip(FcChunkReader *reader);

/* Goes to the next record; false if there is none to be looked at */
static inline bool
fc_chunk_reader_any(FcChunkReader *reader)
{
	FcRecord   *record = &reader->record;
	FcEnd		end = fc_stream_next(reader->stream, reader->dialect, record);

	if (end == FC_END_NONE || record->offset >= reader->end)
		return false;
	reader->found++;
	reader->pass.embedded += record->embedded;
	record->row = reader->row + reader->found;
	record->line = reader->line + reader->found + reader->pass.embedded;
	fc_context_pace(reader->ctx, record->total);
	if (end != FC_END_FOUND || record->unterminated)
		return fc_chunk_reader_refuse(reader, end);
	return !fc_error_beyond(reader->ctx->shared, record->offset) || reader->looks;
}

/*
 * Goes to the next record that the load does not skip; false if there is none
 * to be looked at
 */
static inline bool
fc_chunk_reader_next(FcChunkReader *reader)
{
	while (fc_chunk_reader_any(reader))
	{
		if (!fc_plan_skips(&reader->ctx->shared->plan, reader->dialect, reader->record.data, reader->record.length))
			return true;
		if (!fc_chunk_reader_skip(reader))
			return false;
	}
	return false;
}

/*
 * Makes the next records a batch; false, with nothing taken, if
 * fc_chunk_reader_next must look at the next one
 */
static inline bool
fc_chunk_reader_fill(FcChunkReader *reader, FcBatch *batch)
{
	if (!fc_batch_fill(batch, reader->stream, reader->dialect, reader->end))
		return false;
	batch->row = reader->row + reader->found;
	batch->line = reader->line + reader->found + reader->pass.embedded;
	reader->found += batch->n;
	reader->pass.embedded += batch->embedded;
	fc_context_pace(reader->ctx, batch->bytes);
	return true;
}

/*
 * After the walk over a whole chunk: counts its records, ERROR if they are not
 * as many as the split found.
 */
extern void fc_chunk_reader_leave(FcChunkReader *reader);
extern void fc_chunk_reader_end(FcChunkReader *reader);

#endif							/* FC_CHUNK_READER_H */
