/*-------------------------------------------------------------------------
 *
 * grammar/quote_run.c
 *	  Counts the records of bytes that begin in a given quote state.
 *
 * The bytes are looked at by masks of 64, of BATCH blocks at once:
 *
 *	 bytes ──► masks of line ends and quotes ──► what is in quotes ──► FcRun
 *
 * Nothing is allocated and nothing outside the bytes fed is read, so there is
 * nothing to release on error.
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
fc_run_init(FcRun *run, FcQuote start)
{
	memset(run, 0, sizeof(*run));
	run->state = start;
	run->first = FC_NOWHERE;
	run->last = FC_NOWHERE;
	run->marker = FC_NOWHERE;
}

/*
 * Of a block of n bytes, the quotes that toggle: those not escaped.  Bits of
 * quotes and escapes tell where these bytes stand.  *escaped comes in as
 * whether the byte before the block was an active escape, and goes out as
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

		/* what stands before it is dealt with or, outside, means nothing */
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
run_account(FcRun *run, uint64_t ends, uint64_t embedded, size_t n)
{
	if (run->first == FC_NOWHERE && ends != 0)
	{
		run->first = run->fed + __builtin_ctzll(ends) + 1;
		run->before = run->embedded +
			fc_mask_count(embedded & ((ends & -ends) - 1));
	}
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
run_block(const FcDialect *dialect, FcRun *run, const FcMask *mask,
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
 * Notes the first marker that stands just after a record end: ends and
 * backslashes have the bits of the block of n bytes at p, which the run's
 * books do not have yet.  A backslash may be the last byte before the block.
 */
static void
run_find_marker(FcRun *run, const char *p, size_t n, uint64_t ends,
				uint64_t backslashes)
{
	uint64_t	starts = (ends << 1 | (run->last == run->fed)) & backslashes;

	if (run->last != FC_NOWHERE && run->state == FC_ESCAPED &&
		run->last + 1 == run->fed && p[0] == '.')
	{
		run->marker = run->fed - 1;
		return;
	}
	for (; starts != 0; starts &= starts - 1)
	{
		size_t		pos = __builtin_ctzll(starts);

		if (pos + 1 < n && p[pos + 1] == '.')
		{
			run->marker = run->fed + pos;
			return;
		}
	}
}

/*
 * As run_block, for the text format; p has the block's bytes.
 */
static inline void
run_text_block(const FcDialect *dialect, FcRun *run, const FcMask *mask,
			   const char *p, size_t n)
{
	uint64_t	backslashes = mask->quotes;
	uint64_t	ends = dialect->eol == FC_EOL_CR ? mask->cr : mask->nl;
	bool		escaped = run->state == FC_ESCAPED;

	if (backslashes != 0 || escaped)
	{
		ends &= ~fc_mask_escaped(&escaped, backslashes, n);
		if (run->marker == FC_NOWHERE)
			run_find_marker(run, p, n, ends, backslashes);
		run->state = escaped ? FC_ESCAPED : FC_OUTSIDE;
	}
	run_account(run, ends, 0, n);
}

/*
 * Runs over len bytes, at most BATCH blocks.
 */
static void
run_batch(const FcDialect *dialect, FcRun *run, const char *buf, size_t len)
{
	const bool	text = dialect->mode == FC_MODE_TEXT;
	const bool	distinct = !text && dialect->escape != dialect->quote;
	FcMask		masks[BATCH];
	FcMask		escapes[BATCH];

	fc_mask_kernel->all(mask_bytes(dialect), buf, len, masks);
	if (distinct)
		fc_mask_kernel->fields((FcMaskBytes) {dialect->escape, dialect->escape},
							   buf, len, escapes);
	for (size_t at = 0, i = 0; at < len; at += BLOCK, i++)
	{
		size_t		n = len - at < BLOCK ? len - at : BLOCK;

		if (text)
			run_text_block(dialect, run, &masks[i], buf + at, n);
		else
			run_block(dialect, run, &masks[i],
					  distinct ? escapes[i].quotes : 0, n);
	}
}

/*
 * Runs over the next len bytes.  dialect->eol must be known.  The run may be
 * fed in pieces cut anywhere, even between '\r' and '\n'.
 */
void
fc_run_feed(const FcDialect *dialect, FcRun *run, const char *buf, size_t len)
{
	while (len > 0)
	{
		size_t		n = len < BATCH * BLOCK ? len : BATCH * BLOCK;

		run_batch(dialect, run, buf, n);
		buf += n;
		len -= n;
	}
}

/*
 * fc_run_feed_pair for at most BATCH blocks.  The caller passes
 * local runs of its own, so that they can live in registers.
 */
static inline void
pair_batch(const FcDialect *dialect, FcRun *one, FcRun *other, const char *buf,
		   size_t len)
{
	const bool	cr = dialect->eol == FC_EOL_CR;
	const bool	nl = dialect->eol == FC_EOL_NL;
	uint64_t	inside = one->state == FC_OUTSIDE ? 0 : ~UINT64_C(0);
	FcMask		masks[BATCH];

	fc_mask_kernel->all(mask_bytes(dialect), buf, len, masks);
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
 * See grammar/quote_run.h.  A quote that toggles one run toggles the other,
 * so that where one is in quotes the other is not, all the way.
 */
void
fc_run_feed_pair(const FcDialect *dialect, FcRun *one, FcRun *other,
				 const char *buf, size_t len)
{
	FcRun		a = *one;
	FcRun		b = *other;

	while (len > 0)
	{
		size_t		n = len < BATCH * BLOCK ? len : BATCH * BLOCK;

		pair_batch(dialect, &a, &b, buf, n);
		buf += n;
		len -= n;
	}
	*one = a;
	*other = b;
}
