/*-------------------------------------------------------------------------
 *
 * row/serial.c
 *	  Numbers of sequences, taken by the leader for the records of the file.
 *
 * A serial or identity column without a field gets the number that COPY would
 * give it: the n-th record gets the n-th number, whichever process loads it.
 *
 * 1. fc_number_find: the leader finds nextval() in the column's default, and
 *    puts a parameter in its place.
 * 2. fc_number_reserve: after the split the leader takes a number for each
 *    record.  Those that it gets without another session in between are a
 *    span.
 * 3. fc_number_add writes spans to files "numbers.N" of the load's
 *    SharedFileSet, which deletes them on error, too.  A load has one span
 *    nearly always, at worst one for each record.
 * 4. fc_numbers_set: a process that parses a record sets the parameters to its
 *    numbers.
 *
 * Entries of the spill have the record's number within its chunk.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_sequence.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "errors/first_error.h"
#include "row/serial.h"

/* Spans in memory at a time */
#define FC_NUMBER_BLOCK	512

/* Records "record" and on have the numbers "first" and on */
typedef struct FcNumberSpan
{
	uint64		record;
	int64		first;
} FcNumberSpan;

/*
 * The numbers of one sequence; one block of FC_NUMBER_BLOCK spans is in memory
 */
typedef struct FcNumberFile
{
	const FcNumber *number;
	BufFile    *file;
	uint64		nblocks;
	uint64	   *heads;			/* first record of each block */
	uint64		block;			/* number of the one in memory */
	int			nspans;			/* in it */
	FcNumberSpan *spans;
} FcNumberFile;

struct FcNumbers
{
	FcNumberFile *files;
	ParamListInfo params;		/* as many */
};

/* The numbers that fc_number_take takes */
typedef struct FcNumberTaker
{
	FcContext  *ctx;
	FcNumber   *number;
	BufFile    *file;
	uint64		records;		/* wanted */
	uint64		taken;
	int64		last;
} FcNumberTaker;

/* Is it a call of nextval() whose sequence is known? */
static bool
fc_number_is_call(Node *node, FcNumber *number)
{
	FuncExpr   *call = (FuncExpr *) node;
	Const	   *arg;

	if (IsA(node, NextValueExpr))
	{
		number->sequence = ((NextValueExpr *) node)->seqid;
		number->identity = true;
		return true;
	}
	if (!IsA(node, FuncExpr) || call->funcid != F_NEXTVAL)
		return false;
	arg = linitial(call->args);
	if (!IsA(arg, Const) || arg->constisnull)
		return false;
	number->sequence = DatumGetObjectId(arg->constvalue);
	number->identity = false;
	return true;
}

/* The search for a call */
typedef struct FcNumberSearch
{
	FcNumber   *number;
	int			found;
	bool		within;			/* what may not evaluate it */
} FcNumberSearch;

/* Counts calls; true for one in what may leave out some of its arguments */
static bool
fc_number_walker(Node *node, void *context)
{
	FcNumberSearch *search = context;
	bool		within = search->within;
	bool		refused;

	if (node == NULL)
		return false;
	if (fc_number_is_call(node, search->number))
	{
		search->found++;
		return within;
	}
	search->within |= !IsA(node, FuncExpr) && !IsA(node, OpExpr) &&
		!IsA(node, RelabelType) && !IsA(node, CoerceViaIO);
	refused = expression_tree_walker(node, fc_number_walker, context);
	search->within = within;
	return refused;
}

/*
 * Workers cannot call nextval(), and would call it in another order.  If a
 * load needs other volatile defaults that are not parallel safe, the leader
 * attaches new partitions before it, and core routes the rows in the file's
 * order.
 */
bool
fc_number_find(Node *expr, FcNumber *number)
{
	FcNumberSearch search = {number};

	return !fc_number_walker(expr, &search) && search.found == 1;
}

static Node *
fc_number_mutator(Node *node, void *context)
{
	FcNumber	number;
	Param	   *param;
	Node	   *call;

	if (node == NULL)
		return NULL;
	if (!fc_number_is_call(node, &number))
		return expression_tree_mutator(node, fc_number_mutator, context);
	param = makeNode(Param);
	param->paramkind = PARAM_EXTERN;
	param->paramid = *(int *) context;
	param->paramtype = INT8OID;
	param->paramtypmod = -1;
	call = param->paramid > 0 ? (Node *) param :
		(Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
						   Int64GetDatum(1), false, FLOAT8PASSBYVAL);
	/* an identity column's sequence has the column's type */
	if (exprType(node) == INT8OID)
		return call;
	return (Node *) makeFuncExpr(exprType(node) == INT4OID ? F_INT4_INT8 : F_INT2_INT8, exprType(node),
								 list_make1(call), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
}

Node *
fc_number_replace(Node *expr, int id)
{
	return fc_number_mutator(expr, &id);
}

static FormData_pg_sequence
fc_sequence_form(Oid sequence)
{
	HeapTuple	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(sequence));
	FormData_pg_sequence form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for sequence %u", sequence);
	form = *(Form_pg_sequence) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	return form;
}

