/*-------------------------------------------------------------------------
 *
 * sort/spills.c
 *	  Which cells there are, and what each process has of them.
 *
 * If an error skips fc_spills_close the phase's resource owner closes the
 * files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "key/search.h"
#include "sort/spills.h"

static void
fc_spills_add_ref(FcSpills *spills, int *allocated, const FcCell *cell, File file,
				  const char *block)
{
	if (spills->nrefs == *allocated)
	{
		*allocated *= 2;
		spills->refs = repalloc_huge(spills->refs, sizeof(FcCellRef) * *allocated);
	}
	spills->refs[spills->nrefs++] = fc_cell_ref(cell, file, block);
}

static int
fc_cell_cmp(const FcCell *a, const FcCell *b)
{
	if (a->part.null != b->part.null)
		return a->part.null ? 1 : -1;
	return fc_spill_bound_cmp(&a->lo, &b->lo);
}

/* Adds the cells of one process, in key order, to those of the others */
static void
fc_spills_add_cells(FcSpills *spills, const FcCell *cells, uint64 n)
{
	FcCell	   *all = MemoryContextAllocHuge(CurrentMemoryContext,
											 sizeof(FcCell) * (spills->ncells + n + 1));
	int			nall = 0;
	int			old = 0;
	uint64		i = 0;

	for (; old < spills->ncells || i < n; nall++)
	{
		int			order = i == n ? -1 : old == spills->ncells ? 1 :
			fc_cell_cmp(&spills->cells[old], &cells[i]);

		all[nall] = order > 0 ? cells[i] : spills->cells[old++];
		if (order == 0)
		{
			fc_spill_part_add(&all[nall].part, &cells[i].part);
			all[nall].size += cells[i].size;
			all[nall].fetched += cells[i].fetched;
		}
		Assert(nall == 0 || fc_cell_cmp(&all[nall - 1], &all[nall]) < 0);
		i += order >= 0;
	}
	pfree(spills->cells);
	spills->cells = all;
	spills->ncells = nall;
}

static void
fc_spills_open_process(FcSpills *spills, int process, int *allocated)
{
	char		name[MAXPGPATH];
	BufFile    *file_of_cells;
	FcCell	   *cells;
	uint64		ncells;
	File		file;

	snprintf(name, sizeof(name), "spill.%d", process);
	file = FileSetOpen(&spills->shared->fileset.fs, name, O_RDONLY);
	if (file <= 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open temporary file \"%s\": %m", name)));
	spills->files[spills->nfiles++] = file;
	snprintf(name, sizeof(name), "cells.%d", process);
	file_of_cells = BufFileOpenFileSet(&spills->shared->fileset.fs, name, O_RDONLY, false);
	fc_buffile_read(file_of_cells, &ncells, sizeof(ncells));
	cells = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(FcCell) * (ncells + 1));
	fc_buffile_read(file_of_cells, cells, sizeof(FcCell) * ncells);
	for (uint64 i = 0; i < ncells; i++)
		fc_spills_add_ref(spills, allocated, &cells[i], file, NULL);
	fc_spills_add_cells(spills, cells, ncells);
	pfree(cells);
	BufFileClose(file_of_cells);
}

static void
fc_spills_open_kept(FcSpills *spills, const FcSpillKept *kept, int *allocated)
{
	FcCell	   *cells = MemoryContextAllocHuge(CurrentMemoryContext,
											   sizeof(FcCell) * (kept->ncells + 1));

	for (int i = 0; i < kept->ncells; i++)
	{
		cells[i] = kept->cells[i]->cell;
		fc_spills_add_ref(spills, allocated, &cells[i], 0, kept->cells[i]->block);
	}
	fc_spills_add_cells(spills, cells, kept->ncells);
	pfree(cells);
}

static int
fc_ref_cmp(const void *a, const void *b)
{
	const FcCellRef *ra = a;
	const FcCellRef *rb = b;

	if (ra->null != rb->null)
		return ra->null ? 1 : -1;
	return fc_spill_bound_cmp(&ra->lo, &rb->lo);
}

/* Finds the refs of each cell */
static void
fc_spills_order_refs(FcSpills *spills)
{
	int			n = 0;

	qsort(spills->refs, spills->nrefs, sizeof(FcCellRef), fc_ref_cmp);
	spills->first = MemoryContextAllocHuge(CurrentMemoryContext,
										   sizeof(int) * (spills->ncells + 1));
	for (int i = 0; i < spills->nrefs; i++)
		if (i == 0 || fc_ref_cmp(&spills->refs[i - 1], &spills->refs[i]) != 0)
			spills->first[n++] = i;
	Assert(n == spills->ncells);
	spills->first[n] = spills->nrefs;
}

Size
fc_spills_size(int nprocesses)
{
	return sizeof(FcCell) + sizeof(int) + sizeof(FcCellRef) * nprocesses;
}

FcSpills *
fc_spills_open(FcShared *shared, const FcSpillKept *kept)
{
	FcSpills   *spills = palloc0(sizeof(FcSpills));
	int			allocated = 64;

	spills->shared = shared;
	spills->files = palloc(sizeof(File) * Max(shared->nscanners, 1));
	spills->refs = palloc(sizeof(FcCellRef) * allocated);
	spills->cells = palloc(sizeof(FcCell));
	if (kept)
		fc_spills_open_kept(spills, kept, &allocated);
	for (int i = 0; !kept && i < shared->nscanners; i++)
		fc_spills_open_process(spills, i, &allocated);
	fc_spills_order_refs(spills);
	return spills;
}

void
fc_spills_close(FcSpills *spills)
{
	for (int i = 0; i < spills->nfiles; i++)
		FileClose(spills->files[i]);
	pfree(spills->files);
	pfree(spills->refs);
	pfree(spills->cells);
	pfree(spills->first);
	pfree(spills);
}

const FcCell *
fc_spills_cells(const FcSpills *spills, int *n)
{
	*n = spills->ncells;
	return spills->cells;
}

List *
fc_spills_parts(const FcSpills *spills)
{
	List	   *parts = NIL;
	FcSpillPart *last = NULL;

	for (int i = 0; i < spills->ncells; i++)
	{
		const FcSpillPart *part = &spills->cells[i].part;

		if (last && last->null == part->null && last->range.lo == part->range.lo)
		{
			fc_spill_part_add(last, part);
			continue;
		}
		last = palloc(sizeof(FcSpillPart));
		*last = *part;
		parts = lappend(parts, last);
	}
	return parts;
}

const FcCellRef *
fc_spills_find(const FcSpills *spills, const FcTask *task, int *n)
{
	FcCell		wanted = {.part.null = task->null,.lo = task->lo};
	int			i = 0;

	fc_search(int, i, spills->ncells, mid, fc_cell_cmp(&spills->cells[mid], &wanted) < 0);
	if (i == spills->ncells || fc_cell_cmp(&spills->cells[i], &wanted) != 0)
		elog(ERROR, "there are no keys from " INT64_FORMAT " on", task->lo.key);
	*n = spills->first[i + 1] - spills->first[i];
	return &spills->refs[spills->first[i]];
}
