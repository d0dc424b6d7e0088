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

/* Chunks that are noted of bytes whose place in the file is not known */
#define FC_NOTES	8

/* How far the chunks of a file have been found */
typedef struct FcFound
{
	uint64		offset;			/* of the next byte */
	uint32		n;				/* chunks */
	uint32		sized;			/* of these, whose size their number tells */
	uint32		known;			/* number of the last chunk in which a record
								 * begins: records in chunks before are whole */
	uint32		held;			/* number of the first chunk held back, because
								 * the marker is in it */
	FcChunkPoint at;			/* where the chunks found so far end */
} FcFound;

typedef struct FcFinder
{
	FcContext  *ctx;
	FcDialect	dialect;
	FcFile	   *file;			/* in shared memory */
	FcInflow   *inflow;
	FcChunk    *chunks;			/* of this file */
	FcChunkStart *starts;
	FcChunk    *notes;			/* or NULL: room for FC_NOTES, to go there
								 * instead; offsets count from the first byte */
	FcChunkScan scan;			/* of the chunk that is being found */
	uint64		left;			/* bytes it lacks; 0: none has begun */
	FcFound		found;
	bool		bad;			/* binary: a record is malformed, and all that
								 * is known is published */
} FcFinder;

/*
 * Begins in a file, or goes on in it where "found" says.  All its bytes before
 * are in their place; file->identity.size tells how many they are.
 */
extern void fc_finder_begin(FcFinder *finder, FcContext *ctx, uint32 number, const FcFound *found);

/* Begins somewhere in a file, and keeps notes of the chunks */
extern void fc_finder_begin_notes(FcFinder *finder, FcContext *ctx, uint32 number, FcChunk *notes);

/*
 * FcUnpacker.look: finds chunks in bytes that are in their place, and
 * publishes them unless it keeps notes
 */
extern void fc_finder_look(void *arg, const char *buf, size_t len);

/* Ends the chunk in hand: bytes that do not come from here may follow */
extern void fc_finder_pause(FcFinder *finder);

/* Takes bytes over that are in their place, and of which there are n notes */
extern void fc_finder_append(FcFinder *finder, const FcChunk *notes, uint32 n, uint64 size);

/* Ends the last chunk and publishes all: the file has no more bytes */
extern void fc_finder_end(FcFinder *finder);

/* The place in the arrays of the file's chunk number i */
static inline uint32
fc_finder_place(const FcFinder *finder, uint32 i)
{
	uint32		places = finder->ctx->shared->source.places;

	return places ? i % places : i;
}

#endif							/* FC_FINDER_H */
