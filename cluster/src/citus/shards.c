/*-------------------------------------------------------------------------
 *
 * citus/shards.c
 *	  The shards of a table of Citus: which one takes a row, and where it is.
 *
 *	 pg_dist_partition ──► how, by which column ──┐
 *	 pg_dist_shard     ──► ranges of its hash  ───┼──► shards by their hashes
 *	 pg_dist_placement ──► groups of nodes     ───┘
 *
 * A shard has a range of hashes, by the hash function that the column's type
 * has for joins and indexes.  A table is served only if each of its shards has
 * one place: several would take locks on another node, and all would have to
 * be written.
 *
 * To move or split a shard, Citus locks it exclusively for the last step.
 * fc_shards_lock takes the locks of Citus' own COPY, which conflict with that
 * one.  They last until the transaction's nodes have committed
 * (remote/transaction.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "nodes/primnodes.h"
#include "parser/parse_func.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "citus/citus.h"
#include "compat/compat.h"
#include "key/range.h"

/* As pg_dist_partition and pg_dist_placement have them */
#define FC_CITUS_HASH		'h'
#define FC_CITUS_NONE		'n'
#define FC_CITUS_ONE_COPY	's'
#define FC_CITUS_ACTIVE		1

/* How Citus distributes a table */
typedef struct FcCitusTable
{
	char		method;
	char		model;			/* of copies */
	Node	   *key;			/* or NULL */
} FcCitusTable;

/* False if Citus does not list the table */
static bool
fc_shards_table(Oid table, FcCitusTable *citus)
{
	static const FcCitusColumn columns[] = {
		{"logicalrelid", REGCLASSOID}, {"partmethod", CHAROID},
		{"repmodel", CHAROID}, {"partkey", TEXTOID}
	};
	FcCitusScan scan = fc_citus_scan("pg_dist_partition", columns, lengthof(columns));
	const Datum *values = scan.values;
	const bool *nulls = scan.nulls;
	bool		found = false;

	while (fc_citus_next(&scan))
	{
		if (nulls[0] || DatumGetObjectId(values[0]) != table)
			continue;
		found = true;
		citus->method = nulls[1] ? '\0' : DatumGetChar(values[1]);
		citus->model = nulls[2] ? '\0' : DatumGetChar(values[2]);
		citus->key = nulls[3] ? NULL : stringToNode(TextDatumGetCString(values[3]));
	}
	return found;
}

/* Sets the column that is hashed, and by what; false if it cannot be */
static bool
fc_shards_key(Oid table, const FcCitusTable *citus, FcShards *shards)
{
	HeapTuple	tuple;
	Form_pg_attribute att;
	TypeCacheEntry *type;
	Oid			collation;

	if (citus->method == FC_CITUS_NONE)
		return true;
	if (citus->key == NULL || !IsA(citus->key, Var))
		return false;
	tuple = SearchSysCacheAttNum(table, ((Var *) citus->key)->varattno);
	if (!HeapTupleIsValid(tuple))
		return false;
	att = (Form_pg_attribute) GETSTRUCT(tuple);
	shards->attnum = att->attnum;
	collation = att->attcollation;
	type = lookup_type_cache(att->atttypid, TYPECACHE_HASH_PROC_FINFO);
	ReleaseSysCache(tuple);
	if (!OidIsValid(type->hash_proc_finfo.fn_oid))
		return false;
	fmgr_info_copy(&shards->hash, &type->hash_proc_finfo, CurrentMemoryContext);
	shards->call = palloc0(SizeForFunctionCallInfo(1));
	InitFunctionCallInfoData(*shards->call, &shards->hash, 1, collation, NULL, NULL);
	return true;
}

static FcShard
fc_shards_one(const Datum *values, const bool *nulls)
{
	FcShard		shard = {DatumGetInt64(values[1]), PG_INT32_MIN, PG_INT32_MAX};

	if (!nulls[2] && !nulls[3])
	{
		shard.low = pg_strtoint32(TextDatumGetCString(values[2]));
		shard.high = pg_strtoint32(TextDatumGetCString(values[3]));
	}
	return shard;
}

