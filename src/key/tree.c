/*-------------------------------------------------------------------------
 *
 * key/tree.c
 *	  A partitioned table with all that is partitioned below it, and the
 *	  partitions that rows lack.
 *
 *	 row ──► values of the key ──► core's search among the bounds, or among
 *			those of sprouts ──► the next level
 *
 * A row that finds no partition adds a sprout.  If that is partitioned, the
 * search goes on in a branch that is like the sibling's: with the same key and
 * the same partitions, which are sprouts, too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/datum.h"

#include "compat/compat.h"
#include "compat/settings.h"
#include "key/range.h"

/* Bytes of a value that gets a partition: pg_class has no room for long ones */
#define FC_TREE_VALUE	1024

/* Sets the expressions of the key, over the target's columns */
static void
fc_tree_key(FcTree *tree, FcBranch *branch, Relation rel)
{
	PartitionKey key = branch->key;
	List	   *exprs = NIL;
	int			n = 0;

	for (int i = 0; i < key->partnatts; i++)
		exprs = lappend(exprs, key->partattrs[i] == 0 ? list_nth(key->partexprs, n++) :
						(Node *) makeVar(1, key->partattrs[i], key->parttypid[i], key->parttypmod[i], key->parttypcoll[i], 0));
	exprs = map_partition_varattnos(exprs, 1, tree->target, rel);
	pull_varattnos((Node *) exprs, 1, &tree->columns);
	branch->exprs = ExecPrepareExprList(exprs, tree->estate);
}

/* Can a partition be made like this one, with all that is below it? */
static bool
fc_tree_copies(const FcBranch *branch, int child)
{
	const FcBranch *like = branch->children[child];

	if (like == NULL)
		return get_rel_relkind(branch->desc->oids[child]) == RELKIND_RELATION;
	for (int i = 0; i < like->desc->nparts; i++)
		if (!fc_tree_copies(like, i))
			return false;
	return like->desc->nparts > 0 || like->fault == NULL;
}

/* Sets how wide new ranges are; false if that is not known */
static bool
fc_tree_route(FcTree *tree, FcBranch *branch, Relation rel)
{
	FcRoute    *route = branch->route = fc_route_build_from(rel, branch->desc);
	bool		known = !fc_key_is_integer(route->type);

	for (int i = 0; i < route->nranges; i++)
		known |= !route->ranges[i].lo_min && !route->ranges[i].hi_max;
	route->create = true;
	if (known)
		route->interval = fc_interval_choose(route, NULL);
	tree->zoned |= route->interval.zone != NULL;
	return known && !OidIsValid(route->interval.unsure);
}

/* Returns why no partitions can be made in a table; NULL: they can */
static const char *
fc_tree_fault(FcTree *tree, FcBranch *branch, Relation rel)
{
	AttrNumber	attnum;
	bool		ranges = fc_route_keyed(rel, &attnum);
	int			values = 0;

	if (!ranges && branch->key->strategy != PARTITION_STRATEGY_LIST)
		return "which is not partitioned by list, or by range over one timestamp, timestamptz, date or integer";
	if (ranges && !fc_tree_route(tree, branch, rel))
		return "whose partitions do not tell how wide others are";
	if (branch->newest < 0)
		return NULL;
	for (int i = 0; !ranges && i < branch->desc->boundinfo->ndatums; i++)
		values += branch->desc->boundinfo->indexes[i] == branch->newest;
	if (values > 1)
		return "whose newest partition has several values";
	return fc_tree_copies(branch, branch->newest) ? NULL :
		"whose newest partition has no partitions that others could be like, or foreign tables";
}

/* Opens what is partitioned below a table, which is its caller's */
static FcBranch *
fc_tree_open(FcTree *tree, Relation rel)
{
	FcBranch   *branch = palloc0(sizeof(FcBranch));
	PartitionDesc desc = fc_route_partdesc(rel);

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	branch->oid = RelationGetRelid(rel);
	branch->key = RelationGetPartitionKey(rel);
	branch->type = branch->key->parttypid[0];
	branch->desc = desc;
	branch->newest = -1;
	branch->children = palloc0(sizeof(FcBranch *) * Max(desc->nparts, 1));
	for (int i = 0; i < desc->nparts; i++)
	{
		if (!desc->is_leaf[i])
		{
			tree->opened = lappend(tree->opened, table_open(desc->oids[i], RowExclusiveLock));
			branch->children[i] = fc_tree_open(tree, llast(tree->opened));
		}
		if (i != desc->boundinfo->default_index &&
			(branch->newest < 0 || desc->oids[i] > desc->oids[branch->newest]))
			branch->newest = i;
	}
	fc_tree_key(tree, branch, rel);
	branch->fault = fc_tree_fault(tree, branch, rel);
	tree->grows |= branch->fault == NULL;
	if (branch->fault && (tree->fault == NULL || branch->key->strategy != PARTITION_STRATEGY_HASH))
		tree->fault = psprintf("in table \"%s\", %s", RelationGetRelationName(rel), branch->fault);
	return branch;
}

FcTree *
fc_tree_begin(Relation target)
{
	FcTree	   *tree = palloc0(sizeof(FcTree));

	tree->target = target;
	tree->mcxt = CurrentMemoryContext;
	tree->estate = CreateExecutorState();
	tree->root = fc_tree_open(tree, target);
	return tree;
}

void
fc_tree_end(FcTree *tree)
{
	foreach_ptr(struct RelationData, rel, tree->opened)
		table_close(rel, RowExclusiveLock);
	FreeExecutorState(tree->estate);
}

