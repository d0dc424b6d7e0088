/*-------------------------------------------------------------------------
 *
 * load/load.c
 *	  Rows into partitions.
 *
 *	 with a key:     task ──► merge of runs ──┬─► reader ──┐
 *	                                          ├─► mapping ─┤
 *	                                          └─► rows ────┤
 *	 without a key, or in key order already:
 *					 chunk ──► stream of records ──────────┴─► row ──► writer
 *
 *	 row: parse ──► partition's row type ──► generated columns ──► checks
 *		──► sort, if the order is not the key's (sort/order_by.c)
 *
 * Where fc_route knows the partitions a task is one leaf, or a slice of one;
 * otherwise core's tuple routing finds each row's leaf.
 *
 * Rows that are sorted are written when the last one of their leaf has come;
 * one process has all of them.  Where core routes, that is one for the whole
 * load, and the number of the leaf is the first key of the sort.
 *
 * A bad row is caught and kept (errors/first_error.c); the phase goes on with the rows
 * that stand before it in the file.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/index.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/hsearch.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "errors/first_error.h"
#include "errors/lines.h"
#include "errors/reject_file.h"
#include "errors/stop.h"
#include "heap/writer.h"
#include "intake/chunks.h"
#include "load/phases.h"
#include "row/chunk_reader.h"
#include "row/condition.h"
#include "row/executor.h"
#include "row/parse.h"
#include "sort/order_by.h"
#include "sort/row_source.h"
#include "sort/run_write.h"

/* How often progress is counted: rarely enough not to share a cache line */
#define FC_COUNT_BYTES		65536

/* Tasks per process that nobody takes ahead */
#define FC_SPARE_TASKS		2

/* Writers open at once when core routes */
#define FC_ROUTED_WRITERS	1024

/* One leaf found by core's tuple routing */
typedef struct FcLeaf
{
	ResultRelInfo *rri;			/* hash key */
	FcWriter   *writer;

	/* where rows are sorted before they are written */
	int32		number;
	TupleTableSlot *slot;
	AttrMap    *to_root;		/* NULL: the row types are the same */
	AttrMap    *from_root;
} FcLeaf;

/* What became of a row */
typedef enum FcOutcome
{
	FC_ROW_BUILT,
	FC_ROW_FILTERED,			/* the condition is not true */
	FC_ROW_CHANGED,				/* is not the row that the scan has found */
	FC_ROW_REFUSED				/* loader->bad tells why */
} FcOutcome;

typedef struct FcLoader
{
	FcContext  *ctx;
	EState	   *estate;
	ResultRelInfo *root;
	TupleTableSlot *root_slot;
	FcParser   *parser;
	ExprState  *where;			/* to be looked at; NULL: not here */
	ExprState  *where_again;	/* the scan's, for rows that are read again; or NULL */

	/* with a key: tasks */
	FcTask	   *last;			/* the one taken last, ever */
	FcTask	   *slice;			/* in key order: the one the chunk has got to */
	int64		slice_key;		/* ... and the last record's key */
	uint64		bytes;			/* of rows, not yet in shared->load_bytes */
	instr_time	task_start;
	MemoryContext row_mcxt;		/* reset for each row */

	/* where rows go: one leaf, or core's routing */
	ResultRelInfo *leaf;
	bool		nowhere;		/* no partition takes the task's rows */
	AttrMap    *map;			/* NULL: root's row type is the leaf's */
	bool		plain;			/* its rows need no more than a look for NULLs */
	FcWriter   *writer;
	ModifyTableState *mtstate;
	PartitionTupleRouting *proute;
	HTAB	   *leaves;
	Size		pending;		/* bytes the leaves may hold in batches */

	/* where rows are sorted before they go there */
	FcSort	   *sort;			/* or NULL */
	List	   *sorted;			/* FcLeaf by number, if core routes */
	FcLeaf	   *row_leaf;		/* ... of the row being loaded */
	TupleTableSlot *sort_slot;	/* the row, in the type that is sorted */

	bool		dry;			/* nothing is written */
	uint64		rows;			/* looked at so far */

	/* the row being loaded */
	char	   *data;
	uint64		offset;
	uint32		length;
	bool		keyed;			/* it was found by a key, which it must have */
	bool		reread;			/* ... and its bytes are read again from the file */
	bool		key_null;
	int64		key;
	bool		parsed;
	TupleTableSlot *leaf_slot;	/* where it is built, in the leaf's row type */
	FcWriter   *row_writer;		/* where it goes then */
	FcOutcome	outcome;
	FcBad		bad;
} FcLoader;

/* A leaf as fc_load_verify needs it */
typedef struct FcVerifyLeaf
{
	ResultRelInfo *rri;
	AttrMap    *map;
	TupleTableSlot *slot;
	List	   *indexes;		/* IndexInfos of those a new one will have */
	FcWriter   *writer;			/* or NULL */
} FcVerifyLeaf;

typedef struct FcVerifier
{
	FcLoader	loader;
	FcVerifyLeaf *leaves;		/* by number of the part */
	FcTask	  **by_key;			/* all tasks */
	FcVerifyLeaf *leaf;			/* of the row, if not routed by core */
	int			nleaves;
	int			nwriters;		/* open */
	bool		insert;			/* rows of new partitions, one by one */
} FcVerifier;

