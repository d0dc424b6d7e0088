/*-------------------------------------------------------------------------
 *
 * heap/page_shared.h
 *	  Appends pages to a table that other sessions use.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_SHARED_H
#define FC_PAGE_SHARED_H

#include "storage/buf.h"

#include "heap/append.h"

/*
 * Appends the pages through shared buffers, in their order, but perhaps with
 * pages of other sessions in between.  Tells the rows on them their places, and
 * sets append->block to the block of the last page.
 */
extern void fc_buffer_append(FcAppend *append, BufferAccessStrategy strategy);

/* Tells the free space map how many bytes of a page are free */
extern void fc_buffer_record_space(Relation rel, BlockNumber block, Size space);

/* The share of the table, in percent, that its free space map says is free */
extern int	fc_buffer_free_percent(Relation rel);

#endif							/* FC_PAGE_SHARED_H */
