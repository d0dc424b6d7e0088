/*-------------------------------------------------------------------------
 *
 * convert/numeric.c
 *	  numeric from digits with an optional minus and point, or from its binary
 *	  form.
 *
 * Declined are numbers that need the longer header, exponents, and a rounding
 * that would carry.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "convert/digits.h"
#include "convert/types.h"

/* The header of the short form */
#define FC_NUMERIC_SHORT 0x8000
#define FC_NUMERIC_NEGATIVE 0x2000
#define FC_NUMERIC_SCALE_SHIFT 7
#define FC_NUMERIC_MAX_SCALE 63
#define FC_NUMERIC_WEIGHT 0x007F

/* decimal digits before the point that are taken here */
#define FC_NUMERIC_MAX_WHOLE 128

#define FC_BASE_DIGITS 4

/* The binary form's sign, and the largest weight taken of either sign */
#define FC_BINARY_NEGATIVE 0x4000
#define FC_BINARY_MAX_WEIGHT 31

#define FC_NUMERIC_MAX_DIGITS \
	((FC_NUMERIC_MAX_WHOLE + FC_NUMERIC_MAX_SCALE) / FC_BASE_DIGITS + 2)

/* The parts of the text: digits before and after the point */
typedef struct FcParts
{
	bool		negative;
	const char *whole;
	int			nwhole;			/* without leading zeroes */
	const char *fraction;
	int			nfraction;
} FcParts;

/* The converter's precision and scale, or false if they are unusual */
static bool
fc_convert_numeric_typmod(FcConverter *converter, int32 typmod)
{
	int32		mod = typmod - VARHDRSZ;

	converter->precision = -1;
	if (typmod < VARHDRSZ)
		return true;
	converter->precision = (mod >> 16) & 0xFFFF;
	converter->scale = ((mod & 0x7FF) ^ 1024) - 1024;	/* signed, 11 bits */
	return converter->scale >= 0 &&
		converter->scale <= Min(converter->precision, FC_NUMERIC_MAX_SCALE);
}

static int
fc_count_digits(const char *s, const char *end)
{
	const char *p = s;

	while (p < end && (unsigned char) (*p - '0') <= 9)
		p++;
	return p - s;
}

static bool
fc_parse_parts(const char *s, size_t len, FcParts *parts)
{
	const char *end = s + len;
	int			digits;

	parts->negative = (len > 0 && *s == '-');
	s += parts->negative;
	digits = parts->nwhole = fc_count_digits(s, end);
	parts->whole = s;
	s += digits;
	parts->nfraction = 0;
	parts->fraction = s;
	if (s < end && *s == '.')
	{
		parts->fraction = ++s;
		parts->nfraction = fc_count_digits(s, end);
		digits += parts->nfraction;
		s += parts->nfraction;
	}
	while (parts->nwhole > 0 && *parts->whole == '0')
	{
		parts->whole++;
		parts->nwhole--;
	}
	return s == end && digits > 0 && parts->nwhole <= FC_NUMERIC_MAX_WHOLE;
}

/* ndigits decimal digits from s, the last one counting 10^(4 - ndigits) */
static inline int16
fc_base_digit(const char *s, int ndigits, bool scale)
{
	int			value = 0;
	int			i;

	for (i = 0; i < ndigits; i++)
		value = value * 10 + (s[i] - '0');
	if (scale)
		for (; i < FC_BASE_DIGITS; i++)
			value *= 10;
	return value;
}

/* All digits to the base 10000; returns how many */
static int
fc_base_digits(const FcParts *parts, int16 *digits)
{
	int			n = 0;
	int			i = parts->nwhole % FC_BASE_DIGITS;

	if (i > 0)
		digits[n++] = fc_base_digit(parts->whole, i, false);
	for (; i < parts->nwhole; i += FC_BASE_DIGITS)
		digits[n++] = fc_base_digit(parts->whole + i, FC_BASE_DIGITS, false);
	for (i = 0; i < parts->nfraction; i += FC_BASE_DIGITS)
		digits[n++] = fc_base_digit(parts->fraction + i,
									Min(parts->nfraction - i, FC_BASE_DIGITS),
									true);
	return n;
}

/*
 * The value as PostgreSQL stores it: length; two bytes with sign, display
 * scale and weight; digits to the base 10000 without zeroes at either end.  No
 * header of core has that layout, but it cannot change: tables of older
 * servers have it.
 */
