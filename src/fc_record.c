/*-------------------------------------------------------------------------
 *
 * fc_record.c
 *	  Finds where CSV records end and cuts them into fields.
 *
 * Three readers of the same grammar, so that they cannot disagree: a run
 * over many bytes that only counts (split), a search for the end of one
 * record (load) and the cutting of one record (scan, load).  They share the
 * quote states of FcQuote.  Byte classes are found 64 or 16 bytes at a time
 * and only the bytes that change a state are looked at one by one.
 *
 * The quote, the escape and the delimiter must be neither '\r' nor '\n'.
 * As every server encoding sets the high bit in all bytes of a multibyte
 * character, bytes are compared without knowing the encoding.
 *
 * Nothing is allocated and nothing outside buf[0..len) is read, so there is
 * nothing to release on error.
 *
 *-------------------------------------------------------------------------
 */
#include "fc_record.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK	64				/* bytes looked at together by a run */

static inline int
count_bits(uint64_t w)
{
	w -= (w >> 1) & UINT64_C(0x5555555555555555);
	w = (w & UINT64_C(0x3333333333333333)) +
		((w >> 2) & UINT64_C(0x3333333333333333));
	w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) ((w * UINT64_C(0x0101010101010101)) >> 56);
}

/* A word whose bit n is the exclusive or of the bits 0 to n of w. */
static inline uint64_t
prefix_xor(uint64_t w)
{
	w ^= w << 1;
	w ^= w << 2;
	w ^= w << 4;
	w ^= w << 8;
	w ^= w << 16;
	w ^= w << 32;
	return w;
}

/* A word whose bit n says whether p[n] is c; p has BLOCK bytes. */
static inline uint64_t
block_mask(const char *p, char c)
{
	uint64_t	mask = 0;

#ifdef __SSE2__
	const __m128i key = _mm_set1_epi8(c);

	for (int i = 0; i < BLOCK; i += 16)
	{
		__m128i		v = _mm_loadu_si128((const __m128i *) (p + i));
		unsigned int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(v, key));

		mask |= (uint64_t) bits << i;
	}
#else
	const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
	const uint64_t key = UINT64_C(0x0101010101010101) * (unsigned char) c;

	for (int i = 0; i < BLOCK; i += 8)
	{
		uint64_t	w = 0;

		for (int j = 0; j < 8; j++)
			w |= (uint64_t) (unsigned char) p[i + j] << (8 * j);
		w ^= key;
		/* leave the top bit of each byte that is zero, then gather them */
		w = ~(((w & low7) + low7) | w | low7) >> 7;
		mask |= ((w * UINT64_C(0x0102040810204080)) >> 56) << i;
	}
#endif
	return mask;
}

/*
 * Position of the first byte among a, b, c in buf[pos..len), or len.
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

/* The line end that COPY counts when it stands in quotes. */
static inline char
counted_byte(const FcDialect *dialect)
{
	return dialect->eol == FC_EOL_NL ? '\n' : '\r';
}

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
 * embedded those of the line ends in quotes.
 */
static inline void
run_account(FcRun *run, uint64_t ends, uint64_t embedded, size_t n)
{
	if (ends != 0)
	{
		if (run->first == FC_NOWHERE)
		{
			run->first = run->fed + __builtin_ctzll(ends) + 1;
			run->before = run->embedded +
				count_bits(embedded & ((ends & -ends) - 1));
		}
		run->last = run->fed + 64 - __builtin_clzll(ends);
		run->records += count_bits(ends);
	}
	if (embedded != 0)
		run->embedded += count_bits(embedded);
	run->fed += n;
}

/*
 * Runs over the n first bytes (1 to BLOCK) of the BLOCK bytes at p.
 */
static inline void
run_block(const FcDialect *dialect, FcRun *run, const char *p, size_t n)
{
	uint64_t	valid = ~UINT64_C(0) >> (BLOCK - n);
	uint64_t	quotes = block_mask(p, dialect->quote) & valid;
	uint64_t	ends,
				counted,
				inside;
	bool		escaped = false;

	if (dialect->escape != dialect->quote)
	{
		uint64_t	escapes = block_mask(p, dialect->escape) & valid;

		escaped = run->state == FC_ESCAPED;
		if (escapes != 0 || escaped)
			quotes = live_quotes(run->state != FC_OUTSIDE, &escaped,
								 quotes, escapes, n);
	}

	inside = run->state == FC_OUTSIDE ? 0 : ~UINT64_C(0);
	if (quotes != 0)
		inside ^= prefix_xor(quotes);

	ends = block_mask(p, dialect->eol == FC_EOL_CR ? '\r' : '\n') & valid;
	counted = ends;
	if (dialect->eol == FC_EOL_CRNL)
		counted = block_mask(p, '\r') & valid;
	run_account(run, ends & ~inside, counted & inside, n);

	if (escaped)
		run->state = FC_ESCAPED;
	else
		run->state = (inside >> (n - 1)) & 1 ? FC_INSIDE : FC_OUTSIDE;
}

