/*-------------------------------------------------------------------------
 *
 * phase/scan.c
 *	  Finds every record and its key, and spills what the load needs of it.
 *
 * Rows that are spilled are formed in the spill's blocks.  Of other records a
 * process reads the key alone; or parses the whole record, if there is a
 * condition or a fault may be tolerated.  The load makes these rows, and finds
 * their errors.
 *
 * Where core routes, and missing partitions are to be made, a scan looks for
 * these alone (shared->finds): it puts the first row of each into a file, and
 * the leader takes these rows through a tree of its own.
 *
 * A record without an end or a key is noted as an error, and ends the chunk:
 * nothing after it can be trusted.  On error the end of the phase closes what
 * is open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "intake/chunks.h"
#include "phase/loader.h"
#include "phase/phases.h"
#include "row/where.h"

typedef struct FcScanner
{
	FcContext  *ctx;
	FcChunkReader reader;
	FcParser   *parser;
	FcSpill    *spill;
	FcBatch    *batch;			/* NULL: no rows are spilled */
	FcForm	   *form;			/* of these rows */
	FcSpillRows *rows;
	char	   *copy;			/* of the current record, if its bytes are
								 * spilled */
	int64		low;			/* keys of the chunk so far */
	int64		high;
	FcRoute    *route;			/* or NULL */
	EState	   *estate;			/* for defaults and the condition */
	ExprState  *where;			/* or NULL */
	ExprState  *mark;			/* delete_where, or NULL */
	bool		marked;			/* it is true for the row that was parsed as a
								 * whole */
	FcSeen	   *seen;			/* what both read of a batch; or NULL */
	bool		out[FC_BATCH_ROWS]; /* rows of the batch that "where" leaves
									 * out */
	int			at;				/* row of the batch that is looked at */
	ErrorData  *doubt;			/* the error of one that goes alone, or NULL */
	uint64		doubted;		/* offset of its record */
	TupleTableSlot *slot;		/* a whole row, if the key is not enough */
	FcTree	   *tree;			/* of the partitions; NULL: the scan looks for
								 * keys */
	BufFile    *noted;			/* rows that lack a partition */
	MemoryContext row_mcxt;		/* reset now and then */
	Size		used;			/* of row_mcxt, roughly */
} FcScanner;

/* Bytes between resets of row_mcxt, of a record beside its length, at most */
#define FC_SCAN_RESET	65536
#define FC_SCAN_RECORD	64
#define FC_SCAN_MEMORY	((Size) 1024 * 1024)

/* The file with the rows that a process notes */
#define FC_SCAN_NOTED	"noted.%d"

/* Parses the whole record; false if the load passes over it */
static bool
fc_scan_row(FcScanner *scanner, char *data)
{
	FcRecord   *record = &scanner->reader.record;
	FcRecord	whole = *record;
	FcContext  *ctx = scanner->ctx;
	TupleTableSlot *slot = ExecClearTuple(scanner->slot);
	bool		parsed;
	bool		accepted = true;

	whole.data = data;
	whole.marks = NULL;
	ctx->evaluating = true;
	parsed = fc_parse_quickly(scanner->parser, &whole, slot->tts_values, slot->tts_isnull) ||
		fc_parse_rest(scanner->parser);
	if (parsed)
	{
		ExecStoreVirtualTuple(slot);
		slot->tts_tableOid = RelationGetRelid(ctx->target);
		accepted = !scanner->where || fc_where_accepts(scanner->where, scanner->estate, slot);
		scanner->marked = accepted && scanner->mark &&
			fc_where_accepts(scanner->mark, scanner->estate, slot);
	}
	ctx->evaluating = false;
	if (!parsed)
	{
		fc_reject_put(ctx, record->offset, record->length,
					  &fc_parse_faults(scanner->parser)->bad);
		return false;
	}
	if (accepted)
		return true;
	fc_context_count_out(ctx, filtered, record->offset, 1);
	fc_parse_count_kept(scanner->parser, record->offset, record->length);
	return false;
}

