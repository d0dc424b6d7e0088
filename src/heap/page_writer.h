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

#include "heap/insert.h"

extern const FcWriterRoutine fc_write_page;

/* May the table be written by pages? */
extern bool fc_write_page_can(Relation rel);

/* A row's place in the file is known when its page's is */
extern void fc_page_place_rows(Page page, BlockNumber block);

#endif							/* FC_PAGE_WRITER_H */
