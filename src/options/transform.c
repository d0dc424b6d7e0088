/*-------------------------------------------------------------------------
 *
 * options/transform.c
 *	  What the caller says of values that expressions make.
 *
 *	 'amount = replace(amount, '','', ''.'')' ──► the grammar of UPDATE ... SET
 *	 '{"amount": "replace(...)"}'			 ──► the same, one by one
 *	delete_where: a condition ──► the same, of a column without a name
 *			──► columns, and expressions as the grammar makes them
 *
 * The caller's text is no part of a statement that is run: the grammar alone
 * reads it, and only expressions are taken from what it makes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "parser/parser.h"

#include "options/columns.h"
#include "row/column.h"
#include "row/origin.h"

/* What stands before the caller's text when the grammar reads it */
#define FC_TRANSFORM_LIST	"UPDATE pg_class SET "
#define FC_TRANSFORM_ONE	"UPDATE pg_class SET c = "

static void
fc_transform_refuse_form(const char *column)
{
	if (column && *column == '\0')
		fc_option_error(errmsg("delete_where must be one condition"),
						errhint("Join conditions by AND or OR."));
	fc_option_error(errmsg("transform must name columns and expressions"),
					errhint("Write it like $$amount = replace(amount, ',', '.'), name = upper(name)$$, or as an object: '{\"name\": \"upper(name)\"}'."));
}

/* Is it an UPDATE that has nothing but what it sets? */
static bool
fc_transform_sets_only(List *trees)
{
	UpdateStmt *update;

	if (list_length(trees) != 1 || !IsA(linitial_node(RawStmt, trees)->stmt, UpdateStmt))
		return false;
	update = copyObject(castNode(UpdateStmt, linitial_node(RawStmt, trees)->stmt));
	update->targetList = NIL;
	update->relation = NULL;
	return equal(update, makeNode(UpdateStmt));
}

/*
 * Reads a list of columns and expressions or, if "column" is not NULL, the
 * expression of that one
 */
static void
fc_transform_read(FcOptions *options, char *column, const char *text)
{
	const char *before = column ? FC_TRANSFORM_ONE : FC_TRANSFORM_LIST;
	char	   *statement = psprintf("%s%s", before, text);
	FcWithin	within = {text, strlen(before)};
	ErrorContextCallback callback;
	List	   *trees;
	List	   *targets;

	fc_error_context_push(&callback, fc_error_within, &within);
	trees = raw_parser(fc_origin_grammar(statement), RAW_PARSE_DEFAULT);
	fc_error_context_pop();
	if (!fc_transform_sets_only(trees))
		fc_transform_refuse_form(column);
	targets = castNode(UpdateStmt, linitial_node(RawStmt, trees)->stmt)->targetList;
	if (column && list_length(targets) != 1)
		fc_transform_refuse_form(column);
	foreach_node(ResTarget, target, targets)
	{
		FcTransformOption *option = palloc(sizeof(FcTransformOption));

		if (target->indirection != NIL || IsA(target->val, MultiAssignRef))
			fc_transform_refuse_form(column);
		*option = (FcTransformOption) {
			column ? column : target->name, target->val, statement, within
		};
		if (fc_transform_option(options, option->column))
			fc_throw(ERRCODE_DUPLICATE_COLUMN, errmsg("column \"%s\" specified more than once", option->column));
		options->transforms = lappend(options->transforms, option);
	}
}

void
fc_options_transform(FcOptions *options)
{
	Jsonb	   *json;
	JsonbIterator *it;
	JsonbValue	value;
	char	   *column = NULL;

	if ((options->transform || options->delete_where) && fc_format_is_binary(&options->format))
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("cannot specify %s in BINARY mode", options->transform ? "transform" : "delete_where"),
				 errhint("The binary format's values are no texts: leave it out."));
	/* it may name fields that are no columns, too */
	if (options->delete_where)
		fc_transform_read(options, "", options->delete_where);
	if (options->transform == NULL)
		return;
	/* an object of columns and expressions, or an array of texts with both */
	json = fc_json_read(options->transform, "{[");
	if (json == NULL)
	{
		fc_transform_read(options, NULL, options->transform);
		return;
	}
	it = JsonbIteratorInit(&json->root);
	while (fc_json_next(&it, &column, &value))
	{
		if (value.type != jbvString || (column && *column == '\0'))
			fc_transform_refuse_form(NULL);
		fc_transform_read(options, column, fc_json_text(&value));
	}
}

/* A field that expressions may name */
typedef struct FcTransformField
{
	const char *name;
	int			number;			/* from 0 */
	const char *statement;		/* with the expression */
} FcTransformField;

/* Does the expression name the field?  A name may differ in case. */
static bool
fc_transform_names(Node *node, void *context)
{
	const FcTransformField *field = context;

	if (node == NULL)
		return false;
	if (IsA(node, ParamRef))
		return ((ParamRef *) node)->number == field->number + 1;
	if (IsA(node, ColumnRef))
	{
		List	   *names = ((ColumnRef *) node)->fields;

		return list_length(names) == 1 && IsA(linitial(names), String) &&
			field->statement[((ColumnRef *) node)->location] != '$' &&
			pg_strcasecmp(strVal(linitial(names)), field->name) == 0;
	}
	return raw_expression_tree_walker(node, fc_transform_names, context);
}

bool
fc_transform_uses(const FcOptions *options, const char *name, int number)
{
	foreach_ptr(FcTransformOption, option, options->transforms)
	{
		FcTransformField field = {name, number, option->statement};

		if (fc_transform_names(option->expr, &field))
			return true;
	}
	return false;
}

const FcTransformOption *
fc_transform_option(const FcOptions *options, const char *column)
{
	foreach_ptr(FcTransformOption, option, options->transforms)
		if (strcmp(option->column, column) == 0)
			return option;
	return NULL;
}

bool
fc_transform_makes(const FcOptions *options, const char *column)
{
	const FcTransformOption *option = fc_transform_option(options, column);

	return option && !IsA(option->expr, SetToDefault);
}

static AttrNumber
fc_transform_attnum(Relation rel, const char *column)
{
	AttrNumber	attnum = fc_column_named(rel, column);

	if (TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated)
		fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("column \"%s\" is a generated column", column),
				 errdetail("Its value is computed of the row, whatever transform says."));
	return attnum;
}

List *
fc_transform_fields(Relation rel, const FcOptions *options, const List *fields)
{
	List	   *all = list_copy(fields);
	ListCell   *field;

	foreach_ptr(FcTransformOption, option, options->transforms)
	{
		AttrNumber	attnum = *option->column == '\0' ? 0 : fc_transform_attnum(rel, option->column);

		if (attnum == 0)
			continue;
		if (!IsA(option->expr, SetToDefault))
		{
			all = list_append_unique_int(all, attnum);
			continue;
		}
		foreach(field, all)
			if (lfirst_int(field) == attnum)
				lfirst_int(field) = 0;
	}
	return all;
}
