/*-------------------------------------------------------------------------
 *
 * slow.h
 *	  The record grammar one byte at a time: what src/grammar is held to.
 *
 * Written after the description of COPY's formats and in no hurry: no state is
 * kept between calls, nothing is looked up in blocks, every question is asked
 * of every byte.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SLOW_H
#define SLOW_H

#include "grammar/record.h"
#include "tap.h"

#define SLOW_EOF	(-1)

typedef struct SlowRecord
{
	size_t		start;			/* in the file */
	size_t		content;		/* of an error: its position in the record */
	size_t		total;
	uint64_t	embedded;
	uint64_t	line;			/* lines before it */
	bool		unterminated;
} SlowRecord;

typedef struct SlowField
{
	size_t		start;			/* in the record */
	size_t		behind;			/* position of the delimiter, or the end */
	char	   *value;			/* malloc'ed */
	size_t		len;
	bool		null;
	bool		marker;
	bool		verify;
} SlowField;

static inline int
slow_byte(const char *data, size_t len, size_t at)
{
	return at < len ? (unsigned char) data[at] : SLOW_EOF;
}

/* The line end at data[at]: its length, or 0 for one of another style. */
static inline size_t
slow_line_end(FcDialect *dialect, const char *data, size_t len, size_t at)
{
	int			c = slow_byte(data, len, at);
	int			next = slow_byte(data, len, at + 1);

	if (dialect->eol == FC_EOL_UNKNOWN)
		dialect->eol = c == '\n' ? FC_EOL_NL :
			next == '\n' ? FC_EOL_CRNL : FC_EOL_CR;
	if (dialect->eol == FC_EOL_NL)
		return c == '\n';
	if (dialect->eol == FC_EOL_CR)
		return c == '\r';
	return c == '\r' && next == '\n' ? 2 : 0;
}

/*
 * What the marker at data[at] means in a record that starts at rec->start; csv
 * takes corrupt ones for data.
 */
static inline FcEnd
slow_marker(FcDialect *dialect, const char *data, size_t len, size_t at,
			SlowRecord *rec)
{
	size_t		behind = at + 2;
	int			c;

	rec->content = at - rec->start;
	if (dialect->eol == FC_EOL_CRNL)
	{
		c = slow_byte(data, len, behind++);
		if (c == '\n' && dialect->mode == FC_MODE_TEXT)
			return FC_END_MARKER_STYLE;
		if (c != '\r')
			return FC_END_MARKER_CORRUPT;
	}
	c = slow_byte(data, len, behind++);
	if (c != '\r' && c != '\n')
		return FC_END_MARKER_CORRUPT;
	if (dialect->eol == FC_EOL_CR && c == '\n')
		return FC_END_MARKER_STYLE;
	if ((dialect->eol == FC_EOL_NL || dialect->eol == FC_EOL_CRNL) && c == '\r')
		return FC_END_MARKER_STYLE;
	if (at > rec->start && dialect->lone_marker)
		return FC_END_MARKER_CORRUPT;
	rec->total = behind - rec->start;
	return at == rec->start ? FC_END_MARKER : FC_END_FOUND;
}

/* The record that starts at rec->start. */
static inline FcEnd
slow_record(FcDialect *dialect, const char *data, size_t len, SlowRecord *rec)
{
	bool		in_quotes = false;
	bool		escaped = false;

	for (size_t at = rec->start;; at++)
	{
		int			c = slow_byte(data, len, at);

		if (c == SLOW_EOF)
		{
			rec->content = rec->total = at - rec->start;
			rec->unterminated = in_quotes;
			return rec->total > 0 ? FC_END_FOUND : FC_END_NONE;
		}
		if (dialect->mode == FC_MODE_TEXT && c == '\\' && !dialect->raw)
		{
			if (slow_byte(data, len, at + 1) == '.')
				return slow_marker(dialect, data, len, at, rec);
			if (at + 1 < len)
				at++;
			continue;
		}
		if (dialect->mode == FC_MODE_CSV)
		{
			if (dialect->csv_marker && at == rec->start && c == '\\' &&
				slow_byte(data, len, at + 1) == '.')
			{
				FcEnd		end = slow_marker(dialect, data, len, at, rec);

				if (end != FC_END_MARKER_CORRUPT)
					return end;
			}
			if (escaped)
				escaped = false;
			else if (in_quotes && (char) c == dialect->escape &&
					 dialect->escape != dialect->quote)
				escaped = true;
			else if ((char) c == dialect->quote)
				in_quotes = !in_quotes;
			if (in_quotes && c == (dialect->eol == FC_EOL_NL ? '\n' : '\r'))
				rec->embedded++;
			if (in_quotes)
				continue;
		}
		if (c == '\r' || c == '\n')
		{
			size_t		end = slow_line_end(dialect, data, len, at);

			rec->content = at - rec->start;
			rec->total = rec->content + end;
			if (end > 0)
				return FC_END_FOUND;
			return c == '\r' ? FC_END_BARE_CR : FC_END_BARE_NL;
		}
	}
}