/*
 * Runs over the next len bytes.  dialect->eol must be known.  The run may be
 * fed in pieces cut anywhere, even between '\r' and '\n'.
 */
void
fc_run_feed(const FcDialect *dialect, FcRun *run, const char *buf, size_t len)
{
	FcRun		r = *run;		/* a copy that can live in registers */

	for (; len >= BLOCK; buf += BLOCK, len -= BLOCK)
		run_block(dialect, &r, buf, BLOCK);
	if (len > 0)
	{
		char		tail[BLOCK] = {0};

		memcpy(tail, buf, len);
		run_block(dialect, &r, tail, len);
	}
	*run = r;
}

/*
 * Moves scan, which stands in quotes, behind the quote that closes them or to
 * the end of buf[0..len), whichever comes first.
 */
static void
skip_quoted(const FcDialect *dialect, FcScan *scan, const char *buf, size_t len)
{
	const char	counted = counted_byte(dialect);

	while (scan->state != FC_OUTSIDE && scan->pos < len)
	{
		char		c;

		if (scan->state == FC_INSIDE)
		{
			scan->pos = find_byte(buf, scan->pos, len, dialect->quote,
								  dialect->escape, counted);
			if (scan->pos == len)
				return;
		}

		c = buf[scan->pos++];
		if (c == counted)
			scan->embedded++;
		if (scan->state == FC_ESCAPED)
			scan->state = FC_INSIDE;
		else if (c == dialect->quote)
			scan->state = FC_OUTSIDE;
		else if (c == dialect->escape)
			scan->state = FC_ESCAPED;
	}
}

/*
 * Judges the '\r' or '\n' outside quotes at scan->pos, see fc_record_end.
 */
static FcEnd
judge_line_end(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
			   bool eof)
{
	size_t		pos = scan->pos;

	scan->content = pos;
	if (buf[pos] == '\n')
	{
		if (dialect->eol == FC_EOL_CR || dialect->eol == FC_EOL_CRNL)
			return FC_END_BARE_NL;
		dialect->eol = FC_EOL_NL;
		scan->pos = scan->total = pos + 1;
		return FC_END_FOUND;
	}

	if (dialect->eol == FC_EOL_NL)
		return FC_END_BARE_CR;
	if (dialect->eol != FC_EOL_CR)
	{
		if (pos + 1 == len && !eof)
			return FC_END_MORE;
		if (pos + 1 < len && buf[pos + 1] == '\n')
		{
			dialect->eol = FC_EOL_CRNL;
			scan->pos = scan->total = pos + 2;
			return FC_END_FOUND;
		}
		if (dialect->eol == FC_EOL_CRNL)
			return FC_END_BARE_CR;
		dialect->eol = FC_EOL_CR;
	}
	scan->pos = scan->total = pos + 1;
	return FC_END_FOUND;
}

/*
 * See fc_record.h.  A '\r' at the end of the bytes read so far is looked at
 * again when more have come, as the byte behind it decides what it is.
 */
FcEnd
fc_record_end(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
			  bool eof)
{
	while (scan->pos < len)
	{
		if (scan->state != FC_OUTSIDE)
		{
			skip_quoted(dialect, scan, buf, len);
			continue;
		}
		scan->pos = find_byte(buf, scan->pos, len, dialect->quote, '\n', '\r');
		if (scan->pos == len)
			break;
		if (buf[scan->pos] != dialect->quote)
			return judge_line_end(dialect, scan, buf, len, eof);
		scan->pos++;
		scan->state = FC_INSIDE;
	}

	if (!eof)
		return FC_END_MORE;
	if (len == 0)
		return FC_END_NONE;
	scan->content = scan->total = len;
	scan->unterminated = scan->state != FC_OUTSIDE;
	return FC_END_FOUND;
}

