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

#include "sort/spill.h"

static int
fc_cell_cmp(const void *a, const void *b)
{
	const FcCell *ca = a;
	const FcCell *cb = b;

	if (ca->part.null != cb->part.null)
		return ca->part.null ? 1 : -1;
	return fc_spill_bound_cmp(&ca->lo, &cb->lo);
}

/* Adds the cells of one process to those of the others, as they come */
static void
fc_spills_open_process(FcSpills *spills, int process)
{
	char	   *name = psprintf("spill.%d", process);
	BufFile    *list;
	File		file;
	int			n;

	file = FileSetOpen(&spills->shared->fileset.fs, name, O_RDONLY);
	if (file <= 0)
		fc_file_error(errmsg("could not open temporary file \"%s\": %m", name));
	spills->files[spills->nfiles++] = file;
	list = BufFileOpenFileSet(&spills->shared->fileset.fs, psprintf("cells.%d", process), O_RDONLY, false);
	n = BufFileSize(list) / sizeof(FcCell);
	spills->cells = repalloc_huge(spills->cells, sizeof(FcCell) * (spills->nblocks + n + 1));
	fc_buffile_read(list, spills->cells + spills->nblocks, sizeof(FcCell) * n);
	BufFileClose(list);
	for (; n > 0; n--)
		spills->cells[spills->nblocks++].blocks.file = file;
}

/* Adds up the parts of each cell, and keeps where each process has blocks */
static void
fc_spills_add_up(FcSpills *spills)
{
	FcCell	   *all = spills->cells;

	qsort(all, spills->nblocks, sizeof(FcCell), fc_cell_cmp);
	spills->blocks = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(FcCellBlocks) * (spills->nblocks + 1));
	spills->first = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int) * (spills->nblocks + 1));
	for (int i = 0; i < spills->nblocks; i++)
	{
		FcCell	   *last = all + spills->ncells - 1;

		spills->blocks[i] = all[i].blocks;
		if (i > 0 && fc_cell_cmp(last, &all[i]) == 0)
		{
			fc_spill_part_add(&last->part, &all[i].part);
			last->size += all[i].size;
			last->fetched += all[i].fetched;
			continue;
		}
		spills->first[spills->ncells] = i;
		all[spills->ncells++] = all[i];
	}
	spills->first[spills->ncells] = spills->nblocks;
	spills->cells = repalloc_huge(all, sizeof(FcCell) * (spills->ncells + 1));
}

Size
fc_spills_size(int nprocesses)
{
	return sizeof(FcCell) + (sizeof(int) + sizeof(FcCellBlocks)) * nprocesses;
}

FcSpills *
fc_spills_open(FcShared *shared, const FcSpillKept *kept)
{
	MemoryContext old = MemoryContextSwitchTo(fc_context_memory(CurrentMemoryContext, "spills"));
	FcSpills   *spills = palloc0(sizeof(FcSpills));

	spills->shared = shared;
	spills->files = palloc(sizeof(File) * Max(shared->nscanners, 1));
	spills->nblocks = kept ? kept->ncells : 0;
	spills->cells = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(FcCell) * (spills->nblocks + 1));
	if (kept)
		memcpy(spills->cells, kept->cells, sizeof(FcCell) * kept->ncells);
	for (int i = 0; !kept && i < shared->nscanners; i++)
		fc_spills_open_process(spills, i);
	fc_spills_add_up(spills);
	MemoryContextSwitchTo(old);
	return spills;
}

void
fc_spills_close(FcSpills *spills)
{
	for (int i = 0; i < spills->nfiles; i++)
		FileClose(spills->files[i]);
	MemoryContextDelete(GetMemoryChunkContext(spills));
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

int
fc_spills_find(const FcSpills *spills, const FcTask *task)
{
	FcCell		wanted = {.part.null = task->null,.lo = task->lo};
	int			i = 0;

	fc_search(int, i, spills->ncells, mid, fc_cell_cmp(&spills->cells[mid], &wanted) < 0);
	if (i == spills->ncells || fc_cell_cmp(&spills->cells[i], &wanted) != 0)
		elog(ERROR, "there are no keys from " INT64_FORMAT " on", task->lo.key);
	return i;
}
