/*-------------------------------------------------------------------------
 *
 * sniff/objects.c
 *	  Lines of JSON, written anew as records whose header has the keys.
 *
 *	 lines ──► keys of all objects ──► header; strings quoted, null nothing
 *
 * So the steps after this one see a table.  What CSV does not tell is counted
 * by key: whether values were objects or arrays.  All is allocated in the
 * caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/heap.h"
#include "mb/pg_wchar.h"

#include "compat/compat.h"
#include "sniff/steps.h"

/* Of so many lines one may be no object */
#define FC_OBJECTS_FEW	5

typedef struct FcObjectsSeen
{
	FcSniffSample *sample;
	JsonSemAction actions;
	JsonLexContext *lex;
	List	   *all;			/* of FcObjectKey: all, and */
	List	   *usable;			/* those that can name a column */
	MemoryContext row;			/* of one object's values */
	uint64		lines;			/* objects, */
	uint64		odd;			/* and lines that are none */

	/* the object at hand */
	bool		bad;			/* it is none */
	FcObjectKey *key;			/* of the value at hand, or NULL */
	const char *start;			/* of that */
} FcObjectsSeen;

/* Has a table room for a column of this name? */
static bool
fc_objects_is_name(const char *name)
{
	return name[0] != '\0' && strlen(name) < NAMEDATALEN && !SystemAttributeByName(name);
}

/* Finds the key, or adds it; often it is the one after that before */
static FcObjectKey *
fc_objects_find(FcObjectsSeen *objects, const char *name)
{
	int			n = list_length(objects->all);
	int			at = objects->key ? objects->key->number : -1;
	FcObjectKey *key;

	for (int i = 0; i < n; i++)
	{
		key = list_nth(objects->all, (at + 1 + i) % n);
		if (strcmp(key->name, name) == 0)
			return key;
	}
	key = MemoryContextAllocZero(GetMemoryChunkContext(objects), sizeof(FcObjectKey));
	key->name = MemoryContextStrdup(GetMemoryChunkContext(objects), name);
	key->number = n;
	objects->all = lappend(objects->all, key);
	if (fc_objects_is_name(name))
		objects->usable = lappend(objects->usable, key);
	return key;
}

/* Called by core's parser before the value of a key */
static FcJsonResult
fc_objects_key(void *state, char *name, bool null)
{
	FcObjectsSeen  *objects = state;
	MemoryContext old;

	if (objects->lex->lex_level > 1)
		return FC_JSON_SUCCESS;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(objects));
	objects->key = fc_objects_find(objects, name);
	MemoryContextSwitchTo(old);
	objects->key->value.s = NULL;
	objects->start = objects->lex->token_start;
	return FC_JSON_SUCCESS;
}

/* ... before an array; a line of one is no object */
static FcJsonResult
fc_objects_array(void *state)
{
	FcObjectsSeen  *objects = state;

	objects->bad |= objects->lex->lex_level == 0;
	return FC_JSON_SUCCESS;
}

/* ... with a value that is neither an object nor an array */
static FcJsonResult
fc_objects_scalar(void *state, char *token, JsonTokenType type)
{
	FcObjectsSeen  *objects = state;

	objects->bad |= objects->lex->lex_level == 0;
	if (objects->lex->lex_level != 1 || objects->key == NULL)
		return FC_JSON_SUCCESS;
	objects->key->value = (FcValueText) {token, strlen(token)};
	objects->key->kind = type == JSON_TOKEN_NULL ? FC_OBJECT_NULL :
		type == JSON_TOKEN_STRING ? FC_OBJECT_STRING : FC_OBJECT_PLAIN;
	return FC_JSON_SUCCESS;
}

/* ... after a value */
static FcJsonResult
fc_objects_value(void *state, char *name, bool null)
{
	FcObjectsSeen  *objects = state;
	FcObjectKey *key = objects->key;

	if (objects->lex->lex_level > 1 || key == NULL || key->value.s != NULL)
		return FC_JSON_SUCCESS;
	key->value = (FcValueText) {objects->start, objects->lex->prev_token_terminator - objects->start};
	key->kind = FC_OBJECT_NESTED;
	return FC_JSON_SUCCESS;
}

/* Reads a line; false if it is no object.  Outside of UTF8 core may throw */
static bool
fc_objects_read(FcObjectsSeen *objects, const char *line, size_t len)
{
	char	   *copy;
	bool		good;

	foreach_ptr(FcObjectKey, key, objects->all)
		key->kind = FC_OBJECT_NULL;
	objects->key = NULL;
	objects->bad = false;
	MemoryContextReset(objects->row);
	MemoryContextSwitchTo(objects->row);
	copy = pnstrdup(line, len);
	good = pg_verify_mbstr(GetDatabaseEncoding(), copy, (int) len, true) && !fc_value_is_deep(copy, len) &&
		(GetDatabaseEncoding() == PG_UTF8 || !strstr(copy, "\\u"));
	if (good)
	{
		objects->lex = fc_json_lex(copy, (int) len, true);
		good = pg_parse_json(objects->lex, &objects->actions) == JSON_SUCCESS && !objects->bad;
	}
	MemoryContextSwitchTo(GetMemoryChunkContext(objects));
	return good;
}

