/*-------------------------------------------------------------------------
 *
 * phase/leaf.c
 *	  Where rows go: the leaves of the target, and their writers.
 *
 * Where the load knows the partitions, a task is one leaf, or a slice of one:
 * all its rows go to one writer (fc_leaf_begin).  Otherwise core's tuple
 * routing finds each row's leaf (fc_leaf_route), and each leaf has a writer.
 *
 * On error the phase's resource owner and memory context close what is open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupconvert.h"
#include "partitioning/partdesc.h"

#include "heap/append.h"
#include "phase/loader.h"
#include "phase/phases.h"

/*
 * Can the leaf take tuples of the target's row type as they are?  Not if it
 * has more NOT NULL columns: a tuple may have a NULL there.
 */
static bool
fc_leaf_is_same(const FcLoader *loader, const FcLeaf *leaf)
{
	TupleDesc	root = RelationGetDescr(loader->ctx->target);
	TupleDesc	desc = RelationGetDescr(leaf->rri->ri_RelationDesc);

	if (leaf->map != NULL || root->natts != desc->natts)
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute a = TupleDescAttr(root, i);
		Form_pg_attribute b = TupleDescAttr(desc, i);

		if (a->attlen != b->attlen || a->attalign != b->attalign ||
			a->attstorage != b->attstorage || (b->attnotnull && !a->attnotnull))
			return false;
	}
	return true;
}

/* A stage has the columns of the target, and then that of delete marks */
static AttrMap *
fc_leaf_stage_map(TupleDesc desc)
{
	AttrMap    *map = make_attrmap(desc->natts);

	for (int i = 0; i < desc->natts - 1; i++)
		map->attnums[i] = TupleDescAttr(desc, i)->attisdropped ? 0 : i + 1;
	return map;
}

/* Finds out which rows the leaf takes as they are, and what others need */
static void
fc_leaf_look(FcLoader *loader, FcLeaf *leaf)
{
	const FcPlan *plan = &loader->ctx->shared->plan;
	Relation	target = loader->ctx->target;
	TupleDesc	desc = RelationGetDescr(leaf->rri->ri_RelationDesc);
	bool		checks = desc->constr && desc->constr->num_check > 0;
	bool		only_checks = !loader->where && !loader->bounds && !target->rd_rel->relispartition &&
		!(desc->constr && desc->constr->has_generated_stored) && !fc_has_virtual(desc);

	leaf->mark = loader->mark && RelationGetRelid(leaf->rri->ri_RelationDesc) == loader->ctx->shared->stage ? desc->natts : 0;
	leaf->map = leaf->mark != 0 ? fc_leaf_stage_map(desc) : fc_build_attrmap_if_req(RelationGetDescr(target), desc);
	leaf->plain = only_checks && !checks;
	leaf->spilled = only_checks && !(checks && plan->effects) && plan->order.nkeys == 0 &&
		loader->router.proute == NULL && fc_leaf_is_same(loader, leaf);
	fc_seen_open(loader, leaf);
}

void
fc_leaf_close(FcLoader *loader, FcLeaf *leaf)
{
	Assert(leaf->writer == NULL || leaf->rri != NULL);
	/* the root's indexes are closed with the executor state */
	if (leaf->rri && leaf->rri != loader->root)
	{
		ExecCloseIndices(leaf->rri);
		table_close(leaf->rri->ri_RelationDesc, NoLock);
	}
	fc_seen_close(leaf);
	*leaf = (FcLeaf) {0};
}

void
fc_leaf_open(FcLoader *loader, FcLeaf *leaf, Oid oid)
{
	/* the slices of one leaf share the open table */
	if (leaf->rri && RelationGetRelid(leaf->rri->ri_RelationDesc) == oid)
		return;
	fc_leaf_close(loader, leaf);
	if (oid == RelationGetRelid(loader->ctx->target))
		leaf->rri = loader->root;
	else
	{
		leaf->rri = makeNode(ResultRelInfo);
		InitResultRelInfo(leaf->rri, table_open(oid, RowExclusiveLock), 0,
						  loader->root, 0);
	}
	if (leaf->rri->ri_IndexRelationDescs == NULL)
		ExecOpenIndices(leaf->rri, false);
	fc_leaf_look(loader, leaf);
}