/* Sets the number given last, also in WAL; the caller has locked buf */
static void
fc_sequence_set(Relation rel, Buffer buf, ItemId item, int64 last)
{
	Page		page = BufferGetPage(buf);
	HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);
	Form_pg_sequence_data data = (Form_pg_sequence_data) ((char *) tuple + tuple->t_hoff);

	START_CRIT_SECTION();
	data->last_value = last;
	data->is_called = true;
	/* the next nextval() has to write WAL */
	data->log_cnt = 0;
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
	{
		xl_seq_rec	xlrec;
		XLogRecPtr	lsn;

		fc_seq_rec_locate(&xlrec, rel);
		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_WILL_INIT);
		XLogRegisterData((char *) &xlrec, sizeof(xlrec));
		XLogRegisterData((char *) tuple, ItemIdGetLength(item));
		lsn = XLogInsert(RM_SEQ_ID, XLOG_SEQ_LOG);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

/* Body of fc_sequence_take, with the sequence's only page locked */
static uint64
fc_sequence_advance(Relation rel, Buffer buf, const FormData_pg_sequence *form,
					uint64 wanted, int64 *first)
{
	Page		page = BufferGetPage(buf);
	ItemId		item = PageGetItemId(page, FirstOffsetNumber);
	HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);
	Form_pg_sequence_data data = (Form_pg_sequence_data) ((char *) tuple + tuple->t_hoff);
	int64		last = data->last_value;
	uint64		left = 0;
	uint64		count;

	/* numbers between the last and the limit in the increment's direction */
	if (form->seqincrement > 0 && last < form->seqmax)
		left = ((uint64) form->seqmax - (uint64) last) / (uint64) form->seqincrement;
	else if (form->seqincrement < 0 && last > form->seqmin)
		left = ((uint64) last - (uint64) form->seqmin) / -(uint64) form->seqincrement;
	count = Min(wanted, left);
	/* after setval(..., false) the number itself comes next */
	if (count == 0 || !data->is_called)
		return 0;
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	*first = last + form->seqincrement;
	fc_sequence_set(rel, buf, item,
					(int64) ((uint64) last + count * (uint64) form->seqincrement));
	return count;
}

/*
 * Takes up to "wanted" consecutive numbers, as that many calls of nextval()
 * would, under the lock of the sequence's buffer: no number is given twice.
 * Returns how many it took, and sets *first.
 *
 * Takes none if nextval() has more to do than to count: at the sequence's
 * limits, or if sessions cache numbers.
 */
static uint64
fc_sequence_take(Oid sequence, uint64 wanted, int64 *first)
{
	FormData_pg_sequence form = fc_sequence_form(sequence);
	Relation	rel;
	Buffer		buf;
	uint64		count;

	if (form.seqcache != 1)
		return 0;
	/* with an XID the commit waits for the WAL record */
	(void) GetTopTransactionId();
	rel = relation_open(sequence, NoLock);
	buf = ReadBuffer(rel, 0);
	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	count = fc_sequence_advance(rel, buf, &form, wanted, first);
	UnlockReleaseBuffer(buf);
	relation_close(rel, NoLock);
	return count;
}

/* The number that comes "count" numbers after the first */
static int64
fc_number_after(const FcNumber *number, int64 first, uint64 count)
{
	return (int64) ((uint64) first + count * (uint64) number->increment);
}

static BufFile *
fc_number_file(FcShared *shared, int i, bool create)
{
	char	   *name = psprintf("numbers.%d", i);

	return create ? BufFileCreateFileSet(&shared->fileset.fs, name) :
		BufFileOpenFileSet(&shared->fileset.fs, name, O_RDONLY, false);
}

/* Adds "count" consecutive numbers for the next records */
static void
fc_number_add(FcNumberTaker *taker, int64 first, uint64 count)
{
	FcNumber   *number = taker->number;
	FcNumberSpan span = {taker->taken, first};

	Assert(count > 0 && taker->taken + count <= taker->records);
	if (taker->taken == 0 || first != fc_number_after(number, taker->last, 1))
	{
		fc_buffile_write(taker->file, &span, sizeof(span));
		number->nspans++;
	}
	taker->last = fc_number_after(number, first, count - 1);
	taker->taken += count;
}

/*
 * Body of fc_error_catch.  The first and the last number are from nextval():
 * it checks the privilege, locks the sequence against ALTER and DROP until the
 * transaction ends, and sets what currval() says.  A call for each row costs
 * more than a third of loading the row.
 */
static void
fc_number_take(void *arg)
{
	FcNumberTaker *taker = arg;
	FcNumber   *number = taker->number;

	while (taker->taken < taker->records)
	{
		int64		value = nextval_internal(number->sequence, !number->identity);
		uint64		count;

		CHECK_FOR_INTERRUPTS();
		if (taker->taken == 0)
			number->increment = fc_sequence_form(number->sequence).seqincrement;
		fc_number_add(taker, value, 1);
		if (taker->taken % 65536 == 0)
			fc_context_progress(taker->ctx);
		if (taker->taken > 1 || taker->records <= 2)
			continue;
		count = fc_sequence_take(number->sequence, taker->records - 2, &value);
		if (count > 0)
			fc_number_add(taker, value, count);
	}
}

