/*-------------------------------------------------------------------------
 *
 * options/plan_transform.c
 *	  Expressions that make values of the fields of the file.
 *
 *	 expression as the grammar made it ──► names of fields become Vars of a row
 *			of texts ──► expression of the column's type, or of type text
 *
 *	delete_where ──► columns stay, other names become such Vars
 *
 * row/transform.c evaluates it for each record.  Nothing is changed here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"

#include "options/plan.h"
#include "row/where.h"

/* As many fields are named where one is not found */
#define FC_TRANSFORM_NAMES	20

/* The names of the fields, as a hint shows them */
static char *
fc_transform_list(const List *names)
{
	StringInfo	list = makeStringInfo();

	foreach_node(String, name, names)
	{
		if (foreach_current_index(name) == FC_TRANSFORM_NAMES)
		{
			appendStringInfoString(list, ", ...");
			break;
		}
		appendStringInfo(list, "%s%s", list->len > 0 ? ", " : "", quote_identifier(strVal(name)));
	}
	return list->data;
}

/*
 * The number of the field of this name, from 0.  If none has the very name, it
 * is the only one whose name differs in case alone.
 */
static int
fc_transform_find(ParseState *pstate, const char *name, int location)
{
	const FcColumns *columns = pstate->p_ref_hook_state;
	int			found = -1;
	bool		exact = false;
	bool		twice = false;

	for (int i = 0; i < list_length(columns->names); i++)
	{
		const char *field = strVal(list_nth(columns->names, i));
		bool		same = strcmp(field, name) == 0;

		if ((!same && exact) || pg_strcasecmp(field, name) != 0)
			continue;
		twice = found >= 0 && same == exact;
		found = i;
		exact = same;
	}
	if (found < 0)
		fc_throw(ERRCODE_UNDEFINED_COLUMN, errmsg("the file has no field \"%s\"", name),
				 columns->names == NIL ? 0 :
				 errhint("Its fields are %s. Fields without such a name are called $1, $2 and so on.", fc_transform_list(columns->names)),
				 parser_errposition(pstate, location));
	if (twice)
		fc_throw(ERRCODE_AMBIGUOUS_COLUMN, errmsg("the file has several fields \"%s\"", name),
				 errhint("Call them by their numbers: $1 is the first field of the file."),
				 parser_errposition(pstate, location));
	return found;
}

/* A column of the row of texts, from 0 */
static Node *
fc_transform_var(int column, Oid type, int location)
{
	Var		   *var = makeVar(INNER_VAR, column + 1, type, -1, get_typcollation(type), 0);

	var->location = location;
	return (Node *) var;
}

/* The number of a name among those of the path */
static int
fc_origin_of_path(FcColumns *columns, const char *name)
{
	foreach_node(Const, path, columns->paths)
		if (pg_strcasecmp(TextDatumGetCString(path->constvalue), name) == 0)
			return foreach_current_index(path);
	columns->paths = lappend(columns->paths,
							 makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(name), false, false));
	return list_length(columns->paths) - 1;
}

Node *
fc_plan_origin(ParseState *pstate, ColumnRef *cref)
{
	static const char *const names[] = {
		[FC_ORIGIN_FILE] = "file",[FC_ORIGIN_LINE] = "line",[FC_ORIGIN_BYTE_OFFSET] = "byte_offset",
		[FC_ORIGIN_ROW] = "row",[FC_ORIGIN_PATH] = "path"
	};
	FcColumns  *columns = pstate->p_ref_hook_state;
	const char *path = list_length(cref->fields) == 2 && IsA(lsecond(cref->fields), String) ? strVal(lsecond(cref->fields)) : NULL;
	int			origin = 0;
	int			column = list_length(columns->names);

	/* the grammar has been shown another name (row/origin.c) */
	if (pstate->p_sourcetext[cref->location] != '$')
		return NULL;
	while (origin < lengthof(names) && strcmp(strVal(linitial(cref->fields)) + 1, names[origin]) != 0)
		origin++;
	if (origin == lengthof(names) ||
		(origin == FC_ORIGIN_PATH ? path == NULL : list_length(cref->fields) > 1))
		fc_throw(ERRCODE_UNDEFINED_COLUMN, errmsg("there is no $%s", NameListToString(cref->fields) + 1),
				 errhint("Use $file, $line, $byte_offset, $row, or $path.NAME for a folder NAME=value in the path of the file."),
				 parser_errposition(pstate, cref->location));
	columns->origins |= fc_origin_bit(origin);
	column += origin + (path ? fc_origin_of_path(columns, path) : 0);
	return fc_transform_var(column, path || origin == FC_ORIGIN_FILE ? TEXTOID : INT8OID, cref->location);
}

static Node *
fc_transform_column(ParseState *pstate, ColumnRef *cref)
{
	Node	   *origin = fc_plan_origin(pstate, cref);

	if (origin)
		return origin;
	if (list_length(cref->fields) != 1 || !IsA(linitial(cref->fields), String))
		return NULL;
	return fc_transform_var(fc_transform_find(pstate, strVal(linitial(cref->fields)), cref->location),
							TEXTOID, cref->location);
}

