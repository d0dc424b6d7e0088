/*-------------------------------------------------------------------------
 *
 * intake/chunks.h
 *	  Files that are unpacked by the processes that scan them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CHUNKS_H
#define FC_CHUNKS_H

#include "portability/instr_time.h"

#include "context/shared.h"
#include "source/decompress.h"

/* Where an unpacked file is */
typedef struct FcUnpacked
{
	uint32		copy;			/* number of the temporary copy, from 1; 0:
								 * the file is not packed */
	uint64		at;
	uint64		size;
} FcUnpacked;

/* What the processes that unpack share, in a segment of its own */
typedef struct FcUnpackArea
{
	/* written by the leader before processes unpack */
	uint32		nfiles;
	uint32		npacked;
	uint32		ncopies;		/* processes */
	Size		files_at;		/* offset of FcFile[nfiles], as named */
	Size		names_at;		/* offset of their paths */
	Size		order_at;		/* offset of uint32[npacked]: numbers of files
								 * in the order in which they are taken */
	Size		unpacked_at;	/* offset of FcUnpacked[nfiles] */
	Size		copies_at;		/* offset of FcCopy[ncopies] */

	/* shared by all */
	pg_atomic_uint32 next;		/* place in the order: the file to be taken */
	pg_atomic_uint64 taken;		/* bytes that were read of the packed files */
	pg_atomic_uint32 done;		/* files that are unpacked, or given up */
	FcBudget	budget;
	slock_t		mutex;			/* for faulty and fault */
	uint32		faulty;			/* the first file known that cannot be
								 * unpacked */
	FcUnpackFault fault;
	instr_time	ended;			/* when the last of the files was done */
	SharedFileSet fileset;		/* the temporary copies */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} FcUnpackArea;

#define fc_area_files(s) ((FcFile *) ((char *) (s) + (s)->files_at))
#define fc_area_names(s) ((char *) (s) + (s)->names_at)
#define fc_area_order(s) ((uint32 *) ((char *) (s) + (s)->order_at))
#define fc_area_unpacked(s) ((FcUnpacked *) ((char *) (s) + (s)->unpacked_at))
#define fc_area_copies(s) ((FcCopy *) ((char *) (s) + (s)->copies_at))

/* One of the packed files as input; source and area have the same files */
typedef struct FcFileInput
{
	FcInput		input;
	const FcSource *source;
	uint64		at;
	uint64		end;
} FcFileInput;

extern void fc_inflow_input(FcFileInput *input, const FcSource *source,
							uint32 number);

/*
 * One process's work: unpacks files into its temporary copy until none is left.
 * Of files that cannot be unpacked the area keeps the first, with its fault.
 * With ctx, whose shared memory has room for chunks, the process publishes
 * chunks meanwhile.
 */
extern void fc_inflow_unpack(FcUnpackArea *area, const FcSource *source,
							 int process, FcContext *ctx,
							 void (*progress) (void *arg), void *progress_arg);

/* Any process, at the beginning of a phase: unpacks files if there are any */
extern void fc_inflow_run(FcContext *ctx);

/*
 * Leader, in a phase: begins to receive the rest of an input, whose first bytes
 * are in the first temporary copy already.  With "leaves", what comes after a
 * marker may stay unread.  The receiver is in the current memory context.
 */
typedef struct FcReceiver FcReceiver;

extern FcReceiver *fc_inflow_begin_receiving(FcContext *ctx, FcUnpacker *unpacker,
											 FcUnpacking *unpacking, bool leaves);

/*
 * Receives some more; false once nothing is left that is wanted.  *end then
 * says how the input ended; FC_UNPACK_MORE: the rest is not wanted, because a
 * record that was received ends the load with an error.
 */
extern bool fc_inflow_receive(FcReceiver *receiver, FcUnpackEnd *end,
							  FcUnpackFault *fault);

/*
 * fc_context_take for chunks: waits, under the event FastCopyInflow, until the
 * next one is published.  False as well if a file cannot be unpacked.
 */
extern bool fc_inflow_take(FcContext *ctx, uint32 *chunk);

/*
 * Leader, after the phase: from then on all chunks are there, without gaps
 * between their numbers.  Returns the records in all files.
 */
extern uint64 fc_inflow_finish(FcShared *shared);

#endif							/* FC_CHUNKS_H */
