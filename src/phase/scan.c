/*-------------------------------------------------------------------------
 *
 * phase/scan.c
 *	  Finds every record and its key, and spills (key, offset, length), with
 *	  the record itself or without.
 *
 * 1. A process takes chunks, and so puts its entries, in the order of the
 *    file.
 * 2. For each record that starts in the chunk it reads the key alone; or
 *    parses the whole record, if there is a condition or a fault may be
 *    tolerated.
 * 3. sort/run_write.c writes (key, offset, length) into sorted runs, with the
 *    record itself where that pays (phase/sample.c).
 *
 * A record without an end or a key is kept as an error, and ends the chunk:
 * nothing after it can be trusted.  On error the end of the phase closes what
 * is open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/rel.h"

#include "errors/first_error.h"
#include "errors/reject_file.h"
#include "errors/stop.h"
#include "intake/chunks.h"
#include "phase/phases.h"
#include "row/chunk_reader.h"
#include "row/executor.h"
#include "row/parse.h"
#include "row/where.h"
#include "sort/run_write.h"

typedef struct FcScanner
{
	FcContext  *ctx;
	FcChunkReader reader;
	FcParser   *parser;
	FcSpill    *spill;
	FcRoute    *route;			/* or NULL */
	EState	   *estate;			/* for defaults and the condition */
	ExprState  *where;			/* or NULL */
	TupleTableSlot *slot;		/* a whole row, where the key is not enough */
	MemoryContext row_mcxt;		/* reset now and then */
	Size		used;			/* of row_mcxt, roughly */
} FcScanner;

/* So many runs, and so many bytes of memory to sort in, cost little */
#define FC_SCAN_RUNS	64
#define FC_SCAN_SORT	((Size) 32 * 1024 * 1024)

/* Bytes between resets of row_mcxt, and those of a record beside its length */
#define FC_SCAN_RESET	65536
#define FC_SCAN_RECORD	64

/* Parses the whole record; false if the load passes over it */
static bool
fc_scan_row(FcScanner *scanner, char *data)
{
	FcRecord   *record = &scanner->reader.record;
	FcContext  *ctx = scanner->ctx;
	TupleTableSlot *slot = ExecClearTuple(scanner->slot);
	bool		parsed;
	bool		accepted = true;

	ctx->evaluating = true;
	parsed = fc_parse_record(scanner->parser, data, record->length,
							 slot->tts_values, slot->tts_isnull);
	if (parsed)
	{
		ExecStoreVirtualTuple(slot);
		slot->tts_tableOid = RelationGetRelid(ctx->target);
		accepted = scanner->where == NULL ||
			fc_where_accepts(scanner->where, scanner->estate, slot);
	}
	ctx->evaluating = false;
	if (!parsed)
	{
		fc_reject_put(ctx, record->offset, record->length,
					  fc_parse_bad(scanner->parser));
		return false;
	}
	if (accepted)
		return true;
	pg_atomic_fetch_add_u64(&ctx->shared->counts.filtered, 1);
	fc_parse_count_nulled(scanner->parser, record->offset, record->length);
	return false;
}

/*
 * Finds the key of a record that must be looked at as a whole: because of the
 * condition, or because something about the key is out of the ordinary.  False
 * if the load passes over the record.
 *
 * fc_scan_key() has changed the reader's bytes: the key is read from those
 * that are spilled, or from the file.
 */
static bool
fc_scan_whole(FcScanner *scanner, int64 *key, bool *null)
{
	FcRecord   *record = &scanner->reader.record;
	FcShared   *shared = scanner->ctx->shared;
	int			i = shared->plan.key.attnum - 1;
	const char *copy = fc_spill_copy(scanner->spill, record->length);
	char	   *data = palloc(record->length + 1);

	if (copy)
		memcpy(data, copy, record->length);
	else
		fc_source_read(scanner->ctx->source, record->offset, data, record->length);
	data[record->length] = '\0';
	if (!fc_scan_row(scanner, data))
		return false;
	*null = scanner->slot->tts_isnull[i];
	*key = *null ? 0 : fc_key_from_datum(shared->plan.key.type,
										 scanner->slot->tts_values[i]);
	return true;
}

/*
 * Has the key no partition, which ends the load, while another fault of the
 * record would be tolerated?  Then the whole record is looked at first: COPY
 * converts all columns before it looks for a partition.
 */
static bool
fc_scan_no_partition(FcScanner *scanner, int64 key, bool null)
{
	const FcRoute *route = scanner->route;
	uint32		tolerated = scanner->ctx->shared->plan.tolerated;

	if (route == NULL || tolerated == 0 || (tolerated & FC_CLASS_NO_PARTITION))
		return false;
	if (null)
		return !OidIsValid(route->null_oid);
	return (!route->create || fc_key_is_infinite(route->type, key)) &&
		!OidIsValid(fc_route_find(route, key).partition);
}

/* Finds the key; false if the record must be looked at as a whole */
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

