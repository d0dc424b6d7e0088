/*-------------------------------------------------------------------------
 *
 * convert/number.c
 *	  Integers and floating point numbers.
 *
 * Texts are digits with an optional minus, for floats with a point and an
 * exponent.  A plus, white space, underscores and other bases are declined, and
 * so are floats whose rounding is not known to be correct, as strtod's and
 * strtof's is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>

#include "port/pg_bitutils.h"

#include "convert/digits.h"
#include "convert/types.h"

/* Any 19 digits fit, but not always into an int64 */
#define FC_MAX_DIGITS 19

/*
 * An optional minus and 1 to 19 digits, if they fit; "usual": up to 16, and
 * FC_READABLE bytes can be read
 */
static pg_attribute_always_inline bool
fc_parse_int(const FcConverter *converter, const char *s, size_t len, bool usual,
			 int64 *result)
{
	const char *end = s + len;
	bool		negative = (*s == '-');
	uint64		value = 0;

	s += negative;
	len -= negative;
	if (len - 1 < 16 && (usual || fc_digits_readable(converter, end) - s >= (len <= 8 ? 8 : 16)))
	{
		if (!fc_digits_are_all(s, len, &value))
			return false;
	}
	else if (usual || len - 1 >= FC_MAX_DIGITS ||
			 fc_digits_take(s, end, fc_digits_readable(converter, end), &value) != end ||
			 value > PG_INT64_MAX)
		return false;
	*result = ((int64) value ^ -(int64) negative) + negative;
	return true;
}

/* Defines the converters of an integer type */
#define FC_CONVERT_INT(name, oid, type, datum, ntoh) \
static bool \
fc_binary_##name(FcConverter *converter, char *s, size_t len, Datum *value) \
{ \
	u##type		word; \
\
	if (len != sizeof(word)) \
		return false; \
	memcpy(&word, s, sizeof(word)); \
	*value = datum((type) ntoh(word)); \
	return true; \
} \
\
static pg_attribute_always_inline bool \
fc_read_##name(FcConverter *converter, const char *s, size_t len, bool usual, Datum *value) \
{ \
	int64		n; \
\
	if (!fc_parse_int(converter, s, len, usual, &n) || n != (type) n) \
		return false; \
	*value = datum((type) n); \
	return true; \
} \
\
FC_CONVERT_MANY(fc_convert_##name, fc_read_##name) \
\
const FcConvertType fc_type_##name = { \
	oid, fc_convert_##name, fc_binary_##name, fc_convert_##name##_many \
};

FC_CONVERT_INT(int2, INT2OID, int16, Int16GetDatum, pg_ntoh16)
FC_CONVERT_INT(int4, INT4OID, int32, Int32GetDatum, pg_ntoh32)
FC_CONVERT_INT(int8, INT8OID, int64, Int64GetDatum, pg_ntoh64)

#if FLT_EVAL_METHOD == 0 && defined(HAVE_INT128)

/* A number without its sign: mantissa * 10^exponent */
typedef struct FcDecimal
{
	uint64		mantissa;
	int			exponent;
	bool		negative;
	bool		longer;			/* more, by less than 10^exponent */
} FcDecimal;

/* The largest powers that fit: 10^22 is an exact double, 5^27 has 63 bits */
#define FC_MAX_POWER10 22
#define FC_MAX_POWER5 27

/* The least number of 19 digits: another one might not fit */
#define FC_MANTISSA_FULL	UINT64CONST(1000000000000000000)

/* The longest text; its exponent cannot overflow */
#define FC_MAX_DECIMAL		1000

static const double fc_power10[] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

StaticAssertDecl(lengthof(fc_power10) == FC_MAX_POWER10 + 1,
				 "one entry for each power");

/* "e5", "E-12", "e+07" at s, to the end */
static bool
fc_parse_exponent(const char *s, const char *end, int *exponent)
{
	bool		negative = (end - s > 1 && s[1] == '-');
	uint64		value = 0;

	s += (end - s > 1 && (s[1] == '-' || s[1] == '+')) ? 2 : 1;
	if (s == end || end - s > 3 || fc_digits_take(s, end, end, &value) != end)
		return false;
	*exponent += negative ? -(int) value : (int) value;
	return true;
}

/*
 * "-540.850752": 1 to 7 digits, a point and 1 to 16 digits, at most 19 in all.
 * False also where too few bytes may be read; "safe": FC_READABLE can.
 */
