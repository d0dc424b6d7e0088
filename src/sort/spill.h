/*-------------------------------------------------------------------------
 *
 * sort/spill.h
 *	  Puts what the scan finds into cells of keys, in shared temporary files.
 *
 * A cell is a stretch of keys of one partition: all of its keys, or those
 * between two bounds that the leader has chosen where a partition is large.  A
 * cell's rows are in no order; the load sorts them.
 *
 *	spill.N	blocks, each of one cell; each knows the one of its cell before it
 *	cells.N	their number, and the cells: what was counted, and where their last
 *			blocks are
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SPILL_H
#define FC_SPILL_H

#include "row/batch.h"
#include "sort/spilled.h"

/* Counts of one process, or of all, for a range of keys or a part of it */
typedef struct FcSpillPart
{
	FcRange		range;			/* of the partition */
	bool		null;			/* the rows whose key is NULL */
	uint64		rows;
	uint64		marked;			/* of these, delete marks; of records 0 if the
								 * scan must not evaluate delete_where */
	uint64		bytes;			/* of records, line ends not included */
	uint64		min_offset;		/* of the first of its records in the file
								 * that is no mark, if there is one */
	uint64		min_length;		/* of that record */
	int64		min_key;		/* 0 where the key is NULL */
	int64		max_key;
} FcSpillPart;

/* Has it rows, all of which are delete marks?  These need no partition. */
static inline bool
fc_spill_part_only_marks(const FcSpillPart *part)
{
	return part->rows > 0 && part->marked == part->rows;
}

/* Adds the counts for the same range, or for another part of it */
extern void fc_spill_part_add(FcSpillPart *part, const FcSpillPart *other);

/* Where a process has its blocks of a cell; a cell may have those of several */
typedef struct FcCellBlocks
{
	uint64		last;			/* the last block in the file */
	uint32		last_size;		/* its bytes; 0: there is none */
	File		file;			/* of a reader; 0: there is none */
	const char *block;			/* in memory, if it is kept there; or NULL */
} FcCellBlocks;

typedef struct FcCell
{
	FcSpillPart part;			/* of the rows of the cell alone */
	FcBound		lo;				/* the first bound that belongs */
	FcBound		hi;				/* the first that does not */
	bool		hi_max;			/* no upper bound; as of the cell of NULL
								 * keys */
	uint64		size;			/* bytes of all blocks */
	uint64		fetched;		/* bytes that its reader adds to these from
								 * the file */
	FcCellBlocks blocks;		/* of one process */
} FcCell;

/*
 * Rows that the leaf had before the load have offsets, too, from their tuples'
 * ctid.  These come before all offsets of the file.
 */
#define FC_OFFSET_LEAST		((uint64) 1 << 63)
#define FC_OFFSET_TUPLE_BITS	11
#define fc_offset_of_tuple(block, off)	(FC_OFFSET_LEAST | (uint64) (block) << FC_OFFSET_TUPLE_BITS | (off))
#define fc_offset_is_tuple(offset)	(((offset) & FC_OFFSET_LEAST) != 0)

StaticAssertDecl(MaxHeapTuplesPerPage < 1 << FC_OFFSET_TUPLE_BITS, "tuples' offsets tell them apart");

static inline bool
fc_spill_offset_before(uint64 a, uint64 b)
{
	return (int64) a < (int64) b;
}

static inline bool
fc_spill_before(int64 key, uint64 offset, const FcBound *bound)
{
	return key < bound->key ||
		(key == bound->key && fc_spill_offset_before(offset, bound->offset));
}

static inline int
fc_spill_bound_cmp(const void *a, const void *b)
{
	const FcBound *ba = a;
	const FcBound *bb = b;

	return fc_spill_before(ba->key, ba->offset, bb) ? -1 : fc_spill_before(bb->key, bb->offset, ba);
}

/*
 * Records longer than this are not spilled: one read of their place in the
 * source file costs no more than the copy would.  Where only places are
 * spilled, those that are longer than the other are not read with their cell.
 */
#define FC_SPILL_LONG	65536
#define FC_SPILL_LONG_PLACE	(1024 * 1024)

/*
 * The longest record whose bytes are in a cell: some must fit into small
 * memory, too
 */
