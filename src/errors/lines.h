/*-------------------------------------------------------------------------
 *
 * errors/lines.h
 *	  Line numbers of records, as COPY counts them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LINES_H
#define FC_LINES_H

#include "context/shared.h"

typedef struct FcLines FcLines;

/*
 * In the current memory context, of which it takes 64 kB: free it by pfree.
 * For chunks that the leader has resolved.
 */
extern FcLines *fc_lines_begin(FcContext *ctx);

/*
 * The number of the line on which the record ends.  To ask for records in the
 * order of the file costs one pass over their chunks; to go back costs a pass
 * over the chunk up to the record.
 */
extern uint64 fc_lines_at(FcLines *lines, uint64 offset, uint64 length);

/* The number of the chunk that holds "offset" */
extern uint32 fc_lines_chunk(FcShared *shared, uint64 offset);

#endif							/* FC_LINES_H */
