/*-------------------------------------------------------------------------
 *
 * grammar/quote_run.c
 *	  Counts the records of bytes that begin in a given quote state.
 *
 * Masks tell of the bytes, for BATCH blocks of 64 bytes at once:
 *
 *	bytes ──► masks of line ends and quotes ──► what is quoted ──► FcQuoteRun
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/quote_run.h"

#include <string.h>

#include "grammar/bytes.h"

/*
 * Prepares a run that begins in the quote state "start".
 */
void
fc_quote_run_init(FcQuoteRun *run, FcQuote start)
{
	memset(run, 0, sizeof(*run));
	run->state = start;
	run->first = run->last = run->marker = FC_NOWHERE;
}

/*
 * Returns the quotes of a block of n bytes that toggle: those not escaped.
 * Bits of quotes and escapes tell where these bytes stand.  *escaped comes in
 * as whether the byte before the block was an active escape, and goes out as
 * whether the last byte of the block is one.
 */
static uint64_t
live_quotes(bool inside, bool *escaped, uint64_t quotes, uint64_t escapes,
			size_t n)
{
	uint64_t	toggles = 0;

	if (*escaped)
	{
		quotes &= ~UINT64_C(1);
		escapes &= ~UINT64_C(1);
		*escaped = false;
	}
	for (;;)
	{
		uint64_t	left = inside ? quotes | escapes : quotes;
		uint64_t	bit = left & -left;

		if (bit == 0)
			return toggles;
		if (quotes & bit)
		{
			toggles |= bit;
			inside = !inside;
		}
		else if (bit == UINT64_C(1) << (n - 1))
			*escaped = true;
		else
			bit |= bit << 1;	/* whatever the next byte is, it is data */

		/* done with all up to it; outside quotes an escape means nothing */
		bit |= bit - 1;
		quotes &= ~bit;
		escapes &= ~bit;
	}
}

/*
 * Enters n bytes in the run's books: ends has the bits of the record ends,
 * embedded those of the line ends in quotes.  It does not branch on whether a
 * block has a record end, because that cannot be predicted.
 */
static inline void
run_account(FcQuoteRun *run, uint64_t ends, uint64_t embedded, size_t n)
{
	if (run->first == FC_NOWHERE && ends != 0)
	{
		run->first = run->fed + __builtin_ctzll(ends) + 1;
		run->before = run->embedded +
			fc_mask_count(embedded & ((ends & -ends) - 1));
	}
	Assert(n > 0 && n <= 64);
	run->last = ends != 0 ? run->fed + 64 - __builtin_clzll(ends | 1) : run->last;
	run->records += fc_mask_count(ends);
	run->embedded += fc_mask_count(embedded);
	run->fed += n;
}

/*
 * Runs over a block of n bytes; escapes has the bits of an escape other than
 * the quote.
 */
static inline void
run_block(const FcDialect *dialect, FcQuoteRun *run, const FcMask *mask,
		  uint64_t escapes, size_t n)
{
	uint64_t	inside = run->state == FC_OUTSIDE ? 0 : ~UINT64_C(0);
	uint64_t	ends = dialect->eol == FC_EOL_CR ? mask->cr : mask->nl;
	uint64_t	counted = dialect->eol == FC_EOL_NL ? mask->nl : mask->cr;
	bool		escaped = run->state == FC_ESCAPED;

	if (escapes != 0 || escaped)
		inside ^= fc_mask_prefix_xor(live_quotes(run->state != FC_OUTSIDE, &escaped,
										 mask->quotes, escapes, n));
	else
		inside ^= mask->within;
	run_account(run, ends & ~inside, counted & inside, n);

	if (escaped)
		run->state = FC_ESCAPED;
	else
		run->state = (inside >> (n - 1)) & 1 ? FC_INSIDE : FC_OUTSIDE;
}

/*
 * As run_block, for the text format.
 */
