/*-------------------------------------------------------------------------
 *
 * phase/load.c
 *	  Rows into partitions: the load phase, task by task or chunk by chunk.
 *
 * With a key a process takes a task, a range of keys of one leaf; without a
 * key, or if the file is in key order already, a chunk of the file.  When the
 * rows of a slice are in, the next slice may insert.
 *
 * On error the phase's resource owner and memory context close what is open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "intake/chunks.h"
#include "phase/loader.h"
#include "phase/phases.h"
#include "row/where.h"

/* Bytes after which progress is counted: the counter's cache line is shared */
#define FC_COUNT_BYTES		65536

void
fc_load_begin(FcLoader *loader, FcContext *ctx)
{
	loader->ctx = ctx;
	loader->estate = fc_executor_begin(ctx);
	loader->root = loader->estate->es_result_relations[0];
	loader->root_slot = MakeSingleTupleTableSlot(RelationGetDescr(ctx->target),
												 &TTSOpsVirtual);
	loader->parser = fc_parse_begin(ctx, loader->estate, true);
	/* with a key the scan has evaluated the condition of rows to be loaded */
	if (!fc_shared_keyed(ctx->shared) || loader->dry || ctx->verifying)
		loader->where = fc_where_begin(ctx->shared, false);
	else
		loader->where_again = fc_where_begin(ctx->shared, true);
	loader->mark = fc_where_begin_mark(ctx->shared);
	if (ctx->shared->key_dropped && !ctx->shared->plan.bounds.hi_max)
		loader->bounds = &ctx->shared->plan.bounds;
	loader->row_mcxt = fc_context_memory(CurrentMemoryContext, "row");
	loader->slot = loader->root_slot;
	/* an analysis has no tasks without a leaf, whose rows would be rejected */
	if (fc_shared_routed(ctx->shared) ||
		(loader->dry && fc_shared_key_routes(ctx->shared) && ctx->shared->plan.missing != FC_MISSING_CREATE &&
		 fc_row_tolerates(loader, FC_CLASS_NO_PARTITION)))
		fc_leaf_begin_routing(loader);
	if (ctx->shared->sends)
	{
		const char *why;

		loader->elsewhere = fc_elsewhere(&why);
		if (loader->elsewhere == NULL)
			fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("could not send records to other servers: %s", why),
					 errhint("%s", fc_elsewhere_hint()));
		loader->dispatch = loader->elsewhere->dispatch_begin(ctx, loader->parser);
	}
	/* each row is looked at alone */
	else if (loader->mark == NULL)
		loader->batch = fc_batch_begin(loader->parser, RelationGetDescr(ctx->target));
	fc_look_begin(loader);
}

/* Leaves an error about the record to the process that loads it */
bool
fc_load_is_sent(FcLoader *loader, const FcRecord *record)
{
	MemoryContext old;
	bool		sent;

	if (loader->dispatch == NULL)
		return false;
	old = MemoryContextSwitchTo(loader->row_mcxt);
	sent = loader->elsewhere->dispatch_takes(loader->dispatch, record);
	MemoryContextSwitchTo(old);
	MemoryContextReset(loader->row_mcxt);
	return sent;
}

/* Does the process that has the task before take this one, too? */
static bool
fc_load_follows(const FcContext *ctx, const FcTask *task)
{
	return task->whole && task > (FcTask *) ctx->tasks && task[-1].part == task->part;
}

/* The task after this one, if the same process must load it for its leaf */
static FcTask *
fc_load_follower(const FcContext *ctx, FcTask *task)
{
	FcTask	   *end = (FcTask *) ctx->tasks + ctx->shared->ntasks;

	return task && task + 1 < end && fc_load_follows(ctx, task + 1) ? task + 1 : NULL;
}

