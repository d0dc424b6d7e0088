/*-------------------------------------------------------------------------
 *
 * partition/default_rows.h
 *	  Rows of the default partition that are in the way of new partitions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DEFAULT_ROWS_H
#define FC_DEFAULT_ROWS_H

#include "context/shared.h"

/* The ranges of "parts", ascending, neighbours merged into one; *n of them */
extern FcRange *fc_ranges_merged(const FcNewPartition *parts, int nparts, int *n);

/*
 * Looks for rows that are in the way, if there can be any that we can read
 * (ATTACH deals with foreign and partitioned defaults itself): ERROR 23514.
 * True if the default partition has rows, and none of them is.
 */
extern bool fc_default_check(Relation defrel, Relation parent, const FcRoute *route,
							 const FcNewPartition *parts, int nparts);

#endif							/* FC_DEFAULT_ROWS_H */
