/*-------------------------------------------------------------------------
 *
 * intake/finder.h
 *	  Finds chunks in bytes as they come, and lets other processes take them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FINDER_H
#define FC_FINDER_H

#include "context/shared.h"

/* How far the chunks of a file have been found */
typedef struct FcFound
{
	uint64		offset;			/* of the next byte */
	uint32		n;				/* chunks */
	uint32		known;			/* number of the last chunk in which a record
								 * begins: records in chunks before are whole */
	uint32		held;			/* number of the first chunk held back, because
								 * the marker is in it */
	FcChunkPoint at;			/* where the chunks found so far end */
} FcFound;

typedef struct FcFinder
{
	FcContext  *ctx;
	const FcDialect *dialect;
	FcFile	   *file;			/* in shared memory */
	FcInflow   *inflow;
	uint32		first;			/* number of the file's first chunk */
	FcChunkScan scan;			/* of the chunk that is being found */
	uint64		left;			/* bytes it lacks; 0: none has begun */
	FcFound		found;
	bool		bad;			/* binary: a record is malformed, and all that
								 * is known is published */
} FcFinder;

/*
 * Begins in a file, or goes on in it where "found" says.  All its bytes before
 * are in the copy; file->identity.size is their number.
 */
extern void fc_finder_begin(FcFinder *finder, FcContext *ctx, uint32 number, const FcFound *found);

/*
 * FcUnpacker.look: finds chunks in bytes that are in the copy, the next ones
 * of the file, and publishes them
 */
extern void fc_finder_look(void *arg, const char *buf, size_t len);

/* The same for bytes that are in a temporary copy already, from "at" on */
extern void fc_finder_look_back(FcFinder *finder, uint32 copy, uint64 at, uint64 size);

/* Ends the current chunk: bytes that do not come from here may follow */
extern void fc_finder_pause(FcFinder *finder);

/* Ends the last chunk and publishes all: the file has no more bytes */
extern void fc_finder_end(FcFinder *finder);

/*
 * Reads a chunk whose bytes are there, and notes what it does to every quote
 * state that it may begin in
 */
extern void fc_finder_read_chunk(FcContext *ctx, FcChunkScan *scan, FcChunk *chunk);

/*
 * Cuts a chunk at the byte "end": one before that is left alone, one after it
 * becomes empty
 */
extern void fc_finder_cut_chunk(FcContext *ctx, FcChunk *chunk, uint64 end);

#endif							/* FC_FINDER_H */
