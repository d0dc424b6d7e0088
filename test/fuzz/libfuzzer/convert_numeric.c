/*
 * convert_numeric.c
 *	  numeric, written out again digit by digit.
 *
 * The modifier chooses the precision and scale.
 */
#include "convert_shim.h"

#define WHOLE 200
#define FRACTION 70

/* The digits of a number around its point, all others being zero */
typedef struct Digits
{
	bool		negative;
	bool		zero;
	char		whole[WHOLE];	/* the units come last */
	char		fraction[FRACTION];
} Digits;

static void
set_whole(Digits *digits, int place, int digit)
{
	EXPECT(digit == 0 || place < WHOLE);
	EXPECT(digit >= 0 && digit <= 9);
	if (place < WHOLE)
		digits->whole[WHOLE - 1 - place] = digit;
	digits->zero &= digit == 0;
}

static void
set_fraction(Digits *digits, int place, int digit)
{
	EXPECT(digit == 0 || place < FRACTION);
	EXPECT(digit >= 0 && digit <= 9);
	if (place < FRACTION)
		digits->fraction[place] = digit;
	digits->zero &= digit == 0;
}

/* From the text, with at most so many digits behind the point */
static void
read_text(const char *s, int scale, Digits *digits)
{
	const char *point;
	const char *p;

	memset(digits, 0, sizeof(Digits));
	digits->zero = true;
	digits->negative = *s == '-';
	s += digits->negative;
	point = strchr(s, '.');
	if (point == NULL)
		point = s + strlen(s);
	for (p = s; p < point; p++)
		set_whole(digits, point - p - 1, *p - '0');
	for (int i = 0; *point && point[i + 1] && i < scale; i++)
		set_fraction(digits, i, point[i + 1] - '0');
	digits->negative &= !digits->zero;
}

/* From the stored form; its zeroes must have been removed */
static void
read_datum(const char *datum, int *scale, Digits *digits)
{
	static const int power[] = {1000, 100, 10, 1};
	int			n = (VARSIZE(datum) - VARHDRSZ - 2) / 2;
	uint16		header;
	int16		digit = 0;
	int			weight;

	memset(digits, 0, sizeof(Digits));
	digits->zero = true;
	memcpy(&header, datum + VARHDRSZ, 2);
	EXPECT((header & 0xC000) == 0x8000);
	digits->negative = (header & 0x2000) != 0;
	*scale = (header >> 7) & 0x3F;
	weight = (header & 0x3F) - (header & 0x40);
	EXPECT(n > 0 || weight == 0);
	for (int i = 0; i < n; i++)
	{
		memcpy(&digit, datum + VARHDRSZ + 2 + 2 * i, 2);
		EXPECT(i > 0 || digit != 0);
		for (int j = 0; j < 4; j++)
		{
			int			place = (weight - i) * 4 + 3 - j;
			int			d = digit / power[j] % 10;

			if (place >= 0)
				set_whole(digits, place, d);
			else
				set_fraction(digits, -place - 1, d);
		}
	}
	EXPECT(n == 0 || digit != 0);
}

bool
one_string(char type, int modifier, char *s, size_t len)
{
	static const int typmods[][2] = {
		{10, 2}, {4, 4}, {38, 18}, {5, 0}, {1000, 0}, {100, 63}
	};
	const int  *typmod = NULL;
	FcConverter converter = {.precision = -1};
	Digits		expected;
	Digits		result;
	Datum		value;
	int			scale;
	const char *point = strchr(s, '.');

	if (modifier >= 0 && modifier < lengthof(typmods))
	{
		typmod = typmods[modifier];
		EXPECT(fc_type_numeric.begin(&converter, VARHDRSZ +
										 (typmod[0] << 16 | typmod[1])));
		EXPECT(converter.precision == typmod[0]);
		EXPECT(converter.scale == typmod[1]);
	}
	if (!fc_type_numeric.text(&converter, s, len, &value))
		return false;
	EXPECT(strspn(s, "-0123456789.") == len);
	read_datum(DatumGetPointer(value), &scale, &result);
	EXPECT(scale == (typmod ? typmod[1] : point ? strlen(point + 1) : 0));
	read_text(s, scale, &expected);
	EXPECT(memcmp(&expected, &result, sizeof(Digits)) == 0);
	for (int i = 0; typmod && i < WHOLE - (typmod[0] - typmod[1]); i++)
		EXPECT(result.whole[i] == 0);
	if (point && strlen(point + 1) > scale)
		EXPECT(point[scale + 1] < '5');
	return true;
}
