/*-------------------------------------------------------------------------
 *
 * load/tasks.c
 *	  From rows found per range of keys to work of the load phase.
 *
 *	 parts (range of keys, rows) ──► groups (one leaf each), longest first
 *		──► cells of a group, in key order ──► tasks
 *
 * Tasks are taken in order: so a process always has the slice that others wait
 * for (heap/turn.c).  All is in the load's memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "heap/writer.h"
#include "load/steps.h"

/* Ranges that a presorted file may span, and more of them for each chunk */
#define FC_SPAN_LEAST	16
#define FC_SPAN_EACH	4

/* Parts that go to the same leaf */
typedef struct FcGroup
{
	Oid			leaf;
	bool		created;
	Oid			replaces;		/* see FcTask */
	FcStorage	storage;
	uint64		rows;
	int			order;			/* of the first part among all parts */
	List	   *parts;			/* their numbers there */
} FcGroup;

/* The substitute of the part's leaf, or NULL */
static const FcSubstitute *
fc_tasks_substitute(const FcTarget *target, const FcSpillPart *part)
{
	int			at = 0;
	const FcSubstitute *substitutes = target->substitutes;

	if (target->nsubstitutes == 0 || !target->plan->partitioned)
		return target->nsubstitutes == 0 ? NULL : substitutes;
	/* that of the default partition, for the rows that stay there */
	if (fc_plan_moves(target->plan))
		return fc_plan_moves_key(target->plan, part->null, part->min_key) ? NULL : substitutes;
	fc_search(int, at, target->nsubstitutes, mid, substitutes[mid].range.lo < part->range.lo);
	return !part->null && at < target->nsubstitutes &&
		substitutes[at].range.partition == part->range.partition ? &substitutes[at] : NULL;
}

/* The leaf of a part's rows, if they need no stage */
static Oid
fc_tasks_own_leaf(const FcTarget *target, const FcSpillPart *part, bool *created)
{
	const FcSubstitute *substitute = fc_tasks_substitute(target, part);
	int			at = 0;

	*created = substitute != NULL;
	if (substitute)
		return substitute->table;
	if (!fc_shared_key_routes(target->shared))
		return fc_shared_routed(target->shared) ? InvalidOid : target->oid;
	if (OidIsValid(part->range.partition))
		return part->range.partition;
	fc_search(int, at, target->ncreated, mid, target->created[mid].range.lo < part->range.lo);
	if (part->null || at == target->ncreated || target->created[at].range.lo != part->range.lo)
		return target->plan->missing == FC_MISSING_ERROR &&
			!part->null && !fc_spill_part_only_marks(part) ? InvalidOid : target->route->default_oid;
	*created = true;
	return target->created[at].range.partition;
}

Oid
fc_tasks_leaf(const FcTarget *target, const FcSpillPart *part, bool *created)
{
	Oid			leaf = fc_tasks_own_leaf(target, part, created);

	if (!OidIsValid(target->stage) || (*created && !target->planned->staged) ||
		(!OidIsValid(leaf) && !*created))
		return leaf;
	*created = true;
	return target->stage;
}

/* Must a partition be made for this part? */
static bool
fc_tasks_is_missing(FcTarget *target, const FcSpillPart *part)
{
	return fc_shared_key_routes(target->shared) && !fc_spill_part_only_marks(part) &&
		target->plan->missing == FC_MISSING_CREATE && !part->null &&
		!OidIsValid(part->range.partition) &&
		!fc_key_is_infinite(target->plan->key.type, part->range.lo);
}

void
fc_tasks_find_parts(FcJob *job)
{
	FcSpills   *spills = fc_spills_open(job->target.shared, job->target.ctx.kept);

	fc_tasks_set_parts(job, fc_spills_parts(spills));
	fc_spills_close(spills);
}

/*
 * Does a row that has no partition end the load?  Not if the condition, which
 * only the load evaluates, may leave it out: then core's routing finds it.  But
 * that would put it into a default partition, if there is one.
 */
static bool
fc_tasks_must_route(FcTarget *target)
{
	return fc_shared_key_routes(target->shared) &&
		(target->shared->plan.tolerated & FC_CLASS_NO_PARTITION) == 0 &&
		(!target->plan->where_late || target->facts.keeps_default);
}

