/*-------------------------------------------------------------------------
 *
 * heap/append.h
 *	  Pages on their way to the end of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_APPEND_H
#define FC_APPEND_H

#include "common/relpath.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "compat/compat.h"

/* Pages written at a time */
#define FC_PAGE_BATCH	32

/* Called for each page once its block is known */
typedef void (*FcPlaceRows) (Page page, BlockNumber block);

/* Pages that are to become the last of a fork */
typedef struct FcAppend
{
	Relation	rel;
	FcLocator	file;			/* the table's new file; unused for shared
								 * buffers */
	ForkNumber	fork;
	char	   *pages;			/* one after the other */
	int			n;				/* at most FC_PAGE_BATCH */
	FcPlaceRows place;			/* or NULL */
	BlockNumber block;			/* where the first goes, as fc_file_reserve
								 * sets it; after fc_buffer_append: where the
								 * last went */
} FcAppend;

static inline Page
fc_append_page(const FcAppend *append, int i)
{
	return (Page) (append->pages + (Size) i * BLCKSZ);
}

#endif							/* FC_APPEND_H */
