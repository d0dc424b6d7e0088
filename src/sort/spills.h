/*-------------------------------------------------------------------------
 *
 * sort/spills.h
 *	  The cells of all processes, as their reader knows them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SPILLS_H
#define FC_SPILLS_H

#include "sort/spill.h"

/* A process's part of a cell; the reader has those of all processes */
typedef struct FcCellRef
{
	FcBound		lo;				/* as in FcCell */
	uint64		rows;
	uint64		size;			/* of its blocks, as in FcCell */
	uint64		fetched;
	uint64		last;
	uint32		last_size;
	bool		null;
	File		file;
	const char *block;			/* in memory; NULL: none */
} FcCellRef;

struct FcSpills
{
	FcShared   *shared;
	int			nfiles;
	File	   *files;
	FcCellRef  *refs;			/* by cell */
	int			nrefs;
	FcCell	   *cells;
	int		   *first;			/* the first ref of each cell, and nrefs */
	int			ncells;
};

static inline FcCellRef
fc_cell_ref(const FcCell *cell)
{
	return (FcCellRef)
	{
		cell->lo, cell->part.rows, cell->size, cell->fetched, cell->last, cell->last_size,
		cell->part.null, cell->file, cell->block
	};
}

/*
 * Returns the refs of a task's cell, and their number in *n.  ERROR if it has
 * none
 */
extern const FcCellRef *fc_spills_find(const FcSpills *spills, const FcTask *task, int *n);

#endif							/* FC_SPILLS_H */