static void
fc_load_init_routing(FcLoader *loader)
{
	ModifyTableState *mtstate = makeNode(ModifyTableState);
	HASHCTL		ctl = {0};

	mtstate->ps.state = loader->estate;
	mtstate->operation = CMD_INSERT;
	mtstate->mt_nrels = 1;
	mtstate->resultRelInfo = loader->root;
	mtstate->rootResultRelInfo = loader->root;
	loader->mtstate = mtstate;
	loader->proute = ExecSetupPartitionTupleRouting(loader->estate,
													loader->ctx->target);
	ctl.keysize = sizeof(ResultRelInfo *);
	ctl.entrysize = sizeof(FcLeaf);
	ctl.hcxt = CurrentMemoryContext;
	loader->leaves = hash_create("fast_copy leaves", 64, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void
fc_load_begin(FcLoader *loader, FcContext *ctx)
{
	loader->ctx = ctx;
	loader->estate = fc_target_executor(fc_target_context_state(ctx),
										&loader->root);
	loader->root_slot = MakeSingleTupleTableSlot(RelationGetDescr(ctx->target),
												 &TTSOpsVirtual);
	loader->parser = fc_parse_begin(ctx, loader->estate);
	/* with a key the scan has looked at the condition */
	if (ctx->shared->key_type == FC_KEY_NONE)
		loader->where = fc_where_begin(ctx->shared);
	else
		loader->where_again = fc_where_begin_again(ctx->shared);
	loader->row_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											 "fast_copy row",
											 ALLOCSET_DEFAULT_SIZES);
	if (ctx->shared->routed)
		fc_load_init_routing(loader);
}

static void
fc_load_close_leaf(FcLoader *loader)
{
	/* the root's are closed with the executor state */
	if (loader->leaf && loader->leaf != loader->root)
	{
		ExecCloseIndices(loader->leaf);
		table_close(loader->leaf->ri_RelationDesc, NoLock);
	}
	loader->leaf = NULL;
}

static void
fc_load_finish(FcLoader *loader)
{
	fc_load_close_leaf(loader);
	if (loader->proute)
		ExecCleanupTupleRouting(loader->mtstate, loader->proute);
	ExecDropSingleTupleTableSlot(loader->root_slot);
	fc_parse_end(loader->parser);
	fc_target_executor_end(loader->estate);
}

/* Does the leaf take each row that has values where it must? */
static bool
fc_load_is_plain(FcLoader *loader)
{
	TupleDesc	desc = RelationGetDescr(loader->leaf->ri_RelationDesc);
	TupleConstr *constr = desc->constr;

	if (loader->where || loader->where_again || loader->dry || loader->ctx->target->rd_rel->relispartition)
		return false;
	return constr == NULL ||
		(constr->num_check == 0 && !constr->has_generated_stored &&
		 !fc_has_virtual(desc));
}

/* The leaf becomes where rows go; the slices of one leaf share it */
static void
fc_load_open_leaf(FcLoader *loader, Oid leaf, bool indexes)
{
	Relation	target = loader->ctx->target;

	if (loader->leaf && RelationGetRelid(loader->leaf->ri_RelationDesc) == leaf)
		return;
	fc_load_close_leaf(loader);
	if (leaf == RelationGetRelid(target))
		loader->leaf = loader->root;
	else
	{
		Relation	rel = table_open(leaf, RowExclusiveLock);

		loader->leaf = makeNode(ResultRelInfo);
		InitResultRelInfo(loader->leaf, rel, 0, loader->root, 0);
	}
	if (indexes && loader->leaf->ri_IndexRelationDescs == NULL)
		ExecOpenIndices(loader->leaf, false);
	loader->map = fc_build_attrmap_if_req(RelationGetDescr(target),
										  RelationGetDescr(loader->leaf->ri_RelationDesc));
	loader->plain = fc_load_is_plain(loader);
}

/* Half of the memory is the reader's; slices keep rows for their turn, too */
static FcSort *
fc_load_begin_sort(FcLoader *loader, TupleDesc desc, const AttrMap *map)
{
	FcShared   *shared = loader->ctx->shared;

	return fc_sort_begin(shared, desc, map, loader->proute != NULL,
						 shared->memory / (shared->order_sliced ? 4 : 2));
}

static void
fc_load_begin_writer(FcLoader *loader, Oid leaf, const FcPlace *place)
{
	fc_load_open_leaf(loader, leaf, true);
	/* nobody looks at a plain row before it is a tuple */
	fc_parse_compact(loader->parser, loader->plain);
	loader->writer = fc_write_begin(loader->ctx, loader->estate, loader->leaf,
									place);
	loader->row_writer = loader->writer;
	loader->leaf_slot = fc_write_slot(loader->writer);
	if (loader->ctx->shared->norder > 0)
		loader->sort = fc_load_begin_sort(loader,
										  RelationGetDescr(loader->leaf->ri_RelationDesc),
										  loader->map);
}

/* A row comes back from the sort, to be written */
static void
fc_load_put_sorted(FcLoader *loader, const FcSortRow *row)
{
	FcContext  *ctx = loader->ctx;
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);

	if (!ctx->stopped && !fc_error_beyond(ctx->shared, row->offset))
		fc_write_put(loader->row_writer, row->offset, row->length);
	MemoryContextSwitchTo(old);
	MemoryContextReset(loader->row_mcxt);
	if (++loader->rows % 1024 == 0)
		fc_context_progress(ctx);
}

/* All rows of the leaf have come */
static void
fc_load_write_sorted(FcLoader *loader)
{
	FcSortRow	row;

	fc_sort_finish(loader->sort);
	while (fc_sort_next(loader->sort, loader->leaf_slot, &row))
	{
		CHECK_FOR_INTERRUPTS();
		fc_load_put_sorted(loader, &row);
	}
	fc_sort_end(loader->sort);
	loader->sort = NULL;
}

static uint64
fc_load_end_writer(FcLoader *loader)
{
	uint64		inserted;

	if (loader->sort)
		fc_load_write_sorted(loader);
	inserted = fc_write_end(loader->writer);
	loader->writer = NULL;
	return inserted;
}

static FcWriter *
fc_load_begin_leaf_writer(FcLoader *loader, ResultRelInfo *rri)
{
	FcPlace		place = {0};
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);
	FcWriter   *writer = fc_write_begin(loader->ctx, loader->estate, rri, &place);

	MemoryContextSwitchTo(old);
	return writer;
}

/* Rows of the leaf are sorted in the type of the target, as others are */
static void
fc_load_begin_sorted_leaf(FcLoader *loader, FcLeaf *leaf)
{
	TupleDesc	root = RelationGetDescr(loader->ctx->target);
	TupleDesc	desc = RelationGetDescr(leaf->rri->ri_RelationDesc);
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);

	leaf->number = list_length(loader->sorted);
	leaf->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	leaf->to_root = fc_build_attrmap_if_req(desc, root);
	leaf->from_root = fc_build_attrmap_if_req(root, desc);
	loader->sorted = lappend(loader->sorted, leaf);
	MemoryContextSwitchTo(old);
}

/* A leaf that the leader has not looked at may have triggers, and worse */
static void
fc_load_check_leaf(FcContext *ctx, Relation leaf)
{
	if (ctx->leaves == NIL || list_member_oid(ctx->leaves, RelationGetRelid(leaf)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("partition \"%s\" was attached to table \"%s\" while it was being loaded",
					RelationGetRelationName(leaf),
					RelationGetRelationName(ctx->target)),
			 errhint("Load it again.")));
}

/* An error, which may be kept as the row's, leaves no half of a leaf behind */
static FcLeaf *
fc_load_begin_leaf(FcLoader *loader, ResultRelInfo *rri)
{
	FcWriter   *writer = NULL;
	FcLeaf	   *leaf;

	fc_load_check_leaf(loader->ctx, rri->ri_RelationDesc);
	if (loader->sort == NULL)
		writer = fc_load_begin_leaf_writer(loader, rri);
	leaf = hash_search(loader->leaves, &rri, HASH_ENTER, NULL);
	leaf->writer = writer;
	if (loader->sort)
		fc_load_begin_sorted_leaf(loader, leaf);
	return leaf;
}

/* The row being loaded goes to this leaf */
static void
fc_load_to_leaf(FcLoader *loader, ResultRelInfo *rri)
{
	FcLeaf	   *leaf = hash_search(loader->leaves, &rri, HASH_FIND, NULL);

	if (leaf == NULL)
		leaf = fc_load_begin_leaf(loader, rri);
	loader->row_leaf = leaf;
	loader->row_writer = leaf->writer;
	loader->leaf_slot = leaf->writer ? fc_write_slot(leaf->writer) : leaf->slot;
}

/* A row that is built goes to the sort, with the number of its leaf */
static void
fc_load_sort_row(FcLoader *loader)
{
	FcSortRow	row = {0, loader->offset, loader->length};
	TupleTableSlot *slot = loader->leaf_slot;

	if (loader->proute)
	{
		row.leaf = loader->row_leaf->number;
		if (loader->row_leaf->to_root)
			slot = execute_attr_map_slot(loader->row_leaf->to_root, slot,
										 loader->sort_slot);
	}
	fc_sort_put(loader->sort, slot, &row);
}

