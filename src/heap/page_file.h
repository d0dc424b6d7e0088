/*-------------------------------------------------------------------------
 *
 * heap/page_file.h
 *	  Appends pages to a table's new file: WAL, the file, the checkpointer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PAGE_FILE_H
#define FC_PAGE_FILE_H

#include "heap/append.h"

/*
 * Reserves the next n blocks of the file, for pages of one batch after the
 * other, and sets append->block to the first of them
 */
extern void fc_file_reserve(FcAppend *append, uint32 n);

/*
 * For each batch of pages whose blocks are reserved: tells the rows on them
 * their places, logs them, and returns when they are in the file
 */
extern void fc_file_append(FcAppend *append);

#endif							/* FC_PAGE_FILE_H */
