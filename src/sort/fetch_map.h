/*-------------------------------------------------------------------------
 *
 * sort/fetch_map.h
 *	  Copies records of the source file, in any order, out of a mapping of it.
 *
 * Does for a file in the page cache what sort/fetch_window.h does with reads.
 * It needs no window and no system call for each record, so that it takes the
 * entries of one task at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FETCH_MAP_H
#define FC_FETCH_MAP_H

#include "context/shared.h"
#include "sort/fetch_window.h"
#include "source/stream.h"

typedef struct FcMap FcMap;

/*
 * Should the file be mapped?  True if the setting says so, or if nearly all of
 * the file is in the page cache, which each call looks at anew.
 */
extern bool fc_map_worth(const FcShared *shared, const FcSource *source);

/*
 * memory: bytes that records may take in all (a single larger one is copied to
 * a buffer of its own).  NULL if the file cannot be mapped.  All of it, the
 * mapping too, lives in a child of the current memory context.
 */
extern FcMap *fc_map_begin(const FcSource *source, const FcDialect *dialect,
						   Size memory);

/*
 * Sets the entries whose records come next; what is left of others is
 * forgotten
 */
extern void fc_map_entries(FcMap *map, FcEntryNext next, void *arg);

/*
 * The next record in the order of the entries, as fc_read_next gives it, and
 * marked if that can be.  ERROR if the file has got shorter, or its disk fails.
 */
extern bool fc_map_next(FcMap *map, FcEntry *entry, FcRecord *record);

/* What was copied so far; a batch of records counts as one read */
extern const FcReadStats *fc_map_stats(const FcMap *map);
extern void fc_map_end(FcMap *map);

#endif							/* FC_FETCH_MAP_H */
