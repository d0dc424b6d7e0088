/*-------------------------------------------------------------------------
 *
 * grammar/segment.h
 *	  The files that a table's pages are in.
 *
 * A table is in a sequence of files of the same number of blocks, of which
 * only the last may be shorter.  Knows nothing of the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SEGMENT_H
#define FC_SEGMENT_H

#include <stdint.h>

/* How many of n blocks, from this one on, are in this one's segment? */
static inline uint32_t
fc_segment_run(uint32_t block, uint32_t n, uint32_t segment_size)
{
	uint32_t	room = segment_size - block % segment_size;

	return n < room ? n : room;
}

#endif							/* FC_SEGMENT_H */