/*
 * Finds the key of a record that must be parsed as a whole: because of the
 * condition, or because fc_scan_key() could not find it.  False if the load
 * passes over the record.
 *
 * fc_scan_key() has changed the reader's bytes: reads those that are spilled,
 * or the file, instead.
 */
static bool
fc_scan_whole(FcScanner *scanner, int64 *key, bool *null)
{
	FcRecord   *record = &scanner->reader.record;
	FcShared   *shared = scanner->ctx->shared;
	char	   *data = palloc(record->length + 1);

	if (fc_spill_keeps(shared, record->length))
		memcpy(data, scanner->copy, record->length);
	else
		fc_source_read(scanner->ctx->source, record->offset, data, record->length);
	data[record->length] = '\0';
	if (!fc_scan_row(scanner, data))
		return false;
	*key = fc_row_key(&shared->plan, scanner->slot, null);
	return true;
}

/* May a row have the key?  With a range that is replaced, not any one. */
static inline bool
fc_scan_is_allowed(const FcRange *bounds, int64 key, bool null)
{
	return null ? bounds->hi_max : fc_range_has(bounds, key);
}

/*
 * Does the key have no partition, which ends the load, while another fault of
 * the record would be tolerated?  Then the whole record is parsed first: COPY
 * converts all columns before it looks for a partition.
 */
static bool
fc_scan_no_partition(FcScanner *scanner, int64 key, bool null)
{
	const FcRoute *route = scanner->route;
	const FcPlan *plan = &scanner->ctx->shared->plan;
	uint32		tolerated = plan->tolerated;

	if (tolerated != 0 && !fc_scan_is_allowed(&plan->bounds, key, null))
		return true;
	if (route == NULL || tolerated == 0 || (tolerated & FC_CLASS_NO_PARTITION))
		return false;
	if (null)
		return !OidIsValid(route->default_oid);
	return (!route->create || fc_key_is_infinite(route->type, key)) &&
		!OidIsValid(fc_route_find(route, key).partition);
}

/* Finds the key; false if the record must be parsed as a whole */
static bool
fc_scan_key(FcScanner *scanner, int64 *key, bool *null)
{
	FcContext  *ctx = scanner->ctx;
	bool		found;

	ctx->evaluating = true;
	found = fc_parse_key(scanner->parser, &scanner->reader.record, key, null);
	ctx->evaluating = false;
	return found;
}

static inline void
fc_scan_note_key(FcScanner *scanner, int64 key)
{
	scanner->low = Min(scanner->low, key);
	scanner->high = Max(scanner->high, key);
}

/* Notes the row of the current record if it is the first to lack a partition */
static void
fc_scan_leaf(FcScanner *scanner)
{
	FcContext  *ctx = scanner->ctx;
	TupleTableSlot *slot = scanner->slot;
	int			before = list_length(scanner->tree->sprouts);
	MinimalTuple tuple;

	if (!fc_scan_row(scanner, scanner->reader.record.data) || scanner->marked)
		return;
	ctx->evaluating = true;
	(void) fc_tree_find(scanner->tree, slot);
	ctx->evaluating = false;
	if (list_length(scanner->tree->sprouts) == before)
		return;
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
		slot->tts_isnull[i] |= !bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, scanner->tree->columns);
	tuple = ExecCopySlotMinimalTuple(slot);
	fc_buffile_write(scanner->noted, tuple, tuple->t_len);
}

void
fc_scan_noted(FcContext *ctx, int nprocesses, FcTree *tree)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(ctx->target), &TTSOpsMinimalTuple);
	uint32		len;

	for (int i = 0; i < Max(nprocesses, 1); i++)
	{
		BufFile    *file = BufFileOpenFileSet(&ctx->shared->fileset.fs, psprintf(FC_SCAN_NOTED, i), O_RDONLY, true);

		for (int64 left = file ? BufFileSize(file) : 0; left > 0; left -= len)
		{
			MinimalTuple tuple;

			CHECK_FOR_INTERRUPTS();
			fc_buffile_read(file, &len, sizeof(len));
			tuple = palloc(len);
			tuple->t_len = len;
			fc_buffile_read(file, (char *) tuple + sizeof(len), len - sizeof(len));
			ExecStoreMinimalTuple(tuple, slot, true);
			(void) fc_tree_find(tree, slot);
		}
		if (file)
			BufFileClose(file);
	}
	ExecDropSingleTupleTableSlot(slot);
}