/* The row that comes next is of another leaf, all before it are written */
static void
fc_load_switch_leaf(FcLoader *loader, FcLeaf *leaf)
{
	if (loader->row_leaf && loader->row_leaf->writer)
	{
		fc_write_end(loader->row_leaf->writer);
		loader->row_leaf->writer = NULL;
	}
	loader->row_leaf = leaf;
	if (leaf == NULL)
		return;
	leaf->writer = fc_load_begin_leaf_writer(loader, leaf->rri);
	loader->row_writer = leaf->writer;
}

static void
fc_load_end_sorted_leaves(FcLoader *loader)
{
	ListCell   *lc;

	fc_sort_end(loader->sort);
	loader->sort = NULL;
	ExecDropSingleTupleTableSlot(loader->sort_slot);
	foreach(lc, loader->sorted)
		ExecDropSingleTupleTableSlot(((FcLeaf *) lfirst(lc))->slot);
}

/* All rows of all leaves, which come one after the other */
static void
fc_load_write_leaves(FcLoader *loader)
{
	TupleTableSlot *slot = loader->sort_slot;
	FcSortRow	row;

	loader->row_leaf = NULL;
	fc_sort_finish(loader->sort);
	while (fc_sort_next(loader->sort, slot, &row))
	{
		FcLeaf	   *leaf = list_nth(loader->sorted, row.leaf);
		TupleTableSlot *leaf_slot;

		CHECK_FOR_INTERRUPTS();
		if (leaf != loader->row_leaf)
			fc_load_switch_leaf(loader, leaf);
		leaf_slot = fc_write_slot(leaf->writer);
		if (leaf->from_root)
			execute_attr_map_slot(leaf->from_root, slot, leaf_slot);
		else
			ExecCopySlot(leaf_slot, slot);
		fc_load_put_sorted(loader, &row);
	}
	fc_load_switch_leaf(loader, NULL);
	fc_load_end_sorted_leaves(loader);
}

/* Flushes all leaves; with "end", or when there are many, closes them */
static void
fc_load_flush_leaves(FcLoader *loader, bool end)
{
	HASH_SEQ_STATUS seq;
	FcLeaf	   *leaf;

	end = end || hash_get_num_entries(loader->leaves) > FC_ROUTED_WRITERS;
	hash_seq_init(&seq, loader->leaves);
	while ((leaf = hash_seq_search(&seq)) != NULL)
	{
		if (!end)
		{
			fc_write_flush(leaf->writer);
			continue;
		}
		fc_write_end(leaf->writer);
		hash_search(loader->leaves, &leaf->rri, HASH_REMOVE, NULL);
	}
}

static bool
fc_load_tolerates(FcLoader *loader, uint32 class)
{
	return (loader->ctx->shared->tolerated & class) != 0;
}

/* Leaves share the memory that one leaf's batch would have */
static void
fc_load_limit_leaves(FcLoader *loader)
{
	loader->pending += loader->length + sizeof(HeapTupleTableSlot) + sizeof(HeapTupleData);
	if (loader->pending < loader->ctx->shared->memory / 4 &&
		hash_get_num_entries(loader->leaves) <= FC_ROUTED_WRITERS)
		return;
	fc_load_flush_leaves(loader, false);
	loader->pending = 0;
}

/* The row is refused for what core would say; the values were all good */
static void
fc_load_refuse(FcLoader *loader, uint32 class, const char *column,
			   int sqlerrcode, char *message)
{
	ErrorData  *edata = palloc0(sizeof(ErrorData));

	edata->elevel = ERROR;
	edata->sqlerrcode = sqlerrcode;
	edata->message = message;
	edata->assoc_context = CurrentMemoryContext;
	loader->outcome = FC_ROW_REFUSED;
	loader->bad.class = class;
	loader->bad.column = column;
	loader->bad.value = NULL;
	loader->bad.edata = edata;
}

static void
fc_load_refuse_nowhere(FcLoader *loader)
{
	fc_load_refuse(loader, FC_CLASS_NO_PARTITION, NULL, ERRCODE_CHECK_VIOLATION,
				   psprintf("no partition of relation \"%s\" found for row",
							RelationGetRelationName(loader->ctx->target)));
}

static ResultRelInfo *
fc_load_find_leaf(FcLoader *loader, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);
	ResultRelInfo *rri;

	rri = ExecFindPartition(loader->mtstate, loader->root, loader->proute,
							slot, loader->estate);
	if (!loader->dry)
		fc_load_to_leaf(loader, rri);
	MemoryContextSwitchTo(old);
	return loader->dry ? loader->root : rri;
}

/* Core's routing, in the hands of fc_error_catch */
typedef struct FcRouting
{
	FcLoader   *loader;
	TupleTableSlot *slot;
	ResultRelInfo *rri;
} FcRouting;

static void
fc_load_try_leaf(void *arg)
{
	FcRouting  *routing = arg;

	routing->rri = fc_load_find_leaf(routing->loader, routing->slot);
}

/* The leaf that core finds; NULL if there is none and that is tolerated */
static ResultRelInfo *
fc_load_core_leaf(FcLoader *loader, TupleTableSlot *slot)
{
	FcRouting	routing = {loader, slot, NULL};
	ErrorData  *edata;

	if (!fc_load_tolerates(loader, FC_CLASS_NO_PARTITION))
		return fc_load_find_leaf(loader, slot);
	edata = fc_error_catch(loader->ctx, fc_load_try_leaf, &routing);
	if (edata == NULL)
		return routing.rri;
	if (edata->sqlerrcode != ERRCODE_CHECK_VIOLATION ||
		!fc_error_is_from(edata, "ExecFindPartition"))
		ReThrowError(edata);
	fc_load_refuse_nowhere(loader);
	return NULL;
}

/* ... and if it is one that missing_partitions => 'error' keeps rows from */
static ResultRelInfo *
fc_load_route(FcLoader *loader, TupleTableSlot *slot)
{
	FcShared   *shared = loader->ctx->shared;
	ResultRelInfo *rri = fc_load_core_leaf(loader, slot);

	if (rri == NULL || !OidIsValid(shared->refused) ||
		RelationGetRelid(rri->ri_RelationDesc) != shared->refused ||
		slot_attisnull(slot, shared->key_attnum))
		return rri;
	if (!fc_load_tolerates(loader, FC_CLASS_NO_PARTITION))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("no partition of relation \"%s\" found for row",
						RelationGetRelationName(loader->ctx->target)),
				 errdetail("Only the default partition would take it."),
				 errhint("Use missing_partitions%s 'default' or 'create'.",
						 fc_option_arrow(shared->statement)),
				 errtable(loader->ctx->target)));
	fc_load_refuse_nowhere(loader);
	return NULL;
}

/* A row without a value that must have one; false if that is its end */
static bool
fc_load_check_nulls(FcLoader *loader, ResultRelInfo *rri, TupleTableSlot *slot)
{
	TupleDesc	desc = RelationGetDescr(rri->ri_RelationDesc);

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);

		if (!att->attnotnull || fc_is_virtual(att) || !slot_attisnull(slot, attnum))
			continue;
		fc_load_refuse(loader, FC_CLASS_NOT_NULL, NameStr(att->attname),
					   ERRCODE_NOT_NULL_VIOLATION,
					   psprintf("null value in column \"%s\" of relation \"%s\" violates not-null constraint",
								NameStr(att->attname),
								RelationGetRelationName(rri->ri_RelationDesc)));
		return false;
	}
	return true;
}

