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
	/* written by the leader before */
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
	pg_atomic_uint32 next;		/* to be taken */
	pg_atomic_uint64 taken;		/* bytes of the packed files */
	pg_atomic_uint32 done;		/* files */
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
 * One process's work: unpacks files until none is left, into its copy.  A file
 * that cannot be unpacked is kept, the first of them.  With ctx, whose shared
 * memory has room, chunks are published meanwhile.
 */
extern void fc_inflow_unpack(FcUnpackArea *area, const FcSource *source,
							 int process, FcContext *ctx,
							 void (*progress) (void *arg), void *progress_arg);

/* Any process, at the beginning of a phase: unpacks files if there are any */
extern void fc_inflow_run(FcContext *ctx);

/*
 * Leader, in a phase: what is left of an input whose first bytes are in the
 * copy, which is the first one.  With "leaves", what comes after a marker may
 * be left unread.  The receiver is in the current memory context.
 */
typedef struct FcReceiver FcReceiver;

extern FcReceiver *fc_inflow_begin_receiving(FcContext *ctx, FcUnpacker *unpacker,
											 FcUnpacking *unpacking, bool leaves);

/*
 * Receives some more; false once nothing is left that is wanted.  Then *end is
 * FC_UNPACK_MORE if the load ends with an error in what there is.
 */
extern bool fc_inflow_receive(FcReceiver *receiver, FcUnpackEnd *end,
							  FcUnpackFault *fault);

/*
 * fc_context_take for chunks: the next one that is there, for which it waits
 * under the event FastCopyInflow.  False as well if a file cannot be unpacked.
 */
extern bool fc_inflow_take(FcContext *ctx, uint32 *chunk);

/*
 * Leader, after the phase: from then on all chunks are there, without gaps
 * between their numbers.  Returns the records in all files.
 */
extern uint64 fc_inflow_finish(FcShared *shared);

#endif							/* FC_CHUNKS_H */
