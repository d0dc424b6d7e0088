/*-------------------------------------------------------------------------
 *
 * fc_write_file.h
 *	  Pages to the end of a table's file, many in a write.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITE_FILE_H
#define FC_WRITE_FILE_H

#include "common/relpath.h"
#include "utils/rel.h"

/*
 * Writes n pages, one behind the other in memory, as blocks "block" and on of
 * a fork that ends there; its first file exists.  The caller holds the lock
 * the fork is extended under.  sync: the next checkpoint is to sync them; one
 * must not begin while this runs.
 */
extern void fc_file_append(Relation rel, ForkNumber fork, const char *pages,
						   BlockNumber block, uint32 n, bool sync);

#endif							/* FC_WRITE_FILE_H */
