/*-------------------------------------------------------------------------
 *
 * row/serial.c
 *	  Numbers of sequences, taken by the leader for the records of the file.
 *
 *	 nextval(), as if once per record ──► spans of consecutive numbers ──► files
 *		"numbers.N" ──► number of a record, in any process and any order
 *
 * A serial or identity column that has no field gets the number that COPY
 * would give it: the n-th record gets the n-th number, whichever process loads
 * it.  Workers cannot call nextval(), and would do so in another order.
 *
 * A span is the numbers that the leader gets without another session in
 * between.  Nearly always a load has one span; in the worst case it has one for
 * each record.  So spans are kept in files of the load's SharedFileSet, which
 * deletes them on error, too.  A process has in memory one block of
 * FC_NUMBER_BLOCK spans, and the first record of each block.
 *
 * A parameter stands in nextval()'s place in the default, and an entry of the
 * spill has room for the record's number within its chunk.  Where a load needs
 * other volatile defaults that are not parallel safe, the leader attaches new
 * partitions before it, and lets core route the rows in the order of the file.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "storage/buffile.h"
#include "utils/fmgroids.h"
#include "utils/resowner.h"

#include "compat/compat.h"
#include "errors/first_error.h"
#include "key/search.h"
#include "row/sequence.h"
#include "row/serial.h"

/* Spans in memory at a time */
#define FC_NUMBER_BLOCK	512

/* Records "record" and on have the numbers "first" and on */
typedef struct FcNumberSpan
{
	uint64		record;
	int64		first;
} FcNumberSpan;

/* The numbers of one sequence */
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
	int			n;
	FcNumberFile *files;
	ParamListInfo params;
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

static bool
fc_number_contains(Node *node, void *context)
{
	FcNumber	number;

	if (node == NULL)
		return false;
	return fc_number_is_call(node, &number) ||
		expression_tree_walker(node, fc_number_contains, context);
}

/* The argument that has a call in it; NULL if none has, or more than one */
static Node *
fc_number_argument(List *args)
{
	Node	   *found = NULL;
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!fc_number_contains(lfirst(lc), NULL))
			continue;
		if (found)
			return NULL;
		found = lfirst(lc);
	}
	return found;
}