/* Reads the ranges of the table's shards, in no order */
static void
fc_shards_ranges(Oid table, FcShards *shards)
{
	static const FcCitusColumn columns[] = {
		{"logicalrelid", REGCLASSOID}, {"shardid", INT8OID},
		{"shardminvalue", TEXTOID}, {"shardmaxvalue", TEXTOID}
	};
	FcCitusScan scan = fc_citus_scan("pg_dist_shard", columns, lengthof(columns));
	int			room = 32;

	shards->list = palloc(sizeof(FcShard) * room);
	while (fc_citus_next(&scan))
	{
		if (scan.nulls[0] || scan.nulls[1] || DatumGetObjectId(scan.values[0]) != table)
			continue;
		if (shards->n == room)
		{
			room *= 2;
			shards->list = repalloc_huge(shards->list, sizeof(FcShard) * room);
		}
		shards->list[shards->n++] = fc_shards_one(scan.values, scan.nulls);
	}
}

static int
fc_shards_by_id(const void *a, const void *b)
{
	int64		left = ((const FcShard *) a)->id;
	int64		right = ((const FcShard *) b)->id;

	return left < right ? -1 : left > right;
}

static int
fc_shards_by_hash(const void *a, const void *b)
{
	int32		left = ((const FcShard *) a)->low;
	int32		right = ((const FcShard *) b)->low;

	return left < right ? -1 : left > right;
}

/* Reads where the shards are, which are in the order of their numbers */
static void
fc_shards_places(FcShards *shards)
{
	static const FcCitusColumn columns[] = {
		{"shardid", INT8OID}, {"shardstate", INT4OID}, {"groupid", INT4OID}
	};
	FcCitusScan scan = fc_citus_scan("pg_dist_placement", columns, lengthof(columns));
	const Datum *values = scan.values;
	const bool *nulls = scan.nulls;

	while (fc_citus_next(&scan))
	{
		FcShard		sought = {nulls[0] ? 0 : DatumGetInt64(values[0])};
		FcShard    *shard = bsearch(&sought, shards->list, shards->n, sizeof(FcShard), fc_shards_by_id);

		/* what Citus has given up is not of the shard any more */
		if (shard == NULL || nulls[1] || nulls[2] || DatumGetInt32(values[1]) != FC_CITUS_ACTIVE)
			continue;
		shard->nplaces++;
		shard->group = DatumGetInt32(values[2]);
	}
}

/* Is there exactly one shard for each hash? */
static bool
fc_shards_are_whole(const FcShards *shards)
{
	int64		next = PG_INT32_MIN;

	for (int i = 0; i < shards->n; i++)
	{
		if (shards->list[i].low != next || shards->list[i].high < next)
			return false;
		next = (int64) shards->list[i].high + 1;
	}
	return next == (int64) PG_INT32_MAX + 1;
}

static const char *
fc_shards_node_refusal(const List *nodes, int32 group)
{
	const FcCitusNode *node = fc_citus_node_of(nodes, group);

	if (group < 0 || group >= FC_CITUS_GROUPS)
		return psprintf("Its rows are on nodes of group %d.", group);
	if (node == NULL || !node->active)
		return psprintf("There is no active primary node of group %d.", group);
	if (fc_citus_node_is_pooled(node))
		return psprintf("Node \"%s:%d\" is reached by a connection pooler.", node->host, node->port);
	return NULL;
}

static const char *
fc_shards_places_refusal(const FcShards *shards)
{
	List	   *nodes = fc_citus_nodes();
	List	   *groups = NIL;
	const char *why = NULL;

	for (int i = 0; i < shards->n; i++)
	{
		if (shards->list[i].nplaces > 1)
			return "Its shards have copies on several nodes.";
		if (shards->list[i].nplaces == 0)
			return psprintf("Shard " INT64_FORMAT " is nowhere.", shards->list[i].id);
		groups = list_append_unique_int(groups, shards->list[i].group);
	}
	foreach_int(group, groups)
		if (why == NULL)
			why = fc_shards_node_refusal(nodes, group);
	return why;
}

static const char *
fc_shards_table_refusal(Oid table, const FcCitusTable *citus)
{
	char		relkind = get_rel_relkind(table);

	/* a shard of a partitioned table is partitioned, too */
	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		return "It is a foreign table.";
	if (citus->method != FC_CITUS_HASH && citus->method != FC_CITUS_NONE)
		return "It is distributed by range, or by appending shards.";
	if (citus->model != FC_CITUS_ONE_COPY)
		return "It is a reference table, or its shards have copies on several nodes.";
	return NULL;
}

