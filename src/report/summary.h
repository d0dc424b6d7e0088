/*-------------------------------------------------------------------------
 *
 * report/summary.h
 *	  The last load of this session for eyes: fast_copy_summary().
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SUMMARY_H
#define FC_SUMMARY_H

#include "nodes/pg_list.h"

/*
 * The lines, as List of char *; NIL if there is no load, or the current user
 * may not see it.  None is wider than FC_SUMMARY_COLUMNS: psql's line under the
 * name of a column is two wider than the widest value.
 */
#define FC_SUMMARY_COLUMNS	78

extern List *fc_summary_lines(void);

#endif							/* FC_SUMMARY_H */