/* Goes down through expressions that evaluate all their arguments */
bool
fc_number_find(Node *expr, FcNumber *number)
{
	while (expr && !fc_number_is_call(expr, number))
	{
		if (IsA(expr, FuncExpr))
			expr = fc_number_argument(((FuncExpr *) expr)->args);
		else if (IsA(expr, OpExpr))
			expr = fc_number_argument(((OpExpr *) expr)->args);
		else if (IsA(expr, RelabelType))
			expr = (Node *) ((RelabelType *) expr)->arg;
		else if (IsA(expr, CoerceViaIO))
			expr = (Node *) ((CoerceViaIO *) expr)->arg;
		else
			expr = NULL;
	}
	return expr != NULL;
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
	param->location = -1;
	call = param->paramid > 0 ? (Node *) param :
		(Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
						   Int64GetDatum(1), false, FLOAT8PASSBYVAL);
	/* an identity column's sequence has the column's type */
	if (exprType(node) == INT4OID)
		call = (Node *) makeFuncExpr(F_INT4_INT8, INT4OID, list_make1(call),
									 InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
	else if (exprType(node) == INT2OID)
		call = (Node *) makeFuncExpr(F_INT2_INT8, INT2OID, list_make1(call),
									 InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
	return call;
}

Node *
fc_number_replace(Node *expr, int id)
{
	return fc_number_mutator(expr, &id);
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
	char		name[MAXPGPATH];

	snprintf(name, sizeof(name), "numbers.%d", i);
	return create ? BufFileCreateFileSet(&shared->fileset.fs, name) :
		BufFileOpenFileSet(&shared->fileset.fs, name, O_RDONLY, false);
}

/* Adds "count" consecutive numbers for the next records */
static void
fc_number_add(FcNumberTaker *taker, int64 first, uint64 count)
{
	FcNumber   *number = taker->number;
	FcNumberSpan span = {taker->taken, first};

	if (taker->taken == 0 || first != fc_number_after(number, taker->last, 1))
	{
		fc_buffile_write(taker->file, &span, sizeof(span));
		number->nspans++;
	}
	taker->last = fc_number_after(number, first, count - 1);
	taker->taken += count;
}

/* Body of fc_error_catch; the first and the last number are from nextval() */
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
			number->increment = fc_sequence_increment(number->sequence);
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

/*
 * Returns the error that the sequence throws, or NULL.  nextval() throws it
 * with the sequence's page locked, and from 19 on the lock goes with its
 * resource owner alone.
 */
static ErrorData *
fc_number_try(FcContext *ctx, FcNumberTaker *taker)
{
	ResourceOwner outer = CurrentResourceOwner;
	ResourceOwner owner = ResourceOwnerCreate(outer, "fast_copy numbers");
	ErrorData  *edata;

	CurrentResourceOwner = owner;
	edata = fc_error_catch(ctx, fc_number_take, taker);
	CurrentResourceOwner = outer;
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, true, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
	ResourceOwnerDelete(owner);
	return edata;
}

/* The chunk in which the record with this number starts */
static uint32
fc_number_chunk(FcShared *shared, uint64 number)
{
	FcChunkStart *starts = fc_shared_starts(shared);
	uint32		i = 0;

	while (i < shared->source.nchunks - 1 &&
		   starts[i].before + starts[i].records <= number)
		i++;
	return i;
}

/* Keeps the error for the first record without a number: COPY stops there */
static void
fc_number_refuse(FcContext *ctx, uint64 number, const ErrorData *edata)
{
	FcShared   *shared = ctx->shared;
	FcChunkStart *start = &fc_shared_starts(shared)[fc_number_chunk(shared, number)];
	FcStream   *stream = fc_stream_begin(ctx->source, 65536);
	FcRecord	record;

	fc_context_enter(ctx, start->first);
	fc_stream_seek(stream, start->first);
	for (uint64 i = start->before; i <= number; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_stream_next(stream, &ctx->dialect, &record) != FC_END_FOUND)
			break;
	}
	fc_error_keep(shared, FC_ERROR_DATA, record.offset, record.length, edata);
	fc_stream_end(stream);
}

void
fc_number_reserve(FcContext *ctx, uint64 records)
{
	FcShared   *shared = ctx->shared;

	for (int i = 0; i < shared->nnumbers; i++)
	{
		FcNumberTaker taker = {ctx, &fc_shared_numbers(shared)[i]};
		ErrorData  *edata;

		taker.records = records;
		taker.number->nspans = 0;
		taker.file = fc_number_file(shared, i, true);
		edata = fc_number_try(ctx, &taker);
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
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file")));
	file->nspans = Min(file->number->nspans - first, FC_NUMBER_BLOCK);
	fc_buffile_read(file->file, file->spans, file->nspans * sizeof(FcNumberSpan));
	file->block = block;
}

static void
fc_numbers_open_file(FcNumberFile *file, FcShared *shared, int i)
{
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
}

FcNumbers *
fc_numbers_open(FcShared *shared)
{
	FcNumbers  *numbers = palloc0(sizeof(FcNumbers));

	numbers->n = shared->nnumbers;
	numbers->files = palloc0(sizeof(FcNumberFile) * numbers->n);
	numbers->params = makeParamList(numbers->n);
	for (int i = 0; i < numbers->n; i++)
	{
		fc_numbers_open_file(&numbers->files[i], shared, i);
		numbers->params->params[i].ptype = INT8OID;
		numbers->params->params[i].isnull = false;
		numbers->params->params[i].pflags = 0;
	}
	return numbers;
}

void
fc_numbers_close(FcNumbers *numbers)
{
	for (int i = 0; i < numbers->n; i++)
		BufFileClose(numbers->files[i].file);
}

/* The block that has the record's number */
static uint64
fc_numbers_block(const FcNumberFile *file, uint64 record)
{
	uint64		next = 1;

	fc_search(uint64, next, file->nblocks, mid, file->heads[mid] <= record);
	return next - 1;
}

static int64
fc_numbers_get(FcNumberFile *file, uint64 record)
{
	int			next = 1;

	if (file->nblocks > 1)
		fc_numbers_load_block(file, fc_numbers_block(file, record));
	fc_search(int, next, file->nspans, mid, file->spans[mid].record <= record);
	return fc_number_after(file->number, file->spans[next - 1].first,
						   record - file->spans[next - 1].record);
}

void
fc_numbers_set(FcNumbers *numbers, uint64 record)
{
	for (int i = 0; i < numbers->n; i++)
		numbers->params->params[i].value =
			Int64GetDatum(fc_numbers_get(&numbers->files[i], record));
}

ParamListInfo
fc_numbers_params(FcNumbers *numbers)
{
	return numbers->params;
}
