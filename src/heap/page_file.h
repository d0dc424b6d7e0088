/*-------------------------------------------------------------------------
 *
 * heap/page_file.h
 *	  Appends pages to a table's new file: WAL, the file, the checkpointer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_FILE_H
#define FC_PAGE_FILE_H

#include "common/relpath.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "compat/compat.h"

/* Pages per WAL record and write */
#define FC_PAGE_BATCH	32

/* How pages are aligned in memory, because direct I/O may ask for it */
#define FC_PAGE_ALIGN	4096
#define fc_page_align(p)	((char *) TYPEALIGN(FC_PAGE_ALIGN, p))

/* Called for each page once its block is known */
typedef void (*FcPlaceRows) (Page page, BlockNumber block);

/* Pages that are to become the last of a fork */
typedef struct FcAppend
{
	Relation	rel;
	FcLocator	file;			/* the table's new file; unused for shared
								 * buffers */
	ForkNumber	fork;
	char	   *pages;			/* one after the other, aligned for I/O */
	int			n;				/* at most FC_PAGE_BATCH */
	bool		standard;		/* the hole is free: see log_newpage */
	FcPlaceRows place;			/* or NULL */
	BlockNumber block;			/* where the first goes, as fc_file_reserve
								 * sets it; after fc_buffer_append: where the
								 * last went */
} FcAppend;

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
