/*-------------------------------------------------------------------------
 *
 * grammar/mask.h
 *	  Where the bytes that matter stand: one bit for each byte.
 *
 * There are several kernels with the same results, each for another kind of
 * processor.  The best one that this machine runs is chosen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MASK_H
#define FC_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar/assert.h"

#define FC_MASK_BLOCK	64		/* bytes that a mask describes */

/* What to look for besides '\n' and '\r' */
typedef struct FcMaskBytes
{
	char		quote;			/* text: the backslash */
	char		delim;
} FcMaskBytes;

/* One block: bit n is its byte n; bits after the last byte are 0 */
typedef struct FcMask
{
	uint64_t	quotes;
	uint64_t	delims;
	uint64_t	nl;				/* '\n' */
	uint64_t	cr;				/* '\r' */
	uint64_t	strange;		/* bytes that may be wrong in the encoding: with
								 * the high bit, or 0 */
	uint64_t	within;			/* bytes up to which the block has an odd number
								 * of quotes, themselves included */
} FcMask;

/*
 * Fills masks for the blocks of p[0..len), the last of which may be short;
 * len is not 0, and no other byte is read.  "lines" does not set strange;
 * "fields" sets neither strange nor nl nor cr.
 */
typedef void (*FcMaskFill) (FcMaskBytes bytes, const char *p, size_t len,
							FcMask *masks);

/* The most places that FcMaskPlaces writes beyond those asked for */
#define FC_MASK_SPARE	(2 * FC_MASK_BLOCK)

/* Where bits are set in words: the number of each one, plus one */
typedef struct FcPlaces
{
	int			n;
	int			nlast;			/* of them, those that are set in "last" */
	bool		near;			/* two of them, or the first and the beginning,
								 * may have just "gap" other bytes between */
	uint16_t   *at;				/* "most" and FC_MASK_SPARE */
} FcPlaces;

/*
 * Finds the bits from number pos on, before "len", that are set in one of two
 * arrays of words, in which no bit is set at "len" or after it.  Stops when
 * there are "most" or more.  gap is below FC_MASK_BLOCK.
 */
typedef void (*FcMaskPlaces) (const uint64_t *words, const uint64_t *last,
							  size_t pos, size_t len, int most, int gap,
							  FcPlaces *places);

typedef struct FcMaskKernel
{
	const char *name;
	FcMaskFill	all;
	FcMaskFill	lines;
	FcMaskFill	fields;
	FcMaskPlaces places;
} FcMaskKernel;

extern const FcMaskKernel *fc_mask_kernel;	/* the one in use */

/*
 * Kernel number n, best first; NULL if none has the number, or if this machine
 * cannot run it
 */
extern const FcMaskKernel *fc_mask_number(int n);

#define FC_MASK_KERNELS	5		/* numbers that may have a kernel */

static inline int
fc_mask_count(uint64_t w)
{
	w -= (w >> 1) & UINT64_C(0x5555555555555555);
	w = (w & UINT64_C(0x3333333333333333)) +
		((w >> 2) & UINT64_C(0x3333333333333333));
	w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) ((w * UINT64_C(0x0101010101010101)) >> 56);
}

/* A word whose bit n is the exclusive or of the bits 0 to n of w */
static inline uint64_t
fc_mask_prefix_xor(uint64_t w)
{
	w ^= w << 1;
	w ^= w << 2;
	w ^= w << 4;
	w ^= w << 8;
	w ^= w << 16;
	w ^= w << 32;
	return w;
}

/*
 * The bytes of a block of n that are escaped: each stands just after an odd
 * number of backslashes.  An escaped backslash has a bit only as the block's
 * first byte.  *escaped comes in as whether an active backslash stands just
 * before the block, and goes out as whether the last byte is one.
 */
static inline uint64_t
fc_mask_escaped(bool *escaped, uint64_t backslashes, size_t n)
{
	const uint64_t even = UINT64_C(0x5555555555555555);
	uint64_t	first = *escaped;
	uint64_t	heads,
				after_even,
				after_odd,
				rest;

	backslashes &= ~first;

	/*
	 * The bit of the first backslash of a sequence, added to the sequence,
	 * carries to the bit just after it.  The sequence is odd if one of these
	 * two bits has an even place and the other an odd one (Langdale and
	 * Lemire, Parsing Gigabytes of JSON per Second, 2019).
	 */
	heads = backslashes & ~(backslashes << 1);
	after_even = (backslashes + (heads & even)) & ~backslashes;
	after_odd = (backslashes + (heads & ~even)) & ~backslashes;

	/* the sequence that the block's end cuts */
	rest = ~(backslashes << (FC_MASK_BLOCK - n));
	*escaped = (rest == 0 ? FC_MASK_BLOCK : __builtin_clzll(rest)) & 1;
	return first | (after_even & ~even) | (after_odd & even);
}

#endif							/* FC_MASK_H */