/* The constraints' expressions, kept where core keeps them */
static ExprState **
fc_load_check_exprs(FcLoader *loader, ResultRelInfo *rri)
{
	TupleConstr *constr = RelationGetDescr(rri->ri_RelationDesc)->constr;
	MemoryContext old;

	if (fc_check_exprs(rri) != NULL)
		return fc_check_exprs(rri);
	old = MemoryContextSwitchTo(loader->estate->es_query_cxt);
	fc_check_exprs(rri) = palloc0(sizeof(ExprState *) * constr->num_check);
	for (int i = 0; i < constr->num_check; i++)
		if (fc_check_is_enforced(&constr->check[i]))
			fc_check_exprs(rri)[i] =
				ExecPrepareExpr((Expr *) fc_check_expression(rri->ri_RelationDesc,
															 &constr->check[i]),
								loader->estate);
	MemoryContextSwitchTo(old);
	return fc_check_exprs(rri);
}

/* A row that a CHECK is false for; false if that is its end */
static bool
fc_load_check_checks(FcLoader *loader, ResultRelInfo *rri, TupleTableSlot *slot)
{
	TupleConstr *constr = RelationGetDescr(rri->ri_RelationDesc)->constr;
	ExprContext *econtext = GetPerTupleExprContext(loader->estate);
	ExprState **exprs = fc_load_check_exprs(loader, rri);

	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < constr->num_check; i++)
	{
		if (exprs[i] == NULL || ExecCheck(exprs[i], econtext))
			continue;
		fc_load_refuse(loader, FC_CLASS_CHECK, NULL, ERRCODE_CHECK_VIOLATION,
					   psprintf("new row for relation \"%s\" violates check constraint \"%s\"",
								RelationGetRelationName(rri->ri_RelationDesc),
								constr->check[i].ccname));
		return false;
	}
	return true;
}

/*
 * What core's check would throw for a row that is plainly wrong is found here
 * first where it is tolerated, in core's order; core looks at the rest.
 */
static void
fc_load_check_constraints(FcLoader *loader, ResultRelInfo *rri,
						  TupleTableSlot *slot)
{
	bool		nulls = fc_load_tolerates(loader, FC_CLASS_NOT_NULL);
	bool		any = RelationGetDescr(rri->ri_RelationDesc)->constr->num_check > 0;
	bool		checks = any && fc_load_tolerates(loader, FC_CLASS_CHECK);

	if (nulls && !fc_load_check_nulls(loader, rri, slot))
		return;
	if (checks)
	{
		/* a NULL that is not tolerated comes first */
		if (!nulls && !fc_load_check_nulls(loader, rri, slot))
		{
			loader->outcome = FC_ROW_BUILT;
			ExecConstraints(rri, slot, loader->estate);
		}
		if (!fc_load_check_checks(loader, rri, slot))
			return;
	}
	/* no CHECK is evaluated twice, but where core must see virtual columns */
	if ((!checks && (any || !nulls)) ||
		fc_has_virtual(RelationGetDescr(rri->ri_RelationDesc)))
		ExecConstraints(rri, slot, loader->estate);
}

/* Generated columns and constraints, in the leaf's row type */
static void
fc_load_check(FcLoader *loader, ResultRelInfo *rri, TupleTableSlot *slot)
{
	Relation	rel = rri->ri_RelationDesc;
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	slot->tts_tableOid = RelationGetRelid(rel);
	if (constr && constr->has_generated_stored)
		ExecComputeStoredGenerated(rri, loader->estate, slot, CMD_INSERT);
	if (constr)
		fc_load_check_constraints(loader, rri, slot);
}

/* A target that is a partition takes its own rows only */
static bool
fc_load_check_partition(FcLoader *loader, TupleTableSlot *slot)
{
	bool		tolerated = fc_load_tolerates(loader, FC_CLASS_NO_PARTITION);

	if (ExecPartitionCheck(loader->root, slot, loader->estate, !tolerated))
		return true;
	fc_load_refuse(loader, FC_CLASS_NO_PARTITION, NULL, ERRCODE_CHECK_VIOLATION,
				   psprintf("new row for relation \"%s\" violates partition constraint",
							RelationGetRelationName(loader->ctx->target)));
	return false;
}

/* Where the row is parsed */
static inline TupleTableSlot *
fc_load_slot(FcLoader *loader)
{
	return (loader->proute || loader->map || loader->nowhere) ?
		loader->root_slot : loader->leaf_slot;
}

/* Parses as far as no error can come up */
static inline void
fc_load_begin_row(FcLoader *loader, TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	loader->parsed = fc_parse_quickly(loader->parser, loader->data, loader->length,
									  slot->tts_values, slot->tts_isnull);
}

/*
 * Is the key the one that brought the row here?  Not if the file was written to
 * after the scan, even where its times say nothing, as with a mapping.
 */
static inline bool
fc_load_has_key(const FcLoader *loader, const TupleTableSlot *slot)
{
	const FcShared *shared = loader->ctx->shared;
	int			i = shared->key_attnum - 1;

	if (!loader->keyed)
		return true;
	if (slot->tts_isnull[i] || loader->key_null)
		return slot->tts_isnull[i] == loader->key_null;
	return fc_key_from_datum(shared->key_type, slot->tts_values[i]) == loader->key;
}

/* Is there a NULL in a column that must have a value? */
static inline bool
fc_load_misses_value(const TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	const bool *end = slot->tts_isnull + desc->natts;
	const bool *null = slot->tts_isnull;

	if (desc->constr == NULL || !desc->constr->has_not_null)
		return false;
	while (null < end && (null = memchr(null, true, end - null)) != NULL)
		if (TupleDescAttr(desc, null++ - slot->tts_isnull)->attnotnull)
			return true;
	return false;
}

/*
 * A row that is parsed, and needs nothing else that could be an error, is
 * built; false for any other.
 */
static inline bool
fc_load_build_plain(FcLoader *loader, TupleTableSlot *slot)
{
	TupleTableSlot *leaf_slot = loader->leaf_slot;

	if (!loader->parsed || !loader->plain || loader->nowhere ||
		!fc_load_has_key(loader, slot))
		return false;
	ExecStoreVirtualTuple(slot);
	if (loader->map)
		execute_attr_map_slot(loader->map, slot, leaf_slot);
	if (fc_load_misses_value(leaf_slot))
	{
		/* core will say so */
		ExecClearTuple(slot);
		return false;
	}
	leaf_slot->tts_tableOid = RelationGetRelid(loader->leaf->ri_RelationDesc);
	loader->outcome = FC_ROW_BUILT;
	return true;
}

