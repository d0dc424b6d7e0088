/*-------------------------------------------------------------------------
 *
 * grammar/marks.c
 *	  Where records and fields end in a stretch of many records.
 *
 *	bytes ──► fc_mask_kernel: what stands where ──► quotes and escapes applied
 *		──► marks ──► record after record, and one field of each
 *
 * What is out of the ordinary (a line end of another style, a marker) is left
 * to record.c and field.c; a fuzzer compares the two ways.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/marks.h"

#include <string.h>

#include "grammar/bytes.h"

/*
 * Marks n blocks of CSV from block "first" on.  *inside is all ones if they
 * begin in quotes, and is set for the blocks after them.  In quotes COPY
 * counts '\n' with "nl", else '\r'.
 */
static void
mark_csv(FcMarks *marks, size_t first, const FcMask *masks, size_t n, bool nl,
		 uint64_t *inside)
{
	uint64_t	outer = *inside;
	uint64_t	quotes = 0;
	uint64_t	embedded = 0;
	uint64_t	strange = 0;

	for (size_t i = 0; i < n; i++)
	{
		const FcMask *mask = &masks[i];
		uint64_t	within = mask->within ^ outer;

		outer = within >> (BLOCK - 1) ? ~UINT64_C(0) : 0;
		marks->ends[first + i] = (mask->nl | mask->cr) & ~within;
		marks->delims[first + i] = mask->delims & ~within;
		marks->quotes[first + i] = mask->quotes;
		marks->strange[first + i] = mask->strange;
		marks->embedded[first + i] = (nl ? mask->nl : mask->cr) & within;
		quotes |= mask->quotes;
		strange |= mask->strange;
		embedded |= marks->embedded[first + i];
	}
	*inside = outer;
	marks->has_quotes |= quotes != 0;
	marks->has_embedded |= embedded != 0;
	marks->has_strange |= strange != 0;
}

/*
 * Marks the backslash of each marker, which is an active one with "." after it.
 * "escaped" has the bytes of block i, which is at p, that stand after active
 * backslashes.
 */
static void
mark_markers(FcMarks *marks, size_t i, const char *p, uint64_t escaped)
{
	for (; escaped != 0; escaped &= escaped - 1)
	{
		size_t		at = __builtin_ctzll(escaped);
		size_t		backslash = i * BLOCK + at - 1;

		Assert(i > 0 || at > 0);
		if (backslash + 1 < marks->len && p[at] == '.')
			marks->ends[backslash / BLOCK] |= UINT64_C(1) << (backslash % BLOCK);
	}
}

/*
 * Marks n blocks of text, which are at p, from block "first" on.  *escaped says
 * whether an active backslash stands just before them, and is set for the
 * blocks after them.
 */
static void
mark_text(FcMarks *marks, size_t first, const FcMask *masks, size_t n,
		  const char *p, bool raw, bool *escaped)
{
	for (size_t i = 0; i < n; i++)
	{
		const FcMask *mask = &masks[i];
		size_t		left = marks->len - (first + i) * BLOCK;
		uint64_t	backslashes = raw ? 0 : mask->quotes;
		uint64_t	data = 0;

		if (backslashes != 0 || *escaped)
			data = fc_mask_escaped(escaped, backslashes,
								   left < BLOCK ? left : BLOCK);
		marks->ends[first + i] = (mask->nl | mask->cr) & ~data;
		marks->delims[first + i] = mask->delims & ~data;
		marks->quotes[first + i] = backslashes;
		marks->strange[first + i] = mask->strange;
		marks->has_quotes |= backslashes != 0;
		marks->has_strange |= mask->strange != 0;
		mark_markers(marks, first + i, p + i * BLOCK, data);
	}
}

/* Moves the bits by n, fewer than a word has; *carry is the word before */
static inline uint64_t
moved(uint64_t word, int n, uint64_t *carry)
{
	uint64_t	before = *carry;

	*carry = word;
	return n == 0 ? word : word << n | before >> (BLOCK - n);
}

