/*-------------------------------------------------------------------------
 *
 * sort/order_by_keys.c
 *	  The option order_by: columns of the target, and how they are compared.
 *
 *	 text ──► core's grammar of ORDER BY ──► column, direction, NULLs
 *		──► operator and collation, as ORDER BY would choose them
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/typcache.h"

#include "errors/context.h"
#include "row/column.h"
#include "sort/order_by.h"

/* The text before an item, for core's grammar */
#define FC_SORT_PREFIX	"SELECT ORDER BY "

/*
 * The item, if the text stands for an ORDER BY of one item that is a column's
 * name, without USING, and nothing else; or NULL
 */
static SortBy *
fc_sort_item(char *text)
{
	FcWithin	within = {text, strlen(FC_SORT_PREFIX)};
	ErrorContextCallback callback;
	List	   *trees;
	SelectStmt *empty = makeNode(SelectStmt);
	SelectStmt *select;
	ColumnRef  *column;
	SortBy	   *item;

	fc_error_context_push(&callback, fc_error_within, &within);
	trees = raw_parser(psprintf("%s%s", FC_SORT_PREFIX, text), RAW_PARSE_DEFAULT);
	fc_error_context_pop();
	select = castNode(SelectStmt, linitial_node(RawStmt, trees)->stmt);
	if (list_length(trees) != 1 || list_length(select->sortClause) != 1)
		return NULL;
	item = linitial_node(SortBy, select->sortClause);
	column = (ColumnRef *) item->node;
	empty->sortClause = select->sortClause;
	if (!equal(select, empty) || item->sortby_dir == SORTBY_USING ||
		!IsA(column, ColumnRef) || list_length(column->fields) != 1 ||
		!IsA(linitial(column->fields), String))
		return NULL;
	return item;
}

/*
 * Sets what ORDER BY would use: an operator of the type's default class, and
 * the column's collation
 */
static void
fc_sort_operator(Relation rel, FcSortKey *key)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), key->attnum - 1);
	TypeCacheEntry *type = lookup_type_cache(att->atttypid,
											 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR |
											 TYPECACHE_BTREE_OPFAMILY);

	key->operator = key->descending ? type->gt_opr : type->lt_opr;
	key->family = type->btree_opf;
	key->collation = att->attcollation;
	if (!OidIsValid(key->operator))
		fc_throw(ERRCODE_UNDEFINED_FUNCTION, errmsg("could not identify an ordering operator for type %s",
													format_type_be(att->atttypid)),
				 errdetail("Column \"%s\" is of this type.", NameStr(att->attname)),
				 errhint("Name columns whose types have a default operator class for btree."));
}

static FcSortKey *
fc_sort_key(Relation rel, char *text)
{
	SortBy	   *item = fc_sort_item(text);
	FcSortKey  *key = palloc0(sizeof(FcSortKey));
	char	   *name;

	if (item == NULL)
		fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("order_by item \"%s\" is not the name of a column", text),
				 errhint("Each item names one column, with ASC or DESC and NULLS FIRST or NULLS LAST after it if need be."));
	name = strVal(linitial(castNode(ColumnRef, item->node)->fields));
	key->attnum = fc_column_named(rel, name);
	if (fc_is_virtual(TupleDescAttr(RelationGetDescr(rel), key->attnum - 1)))
		fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("cannot order rows by virtual generated column \"%s\"", name));
	key->descending = (item->sortby_dir == SORTBY_DESC);
	key->nulls_first = item->sortby_nulls == SORTBY_NULLS_DEFAULT ?
		key->descending : item->sortby_nulls == SORTBY_NULLS_FIRST;
	fc_sort_operator(rel, key);
	return key;
}

List *
fc_sort_keys_columns(List *keys)
{
	List	   *attnums = NIL;

	foreach_ptr(FcSortKey, key, keys)
		attnums = lappend_int(attnums, key->attnum);
	return attnums;
}

List *
fc_sort_key_of(Relation rel, AttrNumber attnum)
{
	FcSortKey  *key = palloc0(sizeof(FcSortKey));

	key->attnum = attnum;
	fc_sort_operator(rel, key);
	return list_make1(key);
}

List *
fc_sort_keys_parse(Relation rel, List *items)
{
	List	   *keys = NIL;

	foreach_node(String, string, items)
		keys = lappend(keys, fc_sort_key(rel, strVal(string)));
	return keys;
}

char *
fc_sort_keys_text(Relation rel, List *keys)
{
	StringInfo	text = makeStringInfo();

	foreach_ptr(FcSortKey, key, keys)
	{
		appendStringInfo(text, "%s%s%s", text->len > 0 ? ", " : "",
						 quote_identifier(get_attname(RelationGetRelid(rel), key->attnum, false)),
						 key->descending ? " DESC" : "");
		if (key->nulls_first != key->descending)
			appendStringInfoString(text, key->nulls_first ? " NULLS FIRST" : " NULLS LAST");
	}
	return text->data;
}

bool
fc_sort_key_plain(const FcSortKey *key)
{
	return !key->descending && !key->nulls_first;
}

bool
fc_sort_index_covers(Relation index, const Oid *operators, const FcSortKey *key,
					 AttrNumber attnum)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		if (index->rd_index->indkey.values[i] == attnum &&
			(operators ? get_op_opfamily_strategy(operators[i], key->family) == BTEqualStrategyNumber :
			 index->rd_opfamily[i] == key->family) &&
			index->rd_indcollation[i] == key->collation)
			return true;
	return false;
}

/*
 * May one of two rows that the index takes for equal come before the other?  A
 * partition may have its columns in another order than the target.
 */
static bool
fc_sort_index_conflicts(Relation index, Relation target, List *keys)
{
	Oid		   *operators = NULL;
	Oid		   *functions;
	uint16	   *strategies;

	if (index->rd_index->indisexclusion)
		RelationGetExclusionInfo(index, &operators, &functions, &strategies);
	else if (!index->rd_index->indisunique)
		return false;
	foreach_ptr(FcSortKey, key, keys)
	{
		char	   *name = get_attname(RelationGetRelid(target), key->attnum, false);

		if (!fc_sort_index_covers(index, operators, key, get_attnum(index->rd_index->indrelid, name)))
			return true;
	}
	return false;
}

char *
fc_sort_keys_conflict(Relation target, Relation rel, List *keys)
{
	char	   *name = NULL;

	foreach_oid(oid, RelationGetIndexList(rel))
	{
		Relation	index = index_open(oid, AccessShareLock);

		if (name == NULL && fc_sort_index_conflicts(index, target, keys))
			name = pstrdup(RelationGetRelationName(index));
		index_close(index, NoLock);
	}
	return name;
}
