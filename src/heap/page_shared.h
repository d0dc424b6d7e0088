/*-------------------------------------------------------------------------
 *
 * heap/page_shared.h
 *	  Pages to the end of a table that others use.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_SHARED_H
#define FC_PAGE_SHARED_H

#include "storage/buf.h"

#include "heap/page_file.h"

/*
 * Appends the pages through shared buffers, in their order, though perhaps not
 * one right after the other; append->block is the last one's place then.  The
 * pages themselves are changed.
 */
extern void fc_buffer_append(FcAppend *append, BufferAccessStrategy strategy);

/* Tells the free space map of a page */
extern void fc_buffer_record_space(Relation rel, BlockNumber block, Size space);

/* The share of the table, in percent, that its map knows to be free */
extern int	fc_buffer_free_percent(Relation rel);

#endif							/* FC_PAGE_SHARED_H */