FcShards *
fc_shards_read(Oid table, const char **why)
{
	FcShards   *shards = palloc0(sizeof(FcShards));
	FcCitusTable citus = {0};

	*why = "It is not listed itself.";
	if (!fc_shards_table(table, &citus))
		return NULL;
	*why = fc_shards_table_refusal(table, &citus);
	if (*why)
		return NULL;
	*why = "The hash of its distribution column is not known.";
	if (!fc_shards_key(table, &citus, shards))
		return NULL;
	fc_shards_ranges(table, shards);
	qsort(shards->list, shards->n, sizeof(FcShard), fc_shards_by_id);
	fc_shards_places(shards);
	*why = fc_shards_places_refusal(shards);
	if (*why)
		return NULL;
	qsort(shards->list, shards->n, sizeof(FcShard), fc_shards_by_hash);
	*why = "Its shards do not take each hash once.";
	return fc_shards_are_whole(shards) ? shards : NULL;
}

/* The numbers of the shards, which is the order in which all lock them */
static ArrayType *
fc_shards_ids(const FcShards *shards)
{
	Datum	   *ids = palloc(sizeof(Datum) * shards->n);
	FcShard    *list = palloc(sizeof(FcShard) * shards->n);

	memcpy(list, shards->list, sizeof(FcShard) * shards->n);
	qsort(list, shards->n, sizeof(FcShard), fc_shards_by_id);
	for (int i = 0; i < shards->n; i++)
		ids[i] = Int64GetDatum(list[i].id);
	return construct_array(ids, shards->n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

/* Calls a function of Citus' that takes locks */
static void
fc_shards_call(char *name, LOCKMODE lock, ArrayType *ids)
{
	static const Oid types[] = {INT4OID, INT8ARRAYOID};
	Oid			function = LookupFuncName(list_make2(makeString("pg_catalog"), makeString(name)),
										  lengthof(types), types, false);

	(void) OidFunctionCall2(function, Int32GetDatum(lock), PointerGetDatum(ids));
}

/* As the table's owner: Citus lets no other role lock the place of a shard */
static void
fc_shards_lock_all(Oid table, const FcShards *shards)
{
	ArrayType  *ids = fc_shards_ids(shards);
	Relation	rel = table_open(table, NoLock);
	Oid			userid;
	int			context;

	GetUserIdAndSecContext(&userid, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	table_close(rel, NoLock);
	fc_shards_call("lock_shard_metadata", ShareLock, ids);
	fc_shards_call("lock_shard_resources", RowExclusiveLock, ids);
	SetUserIdAndSecContext(userid, context);
}

static bool
fc_shards_are_same(const FcShards *left, const FcShards *right)
{
	if (left->n != right->n)
		return false;
	for (int i = 0; i < left->n; i++)
		if (left->list[i].id != right->list[i].id)
			return false;
	return true;
}

FcShards *
fc_shards_lock(Oid table, const char **why)
{
	FcShards   *shards = fc_shards_read(table, why);

	/* against citus_create_restore_point(), as commits of Citus' do */
	fc_citus_lock("pg_dist_transaction", RowExclusiveLock);
	while (shards)
	{
		FcShards   *locked = shards;

		CHECK_FOR_INTERRUPTS();
		fc_shards_lock_all(table, locked);
		AcceptInvalidationMessages();
		shards = fc_shards_read(table, why);
		if (shards && fc_shards_are_same(locked, shards))
			break;
	}
	return shards;
}

/* Ranges are of one width, unless shards have been split: tries that first */
const FcShard *
fc_shards_find(FcShards *shards, Datum value)
{
	int32		hash;
	uint64		distance;
	const FcShard *shard;
	int			i = 0;

	if (shards->attnum == 0)
		return &shards->list[0];
	shards->call->args[0].value = value;
	hash = DatumGetInt32(FunctionCallInvoke(shards->call));
	distance = (uint64) ((int64) hash - PG_INT32_MIN);
	shard = &shards->list[(distance * shards->n) >> 32];
	if (hash >= shard->low && hash <= shard->high)
		return shard;
	/* the last one if there is none */
	fc_search(int, i, shards->n - 1, mid, shards->list[mid].high < hash);
	return &shards->list[i];
}

/* Asks Citus; from 13.1 on the function has one argument more */
char *
fc_shard_relname(Oid table, const FcShard *shard)
{
	static const Oid types[] = {REGCLASSOID, INT8OID, BOOLOID};
	List	   *function = list_make2(makeString("pg_catalog"), makeString("shard_name"));
	Oid			two = LookupFuncName(function, 2, types, true);
	Datum		name;

	if (OidIsValid(two))
		name = OidFunctionCall2(two, ObjectIdGetDatum(table), Int64GetDatum(shard->id));
	else
		name = OidFunctionCall3(LookupFuncName(function, 3, types, false),
								ObjectIdGetDatum(table), Int64GetDatum(shard->id), BoolGetDatum(true));
	return pstrdup(strVal(llast(textToQualifiedNameList(DatumGetTextPP(name)))));
}
