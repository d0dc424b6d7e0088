/*-------------------------------------------------------------------------
 *
 * intake/pieces.h
 *	  Packed files, which processes unpack piece by piece.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PIECES_H
#define FC_PIECES_H

#include "portability/instr_time.h"

#include "intake/finder.h"
#include "source/decompress.h"

typedef enum FcPieceState
{
	FC_PIECE_NEW,
	FC_PIECE_TAKEN,				/* by a process, which has it to itself */
	FC_PIECE_DONE				/* ahead of its turn */
} FcPieceState;

/* A piece of a packed file, and what is unpacked of it ahead of its turn */
typedef struct FcPiece
{
	FcPieceState state;
	bool		sound;			/* it was unpacked, and waits for its turn */
	uint32		copy;			/* to where: the number of the copy, */
	uint64		at;				/* the first byte in that */
	uint64		size;			/* and how many */
	uint64		start;			/* in the packed file */
	uint64		end;
} FcPiece;

/* The pieces of one packed file */
typedef struct FcChain
{
	uint64		packed;			/* bytes of the file */
	uint64		step;			/* of these, for each piece */
	uint32		first;			/* number of the first among all pieces */
	uint32		npieces;

	/*
	 * next and head are guarded by the area's lock; the rest is written by the
	 * process that unpacks the head, or with the lock while none does
	 */
	uint32		next;			/* first piece that is not taken */
	uint32		head;			/* the piece whose turn it is */
	uint64		border;			/* where it begins in the packed file */
	uint64		unpacked;		/* bytes before it, unpacked */
	uint32		nextents;		/* they are in */
	bool		utf16;			/* as in FcFile */
	FcFound		found;			/* their chunks */
} FcChain;

/* What the processes that unpack share, in a segment of its own */
typedef struct FcUnpackArea
{
	/* written by the leader before processes unpack */
	uint32		nfiles;
	uint32		npacked;
	uint32		npieces;		/* of all files */
	uint32		ncopies;		/* processes */
	FcUtf16Hint hint;			/* about their text */
	Size		files_at;		/* offset of FcFile[nfiles], as named */
	Size		names_at;		/* offset of their paths */
	Size		order_at;		/* offset of uint32[npacked]: numbers of files
								 * in the order in which they are taken */
	Size		chains_at;		/* offset of FcChain[nfiles] */
	Size		pieces_at;		/* offset of FcPiece[npieces] */
	Size		extents_at;		/* offset of FcExtent[npieces] */
	Size		copies_at;		/* offset of FcCopy[ncopies] */

	/* shared by all */
	pg_atomic_uint64 taken;		/* bytes that were read of the packed files */
	pg_atomic_uint32 done;		/* files that are unpacked, or given up */
	pg_atomic_uint32 processes; /* that have unpacked something */
	FcBudget	budget;
	LWLock		lock;			/* for chains and pieces, and what follows */
	uint32		next;			/* files before this one in the order are
								 * unpacked, or cannot be */
	uint32		faulty;			/* the first file known that cannot be
								 * unpacked */
	instr_time	ended;			/* when the last of the files was done */
	SharedFileSet fileset;		/* the temporary copies */
} FcUnpackArea;

#define fc_area_files(s) ((FcFile *) ((char *) (s) + (s)->files_at))
#define fc_area_names(s) ((char *) (s) + (s)->names_at)
#define fc_area_order(s) ((uint32 *) ((char *) (s) + (s)->order_at))
#define fc_area_chains(s) ((FcChain *) ((char *) (s) + (s)->chains_at))
#define fc_area_pieces(s) ((FcPiece *) ((char *) (s) + (s)->pieces_at))
#define fc_area_extents(s) ((FcExtent *) ((char *) (s) + (s)->extents_at))
#define fc_area_copies(s) ((FcCopy *) ((char *) (s) + (s)->copies_at))

/* One of the packed files as input, from a byte of it on */
typedef struct FcFileInput
{
	FcInput		input;
	const FcSource *source;
	uint64		at;
	uint64		end;
} FcFileInput;

extern void fc_piece_input(FcFileInput *input, const FcSource *source, uint32 number, uint64 from);

/* One process's part in unpacking, and its temporary copy: ctx->hand */
typedef struct FcHand FcHand;

/*
 * Any process, at the beginning of a phase: takes part in unpacking, if there
 * are files to be unpacked.  Where shared memory has room for chunks these are
 * published meanwhile.  False in a worker that cannot open the files.
 */
extern bool fc_hand_begin(FcContext *ctx);

/*
 * Unpacks a piece; false if there is none left to be taken.  Remembers the
 * first file that cannot be unpacked.
 */
extern bool fc_hand_step(FcHand *hand);

/* At the end of the phase: unpacks what is left, gives all back but the copy */
extern void fc_hand_end(FcContext *ctx);

#endif							/* FC_PIECES_H */
