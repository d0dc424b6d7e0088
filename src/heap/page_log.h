/*-------------------------------------------------------------------------
 *
 * heap/page_log.h
 *	  WAL of new pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_LOG_H
#define FC_PAGE_LOG_H

#include "storage/buf.h"

#include "heap/append.h"

/*
 * Logs a new page, all of whose rows say where they are, and sets its LSN.  The
 * page is that of the buffer, which is locked and dirty; or, without one, it
 * will be a block of append's file.  Allocates nothing.
 */
extern void fc_log_rows(const FcAppend *append, Page page, BlockNumber block,
						Buffer buffer);

/* Logs pages that have their place in append's file, and sets their LSNs */
extern void fc_log_pages(const FcAppend *append);

#endif							/* FC_PAGE_LOG_H */
