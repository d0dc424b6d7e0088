/*
 * convert_text.c
 *	  boolean, text, varchar, char, uuid and bytea.
 *
 * o, t, v, c, u, b in this order; the modifier is the n of varchar(n), char(n)
 */
#include "convert_shim.h"

#include "mb/pg_wchar.h"

static bool
is_value(Datum value, const char *bytes, size_t len)
{
	char	   *result = DatumGetPointer(value);

	return VARSIZE(result) == len + VARHDRSZ &&
		memcmp(VARDATA(result), bytes, len) == 0;
}

static void
check_bool(Datum value, const char *s)
{
	EXPECT(strcmp(s, DatumGetBool(value) ? "true" : "false") == 0 ||
		   strcmp(s, DatumGetBool(value) ? "t" : "f") == 0 ||
		   strcmp(s, DatumGetBool(value) ? "1" : "0") == 0);
}

static void
check_bpchar(Datum value, const char *s, size_t len, int max)
{
	char	   *result = DatumGetPointer(value);
	size_t		size = VARSIZE(result) - VARHDRSZ;

	EXPECT(size >= len && memcmp(VARDATA(result), s, len) == 0);
	for (size_t i = len; i < size; i++)
		EXPECT(VARDATA(result)[i] == ' ');
	EXPECT(max < 0 ? size == len :
		   pg_mbstrlen_with_len(VARDATA(result), size) == max);
}

static void
check_uuid(Datum value, const char *s, size_t len)
{
	unsigned	byte;
	int			used;

	EXPECT(len == 36);
	for (int i = 0; i < 16; i++)
	{
		if (*s == '-')
			s++;
		EXPECT(isxdigit((unsigned char) s[0]) && sscanf(s, "%2x%n", &byte, &used) == 1);
		EXPECT(used == 2 && ((uint8 *) DatumGetPointer(value))[i] == byte);
		s += 2;
	}
	EXPECT(*s == '\0');
}

static void
check_bytea(Datum value, const char *s, size_t len)
{
	char	   *bytes = malloc(len + 1);
	size_t		n = 0;
	bool		hex = s[0] == '\\' && s[1] == 'x';
	unsigned	byte;
	int			used;

	for (const char *p = hex ? s + 2 : s; *p;)
	{
		used = 1;
		byte = (unsigned char) *p;
		if (hex)
			EXPECT(sscanf(p, "%2x%n", &byte, &used) == 1 && used == 2 && *p != ' ');
		else if (p[0] == '\\' && p[1] == '\\')
			used = 2;
		else if (p[0] == '\\')
			EXPECT(sscanf(p + 1, "%3o%n", &byte, &used) == 1 && used++ == 3 &&
				   byte < 256);
		bytes[n++] = byte;
		p += used;
	}
	EXPECT(is_value(value, bytes, n));
	free(bytes);
}

bool
one_string(char type, int modifier, char *s, size_t len)
{
	int			max = modifier >= 0 && modifier <= 9 ? modifier : -1;
	FcConverter converter = {.typmod = max < 0 ? -1 : max + VARHDRSZ};
	FcConvert	function = type == 'o' ? fc_type_bool.text :
		type == 'v' ? fc_type_varchar.text :
		type == 'c' ? fc_type_bpchar.text :
		type == 'u' ? fc_type_uuid.text :
		type == 'b' ? fc_type_bytea.text : fc_type_text.text;
	Datum		value;

	if (!function(&converter, s, len, &value))
		return false;
	if (type == 'o')
		check_bool(value, s);
	else if (type == 'c')
		check_bpchar(value, s, len, max);
	else if (type == 'u')
		check_uuid(value, s, len);
	else if (type == 'b')
		check_bytea(value, s, len);
	else
		EXPECT(is_value(value, s, len));
	if (type == 'v' && max >= 0)
		EXPECT(pg_mbstrlen_with_len(s, len) <= max);
	return true;
}
