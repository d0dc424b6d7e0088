/*-------------------------------------------------------------------------
 *
 * send/dispatch.c
 *	  The leaf of a record, by its partition key alone, and whether that leaf
 *	  is on another server.
 *
 *	 record ──► columns of the partition key (row/parse_key.c)
 *			──► core's search among the bounds, level by level ──► leaf
 *
 * The leader sends the records of leaves on other servers as they are, and
 * workers pass over these.  Both go by this file, so that they come to the
 * same leaf from the same bytes; core's own routing would need the whole row.
 * A table of Citus has its shards for leaves, and a hash of one column says
 * which (citus/shards.c).
 *
 * All is in the memory context in which it was begun.  On error the resource
 * owner closes the tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/partition.h"
#include "common/hashfn.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"

#include "send/send.h"

typedef struct FcDispatchTable FcDispatchTable;

/* A partition: a leaf, or partitioned as well */
typedef struct FcDispatchChild
{
	FcDispatchTable *table;		/* or NULL */
	FcDispatchLeaf leaf;
} FcDispatchChild;

/* A partitioned table */
struct FcDispatchTable
{
	Relation	rel;
	PartitionKey key;
	PartitionDesc desc;
	FcSome	   *fields;			/* of the key's columns */
	FunctionCallInfo calls[PARTITION_MAX_KEYS]; /* by HASH: of its functions */
	FcDispatchChild *children;	/* as in desc */

	/* if keys are known to key/range.c */
	FcRoute    *route;			/* else NULL */
	int		   *parts;			/* for each range of the route, the number of
								 * its partition in desc */
	int			last;			/* range that was found last; -1: none */
};

struct FcDispatch
{
	FcContext  *ctx;
	FcParser   *parser;
	PartitionDirectory directory;	/* keeps partition descriptors */
	FcDispatchTable *root;		/* NULL: the target is the one leaf */
	FcDispatchLeaf only;
	List	   *foreign;		/* FcDispatchLeaf, by number */
	FcShards   *shards;			/* NULL: it has none */
	FcDispatchLeaf *by_shard;	/* as in shards */
	FcSome	   *hashed;			/* the column that says which; NULL: there is
								 * one shard */

	/* the current record */
	const FcRecord *record;
	FcDispatchTable *table;		/* its level */
	Datum		values[PARTITION_MAX_KEYS];
	bool		nulls[PARTITION_MAX_KEYS];
};

/* The number of the target's column "attnum" of "rel" among fields; -1: none */
static int
fc_dispatch_field(Relation target, Relation rel, AttrNumber attnum, const List *fields)
{
	AttrNumber	own = attnum;

	if (rel != target && attnum > 0)
		own = get_attnum(RelationGetRelid(target),
						 get_attname(RelationGetRelid(rel), attnum, false));
	foreach_int(field, fields)
		if (attnum > 0 && field == own)
			return foreach_current_index(field);
	return -1;
}

static const char *
fc_dispatch_key_refusal(Relation target, Relation rel, const List *fields)
{
	PartitionKey key = RelationGetPartitionKey(rel);

	for (int i = 0; i < key->partnatts; i++)
	{
		if (key->partattrs[i] == 0)
			return "a partition key has an expression";
		if (fc_dispatch_field(target, rel, key->partattrs[i], fields) < 0)
			return "the file lacks a partition key";
	}
	return NULL;
}

static const char *
fc_dispatch_table_refusal(Relation target, Relation rel, const List *fields)
{
	const char *refusal = fc_dispatch_key_refusal(target, rel, fields);
	PartitionDesc desc = RelationGetPartitionDesc(rel, !IsolationUsesXactSnapshot());

	check_stack_depth();
	for (int i = 0; i < desc->nparts && refusal == NULL; i++)
	{
		Relation	child;

		if (get_rel_relkind(desc->oids[i]) != RELKIND_PARTITIONED_TABLE)
			continue;
		child = table_open(desc->oids[i], RowExclusiveLock);
		refusal = fc_dispatch_table_refusal(target, child, fields);
		table_close(child, NoLock);
	}
	return refusal;
}

