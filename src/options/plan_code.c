/*-------------------------------------------------------------------------
 *
 * options/plan_code.c
 *	  What code the rows of a table run on their way in.
 *
 *		unsafe		a worker must not run it
 *		foreign		it may leave effects when it fails in the middle
 *		visible		its effects show how often it has run
 *
 * Expressions are asked, and types with all that they are made of.  Nothing is
 * run.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/typcache.h"

#include "options/plan.h"

static bool
fc_code_unsafe_function(Oid funcid, void *context)
{
	return func_parallel(funcid) != PROPARALLEL_SAFE;
}

/* What is asked about an expression */
typedef struct FcCodeTest
{
	check_function_callback function;
	FcTypeTest	domain;			/* NULL: true of all */
	bool		sequence;		/* the answer for an identity column's value */
} FcCodeTest;

/* Is the test, the context, true of a part of the expression? */
static bool
fc_code_walker(Node *node, void *context)
{
	const FcCodeTest *test = context;

	if (node == NULL)
		return false;
	if (check_functions_in_node(node, test->function, NULL) ||
		(test->sequence && IsA(node, NextValueExpr)) ||
		(IsA(node, CoerceToDomain) &&
		 (test->domain == NULL ||
		  fc_code_type_any(((CoerceToDomain *) node)->resulttype, test->domain, false))))
		return true;
	return expression_tree_walker(node, fc_code_walker, context);
}

bool
fc_code_unsafe(Node *node)
{
	return fc_code_walker(node, &(FcCodeTest) {fc_code_unsafe_function, NULL, true});
}

bool
fc_code_any_constraint(Relation rel, bool (*test) (Node *), bool defaults)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; desc->constr && i < desc->constr->num_check; i++)
		if (test(stringToNode(desc->constr->check[i].ccbin)))
			return true;
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped &&
			(defaults || TupleDescAttr(desc, i)->attgenerated) &&
			test(build_column_default(rel, i + 1)))
			return true;
	return false;
}

bool
fc_code_any_index(Relation rel, FcIndexTest test)
{
	bool		found = false;

	foreach_oid(oid, RelationGetIndexList(rel))
	{
		Relation	index = index_open(oid, AccessShareLock);

		found = found || test(index);
		/* the lock on the table keeps it */
		index_close(index, AccessShareLock);
	}
	return found;
}

bool
fc_code_index_unsafe(Relation index)
{
	return fc_code_unsafe((Node *) RelationGetIndexExpressions(index)) ||
		fc_code_unsafe((Node *) RelationGetIndexPredicate(index));
}

bool
fc_code_type_any(Oid typid, FcTypeTest test, bool binary)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(typid));
	Oid			element = get_element_type(typid);
	Form_pg_type type;
	char		typtype;
	TupleDesc	desc;
	Oid			input;
	bool		found = false;

	check_stack_depth();
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", typid);
	type = (Form_pg_type) GETSTRUCT(tuple);
	typtype = type->typtype;
	input = binary ? type->typreceive : type->typinput;
	ReleaseSysCache(tuple);
	/* core refuses to read values of a type without such a function */
	if (OidIsValid(input) && test(typid, typtype, input, binary))
		return true;
	if (OidIsValid(element))
		return fc_code_type_any(element, test, binary);
	if (typtype == TYPTYPE_RANGE)
		return fc_code_type_any(get_range_subtype(typid), test, binary);
	if (typtype == TYPTYPE_MULTIRANGE)
		return fc_code_type_any(get_multirange_range(typid), test, binary);
	if (typtype != TYPTYPE_COMPOSITE)
		return false;
	desc = lookup_rowtype_tupdesc(typid, -1);
	for (int i = 0; i < desc->natts && !found; i++)
		found = !TupleDescAttr(desc, i)->attisdropped &&
			fc_code_type_any(TupleDescAttr(desc, i)->atttypid, test, binary);
	ReleaseTupleDesc(desc);
	return found;
}

bool
fc_code_is_unsafe(Oid typid, char typtype, Oid input, bool binary)
{
	return typtype == TYPTYPE_DOMAIN || fc_code_unsafe_function(input, NULL);
}

/* The functions that compare values are those of the type below a domain */
bool
fc_code_is_unordered(Oid typid, char typtype, Oid input, bool binary)
{
	Oid			base = getBaseType(typid);
	Oid			compare = lookup_type_cache(base, TYPECACHE_CMP_PROC)->cmp_proc;

	return !OidIsValid(compare) || fc_code_unsafe_function(compare, NULL) ||
		(base != typid && fc_code_type_any(base, fc_code_is_unordered, binary));
}

/* tsquery's input sends a NOTICE about a query without lexemes */
bool
fc_code_is_talking(Oid typid, char typtype, Oid input, bool binary)
{
	return typid == TSQUERYOID && !binary;
}

/*
 * Code of users runs for a domain and for a type with an input function of
 * theirs.  It may run for any other type that a user has made, such as a range,
 * which calls the functions that its creator named; but not for an enum, a row
 * type or an array, which core reads by itself.
 */
bool
fc_code_is_foreign(Oid typid, char typtype, Oid input, bool binary)
{
	return typtype == TYPTYPE_DOMAIN || input >= FirstNormalObjectId ||
		(typid >= FirstNormalObjectId && typtype != TYPTYPE_ENUM &&
		 typtype != TYPTYPE_COMPOSITE && !OidIsValid(get_element_type(typid)));
}

/* Core's own functions that run commands are not parallel safe */
static bool
fc_code_foreign_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId || fc_code_unsafe_function(funcid, context);
}

bool
fc_code_foreign(Node *node)
{
	return fc_code_walker(node, &(FcCodeTest) {fc_code_foreign_function});
}

/* The effects of core's own functions do not show how often they have run */
static bool
fc_code_visible_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId &&
		func_volatile(funcid) == PROVOLATILE_VOLATILE;
}

bool
fc_code_visible(Node *node)
{
	return fc_code_walker(node, &(FcCodeTest) {fc_code_visible_function, fc_code_is_visible});
}

bool
fc_code_is_visible(Oid typid, char typtype, Oid input, bool binary)
{
	DomainConstraintRef *ref;

	if (typtype != TYPTYPE_DOMAIN)
		return fc_code_visible_function(input, NULL);
	/* the memory context calls back into it when it is reset */
	ref = palloc(sizeof(DomainConstraintRef));
	InitDomainConstraintRef(typid, ref, CurrentMemoryContext, false);
	foreach_ptr(DomainConstraintState, constraint, ref->constraints)
		if (constraint->constrainttype == DOM_CONSTRAINT_CHECK &&
			fc_code_visible((Node *) constraint->check_expr))
			return true;
	return fc_code_type_any(getBaseType(typid), fc_code_is_visible, binary);
}
