/*-------------------------------------------------------------------------
 *
 * convert/text.c
 *	  boolean, text, varchar, char, uuid and bytea.
 *
 * Declined are: white space around a boolean, values too long for varchar(n)
 * and char(n) (what is beyond may be blanks), every form of a uuid but the one
 * it is printed in, and white space between the digits of a bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/uuid.h"

#include "convert/convert.h"
#include "convert/types.h"

/* The value of each byte as a hexadecimal digit, plus one; 0: it is no digit */
static const uint8 fc_hex_digit[256] = {
	['0'] = 1,['1'] = 2,['2'] = 3,['3'] = 4,['4'] = 5,['5'] = 6,
	['6'] = 7,['7'] = 8,['8'] = 9,['9'] = 10,
	['a'] = 11,['b'] = 12,['c'] = 13,['d'] = 14,['e'] = 15,['f'] = 16,
	['A'] = 11,['B'] = 12,['C'] = 13,['D'] = 14,['E'] = 15,['F'] = 16
};

/* n bytes from 2n digits at s; false if one is none */
static inline bool
fc_decode_hex(const char *s, size_t n, char *out)
{
	bool		valid = true;

	for (size_t i = 0; i < n; i++)
	{
		uint8		high = fc_hex_digit[(unsigned char) s[2 * i]];
		uint8		low = fc_hex_digit[(unsigned char) s[2 * i + 1]];

		valid &= (high != 0) & (low != 0);
		out[i] = (char) (16 * high + low - 17);
	}
	return valid;
}

static bool
fc_convert_bool(FcConverter *converter, char *s, size_t len, Datum *value)
{
	bool		result;

	if (!parse_bool_with_len(s, len, &result))
		return false;
	*value = BoolGetDatum(result);
	return true;
}

static bool
fc_binary_bool(FcConverter *converter, char *s, size_t len, Datum *value)
{
	if (len != 1)
		return false;
	*value = BoolGetDatum(*s != 0);
	return true;
}

const FcConvertType fc_type_bool = {BOOLOID, fc_convert_bool, fc_binary_bool};

static bool
fc_convert_text(FcConverter *converter, char *s, size_t len, Datum *value)
{
	char	   *data;

	if (converter->in_place && converter->room->compact && len <= FC_SHORT_DATA)
	{
		s -= VARHDRSZ_SHORT;
		SET_VARSIZE_SHORT(s, VARHDRSZ_SHORT + len);
		*value = PointerGetDatum(s);
		return true;
	}
	*value = fc_convert_varlena(converter, len, &data);
	memcpy(data, s, len);
	return true;
}

const FcConvertType fc_type_text = {TEXTOID, fc_convert_text};

int
fc_convert_max(const FcConverter *converter)
{
	return converter->typmod < VARHDRSZ ? -1 : converter->typmod - VARHDRSZ;
}

static bool
fc_convert_varchar(FcConverter *converter, char *s, size_t len, Datum *value)
{
	int			max = fc_convert_max(converter);

	/* characters are no more than bytes: they are counted only above that */
	if (max >= 0 && len > (size_t) max && pg_mbcharcliplen(s, len, max) != len)
		return false;
	return fc_convert_text(converter, s, len, value);
}

const FcConvertType fc_type_varchar = {VARCHAROID, fc_convert_varchar};

static bool
fc_convert_bpchar(FcConverter *converter, char *s, size_t len, Datum *value)
{
	int			max = fc_convert_max(converter);
	int			pad = 0;
	char	   *data;

	if (max >= 0)
	{
		size_t		ascii = 0;

		/* a byte without the high bit is a character in every encoding */
		while (ascii < len && !IS_HIGHBIT_SET(s[ascii]))
			ascii++;
		pad = max - (int) (ascii == len ? len : (size_t) pg_mbstrlen_with_len(s, len));
		if (pad < 0)
			return false;
	}
	if (pad == 0)
		return fc_convert_text(converter, s, len, value);
	*value = fc_convert_varlena(converter, len + pad, &data);
	memcpy(data, s, len);
	memset(data + len, ' ', pad);
	return true;
}

const FcConvertType fc_type_bpchar = {BPCHAROID, fc_convert_bpchar};

static bool
fc_binary_uuid(FcConverter *converter, char *s, size_t len, Datum *value)
{
	char	   *result;

	if (len != UUID_LEN)
		return false;
	result = fc_convert_alloc(converter, UUID_LEN);
	memcpy(result, s, UUID_LEN);
	*value = PointerGetDatum(result);
	return true;
}

/* "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11" */
static bool
fc_convert_uuid(FcConverter *converter, char *s, size_t len, Datum *value)
{
	char		uuid[UUID_LEN];

	if (len != 2 * UUID_LEN + 4 ||
		s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' ||
		!fc_decode_hex(s, 4, uuid) || !fc_decode_hex(s + 9, 2, uuid + 4) ||
		!fc_decode_hex(s + 14, 2, uuid + 6) ||
		!fc_decode_hex(s + 19, 2, uuid + 8) ||
		!fc_decode_hex(s + 24, 6, uuid + 10))
		return false;
	return fc_binary_uuid(converter, uuid, UUID_LEN, value);
}

const FcConvertType fc_type_uuid = {UUIDOID, fc_convert_uuid, fc_binary_uuid};

/* False if a backslash begins neither "\101" nor "\\" */
static bool
fc_decode_escaped(const char *s, size_t len, char *out, size_t *outlen)
{
	const char *end = s + len;
	char	   *p = out;

	while (s < end)
	{
		if (*s != '\\')
			*p++ = *s++;
		else if (end - s >= 2 && s[1] == '\\')
		{
			*p++ = '\\';
			s += 2;
		}
		else if (end - s >= 4 && s[1] >= '0' && s[1] <= '3' &&
				 s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7')
		{
			*p++ = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			s += 4;
		}
		else
			return false;
	}
	*outlen = p - out;
	return true;
}

static bool
fc_convert_bytea(FcConverter *converter, char *s, size_t len, Datum *value)
{
	bool		hex = (len >= 2 && s[0] == '\\' && s[1] == 'x');
	size_t		size = hex ? (len - 2) / 2 : len;
	char	   *result;

	/* size is the most: what an escape stands for is shorter than the escape */
	if ((hex && len % 2 != 0) || size > MaxAllocSize - VARHDRSZ)
		return false;
	result = palloc(VARHDRSZ + size);
	if (hex ? !fc_decode_hex(s + 2, size, VARDATA(result))
		: !fc_decode_escaped(s, len, VARDATA(result), &size))
	{
		pfree(result);
		return false;
	}
	SET_VARSIZE(result, VARHDRSZ + size);
	*value = PointerGetDatum(result);
	return true;
}

const FcConvertType fc_type_bytea = {BYTEAOID, fc_convert_bytea, fc_convert_text};