static Datum
fc_make_numeric(FcConverter *converter, bool negative, int scale, int weight,
				const int16 *digits, int n)
{
	char	   *data;
	Datum		result = fc_convert_varlena(converter,
										   (n + 1) * sizeof(int16), &data);
	uint16		header = FC_NUMERIC_SHORT | (scale << FC_NUMERIC_SCALE_SHIFT) |
		(weight & FC_NUMERIC_WEIGHT);

	Assert(n >= 0 && n <= FC_NUMERIC_MAX_DIGITS && scale >= 0);
	if (negative)
		header |= FC_NUMERIC_NEGATIVE;
	memcpy(data, &header, sizeof(uint16));
	memcpy(data + sizeof(uint16), digits, n * sizeof(int16));
	return result;
}

static bool
fc_convert_numeric(FcConverter *converter, char *s, size_t len, Datum *value)
{
	FcParts		parts;
	int16		buffer[FC_NUMERIC_MAX_DIGITS];
	int16	   *digits = buffer;
	int			n;
	int			weight;
	int			scale;

	if (!fc_parse_parts(s, len, &parts))
		return false;
	scale = parts.nfraction;
	if (converter->precision >= 0)
	{
		scale = converter->scale;
		/* what is beyond the scale is cut off, unless it would be rounded up */
		if (parts.nwhole > converter->precision - scale ||
			(parts.nfraction > scale && parts.fraction[scale] >= '5'))
			return false;
		parts.nfraction = Min(parts.nfraction, scale);
	}
	if (scale > FC_NUMERIC_MAX_SCALE)
		return false;

	n = fc_base_digits(&parts, buffer);
	weight = (parts.nwhole + FC_BASE_DIGITS - 1) / FC_BASE_DIGITS - 1;
	for (; n > 0 && *digits == 0; n--, digits++)
		weight--;
	while (n > 0 && digits[n - 1] == 0)
		n--;
	if (n == 0)
		weight = 0;
	*value = fc_make_numeric(converter, parts.negative && n > 0, scale, weight,
							 digits, n);
	return true;
}

static inline int
fc_binary_short(const char *s)
{
	return (unsigned char) s[0] << 8 | (unsigned char) s[1];
}

/*
 * The digits of the binary form.  False if one is no digit, or if the receive
 * function would leave some out, because they are zeroes at an end or lie
 * beyond the scale.
 */
static bool
fc_binary_digits(const char *s, int n, int weight, int scale, int16 *digits)
{
	int			beyond = (n - 1 - weight) * FC_BASE_DIGITS - scale;

	for (int i = 0; i < n; i++)
	{
		digits[i] = fc_binary_short(s + i * sizeof(int16));
		if (digits[i] < 0 || digits[i] > 9999)
			return false;
	}
	if (n == 0)
		return true;
	return digits[0] != 0 && digits[n - 1] != 0 && beyond < FC_BASE_DIGITS &&
		(beyond <= 0 || digits[n - 1] % fc_digits_power[beyond] == 0);
}

/* Declines NaN and infinities, and what the column's scale would round */
static bool
fc_numeric_binary(FcConverter *converter, char *s, size_t len, Datum *value)
{
	int16		digits[FC_NUMERIC_MAX_DIGITS];
	int			n = len < 8 ? -1 : fc_binary_short(s);
	int			weight;
	int			sign;
	int			scale;

	if (n < 0 || n > FC_NUMERIC_MAX_DIGITS || len != 8 + n * sizeof(int16))
		return false;
	weight = n == 0 ? 0 : (int16) fc_binary_short(s + 2);
	sign = fc_binary_short(s + 4);
	scale = fc_binary_short(s + 6);
	if ((sign != 0 && sign != FC_BINARY_NEGATIVE) || scale > FC_NUMERIC_MAX_SCALE ||
		weight < -FC_BINARY_MAX_WEIGHT || weight > FC_BINARY_MAX_WEIGHT ||
		!fc_binary_digits(s + 8, n, weight, scale, digits))
		return false;
	if (converter->precision >= 0)
	{
		/* digits before the point */
		int			nwhole = weight * FC_BASE_DIGITS + 1;

		for (int first = n > 0 ? digits[0] : 0; first >= 10; first /= 10)
			nwhole++;
		if (scale > converter->scale ||
			(n > 0 && weight >= 0 && nwhole > converter->precision - converter->scale))
			return false;
		scale = converter->scale;
	}
	*value = fc_make_numeric(converter, sign != 0 && n > 0, scale, weight,
							 digits, n);
	return true;
}

const FcConvertType fc_type_numeric = {
	NUMERICOID, fc_convert_numeric, fc_numeric_binary, NULL, fc_convert_numeric_typmod
};
