/*-------------------------------------------------------------------------
 *
 * heap/page_writer.h
 *	  The writer that forms pages itself, for tables without indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_WRITER_H
#define FC_PAGE_WRITER_H

#include "storage/bufpage.h"

#include "heap/writer.h"

extern const FcWriterRoutine fc_write_page;

/* May the table be written by pages? */
extern bool fc_write_page_can(Relation rel);

/* A row's place in the file is known when its page's is */
extern void fc_page_place_rows(Page page, BlockNumber block);

/*
 * The visibility map of a new file, whose rows are all frozen and were all
 * written by pages; leader, after the load.
 */
extern void fc_write_page_map(Relation rel, FcLocator file);

#endif							/* FC_PAGE_WRITER_H */