/* The rest of it; false if that is the row's end */
static bool
fc_load_parse_row(FcLoader *loader, TupleTableSlot *slot)
{
	if (!loader->parsed && !fc_parse_rest(loader->parser))
	{
		loader->outcome = FC_ROW_REFUSED;
		loader->bad = *fc_parse_bad(loader->parser);
		return false;
	}
	if (!fc_load_has_key(loader, slot))
	{
		loader->outcome = FC_ROW_CHANGED;
		return false;
	}
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = RelationGetRelid(loader->ctx->target);
	if (loader->where_again && loader->reread &&
		!fc_where_accepts(loader->where_again, loader->estate, slot))
	{
		loader->outcome = FC_ROW_CHANGED;
		return false;
	}
	if (loader->where && !fc_where_accepts(loader->where, loader->estate, slot))
	{
		loader->outcome = FC_ROW_FILTERED;
		return false;
	}
	loader->outcome = FC_ROW_BUILT;
	return true;
}

/* From the target's row type to a checked row in the leaf's slot */
static void
fc_load_place_row(FcLoader *loader, TupleTableSlot *slot)
{
	Relation	target = loader->ctx->target;
	ResultRelInfo *rri = loader->leaf;
	AttrMap    *map = loader->map;
	bool		partitioned = target->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	TupleTableSlot *leaf_slot;

	if (loader->nowhere)
	{
		fc_load_refuse_nowhere(loader);
		return;
	}
	if (loader->proute)
	{
		TupleConversionMap *conversion;

		rri = fc_load_route(loader, slot);
		if (rri == NULL)
			return;
		conversion = fc_root_to_child_map(rri, loader->estate);
		map = conversion ? conversion->attrMap : NULL;
	}
	else if (target->rd_rel->relispartition && partitioned &&
			 !fc_load_check_partition(loader, slot))
		return;

	leaf_slot = loader->leaf_slot;
	if (map)
		leaf_slot = execute_attr_map_slot(map, slot, leaf_slot);
	else if (leaf_slot != slot)
		ExecCopySlot(leaf_slot, slot);
	fc_load_check(loader, rri, leaf_slot);
	/* where no row is routed core looks at the other constraints first */
	if (target->rd_rel->relispartition && !partitioned &&
		loader->outcome == FC_ROW_BUILT)
		(void) fc_load_check_partition(loader, leaf_slot);
}

/* Body of fc_error_evaluate: from bytes to a checked row in the writer's slot */
static void
fc_load_build_row(void *arg)
{
	FcLoader   *loader = arg;
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);
	TupleTableSlot *slot = fc_load_slot(loader);

	if (fc_load_parse_row(loader, slot))
		fc_load_place_row(loader, slot);
	MemoryContextSwitchTo(old);
}

/* Bytes the row takes on a page, before anything of it is compressed */
static Size
fc_load_row_size(TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	Size		header = SizeofHeapTupleHeader;

	for (int i = 0; i < desc->natts; i++)
		if (slot->tts_isnull[i])
		{
			header += BITMAPLEN(desc->natts);
			break;
		}
	return MAXALIGN(MAXALIGN(header) +
					heap_compute_data_size(desc, slot->tts_values, slot->tts_isnull)) +
		sizeof(ItemIdData);
}

static inline void
fc_load_put(FcLoader *loader)
{
	if (loader->sort)
		fc_load_sort_row(loader);
	else
		fc_write_put(loader->row_writer, loader->offset, loader->length);
}

/* ERROR for a row that has not the key it had in the scan */
static void
fc_load_refuse_changed(const FcLoader *loader)
{
	if (fc_parse_key_is_default(loader->parser))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("default of the key changed while the file was being loaded"),
				 errdetail("It is computed twice for a row, first to find the row's partition."),
				 errhint("A function that does not always return the same must be marked volatile.")));
	fc_source_differs(loader->ctx->source, loader->offset,
					  "a record with another key, or one that the condition is not true for");
}

/* Where the row goes, or why it goes nowhere */
static void
fc_load_end_row(FcLoader *loader)
{
	FcShared   *shared = loader->ctx->shared;

	if (loader->outcome != FC_ROW_REFUSED)
		fc_parse_count_nulled(loader->parser, loader->offset, loader->length);
	switch (loader->outcome)
	{
		case FC_ROW_BUILT:
			if (loader->dry)
			{
				pg_atomic_fetch_add_u64(&shared->loaded, 1);
				pg_atomic_fetch_add_u64(&shared->heap_bytes,
										fc_load_row_size(loader->leaf_slot));
				break;
			}
			fc_load_put(loader);
			break;
		case FC_ROW_FILTERED:
			pg_atomic_fetch_add_u64(&shared->filtered, 1);
			break;
		case FC_ROW_CHANGED:
			fc_load_refuse_changed(loader);
			break;
		case FC_ROW_REFUSED:
			fc_reject_put(loader->ctx, loader->offset, loader->length,
						  &loader->bad);
			break;
	}
}

/* Builds the row, or keeps the error that this is; false then */
static bool
fc_load_try_row(FcLoader *loader)
{
	FcContext  *ctx = loader->ctx;
	ErrorData  *edata = fc_error_evaluate(ctx, loader->offset, loader->length,
										fc_load_build_row, loader);

	if (edata == NULL)
		return true;
	fc_parse_count_nulled(loader->parser, loader->offset, loader->length);
	fc_error_keep(ctx->shared, loader->offset, loader->length, edata);
	fc_error_stop(ctx);
	FreeErrorData(edata);
	return false;
}

