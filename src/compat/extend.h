/*-------------------------------------------------------------------------
 *
 * compat/extend.h
 *	  Makes a table longer by many blocks at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_EXTEND_H
#define FC_EXTEND_H

#include "storage/bufmgr.h"
#include "utils/relcache.h"

/*
 * Adds at most n blocks to the end of the table.  Returns how many, and their
 * buffers, in order, pinned and locked.  Another session may have found one of
 * them before it was locked, and put rows on it.  ERROR as from core's own
 * extension.
 */
extern int	fc_extend_buffers(Relation rel, BufferAccessStrategy strategy, int n,
							  Buffer *buffers);

#endif							/* FC_EXTEND_H */
