/*-------------------------------------------------------------------------
 *
 * convert/array.c
 *	  Arrays of one dimension, of types that have a native conversion.
 *
 *	field ──► items ──► the element's converter ──► core makes the array
 *
 * Declined are bounds, further braces, backslashes, white space around an
 * item, and more than FC_ARRAY_ITEMS items.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/array.h"

#include "convert/convert.h"
#include "convert/types.h"

/* Core's array_isspace() */
static inline bool
fc_array_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * The item that begins at s, without its quotes.  Returns the byte after it,
 * which is before "end"; NULL: it is none that is taken here.
 */
static char *
fc_array_item(char *s, const char *end, char **item, size_t *len, bool *null)
{
	bool		quoted = (*s == '"');
	char	   *p = s += quoted;

	*null = false;
	while (p < end && *p != '"' && *p != '\\' &&
		   (quoted || (*p != ',' && *p != '{' && *p != '}')))
		p++;
	*item = s;
	*len = p - s;
	if (p == end || *p == '\\')
		return NULL;
	if (quoted)
		return p + 1 < end ? p + 1 : NULL;
	if (*p == '"' || *p == '{' || *len == 0 || fc_array_is_blank(*s) || fc_array_is_blank(p[-1]))
		return NULL;
	*null = Array_nulls && *len == 4 && pg_strncasecmp(s, "NULL", 4) == 0;
	return p;
}

/* The items of s[0..len), which are two bytes at least; -1: declined */
static int
fc_array_items(FcConvertArray *array, char *s, size_t len)
{
	const char *end = s + len;
	int			n = 0;

	do
	{
		char	   *item;
		size_t		itemlen;

		s = fc_array_item(s + 1, end, &item, &itemlen, &array->nulls[n]);
		if (s == NULL || (*s != ',' && *s != '}') ||
			(!array->nulls[n] &&
			 !array->element.function(&array->element, item, itemlen, &array->values[n])))
			return -1;
		n++;
	} while (*s == ',' && n < FC_ARRAY_ITEMS && s + 1 < end);
	return *s == '}' && s + 1 == end ? n : -1;
}

bool
fc_convert_array(FcConverter *converter, char *s, size_t len, Datum *value)
{
	FcConvertArray *array = converter->array;
	ArrayType  *made;
	int			first = 1;
	int			n;

	if (len < 2 || *s != '{')
		return false;
	if (len == 2 && s[1] == '}')
	{
		*value = PointerGetDatum(construct_empty_array(array->type));
		return true;
	}
	array->room.next = array->memory;
	array->room.readable = converter->room ? converter->room->readable : s + len;
	n = fc_array_items(array, s, len);
	if (n < 0)
		return false;
	made = construct_md_array(array->values, array->nulls, 1, &n, &first, array->type,
							  array->typlen, array->typbyval, array->typalign);
	*value = PointerGetDatum(made);
	return true;
}