void
fc_tasks_set_parts(FcJob *job, List *parts)
{
	FcTarget   *target = &job->target;

	job->parts = parts;
	target->created = palloc0(sizeof(FcNewPartition) * (list_length(job->parts) + 1));
	target->ncreated = 0;
	foreach_ptr(FcSpillPart, part, job->parts)
	{
		bool		created;

		if (fc_tasks_is_missing(target, part))
			target->created[target->ncreated++].range = part->range;
		else if (fc_tasks_must_route(target) && !fc_spill_part_only_marks(part) && !OidIsValid(fc_tasks_leaf(target, part, &created)))
			fc_error_keep(target->shared, FC_ERROR_ROUTE, part->min_offset,
						  part->min_length, NULL);
	}
	Assert(target->ncreated <= list_length(parts));
}

static int
fc_group_cmp_leaf(const ListCell *a, const ListCell *b)
{
	const FcGroup *ga = lfirst(a);
	const FcGroup *gb = lfirst(b);

	if (ga->leaf != gb->leaf)
		return ga->leaf < gb->leaf ? -1 : 1;
	/* list_sort is not stable, and parts must stay in key order */
	return ga->order - gb->order;
}

/* Those whose rows take longest first; of these, the largest */
static int
fc_group_cmp_rows(const ListCell *a, const ListCell *b)
{
	const FcGroup *ga = lfirst(a);
	const FcGroup *gb = lfirst(b);

	if (ga->storage.indexed != gb->storage.indexed)
		return ga->storage.indexed ? -1 : 1;
	return ga->rows > gb->rows ? -1 : ga->rows < gb->rows;
}

/* One group per leaf; parts come in key order and keep it */
static List *
fc_tasks_groups(FcJob *job)
{
	List	   *single = NIL;
	List	   *groups = NIL;
	FcGroup    *last = NULL;

	foreach_ptr(const FcSpillPart, part, job->parts)
	{
		FcGroup    *group = palloc0(sizeof(FcGroup));
		const FcSubstitute *substitute = fc_tasks_substitute(&job->target, part);

		group->leaf = fc_tasks_leaf(&job->target, part, &group->created);
		group->replaces = substitute ? substitute->range.partition :
			OidIsValid(group->leaf) && group->leaf == job->target.stage ? job->target.oid : InvalidOid;
		/* the leader sends its records, or rows stay where they are */
		if ((job->target.facts.sends && get_rel_relkind(group->leaf) == RELKIND_FOREIGN_TABLE) ||
			(fc_plan_moves(job->target.plan) && !group->created))
			continue;
		group->rows = part->rows;
		group->order = foreach_current_index(part);
		group->parts = list_make1_int(group->order);

		/*
		 * rows that no partition takes are in a group only if they are to be
		 * rejected, or are marks; else their error is noted already
		 */
		if (OidIsValid(group->leaf) || fc_shared_routed(job->target.shared) || fc_spill_part_only_marks(part) ||
			(job->target.shared->plan.tolerated & FC_CLASS_NO_PARTITION))
			single = lappend(single, group);
	}
	list_sort(single, fc_group_cmp_leaf);
	foreach_ptr(FcGroup, group, single)
	{
		if (last == NULL || last->leaf != group->leaf)
			groups = lappend(groups, last = group);
		else
		{
			last->rows += group->rows;
			last->parts = list_concat(last->parts, group->parts);
		}
	}
	return groups;
}

FcStorage
fc_tasks_storage(FcJob *job, Oid leaf, bool frozen, uint64 rows)
{
	FcTarget   *target = &job->target;
	Relation	rel;
	FcStorage	storage = {FC_STORAGE_USED};

	frozen = frozen || target->plan->freeze;
	if (!OidIsValid(leaf))
		return storage;
	if (leaf == target->oid)
		return fc_write_storage(target->rel, rows, frozen, &job->files);
	rel = table_open(leaf, NoLock);
	storage = fc_write_storage(rel, rows, frozen, &job->files);
	table_close(rel, NoLock);
	return storage;
}