/* Notes the error for the first record without a number: COPY stops there */
static void
fc_number_refuse(FcContext *ctx, uint64 number, const ErrorData *edata)
{
	FcShared   *shared = ctx->shared;
	FcChunkStart *start = fc_shared_starts(shared);
	FcChunkStart *last = start + shared->source.nchunks - 1;
	FcStream   *stream = fc_stream_begin(ctx->source, 65536);
	FcRecord	record;

	/* the chunk in which the record with this number starts */
	while (start < last && start->before + start->records <= number)
		start++;
	fc_stream_seek(stream, start->first);
	for (uint64 i = start->before; i <= number; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_stream_next(stream, fc_context_dialect(ctx, start->first), &record) != FC_END_FOUND)
			break;
	}
	fc_error_keep(shared, FC_ERROR_DATA, record.offset, record.length, edata);
	fc_stream_end(stream);
}

void
fc_number_reserve(FcContext *ctx, uint64 records)
{
	FcShared   *shared = ctx->shared;

	Assert(!IsParallelWorker() && !IsInParallelMode());
	for (int i = 0; i < shared->plan.nnumbers; i++)
	{
		FcNumberTaker taker = {ctx, &fc_shared_numbers(shared)[i], fc_number_file(shared, i, true), records};
		struct ResourceOwnerData *outer;
		ErrorData  *edata;

		taker.number->nspans = 0;
		/* from 19 on the resource owner unlocks what nextval() leaves locked */
		outer = fc_error_owner_begin();
		edata = fc_error_catch(ctx, fc_number_take, &taker);
		fc_error_owner_end(ctx, outer);
		BufFileExportFileSet(taker.file);
		BufFileClose(taker.file);
		if (edata)
			fc_number_refuse(ctx, taker.taken, edata);
	}
}

static void
fc_numbers_load_block(FcNumberFile *file, uint64 block)
{
	uint64		first = block * FC_NUMBER_BLOCK;

	if (file->block == block)
		return;
	if (BufFileSeek(file->file, 0, (off_t) (first * sizeof(FcNumberSpan)), SEEK_SET) != 0)
		fc_file_error(errmsg("could not seek in temporary file"));
	file->nspans = Min(file->number->nspans - first, FC_NUMBER_BLOCK);
	Assert(file->nspans > 0);
	fc_buffile_read(file->file, file->spans, file->nspans * sizeof(FcNumberSpan));
	file->block = block;
}

FcNumbers *
fc_numbers_open(FcShared *shared, ParamListInfo *params)
{
	FcNumbers  *numbers = palloc0(sizeof(FcNumbers));

	numbers->files = palloc0(sizeof(FcNumberFile) * shared->plan.nnumbers);
	*params = numbers->params = makeParamList(shared->plan.nnumbers);
	for (int i = 0; i < numbers->params->numParams; i++)
	{
		FcNumberFile *file = &numbers->files[i];

		file->number = &fc_shared_numbers(shared)[i];
		file->file = fc_number_file(shared, i, false);
		file->nblocks = (file->number->nspans + FC_NUMBER_BLOCK - 1) / FC_NUMBER_BLOCK;
		file->heads = MemoryContextAllocHuge(CurrentMemoryContext,
											 Max(file->nblocks, 1) * sizeof(uint64));
		file->spans = palloc(FC_NUMBER_BLOCK * sizeof(FcNumberSpan));
		file->block = PG_UINT64_MAX;
		for (uint64 block = 0; block < file->nblocks; block++)
		{
			CHECK_FOR_INTERRUPTS();
			fc_numbers_load_block(file, block);
			file->heads[block] = file->spans[0].record;
		}
		numbers->params->params[i] = (ParamExternData) {.ptype = INT8OID};
	}
	return numbers;
}

void
fc_numbers_close(FcNumbers *numbers)
{
	for (int i = 0; i < numbers->params->numParams; i++)
		BufFileClose(numbers->files[i].file);
}

static int64
fc_numbers_get(FcNumberFile *file, uint64 record)
{
	uint64		block = 1;
	int			next = 1;

	/* the sequence refused the first number: no record is loaded */
	if (file->nblocks == 0)
		return 0;
	fc_search(uint64, block, file->nblocks, mid, file->heads[mid] <= record);
	if (file->nblocks > 1)
		fc_numbers_load_block(file, block - 1);
	fc_search(int, next, file->nspans, mid, file->spans[mid].record <= record);
	Assert(file->spans[next - 1].record <= record);
	return fc_number_after(file->number, file->spans[next - 1].first,
						   record - file->spans[next - 1].record);
}

void
fc_numbers_set(FcNumbers *numbers, uint64 record)
{
	for (int i = 0; i < numbers->params->numParams; i++)
		numbers->params->params[i].value =
			Int64GetDatum(fc_numbers_get(&numbers->files[i], record));
}