void
fc_leaf_begin_writer(FcLoader *loader, FcLeaf *leaf)
{
	FcDestination to = {.slice = &loader->slice,.memory = loader->ctx->shared->memory / 2};
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);

	Assert(leaf->writer == NULL && leaf->rri != NULL);
	if (leaf->turn)
	{
		to.turn = leaf->turn;
		to.sliced = true;
		to.storage.kind = pg_atomic_read_u64(&leaf->turn->leaf) >> 32;
	}
	leaf->writer = fc_write_begin(loader->ctx, loader->estate, leaf->rri, &to);
	leaf->slot = leaf->writer->slot;
	MemoryContextSwitchTo(old);
}

/*
 * One process sorts all rows of a leaf, and writes them when the last one has
 * come.  Where core routes, one sort has the rows of all leaves, in the type of
 * the target's, and the leaf's number is the first key.
 *
 * The sort gets the half of the memory that the reader leaves; where slices
 * are sorted, rows that wait for their turn have half of that.
 */
void
fc_leaf_begin_sort(FcLoader *loader, const FcLeaf *leaf)
{
	FcShared   *shared = loader->ctx->shared;
	TupleDesc	desc = RelationGetDescr(leaf ? leaf->rri->ri_RelationDesc : loader->ctx->target);

	if (leaf == NULL)
		loader->sorter.slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	loader->sorter.sort = fc_sort_begin(shared, desc, leaf ? leaf->map : NULL, fc_shared_order(shared),
										shared->plan.order.nkeys, leaf == NULL,
										shared->memory / (shared->plan.order.sliced ? 4 : 2));
}

void
fc_leaf_begin(FcLoader *loader, Oid oid, const FcDestination *to)
{
	FcLeaf	   *leaf = &loader->only;

	Assert(leaf->writer == NULL && loader->sorter.sort == NULL);
	fc_leaf_open(loader, leaf, oid);
	/* no expression reads a plain row before it is a tuple */
	fc_parse_compact(loader->parser, leaf->plain && !loader->where_again);
	leaf->writer = fc_write_begin(loader->ctx, loader->estate, leaf->rri, to);
	leaf->slot = leaf->writer->slot;
	loader->leaf = leaf;
	loader->slot = leaf->map ? loader->root_slot : leaf->slot;
	if (loader->ctx->shared->plan.order.nkeys > 0)
		fc_leaf_begin_sort(loader, leaf);
}

void
fc_leaf_write(FcLoader *loader)
{
	FcLeaf	   *leaf = loader->leaf;
	const FcRecord *record = loader->row.record;
	FcSortRow	row = {leaf->number, record->offset, record->length};
	TupleTableSlot *slot = leaf->slot;

	if (loader->sorter.sort == NULL)
	{
		fc_write_put(leaf->writer, record->offset, record->length);
		return;
	}
	if (leaf->to_root)
		slot = execute_attr_map_slot(leaf->to_root, slot, loader->sorter.slot);
	fc_sort_put(loader->sorter.sort, slot, &row);
}

/* Ends the current leaf's writer, and begins the next one's; NULL: none */
static void
fc_leaf_switch(FcLoader *loader, FcLeaf *leaf)
{
	if (loader->leaf)
	{
		(void) fc_write_end(loader->leaf->writer);
		loader->leaf->writer = NULL;
	}
	loader->leaf = leaf;
	if (leaf)
		fc_leaf_begin_writer(loader, leaf);
}

/*
 * Writes the rows of the sort.  If all leaves have one, it returns one leaf
 * after the other, and rows of the target's row type.
 */