/* Makes room for so many tasks, at most */
static void
fc_tasks_begin(FcJob *job, Size most)
{
	job->tasks = palloc_extended(sizeof(FcTask) * most, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	job->ntasks = 0;
}

/* Returns the number of the first cell of each part, and of all cells last */
static int *
fc_tasks_first_cells(FcJob *job, const FcCell *cells, int ncells)
{
	int		   *first = palloc(sizeof(int) * (list_length(job->parts) + 1));
	int			i = 0;

	foreach_ptr(const FcSpillPart, part, job->parts)
	{
		first[foreach_current_index(part)] = i;
		while (i < ncells && cells[i].part.null == part->null &&
			   cells[i].part.range.lo == part->range.lo)
			i++;
	}
	/* none is loaded if all rows stay where they are */
	Assert(i == ncells || job->parts == NIL);
	first[list_length(job->parts)] = ncells;
	return first;
}

/*
 * Adds a task for each cell of a part, in key order.  Workers load cells of
 * one leaf at the same time, but insert in turn, to keep key order.  So more
 * workers help less with one table that is in use; in a new file only the
 * numbers of pages are assigned in turn (heap/page_writer.c).
 */
static void
fc_tasks_add_cells(FcJob *job, const FcGroup *group, const FcCell *cells, int n)
{
	Assert(n > 0 || fc_plan_moves(job->target.plan));
	for (int i = 0; i < n; i++)
	{
		FcTask	   *task = &job->tasks[job->ntasks++];

		task->partition = group->leaf;
		task->part = job->target.ngroups;
		task->created = group->created;
		task->replaces = group->replaces;
		task->storage = group->storage;
		task->null = cells[i].part.null;
		task->lo = cells[i].lo;
		task->hi = cells[i].hi;
		task->hi_max = cells[i].hi_max;
		task->rows = cells[i].part.rows;
	}
}

/*
 * Is the leaf loaded by one process?  To insert a row with its entries, which
 * one process does at a time, takes 5 to 30 times as long as all that is done
 * before with a row that is ready (bench/NOTES.md): another one would wait.
 */
static bool
fc_tasks_is_whole(const FcTarget *target, const FcTask *task)
{
	const FcPlan *plan = target->plan;

	return target->shared->alone || fc_shared_sorts_leaves(target->shared) ||
		(task->storage.indexed && target->course.way == FC_WAY_ROWS && plan->order.nkeys == 0 && plan->dedup.nkeys == 0 &&
		 !target->rel->rd_rel->relispartition);
}

/*
 * Numbers the slices of each part, whose tasks follow one another; where core
 * routes they do not take turns
 */
static void
fc_tasks_number(FcJob *job)
{
	FcTask	   *tasks = job->tasks;
	bool		routed = fc_shared_routed(job->target.shared);
	int			n = job->ntasks;

	job->nunits = 0;
	for (int i = 0; i < n; i++)
	{
		bool		first = i == 0 || tasks[i].part != tasks[i - 1].part;

		tasks[i].slice = first || routed ? 0 : tasks[i - 1].slice + 1;
		tasks[i].whole = fc_tasks_is_whole(&job->target, &tasks[i]);
		job->nunits += first || !tasks[i].whole;
	}
	for (int i = n - 1; i >= 0; i--)
		tasks[i].nslices = i == n - 1 || tasks[i + 1].slice == 0 ? tasks[i].slice + 1 : tasks[i + 1].nslices;
}

/* Are rows of the group as old as those that go when they come? */
static bool
fc_tasks_freezes(const FcTarget *target, const FcGroup *group)
{
	if (fc_plan_moves(target->plan))
		return target->plan->move != FC_MOVE_SOME;
	return OidIsValid(group->replaces) && (fc_plan_replaces(target->plan) || OidIsValid(target->stage));
}

void
fc_tasks_make(FcJob *job)
{
	FcTarget   *target = &job->target;

	FcSpills   *spills = fc_spills_open(target->shared, target->ctx.kept);
	int			ncells;
	const FcCell *cells = fc_spills_cells(spills, &ncells);
	int		   *cell = fc_tasks_first_cells(job, cells, ncells);
	List	   *groups = fc_tasks_groups(job);

	fc_tasks_begin(job, ncells);
	target->ngroups = 0;
	foreach_ptr(FcGroup, group, groups)
	{
		CHECK_FOR_INTERRUPTS();
		/* rows for a leaf that was empty stay as new as they are */
		group->storage = fc_tasks_storage(job, group->leaf, fc_tasks_freezes(target, group), group->rows);
	}
	list_sort(groups, fc_group_cmp_rows);
	foreach_ptr(FcGroup, group, groups)
	{
		CHECK_FOR_INTERRUPTS();
		foreach_int(i, group->parts)
			fc_tasks_add_cells(job, group, cells + cell[i], cell[i + 1] - cell[i]);
		target->ngroups++;
	}
	fc_tasks_number(job);
	fc_spills_close(spills);
}

bool
fc_tasks_span_parts(FcJob *job)
{
	uint32		nchunks = job->target.shared->source.nchunks;
	int64		last = job->keys[nchunks];
	int64		key = job->keys[0];
	List	   *parts = NIL;

	for (uint32 n = 0; n < Min(FC_SPAN_LEAST + nchunks * FC_SPAN_EACH,
							   (uint32) fc_max_partitions); n++)
	{
		FcSpillPart *part = palloc0(sizeof(FcSpillPart));

		part->range = fc_route_find(job->target.route, key);
		if (!fc_tasks_is_missing(&job->target, part))
			return false;
		parts = lappend(parts, part);
		if (part->range.hi_max || last < part->range.hi)
		{
			fc_tasks_set_parts(job, parts);
			return true;
		}
		key = part->range.hi;
	}
	return false;
}

/* Adds the slice for the rows of a part that a chunk may have */
static void
fc_tasks_add_chunk(FcJob *job, const FcSpillPart *part, int number, uint32 chunk)
{
	FcTask	   *task = &job->tasks[job->ntasks++];
	FcTask	   *before = job->ntasks > 1 ? task - 1 : NULL;

	task->partition = fc_tasks_leaf(&job->target, part, &task->created);
	task->part = number;
	if (before && before->part == number)
		task->storage = before->storage;
	else
		/* how many rows each part gets is not known before the load */
		task->storage = fc_tasks_storage(job, task->partition, false,
										 job->target.found / list_length(job->parts));
	task->lo.key = part->range.lo;
	task->hi.key = part->range.hi;
	task->hi_max = part->range.hi_max;
	task->chunk = chunk;
	task->upto = job->keys[chunk + 1];
}

void
fc_tasks_make_presorted(FcJob *job)
{
	FcShared   *shared = job->target.shared;
	int			nparts = list_length(job->parts);
	int			first = 0;

	/* the last slice of a chunk is of the same part as the next one's first */
	fc_tasks_begin(job, (Size) shared->source.nchunks + nparts);
	job->target.ngroups = nparts;
	for (uint32 i = 0; i < shared->source.nchunks; i++)
	{
		FcSpillPart *part = list_nth(job->parts, first);

		CHECK_FOR_INTERRUPTS();
		if (fc_shared_starts(shared)[i].first == FC_NOWHERE)
			continue;
		while (!part->range.hi_max && job->keys[i] >= part->range.hi)
			part = list_nth(job->parts, ++first);
		for (int n = first; n < nparts; n++)
		{
			part = list_nth(job->parts, n);
			if (job->keys[i + 1] < part->range.lo)
				break;
			fc_tasks_add_chunk(job, part, n, i);
		}
	}
	fc_tasks_number(job);
}

FcLeafRows *
fc_tasks_leaf_rows(FcJob *job)
{
	FcLeafRows *leaves = palloc0(sizeof(FcLeafRows) * (job->target.ngroups + 1));

	for (int i = 0; i < job->ntasks; i++)
	{
		FcTask	   *task = &job->tasks[i];

		leaves[task->part].leaf = task->partition;
		leaves[task->part].rows += task->loaded;
		leaves[task->part].old += task->old;
		leaves[task->part].old_gone += task->old_gone;
		leaves[task->part].gone += task->gone;
	}
	qsort(leaves, job->target.ngroups, sizeof(FcLeafRows), oid_cmp);
	return leaves;
}

static const FcLeafRows *
fc_tasks_find_leaf(FcJob *job, const FcLeafRows *leaves, Oid leaf)
{
	return bsearch(&leaf, leaves, job->target.ngroups, sizeof(FcLeafRows), oid_cmp);
}

uint64
fc_tasks_rows_of(FcJob *job, const FcLeafRows *leaves, Oid leaf)
{
	const FcLeafRows *found = leaves ? fc_tasks_find_leaf(job, leaves, leaf) : NULL;

	if (leaves == NULL)
		return job->target.loaded;
	return found ? found->rows : 0;
}

bool
fc_tasks_has_changed(FcJob *job, const FcLeafRows *leaves, Oid leaf)
{
	const FcLeafRows *found = fc_tasks_find_leaf(job, leaves, leaf);

	if (found == NULL || found->rows + found->gone == found->old)
		return false;
	return found->rows != found->old || found->old_gone > 0;
}

FcLeafRows *
fc_tasks_counts(FcJob *job)
{
	return !job->target.course.core && job->ntasks > 0 ? fc_tasks_leaf_rows(job) : NULL;
}
