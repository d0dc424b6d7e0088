/*-------------------------------------------------------------------------
 *
 * heap/visibility.h
 *	  The visibility map of a table that was written in pages and is frozen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_VISIBILITY_H
#define FC_VISIBILITY_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "compat/compat.h"

/*
 * The leader, after the load: writes the visibility map of a new file, whose
 * rows were all written in pages and are all frozen.
 */
extern void fc_write_page_map(Relation rel, FcLocator file);

/*
 * Marks n > 0 pages in the table's map, once they have been filled with frozen
 * rows and logged.  Their buffers are locked.
 */
extern void fc_buffer_map(Relation rel, const Buffer *pages, int n);

#endif							/* FC_VISIBILITY_H */