static void
fc_scan_record(FcScanner *scanner)
{
	const FcPlan *plan = &scanner->ctx->shared->plan;
	const FcRecord *record = &scanner->reader.record;
	FcEntry		entry = {0};
	bool		null;

	Assert(record->data != NULL && record->length <= PG_UINT32_MAX);
	entry.offset = record->offset;
	entry.length = (uint32) record->length;
	fc_error_at(scanner->ctx, entry.offset, entry.length);
	if (scanner->tree)
	{
		fc_scan_leaf(scanner);
		return;
	}
	if (fc_spill_keeps(scanner->ctx->shared, entry.length))
		memcpy(scanner->copy, record->data, entry.length);
	if ((scanner->where || scanner->mark ||
		 !fc_scan_key(scanner, &entry.key, &null) ||
		 fc_scan_no_partition(scanner, entry.key, null)) &&
		!fc_scan_whole(scanner, &entry.key, &null))
		return;
	/* an analysis rejects such rows when it checks them */
	if (fc_caller_writes(plan->caller) && !fc_scan_is_allowed(&plan->bounds, entry.key, null))
	{
		/* the load evaluates the condition, which may leave the row out */
		if (plan->where_late)
			return;
		fc_range_check(plan->key.type, &plan->bounds, entry.key, null);
	}
	if (!null)
		fc_scan_note_key(scanner, entry.key);
	entry.info = fc_entry_info(null, record->row - scanner->reader.row - 1);
	entry.embedded = record->line - scanner->reader.line - fc_entry_number(&entry) - 1;
	fc_spill_put(scanner->spill, &entry, scanner->copy, scanner->marked);
}

static void
fc_scan_note_rows(FcScanner *scanner, int from, int to)
{
	const FcPlan *plan = &scanner->ctx->shared->plan;
	const FcBatchColumn *key = &scanner->batch->columns[plan->key.attnum - 1];
	FcSpillRows *rows = scanner->rows;

	Assert(plan->key.attnum > 0 && !key->absent && from < to);
	fc_batch_places(scanner->batch, from, to, rows->offsets + from, rows->lengths + from);
	fc_form_lengths(scanner->form, scanner->batch->columns, from, to, rows->rows + from);
	rows->has_null = fc_form_has_null(scanner->form);
	rows->nulls = key->any_null ? key->nulls : NULL;
	for (int i = from; i < to; i++)
		rows->keys[i] = rows->nulls && rows->nulls[i] ? 0 :
			fc_key_from_datum(plan->key.type, key->values[i]);
	for (int i = from; i < to; i++)
		if (!rows->nulls || !rows->nulls[i])
			fc_scan_note_key(scanner, rows->keys[i]);
}

/*
 * Spills a record of the batch that is odd, or whose row cannot be spilled, but
 * for one that the condition leaves out
 */
static void
fc_scan_odd(FcScanner *scanner, int i)
{
	if (scanner->where && scanner->out[i])
		return;
	scanner->batch->odd[i] = true;
	fc_batch_record(scanner->batch, i, &scanner->reader.record);
	fc_scan_record(scanner);
	/* what code of users did before it failed must not stay */
	if (scanner->doubt && scanner->doubted == scanner->reader.record.offset)
	{
		scanner->ctx->evaluating = true;
		ReThrowError(scanner->doubt);
	}
	/* a later error is not about this record */
	scanner->reader.record.data = NULL;
}

/*
 * May the row be spilled as a tuple?  Not if it is long, or its key not
 * allowed.
 */
