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
 * Leader, before the load: makes a file for the table, which is held, and
 * whose own must be empty and of this transaction, and adds it to the list.
 */
extern FcLocator fc_new_begin(Relation rel, List **files);

/*
 * Leader, when all processes have written what they had to, and fc_hold_check
 * has found nothing: the tables get their files.  With "frozen" all rows in
 * the files are.  To be seen after CommandCounterIncrement.
 */
extern void fc_new_end(List *files, bool frozen);

#endif							/* FC_PAGE_NEW_H */
