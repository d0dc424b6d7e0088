/*-------------------------------------------------------------------------
 *
 * fc_write_page.h
 *	  The writer for tables that only this transaction can see: pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITE_PAGE_H
#define FC_WRITE_PAGE_H

#include "common/relpath.h"

#include "fc_write.h"

extern const FcWriterRoutine fc_write_page;

/* May the table, which is empty and nobody else's, be written by pages? */
extern bool fc_write_page_can(Relation rel);

/* Pages per WAL record and turn at the file */
#define FC_PAGE_BATCH	32

/*
 * Appends pages, at most FC_PAGE_BATCH, to a fork of the table: WAL where it
 * needs it, then the file.  They lie one behind the other from "pages",
 * aligned for I/O, and are changed.  place(page, block) is called for each
 * once its block is known; it may be NULL.  standard: the hole between
 * pd_lower and pd_upper is free.
 */
extern void fc_write_pages(Relation rel, ForkNumber fork, char *pages, int n,
						   bool standard,
						   void (*place) (Page page, BlockNumber block));

/* What direct I/O asks for, whether or not it is used */
#define FC_PAGE_ALIGN	4096
#define fc_page_align(p)	((char *) TYPEALIGN(FC_PAGE_ALIGN, p))

/*
 * The visibility map of a table whose rows are all frozen and were all
 * written by pages; leader, after the load.
 */
extern void fc_write_page_map(Relation rel);

#endif							/* FC_WRITE_PAGE_H */