/* The bits that stand at most n after others; "before" is the word before */
static inline uint64_t
soon_after(uint64_t word, int n, uint64_t before)
{
	uint64_t	after = 0;

	for (int i = 1; i <= n; i++)
		after |= word << i | before >> (BLOCK - i);
	return after;
}

/*
 * Takes away the last bytes of delimiters that begin within another one, which
 * may end in the word before
 */
static inline uint64_t
apart(uint64_t lasts, int more, uint64_t before)
{
	for (uint64_t bits = lasts & soon_after(lasts, more, before); bits != 0; bits &= bits - 1)
		lasts &= ~(bits & -bits & soon_after(lasts, more, before));
	return lasts;
}

/* Replaces the first bytes of delimiters by the last of those that are whole */
static void
join_delims(const FcDialect *dialect, FcMarks *marks, const char *buf)
{
	const int	more = dialect->delim_more;
	uint64_t	carry[FC_DELIM_BYTES] = {0};
	uint64_t	before = 0;
	FcMask		masks[BATCH];

	for (size_t at = 0; at < marks->len; at += BATCH * BLOCK)
	{
		uint64_t   *words = marks->delims + at / BLOCK;
		size_t		left = marks->len - at < BATCH * BLOCK ? marks->len - at : BATCH * BLOCK;
		size_t		n = (left + BLOCK - 1) / BLOCK;

		for (size_t i = 0; i < n; i++)
			words[i] = moved(words[i], more, &carry[more]);
		for (int k = 0; k < more; k++)
		{
			char		byte = dialect->delim_rest[k];

			fc_mask_kernel->fields((FcMaskBytes) {byte, byte}, buf + at, left, masks);
			for (size_t i = 0; i < n; i++)
				words[i] &= moved(masks[i].delims, more - 1 - k, &carry[k]);
		}
		for (size_t i = 0; i < n; i++)
			before = words[i] = apart(words[i], more, before);
	}
}

/* A delimiter is valid, whatever its bytes: they need not be verified */
static void
forget_strange(FcMarks *marks)
{
	for (size_t w = 0; w * BLOCK < marks->len; w++)
	{
		uint64_t	next = (w + 1) * BLOCK < marks->len ? marks->delims[w + 1] : 0;
		uint64_t	bytes = marks->delims[w];

		for (int i = 1; i <= marks->delim_more; i++)
			bytes |= marks->delims[w] >> i | next << (BLOCK - i);
		marks->strange[w] &= ~bytes;
	}
}

void
fc_marks_fill(const FcDialect *dialect, FcMarks *marks, const char *buf,
			  size_t len)
{
	const bool	text = dialect->mode == FC_MODE_TEXT;
	FcMask		masks[BATCH];
	uint64_t	inside = 0;
	bool		escaped = false;

	Assert(fc_marks_serve(dialect));
	marks->len = len < FC_MARKS_BYTES ? len : FC_MARKS_BYTES;
	marks->delim_more = dialect->delim_more;
	marks->has_quotes = marks->has_embedded = marks->has_strange = false;
	for (size_t at = 0; at < marks->len; at += BATCH * BLOCK)
	{
		size_t		n = marks->len - at < BATCH * BLOCK ? marks->len - at :
			BATCH * BLOCK;
		size_t		blocks = (n + BLOCK - 1) / BLOCK;

		fc_mask_kernel->all(mask_bytes(dialect), buf + at, n, masks);
		if (text)
			mark_text(marks, at / BLOCK, masks, blocks, buf + at, dialect->raw, &escaped);
		else
			mark_csv(marks, at / BLOCK, masks, blocks,
					 dialect->eol == FC_EOL_NL, &inside);
	}
	if (dialect->delim_more > 0)
		join_delims(dialect, marks, buf);
	if (dialect->delim_more > 0 && marks->has_strange)
		forget_strange(marks);
}