static inline void
run_text_block(const FcDialect *dialect, FcQuoteRun *run, const FcMask *mask,
			   size_t n)
{
	uint64_t	backslashes = dialect->raw ? 0 : mask->quotes;
	uint64_t	ends = dialect->eol == FC_EOL_CR ? mask->cr : mask->nl;
	bool		escaped = run->state == FC_ESCAPED;

	if (backslashes != 0 || escaped)
	{
		ends &= ~fc_mask_escaped(&escaped, backslashes, n);
		run->state = escaped ? FC_ESCAPED : FC_OUTSIDE;
	}
	run_account(run, ends, 0, n);
}

/*
 * Runs over len bytes, at most BATCH blocks.
 */
static void
run_batch(const FcDialect *dialect, FcQuoteRun *run, const char *buf, size_t len)
{
	const bool	text = dialect->mode == FC_MODE_TEXT;
	const bool	distinct = !text && dialect->escape != dialect->quote;
	FcMask		masks[BATCH];
	FcMask		escapes[BATCH];

	fc_mask_kernel->lines(mask_bytes(dialect), buf, len, masks);
	if (distinct)
		fc_mask_kernel->fields((FcMaskBytes) {dialect->escape, dialect->escape},
							   buf, len, escapes);
	for (size_t at = 0, i = 0; at < len; at += BLOCK, i++)
	{
		size_t		n = len - at < BLOCK ? len - at : BLOCK;

		if (text)
			run_text_block(dialect, run, &masks[i], n);
		else
			run_block(dialect, run, &masks[i],
					  distinct ? escapes[i].quotes : 0, n);
	}
}

/*
 * Feeds at most BATCH blocks to a pair of runs.  A quote that toggles one of
 * them toggles the other, so that where one is in quotes the other is not, all
 * the way.  The caller passes local runs of its own, so that they can live in
 * registers.
 */
static inline void
pair_batch(const FcDialect *dialect, FcQuoteRun *one, FcQuoteRun *other, const char *buf,
		   size_t len)
{
	const bool	cr = dialect->eol == FC_EOL_CR;
	const bool	nl = dialect->eol == FC_EOL_NL;
	uint64_t	inside = one->state == FC_OUTSIDE ? 0 : ~UINT64_C(0);
	FcMask		masks[BATCH];

	fc_mask_kernel->lines(mask_bytes(dialect), buf, len, masks);
	for (size_t at = 0, i = 0; at < len; at += BLOCK, i++)
	{
		size_t		n = len - at < BLOCK ? len - at : BLOCK;
		uint64_t	within = masks[i].within ^ inside;
		uint64_t	ends = cr ? masks[i].cr : masks[i].nl;
		uint64_t	counted = nl ? masks[i].nl : masks[i].cr;

		run_account(one, ends & ~within, counted & within, n);
		run_account(other, ends & within, counted & ~within, n);
		inside = (within >> (n - 1)) & 1 ? ~UINT64_C(0) : 0;
	}
	one->state = inside ? FC_INSIDE : FC_OUTSIDE;
	other->state = inside ? FC_OUTSIDE : FC_INSIDE;
}

/*
 * Feeds bytes to one run, or to a pair if there is an "other", without a look
 * for markers.
 */
static void
feed_unwatched(const FcDialect *dialect, FcQuoteRun *one, FcQuoteRun *other,
			   const char *buf, size_t len)
{
	FcQuoteRun	a = *one;
	FcQuoteRun	b = other ? *other : a;

	while (len > 0)
	{
		size_t		n = len < BATCH * BLOCK ? len : BATCH * BLOCK;

		if (other)
			pair_batch(dialect, &a, &b, buf, n);
		else
			run_batch(dialect, &a, buf, n);
		buf += n;
		len -= n;
	}
	*one = a;
	if (other)
		*other = b;
}

/*
 * The position of a backslash in buf[pos..len) before which no marker begins;
 * or len, if none begins there at all.  Only near the end may it lack the dot
 * of a marker.
 */
