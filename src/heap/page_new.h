/*-------------------------------------------------------------------------
 *
 * heap/page_new.h
 *	  New files for tables that are written in pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_NEW_H
#define FC_PAGE_NEW_H

#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "compat/compat.h"

/*
 * The leader, before the load: makes a file for the table, and adds it to the
 * list.  The table is held (heap/hold.h), and its own file must be empty and
 * made by this transaction.
 */
extern FcLocator fc_new_begin(Relation rel, List **files);

/*
 * The leader, when all processes have written their pages and fc_hold_check
 * has found nothing: gives the tables their new files, and frees the list.
 * With "frozen" all rows in the files are frozen.  The change is visible after
 * CommandCounterIncrement.
 */
extern void fc_new_end(List *files, bool frozen);

#endif							/* FC_PAGE_NEW_H */