/*
 * The next line of a place, from *at on, without blanks around it; NULL after
 * the last whole one
 */
static const char *
fc_objects_line(const FcSniffPlace *place, size_t *at, size_t *len)
{
	const char *end = place->data + place->len;

	/* one that begins in a line leaves that out */
	if (*at == 0 && !place->start)
	{
		const char *eol = memchr(place->data, '\n', place->len);

		*at = eol ? eol + 1 - place->data : place->len;
	}
	if (*at == 0 && place->len >= 3 && memcmp(place->data, "\xEF\xBB\xBF", 3) == 0)
		*at = 3;
	while (*at < place->len)
	{
		const char *line = place->data + *at;
		const char *eol = memchr(line, '\n', end - line);

		if (eol == NULL && !place->end)
			return NULL;
		*len = (eol ? eol : end) - line;
		*at += *len + 1;
		while (*len > 0 && isspace((unsigned char) line[*len - 1]))
			(*len)--;
		while (*len > 0 && isspace((unsigned char) *line))
			line++, (*len)--;
		if (*len > 0)
			return line;
	}
	return NULL;
}

/* Collects the keys of all lines */
static void
fc_objects_collect(FcObjectsSeen *objects)
{
	for (int i = 0; i < objects->sample->nplaces; i++)
	{
		size_t		at = 0;
		size_t		len;
		const char *line;

		while ((line = fc_objects_line(&objects->sample->places[i], &at, &len)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			if (!fc_objects_read(objects, line, len))
			{
				objects->odd++;
				continue;
			}
			objects->lines++;
			foreach_ptr(FcObjectKey, key, objects->all)
				key->nested += key->kind == FC_OBJECT_NESTED;
		}
	}
}

/* Appends a text in quotes */
static void
fc_objects_quote(StringInfo out, const char *s, size_t len)
{
	appendStringInfoChar(out, '"');
	for (size_t i = 0; i < len; i++)
	{
		if (s[i] == '"')
			appendStringInfoChar(out, '"');
		appendStringInfoChar(out, s[i]);
	}
	appendStringInfoChar(out, '"');
}

/* Appends a record: the values of the object at hand, or the names of keys */
static void
fc_objects_write(const FcObjectsSeen *objects, StringInfo out, bool header)
{
	foreach_ptr(const FcObjectKey, key, objects->usable)
	{
		if (foreach_current_index(key) > 0)
			appendStringInfoChar(out, ',');
		if (header)
			fc_objects_quote(out, key->name, strlen(key->name));
		else if (key->kind == FC_OBJECT_PLAIN)
			appendBinaryStringInfo(out, key->value.s, (int) key->value.len);
		else if (key->kind != FC_OBJECT_NULL)
			fc_objects_quote(out, key->value.s, key->value.len);
	}
	appendStringInfoChar(out, '\n');
}

/* Writes a place anew; one that is no start begins after a line's end */
static void
fc_objects_rewrite(FcObjectsSeen *objects, FcSniffPlace *place)
{
	StringInfoData out;
	size_t		at = 0;
	size_t		len;
	const char *line;

	initStringInfo(&out);
	if (place->start)
		fc_objects_write(objects, &out, true);
	else
		appendStringInfoChar(&out, '\n');
	while ((line = fc_objects_line(place, &at, &len)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_objects_read(objects, line, len))
			fc_objects_write(objects, &out, false);
	}
	place->data = out.data;
	place->len = out.len;
}

/* Is each line an object, or nearly each, as far as the caller has not said? */
static bool
fc_objects_are(const FcObjectsSeen *objects, const FcOptions *options)
{
	if (options->json && objects->usable == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("no line of %s \"%s\" is an object of JSON", objects->sample->word,
						strVal(linitial(objects->sample->names))),
				 errhint("jq -c . FILE makes such lines, and jq -c '.[]' FILE those of an array.")));
	return objects->usable != NIL && (options->json || objects->odd <= objects->lines / FC_OBJECTS_FEW);
}

void
fc_objects_look(FcSniffSample *sample, const FcOptions *options)
{
	FcObjectsSeen  *objects = palloc0(sizeof(FcObjectsSeen));
	size_t		at = 0;
	size_t		len;
	const char *line = fc_objects_line(&sample->places[0], &at, &len);

	if (!options->json && (line == NULL || *line != '{' || options->given[FC_OPTION_delimiter] ||
						   options->given[FC_OPTION_quote] || options->given[FC_OPTION_format] ||
						   options->given[FC_OPTION_columns] || options->given[FC_OPTION_header]))
		return;
	objects->sample = sample;
	objects->row = fc_context_memory(CurrentMemoryContext, "object");
	objects->actions = (JsonSemAction) {
		.semstate = objects,.object_field_start = fc_objects_key,.object_field_end = fc_objects_value,
		.array_start = fc_objects_array,.scalar = fc_objects_scalar
	};
	fc_objects_collect(objects);
	if (!fc_objects_are(objects, options))
		return;
	for (int i = 0; i < sample->nplaces; i++)
		fc_objects_rewrite(objects, &sample->places[i]);
	sample->keys = objects->usable;
	sample->unnamed = list_length(objects->all) - list_length(objects->usable);
	sample->odd_lines = objects->odd;
	fc_sample_make_room(sample);
}
