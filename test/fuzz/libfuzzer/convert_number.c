/*
 * convert_number.c
 *	  Integers and floats against the C library's.
 *
 * s, i, b: smallint, integer, bigint; f, d: real, double precision
 */
#include "convert_shim.h"

#include <errno.h>

/* Every other string says where the bytes end that may be read */
static FcConverter *
converter_of(const char *s, size_t len)
{
	static FcConverter converter;
	static FcRoom room;

	room.readable = s + len + 1;
	converter.room = len % 2 == 0 ? NULL : &room;
	return &converter;
}

static bool
one_integer(FcConvert convert, int bits, char *s, size_t len)
{
	Datum		value;
	char	   *end;
	long long	expected;
	int64		result;

	if (!convert(converter_of(s, len), s, len, &value))
		return false;
	errno = 0;
	expected = strtoll(s, &end, 10);
	result = bits == 16 ? DatumGetInt16(value) :
		bits == 32 ? DatumGetInt32(value) : DatumGetInt64(value);
	EXPECT(errno == 0 && end == s + len);
	EXPECT(s[0] == '-' || (s[0] >= '0' && s[0] <= '9'));
	EXPECT(result == expected);
	return true;
}

/* Bits, because there is a minus zero */
static bool
one_float(char *s, size_t len)
{
	Datum		value;
	char	   *end;
	float		expected;
	float		result;

	if (!fc_type_float4.text(converter_of(s, len), s, len, &value))
		return false;
	errno = 0;
	expected = strtof(s, &end);
	result = DatumGetFloat4(value);
	EXPECT(errno == 0 && end == s + len);
	EXPECT(memcmp(&result, &expected, sizeof(float)) == 0);
	return true;
}

static bool
one_double(char *s, size_t len)
{
	Datum		value;
	char	   *end;
	double		expected;
	double		result;

	if (!fc_type_float8.text(converter_of(s, len), s, len, &value))
		return false;
	errno = 0;
	expected = strtod(s, &end);
	result = DatumGetFloat8(value);
	EXPECT(errno == 0 && end == s + len);
	EXPECT(memcmp(&result, &expected, sizeof(double)) == 0);
	return true;
}

bool
one_string(char type, int modifier, char *s, size_t len)
{
	switch (type)
	{
		case 's':
			return one_integer(fc_type_int2.text, 16, s, len);
		case 'i':
			return one_integer(fc_type_int4.text, 32, s, len);
		case 'b':
			return one_integer(fc_type_int8.text, 64, s, len);
		case 'f':
			return one_float(s, len);
		default:
			return one_double(s, len);
	}
}