static void
fc_leaf_write_sorted(FcLoader *loader)
{
	FcContext  *ctx = loader->ctx;
	FcSorter   *sorter = &loader->sorter;
	FcSortRow	row;

	fc_sort_finish(sorter->sort);
	while (fc_sort_next(sorter->sort, sorter->slot ? sorter->slot : loader->leaf->slot, &row))
	{
		FcLeaf	   *leaf = sorter->slot ? list_nth(sorter->leaves, row.leaf) : loader->leaf;
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (leaf != loader->leaf)
			fc_leaf_switch(loader, leaf);
		if (sorter->slot)
			fc_leaf_take(leaf, sorter->slot);
		old = MemoryContextSwitchTo(loader->row_mcxt);
		if (!ctx->stopped && !fc_error_beyond(ctx->shared, row.offset))
			fc_write_put(leaf->writer, row.offset, row.length);
		MemoryContextSwitchTo(old);
		MemoryContextReset(loader->row_mcxt);
		fc_load_count(loader, 1);
	}
	fc_sort_end(sorter->sort);
	sorter->sort = NULL;
}

uint64
fc_leaf_end(FcLoader *loader)
{
	uint64		inserted;

	if (loader->sorter.sort)
		fc_leaf_write_sorted(loader);
	inserted = fc_turn_end_slice(loader->only.writer);
	loader->only.writer = NULL;
	return inserted;
}

