/*-------------------------------------------------------------------------
 *
 * row/object.c
 *	  Records that are objects of JSON: the values of their keys as fields.
 *
 *	 record ──► core's parser ──► for each key its field ──► text
 *
 * A value that is an object or an array stays JSON, and so does any value of a
 * column that takes JSON.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "errors/context.h"
#include "errors/first_error.h"
#include "errors/reject_file.h"
#include "row/object.h"

/* A byte order mark, which a file may begin with */
#define FC_OBJECT_MARK	"\xef\xbb\xbf"

#define FC_OBJECT_HINT \
	"A record is an object on a line of its own: jq -c . FILE makes such lines, and jq -c '.[]' FILE those of an array."

typedef struct FcKeyName
{
	const char *name;
	size_t		len;
	int			next;			/* the field of the key that came after it */
} FcKeyName;

struct FcObjects
{
	int			n;
	FcKeyName  *keys;			/* of the fields, and what comes first */
	FcColumn   *columns;
	bool		others;			/* keys that are no fields are left out */
	JsonLexContext *lex;
	JsonLexContext *string;		/* for strings with escapes */
	JsonSemAction actions;

	/* the record that is being cut */
	FcField    *fields;
	uint32	   *class;			/* of what may be wrong with it */
	int			last;			/* the field of the last key; n: none yet */
	int			number;			/* of the key at hand; -1: there is none */
	const char *start;			/* of its value */
};

/* The number of the field of this key; or -1 */
static int
fc_object_find(FcObjects *objects, const char *key, size_t len)
{
	int			number = objects->keys[objects->last].next;

	/* most often keys have the order of the record before, or some lack */
	for (int i = 0; i < objects->n; i++, number++)
	{
		if (number >= objects->n)
			number = 0;
		if (objects->keys[number].len != len || memcmp(objects->keys[number].name, key, len) != 0)
			continue;
		objects->keys[objects->last].next = number;
		return objects->last = number;
	}
	return -1;
}

/* Error context callback: how lines of JSON are made */
static void
fc_object_hint(void *arg)
{
	if (fc_error_wants_hint("invalid input syntax for type"))
		errhint(FC_OBJECT_HINT);
}

/* Throws core's error, if there is one */
static void
fc_object_check(JsonLexContext *lex, JsonParseErrorType error)
{
	ErrorContextCallback callback;

	if (error == JSON_SUCCESS)
		return;
	fc_error_context_push(&callback, fc_object_hint, NULL);
	fc_json_throw(error, lex);
}

/* Makes a lexer read these bytes */
static void
fc_object_point(JsonLexContext *lex, const char *bytes, size_t len)
{
	lex->input = lex->line_start = lex->token_terminator = unconstify(char *, bytes);
	lex->input_length = len;
	lex->line_number = 1;
	lex->lex_level = 0;
}

/*
 * Takes the quotes off a string, and the escapes, if there are any: then the
 * text is in the lexer for such strings, up to the next one
 */
static void
fc_object_unquote(FcObjects *objects, const char **string, size_t *len)
{
	JsonLexContext *lex = objects->string;

	if (memchr(*string, '\\', *len) == NULL)
	{
		(*string)++;
		*len -= 2;
		return;
	}
	fc_object_point(lex, *string, *len);
	fc_object_check(lex, json_lex(lex));
	*string = lex->strval->data;
	*len = lex->strval->len;
}

/*
 * Called by core's parser before the value of a key.  The key is what ends
 * before the colon; a quote in it has a backslash before it.
 */
static FcJsonResult
fc_object_key(void *state, char *nothing, bool null)
{
	FcObjects  *objects = state;
	const char *end = objects->lex->prev_token_terminator;
	const char *key;
	size_t		len;
	int			number;

	CHECK_FOR_INTERRUPTS();
	if (objects->lex->lex_level > 1)
		return FC_JSON_SUCCESS;
	while (end[-1] != '"')
		end--;
	for (key = end - 2; *key != '"' || key[-1] == '\\'; key--)
		;
	len = end - key;
	fc_object_unquote(objects, &key, &len);
	objects->number = number = fc_object_find(objects, key, len);
	objects->start = objects->lex->token_start;
	if (number < 0 ? objects->others : objects->fields[number].data == NULL)
		return FC_JSON_SUCCESS;
	*objects->class = FC_CLASS_EXTRA_COLUMNS;
	fc_format_error(number < 0 ? errmsg("key \"%s\" is not a column of the load", fc_error_clip(key, len)) :
					errmsg("key \"%s\" appears more than once", fc_error_clip(key, len)),
					number < 0 ? errhint("If such keys are to be left out, add ignore_extra_columns.") : 0);
}