/*
 * Finds the end of the field that starts at rec[pos]: the position of the
 * delimiter behind it, or len.  *quoted says whether it has a quote.  False
 * if a quote never closes.
 */
static inline bool
field_end(const FcDialect *dialect, const char *rec, size_t pos, size_t len,
		  size_t *end, bool *quoted)
{
	const char	delim = dialect->delim;
	const char	quote = dialect->quote;
	const char	escape = dialect->escape;

	*quoted = false;
	for (;;)
	{
		pos = find_byte(rec, pos, len, delim, quote, quote);
		if (pos == len || rec[pos] == delim)
		{
			*end = pos;
			return true;
		}
		*quoted = true;

		/*
		 * A doubled quote closes and opens again, with nothing between that
		 * could be a delimiter; so only a distinct escape needs care.
		 */
		pos = find_byte(rec, pos + 1, len, quote, escape, escape);
		while (pos < len && rec[pos] != quote)
		{
			/* step over the escape and over what it may escape */
			pos++;
			if (pos < len && (rec[pos] == quote || rec[pos] == escape))
				pos++;
			pos = find_byte(rec, pos, len, quote, escape, escape);
		}
		if (pos == len)
			return false;
		pos++;
	}
}

/*
 * Removes the quotes and escapes of a field of len bytes, in place.  Every
 * quote must be closed.  Returns the new length.
 */
static size_t
unquote(const FcDialect *dialect, char *data, size_t len)
{
	const char	quote = dialect->quote;
	const char	escape = dialect->escape;
	size_t		in = 0;
	size_t		out = 0;
	bool		inside = false;

	while (in < len)
	{
		size_t		next = find_byte(data, in, len, quote,
									 inside ? escape : quote, quote);

		if (next > in && out != in)
			memmove(data + out, data + in, next - in);
		out += next - in;
		in = next;
		if (in == len)
			break;

		if (inside && data[in] == escape && in + 1 < len &&
			(data[in + 1] == quote || data[in + 1] == escape))
		{
			data[out++] = data[in + 1];
			in += 2;
		}
		else if (data[in] == quote)
		{
			inside = !inside;
			in++;
		}
		else
			data[out++] = data[in++];
	}
	return out;
}

/*
 * Makes a field of rec[start..end): compares it with the null string before
 * anything is unquoted, and writes its NUL.
 */
static inline void
make_field(const FcDialect *dialect, char *rec, size_t start, size_t end,
		   bool quoted, const char *null_string, size_t null_len,
		   FcField *field)
{
	field->data = rec + start;
	field->len = end - start;
	field->null = !quoted && field->len == null_len &&
		memcmp(field->data, null_string, null_len) == 0;
	field->marker = !quoted && !field->null && dialect->default_string &&
		field->len == dialect->default_len &&
		memcmp(field->data, dialect->default_string, field->len) == 0;
	if (quoted)
		field->len = unquote(dialect, field->data, field->len);
	field->data[field->len] = '\0';
}

/*
 * See fc_record.h.  An empty record is one empty field.  Fields beyond max
 * are counted and left as they are.
 */
int
fc_record_fields(const FcDialect *dialect, char *rec, size_t len,
				 const char *null_string, size_t null_len,
				 FcField *fields, int max)
{
	size_t		start = 0;
	int			n = 0;

	for (;;)
	{
		size_t		end;
		bool		quoted;

		if (!field_end(dialect, rec, start, len, &end, &quoted))
			return -1;
		if (n < max)
			make_field(dialect, rec, start, end, quoted,
					   null_string, null_len, &fields[n]);
		n++;
		if (end == len)
			return n;
		start = end + 1;
	}
}

/*
 * See fc_record.h.  Quotes are judged up to the end of the wanted field; what
 * stands behind it is not read.
 */
bool
fc_record_field(const FcDialect *dialect, char *rec, size_t len,
				const char *null_string, size_t null_len,
				int wanted, FcField *field)
{
	size_t		start = 0;
	size_t		end;
	bool		quoted;

	for (int n = 0;; n++)
	{
		if (!field_end(dialect, rec, start, len, &end, &quoted))
			return false;
		if (n == wanted)
			break;
		if (end == len)
			return false;
		start = end + 1;
	}
	make_field(dialect, rec, start, end, quoted, null_string, null_len, field);
	return true;
}