/* Takes the next task; NULL if there is none */
static FcTask *
fc_load_take_task(FcLoader *loader)
{
	FcContext  *ctx = loader->ctx;
	FcTask	   *task = fc_load_follower(ctx, loader->tasks.last);
	uint32		i;

	while (task == NULL)
	{
		if (!fc_context_take(ctx, ctx->shared->ntasks, &i))
			return NULL;
		task = (FcTask *) ctx->tasks + i;
		if (fc_load_follows(ctx, task))
			task = NULL;
	}
	loader->tasks.last = task;
	return task;
}

static void
fc_load_begin_task(FcLoader *loader, FcTask *task)
{
	FcDestination to = {.storage = task->storage,.slice = &loader->slice};

	Assert(task->slice < task->nslices);
	Assert(task->part < loader->ctx->shared->nturns || !OidIsValid(task->partition));
	loader->tasks.start = fc_pace_clock();
	if (loader->router.proute)
		return;
	if (!OidIsValid(task->partition))
	{
		loader->leaf = NULL;
		loader->slot = loader->root_slot;
		return;
	}
	to.turn = &loader->ctx->turns[task->part];
	if (task->nslices > 1 && !task->whole)
	{
		loader->slice.turn = to.turn;
		loader->slice.number = task->slice;
		to.sliced = true;
		to.memory = loader->ctx->shared->memory / 4;
	}
	/* the writer of the task before stays open if both are of one leaf */
	if (loader->only.writer == NULL)
	{
		fc_activity_show(loader->ctx, task->partition);
		fc_leaf_begin(loader, task->partition, &to);
	}
	if (loader->dedup)
		fc_dedup_begin_task(loader->dedup, loader->leaf, task->null);
}

static void
fc_load_end_task(FcLoader *loader, FcTask *task)
{
	if (loader->dedup)
		fc_dedup_finish(loader);
	Assert(task->old_gone <= task->old);
	task->old -= task->old_gone;
	if (loader->only.writer && fc_load_follower(loader->ctx, task) == NULL)
		task->loaded = fc_leaf_end(loader);
	task->usec = fc_pace_clock() - loader->tasks.start;
	if (task->slice == task->nslices - 1)
		pg_atomic_fetch_add_u64(&loader->ctx->shared->counts.parts_done, 1);
}

static void
fc_load_count_bytes(FcLoader *loader)
{
	pg_atomic_fetch_add_u64(&loader->ctx->shared->counts.load_bytes, loader->tasks.bytes);
	fc_context_pace(loader->ctx, loader->tasks.bytes);
	loader->tasks.bytes = 0;
}

static inline void
fc_load_count_read(FcLoader *loader, FcTask *task, uint64 bytes)
{
	task->bytes += bytes;
	loader->tasks.bytes += bytes;
	if (loader->tasks.bytes >= FC_COUNT_BYTES)
		fc_load_count_bytes(loader);
}

/*
 * Tells phase/row.c which key the next row must have.  The scan read it from
 * the same bytes, if it spilled them; if not, the load reads them from the
 * file once more, and they may have changed.
 */
static inline void
fc_load_expect_key(FcLoader *loader, const FcEntry *entry)
{
	FcRow	   *row = &loader->row;

	Assert(fc_shared_keyed(loader->ctx->shared) && (!fc_entry_null(entry) || entry->key == 0));
	row->keyed = true;
	row->reread = !fc_spill_keeps(loader->ctx->shared, entry->length);
	row->key_null = fc_entry_null(entry);
	row->key = entry->key;
}

static void
fc_load_entry(FcLoader *loader, FcTask *task, const FcEntry *entry,
			  FcRecord *record)
{
	FcShared   *shared = loader->ctx->shared;

	if (fc_plan_counts(&shared->plan))
	{
		uint64		i = shared->source.nfiles == 1 && shared->source.chunk_size > 0 ?
			(entry->offset - fc_shared_files(shared)->data_start) / shared->source.chunk_size :
			fc_lines_chunk(shared, entry->offset);
		const FcChunkStart *start = &fc_shared_starts(shared)[i];

		fc_parse_number(loader->parser, start->before + fc_entry_number(entry));
		record->line = start->first_line + fc_entry_number(entry) + 1 + entry->embedded;
		record->row = start->before + fc_entry_number(entry) + 1 - fc_lines_records(loader->ctx, entry->offset);
	}
	fc_load_expect_key(loader, entry);
	fc_row_load(loader, record);
	fc_load_count_read(loader, task, entry->length);
}

