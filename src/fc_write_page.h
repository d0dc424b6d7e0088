/*-------------------------------------------------------------------------
 *
 * fc_write_page.h
 *	  The writer for tables that only this transaction can see: pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITE_PAGE_H
#define FC_WRITE_PAGE_H

#include "fc_write.h"

extern const FcWriterRoutine fc_write_page;

/* May the table, which is empty and nobody else's, be written by pages? */
extern bool fc_write_page_can(Relation rel);

/*
 * The visibility map of a table whose rows are all frozen and were all
 * written by pages; leader, after the load.
 */
extern void fc_write_page_map(Relation rel);

#endif							/* FC_WRITE_PAGE_H */
