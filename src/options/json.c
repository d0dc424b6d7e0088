/*-------------------------------------------------------------------------
 *
 * options/json.c
 *	  Options in a JSON object.
 *
 *	 {"header": 2, "columns": ["ts", "v"]} ──► DefElem list ──► options.c
 *
 * A key is an option's name, in upper or lower case.  A value has the JSON
 * type of the option's kind; a text may be a number, true or false as well, as
 * in COPY's header.  The list is in the caller's memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "parser/scansup.h"

#include "options/options.h"

#define FC_JSON(type) (1 << jbv##type)

/* The JSON types that each kind of option takes, and their name in errors */
static const struct
{
	uint32		types;
	const char *name;
}			wanted[] = {
	[FC_KIND_TEXT] = {FC_JSON(String) | FC_JSON(Numeric) | FC_JSON(Bool), "a string"},
	[FC_KIND_FLAG] = {FC_JSON(Bool), "true or false"},
	[FC_KIND_LIST] = {FC_JSON(String) | FC_JSON(Binary), "a string or an array of strings"},
	[FC_KIND_TABLE] = {FC_JSON(String), "a string"},
	[FC_KIND_INTEGER] = {FC_JSON(Numeric), "an integer"},
	[FC_KIND_JSON] = {FC_JSON(String) | FC_JSON(Numeric) | FC_JSON(Bool) | FC_JSON(Binary),
	"a string, an array or an object"}
};

Jsonb *
fc_json_read(const char *text, const char *begins)
{
	if (strspn(text + strspn(text, " \t\r\n"), begins) == 0)
		return NULL;
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
}

bool
fc_json_next(JsonbIterator **it, char **key, JsonbValue *value)
{
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(it, value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			*key = fc_json_text(value);
		else if (token == WJB_VALUE || token == WJB_ELEM)
			return true;
	}
	return false;
}

char *
fc_json_text(const JsonbValue *value)
{
	if (value->type == jbvString)
		return pnstrdup(value->val.string.val, value->val.string.len);
	if (value->type == jbvNumeric)
		return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
	return NULL;
}

/* Returns NULL for an object, and for an array with something but strings */
static Node *
fc_json_array(const char *key, JsonbContainer *array)
{
	List	   *list = NIL;

	if (!JsonContainerIsArray(array))
		return NULL;
	if (JsonContainerSize(array) == 0)
		fc_option_error(errmsg("option \"%s\" must not be empty", key));
	for (uint32 i = 0; i < JsonContainerSize(array); i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(array, i);

		if (value->type != jbvString)
			return NULL;
		list = lappend(list, makeString(fc_json_text(value)));
	}
	return (Node *) list;
}

/* Returns NULL if the option has values of another type */
static Node *
fc_json_value(const char *key, FcOptionKind kind, const JsonbValue *value)
{
	char	   *text = fc_json_text(value);

	if ((wanted[kind].types & (1 << value->type)) == 0)
		return NULL;
	switch (value->type)
	{
		case jbvString:
			return (Node *) makeString(text);
		case jbvBool:
			return (Node *) makeBoolean(value->val.boolean);
		case jbvNumeric:
			/* an integer has no fraction */
			if (kind != FC_KIND_TEXT && kind != FC_KIND_JSON && strchr(text, '.'))
				return NULL;
			return (Node *) makeFloat(text);
		default:
			if (kind == FC_KIND_JSON)
				return (Node *) makeString(JsonbToCString(NULL, value->val.binary.data,
														  value->val.binary.len));
			return fc_json_array(key, value->val.binary.data);
	}
}

List *
fc_json_options(Jsonb *json, int from)
{
	List	   *list = NIL;
	JsonbIterator *members = JsonbIteratorInit(&json->root);
	JsonbValue	value;
	char	   *key = NULL;

	if (!JB_ROOT_IS_OBJECT(json))
		fc_option_error(errmsg("argument \"options\" must be a JSON object"));
	while (fc_json_next(&members, &key, &value))
	{
		char	   *name = downcase_identifier(key, strlen(key), false, false);
		const FcOption *option = fc_option_find(name, from);
		Node	   *node;

		if (option == NULL)
			fc_option_refuse(name, from, NULL, -1);
		/* as if it were not given */
		if (value.type == jbvNull)
			continue;
		node = fc_json_value(name, option->kind, &value);
		if (node == NULL)
			fc_option_error(errmsg("option \"%s\" must be %s", name, wanted[option->kind].name));
		list = lappend(list, makeDefElem(name, node, -1));
	}
	return list;
}
