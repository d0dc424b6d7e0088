/*-------------------------------------------------------------------------
 *
 * fc_convert_text.c
 *	  boolean, text, varchar, char, uuid and bytea from text.
 *
 * Declined are: white space around a boolean, values too long for varchar(n)
 * and char(n) (what is beyond may be blanks), every form of a uuid but the one
 * it is printed in, and white space between the digits of a bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

#include "fc_convert_types.h"

/* Of a character: its value as a hexadecimal digit, or FC_NO_HEX */
#define FC_NO_HEX 0xFF

static inline unsigned
fc_hex_digit(char c)
{
	unsigned	digit = (unsigned char) c - '0';
	unsigned	letter = ((unsigned char) c | 0x20) - 'a';

	if (digit <= 9)
		return digit;
	return letter <= 5 ? letter + 10 : FC_NO_HEX;
}

/* Two digits at s; above 255 if one is none */
static inline unsigned
fc_hex_byte(const char *s)
{
	unsigned	high = fc_hex_digit(s[0]);
	unsigned	low = fc_hex_digit(s[1]);

	return (high | low) == FC_NO_HEX ? 256 : high << 4 | low;
}

bool
fc_convert_bool(FcConverter *converter, const char *s, size_t len,
				Datum *value)
{
	bool		result;

	if (!parse_bool_with_len(s, len, &result))
		return false;
	*value = BoolGetDatum(result);
	return true;
}

bool
fc_convert_text(FcConverter *converter, const char *s, size_t len,
				Datum *value)
{
	*value = PointerGetDatum(cstring_to_text_with_len(s, len));
	return true;
}

/* The n of varchar(n) and char(n), -1 if there is none */
static inline int
fc_max_characters(const FcConverter *converter)
{
	return converter->typmod < VARHDRSZ ? -1 : converter->typmod - VARHDRSZ;
}

bool
fc_convert_varchar(FcConverter *converter, const char *s, size_t len,
				   Datum *value)
{
	int			max = fc_max_characters(converter);

	/* bytes bound characters; only beyond must they be counted */
	if (max >= 0 && len > (size_t) max && pg_mbcharcliplen(s, len, max) != len)
		return false;
	return fc_convert_text(converter, s, len, value);
}

/* Bytes without a high bit are characters, in every server encoding */
static int
fc_count_characters(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (IS_HIGHBIT_SET(s[i]))
			return pg_mbstrlen_with_len(s, len);
	return len;
}

bool
fc_convert_bpchar(FcConverter *converter, const char *s, size_t len,
				  Datum *value)
{
	int			max = fc_max_characters(converter);
	int			pad = 0;
	char	   *result;

	if (max >= 0)
	{
		pad = max - fc_count_characters(s, len);
		if (pad < 0)
			return false;
	}
	result = palloc(VARHDRSZ + len + pad);
	SET_VARSIZE(result, VARHDRSZ + len + pad);
	memcpy(VARDATA(result), s, len);
	memset(VARDATA(result) + len, ' ', pad);
	*value = PointerGetDatum(result);
	return true;
}

/* "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11" */
bool
fc_convert_uuid(FcConverter *converter, const char *s, size_t len,
				Datum *value)
{
	pg_uuid_t	uuid;
	pg_uuid_t  *result;

	if (len != 2 * UUID_LEN + 4)
		return false;
	for (int i = 0; i < UUID_LEN; i++)
	{
		unsigned	byte;

		if ((i == 4 || i == 6 || i == 8 || i == 10) && *s++ != '-')
			return false;
		byte = fc_hex_byte(s);
		if (byte > 255)
			return false;
		uuid.data[i] = byte;
		s += 2;
	}
	result = palloc(sizeof(pg_uuid_t));
	memcpy(result, &uuid, sizeof(pg_uuid_t));
	*value = UUIDPGetDatum(result);
	return true;
}

/* Pairs of digits at s to bytes at out */
static bool
fc_decode_hex(const char *s, size_t len, char *out)
{
	if (len % 2 != 0)
		return false;
	for (size_t i = 0; i < len; i += 2)
	{
		unsigned	byte = fc_hex_byte(s + i);

		if (byte > 255)
			return false;
		*out++ = byte;
	}
	return true;
}

/* "\101" or "\\" at s; returns its length, 0 if it is something else */
static size_t
fc_decode_escape(const char *s, size_t len, char *out)
{
	if (len >= 2 && s[1] == '\\')
	{
		*out = '\\';
		return 2;
	}
	if (len < 4 || s[1] < '0' || s[1] > '3' || s[2] < '0' || s[2] > '7' ||
		s[3] < '0' || s[3] > '7')
		return 0;
	*out = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
	return 4;
}

static bool
fc_decode_escaped(const char *s, size_t len, char *out, size_t *outlen)
{
	char	   *p = out;

	for (size_t i = 0; i < len;)
	{
		size_t		used;

		if (s[i] != '\\')
		{
			*p++ = s[i++];
			continue;
		}
		used = fc_decode_escape(s + i, len - i, p++);
		if (used == 0)
			return false;
		i += used;
	}
	*outlen = p - out;
	return true;
}

bool
fc_convert_bytea(FcConverter *converter, const char *s, size_t len,
				 Datum *value)
{
	bool		hex = (len >= 2 && s[0] == '\\' && s[1] == 'x');
	size_t		size = hex ? (len - 2) / 2 : len;
	char	   *result = palloc(VARHDRSZ + size);

	if (hex ? !fc_decode_hex(s + 2, len - 2, VARDATA(result))
		: !fc_decode_escaped(s, len, VARDATA(result), &size))
	{
		pfree(result);
		return false;
	}
	SET_VARSIZE(result, VARHDRSZ + size);
	*value = PointerGetDatum(result);
	return true;
}