const char *
fc_dispatch_refusal(Relation target, const List *fields)
{
	if (target->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return NULL;
	return fc_dispatch_table_refusal(target, target, fields);
}

static void
fc_dispatch_set_leaf(FcDispatch *dispatch, FcDispatchLeaf *leaf, Oid oid)
{
	leaf->oid = oid;
	leaf->foreign = get_rel_relkind(oid) == RELKIND_FOREIGN_TABLE;
	if (!leaf->foreign)
		return;
	leaf->number = list_length(dispatch->foreign);
	dispatch->foreign = lappend(dispatch->foreign, leaf);
}

/* Reads the ranges of keys that key/range.c knows */
static void
fc_dispatch_route(FcDispatchTable *table)
{
	PartitionBoundInfo bounds = table->desc->boundinfo;
	AttrNumber	attnum;
	int			n = 0;

	table->last = -1;
	if (table->desc->nparts == 0 || !fc_route_possible(table->rel, &attnum))
		return;
	table->route = fc_route_build_from(table->rel, table->desc);
	table->parts = palloc(sizeof(int) * Max(table->route->nranges, 1));
	for (int i = 0; i < bounds->ndatums; i++)
		if (bounds->indexes[i] >= 0)
			table->parts[n++] = bounds->indexes[i];
}

/*
 * Adds the partitions that are not attached yet: children after those of the
 * descriptor, and their ranges
 */
static void
fc_dispatch_add(FcDispatch *dispatch, const FcNewPartition *created, int ncreated)
{
	FcDispatchTable *table = dispatch->root;
	FcRoute    *route = table->route ? table->route : fc_route_build_from(table->rel, table->desc);
	int			n = route->nranges + ncreated;
	FcRange    *ranges = palloc(sizeof(FcRange) * n);
	int		   *parts = palloc(sizeof(int) * n);
	int			existing = 0;
	int			new = 0;

	for (int i = 0; i < n; i++)
	{
		int			number = table->desc->nparts + new;
		FcDispatchLeaf *leaf = &table->children[number].leaf;

		if (new == ncreated || (existing < route->nranges &&
								route->ranges[existing].lo < created[new].range.lo))
		{
			ranges[i] = route->ranges[existing];
			parts[i] = table->parts[existing++];
			continue;
		}
		fc_dispatch_set_leaf(dispatch, leaf, created[new].range.partition);
		leaf->table = created[new].remote;
		ranges[i] = created[new++].range;
		parts[i] = number;
	}
	route->ranges = ranges;
	route->nranges = n;
	table->route = route;
	table->parts = parts;
}

static FcSome *
fc_dispatch_fields(FcDispatch *dispatch, Relation rel)
{
	FcShared   *shared = dispatch->ctx->shared;
	PartitionKey key = RelationGetPartitionKey(rel);
	int			numbers[PARTITION_MAX_KEYS];
	List	   *fields = NIL;

	for (int i = 0; i < shared->plan.ncolumns; i++)
		fields = lappend_int(fields, fc_shared_columns(shared)[i]);
	for (int i = 0; i < key->partnatts; i++)
	{
		numbers[i] = fc_dispatch_field(dispatch->ctx->target, rel, key->partattrs[i], fields);
		if (numbers[i] < 0)
			elog(ERROR, "the file lacks a partition key of table \"%s\"",
				 RelationGetRelationName(rel));
	}
	return fc_parse_some_begin(dispatch->parser, numbers, key->partnatts);
}

static void
fc_dispatch_prepare(FcDispatchTable *table)
{
	PartitionKey key = table->key;

	for (int i = 0; i < key->partnatts && key->strategy == PARTITION_STRATEGY_HASH; i++)
	{
		FunctionCallInfo call = palloc0(SizeForFunctionCallInfo(2));

		InitFunctionCallInfoData(*call, &key->partsupfunc[i], 2, key->partcollation[i],
								 NULL, NULL);
		call->args[1].value = UInt64GetDatum(HASH_PARTITION_SEED);
		table->calls[i] = call;
	}
}

/* Reads the table, with room for "more" partitions */
static FcDispatchTable *
fc_dispatch_table(FcDispatch *dispatch, Relation rel, int more)
{
	FcDispatchTable *table = palloc0(sizeof(FcDispatchTable));

	check_stack_depth();
	table->rel = rel;
	table->key = RelationGetPartitionKey(rel);
	table->desc = PartitionDirectoryLookup(dispatch->directory, rel);
	table->fields = fc_dispatch_fields(dispatch, rel);
	fc_dispatch_prepare(table);
	table->children = palloc0(sizeof(FcDispatchChild) * (table->desc->nparts + more + 1));
	for (int i = 0; i < table->desc->nparts; i++)
	{
		FcDispatchChild *child = &table->children[i];
		Oid			oid = table->desc->oids[i];

		CHECK_FOR_INTERRUPTS();
		if (!table->desc->is_leaf[i])
			child->table = fc_dispatch_table(dispatch, table_open(oid, RowExclusiveLock), 0);
		else
			fc_dispatch_set_leaf(dispatch, &child->leaf, oid);
	}
	fc_dispatch_route(table);
	return table;
}

FcDispatch *
fc_dispatch_begin(FcContext *ctx, FcParser *parser, const FcNewPartition *created, int ncreated)
{
	FcDispatch *dispatch = palloc0(sizeof(FcDispatch));

	dispatch->ctx = ctx;
	dispatch->parser = parser;
	if (ctx->target->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
	{
		fc_dispatch_set_leaf(dispatch, &dispatch->only, RelationGetRelid(ctx->target));
		return dispatch;
	}
	dispatch->directory = CreatePartitionDirectory(CurrentMemoryContext,
												   !IsolationUsesXactSnapshot());
	dispatch->root = fc_dispatch_table(dispatch, ctx->target, ncreated);
	if (ncreated > 0)
		fc_dispatch_add(dispatch, created, ncreated);
	return dispatch;
}

/* Makes ready to read the column that is hashed; NULL: none is */
static FcSome *
fc_dispatch_hashed(const FcDispatch *dispatch, AttrNumber attnum)
{
	FcShared   *shared = dispatch->ctx->shared;

	if (attnum == 0)
		return NULL;
	for (int i = 0; i < shared->plan.ncolumns; i++)
		if (fc_shared_columns(shared)[i] == attnum)
			return fc_parse_some_begin(dispatch->parser, &i, 1);
	elog(ERROR, "the file lacks the distribution column of table \"%s\"",
		 RelationGetRelationName(dispatch->ctx->target));
}

FcDispatch *
fc_dispatch_begin_shards(FcContext *ctx, FcParser *parser, FcShards *shards)
{
	FcDispatch *dispatch = palloc0(sizeof(FcDispatch));

	dispatch->ctx = ctx;
	dispatch->parser = parser;
	dispatch->shards = shards;
	dispatch->hashed = fc_dispatch_hashed(dispatch, shards->attnum);
	dispatch->by_shard = palloc0(sizeof(FcDispatchLeaf) * shards->n);
	for (int i = 0; i < shards->n; i++)
	{
		FcDispatchLeaf *leaf = &dispatch->by_shard[i];

		leaf->oid = RelationGetRelid(ctx->target);
		leaf->foreign = true;
		leaf->number = i;
		leaf->shard = &shards->list[i];
		dispatch->foreign = lappend(dispatch->foreign, leaf);
	}
	return dispatch;
}

/* Closes the tables below this one, which is its caller's */
static void
fc_dispatch_close(FcDispatchTable *table)
{
	for (int i = 0; i < table->desc->nparts; i++)
	{
		FcDispatchTable *child = table->children[i].table;

		if (child == NULL)
			continue;
		fc_dispatch_close(child);
		table_close(child->rel, NoLock);
	}
}

void
fc_dispatch_end(FcDispatch *dispatch)
{
	if (dispatch->root == NULL)
		return;
	fc_dispatch_close(dispatch->root);
	DestroyPartitionDirectory(dispatch->directory);
}

const List *
fc_dispatch_foreign(const FcDispatch *dispatch)
{
	return dispatch->foreign;
}

/* The partition of a key that key/range.c knows; -1: none has its range */
static inline int
fc_dispatch_by_range(FcDispatchTable *table, Datum value)
{
	const FcRoute *route = table->route;
	int64		key = fc_key_from_datum(route->type, value);
	const FcRange *range;

	if (table->last >= 0)
	{
		range = &route->ranges[table->last];
		if ((range->lo_min || key >= range->lo) && (range->hi_max || key < range->hi))
			return table->parts[table->last];
	}
	table->last = fc_route_find_existing(route, key);
	return table->last < 0 ? -1 : table->parts[table->last];
}

/*
 * May the default partition take the current values?  Where the load knows the
 * ranges of keys, it may make a partition for them, or refuse them.
 */
static bool
fc_dispatch_to_default(const FcDispatch *dispatch, const FcDispatchTable *table)
{
	const FcShared *shared = dispatch->ctx->shared;

	if (!fc_shared_key_routes(shared) || dispatch->nulls[0] || shared->plan.missing == FC_MISSING_DEFAULT)
		return true;
	return shared->plan.missing == FC_MISSING_CREATE &&
		fc_key_is_infinite(table->route->type,
						   fc_key_from_datum(table->route->type, dispatch->values[0]));
}

/*
 * The partition of a table by HASH, as compute_partition_hash_value finds it.
 * To prepare the calls and to divide would be a tenth of all that the leader
 * does for a record.
 */
static inline int
fc_dispatch_hash(const FcDispatch *dispatch, const FcDispatchTable *table)
{
	PartitionBoundInfo bounds = table->desc->boundinfo;
	uint64		n = bounds->nindexes;
	uint64		hash = 0;

	for (int i = 0; i < table->key->partnatts; i++)
	{
		FunctionCallInfo call = table->calls[i];

		if (dispatch->nulls[i])
			continue;
		call->args[0].value = dispatch->values[i];
		hash = hash_combine64(hash, DatumGetUInt64(FunctionCallInvoke(call)));
	}
	return bounds->indexes[(n & (n - 1)) == 0 ? hash & (n - 1) : hash % n];
}

/* The number of the partition that takes the current values; -1: none */
static int
fc_dispatch_number(FcDispatch *dispatch, FcDispatchTable *table)
{
	PartitionBoundInfo bounds = table->desc->boundinfo;
	PartitionKey key = table->key;
	int			number;

	if (table->desc->nparts == 0 && table->route == NULL)
		return -1;
	if (key->strategy == PARTITION_STRATEGY_HASH)
		return fc_dispatch_hash(dispatch, table);
	number = table->route && !dispatch->nulls[0] ? fc_dispatch_by_range(table, dispatch->values[0]) :
		fc_route_number(key, table->desc, dispatch->values, dispatch->nulls);
	if (number >= 0)
		return number;
	return bounds && fc_dispatch_to_default(dispatch, table) ? bounds->default_index : -1;
}

/* Body of fc_error_evaluate: reads the key of the current level */
static void
fc_dispatch_read(void *arg)
{
	FcDispatch *dispatch = arg;

	fc_parse_some(dispatch->table->fields, dispatch->record, dispatch->values,
				  dispatch->nulls);
}

/* Body of fc_error_evaluate: reads the column that is hashed */
static void
fc_dispatch_read_hashed(void *arg)
{
	FcDispatch *dispatch = arg;
	Relation	target = dispatch->ctx->target;

	fc_parse_some(dispatch->hashed, dispatch->record, dispatch->values, dispatch->nulls);
	if (dispatch->nulls[0])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("null value in distribution column \"%s\" of relation \"%s\"",
						NameStr(TupleDescAttr(RelationGetDescr(target), dispatch->shards->attnum - 1)->attname),
						RelationGetRelationName(target))));
}

