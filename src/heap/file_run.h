/*-------------------------------------------------------------------------
 *
 * heap/file_run.h
 *	  Where pages are cut at the borders of a table's files.
 *
 * A table is in a sequence of files of the same number of blocks, of which
 * only the last may be shorter.  Knows nothing of the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FILE_RUN_H
#define FC_FILE_RUN_H

#include <stdint.h>

/* Returns how many of n blocks, from this one on, are in its segment */
static inline uint32_t
fc_file_run(uint32_t block, uint32_t n, uint32_t segment_size)
{
	uint32_t	room = segment_size - block % segment_size;

	return n < room ? n : room;
}

#endif							/* FC_FILE_RUN_H */
