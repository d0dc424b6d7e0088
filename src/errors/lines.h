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

/* Lives in the current memory context; chunks must be resolved */
extern FcLines *fc_lines_begin(FcContext *ctx);

/*
 * The line on which the record ends.  Records asked for in file order cost one
 * pass over the chunks they stand in, others one over theirs.
 */
extern uint64 fc_lines_at(FcLines *lines, uint64 offset, uint64 length);
extern void fc_lines_end(FcLines *lines);

/* The number of the chunk that holds "offset" */
extern uint32 fc_lines_chunk(const FcShared *shared, uint64 offset);

#endif							/* FC_LINES_H */
