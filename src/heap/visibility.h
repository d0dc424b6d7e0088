/*-------------------------------------------------------------------------
 *
 * heap/visibility.h
 *	  The visibility map of a table that was written by pages and is frozen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_VISIBILITY_H
#define FC_VISIBILITY_H

#include "utils/relcache.h"

#include "compat/compat.h"

/*
 * The visibility map of a new file, whose rows are all frozen and were all
 * written by pages; leader, after the load.
 */
extern void fc_write_page_map(Relation rel, FcLocator file);

#endif							/* FC_VISIBILITY_H */
