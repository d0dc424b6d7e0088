/*-------------------------------------------------------------------------
 *
 * errors/reject_file.c
 *	  Records that on_error leaves out, from all processes, in file order.
 *
 * 1. A process puts a phase's rejects into a file, "rejects.PHASE.PROCESS":
 *    each record's place and fault, not its bytes.
 * 2. Between phases the leader reads the files through core's sort, in bounded
 *    memory.
 * 3. The load's SharedFileSet deletes the files, on error as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "catalog/pg_operator_d.h"
#include "executor/tuptable.h"
#include "utils/backend_progress.h"
#include "utils/tuplesort.h"

#include "errors/first_error.h"
#include "errors/reject_file.h"

/* Columns of the sort */
#define FC_SORT_OFFSET	1
#define FC_SORT_NUMBER	2		/* keeps the values of a record in order */
#define FC_SORT_ENTRY	3
#define FC_SORT_COLUMNS	3

/* So much of a reject begins its entry in a file; its four texts follow */
#define FC_ENTRY_HEAD	offsetof(FcReject, column)

struct FcRejects
{
	FcContext  *ctx;
	Tuplesortstate *sort;
	TupleTableSlot *in;			/* a row for the sort */
	TupleTableSlot *slot;		/* a row that comes from it */
	int64		number;			/* of rows put into it */
	int64		again;			/* the first one that fc_verify_load has put */
	uint64		offset;			/* of the record read last */
	bool		looked_again;	/* ... and put by that */
};

static void
fc_reject_name(char *name, FcPhase phase, int process)
{
	snprintf(name, MAXPGPATH, "rejects.%d.%d", phase, process);
}

/* Writes the reject into the process's file, which it makes if there is none */
static void
fc_reject_write(FcContext *ctx, const FcReject *reject)
{
	if (ctx->rejects == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(ctx->mcxt);
		char		name[MAXPGPATH];

		/* what fc_verify_load puts has the name of another phase */
		fc_reject_name(name, ctx->verifying ? FC_NPHASES : ctx->shared->phase, ctx->worker);
		ctx->rejects = BufFileCreateFileSet(&ctx->shared->fileset.fs, name);
		MemoryContextSwitchTo(old);
	}
	fc_buffile_write(ctx->rejects, reject, FC_ENTRY_HEAD);
	fc_buffile_write(ctx->rejects, reject->column, strlen(reject->column) + 1);
	fc_buffile_write(ctx->rejects, reject->value, strlen(reject->value) + 1);
	fc_buffile_write(ctx->rejects, reject->message, strlen(reject->message) + 1);
	fc_buffile_write(ctx->rejects, reject->detail, strlen(reject->detail) + 1);
}

/*
 * Counts one more reject, unless the leader looks at records again
 * (fc_verify_load).
 *
 * reject_limit is exact.  The process that counts one too many keeps the last
 * reject as the first bad record known, so that from then on all look only at
 * records before it.  In the end all rejects up to there are known, also the
 * one too many.
 */
static void
fc_reject_count(FcContext *ctx, uint64 offset)
{
	FcShared   *shared = ctx->shared;
	FcFileCounts *files = fc_shared_file_counts(shared);
	uint64		n;

	if (ctx->verifying)
		return;
	fc_context_raise(&shared->counts.last_rejected, offset);
	/* a full barrier: last_rejected is then the largest offset of all n */
	n = fc_context_count_out(ctx, rejected, offset, 1);
	if (!ctx->in_worker)
		pgstat_progress_update_param(PROGRESS_COPY_TUPLES_SKIPPED, n);
	if (shared->plan.reject_each)
		n = pg_atomic_read_u64(&files[fc_source_number(ctx->source, offset)].rejected);
	if (shared->plan.reject_limit >= 0 && n > (uint64) shared->plan.reject_limit)
		fc_error_keep(shared, FC_ERROR_LIMIT,
					  pg_atomic_read_u64(&shared->counts.last_rejected), 0, NULL);
}

void
fc_reject_fill(FcReject *reject, uint64 offset, uint64 length, const FcBad *bad)
{
	const ErrorData *edata = bad->edata;

	memset(reject, 0, sizeof(FcReject));
	reject->offset = offset;
	reject->length = length;
	reject->class = bad->class;
	reject->sqlerrcode = edata ? edata->sqlerrcode : 0;
	reject->null_input = (bad->value == NULL);
	reject->column = pstrdup(bad->column ? bad->column : "");
	reject->value = pstrdup(bad->value ? bad->value : "");
	reject->message = pstrdup(edata && edata->message ? edata->message : "");
	reject->detail = pstrdup(edata && edata->detail ? edata->detail : "");
	reject->size = strlen(reject->column) + strlen(reject->value) + strlen(reject->message) +
		strlen(reject->detail) + 4;
}

void
fc_reject_put(FcContext *ctx, uint64 offset, uint64 length, const FcBad *bad)
{
	FcReject	reject;

	/* an analysis tells of all that a load would refuse */
	Assert((ctx->shared->plan.tolerated & bad->class) != 0 || !fc_caller_writes(ctx->shared->plan.caller));
	fc_reject_fill(&reject, offset, length, bad);
	fc_reject_write(ctx, &reject);
	fc_reject_count(ctx, offset);
}