/* Does the current slice belong to this chunk? */
static bool
fc_load_has_slice(const FcLoader *loader, uint32 chunk)
{
	const FcContext *ctx = loader->ctx;

	return loader->tasks.slice < (FcTask *) ctx->tasks + ctx->shared->ntasks &&
		loader->tasks.slice->chunk == chunk;
}

/* Is the current record's key after the end of the current slice? */
static inline bool
fc_load_is_beyond(const FcLoader *loader)
{
	return !loader->tasks.slice->hi_max && loader->tasks.key >= loader->tasks.slice->hi.key;
}

/* Goes on to the slice that the current record's key belongs to */
static void
fc_load_next_slices(FcLoader *loader)
{
	while (fc_load_is_beyond(loader))
	{
		fc_load_end_task(loader, loader->tasks.slice++);
		Assert(loader->tasks.slice < (FcTask *) loader->ctx->tasks + loader->ctx->shared->ntasks);
		fc_load_begin_task(loader, loader->tasks.slice);
	}
}

/* Is the key in order?  If not, all processes give up the load. */
static bool
fc_load_takes_key(FcLoader *loader, bool found, int64 last)
{
	if (found && loader->tasks.key >= last && loader->tasks.key <= loader->tasks.slice->upto)
	{
		loader->tasks.low = Min(loader->tasks.low, loader->tasks.key);
		return true;
	}
	pg_atomic_write_u32(&loader->ctx->shared->mistaken, 1);
	return false;
}

/*
 * Loads a record alone; of a presorted file into its slice.  False if its key
 * is not plain or out of order, and the load is given up.
 */
static bool
fc_load_record(FcLoader *loader, const FcRecord *record, uint64 number)
{
	int64		last = loader->tasks.key;

	fc_parse_number(loader->parser, number);
	if (loader->tasks.slice && !loader->ctx->stopped &&
		!fc_error_beyond(loader->ctx->shared, record->offset))
	{
		if (!fc_load_takes_key(loader, fc_parse_plain_key(loader->parser, record, &loader->tasks.key), last))
			return false;
		fc_load_next_slices(loader);
		loader->tasks.slice->bytes += record->length;
	}
	fc_row_load(loader, record);
	return true;
}

/* Takes the key of row i of the batch; false if the load is given up */
static inline bool
fc_load_take_key(FcLoader *loader, int i)
{
	const FcPlanKey *key = &loader->ctx->shared->plan.key;
	const FcBatchColumn *column = &loader->batch->columns[key->attnum - 1];
	int64		last = loader->tasks.key;
	bool		found = !column->made && !(column->any_null && column->nulls[i]);

	Assert(key->attnum > 0 && i < loader->batch->n && !loader->batch->odd[i]);
	if (found)
		loader->tasks.key = fc_key_from_datum(key->type, column->values[i]);
	return fc_load_takes_key(loader, found, last);
}

/*
 * Goes on to the slice of row "from" of the batch.  Returns the first row of
 * another slice, or "to"; -1 if the load is given up.
 */
static int
fc_load_reach_rows(FcLoader *loader, int from, int to)
{
	int			i = from;

	if (!fc_load_take_key(loader, i))
		return -1;
	fc_load_next_slices(loader);
	while (++i < to)
	{
		int64		key = loader->tasks.key;

		if (!fc_load_take_key(loader, i))
			return -1;
		if (fc_load_is_beyond(loader))
		{
			loader->tasks.key = key;
			break;
		}
	}
	loader->tasks.slice->bytes += fc_batch_bytes(loader->batch, from, i);
	return i;
}

/*
 * Loads the rows of the batch in their order, the odd ones alone.  False if
 * the load is given up, or has met an error.
 */
