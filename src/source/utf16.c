/*-------------------------------------------------------------------------
 *
 * source/utf16.c
 *	  Text in UTF-16, made UTF-8 as it is read.
 *
 * Bytes of UTF-16 look like quotes and ends of lines within other characters,
 * so that records can be found only in what this makes of them.
 *
 *-------------------------------------------------------------------------
 */
#include "source/utf16.h"

#define MARK	0xfeff

void
fc_utf16_begin(FcUtf16 *utf16, FcUtf16Hint hint, const char *head, size_t len)
{
	unsigned int first = len < 2 ? 0 : (unsigned char) head[0] << 8 | (unsigned char) head[1];
	size_t		zeros[2] = {0, 0};

	for (size_t i = 0; hint == FC_UTF16_ANY && i < len; i++)
		zeros[i % 2] += head[i] == '\0';
	*utf16 = (FcUtf16) {false};
	utf16->is = hint > FC_UTF16_MARKED || (hint == FC_UTF16_MARKED && (first == MARK || first == 0xfffe));
	utf16->big = first == MARK ||
		(first != 0xfffe && (hint == FC_UTF16_BE || zeros[0] > zeros[1]));
}

/* A character below 0x10000, or half of a pair */
static size_t
utf16_put(char *out, unsigned int c)
{
	if (c < 0x80)
	{
		out[0] = (char) c;
		return 1;
	}
	if (c < 0x800)
	{
		out[0] = (char) (0xc0 | c >> 6);
		out[1] = (char) (0x80 | (c & 0x3f));
		return 2;
	}
	out[0] = (char) (0xe0 | c >> 12);
	out[1] = (char) (0x80 | (c >> 6 & 0x3f));
	out[2] = (char) (0x80 | (c & 0x3f));
	return 3;
}

/* Writes a unit, after a half of a pair that has waited for it */
static size_t
utf16_unit(FcUtf16 *utf16, unsigned int unit, char *out)
{
	unsigned int high = utf16->high;
	size_t		n = 0;

	utf16->high = 0;
	if (high != 0 && unit >= 0xdc00 && unit < 0xe000)
	{
		unsigned int c = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);

		out[0] = (char) (0xf0 | c >> 18);
		out[1] = (char) (0x80 | (c >> 12 & 0x3f));
		out[2] = (char) (0x80 | (c >> 6 & 0x3f));
		out[3] = (char) (0x80 | (c & 0x3f));
		return 4;
	}
	if (high != 0)
		n = utf16_put(out, high);
	if (unit >= 0xd800 && unit < 0xdc00)
		utf16->high = unit;
	else if (unit != MARK || utf16->begun)
		n += utf16_put(out + n, unit);
	utf16->begun = true;
	return n;
}

size_t
fc_utf16_convert(FcUtf16 *utf16, const char **in, const char *end, char *out, size_t room)
{
	const unsigned char *at = (const unsigned char *) *in;
	const unsigned char *stop = (const unsigned char *) end;
	size_t		n = 0;

	while (at < stop && room - n >= FC_UTF16_LEAST)
	{
		unsigned int first = utf16->odd ? utf16->half : *at++;

		utf16->odd = (at == stop);
		utf16->half = (unsigned char) first;
		if (utf16->odd)
			break;
		n += utf16_unit(utf16, utf16->big ? first << 8 | *at : first | *at << 8, out + n);
		at++;
	}
	*in = (const char *) at;
	return n;
}

size_t
fc_utf16_end(FcUtf16 *utf16, char *out)
{
	size_t		n = utf16->high != 0 ? utf16_put(out, utf16->high) : 0;

	utf16->high = 0;
	return n;
}
