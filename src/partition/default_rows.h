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

/* Returns the *n ranges of "parts", ascending, with neighbours merged */
extern FcRange *fc_ranges_merged(const FcNewPartition *parts, int nparts, int *n);

/*
 * ERROR 23514 if the default partition has a row that belongs to one of
 * "parts".  True if it has rows, but none of these; false if it has none, or
 * is foreign or partitioned, which ATTACH deals with itself.
 */
extern bool fc_default_check(Relation defrel, Relation parent, const FcRoute *route,
							 const FcNewPartition *parts, int nparts);

#endif							/* FC_DEFAULT_ROWS_H */