static bool
fc_load_batch(FcLoader *loader)
{
	FcBatch    *batch = loader->batch;
	FcRecord	record;
	int			end;

	CHECK_FOR_INTERRUPTS();
	if (fc_error_beyond(loader->ctx->shared, batch->offset))
		return false;
	for (int i = 0; i < batch->n && !loader->ctx->stopped; i = end)
	{
		end = fc_batch_next_odd(batch, i);
		if (end == i)
		{
			fc_batch_record(batch, end, &record);
			if (!fc_load_record(loader, &record, loader->number + end++))
				return false;
			continue;
		}
		if (loader->tasks.slice && (end = fc_load_reach_rows(loader, i, end)) < 0)
			return false;
		while (i < end && !loader->ctx->stopped)
		{
			bool		alone;

			i = fc_look(loader, i, end, &alone);
			if (alone)
				fc_row_load_batched(loader, i++);
		}
	}
	return !loader->ctx->stopped;
}

/* Loads the records that start in a chunk, in the order of the file */
static void
fc_load_records(FcLoader *loader, FcChunkReader *reader, uint32 i)
{
	FcShared   *shared = loader->ctx->shared;
	uint64		before;

	if (!fc_chunk_reader_enter(reader, i))
		return;
	before = fc_shared_start(shared, i)->before;
	for (;;)
	{
		if (loader->batch && fc_chunk_reader_fill(reader, loader->batch))
		{
			loader->number = before + reader->found - loader->batch->n;
			if (!fc_load_batch(loader))
				break;
			continue;
		}
		if (!fc_chunk_reader_next(reader))
			break;
		if (fc_load_is_sent(loader, &reader->record))
			continue;
		if (!fc_load_record(loader, &reader->record, before + reader->found - 1))
			break;
	}
	if (pg_atomic_read_u32(&shared->mistaken) == 0)
		fc_chunk_reader_leave(reader);
}

/*
 * Loads a chunk of a presorted file into its slices.  All its slices pass
 * their turns on, even if the chunk ends early: other processes wait for them.
 */
static void
fc_load_slices(FcLoader *loader, FcChunkReader *reader, uint32 i)
{
	FcTask	   *tasks = loader->ctx->tasks;
	uint32		first = 0;

	fc_search(uint32, first, loader->ctx->shared->ntasks, mid, tasks[mid].chunk < i);
	loader->tasks.slice = &tasks[first];
	if (!fc_load_has_slice(loader, i))
		return;
	loader->tasks.key = loader->tasks.slice->lo.key;
	loader->tasks.low = PG_INT64_MAX;
	fc_load_begin_task(loader, loader->tasks.slice);
	fc_load_records(loader, reader, i);
	fc_context_note_keys(loader->ctx, i, loader->tasks.low, loader->tasks.key);
	for (fc_load_end_task(loader, loader->tasks.slice++);
		 fc_load_has_slice(loader, i); loader->tasks.slice++)
	{
		fc_load_begin_task(loader, loader->tasks.slice);
		fc_load_end_task(loader, loader->tasks.slice);
	}
}

static void
fc_load_chunk_in_turn(FcLoader *loader, FcChunkReader *reader, uint32 i)
{
	FcContext  *ctx = loader->ctx;
	FcDestination to = {
		ctx->shared->storage, &ctx->turns[0], true, &loader->slice, ctx->shared->memory / 2
	};

	Assert(loader->slice.turn == NULL);
	loader->slice.turn = &ctx->turns[0];
	loader->slice.number = i;
	if (loader->router.proute == NULL)
		fc_leaf_begin(loader, ctx->shared->leaf, &to);
	fc_load_records(loader, reader, i);
	if (loader->router.proute)
		fc_leaf_end_slice(loader);
	else
		(void) fc_leaf_end(loader);
}

/*
 * Takes chunks in the order of the file, and loads them:
 *
 * - of a presorted file, as slices of partitions;
 * - of others, each chunk inserts in turn;
 * - where rows are sorted, or several files are unpacked meanwhile, one writer
 *   has the rows of all chunks of the process.
 */