static ErrorData *
fc_dispatch_find_shard(FcDispatch *dispatch, const FcRecord *record,
					   const FcDispatchLeaf **leaf)
{
	FcShards   *shards = dispatch->shards;
	ErrorData  *edata = NULL;

	dispatch->record = record;
	if (dispatch->hashed &&
		(!fc_parse_some_quickly(dispatch->hashed, record, dispatch->values, dispatch->nulls) ||
		 dispatch->nulls[0]))
		edata = fc_error_evaluate(dispatch->ctx, record->offset, record->length,
								  fc_dispatch_read_hashed, dispatch);
	*leaf = edata ? NULL :
		&dispatch->by_shard[fc_shards_find(shards, dispatch->values[0]) - shards->list];
	return edata;
}

ErrorData *
fc_dispatch_find(FcDispatch *dispatch, const FcRecord *record,
				 const FcDispatchLeaf **leaf)
{
	FcDispatchTable *table = dispatch->root;
	FcDispatchChild *child;
	ErrorData  *edata = NULL;
	int			number;

	if (dispatch->shards)
		return fc_dispatch_find_shard(dispatch, record, leaf);
	*leaf = table ? NULL : &dispatch->only;
	dispatch->record = record;
	while (table)
	{
		dispatch->table = table;
		if (!fc_parse_some_quickly(table->fields, record, dispatch->values, dispatch->nulls))
			edata = fc_error_evaluate(dispatch->ctx, record->offset, record->length,
									  fc_dispatch_read, dispatch);
		number = edata ? -1 : fc_dispatch_number(dispatch, table);
		if (number < 0)
			return edata;
		child = &table->children[number];
		table = child->table;
		*leaf = table ? NULL : &child->leaf;
	}
	return NULL;
}
