/*-------------------------------------------------------------------------
 *
 * sort/fetch_window.h
 *	  Reads records of the source file in an order that is not the file's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FETCH_WINDOW_H
#define FC_FETCH_WINDOW_H

#include "io/io.h"
#include "source/source.h"

/* One record of the file, as found by the scan phase.  24 bytes. */
typedef struct FcEntry
{
	int64		key;			/* 0 where the key is NULL */
	uint64		offset;			/* of the record's first byte */
	uint32		length;			/* bytes without the line end */
	uint32		info;			/* 1 if the key is NULL, else 0; above that
								 * bit the record's number in its chunk, from
								 * 0, where a column takes numbers of a
								 * sequence */
} FcEntry;

#define fc_entry_null(entry)	((entry)->info & 1)
#define fc_entry_number(entry)	((entry)->info >> 1)
#define fc_entry_info(null, number)	((uint32) (number) << 1 | (null))

/* The stream of entries: false at its end. */
typedef bool (*FcEntryNext) (void *arg, FcEntry *entry);

typedef struct FcReader FcReader;

/* Counters for the report */
typedef struct FcReadStats
{
	uint64		bytes;			/* bytes read, gaps included */
	uint64		reads;			/* reads issued */
	int			refused;		/* errno with which the kernel refused the
								 * method's queue, so that fc_io_sync is used;
								 * or 0 */
} FcReadStats;

/*
 * memory: bytes the reader may use in all (a single larger record is read into
 * a buffer of its own).  Everything lives in a child of the current memory
 * context; fc_read_end, or the end of that context, drains the queue.
 */
extern FcReader *fc_read_begin(const FcSource *source,
							   const FcIoMethod *method, int depth,
							   Size memory, FcEntryNext next, void *arg);

/*
 * The next record in key order: *data has entry->length bytes, is writable
 * and has one writable byte more, until the next call.  False at the end.
 */
extern bool fc_read_next(FcReader *reader, FcEntry *entry, char **data);

/* Records of this length that a reader with so much memory reads at a time */
extern uint64 fc_read_window(Size memory, uint64 length);

/*
 * Two records are read together if no more than this lies between them.  For a
 * cached file a request costs about 0.7 microseconds, in which some 4 kB are
 * copied from the cache.  For a file on disk the gap is at most one more page
 * of a read that costs 10 microseconds or more.
 */
#define FC_READ_GAP		4096

extern const FcReadStats *fc_read_stats(const FcReader *reader);
extern void fc_read_end(FcReader *reader);

#endif							/* FC_FETCH_WINDOW_H */