static Node *
fc_transform_param(ParseState *pstate, ParamRef *pref)
{
	const FcColumns *columns = pstate->p_ref_hook_state;

	if (pref->number < 1 || pref->number > list_length(columns->names))
		fc_throw(ERRCODE_UNDEFINED_PARAMETER, errmsg("the file has no field $%d", pref->number),
				 errdetail_plural("It has %d field.", "It has %d fields.",
								  list_length(columns->names), list_length(columns->names)),
				 parser_errposition(pstate, pref->location));
	return fc_transform_var(pref->number - 1, TEXTOID, pref->location);
}

/* Says which expression an error is about, and where in it */
static void
fc_transform_context(void *arg)
{
	const FcTransformOption *option = arg;

	/* where core would have types cast, it is most often these */
	if (geterrcode() == ERRCODE_UNDEFINED_FUNCTION)
		errhint("Fields are texts: cast those that are numbers, dates or the like, such as $1::numeric.");
	fc_error_within(unconstify(FcWithin *, &option->within));
	errcontext("transform of column \"%s\"", option->column);
}

/*
 * Gives the expression the column's type, as INSERT does.  A text stays one: it
 * is read as a field of the file is, whatever the column's type.  So does any
 * string that may have to be cut.
 */
static Node *
fc_transform_coerce(ParseState *pstate, Node *expr, Form_pg_attribute att, bool cut)
{
	Oid			type = exprType(expr);
	/* as a text bpchar loses its blanks, which the column may keep */
	bool		text = type == UNKNOWNOID || (TypeCategory(type) == TYPCATEGORY_STRING &&
											  (cut || getBaseType(type) != getBaseType(att->atttypid)));
	Node	   *result = coerce_to_target_type(pstate, expr, type,
											   text ? TEXTOID : att->atttypid,
											   text ? -1 : att->atttypmod,
											   COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);

	if (result == NULL)
		fc_throw(ERRCODE_DATATYPE_MISMATCH, errmsg("column \"%s\" is of type %s but expression is of type %s",
												   NameStr(att->attname), format_type_be(att->atttypid), format_type_be(type)),
				 errhint("You will need to rewrite or cast the expression."),
				 parser_errposition(pstate, exprLocation(expr)));
	return result;
}

static Node *
fc_transform_analyze(const FcTransformOption *option, FcColumns *columns, Form_pg_attribute att, bool cut)
{
	ParseState *pstate = make_parsestate(NULL);
	ErrorContextCallback callback;
	Node	   *expr;

	pstate->p_sourcetext = option->statement;
	pstate->p_pre_columnref_hook = fc_transform_column;
	pstate->p_paramref_hook = fc_transform_param;
	pstate->p_ref_hook_state = columns;
	fc_error_context_push(&callback, fc_transform_context, unconstify(FcTransformOption *, option));
	expr = transformExpr(pstate, copyObject(option->expr), EXPR_KIND_GENERATED_COLUMN);
	expr = fc_transform_coerce(pstate, expr, att, cut);
	assign_expr_collations(pstate, expr);
	expr = (Node *) expression_planner((Expr *) expr);
	fc_error_context_pop();
	free_parsestate(pstate);
	return expr;
}

void
fc_plan_transforms(Relation rel, const FcOptions *options, FcColumns *columns)
{
	List	   *transforms = NIL;
	bool		any = options->delete_where != NULL;

	foreach_int(attnum, columns->fields)
	{
		Form_pg_attribute att = attnum == 0 ? NULL : TupleDescAttr(RelationGetDescr(rel), attnum - 1);
		const FcTransformOption *option = att ? fc_transform_option(options, NameStr(att->attname)) : NULL;

		transforms = lappend(transforms, option == NULL ? NULL : fc_transform_analyze(option, columns, att, (options->tolerated & FC_CLASS_CUT_LONG) && att->atttypid != TEXTOID));
		columns->flags[foreach_current_index(attnum)] |= option ? FC_FIELD_TRANSFORM : 0;
		any |= option != NULL;
	}
	columns->transforms = any ? transforms : NIL;
}

/* A name that is no column of the table is one of a field */
static Node *
fc_mark_column(ParseState *pstate, ColumnRef *cref, Node *var)
{
	return var ? NULL : fc_transform_column(pstate, cref);
}

/* Says what a field must be cast for */
static void
fc_mark_context(void *arg)
{
	if (geterrcode() == ERRCODE_UNDEFINED_FUNCTION || geterrcode() == ERRCODE_DATATYPE_MISMATCH)
		errhint("Fields that are no columns are texts: compare them with texts, or cast them, such as $1::boolean.");
}

void
fc_plan_mark(Relation rel, const FcOptions *options, FcPlanned *planned)
{
	ParseState *pstate = planned->pstate;
	ErrorContextCallback callback;

	if (options->delete_where == NULL)
		return;
	pstate->p_pre_columnref_hook = fc_plan_origin;
	pstate->p_post_columnref_hook = fc_mark_column;
	pstate->p_paramref_hook = fc_transform_param;
	pstate->p_ref_hook_state = &planned->columns;
	fc_error_context_push(&callback, fc_mark_context, NULL);
	planned->mark = fc_where_parse(pstate, rel, options->delete_where);
	if (contain_volatile_functions((Node *) planned->mark))
		fc_unsupported(errmsg("delete_where must not call volatile functions"),
					   errdetail("It is evaluated more than once for some rows, and not in the order of the file."));
	fc_error_context_pop();
	if (planned->mark == NIL)
		planned->mark = list_make1(makeBoolConst(true, false));
	planned->columns.transforms = lappend(planned->columns.transforms, planned->mark);
	planned->plan.dedup.marks = true;
}