static inline bool
fc_scan_takes_row(const FcRange *bounds, const FcSpillRows *rows, int i)
{
	return rows->rows[i] > 0 && rows->rows[i] <= fc_spill_row_most(rows->lengths[i]) &&
		fc_scan_is_allowed(bounds, rows->keys[i], rows->nulls && rows->nulls[i]);
}

/* Spills rows of the batch, none of which is odd */
static void
fc_scan_spill_rows(FcScanner *scanner, int from, int to)
{
	const FcRange *bounds = &scanner->ctx->shared->plan.bounds;
	FcSpillRows *rows = scanner->rows;
	int			end;

	fc_scan_note_rows(scanner, from, to);
	for (int i = from, next; i < to; i = next)
	{
		for (end = i; end < to && fc_scan_takes_row(bounds, rows, end); end++)
			;
		next = end;
		for (int placed; i < end; i = placed)
		{
			placed = fc_spill_place(scanner->spill, rows, i, end);
			Assert(placed > i && placed <= end);
			fc_form_rows(scanner->form, scanner->batch->columns, i, placed, rows->places + i);
			fc_spill_seal(scanner->spill, rows, i, placed);
		}
		if (end < to)
			fc_scan_odd(scanner, next++);
	}
}

/* Body of fc_error_evaluate: makes values, and evaluates the condition */
static void
fc_scan_look_rows(void *arg)
{
	FcScanner  *scanner = arg;
	FcBatch    *batch = scanner->batch;

	for (; scanner->at < batch->n && scanner->row_mcxt->mem_allocated < FC_SCAN_MEMORY; scanner->at++)
	{
		int			i = scanner->at;
		uint64		offset;
		uint32		length;

		fc_batch_places(batch, i, i + 1, &offset, &length);
		fc_error_at(scanner->ctx, offset, length);
		if (batch->odd[i] || (batch->unfinished && !fc_batch_finish(batch, i)))
		{
			batch->odd[i] = true;
			continue;
		}
		if (scanner->seen == NULL)
			continue;
		fc_seen_show(batch, scanner->seen, i, scanner->slot, scanner->ctx->target);
		scanner->out[i] = batch->odd[i] = !fc_where_accepts(scanner->where, scanner->estate, scanner->slot);
		scanner->rows->marked[i] = scanner->mark && !scanner->out[i] &&
			fc_where_accepts(scanner->mark, scanner->estate, scanner->slot);
		ResetPerTupleExprContext(scanner->estate);
	}
}

/*
 * Sees what a batch does not tell by itself.  A record that ends in an error is
 * odd, and so are all after it, or after values that take much memory: they are
 * evaluated one by one.  The error counts also if it does not come again.
 */
static void
fc_scan_look(FcScanner *scanner)
{
	FcContext  *ctx = scanner->ctx;
	FcBatch    *batch = scanner->batch;
	int			nout = 0;

	memset(scanner->out, false, sizeof(scanner->out));
	scanner->at = 0;
	scanner->doubt = fc_error_evaluate(ctx, batch->offset, 0, fc_scan_look_rows, scanner);
	scanner->doubted = ctx->at_offset;
	if (scanner->at < batch->n)
		scanner->used = FC_SCAN_RESET;
	for (int i = scanner->at; i < batch->n; i++)
		batch->odd[i] = true;
	for (int i = 0; i < batch->n; i++)
		nout += scanner->out[i];
	if (nout > 0)
		fc_context_count_out(ctx, filtered, batch->offset, nout);
}

static void
fc_scan_batch(FcScanner *scanner)
{
	FcBatch    *batch = scanner->batch;
	int			end;

	if (batch->unfinished || scanner->where)
		fc_scan_look(scanner);
	fc_batch_refuse_nulls(batch, RelationGetDescr(scanner->ctx->target));
	for (int i = 0; i < batch->n; i = end)
	{
		end = fc_batch_next_odd(batch, i);
		if (end > i)
			fc_scan_spill_rows(scanner, i, end);
		else
			fc_scan_odd(scanner, end++);
	}
	/* rows that are left out are no reason to take others alone */
	for (int i = 0; i < batch->n && scanner->where; i++)
		batch->odd[i] &= !scanner->out[i];
}