static void
fc_load_chunks(FcLoader *loader)
{
	FcContext  *ctx = loader->ctx;
	FcShared   *shared = ctx->shared;
	Size		memory = fc_shared_read_memory(shared);
	FcDestination to = {shared->storage, &ctx->turns[0], false, &loader->slice};
	bool		in_turn = shared->course.in_turn && !loader->dry;
	bool		one_writer = !in_turn && shared->course.way != FC_WAY_PRESORTED &&
		!loader->router.proute && !loader->dry;
	FcChunkReader reader;
	uint32		i;

	fc_chunk_reader_begin(&reader, ctx, Max(Min(memory / 8, (Size) 1024 * 1024), 8192));
	fc_chunk_reader_find(&reader, shared->source.unsplit);
	if (one_writer)
		fc_leaf_begin(loader, shared->leaf, &to);
	while (!ctx->stopped && pg_atomic_read_u32(&shared->mistaken) == 0 &&
		   fc_chunks_take(ctx, &i))
	{
		pg_atomic_fetch_add_u64(&shared->counts.load_bytes,
								fc_shared_chunk(shared, i)->length);
		if (shared->course.way == FC_WAY_PRESORTED)
			fc_load_slices(loader, &reader, i);
		else if (in_turn)
			fc_load_chunk_in_turn(loader, &reader, i);
		else
			fc_load_records(loader, &reader, i);
	}
	if (one_writer)
		(void) fc_leaf_end(loader);
	fc_chunk_reader_end(&reader);
}

#ifdef USE_ASSERT_CHECKING
/* Is the row between the bounds of the task that it is handed out for? */
static inline bool
fc_load_is_of_task(const FcTask *task, int64 key, uint64 offset)
{
	return task->null || (!fc_spill_before(key, offset, &task->lo) &&
						  (task->hi_max || fc_spill_before(key, offset, &task->hi)));
}
#endif

/*
 * Writes the task's next spilled rows, many at a time, up to one that must go
 * alone
 */
static void
fc_load_spilled(FcLoader *loader, FcCellReader *cells, FcTask *task)
{
	FcSpilledRow spilled[FC_BATCH_ROWS];
	bool		alone = false;
	int			n;

	while (!alone && (n = fc_cells_rows(cells, spilled, FC_BATCH_ROWS)) > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);
		uint64		bytes = 0;

		CHECK_FOR_INTERRUPTS();
		Assert(n <= FC_BATCH_ROWS && loader->sorter.sort == NULL);
		if (!loader->leaf->plain)
		{
			int			taken = fc_look_spilled(loader, spilled, n);

			fc_cells_give_back(cells, n - taken);
			alone = taken < n;
			n = taken;
		}
		if (n > 0 && loader->dedup)
			fc_dedup_put_spilled(loader, spilled, n);
		else if (n > 0)
			fc_write_put_spilled(loader->leaf->writer, spilled, n);
		for (int i = 0; i < n; i++)
		{
			Assert(fc_load_is_of_task(task, spilled[i].key, fc_spilled_offset(&spilled[i])));
			bytes += fc_spilled_length(spilled[i].spilled);
			task->old += fc_offset_is_tuple(fc_spilled_offset(&spilled[i]));
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(loader->row_mcxt);
		fc_load_count(loader, n);
		fc_load_count_read(loader, task, bytes);
	}
}

/*
 * Loads a row that the leaf had before, without any checks.  A value in the
 * old TOAST table goes to that of the leaf.
 */