/* The column of a key by range, of the target */
static AttrNumber
fc_tree_column(const FcBranch *branch)
{
	return castNode(Var, linitial_node(ExprState, branch->exprs)->expr)->varattno;
}

/*
 * The keys of a partition by range, which core has in the same order; all keys
 * of any other one
 */
static FcRange
fc_tree_range(const FcBranch *branch, int child)
{
	const FcRoute *route = branch->route;

	return route && child < route->nranges && route->ranges[child].partition == branch->desc->oids[child] ?
		route->ranges[child] : FC_RANGE_ALL;
}

/*
 * Can a partition of this new table have rows?  Not if a range above it has
 * none of its keys: the days of the sibling's month are no days of another one.
 */
static bool
fc_tree_has_room(const FcBranch *branch, const FcRange *range)
{
	for (const FcSprout *in = branch->sprout; in && branch->route; in = in->above->sprout)
		if (in->above->route && fc_tree_column(in->above) == fc_tree_column(branch) &&
			!fc_range_has(&in->range, range->lo) && !fc_range_has(range, in->range.lo))
			return false;
	return true;
}

static FcSprout *fc_tree_add(FcTree *tree, FcBranch *above, const FcBranch *like, const FcRange *range);

/* Makes a new table like this one, with partitions like those that it has */
static FcBranch *
fc_tree_graft(FcTree *tree, const FcBranch *like, FcSprout *sprout)
{
	FcBranch   *branch = palloc(sizeof(FcBranch));

	check_stack_depth();
	*branch = *like;
	branch->sprout = sprout;
	branch->sprouts = NIL;
	branch->children = palloc0(sizeof(FcBranch *) * Max(like->desc->nparts, 1));
	for (int i = 0; i < like->desc->nparts; i++)
	{
		FcRange		range = fc_tree_range(like, i);
		FcSprout   *child;

		if (!fc_tree_has_room(branch, &range))
			continue;
		child = fc_tree_add(tree, branch, like->children[i], &range);
		child->copied = like->desc->oids[i];
		branch->children[i] = child->branch;
	}
	return branch;
}

/* Adds a partition to a table; "like" is partitioned, or NULL */
static FcSprout *
fc_tree_add(FcTree *tree, FcBranch *above, const FcBranch *like, const FcRange *range)
{
	FcSprout   *sprout = palloc0(sizeof(FcSprout));

	sprout->above = above;
	sprout->range = *range;
	tree->sprouts = lappend(tree->sprouts, sprout);
	if (like)
		sprout->branch = fc_tree_graft(tree, like, sprout);
	return sprout;
}

static int
fc_tree_compare(const FcBranch *branch, const FcSprout *sprout, Datum value, int64 lo)
{
	if (branch->route)
		return sprout->range.lo < lo ? -1 : sprout->range.lo > lo;
	return DatumGetInt32(FunctionCall2Coll(branch->key->partsupfunc, branch->key->partcollation[0],
										   sprout->value, value));
}

/*
 * Returns the partition that is to be made for the value; NULL if none is.  A
 * NULL gets none, and neither do infinite moments.
 */
static FcSprout *
fc_tree_grow(FcTree *tree, FcBranch *branch, Datum value, bool null)
{
	bool		byval = branch->key->parttypbyval[0];
	int16		len = branch->key->parttyplen[0];
	int			n = list_length(branch->sprouts);
	int			at = 0;
	FcRange		range = {0};
	FcSprout   *sprout;
	MemoryContext old;

	if (branch->fault || null || (!byval && datumGetSize(value, byval, len) > FC_TREE_VALUE))
		return NULL;
	if (branch->route)
	{
		int64		key = fc_key_from_datum(branch->route->type, value);

		if (fc_key_is_infinite(branch->route->type, key))
			return NULL;
		range = fc_route_find(branch->route, key);
	}
	fc_search(int, at, n, mid, fc_tree_compare(branch, list_nth(branch->sprouts, mid), value, range.lo) < 0);
	if (at < n && fc_tree_compare(branch, list_nth(branch->sprouts, at), value, range.lo) == 0)
		return list_nth(branch->sprouts, at);
	if (list_length(tree->sprouts) > fc_max_partitions)
		return NULL;
	old = MemoryContextSwitchTo(tree->mcxt);
	sprout = fc_tree_add(tree, branch, branch->newest < 0 ? NULL : branch->children[branch->newest], &range);
	sprout->value = datumCopy(value, byval, len);
	branch->sprouts = list_insert_nth(branch->sprouts, at, sprout);
	MemoryContextSwitchTo(old);
	return sprout;
}

bool
fc_tree_find(FcTree *tree, TupleTableSlot *slot)
{
	ExprContext *econtext = GetPerTupleExprContext(tree->estate);
	FcBranch   *branch = tree->root;
	bool		new = false;

	econtext->ecxt_scantuple = slot;
	while (branch)
	{
		Datum		values[PARTITION_MAX_KEYS];
		bool		nulls[PARTITION_MAX_KEYS];
		FcSprout   *sprout = NULL;
		int			child;

		foreach_ptr(ExprState, expr, branch->exprs)
		{
			int			i = foreach_current_index(expr);

			values[i] = ExecEvalExprSwitchContext(expr, econtext, &nulls[i]);
		}
		child = fc_route_number(branch->key, branch->desc, values, nulls);
		if (child < 0)
			sprout = fc_tree_grow(tree, branch, values[0], nulls[0]);
		if (child < 0 && branch->desc->boundinfo)
			child = branch->desc->boundinfo->default_index;
		new = sprout != NULL || (new && child >= 0);
		branch = sprout ? sprout->branch : child >= 0 ? branch->children[child] : NULL;
	}
	ResetExprContext(econtext);
	return new;
}