/*
 * Spills the next records; false if there are no more, or none before an error
 */
static bool
fc_scan_next(FcScanner *scanner)
{
	scanner->reader.record.data = NULL;
	if (scanner->batch && fc_chunk_reader_fill(&scanner->reader, scanner->batch))
	{
		if (fc_error_beyond(scanner->ctx->shared, scanner->batch->offset))
			return false;
		scanner->used += scanner->batch->bytes;
		fc_scan_batch(scanner);
		return true;
	}
	if (!fc_chunk_reader_next(&scanner->reader))
		return false;
	scanner->used += scanner->reader.record.length + FC_SCAN_RECORD;
	fc_scan_record(scanner);
	return true;
}

/* Body of fc_error_catch: scans all records of a chunk */
static void
fc_scan_records(void *arg)
{
	FcScanner  *scanner = arg;
	MemoryContext old = MemoryContextSwitchTo(scanner->row_mcxt);

	while (fc_scan_next(scanner))
	{
		if (scanner->used >= FC_SCAN_RESET)
		{
			scanner->used = 0;
			MemoryContextReset(scanner->row_mcxt);
			ResetPerTupleExprContext(scanner->estate);
			CHECK_FOR_INTERRUPTS();
			fc_context_progress(scanner->ctx);
			if (pg_atomic_read_u32(&scanner->ctx->shared->mistaken) != 0)
				break;
		}
	}
	MemoryContextSwitchTo(old);
}

static void
fc_scan_chunk(FcScanner *scanner, uint32 i)
{
	FcContext  *ctx = scanner->ctx;
	ErrorData  *edata;

	if (!fc_chunk_reader_enter(&scanner->reader, i))
		return;
	scanner->low = PG_INT64_MAX;
	scanner->high = PG_INT64_MIN;
	edata = fc_error_catch(ctx, fc_scan_records, scanner);
	ctx->at_record = false;
	if (edata && scanner->reader.record.data == NULL)
	{
		/* bytes in quotes may look like a record of any length */
		if (ctx->shared->source.unsplit != FC_UNSPLIT_GUESS)
			ReThrowError(edata);
		pg_atomic_write_u32(&ctx->shared->mistaken, 1);
		FreeErrorData(edata);
	}
	else if (edata)
		fc_error_take(ctx, FC_ERROR_DATA, edata, scanner->where || scanner->doubt);
	fc_chunk_reader_leave(&scanner->reader);
	Assert(!ctx->evaluating);
	fc_context_note_keys(ctx, i, scanner->low, scanner->high);
	MemoryContextReset(scanner->row_mcxt);
	pg_atomic_fetch_add_u64(&ctx->shared->counts.scan_bytes,
							fc_shared_chunks(ctx->shared)[i].length);
}

/*
 * Does the scan make rows of records?  Not if the load may need anything but
 * the values: numbers of a sequence, a condition that it evaluates itself, a
 * fault that is tolerated; nor if making them again would show.
 */
static void
fc_scan_begin_rows(FcScanner *scanner)
{
	FcShared   *shared = scanner->ctx->shared;
	TupleDesc	desc = RelationGetDescr(scanner->ctx->target);
	bool		filters = fc_shared_where(shared)[0] != '\0';
	Size		keeps = fc_spill_keeps_most(shared);

	if (!shared->course.spills || shared->plan.nnumbers > 0 || shared->plan.tolerated != 0 ||
		(filters && scanner->where == NULL))
		return;
	scanner->batch = fc_batch_begin(scanner->parser, desc);
	if (scanner->batch && (scanner->batch->unfinished || filters) &&
		(!shared->plan.steady || shared->plan.effects))
		scanner->batch = NULL;
	if (scanner->batch == NULL)
		return;
	if (filters || scanner->mark)
		scanner->seen = fc_seen_begin(desc, NULL, (Node *) list_make2(filters ? stringToNode(fc_shared_where(shared)) : NULL,
																	  scanner->mark ? stringToNode(fc_shared_transforms(shared)) : NULL));
	scanner->form = fc_form_begin(desc, Min(TOAST_TUPLE_THRESHOLD, keeps), fc_spill_bare(shared));
	scanner->rows = palloc0(sizeof(FcSpillRows));
}