static void
fc_load_row(FcLoader *loader, char *data, uint64 offset, uint32 length)
{
	TupleTableSlot *slot = fc_load_slot(loader);
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	if (loader->ctx->stopped || fc_error_beyond(loader->ctx->shared, offset))
		return;
	loader->data = data;
	loader->offset = offset;
	loader->length = length;
	old = MemoryContextSwitchTo(loader->row_mcxt);
	fc_load_begin_row(loader, slot);
	if (fc_load_build_plain(loader, slot))
		fc_load_put(loader);
	else
	{
		MemoryContextSwitchTo(old);
		if (fc_load_try_row(loader))
		{
			MemoryContextSwitchTo(loader->row_mcxt);
			fc_load_end_row(loader);
		}
		ResetPerTupleExprContext(loader->estate);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(loader->row_mcxt);
	if (loader->proute && !loader->sort)
		fc_load_limit_leaves(loader);
	if (++loader->rows % 1024 == 0)
		fc_context_progress(loader->ctx);
}

/* The task behind this one, if it is of the same leaf and the same process */
static FcTask *
fc_load_follower(const FcLoader *loader, FcTask *task)
{
	FcContext  *ctx = loader->ctx;
	FcTask	   *end = (FcTask *) ctx->tasks + ctx->shared->ntasks;

	if (task == NULL || !fc_shared_whole_leaves(ctx->shared) ||
		task + 1 == end || task[1].part != task->part)
		return NULL;
	return task + 1;
}

/* How many units of work there are: tasks, or leaves */
static uint32
fc_load_units(const FcContext *ctx)
{
	FcTask	   *tasks = ctx->tasks;
	uint32		n = ctx->shared->ntasks;

	return n > 0 && fc_shared_whole_leaves(ctx->shared) ? tasks[n - 1].part + 1 : n;
}

/*
 * The first task of a leaf, which are numbered as their tasks come; where the
 * load reads chunks, the first one that is in this chunk or in one after it.
 */
static FcTask *
fc_load_find_task(const FcContext *ctx, uint32 number)
{
	FcTask	   *tasks = ctx->tasks;
	uint32		low = 0;
	uint32		high = ctx->shared->ntasks;

	while (low < high)
	{
		uint32		mid = low + (high - low) / 2;

		if ((ctx->shared->streamed ? tasks[mid].chunk : tasks[mid].part) < number)
			low = mid + 1;
		else
			high = mid;
	}
	return &tasks[low];
}

/*
 * FcTakeTask.  Near the end of the phase nothing is taken ahead, so that others
 * find work.
 */
static FcTask *
fc_load_take_task(void *arg, bool ahead)
{
	FcLoader   *loader = arg;
	FcContext  *ctx = loader->ctx;
	FcShared   *shared = ctx->shared;
	uint32		spare = FC_SPARE_TASKS * Max(shared->nprocesses, 1);
	uint32		units = fc_load_units(ctx);
	FcTask	   *task = fc_load_follower(loader, loader->last);
	uint32		i;

	if (task == NULL)
	{
		if (ahead && pg_atomic_read_u32(&shared->next) + spare >= units)
			return NULL;
		if (!fc_context_take(ctx, units, &i))
			return NULL;
		task = fc_shared_whole_leaves(shared) ? fc_load_find_task(ctx, i) :
			(FcTask *) ctx->tasks + i;
	}
	loader->last = task;
	return task;
}

static void
fc_load_begin_task(FcLoader *loader, FcTask *task)
{
	FcPlace		place = {0};

	INSTR_TIME_SET_CURRENT(loader->task_start);
	place.storage = task->storage;
	if (task->nslices > 1 && !fc_shared_whole_leaves(loader->ctx->shared))
	{
		place.turn = &loader->ctx->turns[task->part];
		place.slice = task->slice;
		place.memory = loader->ctx->shared->memory / 4;
	}
	loader->nowhere = !loader->proute && !OidIsValid(task->partition);
	/* the writer may be that of the task before */
	if (!loader->proute && !loader->nowhere && loader->writer == NULL)
		fc_load_begin_writer(loader, task->partition, &place);
}

static void
fc_load_end_task(FcLoader *loader, FcTask *task)
{
	instr_time	end;

	if (loader->writer && fc_load_follower(loader, task) == NULL)
		task->loaded = fc_load_end_writer(loader);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, loader->task_start);
	task->usec = INSTR_TIME_GET_MICROSEC(end);
	if (task->slice == task->nslices - 1)
		pg_atomic_fetch_add_u32(&loader->ctx->shared->parts_done, 1);
}

/* The number in the file of the record, from 0 */
static uint64
fc_load_entry_number(const FcShared *shared, const FcEntry *entry)
{
	uint64		i = shared->nfiles == 1 && shared->chunk_size > 0 ?
		(entry->offset - shared->data_start) / shared->chunk_size :
		fc_lines_chunk(shared, entry->offset);

	return fc_shared_starts(shared)[i].before + fc_entry_number(entry);
}

static void
fc_load_count_bytes(FcLoader *loader)
{
	pg_atomic_fetch_add_u64(&loader->ctx->shared->load_bytes, loader->bytes);
	loader->bytes = 0;
}

/*
 * The next row must have the key of its entry.  Where its bytes were spilled they
 * are those that the key was read from; else they are read once more.
 */
static inline void
fc_load_expect_key(FcLoader *loader, const FcEntry *entry)
{
	bool		null = fc_entry_null(entry);
	bool		kept = fc_spill_keeps(loader->ctx->shared, entry->length);

	loader->keyed = true;
	loader->reread = !kept;
	loader->key_null = null;
	loader->key = entry->key;
	fc_parse_known_key(loader->parser, entry->key, !null && kept);
}

/* One row of the task that is under way */
static void
fc_load_entry(FcLoader *loader, FcTask *task, const FcEntry *entry, char *data)
{
	FcShared   *shared = loader->ctx->shared;

	if (shared->nnumbers > 0)
		fc_parse_number(loader->parser, fc_load_entry_number(shared, entry));
	fc_load_expect_key(loader, entry);
	fc_load_row(loader, data, entry->offset, entry->length);
	task->bytes += entry->length;
	loader->bytes += entry->length;
	if (loader->bytes >= FC_COUNT_BYTES)
		fc_load_count_bytes(loader);
}

/* Is the next slice in this chunk, too? */
static bool
fc_load_has_slice(const FcLoader *loader, uint32 chunk)
{
	const FcContext *ctx = loader->ctx;

	return loader->slice < (FcTask *) ctx->tasks + ctx->shared->ntasks &&
		loader->slice->chunk == chunk;
}

/*
 * Goes on to the slice that a record of the chunk belongs to.  False for one
 * whose key is not plain or is out of order: the load is given up then.
 */
static bool
fc_load_reach_slice(FcLoader *loader, const FcRecord *record)
{
	int64		last = loader->slice_key;

	if (!fc_parse_plain_key(loader->parser, record, &loader->slice_key) ||
		loader->slice_key < last || loader->slice_key > loader->slice->upto)
	{
		pg_atomic_write_u32(&loader->ctx->shared->unordered, 1);
		return false;
	}
	while (!loader->slice->hi_max && loader->slice_key >= loader->slice->hi.key)
	{
		fc_load_end_task(loader, loader->slice++);
		fc_load_begin_task(loader, loader->slice);
	}
	loader->slice->bytes += record->length;
	fc_parse_known_key(loader->parser, loader->slice_key, true);
	return true;
}

/* The records that start in a chunk, in the order of the file */
static void
fc_load_records(FcLoader *loader, FcChunkReader *reader, uint32 i)
{
	FcShared   *shared = loader->ctx->shared;
	const FcRecord *record = &reader->record;

	if (!fc_chunk_reader_enter(reader, i))
		return;
	while (fc_chunk_reader_next(reader) &&
		   (loader->slice == NULL || fc_load_reach_slice(loader, record)))
	{
		if (shared->nnumbers > 0)
			fc_parse_number(loader->parser,
							fc_shared_starts(shared)[i].before + reader->found - 1);
		fc_load_row(loader, record->data, record->offset, record->length);
	}
	if (pg_atomic_read_u32(&shared->unordered) == 0)
		fc_chunk_reader_leave(reader);
}

/*
 * A chunk of a file in key order: its records go to its slices.  Whatever ends
 * the load of the chunk, the turns of all of them are passed on, because others
 * wait for them.
 */
static void
fc_load_slices(FcLoader *loader, FcChunkReader *reader, uint32 i)
{
	loader->slice = fc_load_find_task(loader->ctx, i);
	if (!fc_load_has_slice(loader, i))
		return;
	loader->slice_key = loader->slice->lo.key;
	fc_load_begin_task(loader, loader->slice);
	fc_load_records(loader, reader, i);
	for (fc_load_end_task(loader, loader->slice++);
		 fc_load_has_slice(loader, i); loader->slice++)
	{
		fc_load_begin_task(loader, loader->slice);
		fc_load_end_task(loader, loader->slice);
	}
}

/*
 * All chunks, in the order of the file.  In a file in key order each has slices
 * of partitions.  Else the writer is that of all chunks of the process, or, where
 * they are to be inserted in turn, of one.
 */