void
fc_leaf_begin_routing(FcLoader *loader)
{
	FcRouter   *router = &loader->router;
	Relation	target = loader->ctx->target;
	ModifyTableState *mtstate = makeNode(ModifyTableState);
	HASHCTL		ctl = {.keysize = sizeof(ResultRelInfo *),.entrysize = sizeof(FcLeaf),.hcxt = CurrentMemoryContext};
	AttrNumber	attnum;

	mtstate->ps.state = loader->estate;
	mtstate->operation = CMD_INSERT;
	mtstate->mt_nrels = 1;
	mtstate->resultRelInfo = loader->root;
	mtstate->rootResultRelInfo = loader->root;
	router->mtstate = mtstate;
	router->proute = ExecSetupPartitionTupleRouting(loader->estate, target);
	if (!loader->dry && fc_route_possible(target, &attnum))
	{
		/* of the same partition descriptor that core routes by */
		router->route = fc_route_build_from(target,
											PartitionDirectoryLookup(loader->estate->es_partition_directory,
																	 target));
		router->known = palloc0(sizeof(FcLeaf *) * Max(router->route->nranges, 1));
		router->last = -1;
	}
	if (!fc_caller_writes(loader->ctx->shared->plan.caller) && loader->ctx->shared->plan.sprouts)
		router->tree = fc_tree_begin(target);
	router->leaves = hash_create("fast_copy leaves", 64, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void
fc_leaf_refuse(FcContext *ctx, Relation leaf)
{
	fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("partition \"%s\" was attached to table \"%s\" while it was being loaded",
															  RelationGetRelationName(leaf),
															  RelationGetRelationName(ctx->target)),
			 errhint("Load it again."));
}

/* How rows get into a leaf, the "number"th that was found */
static FcStorageKind
fc_leaf_storage(const FcLoader *loader, Relation leaf, uint32 number)
{
	FcShared   *shared = loader->ctx->shared;

	/* pages wait for their turn, but code of users must see rows at once */
	if (loader->slice.turn == NULL || loader->ctx->apart ||
		number > shared->memory / 4 / (FC_PAGE_BATCH * BLCKSZ))
		return FC_STORAGE_USED;
	return fc_write_kind(leaf, shared->source.data_size / FC_RECORD_GUESS, true);
}

/*
 * Returns the leaf's entry in ctx->turns, or adds one.  By these entries
 * processes share the leaves that rows are routed to, and the leader locks
 * them (fc_leaf_lock_found).  One atomic step adds an entry, after all that
 * could throw: no process waits for another here.
 */
static FcTurn *
fc_leaf_turn(FcLoader *loader, Relation leaf)
{
	FcContext  *ctx = loader->ctx;

	/* an analysis and a verification have no turns */
	if (ctx->turns == NULL)
		return NULL;
	for (uint32 i = 1; i < ctx->shared->nturns; i++)
	{
		FcTurn	   *turn = &ctx->turns[i];
		uint64		found = pg_atomic_read_u64(&turn->leaf);

		if (found == InvalidOid)
		{
			uint64		storage = fc_leaf_storage(loader, leaf, i);

			if (pg_atomic_compare_exchange_u64(&turn->leaf, &found,
											   storage << 32 | RelationGetRelid(leaf)))
				found = RelationGetRelid(leaf);
		}
		if ((Oid) found != RelationGetRelid(leaf))
			continue;
		loader->router.nturns = Max(loader->router.nturns, i + 1);
		return turn;
	}
	fc_leaf_refuse(ctx, leaf);
	return NULL;
}

/* Locks the leaf, and the tables between it and the target */
static void
fc_leaf_lock(const FcContext *ctx, Oid leaf)
{
	List	   *ancestors = get_partition_ancestors(leaf);

	LockRelationOid(leaf, RowExclusiveLock);
	foreach_oid(parent, ancestors)
	{
		if (parent == RelationGetRelid(ctx->target))
			break;
		LockRelationOid(parent, RowExclusiveLock);
	}
	list_free(ancestors);
}

void
fc_leaf_lock_found(FcContext *ctx)
{
	FcShared   *shared = ctx->shared;
	uint32		before = pg_atomic_read_u32(&shared->nheld);
	uint32		n = before;
	Oid			leaf;

	Assert(!ctx->in_worker && before < shared->nturns);
	while (n + 1 < shared->nturns &&
		   OidIsValid(leaf = (Oid) pg_atomic_read_u64(&ctx->turns[n + 1].leaf)))
	{
		fc_leaf_lock(ctx, leaf);
		fc_count_open(ctx, ++n);
	}
	if (n == before)
		return;
	pg_atomic_write_u32(&shared->nheld, n);
	ConditionVariableBroadcast(&shared->turn_cv);
}

/* In a worker: waits until the leader has its locks, too, which end with it */
static void
fc_leaf_wait_locked(FcLoader *loader)
{
	FcShared   *shared = loader->ctx->shared;

	if (!loader->ctx->in_worker || loader->router.nturns == 0)
		return;
	SetLatch(&MyProc->lockGroupLeader->procLatch);
	ConditionVariablePrepareToSleep(&shared->turn_cv);
	while (pg_atomic_read_u32(&shared->nheld) + 1 < loader->router.nturns)
		ConditionVariableSleep(&shared->turn_cv, fc_wait_event(FC_WAIT_LOCK));
	ConditionVariableCancelSleep();
}

/*
 * Is the leaf, or a table above it, a default partition that missing_partitions
 * keeps rows from?
 */
static bool
fc_leaf_refuses(const FcLoader *loader, Oid leaf)
{
	List	   *ancestors = loader->ctx->shared->plan.missing == FC_MISSING_ERROR ? get_partition_ancestors(leaf) : NIL;

	foreach_oid(parent, ancestors)
	{
		if (get_default_partition_oid(parent) == leaf)
			return true;
		if (parent == RelationGetRelid(loader->ctx->target))
			break;
		leaf = parent;
	}
	return false;
}

/*
 * Adds a leaf when core has routed a first row to it.  It enters the table of
 * leaves when it is complete: an error before that may be noted as the row's,
 * and the load goes on.  Rows are sorted in the target's row type.
 */
static FcLeaf *
fc_leaf_add(FcLoader *loader, ResultRelInfo *rri)
{
	Relation	rel = rri->ri_RelationDesc;
	TupleDesc	desc = RelationGetDescr(rel);
	FcLeaf		new = {rri};
	FcLeaf	   *leaf;

	/* for such a leaf the leader would have decided another course */
	if (rel->rd_rel->relkind != RELKIND_RELATION ||
		fc_plan_leaf_core_reason(rel, loader->ctx->shared->plan.caller) != NULL ||
		(loader->ctx->in_worker && fc_plan_leaf_reason(rel) != NULL))
		fc_leaf_refuse(loader->ctx, rel);
	new.refuses = fc_leaf_refuses(loader, RelationGetRelid(rel));
	new.turn = fc_leaf_turn(loader, rel);
	fc_leaf_look(loader, &new);
	if (loader->sorter.sort)
	{
		new.number = list_length(loader->sorter.leaves);
		new.slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
		new.to_root = fc_build_attrmap_if_req(desc, RelationGetDescr(loader->ctx->target));
	}
	else
		fc_leaf_begin_writer(loader, &new);
	leaf = hash_search(loader->router.leaves, &rri, HASH_ENTER, NULL);
	*leaf = new;
	if (loader->sorter.sort)
		loader->sorter.leaves = lappend(loader->sorter.leaves, leaf);
	return leaf;
}

/*
 * Where keys tell the partition, core routes only the first row of each, with
 * all its checks.  Later rows go where that one went; NULL: no row has yet.
 */
FcLeaf *
fc_leaf_known(FcLoader *loader, Datum value, bool null)
{
	FcRouter   *router = &loader->router;
	const FcRange *last = &router->route->ranges[Max(router->last, 0)];
	int64		key;

	if (null)
		return NULL;
	key = fc_key_from_datum(router->route->type, value);
	/* often it is that of the row before, which one comparison tells */
	if (router->last < 0 || (uint64) key - (uint64) last->lo >= (uint64) last->hi - (uint64) last->lo)
		router->last = fc_route_find_existing(router->route, key);
	return router->last < 0 ? NULL : router->known[router->last];
}

FcLeaf *
fc_leaf_find_known(FcLoader *loader)
{
	const FcRoute *route = loader->router.route;
	const TupleTableSlot *slot = loader->root_slot;

	return route == NULL ? NULL :
		fc_leaf_known(loader, slot->tts_values[route->attnum - 1], slot->tts_isnull[route->attnum - 1]);
}

void
fc_leaf_take(const FcLeaf *leaf, TupleTableSlot *slot)
{
	TupleTableSlot *own = leaf->slot;
	int			natts = slot->tts_tupleDescriptor->natts;

	Assert(leaf->map || own->tts_tupleDescriptor->natts == natts);
	if (leaf->map)
		execute_attr_map_slot(leaf->map, slot, own);
	else if (own != slot)
	{
		/* the values outlive the row's write */
		ExecClearTuple(own);
		memcpy(own->tts_values, slot->tts_values, sizeof(Datum) * natts);
		memcpy(own->tts_isnull, slot->tts_isnull, sizeof(bool) * natts);
		ExecStoreVirtualTuple(own);
	}
}

/* Body of fc_error_catch: lets core find the leaf of the row */
static void
fc_leaf_find(void *arg)
{
	FcLoader   *loader = arg;
	FcRouter   *router = &loader->router;
	MemoryContext old = MemoryContextSwitchTo(loader->ctx->mcxt);
	ResultRelInfo *rri = ExecFindPartition(router->mtstate, loader->root,
										   router->proute, loader->root_slot,
										   loader->estate);

	if (loader->dry)
	{
		loader->leaf = &loader->only;
		loader->only.refuses = fc_leaf_refuses(loader, RelationGetRelid(rri->ri_RelationDesc));
	}
	else
		loader->leaf = hash_search(router->leaves, &rri, HASH_FIND, NULL);
	if (loader->leaf == NULL)
		loader->leaf = fc_leaf_add(loader, rri);
	/* later rows of this partition go there without core */
	if (router->route && fc_leaf_find_known(loader) == NULL && router->last >= 0 &&
		router->route->ranges[router->last].partition == RelationGetRelid(rri->ri_RelationDesc))
		router->known[router->last] = loader->leaf;
	MemoryContextSwitchTo(old);
}

/* Finds the leaf of the row; false if it has none and that is tolerated */
static bool
fc_leaf_try_find(FcLoader *loader)
{
	ErrorData  *edata;

	if (loader->router.tree && fc_tree_find(loader->router.tree, loader->root_slot))
	{
		loader->leaf = &loader->only;
		loader->only.refuses = false;
		return true;
	}
	if (!fc_row_tolerates(loader, FC_CLASS_NO_PARTITION))
	{
		fc_leaf_find(loader);
		return true;
	}
	edata = fc_error_catch(loader->ctx, fc_leaf_find, loader);
	if (edata == NULL)
		return true;
	if (edata->sqlerrcode != ERRCODE_CHECK_VIOLATION ||
		!fc_error_is_from(edata, "ExecFindPartition"))
		ReThrowError(edata);
	return false;
}

/* Has the row a NULL, with which by range only a default partition takes it? */
static bool
fc_leaf_lacks_key(const FcLoader *loader)
{
	PartitionKey key = RelationGetPartitionKey(loader->ctx->target);

	for (int i = 0; key->strategy == PARTITION_STRATEGY_RANGE && i < key->partnatts; i++)
		if (key->partattrs[i] != 0 && loader->root_slot->tts_isnull[key->partattrs[i] - 1])
			return true;
	return false;
}

bool
fc_leaf_route(FcLoader *loader)
{
	const FcPlan *plan = &loader->ctx->shared->plan;

	if (!fc_leaf_try_find(loader))
		return false;
	if (!loader->leaf->refuses || fc_leaf_lacks_key(loader))
		return true;
	if (!fc_row_tolerates(loader, FC_CLASS_NO_PARTITION))
		fc_throw(ERRCODE_CHECK_VIOLATION, errmsg("no partition of relation \"%s\" found for row",
												 RelationGetRelationName(loader->ctx->target)),
				 errdetail("Only %s default partition would take it.", plan->key.routes ? "the" : "a"),
				 errhint("Use missing_partitions%s 'default'%s.", fc_caller_arrow(plan->caller),
						 plan->key.routes ? " or 'create'" : ""),
				 errtable(loader->ctx->target));
	return false;
}

/* Flushes all leaves; with "end", or when there are many, closes them */
static void
fc_leaf_flush(FcLoader *loader, bool end)
{
	HTAB	   *leaves = loader->router.leaves;
	HASH_SEQ_STATUS seq;
	FcLeaf	   *leaf;

	end = end || hash_get_num_entries(leaves) > FC_LEAF_WRITERS;
	loader->router.pending = 0;
	if (end)
		loader->leaf = NULL;
	hash_seq_init(&seq, leaves);
	while ((leaf = hash_seq_search(&seq)) != NULL)
	{
		if (!end)
		{
			fc_write_flush(leaf->writer);
			continue;
		}
		(void) fc_write_end(leaf->writer);
		if (leaf->map)
			free_attrmap(leaf->map);
		fc_seen_close(leaf);
		hash_search(leaves, &leaf->rri, HASH_REMOVE, NULL);
	}
	if (end && loader->router.route)
		memset(loader->router.known, 0, sizeof(FcLeaf *) * loader->router.route->nranges);
}

/* All leaves together get the memory of one leaf's batch */
void
fc_leaf_limit(FcLoader *loader, int n, uint64 bytes)
{
	FcRouter   *router = &loader->router;

	router->pending += bytes + (sizeof(HeapTupleTableSlot) + sizeof(HeapTupleData)) * n;
	if (router->pending < loader->ctx->shared->memory / 2 &&
		hash_get_num_entries(router->leaves) <= FC_LEAF_WRITERS)
		return;
	fc_leaf_flush(loader, false);
}

void
fc_leaf_end_slice(FcLoader *loader)
{
	fc_leaf_flush(loader, false);
	fc_turn_pass(loader->ctx, &loader->slice);
}

void
fc_leaf_end_routing(FcLoader *loader)
{
	FcSorter   *sorter = &loader->sorter;

	if (sorter->sort)
	{
		foreach_ptr(FcLeaf, one, sorter->leaves)
			ExecDropSingleTupleTableSlot(one->slot);
		loader->leaf = NULL;
		fc_leaf_write_sorted(loader);
		fc_leaf_switch(loader, NULL);
		ExecDropSingleTupleTableSlot(sorter->slot);
	}
	else
		fc_leaf_flush(loader, true);
	fc_leaf_wait_locked(loader);
	if (loader->router.tree)
		fc_tree_end(loader->router.tree);
	ExecCleanupTupleRouting(loader->router.mtstate, loader->router.proute);
}