static pg_attribute_always_inline bool
fc_parse_usual_decimal(const FcConverter *converter, const char *s, size_t len, bool safe,
					   FcDecimal *decimal)
{
	const char *readable = safe ? NULL : fc_digits_readable(converter, s + len);
	size_t		whole;
	size_t		fraction;
	uint64		word;
	uint64		point;

	decimal->negative = (len > 0 && *s == '-');
	s += decimal->negative;
	len -= decimal->negative;
	if (!safe && readable - s < 8)
		return false;
	word = fc_digits_load_word(s);
	/* the lowest byte that is zero gets its highest bit */
	point = word ^ FC_WORD('.');
	point = (point - FC_WORD(1)) & ~point & FC_WORD(0x80);
	if (point == 0)
		return false;
	whole = pg_rightmost_one_pos64(point) / 8;
	fraction = len - whole - 1;
	if (whole - 1 >= 7 || fraction - 1 >= 16 || whole + fraction > FC_MAX_DIGITS ||
		(!safe && readable - (s + whole + 1) < (fraction <= 8 ? 8 : 16)))
		return false;
	word = (word ^ FC_WORD('0')) << (64 - 8 * whole);
	if (!fc_digits_is_word(word) ||
		!fc_digits_are_all(s + whole + 1, fraction, &decimal->mantissa))
		return false;
	decimal->longer = false;
	decimal->mantissa += (uint64) fc_digits_read(word) * fc_digits_power[fraction];
	decimal->exponent = -(int) fraction;
	return true;
}

/*
 * Reads the digits, with at most one point, once more, of which there are too
 * many: zeroes before the first one that counts, and others after the 19th.
 * Returns where they end.
 */
static const char *
fc_parse_long_decimal(const char *s, const char *end, FcDecimal *decimal)
{
	bool		point = false;

	decimal->mantissa = 0;
	decimal->exponent = 0;
	for (; s < end && (*s == '.' || (unsigned char) (*s - '0') <= 9); s++)
	{
		if (*s == '.' && point)
			break;
		if (*s == '.')
			point = true;
		else if (decimal->mantissa < FC_MANTISSA_FULL)
		{
			decimal->mantissa = decimal->mantissa * 10 + (*s - '0');
			decimal->exponent -= point;
		}
		else
		{
			decimal->longer |= *s != '0';
			decimal->exponent += !point;
		}
	}
	return s;
}

/* Digits with at most one point, perhaps an exponent */
static pg_noinline bool
fc_parse_any_decimal(const FcConverter *converter, const char *s, size_t len,
					 FcDecimal *decimal)
{
	const char *end = s + len;
	const char *readable = fc_digits_readable(converter, end);
	const char *first = s + (len > 0 && *s == '-');
	const char *start = first;
	ptrdiff_t	digits;

	decimal->negative = (first > s);
	decimal->longer = false;
	decimal->mantissa = 0;
	decimal->exponent = 0;
	s = fc_digits_take(start, end, readable, &decimal->mantissa);
	digits = s - start;
	if (s < end && *s == '.')
	{
		start = s + 1;
		s = fc_digits_take(start, end, readable, &decimal->mantissa);
		digits += s - start;
		decimal->exponent = -(int) (s - start);
	}
	if (digits == 0 || len > FC_MAX_DECIMAL)
		return false;
	if (digits > FC_MAX_DIGITS)
		s = fc_parse_long_decimal(first, end, decimal);
	if (s == end)
		return true;
	return (*s == 'e' || *s == 'E') &&
		fc_parse_exponent(s, end, &decimal->exponent);
}

static pg_attribute_always_inline bool
fc_parse_decimal(const FcConverter *converter, const char *s, size_t len, bool usual,
				 FcDecimal *decimal)
{
	return fc_parse_usual_decimal(converter, s, len, usual, decimal) ||
		(!usual && fc_parse_any_decimal(converter, s, len, decimal));
}

/*
 * Clinger's fast path: integers up to 2^53 and powers of ten up to 10^22 are
 * exact doubles, so that one operation on them rounds correctly.
 */
static inline bool
fc_decimal_to_double(const FcDecimal *decimal, double *result)
{
	if (decimal->longer || decimal->mantissa > (UINT64CONST(1) << DBL_MANT_DIG) ||
		decimal->exponent < -FC_MAX_POWER10 ||
		decimal->exponent > FC_MAX_POWER10)
		return false;
	if (decimal->exponent < 0)
		*result = (double) decimal->mantissa / fc_power10[-decimal->exponent];
	else
		*result = (double) decimal->mantissa * fc_power10[decimal->exponent];
	return true;
}

/* 5^k, by the powers of ten, of which the last is 10^16 */
static inline uint64
fc_power5(int k)
{
	int			rest = Min(k, 16);

	return (uint64) (fc_digits_power[rest] >> rest) * (fc_digits_power[k - rest] >> (k - rest));
}

/*
 * Sets *bits and *power so that *bits * 2^*power is mantissa * 10^exponent,
 * rounded to nbits bits, ties to even.  Only results far from both ends of the
 * range come up.
 *
 * 10^k is 5^k * 2^k.  Both operands are shifted to the left as far as they go:
 * the quotient has 63 or 64 bits.  The remainder matters only by being zero or
 * not.
 */
