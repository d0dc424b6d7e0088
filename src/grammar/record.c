/*-------------------------------------------------------------------------
 *
 * grammar/record.c
 *	  Finds where records end and cuts them into fields.
 *
 * Three readers of the same grammar, so that they cannot disagree: a run
 * over many bytes that only counts (split), a search for the end of one
 * record and the cutting of one record (scan, load).  They share the quote
 * states of FcQuote.  Runs and the cutting go by masks of 64 bytes, but for an
 * escape that is not the quote; elsewhere bytes are found 16 at a time.  Plain
 * records are found in grammar/marks.c, many at once.
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
#include "grammar/record.h"

#include <string.h>

#include "grammar/mask.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK	FC_MASK_BLOCK
#define BATCH	16				/* blocks whose masks are made together */

static inline FcMaskBytes
mask_bytes(const FcDialect *dialect)
{
	FcMaskBytes bytes = {dialect->mode == FC_MODE_TEXT ? '\\' : dialect->quote,
	dialect->delim};

	return bytes;
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
 * embedded those of the line ends in quotes.  Whether a block has a record end
 * is anybody's guess, so that there is no branch on it.
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
 * Notes the first marker that stands just behind a record end: ends and
 * backslashes have the bits of the block of n bytes at p, and the run's books
 * are those before it.  A backslash may be the last byte before the block.
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
 * fc_run_feed_pair for at most BATCH blocks.  Two copies that can live in
 * registers are given back.
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
 * See grammar/record.h.  A quote that toggles one run toggles the other, so that
 * where one is in quotes the other is not, all the way.
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
 * The line end that must follow a marker: its length if the "len" bytes at buf
 * begin with it.  Negative if not: minus the FcEnd to be given.
 */
static int
marker_line_end(const FcDialect *dialect, const char *buf, size_t len)
{
	size_t		at = 0;

	if (dialect->eol == FC_EOL_CRNL)
	{
		if (len > 0 && buf[0] == '\n')
			return -FC_END_MARKER_STYLE;
		if (len == 0 || buf[0] != '\r')
			return -FC_END_MARKER_CORRUPT;
		at = 1;
	}
	if (at >= len || (buf[at] != '\r' && buf[at] != '\n'))
		return -FC_END_MARKER_CORRUPT;
	if (dialect->eol != FC_EOL_UNKNOWN &&
		(buf[at] == '\r') != (dialect->eol == FC_EOL_CR))
		return -FC_END_MARKER_STYLE;
	return (int) at + 1;
}

/*
 * Judges the marker at scan->pos, see fc_record_end.
 */
static FcEnd
judge_marker(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
			 bool eof)
{
	size_t		behind = scan->pos + 2;
	int			end;

	if (len - behind < (dialect->eol == FC_EOL_CRNL ? 2 : 1) && !eof)
		return FC_END_MORE;
	scan->content = scan->pos;
	end = marker_line_end(dialect, buf + behind, len - behind);
	if (end < 0)
		return (FcEnd) -end;
	if (scan->content > 0 && dialect->lone_marker)
	{
		if (dialect->eol == FC_EOL_UNKNOWN)
			dialect->eol = buf[behind] == '\r' ? FC_EOL_CR : FC_EOL_NL;
		return FC_END_MARKER_CORRUPT;
	}
	scan->total = behind + end;
	scan->marked = true;
	if (scan->content == 0)
		return FC_END_MARKER;
	scan->pos = scan->total;
	return FC_END_FOUND;
}

/*
 * fc_record_end for the text format, but for the end of the file, which is
 * left to the caller: FC_END_NONE if no end is among these bytes.
 */
static FcEnd
text_record_end(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
				bool eof)
{
	for (;;)
	{
		scan->pos = find_byte(buf, scan->pos, len, '\\', '\n', '\r');
		if (scan->pos == len)
			return FC_END_NONE;
		if (buf[scan->pos] != '\\')
			return judge_line_end(dialect, scan, buf, len, eof);
		if (scan->pos + 1 == len)
			return eof ? FC_END_NONE : FC_END_MORE;
		if (buf[scan->pos + 1] == '.')
			return judge_marker(dialect, scan, buf, len, eof);
		scan->pos += 2;
	}
}

/*
 * fc_record_end for CSV, likewise.
 */
static FcEnd
csv_record_end(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
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
	return FC_END_NONE;
}

/*
 * See grammar/record.h.  Where bytes at the end of those read so far mean something
 * only together with the next, they are looked at again when more have come.
 */
FcEnd
fc_record_end(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
			  bool eof)
{
	FcEnd		end;

	if (dialect->mode == FC_MODE_TEXT)
		end = text_record_end(dialect, scan, buf, len, eof);
	else
		end = csv_record_end(dialect, scan, buf, len, eof);
	if (end != FC_END_NONE)
		return end;

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
 * Compares a raw field with the null and default strings; a field with quotes,
 * which is not bare, is neither.
 */
static inline void
match_field(const FcDialect *dialect, bool bare, const char *null_string,
			size_t null_len, FcField *field)
{
	field->null = bare && field->len == null_len &&
		(null_len == 0 || memcmp(field->data, null_string, null_len) == 0);
	field->marker = bare && !field->null && dialect->default_string &&
		field->len == dialect->default_len &&
		memcmp(field->data, dialect->default_string, field->len) == 0;
	field->verify = false;
}

/*
 * Makes a field of rec[start..end): compares it with the null string before
 * anything is unquoted, and writes its NUL.  Of quotes it has the number
 * given, which for more than two need not be exact.
 */
static inline void
make_field(const FcDialect *dialect, char *rec, size_t start, size_t end,
		   int quotes, const char *null_string, size_t null_len,
		   FcField *field)
{
	field->data = rec + start;
	field->len = end - start;
	match_field(dialect, quotes == 0, null_string, null_len, field);
	if (quotes == 2 && rec[start] == dialect->quote &&
		rec[end - 1] == dialect->quote)
	{
		/* nothing to be moved, as there is nothing else to be removed */
		field->data++;
		field->len -= 2;
	}
	else if (quotes > 0)
		field->len = unquote(dialect, field->data, field->len);
	field->data[field->len] = '\0';
}

/*
 * Finds the end of the field of text format that starts at rec[pos]: the
 * position of the delimiter behind it, or len.  *escapes says whether it has a
 * backslash, *raw where it ends as the null string sees it: a backslash with
 * nothing behind it, which only the file's last byte can be, does not count.
 */
static inline size_t
text_field_end(const FcDialect *dialect, const char *rec, size_t pos,
			   size_t len, size_t *raw, bool *escapes)
{
	*escapes = false;
	for (;;)
	{
		pos = find_byte(rec, pos, len, dialect->delim, '\\', '\\');
		*raw = pos;
		if (pos == len || rec[pos] == dialect->delim)
			return pos;
		*escapes = true;
		if (pos + 1 == len)
			return len;
		pos += 2;
	}
}

/* The value of an octal or hexadecimal digit, or "base" if it is none. */
static inline unsigned int
digit_value(char c, unsigned int base)
{
	unsigned int value = base;

	if (c >= '0' && c <= '9')
		value = c - '0';
	else if (c >= 'a' && c <= 'f')
		value = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		value = c - 'A' + 10;
	return value < base ? value : base;
}

/*
 * Reads up to max digits at data[*in..len), of which there is at least one.
 */
static char
escaped_number(const char *data, size_t len, size_t *in, unsigned int base,
			   int max)
{
	unsigned int value = 0;

	for (int i = 0; i < max && *in < len; i++)
	{
		unsigned int digit = digit_value(data[*in], base);

		if (digit == base)
			break;
		value = value * base + digit;
		(*in)++;
	}
	return (char) (value & 0xff);
}

/*
 * What the backslash before data[*in] and the bytes from there on stand for;
 * moves *in behind them.  Sets *verify for a byte that may be wrong in the
 * encoding.
 */
static char
escaped_byte(const char *data, size_t len, size_t *in, bool *verify)
{
	static const char names[] = "bfnrtv";
	static const char values[] = "\b\f\n\r\t\v";
	char		c = data[*in];
	const char *name;

	if (digit_value(c, 8) < 8)
		c = escaped_number(data, len, in, 8, 3);
	else if (c == 'x' && *in + 1 < len && digit_value(data[*in + 1], 16) < 16)
	{
		(*in)++;
		c = escaped_number(data, len, in, 16, 2);
	}
	else
	{
		(*in)++;
		name = c == '\0' ? NULL : strchr(names, c);
		return name ? values[name - names] : c;
	}
	if (c == '\0' || (c & 0x80))
		*verify = true;
	return c;
}

/*
 * Puts what escapes stand for in their place, in a field of len bytes.
 * Returns the new length.
 */
static size_t
unescape(char *data, size_t len, bool *verify)
{
	size_t		in = 0;
	size_t		out = 0;

	for (;;)
	{
		size_t		next = find_byte(data, in, len, '\\', '\\', '\\');

		if (next > in && out != in)
			memmove(data + out, data + in, next - in);
		out += next - in;
		in = next + 1;
		/* at the end of the field a backslash stands for nothing */
		if (in >= len)
			return out;
		data[out++] = escaped_byte(data, len, &in, verify);
	}
}

/*
 * As make_field, for the text format; the field's delimiter, or the record's
 * end, is at "end".
 */
static inline void
make_text_field(const FcDialect *dialect, char *rec, size_t start, size_t raw,
				size_t end, bool escapes, const char *null_string,
				size_t null_len, FcField *field)
{
	field->data = rec + start;
	field->len = raw - start;
	match_field(dialect, true, null_string, null_len, field);
	if (escapes && !field->null && !field->marker)
		field->len = unescape(field->data, end - start, &field->verify);
	field->data[field->len] = '\0';
}

/* Where the cutting of a record by masks stands */
typedef struct Cutter
{
	const FcDialect *dialect;
	char	   *rec;
	const char *null_string;
	size_t		null_len;
	FcField    *fields;
	int			max;
	int			n;				/* fields cut */
	size_t		start;			/* of the field that is not cut yet */
	int			quotes;			/* it has in blocks before; more than two are
								 * three.  Text: backslashes */
} Cutter;

static inline void
make_any_field(const FcDialect *dialect, char *rec, size_t start, size_t end,
			   int quotes, const char *null_string, size_t null_len,
			   FcField *field)
{
	if (dialect->mode == FC_MODE_TEXT)
		make_text_field(dialect, rec, start, end, end, quotes > 0,
						null_string, null_len, field);
	else
		make_field(dialect, rec, start, end, quotes, null_string, null_len,
				   field);
}

/* See grammar/record.h. */
void
fc_record_cut(const FcDialect *dialect, char *rec, size_t start, size_t end,
			  int quotes, const char *null_string, size_t null_len,
			  FcField *field)
{
	make_any_field(dialect, rec, start, end, quotes, null_string, null_len,
				   field);
}

/* How many bits are set; more than two are three. */
static inline int
count_to_three(uint64_t w)
{
	uint64_t	without = w & (w - 1);

	if (without == 0)
		return w != 0;
	return (without & (without - 1)) == 0 ? 2 : 3;
}

/*
 * Cuts the field that ends at "end", with that many quotes.
 */
static inline void
cut_field(Cutter *cutter, size_t end, int quotes)
{
	if (cutter->n < cutter->max)
		make_any_field(cutter->dialect, cutter->rec, cutter->start, end, quotes,
					   cutter->null_string, cutter->null_len,
					   &cutter->fields[cutter->n]);
	cutter->n++;
	cutter->start = end + 1;
}

/*
 * Cuts the fields that end in the block at rec[base]: delims and quotes have
 * the bits of those that count.
 */
static inline void
cut_block(Cutter *cutter, size_t base, uint64_t delims, uint64_t quotes)
{
	int			before = cutter->quotes;

	if (quotes == 0 && before == 0)
	{
		for (; delims != 0; delims &= delims - 1)
			cut_field(cutter, base + __builtin_ctzll(delims), 0);
		return;
	}
	for (; delims != 0; delims &= delims - 1)
	{
		uint64_t	ahead = (delims & -delims) - 1;

		cut_field(cutter, base + __builtin_ctzll(delims),
				  before + count_to_three(quotes & ahead));
		quotes &= ~ahead;
		before = 0;
	}
	before += count_to_three(quotes);
	cutter->quotes = before > 3 ? 3 : before;
}

/*
 * Cuts the last field of a record that ends with a backslash with nothing
 * behind it, which does not count for the null string.
 */
static void
cut_text_end(Cutter cutter, size_t len)
{
	if (cutter.n < cutter.max)
		make_text_field(cutter.dialect, cutter.rec, cutter.start, len - 1, len,
						true, cutter.null_string, cutter.null_len,
						&cutter.fields[cutter.n]);
}

/*
 * fc_record_fields where masks tell all: csv whose escape is the quote, and
 * text.  A block is never looked at again once something was written to it.
 * The cutter is a copy that can live in registers.
 */
static int
masked_fields(Cutter cutter, size_t len)
{
	const bool	text = cutter.dialect->mode == FC_MODE_TEXT;
	const FcMaskBytes bytes = mask_bytes(cutter.dialect);
	FcMask		masks[BATCH];
	uint64_t	inside = 0;
	bool		escaped = false;

	for (size_t base = 0; base < len; base += BLOCK)
	{
		const FcMask *mask = &masks[base / BLOCK % BATCH];
		uint64_t	delims;

		if (mask == masks)
			fc_mask_kernel->fields(bytes, cutter.rec + base,
								   len - base < BATCH * BLOCK ? len - base :
								   BATCH * BLOCK, masks);
		delims = mask->delims;
		if (!text)
		{
			inside ^= mask->within;
			delims &= ~inside;
			inside = inside >> (BLOCK - 1) ? ~UINT64_C(0) : 0;
		}
		else if (mask->quotes != 0 || escaped)
			delims &= ~fc_mask_escaped(&escaped, mask->quotes,
									   len - base < BLOCK ? len - base : BLOCK);
		cut_block(&cutter, base, delims, mask->quotes);
	}
	if (inside)
		return -1;
	if (escaped)
		cut_text_end(cutter, len);
	else
		cut_field(&cutter, len, cutter.quotes);
	return escaped ? cutter.n + 1 : cutter.n;
}

static bool
text_field(const FcDialect *dialect, char *rec, size_t len,
		   const char *null_string, size_t null_len, int wanted,
		   FcField *field)
{
	size_t		start = 0;
	size_t		raw;
	size_t		end;
	bool		escapes;

	for (int n = 0;; n++)
	{
		end = text_field_end(dialect, rec, start, len, &raw, &escapes);
		if (n == wanted)
			break;
		if (end == len)
			return false;
		start = end + 1;
	}
	make_text_field(dialect, rec, start, raw, end, escapes, null_string,
					null_len, field);
	return true;
}

/*
 * See grammar/record.h.  An empty record is one empty field.  Fields beyond max
 * are counted and left as they are.
 */
int
fc_record_fields(const FcDialect *dialect, char *rec, size_t len,
				 const char *null_string, size_t null_len,
				 FcField *fields, int max)
{
	Cutter		cutter = {dialect, rec, null_string, null_len, fields, max};
	size_t		end;
	bool		quoted;

	if (dialect->mode == FC_MODE_TEXT || dialect->escape == dialect->quote)
		return masked_fields(cutter, len);
	do
	{
		if (!field_end(dialect, rec, cutter.start, len, &end, &quoted))
			return -1;
		cut_field(&cutter, end, quoted ? 3 : 0);
	} while (end < len);
	return cutter.n;
}

/*
 * See grammar/record.h.  Quotes are judged up to the end of the wanted field; what
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

	if (dialect->mode == FC_MODE_TEXT)
		return text_field(dialect, rec, len, null_string, null_len, wanted,
						  field);
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
	make_field(dialect, rec, start, end, quoted ? 3 : 0, null_string, null_len,
			   field);
	return true;
}
