/*-------------------------------------------------------------------------
 *
 * row/executor.c
 *	  The target as the executor wants it: a range table of one entry.
 *
 * Leader and workers build the same one: core's checks learn from it which
 * columns an error message may show.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "parser/parse_relation.h"
#include "rewrite/rewriteManip.h"

#include "row/executor.h"

void
fc_executor_check_schema(Oid relid)
{
	char	   *schema = get_namespace_name(get_rel_namespace(relid));

	/* the function that opens the table says that it is not there */
	if (schema != NULL)
		(void) LookupExplicitNamespace(schema, true);
}

void
fc_executor_insert_columns(ParseState *pstate, List *attnums)
{
	Bitmapset  *inserted = NULL;

	foreach_int(attnum, attnums)
		inserted = bms_add_member(inserted,
								  attnum - FirstLowInvalidHeapAttributeNumber);
	fc_rte_permissions(pstate)->insertedCols = inserted;
}

ParseState *
fc_executor_parse_state(Relation rel, List *attnums)
{
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *nsitem = addRangeTableEntryForRelation(pstate, rel, RowExclusiveLock,
															   NULL, false, false);

	addNSItemToQuery(pstate, nsitem, false, true, true);
	fc_rte_permissions(pstate)->requiredPerms = ACL_INSERT;
	fc_executor_insert_columns(pstate, attnums);
	return pstate;
}

static void
fc_executor_require_select(ParseState *pstate, AttrNumber attnum)
{
	fc_rte_permissions(pstate)->requiredPerms |= ACL_SELECT;
	fc_rte_permissions(pstate)->selectedCols =
		bms_add_member(fc_rte_permissions(pstate)->selectedCols,
					   attnum - FirstLowInvalidHeapAttributeNumber);
}

void
fc_executor_require_delete(ParseState *pstate, AttrNumber key)
{
	fc_rte_permissions(pstate)->requiredPerms |= ACL_DELETE;
	if (AttributeNumberIsValid(key))
		fc_executor_require_select(pstate, key);
}

void
fc_executor_require_conflict(ParseState *pstate, List *keys, List *columns)
{
	List	   *updated = list_difference_int(columns, keys);

	foreach_int(attnum, list_concat_copy(keys, updated))
		fc_executor_require_select(pstate, attnum);
	foreach_int(attnum, updated)
	{
		fc_rte_permissions(pstate)->requiredPerms |= ACL_UPDATE;
		fc_rte_permissions(pstate)->updatedCols =
			bms_add_member(fc_rte_permissions(pstate)->updatedCols,
						   attnum - FirstLowInvalidHeapAttributeNumber);
	}
}

EState *
fc_executor_begin(FcContext *ctx)
{
	EState	   *estate = CreateExecutorState();
	List	   *attnums = NIL;

	for (int i = 0; i < ctx->shared->plan.ncolumns; i++)
		if (fc_shared_columns(ctx->shared)[i] != 0)
			attnums = lappend_int(attnums, fc_shared_columns(ctx->shared)[i]);
	fc_init_range_table(estate, fc_executor_parse_state(ctx->target, attnums));
	estate->es_output_cid = GetCurrentCommandId(false);
	ExecInitResultRelation(estate, makeNode(ResultRelInfo), 1);
	return estate;
}

void
fc_executor_end(EState *estate)
{
	ExecResetTupleTable(estate->es_tupleTable, false);
	ExecCloseResultRelations(estate);
	ExecCloseRangeTableRelations(estate);
	FreeExecutorState(estate);
}

static List *
fc_target_map_list(List *expressions, AttrMap *map)
{
	bool		whole_row;

	return (List *) map_variable_attnos((Node *) expressions, 1, 0, map,
										InvalidOid, &whole_row);
}

List *
fc_executor_child_indexes(Relation parent, Relation child)
{
	AttrMap    *map = fc_build_attrmap(RelationGetDescr(child),
									   RelationGetDescr(parent));
	List	   *infos = NIL;

	foreach_oid(oid, RelationGetIndexList(parent))
	{
		Relation	index = index_open(oid, AccessShareLock);
		IndexInfo  *info = BuildIndexInfo(index);

		index_close(index, NoLock);
		for (int i = 0; i < info->ii_NumIndexAttrs; i++)
			if (info->ii_IndexAttrNumbers[i] > 0)
				info->ii_IndexAttrNumbers[i] = map->attnums[info->ii_IndexAttrNumbers[i] - 1];
		info->ii_Expressions = fc_target_map_list(info->ii_Expressions, map);
		info->ii_Predicate = fc_target_map_list(info->ii_Predicate, map);
		infos = lappend(infos, info);
	}
	return infos;
}
