/*-------------------------------------------------------------------------
 *
 * heap/page_file.h
 *	  Appends pages to a table's new file: WAL, the file, the checkpointer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_FILE_H
#define FC_PAGE_FILE_H

#include "heap/append.h"

/*
 * Reserves the next n blocks of the file, for pages of one batch after the
 * other, and sets append->block to the first of them.  "room": the pages will
 * be written directly.
 */
extern void fc_file_reserve(FcAppend *append, uint32 n, bool room);

/*
 * The steps for each batch of pages whose blocks are reserved.
 *
 * Tells the rows on the pages their places, logs the pages, and sets their LSNs
 * and checksums.
 */
extern void fc_file_log(FcAppend *append);

/* Writes the pages through the cache, and returns when they are there */
extern void fc_file_write(const FcAppend *append);

/* A transient descriptor for a direct write of all pages; -1: not possible */
extern int	fc_file_open_direct(const FcAppend *append);

/* When the pages are in the file: makes sure that a checkpoint syncs it */
extern void fc_file_settle(FcAppend *append);

/* Where a block is in the file of its segment */
#define fc_file_offset(block) \
	((off_t) ((block) % (BlockNumber) RELSEG_SIZE) * BLCKSZ)

/*
 * Takes room for about so many bytes in the main fork's first segment, before
 * the first page is written
 */
extern void fc_file_expect(const FcLocator *file, uint64 bytes);

/* Gives room beyond the end of the main fork back: no more pages will come */
extern void fc_file_trim(FcLocator *file);

#endif							/* FC_PAGE_FILE_H */
