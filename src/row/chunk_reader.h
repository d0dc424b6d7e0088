/*-------------------------------------------------------------------------
 *
 * row/chunk_reader.h
 *	  The records that start in a chunk, one after the other.
 *
 * Every walk over a chunk's records goes through this: it knows where the
 * chunk ends, keeps an error for a malformed record, ends the walk at records
 * that stand after the first bad one known, and counts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CHUNK_READER_H
#define FC_CHUNK_READER_H

#include "context/pace.h"
#include "errors/first_error.h"

typedef struct FcChunkReader
{
	FcContext  *ctx;
	FcStream   *stream;
	bool		looks;			/* the caller samples records: known errors do
								 * not end the walk, none is kept */
	bool		unsplit;		/* the caller finds the chunks by this walk, in
								 * which markers may come up: they end it */
	uint32		chunk;
	uint64		end;			/* of the chunk, or where the caller wants to
								 * end */
	uint64		found;			/* records so far, a malformed one too */
	bool		malformed;		/* the walk has ended at such a one */
	bool		marker;			/* unsplit: or at a marker, record.offset */
	FcRecord	record;			/* the one in hand; its data is NULL if an
								 * error was thrown in the search for it */
} FcChunkReader;

/* buffer: bytes read at a time.  Allocates in the current memory context. */
extern void fc_chunk_reader_begin(FcChunkReader *reader, FcContext *ctx,
								  size_t buffer);

/*
 * Goes to the first record of a chunk; false if there is none to be looked at.
 */
extern bool fc_chunk_reader_enter(FcChunkReader *reader, uint32 chunk);

/*
 * Ends the walk at the record in hand, which is malformed or, if "end" says so,
 * a marker; returns false
 */
extern bool fc_chunk_reader_refuse(FcChunkReader *reader, FcEnd end);

/* Goes to the next record; false if there is none to be looked at */
static inline bool
fc_chunk_reader_next(FcChunkReader *reader)
{
	FcRecord   *record = &reader->record;
	FcEnd		end = fc_stream_next(reader->stream, &reader->ctx->dialect, record);

	if (end == FC_END_NONE || record->offset >= reader->end)
		return false;
	Assert(end != FC_END_FOUND || record->length <= record->total);
	reader->found++;
	fc_pace(reader->ctx, record->total);
	if (end != FC_END_FOUND || record->unterminated)
		return fc_chunk_reader_refuse(reader, end);
	return !fc_error_beyond(reader->ctx->shared, record->offset) || reader->looks;
}

/*
 * After the walk over a whole chunk: counts its records, ERROR if they are not
 * as many as the split found.
 */
extern void fc_chunk_reader_leave(FcChunkReader *reader);
extern void fc_chunk_reader_end(FcChunkReader *reader);

#endif							/* FC_CHUNK_READER_H */
