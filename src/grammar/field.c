/*-------------------------------------------------------------------------
 *
 * grammar/field.c
 *	  Cuts a record into fields: finds their ends, and takes away quotes and
 *	  escapes.
 *
 *	bytes ──► borders ──► FcField
 *
 * Borders are found from one byte that matters to the next, or looked up where
 * the record is marked (grammar/marks.c).  A field is compared with the null
 * and default strings before it is unquoted or de-escaped, in place.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/field.h"

#include <string.h>

#include "grammar/bytes.h"

/*
 * Finds the end of the field that starts at rec[start]: the position of the
 * delimiter after it, or len.  *quoted says whether it has a quote.  False
 * if a quote never closes.
 */
static inline bool
field_end(const FcDialect *dialect, const char *rec, size_t start, size_t len,
		  size_t *end, bool *quoted)
{
	const char	delim = dialect->delim;
	const char	quote = dialect->quote;
	const char	escape = dialect->escape;
	size_t		pos = start;
	uint64_t	embedded = 0;
	bool		inside = false;

	*quoted = false;
	for (;;)
	{
		if (pos - start >= BATCH * BLOCK && escape == quote)
			pos = fc_record_skip(dialect, false, rec, pos, len, &inside, &embedded);
		if (!inside)
		{
			pos = find_byte(rec, pos, len, delim, quote, quote);
			if (pos == len || (rec[pos] == delim && delim_at(dialect, rec, pos, len)))
			{
				*end = pos;
				return true;
			}
			if (rec[pos++] == delim)
				continue;
			*quoted = true;
		}

		/*
		 * A doubled quote closes and opens again, with nothing between that
		 * could be a delimiter; so only a distinct escape needs care.
		 */
		while ((pos = find_byte(rec, pos, len, quote, escape, escape)) < len && rec[pos] != quote)
		{
			/* step over the escape and over what it may escape */
			pos++;
			if (pos < len && (rec[pos] == quote || rec[pos] == escape))
				pos++;
		}
		if (pos == len)
			return false;
		pos++;
		inside = false;
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

/* The null string, taken out of the dialect so that it stays in registers */
typedef struct Null
{
	const char *string;
	size_t		len;
} Null;

static inline Null
null_of(const FcDialect *dialect)
{
	return (Null) {dialect->null_string, dialect->null_len};
}

/*
 * Compares a raw field with the null and default strings; a field with quotes,
 * which is not bare, is neither.
 */
static inline void
match_field(const FcDialect *dialect, Null null, bool bare, FcField *field)
{
	field->null = bare && field->len == null.len &&
		(null.len == 0 || memcmp(field->data, null.string, null.len) == 0);
	field->marker = bare && !field->null && dialect->default_string &&
		field->len == dialect->default_len &&
		memcmp(field->data, dialect->default_string, field->len) == 0;
	field->verify = false;
	field->quoted = !bare;
}

/*
 * Makes a field of csv: compares it with the null string before anything is
 * unquoted, and writes its NUL.
 */
static inline void
make_csv_field(const FcDialect *dialect, Null null, char *rec, FcBorders at,
			   FcField *field)
{
	field->data = rec + at.start;
	field->len = at.end - at.start;
	match_field(dialect, null, at.quotes == 0, field);
	if (at.quotes == 2 && rec[at.start] == dialect->quote &&
		rec[at.end - 1] == dialect->quote)
	{
		/* nothing else is to be removed, so nothing has to be moved */
		field->data++;
		field->len -= 2;
	}
	else if (at.quotes > 0)
		field->len = unquote(dialect, field->data, field->len);
	Assert(field->data >= rec + at.start && field->data + field->len <= rec + at.end);
	field->data[field->len] = '\0';
}

/*
 * Finds the end of the field of text format that starts at rec[pos]: the
 * position of the delimiter after it, or len.  *escapes says whether it has a
 * backslash.
 */
static inline size_t
text_field_end(const FcDialect *dialect, const char *rec, size_t pos,
			   size_t len, bool *escapes)
{
	const char	escape = dialect->raw ? dialect->delim : '\\';

	*escapes = false;
	for (;; pos++)
	{
		pos = find_byte(rec, pos, len, dialect->delim, escape, escape);
		if (pos == len || (rec[pos] == dialect->delim && delim_at(dialect, rec, pos, len)))
			return pos;
		if (rec[pos] == dialect->delim)
			continue;
		*escapes = true;
		/* what it escapes is data */
		if (++pos == len)
			return len;
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
 * moves *in past them.  Sets *verify for a byte that may be wrong in the
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
 * Where the field ends when it is compared with the null string: a backslash
 * with nothing after it does not count.  Only the file's last byte can be one.
 */
static size_t
raw_end(const char *rec, FcBorders at)
{
	size_t		backslashes = 0;

	Assert(at.start <= at.end);
	while (at.end - backslashes > at.start && rec[at.end - backslashes - 1] == '\\')
		backslashes++;
	return at.end - backslashes % 2;
}

/* As make_csv_field, for the text format */
static inline void
make_text_field(const FcDialect *dialect, Null null, char *rec, FcBorders at,
				FcField *field)
{
	field->data = rec + at.start;
	field->len = (at.quotes > 0 ? raw_end(rec, at) : at.end) - at.start;
	match_field(dialect, null, true, field);
	if (at.quotes > 0 && !field->null && !field->marker)
		field->len = unescape(field->data, at.end - at.start, &field->verify);
	Assert(field->data + field->len <= rec + at.end);
	field->data[field->len] = '\0';
}

static inline void
make_field(const FcDialect *dialect, Null null, char *rec, FcBorders at,
		   FcField *field)
{
	if (dialect->mode == FC_MODE_TEXT)
		make_text_field(dialect, null, rec, at, field);
	else
		make_csv_field(dialect, null, rec, at, field);
}

void
fc_field_cut(const FcDialect *dialect, char *rec, const FcBorders *at,
			 FcField *field)
{
	Assert(at->start <= at->end);
	make_field(dialect, null_of(dialect), rec, *at, field);
}

/*
 * Finds the borders of the field that starts at rec[start]; false if a quote
 * never closes.
 */
static inline bool
field_borders(const FcDialect *dialect, const char *rec, size_t start,
			  size_t len, FcBorders *at)
{
	bool		any;

	at->start = start;
	if (dialect->mode == FC_MODE_TEXT)
		at->end = text_field_end(dialect, rec, start, len, &any);
	else if (!field_end(dialect, rec, start, len, &at->end, &any))
		return false;
	at->quotes = any ? 3 : 0;
	return true;
}

/*
 * See grammar/field.h.  An empty record is one empty field.  Fields beyond max
 * are counted and left as they are.
 */
int
fc_fields_cut(const FcDialect *dialect, char *rec, size_t len,
			  FcField *fields, int max)
{
	const Null	null = null_of(dialect);
	FcBorders	at;
	int			n = 0;

	for (size_t start = 0; start <= len; start = at.end + 1 + dialect->delim_more)
	{
		if (!field_borders(dialect, rec, start, len, &at))
			return -1;
		if (n < max)
			make_field(dialect, null, rec, at, &fields[n]);
		n++;
	}
	return n;
}

/*
 * See grammar/field.h.  Quotes are judged up to the end of the wanted field;
 * what stands after it is not read.
 */
bool
fc_field_at(const FcDialect *dialect, char *rec, size_t len, int wanted,
			FcField *field)
{
	FcBorders	at;

	for (size_t start = 0; start <= len; start = at.end + 1 + dialect->delim_more)
	{
		if (!field_borders(dialect, rec, start, len, &at))
			return false;
		if (wanted-- > 0)
			continue;
		make_field(dialect, null_of(dialect), rec, at, field);
		return true;
	}
	return false;
}

/*
 * See grammar/field.h.  The marks of the records around this one stand in the
 * same words.
 */
int
fc_fields_marked(const FcDialect *dialect, const FcMarks *marks, size_t pos,
				 char *rec, size_t len, FcField *fields, int max)
{
	const Null	null = null_of(dialect);
	const size_t end = pos + len;
	FcBorders	at = {0};
	int			n = 0;

	for (size_t base = pos / BLOCK * BLOCK; base < end; base += BLOCK)
	{
		uint64_t	delims = bits_within(marks->delims[base / BLOCK], base, pos, end);
		uint64_t	quotes = bits_within(marks->quotes[base / BLOCK], base, pos, end);

		for (uint64_t bits = delims | quotes; bits != 0; bits &= bits - 1)
		{
			if (quotes & bits & -bits)
			{
				at.quotes++;
				continue;
			}
			at.end = base - pos + __builtin_ctzll(bits) - marks->delim_more;
			Assert(at.start <= at.end && at.quotes >= 0);
			if (n < max)
				make_field(dialect, null, rec, at, &fields[n]);
			n++;
			at = (FcBorders) {.start = at.end + 1 + marks->delim_more};
		}
	}
	at.end = len;
	Assert(at.start <= len && n >= 0);
	if (n < max)
		make_field(dialect, null, rec, at, &fields[n]);
	return n + 1;
}