void
fc_reject_keep(FcContext *ctx, uint64 offset, uint64 length,
			   const FcBad *faults, int n)
{
	bool		nulled = false;
	bool		mended = false;

	for (int i = 0; i < n; i++)
	{
		FcReject	reject;

		nulled |= faults[i].class == 0;
		mended |= faults[i].class != 0;
		if (!ctx->shared->plan.verbose)
			continue;
		fc_reject_fill(&reject, offset, length, &faults[i]);
		fc_reject_write(ctx, &reject);
	}
	if (nulled && !ctx->verifying)
		pg_atomic_fetch_add_u64(&ctx->shared->counts.nulled, 1);
	if (mended && !ctx->verifying)
		pg_atomic_fetch_add_u64(&ctx->shared->counts.mended, 1);
}

void
fc_reject_end(FcContext *ctx)
{
	if (ctx->rejects == NULL)
		return;
	BufFileExportFileSet(ctx->rejects);
	BufFileClose(ctx->rejects);
	ctx->rejects = NULL;
}

static void
fc_rejects_begin_sort(FcRejects *rejects)
{
	AttrNumber	attnums[] = {FC_SORT_OFFSET, FC_SORT_NUMBER};
	Oid			operators[] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};
	TupleDesc	desc = CreateTemplateTupleDesc(FC_SORT_COLUMNS);

	TupleDescInitEntry(desc, FC_SORT_OFFSET, "offset", INT8OID, -1, 0);
	TupleDescInitEntry(desc, FC_SORT_NUMBER, "number", INT8OID, -1, 0);
	TupleDescInitEntry(desc, FC_SORT_ENTRY, "entry", BYTEAOID, -1, 0);
	fc_finish_desc(desc);
	rejects->in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	rejects->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	rejects->sort = tuplesort_begin_heap(desc, lengthof(attnums), attnums,
										 operators, collations, nulls_first,
										 Max(Min(rejects->ctx->shared->memory / 1024,
												 MAX_KILOBYTES), 64),
										 NULL, TUPLESORT_NONE);
}

/* Reads into the sort what a process put in a phase, if it put anything */
static void
fc_rejects_read_file(FcRejects *rejects, FcPhase phase, int process)
{
	char		name[MAXPGPATH];
	BufFile    *file;
	FcReject	head;
	uint64		left;

	fc_reject_name(name, phase, process);
	file = BufFileOpenFileSet(&rejects->ctx->shared->fileset.fs, name, O_RDONLY, true);
	if (file == NULL)
		return;
	left = BufFileSize(file);
	while (left > 0)
	{
		TupleTableSlot *slot = ExecClearTuple(rejects->in);
		bytea	   *bytes;

		CHECK_FOR_INTERRUPTS();
		fc_buffile_read(file, &head, FC_ENTRY_HEAD);
		bytes = palloc(VARHDRSZ + FC_ENTRY_HEAD + head.size);
		SET_VARSIZE(bytes, VARHDRSZ + FC_ENTRY_HEAD + head.size);
		memcpy(VARDATA(bytes), &head, FC_ENTRY_HEAD);
		fc_buffile_read(file, VARDATA(bytes) + FC_ENTRY_HEAD, head.size);
		slot->tts_values[FC_SORT_OFFSET - 1] = Int64GetDatum((int64) head.offset);
		slot->tts_values[FC_SORT_NUMBER - 1] = Int64GetDatum(rejects->number++);
		slot->tts_values[FC_SORT_ENTRY - 1] = PointerGetDatum(bytes);
		memset(slot->tts_isnull, 0, FC_SORT_COLUMNS * sizeof(bool));
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(rejects->sort, slot);
		pfree(bytes);
		left -= FC_ENTRY_HEAD + head.size;
	}
	BufFileClose(file);
}

FcRejects *
fc_rejects_open(FcContext *ctx, int nprocesses)
{
	FcRejects  *rejects = palloc0(sizeof(FcRejects));

	Assert(!IsParallelWorker());
	rejects->ctx = ctx;
	rejects->offset = PG_UINT64_MAX;
	fc_rejects_begin_sort(rejects);
	for (int i = 0; i < Max(nprocesses, 1); i++)
	{
		fc_rejects_read_file(rejects, FC_PHASE_SCAN, i);
		fc_rejects_read_file(rejects, FC_PHASE_LOAD, i);
		fc_rejects_read_file(rejects, FC_PHASE_CHECK, i);
	}
	rejects->again = rejects->number;
	fc_rejects_read_file(rejects, FC_NPHASES, 0);
	tuplesort_performsort(rejects->sort);
	return rejects;
}

bool
fc_rejects_next(FcRejects *rejects, FcReject *reject)
{
	while (tuplesort_gettupleslot(rejects->sort, true, false, rejects->slot, NULL))
	{
		bool		again;
		char	   *entry;

		slot_getallattrs(rejects->slot);
		again = DatumGetInt64(rejects->slot->tts_values[FC_SORT_NUMBER - 1]) >= rejects->again;
		entry = VARDATA_ANY(DatumGetByteaPP(rejects->slot->tts_values[FC_SORT_ENTRY - 1]));
		memcpy(reject, entry, FC_ENTRY_HEAD);
		reject->column = entry + FC_ENTRY_HEAD;
		reject->value = reject->column + strlen(reject->column) + 1;
		reject->message = reject->value + strlen(reject->value) + 1;
		reject->detail = reject->message + strlen(reject->message) + 1;
		if (reject->offset == rejects->offset && again != rejects->looked_again)
			continue;
		rejects->offset = reject->offset;
		rejects->looked_again = again;
		return true;
	}
	return false;
}

void
fc_rejects_close(FcRejects *rejects)
{
	ExecDropSingleTupleTableSlot(rejects->in);
	ExecDropSingleTupleTableSlot(rejects->slot);
	tuplesort_end(rejects->sort);
	pfree(rejects);
}
