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

/* May the table be written in pages? */
extern bool fc_write_page_can(Relation rel);

/* Tells the rows of a page their places, once the page's block is known */
extern void fc_page_place_rows(Page page, BlockNumber block);

#endif							/* FC_PAGE_WRITER_H */