/* What a run over data[0..len) must find. */
static inline void
slow_run(const FcDialect *dialect, FcQuoteRun *run, const char *data, size_t len)
{
	bool		text = dialect->mode == FC_MODE_TEXT;
	char		ends = dialect->eol == FC_EOL_CR ? '\r' : '\n';
	char		counted = dialect->eol == FC_EOL_NL ? '\n' : '\r';
	const char *marker = dialect->eol == FC_EOL_NL ? "\\.\n" :
		dialect->eol == FC_EOL_CR ? "\\.\r" : "\\.\r\n";

	for (size_t i = 0; i < len; i++)
	{
		char		c = data[i];
		FcQuote		before = run->state;

		if ((text || dialect->csv_marker) && !dialect->raw && run->marker == FC_NOWHERE &&
			run->last == i && len - i >= strlen(marker) &&
			memcmp(data + i, marker, strlen(marker)) == 0)
			run->marker = i;
		if (before == FC_ESCAPED)
			run->state = text ? FC_OUTSIDE : FC_INSIDE;
		else if (text && c == '\\' && !dialect->raw)
			run->state = FC_ESCAPED;
		else if (!text && before == FC_INSIDE && c == dialect->escape &&
				 c != dialect->quote)
			run->state = FC_ESCAPED;
		else if (!text && c == dialect->quote)
			run->state = before == FC_INSIDE ? FC_OUTSIDE : FC_INSIDE;

		run->fed++;
		if (!text && run->state != FC_OUTSIDE && c == counted)
			run->embedded++;
		if (run->state == FC_OUTSIDE && c == ends &&
			!(text && before == FC_ESCAPED))
		{
			if (run->records++ == 0)
			{
				run->first = run->fed;
				run->before = run->embedded;
			}
			run->last = run->fed;
		}
	}
}

/* Is c a digit of the base?  Then *value is its value. */
static inline bool
slow_digit(int c, unsigned int base, unsigned int *value)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *found = c > 0 ? strchr(digits, c) : NULL;

	if (found == NULL)
		return false;
	*value = (unsigned int) (found - digits);
	if (*value >= 16)
		*value -= 6;
	return *value < base;
}

/* Adds what the backslash at rec[at] stands for; returns where it ends. */
static inline size_t
slow_escape(const char *rec, size_t len, size_t at, SlowField *field)
{
	int			c = slow_byte(rec, len, at + 1);
	unsigned int base = c == 'x' ? 16 : 8;
	size_t		digits = at + (c == 'x' ? 2 : 1);
	size_t		i = digits;
	unsigned int value = 0;
	unsigned int digit;

	if (c == SLOW_EOF)
		return at + 1;
	while (i < digits + (base == 16 ? 2 : 3) &&
		   slow_digit(slow_byte(rec, len, i), base, &digit))
	{
		value = value * base + digit;
		i++;
	}
	if (i > digits)
	{
		value %= 256;
		field->value[field->len++] = (char) value;
		field->verify |= value == 0 || value >= 128;
		return i;
	}
	c = c == 'b' ? '\b' : c == 'f' ? '\f' : c == 'n' ? '\n' : c == 'r' ? '\r' :
		c == 't' ? '\t' : c == 'v' ? '\v' : c;
	field->value[field->len++] = (char) c;
	return at + 2;
}

static inline bool
slow_equal(const char *rec, size_t start, size_t end, const char *string,
		   size_t len)
{
	return string && end - start == len && memcmp(rec + start, string, len) == 0;
}

/* Does the whole delimiter stand at rec[i]? */
static inline bool
slow_delimiter(const FcDialect *dialect, const char *rec, size_t len, size_t i)
{
	if (rec[i] != dialect->delim)
		return false;
	for (size_t k = 0; k < dialect->delim_more; k++)
		if (slow_byte(rec, len, i + 1 + k) != (unsigned char) dialect->delim_rest[k])
			return false;
	return true;
}

/*
 * The field that starts at rec[field->start]; false for a quote that never
 * closes.  The caller frees the value in either case.
 */
static inline bool
slow_field(const FcDialect *dialect, const char *rec, size_t len,
		   const char *null_string, size_t null_len, SlowField *field)
{
	size_t		i = field->start;
	size_t		raw_end = len;
	bool		in_quotes = false;
	bool		quoted = false;

	field->value = malloc(len + 1);
	while (i < len && (in_quotes || !slow_delimiter(dialect, rec, len, i)))
	{
		char		c = rec[i];

		if (dialect->mode == FC_MODE_TEXT && c == '\\' && !dialect->raw)
		{
			if (i + 1 == len)
				raw_end = i;
			i = slow_escape(rec, len, i, field);
		}
		else if (dialect->mode == FC_MODE_TEXT)
			field->value[field->len++] = rec[i++];
		else if (in_quotes && c == dialect->escape && i + 1 < len &&
				 (rec[i + 1] == dialect->quote || rec[i + 1] == dialect->escape))
		{
			field->value[field->len++] = rec[i + 1];
			i += 2;
		}
		else if (c == dialect->quote)
		{
			in_quotes = !in_quotes;
			quoted = true;
			i++;
		}
		else
			field->value[field->len++] = rec[i++];
	}
	field->behind = i;
	if (raw_end > i)
		raw_end = i;
	field->null = !quoted &&
		slow_equal(rec, field->start, raw_end, null_string, null_len);
	field->marker = !quoted && !field->null &&
		slow_equal(rec, field->start, raw_end, dialect->default_string,
				   dialect->default_len);
	return !in_quotes;
}

#endif							/* SLOW_H */