static void
fc_scan_record(FcScanner *scanner)
{
	const FcRecord *record = &scanner->reader.record;
	FcEntry		entry = {0};
	bool		null;

	entry.offset = record->offset;
	entry.length = (uint32) record->length;
	fc_error_at(scanner->ctx, entry.offset, entry.length);
	fc_spill_hold(scanner->spill, record->data, entry.length);
	if ((scanner->where ||
		 !fc_scan_key(scanner, &entry.key, &null) ||
		 fc_scan_no_partition(scanner, entry.key, null)) &&
		!fc_scan_whole(scanner, &entry.key, &null))
		return;
	entry.info = fc_entry_info(null, scanner->reader.found - 1);
	fc_spill_put(scanner->spill, &entry);
}

/* Body of fc_error_catch: scans all records of a chunk */
static void
fc_scan_records(void *arg)
{
	FcScanner  *scanner = arg;
	MemoryContext old = MemoryContextSwitchTo(scanner->row_mcxt);

	while (fc_chunk_reader_next(&scanner->reader))
	{
		fc_scan_record(scanner);
		scanner->used += scanner->reader.record.length + FC_SCAN_RECORD;
		if (scanner->used >= FC_SCAN_RESET)
		{
			scanner->used = 0;
			MemoryContextReset(scanner->row_mcxt);
			ResetPerTupleExprContext(scanner->estate);
			CHECK_FOR_INTERRUPTS();
			fc_context_progress(scanner->ctx);
		}
	}
	MemoryContextSwitchTo(old);
}

static void
fc_scan_chunk(FcScanner *scanner, uint32 i)
{
	FcContext  *ctx = scanner->ctx;
	const FcRecord *record = &scanner->reader.record;
	ErrorData  *edata;

	if (!fc_chunk_reader_enter(&scanner->reader, i))
		return;
	edata = fc_error_catch(ctx, fc_scan_records, scanner);
	ctx->at_record = false;
	if (edata && record->data == NULL)
		ReThrowError(edata);
	if (edata)
	{
		fc_error_keep(ctx->shared, FC_ERROR_DATA, record->offset, record->length, edata);
		if (scanner->where)
			fc_error_stop(ctx);
		FreeErrorData(edata);
	}
	fc_chunk_reader_leave(&scanner->reader);
	MemoryContextReset(scanner->row_mcxt);
	pg_atomic_fetch_add_u64(&ctx->shared->counts.scan_bytes,
							fc_shared_chunks(ctx->shared)[i].length);
}

/*
 * Bytes to sort in: the least of the process's share, of what the file's
 * records need, and of what makes FC_SCAN_RUNS runs (but FC_SCAN_SORT).  Fresh
 * memory costs more than merging more runs does.
 */
static Size
fc_scan_memory(const FcShared *shared)
{
	const FcChunkStart *last;
	uint64		records = 0;
	Size		need;

	if (shared->source.room > 0)
		records = shared->source.data_size / FC_RECORD_GUESS;
	else if (shared->source.nchunks > 0)
	{
		last = &fc_shared_starts(shared)[shared->source.nchunks - 1];
		records = last->before + last->records;
	}
	need = fc_spill_need(shared, records, shared->source.size);
	return Min(shared->memory / 8 * 7,
			   Min(need, Max(need / FC_SCAN_RUNS, FC_SCAN_SORT)));
}

void
fc_scan_run(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	FcScanner	scanner = {0};
	FcRoute    *route = NULL;
	ResultRelInfo *root;
	uint32		i;

	Assert(shared->phase == FC_PHASE_SCAN && shared->plan.key.type != FC_KEY_NONE);
	if (fc_shared_key_routes(shared))
	{
		route = fc_route_build(ctx->target);
		route->create = (shared->plan.missing == FC_MISSING_CREATE);
		route->interval = shared->interval;
		route->interval.zone = shared->interval_zone[0] == '\0' ? NULL :
			pg_tzset(shared->interval_zone);
	}
	scanner.route = route;
	scanner.ctx = ctx;
	/* the reader's block is a small part of the memory */
	fc_chunk_reader_begin(&scanner.reader, ctx,
						  Max(Min(shared->memory / 16, (Size) 1024 * 1024), 8192));
	scanner.estate = fc_executor_begin(fc_executor_context_state(ctx), &root);
	if (!shared->plan.where_late)
		scanner.where = fc_where_begin(shared);
	scanner.slot = MakeSingleTupleTableSlot(RelationGetDescr(ctx->target),
											&TTSOpsVirtual);
	scanner.parser = fc_parse_begin(ctx, scanner.estate, true);
	scanner.spill = fc_spill_begin(shared, ctx->worker, route,
								   fc_scan_memory(shared));
	scanner.row_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											 "fast_copy scan row",
											 ALLOCSET_DEFAULT_SIZES);
	while (fc_chunks_take(ctx, &i))
		fc_scan_chunk(&scanner, i);
	ctx->kept = ctx->keep ? fc_spill_keep_all(scanner.spill, ctx->keep) : NULL;
	if (ctx->kept == NULL)
		fc_spill_end(scanner.spill);
	fc_chunk_reader_end(&scanner.reader);
	ExecDropSingleTupleTableSlot(scanner.slot);
	fc_executor_end(scanner.estate);
}