/* ... after it */
static FcJsonResult
fc_object_value(void *state, char *nothing, bool null)
{
	FcObjects  *objects = state;
	const char *start = objects->start;
	size_t		len = objects->lex->prev_token_terminator - start;

	CHECK_FOR_INTERRUPTS();
	if (objects->lex->lex_level > 1 || objects->number < 0)
		return FC_JSON_SUCCESS;
	Assert(objects->number >= 0 && objects->number < objects->n);
	if (*start == '"' && !objects->columns[objects->number].json)
		fc_object_unquote(objects, &start, &len);
	objects->fields[objects->number] = (FcField) {.data = pnstrdup(start, len),.len = len,.null = null};
	return FC_JSON_SUCCESS;
}

/* Makes core's lexer ready to read the record; false if that is no object */
static bool
fc_object_begin(FcObjects *objects, const char *rec, size_t len)
{
	size_t		mark = strlen(FC_OBJECT_MARK);
	size_t		at = len >= mark && memcmp(rec, FC_OBJECT_MARK, mark) == 0 ? mark : 0;

	objects->last = objects->n;
	while (at < len && (rec[at] == ' ' || rec[at] == '\t' || rec[at] == '\r'))
		at++;
	fc_object_point(objects->lex, rec + at, len - at);
	return at < len && rec[at] == '{';
}

void
fc_object_cut(FcObjects *objects, const char *rec, size_t len, FcField *fields, uint32 *class)
{
	objects->fields = fields;
	objects->class = class;
	*class = FC_CLASS_MISSING_COLUMNS;
	for (int i = 0; i < objects->n; i++)
		fields[i].data = NULL;
	if (!fc_object_begin(objects, rec, len))
		fc_throw(ERRCODE_INVALID_TEXT_REPRESENTATION, errmsg("record is not an object of JSON"),
				 errhint(FC_OBJECT_HINT));
	fc_object_check(objects->lex, pg_parse_json(objects->lex, &objects->actions));
	for (int i = 0; i < objects->n; i++)
	{
		bool		marker = objects->columns[i].def != NULL;

		if (fields[i].data == NULL)
			fields[i] = (FcField) {.data = fc_column_nothing,.null = !marker,.marker = marker};
	}
}

bool
fc_object_field(FcObjects *objects, const char *rec, size_t len, int wanted, FcField *field)
{
	JsonLexContext *lex = objects->lex;
	const FcKeyName *key = &objects->keys[wanted];
	const char *start = NULL;
	int			level = 0;
	bool		found = false;

	if (!fc_object_begin(objects, rec, len))
		return false;
	while (!found && json_lex(lex) == JSON_SUCCESS && lex->token_type != JSON_TOKEN_END)
	{
		CHECK_FOR_INTERRUPTS();
		level += lex->token_type == JSON_TOKEN_OBJECT_START || lex->token_type == JSON_TOKEN_ARRAY_START;
		level -= lex->token_type == JSON_TOKEN_OBJECT_END || lex->token_type == JSON_TOKEN_ARRAY_END;
		found = lex->token_type == JSON_TOKEN_COLON && level == 1 && start != NULL &&
			lex->prev_token_terminator - start == key->len + 2 && memcmp(start + 1, key->name, key->len) == 0;
		start = lex->token_type == JSON_TOKEN_STRING ? lex->token_start : NULL;
	}
	if (!found || json_lex(lex) != JSON_SUCCESS ||
		(lex->token_type != JSON_TOKEN_STRING && lex->token_type != JSON_TOKEN_NUMBER))
		return false;
	start = lex->token_start;
	len = lex->token_terminator - start;
	if (memchr(start, '\\', len) != NULL)
		return false;
	if (lex->token_type == JSON_TOKEN_STRING)
		fc_object_unquote(objects, &start, &len);
	*field = (FcField) {.data = pnstrdup(start, len),.len = len};
	return true;
}

FcObjects *
fc_objects_begin(const FcDialect *dialect, const List *names, FcColumn *columns, int n)
{
	FcObjects  *objects = palloc0(sizeof(FcObjects));

	objects->n = n;
	objects->columns = columns;
	objects->others = dialect->others;
	objects->keys = palloc0(sizeof(FcKeyName) * (n + 1));
	foreach_node(String, name, names)
		objects->keys[foreach_current_index(name)] = (FcKeyName) {strVal(name), strlen(strVal(name)), foreach_current_index(name) + 1};
	objects->lex = fc_json_lex(pstrdup(""), 0, false);
	objects->string = fc_json_lex(pstrdup(""), 0, true);
	objects->actions = (JsonSemAction) {
		.semstate = objects,.object_field_start = fc_object_key,.object_field_end = fc_object_value
	};
	return objects;
}