static inline size_t
find_backslash_dot(const char *buf, size_t pos, size_t len)
{
#ifdef __SSE2__
	const __m128i backslash = _mm_set1_epi8('\\');
	const __m128i dot = _mm_set1_epi8('.');

	for (; pos + 16 < len; pos += 16)
	{
		__m128i		v = _mm_loadu_si128((const __m128i *) (buf + pos));
		__m128i		next = _mm_loadu_si128((const __m128i *) (buf + pos + 1));
		unsigned int bits;

		v = _mm_and_si128(_mm_cmpeq_epi8(v, backslash), _mm_cmpeq_epi8(next, dot));
		bits = (unsigned int) _mm_movemask_epi8(v);
		if (bits != 0)
			return pos + __builtin_ctz(bits);
	}
#endif
	while (pos < len && buf[pos] != '\\')
		pos++;
	return pos;
}

/*
 * The position of the first marker from pos on that is whole in buf[0..len),
 * whatever stands before it; or len.  memchr comes first, because most bytes
 * have no backslash among them.
 */
static size_t
find_marker(const char *marker, size_t size, const char *buf, size_t pos,
			size_t len)
{
	while (pos < len)
	{
		size_t		end = len - pos < BATCH * BLOCK ? len : pos + BATCH * BLOCK;
		const char *backslash = memchr(buf + pos, '\\', end - pos);

		for (pos = backslash ? (size_t) (backslash - buf) : end;
			 (pos = find_backslash_dot(buf, pos, end)) < end; pos++)
			if (len - pos >= size && memcmp(buf + pos, marker, size) == 0)
				return pos;
	}
	return len;
}

/* Notes a marker at a position, unless one is known */
static inline void
note_marker(FcQuoteRun *run, uint64_t at)
{
	if (run->marker == FC_NOWHERE)
		run->marker = at;
}

/*
 * Notes how much of a marker stands at the end of the bytes just fed.
 */
static void
open_marker(FcQuoteRun *run, const char *marker, size_t size, const char *buf,
			size_t len)
{
	uint64_t	opened = run->last == FC_NOWHERE ? 0 : run->fed - run->last;
	size_t		before = opened > len ? opened - len : 0;

	if (opened >= size || (before > 0 && before != run->opened) ||
		memcmp(buf + len - (opened - before), marker + before, opened - before) != 0)
		opened = 0;
	run->opened = (uint8_t) opened;
}

/*
 * See grammar/quote_run.h.  Pieces may be cut anywhere, even between '\r' and
 * '\n'.  Stops before whatever looks like a marker, which is one for the runs
 * that have just met a record's end.
 */
void
fc_quote_run_feed_pair(const FcDialect *dialect, FcQuoteRun *one, FcQuoteRun *other,
					   const char *buf, size_t len)
{
	const char *marker = fc_dialect_marker(dialect);
	const size_t size = strlen(marker);
	FcQuoteRun *runs[] = {one, other};
	const int	n = other ? 2 : 1;
	size_t		fed = 0;

	/* a marker may have begun in the bytes fed before */
	for (int i = 0; i < n && size > 0; i++)
		if (runs[i]->opened > 0 && len >= size - runs[i]->opened &&
			memcmp(buf, marker + runs[i]->opened, size - runs[i]->opened) == 0)
			note_marker(runs[i], runs[i]->fed - runs[i]->opened);
	for (size_t at = 0; size > 0; at++)
	{
		at = find_marker(marker, size, buf, at, len);
		if (at == len)
			break;
		feed_unwatched(dialect, one, other, buf + fed, at - fed);
		fed = at;
		for (int i = 0; i < n; i++)
			if (runs[i]->last == runs[i]->fed)
				note_marker(runs[i], runs[i]->fed);
	}
	feed_unwatched(dialect, one, other, buf + fed, len - fed);
	for (int i = 0; i < n && size > 0; i++)
		open_marker(runs[i], marker, size, buf, len);
}

void
fc_quote_run_feed(const FcDialect *dialect, FcQuoteRun *run, const char *buf, size_t len)
{
	fc_quote_run_feed_pair(dialect, run, NULL, buf, len);
}
