/*-------------------------------------------------------------------------
 *
 * heap/page_file.h
 *	  Pages to the end of a table's new file: WAL, the file, the checkpointer.
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

/* What direct I/O asks for, whether or not it is used */
#define FC_PAGE_ALIGN	4096
#define fc_page_align(p)	((char *) TYPEALIGN(FC_PAGE_ALIGN, p))

/* Called for each page once its block is known */
typedef void (*FcPlaceRows) (Page page, BlockNumber block);

/* Pages that are to become the last of a fork */
typedef struct FcAppend
{
	Relation	rel;
	FcLocator	file;			/* the table's new file; not for shared
								 * buffers */
	ForkNumber	fork;
	char	   *pages;			/* one after the other, aligned for I/O */
	int			n;				/* at most FC_PAGE_BATCH */
	bool		standard;		/* the hole is free: see log_newpage */
	FcPlaceRows place;			/* or NULL */
	BlockNumber block;			/* where the first goes: set when known */
} FcAppend;

/* Appends the pages, which are changed.  Returns when they are there. */
extern void fc_file_append(FcAppend *append);

/*
 * Appends pages in steps, for heap/page_direct.c.
 *
 * Makes room for them at the end of the fork and returns a descriptor for
 * direct I/O (a transient one), with block set; -1, and nothing was done, if
 * that cannot be had here.
 */
extern int	fc_file_reserve(FcAppend *append);

/* They know their place, are in the WAL and have their checksums then */
extern void fc_file_log(FcAppend *append);

/* Writes them through the cache, to blocks that may be there or not */
extern void fc_file_write(const FcAppend *append);

/* They are in the file: makes sure that a checkpoint knows */
extern void fc_file_settle(FcAppend *append);

/* Where a block is in the file of its segment */
#define fc_file_offset(block) \
	((off_t) ((block) % (BlockNumber) RELSEG_SIZE) * BLCKSZ)

#endif							/* FC_PAGE_FILE_H */
