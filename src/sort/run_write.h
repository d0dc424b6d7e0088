/*-------------------------------------------------------------------------
 *
 * sort/run_write.h
 *	  Sorted runs of entries, with or without the records' bytes, in shared
 *	  temporary files.
 *
 *	runs.N	runs: row ... row | NULL row ... NULL row | marks of both
 *	meta.N	where the runs are, and rows per range of keys
 *
 * A row is an FcItem where offsets alone are spilled; else an FcEntry and, if
 * fc_spill_keeps() says so, the record's bytes and one more, in which the
 * reader may write.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RUN_WRITE_H
#define FC_RUN_WRITE_H

#include "context/shared.h"
#include "sort/fetch_window.h"
#include "sort/item.h"
#include "sort/parts.h"

/*
 * Tells of a row at which reading may begin, such as a section's first row.
 * There is one at regular distances, so that the rows between two bounds are
 * found without reading all before them.
 */
typedef struct FcSpillMark
{
	FcBound		bound;			/* of the row */
	uint64		place;			/* of the row in the file */
} FcSpillMark;

/* The rows in the bytes [start, end) of a file, and their marks */
typedef struct FcSpillSection
{
	uint64		start;
	uint64		end;
	uint64		marks;			/* place of the first mark */
	uint64		nmarks;
} FcSpillSection;

typedef struct FcSpillRun
{
	FcSpillSection keys;
	FcSpillSection nulls;
	uint64		base;			/* offsets of items are counted from here */
	int			length_bits;	/* of an item's length; 0: the rows are
								 * entries */
} FcSpillRun;

/* The head of a meta file, followed by the runs, followed by the parts */
typedef struct FcSpillMeta
{
	uint64		nruns;
	uint64		nparts;
} FcSpillMeta;

/*
 * Records longer than this are not spilled: one read of their place in the
 * source file costs no more than the copy would.
 */
#define FC_SPILL_LONG	65536

/*
 * The longest record whose bytes are spilled: two must fit into small memory,
 * too
 */
static inline uint32
fc_spill_keeps_most(const FcShared *shared)
{
	return Min(shared->memory / 32, FC_SPILL_LONG);
}

/* Are the bytes of a record of this length spilled with its entry? */
static inline bool
fc_spill_keeps(const FcShared *shared, uint32 length)
{
	return shared->way == FC_WAY_ROWS && length <= fc_spill_keeps_most(shared);
}

/* Are rows spilled as items?  These have no room for the record's number. */
static inline bool
fc_spill_packs(const FcShared *shared)
{
	return shared->way != FC_WAY_ROWS && shared->plan.nnumbers == 0;
}

/* One FcSpill per process */
typedef struct FcSpill FcSpill;

/*
 * route NULL: all keys are one range.  The memory is allocated at once; more
 * than all the entries (and bytes) take would be wasted.
 */
extern FcSpill *fc_spill_begin(FcShared *shared, int process,
							   const FcRoute *route, Size memory);

/* Memory for so many records, of so many bytes in all */
extern Size fc_spill_need(const FcShared *shared, uint64 records, uint64 bytes);

/*
 * Holds a record's bytes, before the caller changes them, for the entry that
 * is put next.  If no entry is put, the next record that is held takes their
 * place.
 */
extern void fc_spill_hold(FcSpill *spill, const char *data, uint32 length);

/*
 * The bytes that were held last, so many of them; NULL if they are not spilled
 */
extern const char *fc_spill_copy(FcSpill *spill, uint32 length);
extern void fc_spill_put(FcSpill *spill, const FcEntry *entry);

/* Ends the spill: its rows are in the files, for all processes */
extern void fc_spill_end(FcSpill *spill);

/* What "runs.N" and "meta.N" would hold, in the memory of one process */
typedef struct FcSpillKept
{
	char	   *rows;
	List	   *runs;			/* FcSpillRun */
	List	   *parts;			/* FcSpillPart */
} FcSpillKept;

/*
 * Ends the spill without files, for this process alone, if none of it is in a
 * file yet, as in a load of few rows by the leader alone; the result lives in
 * "mcxt".  NULL, with nothing done: it is larger.
 */
extern FcSpillKept *fc_spill_keep_all(FcSpill *spill, MemoryContext mcxt);

#endif							/* FC_RUN_WRITE_H */