static void
fc_load_old_row(FcLoader *loader, const FcEntry *entry, const FcRecord *record, FcSpilled *spilled)
{
	TupleTableSlot *slot = loader->slot;

	Assert(fc_offset_is_tuple(entry->offset) && fc_plan_merges(&loader->ctx->shared->plan));
	if (!fc_row_take(loader, record))
		return;
	fc_spilled_deform(spilled, slot);
	ExecStoreVirtualTuple(slot);
	if (slot != loader->leaf->slot)
		fc_leaf_take(loader->leaf, slot);
	loader->row.key = entry->key;
	loader->row.marked = false;
	loader->tasks.last->old++;
	fc_row_put(loader);
	MemoryContextSwitchTo(loader->ctx->mcxt);
	MemoryContextReset(loader->row_mcxt);
	fc_load_count(loader, 1);
}

static void
fc_load_spilled_row(FcLoader *loader, FcTask *task, const FcEntry *entry, const FcRecord *record,
					FcSpilled *spilled)
{
	fc_load_expect_key(loader, entry);
	if (!fc_row_take(loader, record))
		return;
	fc_seen_deform(NULL, spilled, loader->slot);
	loader->row.marked = loader->mark && fc_spilled_marked(spilled);
	fc_row_load_taken(loader);
	fc_load_count_read(loader, task, entry->length);
}

static void
fc_load_task(FcLoader *loader, FcCellReader *cells, FcTask *task)
{
	FcEntry		entry;
	FcRecord	record = {0};
	FcSpilled  *spilled;

	for (;;)
	{
		if (loader->leaf && loader->leaf->spilled)
			fc_load_spilled(loader, cells, task);
		spilled = fc_cells_next(cells, &entry);
		if (spilled == NULL)
			break;
		Assert(fc_load_is_of_task(task, entry.key, entry.offset) && fc_entry_null(&entry) == task->null);
		record.offset = entry.offset;
		record.length = entry.length;
		record.data = NULL;
		if (fc_spilled_kind(spilled) < FC_SPILLED_TUPLE)
		{
			record.data = fc_cells_record(cells, spilled, &entry);
			fc_load_entry(loader, task, &entry, &record);
		}
		else if (fc_offset_is_tuple(entry.offset))
			fc_load_old_row(loader, &entry, &record, spilled);
		else
			fc_load_spilled_row(loader, task, &entry, &record, spilled);
	}
}

static void
fc_load_tasks(FcLoader *loader)
{
	FcCellReader *cells = fc_cells_begin(loader->ctx);
	FcTask	   *task;

	while ((task = fc_load_take_task(loader)) != NULL)
	{
		fc_cells_enter(cells, task);
		fc_load_begin_task(loader, task);
		fc_load_task(loader, cells, task);
		fc_load_count_bytes(loader);
		fc_load_end_task(loader, task);
		fc_cells_leave(cells, task);
	}
	fc_cells_end(cells);
}

void
fc_load_run(FcContext *ctx)
{
	FcLoader	loader = {.dry = ctx->shared->phase == FC_PHASE_CHECK};

	Assert(loader.dry || ctx->shared->phase == FC_PHASE_LOAD);
	fc_load_begin(&loader, ctx);
	loader.dedup = fc_dedup_begin(ctx);
	if (loader.dry)
	{
		loader.only.rri = loader.root;
		loader.only.slot = loader.root_slot;
		loader.leaf = &loader.only;
	}
	else if (loader.router.proute && ctx->shared->plan.order.nkeys > 0)
		fc_leaf_begin_sort(&loader, NULL);
	if (loader.dry || ctx->shared->course.chunks)
		fc_load_chunks(&loader);
	else
		fc_load_tasks(&loader);
	elog(DEBUG2, "fast_copy: %llu of %llu rows by columns",
		 (unsigned long long) loader.by_columns, (unsigned long long) loader.rows);
	if (loader.dispatch)
		loader.elsewhere->dispatch_end(loader.dispatch);
	fc_leaf_close(&loader, &loader.only);
	if (loader.router.proute)
		fc_leaf_end_routing(&loader);
	ExecDropSingleTupleTableSlot(loader.root_slot);
	fc_parse_end(loader.parser);
	fc_executor_end(loader.estate);
	fc_turn_finish(ctx);
	Assert(ctx->deferred == NIL && loader.only.writer == NULL);
}