static void
fc_load_chunks(FcLoader *loader)
{
	FcContext  *ctx = loader->ctx;
	FcShared   *shared = ctx->shared;
	Size		block = Min(fc_shared_read_memory(shared) / 8, (Size) 1024 * 1024);
	FcPlace		place = {.storage = shared->storage};
	bool		writes = !shared->streamed && !loader->proute && !loader->dry;
	/* what is sorted is one process's, and inserted after it all */
	bool		in_turn = writes && shared->file_order && shared->norder == 0;
	FcChunkReader reader;

	fc_chunk_reader_begin(&reader, ctx, Max(block, 8192));
	if (in_turn)
	{
		place.turn = &ctx->turns[0];
		place.memory = shared->memory / 2;
	}
	else if (writes)
		fc_load_begin_writer(loader, RelationGetRelid(ctx->target), &place);
	while (!ctx->stopped && pg_atomic_read_u32(&shared->unordered) == 0 &&
		   fc_inflow_take(ctx, &place.slice))
	{
		pg_atomic_fetch_add_u64(&shared->load_bytes,
								fc_shared_chunks(shared)[place.slice].length);
		if (in_turn)
			fc_load_begin_writer(loader, RelationGetRelid(ctx->target), &place);
		if (shared->streamed && !loader->dry)
			fc_load_slices(loader, &reader, place.slice);
		else
			fc_load_records(loader, &reader, place.slice);
		if (in_turn)
			(void) fc_load_end_writer(loader);
	}
	if (writes && !in_turn)
		(void) fc_load_end_writer(loader);
	fc_chunk_reader_end(&reader);
}

/* All tasks, with their rows in key order */
static void
fc_load_tasks(FcLoader *loader)
{
	FcRowSource *rows = fc_row_source_begin(loader->ctx, fc_load_take_task, loader);
	FcTask	   *task;
	FcEntry		entry;
	char	   *data;

	while ((task = fc_row_source_task(rows)) != NULL)
	{
		fc_load_begin_task(loader, task);
		while (fc_row_source_next(rows, &entry, &data))
			fc_load_entry(loader, task, &entry, data);
		fc_load_count_bytes(loader);
		fc_load_end_task(loader, task);
	}
	fc_row_source_end(rows);
}

void
fc_load_run(FcContext *ctx)
{
	FcLoader	loader = {0};

	fc_load_begin(&loader, ctx);
	if (loader.proute && ctx->shared->norder > 0)
	{
		loader.sort_slot = MakeSingleTupleTableSlot(RelationGetDescr(ctx->target),
													&TTSOpsVirtual);
		loader.sort = fc_load_begin_sort(&loader, RelationGetDescr(ctx->target), NULL);
	}
	if (ctx->shared->key_type == FC_KEY_NONE || ctx->shared->streamed)
		fc_load_chunks(&loader);
	else
		fc_load_tasks(&loader);
	if (loader.sort)
		fc_load_write_leaves(&loader);
	else if (loader.proute)
		fc_load_flush_leaves(&loader, true);
	fc_load_finish(&loader);
	fc_write_finish(ctx);
}

void
fc_load_check_run(FcContext *ctx)
{
	FcLoader	loader = {0};

	loader.dry = true;
	fc_load_begin(&loader, ctx);
	loader.where = fc_where_begin(ctx->shared);
	loader.leaf = loader.root;
	loader.leaf_slot = loader.root_slot;
	fc_load_chunks(&loader);
	fc_load_finish(&loader);
	fc_reject_end(ctx);
}

static bool
fc_verify_before(int64 key, uint64 offset, const FcBound *bound)
{
	return key < bound->key || (key == bound->key && offset < bound->offset);
}

/* By key, those without one last */
static int
fc_verify_task_cmp(const void *a, const void *b)
{
	const FcTask *ta = *(FcTask *const *) a;
	const FcTask *tb = *(FcTask *const *) b;

	if (ta->null != tb->null)
		return ta->null ? 1 : -1;
	return fc_verify_before(ta->lo.key, ta->lo.offset, &tb->lo) ? -1 :
		fc_verify_before(tb->lo.key, tb->lo.offset, &ta->lo);
}

static void
fc_verify_sort_tasks(FcVerifier *verifier)
{
	FcContext  *ctx = verifier->loader.ctx;

	verifier->by_key = palloc(sizeof(FcTask *) * (ctx->shared->ntasks + 1));
	for (uint32 i = 0; i < ctx->shared->ntasks; i++)
		verifier->by_key[i] = (FcTask *) ctx->tasks + i;
	qsort(verifier->by_key, ctx->shared->ntasks, sizeof(FcTask *),
		  fc_verify_task_cmp);
}

/* The task that a row with this key belongs to, or NULL */
static FcTask *
fc_verify_task(FcVerifier *verifier, int64 key, bool null, uint64 offset)
{
	uint32		low = 0;
	uint32		high = verifier->loader.ctx->shared->ntasks;
	FcTask	   *task;

	/* the last that begins at the row or before it */
	while (low < high)
	{
		uint32		mid = low + (high - low) / 2;

		task = verifier->by_key[mid];
		if (task->null != null ? task->null :
			fc_verify_before(key, offset, &task->lo))
			high = mid;
		else
			low = mid + 1;
	}
	if (low == 0)
		return NULL;
	task = verifier->by_key[low - 1];
	return task->null == null &&
		(task->hi_max || fc_verify_before(key, offset, &task->hi)) ? task : NULL;
}

/* Keeps leaves open: rows come in file order, from one leaf to another */
static FcVerifyLeaf *
fc_verify_open_leaf(FcVerifier *verifier, FcVerifyLeaf *leaf, Oid oid, bool created)
{
	FcLoader   *loader = &verifier->loader;
	MemoryContext old;

	if (leaf->rri)
		return leaf;
	old = MemoryContextSwitchTo(loader->ctx->mcxt);
	/* the last record's leaf is not to be closed */
	loader->leaf = NULL;
	fc_load_open_leaf(loader, oid, true);
	leaf->rri = loader->leaf;
	leaf->map = loader->map;
	leaf->slot = MakeSingleTupleTableSlot(RelationGetDescr(leaf->rri->ri_RelationDesc),
										  &TTSOpsVirtual);
	if (created && !verifier->insert)
		leaf->indexes = fc_target_child_indexes(loader->ctx->target,
												leaf->rri->ri_RelationDesc);
	loader->leaf = NULL;
	MemoryContextSwitchTo(old);
	return leaf;
}

static void
fc_verify_close_writers(FcVerifier *verifier)
{
	for (int i = 0; i < verifier->nleaves; i++)
	{
		if (verifier->leaves[i].writer)
			(void) fc_write_end(verifier->leaves[i].writer);
		verifier->leaves[i].writer = NULL;
	}
	verifier->nwriters = 0;
}

/* Each writer that is open has a page pinned */
static void
fc_verify_open_writer(FcVerifier *verifier, FcVerifyLeaf *leaf)
{
	FcLoader   *loader = &verifier->loader;
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);
	FcPlace		place = {0};

	if (leaf->writer == NULL)
	{
		if (verifier->nwriters == FC_ROUTED_WRITERS)
			fc_verify_close_writers(verifier);
		leaf->writer = fc_write_begin(loader->ctx, loader->estate, leaf->rri, &place);
		verifier->nwriters++;
	}
	loader->row_writer = leaf->writer;
	loader->leaf_slot = fc_write_slot(leaf->writer);
	MemoryContextSwitchTo(old);
}