static inline uint32
fc_spill_keeps_most(const FcShared *shared)
{
	return Min(shared->memory / 32, shared->course.spills ? FC_SPILL_LONG : FC_SPILL_LONG_PLACE);
}

/* Are the bytes of a record of this length spilled? */
static inline bool
fc_spill_keeps(const FcShared *shared, uint32 length)
{
	return shared->course.spills && length <= fc_spill_keeps_most(shared);
}

/*
 * Most bytes of a tuple that is spilled instead of a record of this length:
 * temporary files stay in proportion to the source
 */
#define fc_spill_row_most(length)	(2 * (uint64) (length) + 64)

/* Bytes of a head that is not of a row */
static inline Size
fc_spill_head(const FcShared *shared)
{
	return fc_plan_counts(&shared->plan) ? FC_SPILL_NUMBERED : FC_SPILL_HEAD;
}

/*
 * Are rows without NULLs spilled bare?  Only if their key can be found again,
 * and rows are not compared, which takes whole tuples.
 */
static inline bool
fc_spill_bare(const FcShared *shared)
{
	return shared->plan.key.place >= 0 && shared->plan.dedup.nkeys == 0;
}

/*
 * sort/spill_check.c.  Asserts that a block is whole, and that its rows are of
 * the cell.  Reads only "lo", "hi" and part.null of that.
 */
#ifdef USE_ASSERT_CHECKING
extern void fc_spill_check_block(const FcShared *shared, const char *block, const FcCell *cell);
#else
#define fc_spill_check_block(shared, block, cell)	((void) 0)
#endif

/*
 * sort/spill_write.c: one FcSpill for each process that scans
 */
typedef struct FcSpill FcSpill;

/*
 * route NULL: the keys are one range.  bounds: where else cells begin, sorted.
 * file: for blocks, which all processes can open; NULL: a temporary file of
 * this process alone.
 */
extern FcSpill *fc_spill_begin(FcShared *shared, const char *file, const FcRoute *route,
							   const FcBound *bounds, int nbounds, Size memory);

/*
 * Spills a record; copies its bytes, "data", if they are to be spilled.  ERROR
 * 54000 once the rows have many more ranges than there may be partitions.
 */
extern void fc_spill_put(FcSpill *spill, const FcEntry *entry, const char *data, bool marked);

/*
 * Spills a row that a leaf has, of the target's row type, with its header; its
 * length as a record is 0
 */
extern void fc_spill_put_old(FcSpill *spill, const FcEntry *entry, HeapTuple row);

/* Puts what another spill had */
extern void fc_spill_put_again(FcSpill *spill, const FcSpilled *spilled, const FcEntry *entry);

/* Records whose tuples are formed where they are spilled */
typedef struct FcSpillRows
{
	int64		keys[FC_BATCH_ROWS];
	bool	   *nulls;			/* which keys are NULL; NULL: none */
	uint64		offsets[FC_BATCH_ROWS];
	uint32		lengths[FC_BATCH_ROWS];	/* of records, as spilled */
	uint32		rows[FC_BATCH_ROWS];	/* bytes of tuples */
	bool		marked[FC_BATCH_ROWS];	/* delete marks */
	const bool *has_null;		/* which have a NULL, and their header even if
								 * fc_spill_bare; NULL: none */

	/* set by fc_spill_place */
	char	   *places[FC_BATCH_ROWS];
	uint32		after[FC_BATCH_ROWS];	/* as in FcSpilled */
} FcSpillRows;

/*
 * Finds room, all zero, for the tuples of rows from "from" to before "to", and
 * counts them.  Returns the first one without room, but never "from".  Before
 * anything else is spilled the caller forms the tuples there, without the
 * headers of those that are bare, and calls fc_spill_seal.
 */
extern int	fc_spill_place(FcSpill *spill, FcSpillRows *rows, int from, int to);
extern void fc_spill_seal(const FcSpill *spill, const FcSpillRows *rows, int from, int to);

/* Ends the spill: its rows are in the files, for all processes */
extern void fc_spill_end(FcSpill *spill, int process);

/*
 * Leader, before the scan: sets the bounds for all processes.  They must stay
 * at their address.
 */
extern void fc_spill_publish_bounds(FcContext *ctx, FcBound *bounds, int n);

