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

#include "compat/compat.h"
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
	JsonLexContext *lexers[2];	/* for records with escapes, and without */
	JsonSemAction actions;

	/* the record that is being cut */
	JsonLexContext *lex;
	FcField    *fields;
	uint32		class;			/* of what may be wrong with it */
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

/*
 * Called by core's parser before the value of a key, which it gives if the
 * record has escapes; else the key is what the quotes before the colon hold
 */
static FcJsonResult
fc_object_key(void *state, char *key, bool null)
{
	FcObjects  *objects = state;
	const char *start = key;
	const char *end = objects->lex->prev_token_terminator;
	int			number;

	CHECK_FOR_INTERRUPTS();
	if (objects->lex->lex_level > 1)
		return FC_JSON_SUCCESS;
	if (key == NULL)
	{
		while (*--end != '"')
			;
		for (start = end; start[-1] != '"'; start--)
			;
	}
	else
		end = start + strlen(start);
	objects->number = number = fc_object_find(objects, start, end - start);
	objects->start = objects->lex->token_start;
	if (number < 0 ? objects->others : objects->fields[number].data == NULL)
		return FC_JSON_SUCCESS;
	objects->class = FC_CLASS_EXTRA_COLUMNS;
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 number < 0 ? errmsg("key \"%s\" is not a column of the load", fc_error_clip(start, end - start)) :
			 errmsg("key \"%s\" appears more than once", fc_error_clip(start, end - start)),
			 number < 0 ? errhint("If such keys are to be left out, add ignore_extra_columns.") : 0));
}

static void
fc_object_refuse(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("record is not an object of JSON"),
			 errhint(FC_OBJECT_HINT)));
}

/* ... before the first element of an array */
static FcJsonResult
fc_object_array(void *state)
{
	FcObjects  *objects = state;

	if (objects->lex->lex_level == 0)
		fc_object_refuse();
	return FC_JSON_SUCCESS;
}

/*
 * ... with a value that is neither an object nor an array; NULL: a string,
 * which has no escapes
 */
static FcJsonResult
fc_object_scalar(void *state, char *token, JsonTokenType type)
{
	FcObjects  *objects = state;
	int			number = objects->number;

	CHECK_FOR_INTERRUPTS();
	if (objects->lex->lex_level == 0)
		fc_object_refuse();
	if (token == NULL)
		return FC_JSON_SUCCESS;
	if (objects->lex->lex_level == 1 && number >= 0 && !objects->columns[number].json)
		objects->fields[number] = (FcField) {.data = token,.len = strlen(token),.null = type == JSON_TOKEN_NULL};
	else
		pfree(token);
	return FC_JSON_SUCCESS;
}

/* ... after a value */
static FcJsonResult
fc_object_value(void *state, char *key, bool null)
{
	FcObjects  *objects = state;
	const char *start = objects->start;
	size_t		len;

	if (key)
		pfree(key);
	if (objects->lex->lex_level > 1 || objects->number < 0 || objects->fields[objects->number].data != NULL)
		return FC_JSON_SUCCESS;
	len = objects->lex->prev_token_terminator - start;
	if (*start == '"' && !objects->columns[objects->number].json)
	{
		start++;
		len -= 2;
	}
	objects->fields[objects->number] = (FcField) {.data = pnstrdup(start, len),.len = len,.null = null};
	return FC_JSON_SUCCESS;
}

/* Error context callback: how lines of JSON are made */
static void
fc_object_hint(void *arg)
{
	if (fc_error_wants_hint("invalid input syntax for type"))
		errhint(FC_OBJECT_HINT);
}

/* Makes core's parser go through the record */
static void
fc_object_parse(FcObjects *objects, char *rec, size_t len)
{
	JsonLexContext *lex = objects->lex = objects->lexers[memchr(rec, '\\', len) == NULL];
	ErrorContextCallback callback;
	JsonParseErrorType error;

	if (len > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("object of JSON is too long"),
				 errdetail("It has %zu bytes, and may have %zu.", len, (size_t) MaxAllocSize)));
	lex->input = lex->line_start = lex->token_terminator = rec;
	lex->input_length = len;
	lex->line_number = 1;
	lex->lex_level = 0;
	error = pg_parse_json(lex, &objects->actions);
	if (error == JSON_SUCCESS)
		return;
	fc_error_context_push(&callback, fc_object_hint, NULL);
	fc_json_throw(error, lex);
}

void
fc_object_cut(FcObjects *objects, char *rec, size_t len, FcField *fields)
{
	size_t		mark = strlen(FC_OBJECT_MARK);

	if (len < mark || memcmp(rec, FC_OBJECT_MARK, mark) != 0)
		mark = 0;
	for (int i = 0; i < objects->n; i++)
		fields[i].data = NULL;
	objects->fields = fields;
	objects->class = FC_CLASS_MISSING_COLUMNS;
	objects->last = objects->n;
	fc_object_parse(objects, rec + mark, len - mark);
	for (int i = 0; i < objects->n; i++)
	{
		bool		marker = objects->columns[i].def != NULL;

		if (fields[i].data == NULL)
			fields[i] = (FcField) {.data = fc_column_nothing,.null = !marker,.marker = marker};
	}
}

uint32
fc_object_class(const FcObjects *objects)
{
	return objects->class;
}

FcObjects *
fc_objects_begin(const FcDialect *dialect, const char *names, FcColumn *columns, int n)
{
	FcObjects  *objects = palloc0(sizeof(FcObjects));

	objects->n = n;
	objects->columns = columns;
	objects->others = dialect->others;
	objects->keys = palloc0(sizeof(FcKeyName) * (n + 1));
	for (int i = 0; i < n; names += objects->keys[i++].len + 1)
		objects->keys[i] = (FcKeyName) {names, strlen(names), i + 1};
	objects->lexers[0] = fc_json_lex(pstrdup(""), 0, true);
	objects->lexers[1] = fc_json_lex(pstrdup(""), 0, false);
	objects->actions = (JsonSemAction) {
		.semstate = objects,.object_field_start = fc_object_key,.object_field_end = fc_object_value,
		.array_start = fc_object_array,.scalar = fc_object_scalar
	};
	return objects;
}
