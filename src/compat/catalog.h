/*-------------------------------------------------------------------------
 *
 * compat/catalog.h
 *	  What differs between versions where tables, indexes and constraints are
 *	  made: a part of compat/compat.h, which its users include.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COMPAT_CATALOG_H
#define FC_COMPAT_CATALOG_H

#include "access/amapi.h"
#include "access/multixact.h"
#include "catalog/heap.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "utils/rel.h"

#include "compat/versions.h"

/*
 * 16: DefineIndex takes total_parts.  19: and the parser's state.  Defines an
 * index as ATTACH PARTITION would: without a check of rights, because the
 * parent's owner asked for it.  Builds it as a partition of the parent's
 * index, if that is valid; else leaves it unbuilt, and tells of no constraint.
 */
static inline ObjectAddress
fc_define_index(Oid relid, IndexStmt *stmt, Oid parent_index, Oid parent_constraint)
{
	bool		unbuilt = !OidIsValid(parent_index);

	return DefineIndex(FC_19_ADDS(NULL,) relid, stmt, InvalidOid, parent_index, parent_constraint
					   FC_16_ADDS(, -1), true, false, false, unbuilt, unbuilt);
}

/*
 * 17: index_create takes options of operator classes, and statistics.  Makes
 * the index of a TOAST table, and leaves its file empty.
 */
static inline Oid
fc_create_toast_index(Relation heap, const char *name, IndexInfo *info,
					  List *columns, Oid *collations, Oid *classes,
					  int16 *options)
{
	return index_create(heap, name, InvalidOid, InvalidOid, InvalidOid,
						InvalidOid, info, columns, BTREE_AM_OID,
						heap->rd_rel->reltablespace, collations, classes,
						FC_17_ADDS(NULL,) options, FC_17_ADDS(NULL,) (Datum) 0,
						INDEX_CREATE_IS_PRIMARY | INDEX_CREATE_SKIP_BUILD, 0,
						true, true, NULL);
}

/* 18: has is_enforced.  Makes a CHECK that is valid without a look at rows */
static inline Constraint *
fc_make_check(char *name, char *cooked)
{
	Constraint *check = makeNode(Constraint);

	check->contype = CONSTR_CHECK;
	check->conname = name;
	check->location = -1;
	check->cooked_expr = cooked;
	check->skip_validation = true;
	check->initially_valid = true;
	FC_18_ADDS(check->is_enforced = true;)
	return check;
}

/* 18: has is_enforced.  Makes what heap_create_with_catalog stores */
static inline CookedConstraint *
fc_cook_constraint(ConstrType type, char *name, AttrNumber attnum, char *expr)
{
	CookedConstraint *constraint = palloc0(sizeof(CookedConstraint));

	constraint->contype = type;
	constraint->name = name;
	constraint->attnum = attnum;
	constraint->expr = stringToNode(expr);
	constraint->is_local = true;
	FC_18_ADDS(constraint->is_enforced = true;)
	return constraint;
}

/*
 * 18: vac_update_relstats takes num_all_frozen_pages.  Sets the statistics of a
 * relation that this transaction made.
 */
static inline void
fc_set_relstats(Relation rel, BlockNumber pages, double tuples,
				BlockNumber all_visible, BlockNumber all_frozen)
{
	vac_update_relstats(rel, pages, tuples, all_visible FC_18_ADDS(, all_frozen), true,
						InvalidTransactionId, InvalidMultiXactId, NULL, NULL, true);
}

/* 17: an index's access method says whether workers can help to build it */
#define fc_am_builds_in_parallel(am) \
	FC_17(GetIndexAmRoutineByAmId(am, false)->amcanbuildparallel, ((am) == BTREE_AM_OID))

/* 19: index_build takes progress.  Builds an index in this process alone */
#define fc_build_index_alone(heap, index, info) \
	index_build(heap, index, info, false, false FC_19_ADDS(, true))

#endif							/* FC_COMPAT_CATALOG_H */