static bool
fc_decimal_divide(uint64 mantissa, int exponent, int nbits, uint64 *bits, int *power)
{
	int			k = -exponent;
	int			left;
	int			right;
	int			drop;
	uint64		divisor;
	uint64		quotient;
	uint64		half;
	uint64		rest;
	uint128		dividend;

	if (mantissa == 0 || k < 0 || k > FC_MAX_POWER5)
		return false;
	divisor = fc_power5(k);
	left = 63 - pg_leftmost_one_pos64(mantissa);
	right = 63 - pg_leftmost_one_pos64(divisor);
	divisor <<= right;
	dividend = (uint128) (mantissa << left) << 63;
	quotient = (uint64) (dividend / divisor);

	drop = pg_leftmost_one_pos64(quotient) + 1 - nbits;
	half = UINT64CONST(1) << (drop - 1);
	rest = quotient & ((half << 1) - 1);
	*bits = quotient >> drop;
	if (rest > half ||
		(rest == half && ((*bits & 1) || dividend % divisor != 0)))
		(*bits)++;
	*power = drop - 63 - left + right - k;
	return true;
}

/* The same of a decimal; false where the digits left out would tell */
static bool
fc_decimal_round(const FcDecimal *decimal, int nbits, uint64 *bits, int *power)
{
	uint64		above;
	int			power_above;

	return fc_decimal_divide(decimal->mantissa, decimal->exponent, nbits, bits, power) &&
		(!decimal->longer ||
		 (fc_decimal_divide(decimal->mantissa + 1, decimal->exponent, nbits, &above, &power_above) &&
		  above == *bits && power_above == *power));
}

typedef union FcDouble
{
	uint64		bits;
	double		number;
} FcDouble;

/* bits has DBL_MANT_DIG bits, or is the power of two above that */
static double
fc_make_double(uint64 bits, int power)
{
	FcDouble	result;

	result.bits = ((uint64) (power + DBL_MANT_DIG - 2 + DBL_MAX_EXP) <<
				   (DBL_MANT_DIG - 1)) +
		(bits - (UINT64CONST(1) << (DBL_MANT_DIG - 1)));
	return result.number;
}

static pg_attribute_always_inline bool
fc_read_float8(FcConverter *converter, const char *s, size_t len, bool usual, Datum *value)
{
	FcDecimal	decimal;
	uint64		bits;
	int			power;
	double		result;

	if (!fc_parse_decimal(converter, s, len, usual, &decimal))
		return false;
	if (!fc_decimal_to_double(&decimal, &result))
	{
		if (usual || !fc_decimal_round(&decimal, DBL_MANT_DIG, &bits, &power))
			return false;
		result = fc_make_double(bits, power);
	}
	*value = Float8GetDatum(decimal.negative ? -result : result);
	return true;
}

FC_CONVERT_MANY(fc_convert_float8, fc_read_float8)

/*
 * Does the double lie in the middle between two floats?  The first rounding may
 * have brought it there; everywhere else rounding it again gives the right
 * float.
 */
static bool
fc_double_is_middle(double number)
{
	FcDouble	u = {.number = number};
	int			below = DBL_MANT_DIG - FLT_MANT_DIG;

	return (u.bits & ((UINT64CONST(1) << below) - 1)) ==
		UINT64CONST(1) << (below - 1);
}

static pg_attribute_always_inline bool
fc_read_float4(FcConverter *converter, const char *s, size_t len, bool usual, Datum *value)
{
	FcDecimal	decimal;
	uint64		bits;
	int			power;
	double		number;
	float		result;

	if (!fc_parse_decimal(converter, s, len, usual, &decimal))
		return false;
	if (fc_decimal_to_double(&decimal, &number) && !fc_double_is_middle(number))
		result = (float) number;
	else if (!usual && fc_decimal_round(&decimal, FLT_MANT_DIG, &bits, &power))
		result = (float) fc_make_double(bits << (DBL_MANT_DIG - FLT_MANT_DIG),
										power - (DBL_MANT_DIG - FLT_MANT_DIG));
	else
		return false;
	*value = Float4GetDatum(decimal.negative ? -result : result);
	return true;
}

FC_CONVERT_MANY(fc_convert_float4, fc_read_float4)

/* The bits of a float are those of its datum, as an integer's are */
const FcConvertType fc_type_float8 = {FLOAT8OID, fc_convert_float8, fc_binary_int8, fc_convert_float8_many};

const FcConvertType fc_type_float4 = {FLOAT4OID, fc_convert_float4, fc_binary_int4, fc_convert_float4_many};

#else

const FcConvertType fc_type_float8 = {FLOAT8OID};

const FcConvertType fc_type_float4 = {FLOAT4OID};

#endif