int
fc_marks_count(const uint64_t *words, size_t pos, size_t end)
{
	int			n = 0;

	for (size_t base = pos / BLOCK * BLOCK; base < end; base += BLOCK)
		if (words[base / BLOCK] != 0)
			n += fc_mask_count(bits_within(words[base / BLOCK], base, pos, end));
	return n;
}

/* Which bytes of block w stand just before a delimiter or a line end? */
static inline uint64_t
before_borders(const FcMarks *marks, size_t w)
{
	int			back = 1 + marks->delim_more;
	uint64_t	bits = marks->delims[w] >> back | marks->ends[w] >> 1;

	if ((w + 1) * BLOCK < marks->len)
		bits |= marks->delims[w + 1] << (BLOCK - back) | marks->ends[w + 1] << (BLOCK - 1);
	return bits;
}

size_t
fc_marks_inner(const FcMarks *marks, size_t pos, size_t end)
{
	size_t		w = pos / BLOCK;
	uint64_t	from = ~UINT64_C(0) << (pos % BLOCK);
	uint64_t	behind = UINT64_C(1) << (pos % BLOCK);

	for (; w * BLOCK < end; w++)
	{
		uint64_t	borders = marks->delims[w] | marks->ends[w];
		uint64_t	beside = behind | borders << 1 | before_borders(marks, w);
		uint64_t	bits = marks->quotes[w] & from & ~beside;

		if (bits != 0)
			return w * BLOCK + __builtin_ctzll(bits);
		behind = borders >> (BLOCK - 1);
		from = ~UINT64_C(0);
	}
	return end;
}

size_t
fc_marks_strange(const FcMarks *marks, size_t *pos, size_t end)
{
	size_t		first = fc_marks_next(marks->strange, *pos, end);
	size_t		w = first / BLOCK;
	uint64_t	bits;

	if (first >= end)
		return 0;
	while ((w + 1) * BLOCK < end && marks->strange[w + 1] != 0)
		w++;
	bits = bits_within(marks->strange[w], w * BLOCK, first, end);
	/* all of the last block stand at "end" or after it */
	if (bits == 0)
		bits = marks->strange[--w];
	Assert(bits != 0);
	*pos = first;
	return (w + 1) * BLOCK - __builtin_clzll(bits);
}

/*
 * The start of field number "wanted" of the record that is marked from pos to
 * "end", or after "end" if it has fewer fields.
 */
static inline size_t
field_start(const FcMarks *marks, size_t pos, size_t end, int wanted)
{
	size_t		w = pos / BLOCK;
	uint64_t	bits;
	int			n;

	if (wanted == 0)
		return pos;
	bits = marks->delims[w] & (~UINT64_C(0) << (pos % BLOCK));
	while ((n = fc_mask_count(bits)) < wanted)
	{
		wanted -= n;
		if (++w * BLOCK >= end)
			return end + 1;
		bits = marks->delims[w];
	}
	while (--wanted > 0)
		bits &= bits - 1;
	return w * BLOCK + __builtin_ctzll(bits) + 1;
}

bool
fc_marks_borders(const FcMarks *marks, size_t pos, size_t len, int wanted,
				 FcBorders *borders)
{
	size_t		first = field_start(marks, pos, pos + len, wanted);
	size_t		end;

	if (first > pos + len)
		return false;
	end = fc_marks_next(marks->delims, first, pos + len);
	end = end < pos + len ? end - marks->delim_more : pos + len;
	borders->start = first - pos;
	borders->end = end - pos;
	borders->quotes = marks->has_quotes ? fc_marks_count(marks->quotes, first, end) : 0;
	return true;
}

bool
fc_marks_closed(const FcMarks *marks, size_t len)
{
	return !marks->has_quotes || fc_marks_count(marks->quotes, 0, len) % 2 == 0;
}