/* Begins what the scan puts records into */
static void
fc_scan_begin_out(FcScanner *scanner)
{
	FcContext  *ctx = scanner->ctx;
	MemoryContext old;

	if (ctx->shared->finds)
	{
		scanner->tree = fc_tree_begin(ctx->target);
		scanner->noted = BufFileCreateFileSet(&ctx->shared->fileset.fs, psprintf(FC_SCAN_NOTED, ctx->worker));
		return;
	}
	fc_scan_begin_rows(scanner);
	scanner->copy = palloc(fc_spill_keeps_most(ctx->shared) + 1);
	old = MemoryContextSwitchTo(ctx->keep ? ctx->keep : CurrentMemoryContext);
	scanner->spill = fc_spill_begin_phase(ctx, ctx->worker, scanner->route);
	MemoryContextSwitchTo(old);
}

/*
 * Ends that.  A spill that is small stays in memory, if this process scans
 * alone.
 */
static void
fc_scan_end_out(FcScanner *scanner)
{
	FcContext  *ctx = scanner->ctx;

	if (scanner->tree)
	{
		fc_tree_end(scanner->tree);
		BufFileExportFileSet(scanner->noted);
		BufFileClose(scanner->noted);
		return;
	}
	ctx->kept = ctx->keep && !fc_plan_merges(&ctx->shared->plan) ? fc_spill_keep(scanner->spill, false) : NULL;
	if (ctx->kept == NULL)
		fc_spill_end(scanner->spill, ctx->worker);
	if (ctx->kept == NULL && ctx->keep)
		MemoryContextReset(ctx->keep);
}

FcRoute *
fc_scan_route(FcContext *ctx)
{
	const FcShared *shared = ctx->shared;
	FcRoute    *route;

	if (!fc_shared_key_routes(shared))
		return NULL;
	route = fc_plan_route(&shared->plan, ctx->target);
	route->create = (shared->plan.missing == FC_MISSING_CREATE);
	route->interval = shared->interval;
	route->interval.zone = shared->interval_zone[0] == '\0' ? NULL :
		pg_tzset(shared->interval_zone);
	return route;
}

void
fc_scan_run(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	FcScanner	scanner = {.ctx = ctx};
	uint32		i;

	Assert(shared->phase == FC_PHASE_SCAN && (shared->finds || shared->plan.key.type != FC_KEY_NONE));
	scanner.route = fc_scan_route(ctx);
	/* the reader's block is a small part of the memory */
	fc_chunk_reader_begin(&scanner.reader, ctx,
						  Max(Min(shared->memory / 16, (Size) 256 * 1024), 8192));
	fc_chunk_reader_find(&scanner.reader, shared->source.unsplit);
	scanner.estate = fc_executor_begin(ctx);
	if (!shared->plan.where_late)
		scanner.where = fc_where_begin(shared, false);
	/* the load evaluates it once more, but for rows that are spilled */
	if (shared->plan.steady || shared->finds)
		scanner.mark = fc_where_begin_mark(shared);
	scanner.slot = MakeSingleTupleTableSlot(RelationGetDescr(ctx->target),
											&TTSOpsVirtual);
	scanner.parser = fc_parse_begin(ctx, scanner.estate, true);
	fc_scan_begin_out(&scanner);
	scanner.row_mcxt = fc_context_memory(CurrentMemoryContext, "scan row");
	while (pg_atomic_read_u32(&shared->mistaken) == 0 && fc_chunks_take(ctx, &i))
		fc_scan_chunk(&scanner, i);
	fc_scan_end_out(&scanner);
	fc_chunk_reader_end(&scanner.reader);
	ExecDropSingleTupleTableSlot(scanner.slot);
	fc_executor_end(scanner.estate);
}
