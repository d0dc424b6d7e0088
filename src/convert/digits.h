/*-------------------------------------------------------------------------
 *
 * convert/digits.h
 *	  Decimal digits, eight at a time.
 *
 * A word holds eight bytes of text, the first one lowest, whatever the byte
 * order of the machine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONVERT_DIGITS_H
#define FC_CONVERT_DIGITS_H

#include "port/pg_bswap.h"

#include "convert/convert.h"

/* Powers of ten */
static const int64 fc_digits_power[] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
	INT64CONST(10000000000), INT64CONST(100000000000), INT64CONST(1000000000000),
	INT64CONST(10000000000000), INT64CONST(100000000000000),
	INT64CONST(1000000000000000), INT64CONST(10000000000000000)
};

/* A word of eight such bytes */
#define FC_WORD(byte) (UINT64CONST(0x0101010101010101) * (byte))

static inline uint64
fc_digits_load_word(const char *s)
{
	uint64		word;

	memcpy(&word, s, sizeof(word));
#ifdef WORDS_BIGENDIAN
	word = pg_bswap64(word);
#endif
	return word;
}

/* Are all bytes at most 9? */
static inline bool
fc_digits_is_word(uint64 word)
{
	return (((word + FC_WORD(0x76)) | word) & FC_WORD(0x80)) == 0;
}

/* The number that eight digits make, each from 0 to 9 */
static inline uint32
fc_digits_read(uint64 word)
{
	/*
	 * Joins neighbours, and then, in the upper half of a word, what the pairs
	 * are worth: of the first and the third by one multiplication, of the
	 * others by another
	 */
	const uint64 pairs = UINT64CONST(0x000000FF000000FF);

	word = word * 10 + (word >> 8);
	return ((word & pairs) * (100 + (UINT64CONST(1000000) << 32)) +
			((word >> 16) & pairs) * (1 + (UINT64CONST(10000) << 32))) >> 32;
}

/* How far bytes may be read for a text that ends at "end" */
static inline const char *
fc_digits_readable(const FcConverter *converter, const char *end)
{
	return converter->room != NULL ? converter->room->readable : end;
}

/*
 * Are the n bytes at s, of which there are 1 to 16, digits?  Then *value is the
 * number that they make.  8 bytes must be readable, or 16 if n is above 8.
 */
static inline bool
fc_digits_are_all(const char *s, size_t n, uint64 *value)
{
	uint64		first = fc_digits_load_word(s) ^ FC_WORD('0');
	uint64		rest;

	Assert(n >= 1 && n <= 16);
	/* as if zeroes stood before them: lengths are hard to predict */
	if (n <= 8)
	{
		first <<= 64 - 8 * n;
		*value = fc_digits_read(first);
		return fc_digits_is_word(first);
	}
	n -= 8;
	rest = (fc_digits_load_word(s + 8) ^ FC_WORD('0')) << (64 - 8 * n);
	*value = fc_digits_read(first) * fc_digits_power[n] + fc_digits_read(rest);
	return fc_digits_is_word(first) && fc_digits_is_word(rest);
}

/*
 * Appends the digits from s on, at most to "end", to the number *value, which
 * is wrong then if they do not fit.  Returns where they end.  Bytes may be read
 * up to "readable", which is not before "end"; NULL: up to "end".
 */
static inline const char *
fc_digits_take(const char *s, const char *end, const char *readable,
			   uint64 *value)
{
	uint64		result = *value;
	uint64		word;

	Assert(s <= end && (readable == NULL || end <= readable));
	for (; end - s >= 8; s += 8)
	{
		word = fc_digits_load_word(s) ^ FC_WORD('0');
		if (!fc_digits_is_word(word))
			break;
		result = result * 100000000 + fc_digits_read(word);
	}
	if (end - s < 8 && end - s > 1 && readable - s >= 8)
	{
		/* as if zeroes stood before them: lengths are hard to predict */
		word = (fc_digits_load_word(s) ^ FC_WORD('0')) << (64 - 8 * (end - s));
		if (fc_digits_is_word(word))
		{
			*value = result * fc_digits_power[end - s] + fc_digits_read(word);
			return end;
		}
	}
	for (; s < end; s++)
	{
		unsigned	digit = (unsigned char) *s - '0';

		if (digit > 9)
			break;
		result = result * 10 + digit;
	}
	*value = result;
	return s;
}

#endif							/* FC_CONVERT_DIGITS_H */