/* Any process of a phase: begins its spill, whose files have this number */
extern FcSpill *fc_spill_begin_phase(FcContext *ctx, int number, const FcRoute *route);

/* The cells and their blocks, in the memory of one process or in its file */
typedef struct FcSpillKept
{
	int			ncells;
	FcCell	   *cells;			/* in key order, that of NULL last */
	int			next;			/* the one that is read next */
} FcSpillKept;

/*
 * Ends the spill for this process alone; the result lives where the spill
 * does.  "in_file": its blocks go to a temporary file, which the caller closes
 * by its cells.  Else, as in a load of few rows by the leader alone, they stay
 * in memory; NULL, with nothing done, if some are in a file already.
 */
extern FcSpillKept *fc_spill_keep(FcSpill *spill, bool in_file);

/*
 * sort/spills.c: the cells of all processes.  Any process may open them once
 * all writers have ended.  "kept": what the only writer, this process, has
 * kept; else NULL.
 */
typedef struct FcSpills FcSpills;

extern FcSpills *fc_spills_open(FcShared *shared, const FcSpillKept *kept);

/* Bytes of memory for a cell that so many processes have written */
extern Size fc_spills_size(int nprocesses);
extern void fc_spills_close(FcSpills *spills);

/*
 * All cells in key order, that of NULL last, summed over processes; *n is their
 * number.  They live as long as spills.
 */
extern const FcCell *fc_spills_cells(const FcSpills *spills, int *n);

/* All parts in the same order: FcSpillPart, in the current context */
extern List *fc_spills_parts(const FcSpills *spills);

/*
 * sort/spill_read.c: reads cells one by one, each in (key, offset) order, once
 * all is spilled.  Takes six eighths of fc_shared_read_memory; larger cells are
 * cut before, into a temporary file that belongs to the current resource owner.
 * Where only places were spilled the records are read from the source, those of
 * fc_spill_keeps_most, by another eighth.  All is in a child of the current
 * memory context; if an error skips fc_cells_end, that and the phase's resource
 * owner close what is open.
 */
typedef struct FcCellReader FcCellReader;

extern FcCellReader *fc_cells_begin(FcContext *ctx);

/* Goes to the cell of a task.  A process that was stopped gets no rows. */
extern void fc_cells_enter(FcCellReader *reader, const FcTask *task);

/* Counts what was read since fc_cells_enter, for its task and in all */
extern void fc_cells_leave(FcCellReader *reader, FcTask *task);

/*
 * Returns the next one, and its entry; NULL at the end of the cell.  It is
 * writable until the next call of any function of the reader.
 */
extern FcSpilled *fc_cells_next(FcCellReader *reader, FcEntry *entry);

/*
 * Returns the record of the last one, which is no row, and one byte more; reads
 * it from the source if it is too long for its cell.  Writable as that is.
 */
extern char *fc_cells_record(FcCellReader *reader, FcSpilled *spilled, const FcEntry *entry);

/*
 * Sets the next rows, at most "most", and returns their number; stops before
 * one that is no row, or that the toaster must see
 */
extern int	fc_cells_rows(FcCellReader *reader, FcSpilledRow *rows, int most);

/* The last n rows of the last call come again, also from fc_cells_next */
extern void fc_cells_give_back(FcCellReader *reader, int n);
extern void fc_cells_end(FcCellReader *reader);

/*
 * sort/item.c
 */

/* A key, and a number that stands for its row */
typedef struct FcItem
{
	int64		key;
	uint64		row;
} FcItem;

/* Sorts items by key, stable; returns the array that holds the result */
extern FcItem *fc_item_sort(FcItem *items, FcItem *scratch, uint64 n);

/*
 * sort/spills.c, for sort/ alone: what all processes have spilled
 */

struct FcSpills
{
	FcShared   *shared;
	int			nfiles;
	File	   *files;
	FcCellBlocks *blocks;		/* by cell */
	int			nblocks;
	FcCell	   *cells;
	int		   *first;			/* the first blocks of each cell, and nblocks */
	int			ncells;
};

/* The number of a task's cell; ERROR if there is none */
extern int	fc_spills_find(const FcSpills *spills, const FcTask *task);

#endif							/* FC_SPILL_H */
