/*-------------------------------------------------------------------------
 *
 * grammar/chunk.h
 *	  Cuts a file into chunks at records without reading it serially.
 *
 * 1. For each quote state in which a chunk may begin, a process finds out what
 *    it does (FcChunkScan, FcChunk).
 * 2. The leader goes through all chunks once and finds the state in which each
 *    begins (fc_chunk_resolve).
 *
 * A record belongs to the chunk of its first byte.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CHUNK_H
#define FC_CHUNK_H

#include "grammar/binary.h"

/* What a chunk does when it begins in one state; positions from its start */
typedef struct FcChunkRun
{
	uint64_t	records;		/* record ends met */
	uint64_t	embedded;		/* in quotes, as FcQuoteRun.embedded */
	uint64_t	first;			/* after the first record end, or FC_NOWHERE */
	uint64_t	before;			/* the part of embedded before first */
	uint64_t	marker;			/* as FcQuoteRun.marker */
	FcQuote		state;			/* state after the last byte */
	bool		ends_record;	/* the last byte ends a record */
	uint8_t		opened;			/* as FcQuoteRun.opened */
} FcChunkRun;

/* A chunk as a process reports it; 168 bytes, without pointers */
typedef struct FcChunk
{
	uint64_t	start;			/* offset in the file; set by the caller */
	uint64_t	length;			/* bytes; may be 0 */
	char		head[4];		/* its first bytes: a marker may be there */
	FcChunkRun	run[FC_NQUOTES];	/* by start state; those that cannot occur
									 * are unset */
} FcChunk;

/* The work of one process on one chunk */
typedef struct FcChunkScan
{
	bool		occurs[FC_NQUOTES]; /* runs that are needed */
	FcQuoteRun	run[FC_NQUOTES];

	/*
	 * A run that has come to the same state as one of a lower number finds the
	 * same from there on, and is fed no more
	 */
	bool		joined[FC_NQUOTES];
	FcQuote		with[FC_NQUOTES];
	uint64_t	records[FC_NQUOTES];	/* how many more it has met than the
										 * other, modulo 2^64 */
	uint64_t	embedded[FC_NQUOTES];
	char		head[4];
	FcWalk		walk;			/* binary: stays from chunk to chunk */
} FcChunkScan;

/*
 * What is known of a point between two chunks.  After the file's header it is
 * FC_OUTSIDE, true, header lines, 0, 0, FC_NOWHERE.
 *
 * At the file's end, records counts a last record without a line end, too, and
 * a state other than FC_OUTSIDE tells of a quote that never closes (text: of a
 * last backslash).
 */
typedef struct FcChunkPoint
{
	FcQuote		state;
	bool		starts_record;	/* a record starts here, or the file ends */
	uint64_t	line;			/* lines before, as COPY counts them */
	uint64_t	records;		/* records whose first byte lies before */
	uint8_t		opened;			/* so many bytes before are the beginning of a
								 * marker */
	uint64_t	marker;			/* file offset of the first marker before, or
								 * FC_NOWHERE */
} FcChunkPoint;

/* A chunk's true beginning */
typedef struct FcChunkStart
{
	FcQuote		state;			/* before the chunk's first byte */
	uint64_t	line;			/* lines before the chunk's first byte */
	uint64_t	first;			/* file offset of the first record that starts
								 * in the chunk, or FC_NOWHERE */
	uint64_t	first_line;		/* lines before that record; as line if none */
	uint64_t	records;		/* records that start in the chunk */
	uint64_t	before;			/* records that start in earlier chunks */

	/* set where "first" is guessed, until that is proved */
	uint64_t	next;			/* file offset after the last of its records;
								 * 0: not known, FC_NOWHERE: a marker */
	uint64_t	embedded;		/* line ends inside quotes, of its records */
} FcChunkStart;

/* A chunk about which nothing is known */
static const FcChunkStart fc_chunk_unknown = {.state = FC_OUTSIDE,.first = FC_NOWHERE};

/*
 * A process begins a chunk, feeds the chunk's bytes in order, in pieces of any
 * size, and finishes it.  dialect->eol must be known.  Finish leaves
 * chunk->start alone and sets chunk->length to the bytes fed.
 *
 * Binary: one scan takes all chunks of a file in their order, and the caller
 * zeroes its walk before the first.
 */
extern void fc_chunk_begin(const FcDialect *dialect, FcChunkScan *scan);
extern void fc_chunk_feed(const FcDialect *dialect, FcChunkScan *scan,
						  const char *buf, size_t len);
extern void fc_chunk_finish(const FcChunkScan *scan, FcChunk *chunk);

/*
 * Gives each of the n chunks its true beginning.  *at comes in as the point
 * before chunks[0] and goes out as the one after the last chunk.  False, with
 * nothing to rely on, if chunks do not follow each other.
 *
 * If at->marker is set, the data end there: the caller resolves once more,
 * without the bytes from there on.
 */
extern bool fc_chunk_resolve(const FcDialect *dialect, const FcChunk *chunks,
							 size_t n, FcChunkPoint *at, FcChunkStart *starts);

#endif							/* FC_CHUNK_H */