/*
 * The leaf that the row would go to; false if it is one that an error kept
 * already is about, or that is not to be inserted
 */
static bool
fc_verify_find_leaf(FcVerifier *verifier, TupleTableSlot *slot)
{
	FcLoader   *loader = &verifier->loader;
	FcShared   *shared = loader->ctx->shared;
	FcTask	   *task = NULL;
	FcVerifyLeaf *leaf;

	verifier->leaf = NULL;
	if (loader->proute)
		return true;
	if (shared->key_type != FC_KEY_NONE)
	{
		int			i = shared->key_attnum - 1;
		bool		null = slot->tts_isnull[i];

		task = fc_verify_task(verifier, null ? 0 :
							  fc_key_from_datum(shared->key_type, slot->tts_values[i]),
							  null, loader->offset);
		if (task == NULL)
			return false;
	}
	loader->nowhere = task && !OidIsValid(task->partition);
	if (loader->nowhere)
		return true;
	if (verifier->insert && !(task && task->created))
		return false;
	leaf = fc_verify_open_leaf(verifier, &verifier->leaves[task ? task->part : 0],
							   task ? task->partition : RelationGetRelid(loader->ctx->target),
							   task && task->created);
	verifier->leaf = leaf;
	loader->leaf = leaf->rri;
	loader->map = leaf->map;
	loader->leaf_slot = leaf->slot;
	if (verifier->insert)
		fc_verify_open_writer(verifier, leaf);
	return true;
}

static void
fc_verify_index_value(FcLoader *loader, IndexInfo *index)
{
	EState	   *estate = loader->estate;
	ExprContext *econtext = GetPerTupleExprContext(estate);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (!index->ii_ReadyForInserts)
		return;
	econtext->ecxt_scantuple = loader->leaf_slot;
	if (index->ii_Predicate != NIL && index->ii_PredicateState == NULL)
		index->ii_PredicateState = ExecPrepareQual(index->ii_Predicate, estate);
	if (index->ii_Predicate == NIL || ExecQual(index->ii_PredicateState, econtext))
		FormIndexDatum(index, loader->leaf_slot, estate, values, isnull);
}

/*
 * Evaluates what the leaf's indexes are about: a process that stopped may have
 * been at the rows of another leaf, and batches are indexed late, new
 * partitions last of all
 */
static void
fc_verify_index_values(FcVerifier *verifier)
{
	FcLoader   *loader = &verifier->loader;
	ResultRelInfo *rri = loader->proute ? loader->row_writer->rri : loader->leaf;
	ListCell   *lc;

	for (int i = 0; i < rri->ri_NumIndices; i++)
		fc_verify_index_value(loader, rri->ri_IndexRelationInfo[i]);
	if (verifier->leaf)
		foreach(lc, verifier->leaf->indexes)
			fc_verify_index_value(loader, lfirst(lc));
}

/* Body of fc_error_evaluate: fc_load_build_row for any leaf, without a writer */
static void
fc_verify_row(void *arg)
{
	FcVerifier *verifier = arg;
	FcLoader   *loader = &verifier->loader;
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);
	TupleTableSlot *slot = loader->root_slot;

	fc_load_begin_row(loader, slot);
	if (fc_load_parse_row(loader, slot) && fc_verify_find_leaf(verifier, slot))
	{
		fc_load_place_row(loader, slot);
		if (loader->outcome == FC_ROW_BUILT && !verifier->insert)
			fc_verify_index_values(verifier);
	}
	MemoryContextSwitchTo(old);
}

/* An error of an index is kept by the writer */
static void
fc_verify_insert(FcLoader *loader)
{
	MemoryContext old = MemoryContextSwitchTo(loader->row_mcxt);

	fc_write_put(loader->row_writer, loader->offset, loader->length);
	fc_write_flush(loader->row_writer);
	MemoryContextSwitchTo(old);
}

/* An error that is kept is the first of the file, and ends the chunks */
static void
fc_verify_record(FcVerifier *verifier, const FcRecord *record)
{
	FcLoader   *loader = &verifier->loader;
	FcContext  *ctx = loader->ctx;
	ErrorData  *edata;

	loader->data = record->data;
	loader->offset = record->offset;
	loader->length = record->length;
	loader->row_writer = NULL;
	edata = fc_error_evaluate(ctx, record->offset, record->length,
							  fc_verify_row, verifier);
	if (edata)
	{
		fc_parse_count_nulled(loader->parser, record->offset, record->length);
		fc_error_keep(ctx->shared, record->offset, record->length, edata);
		return;
	}
	if (loader->outcome == FC_ROW_REFUSED)
		fc_reject_put(ctx, record->offset, record->length, &loader->bad);
	else
		fc_parse_count_nulled(loader->parser, record->offset, record->length);
	if (loader->outcome == FC_ROW_BUILT && verifier->insert && loader->row_writer)
		fc_verify_insert(loader);
	MemoryContextReset(loader->row_mcxt);
	ResetPerTupleExprContext(loader->estate);
}

static void
fc_verify_chunk(FcVerifier *verifier, FcChunkReader *reader, uint32 i)
{
	uint64		number = fc_shared_starts(reader->ctx->shared)[i].before;

	if (!fc_chunk_reader_enter(reader, i))
		return;
	while (fc_chunk_reader_next(reader))
	{
		CHECK_FOR_INTERRUPTS();
		fc_parse_number(verifier->loader.parser, number++);
		fc_verify_record(verifier, &reader->record);
	}
}

/*
 * Parses and checks the records before the first bad one known, in file order,
 * and keeps the first that is refused; those that are tolerated are rejected
 * once more.  Nothing is released: the transaction aborts.
 */
static void
fc_verify_records(FcContext *ctx, int nleaves, bool insert)
{
	FcVerifier	verifier = {0};
	FcLoader   *loader = &verifier.loader;
	FcChunkReader reader;

	fc_chunk_reader_begin(&reader, ctx, 65536);
	ctx->verifying = true;
	fc_load_begin(loader, ctx);
	loader->where = fc_where_begin(ctx->shared);
	verifier.nleaves = Max(nleaves, 1);
	verifier.leaves = palloc0(sizeof(FcVerifyLeaf) * verifier.nleaves);
	verifier.insert = insert;
	fc_verify_sort_tasks(&verifier);
	for (uint32 i = 0; i < ctx->shared->nchunks; i++)
		fc_verify_chunk(&verifier, &reader, i);
	fc_reject_end(ctx);
	ctx->verifying = false;
}

/* In the leader, when a process has stopped.  Writes nothing. */
void
fc_load_verify(FcContext *ctx, int nleaves)
{
	fc_verify_records(ctx, nleaves, false);
}

/*
 * In the leader, when an index of a new partition could not be built, after
 * these partitions were emptied: inserts their rows one by one until an index
 * refuses one.  Takes as long as COPY would until there, and is as good to
 * interrupt.  If no row is refused, for a default may have another value now,
 * the error kept stays that of the build.
 */
void
fc_load_verify_indexes(FcContext *ctx, int nleaves)
{
	fc_verify_records(ctx, nleaves, true);
}
