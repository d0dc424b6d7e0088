/*-------------------------------------------------------------------------
 *
 * grammar/bytes.h
 *	  What files of the grammar share: the masks to make, the search for a byte.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_BYTES_H
#define FC_BYTES_H

#include <string.h>

#include "grammar/dialect.h"
#include "grammar/mask.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK	FC_MASK_BLOCK
#define BATCH	16				/* blocks whose masks are made together */

/*
 * What the masks of a file are to show.  Where no byte is a quote it is one
 * that they show anyway, and what they say of quotes is left alone.
 */
static inline FcMaskBytes
mask_bytes(const FcDialect *dialect)
{
	char		quote = dialect->mode == FC_MODE_TEXT ? '\\' : dialect->quote;

	return (FcMaskBytes) {dialect->raw ? '\r' : quote, dialect->delim};
}

/* Is the delimiter whole whose first byte is buf[pos]? */
static inline bool
delim_at(const FcDialect *dialect, const char *buf, size_t pos, size_t len)
{
	return dialect->delim_more == 0 ||
		(len - pos > dialect->delim_more &&
		 memcmp(buf + pos + 1, dialect->delim_rest, dialect->delim_more) == 0);
}

/* The bits in [pos, end) of a word whose first one is number "base" */
static inline uint64_t
bits_within(uint64_t word, size_t base, size_t pos, size_t end)
{
	if (base < pos)
		word &= ~UINT64_C(0) << (pos - base);
	return end - base < BLOCK ? word & ~(~UINT64_C(0) << (end - base)) : word;
}

/*
 * The position of the first byte among a, b and c in buf[pos..len), or len.
 */
static inline size_t
find_byte(const char *buf, size_t pos, size_t len, char a, char b, char c)
{
#ifdef __SSE2__
	if (len >= 16)
	{
		const __m128i ka = _mm_set1_epi8(a);
		const __m128i kb = _mm_set1_epi8(b);
		const __m128i kc = _mm_set1_epi8(c);

		while (pos < len)
		{
			/* the last load reaches back to bytes already passed */
			size_t		at = pos <= len - 16 ? pos : len - 16;
			__m128i		v = _mm_loadu_si128((const __m128i *) (buf + at));
			unsigned int bits;

			v = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, ka),
										  _mm_cmpeq_epi8(v, kb)),
							 _mm_cmpeq_epi8(v, kc));
			bits = (unsigned int) _mm_movemask_epi8(v) >> (pos - at);
			if (bits != 0)
				return pos + __builtin_ctz(bits);
			pos = at + 16;
		}
		return len;
	}
#endif
	while (pos < len && buf[pos] != a && buf[pos] != b && buf[pos] != c)
		pos++;
	return pos;
}

#endif							/* FC_BYTES_H */
