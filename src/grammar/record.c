/*-------------------------------------------------------------------------
 *
 * grammar/record.c
 *	  Finds where a record ends.
 *
 *	quote_run.c	counts records, for the split
 *	marks.c		finds the ends of many plain records and their fields
 *	record.c	finds the end of any one record
 *	field.c		cuts one record into fields
 *
 * Any encoding will do: the server's set the high bit in all bytes of a
 * multibyte character.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/record.h"

#include "grammar/bytes.h"

/* The line end that COPY counts when it stands in quotes. */
static inline char
counted_byte(const FcDialect *dialect)
{
	return dialect->eol == FC_EOL_NL ? '\n' : '\r';
}

/*
 * Moves scan, which stands in quotes, past the quote that closes them or to
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
	bool		pairs = dialect->eol == FC_EOL_UNKNOWN || dialect->eol == FC_EOL_CRNL;
	FcEol		found = FC_EOL_NL;

	scan->content = pos;
	if (buf[pos] == '\r')
	{
		if (pairs && pos + 1 == len && !eof)
			return FC_END_MORE;
		found = pairs && pos + 1 < len && buf[pos + 1] == '\n' ? FC_EOL_CRNL : FC_EOL_CR;
	}
	if (dialect->eol == FC_EOL_UNKNOWN)
		dialect->eol = found;
	if (dialect->eol != found)
		return found == FC_EOL_NL ? FC_END_BARE_NL : FC_END_BARE_CR;
	scan->pos = scan->total = pos + (found == FC_EOL_CRNL ? 2 : 1);
	return FC_END_FOUND;
}

/*
 * The length of the line end that must follow a marker, if buf[0..len) begins
 * with it; else minus the FcEnd that fc_record_end must return.
 */
static int
marker_line_end(const FcDialect *dialect, const char *buf, size_t len)
{
	size_t		at = 0;

	if (dialect->eol == FC_EOL_CRNL)
	{
		if (len > 0 && buf[0] == '\n' && dialect->mode == FC_MODE_TEXT)
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
	size_t		after = scan->pos + 2;
	int			end;

	if (len - after < (dialect->eol == FC_EOL_CRNL ? 2 : 1) && !eof)
		return FC_END_MORE;
	scan->content = scan->pos;
	end = marker_line_end(dialect, buf + after, len - after);
	if (end < 0)
		return (FcEnd) -end;
	if (scan->content > 0 && dialect->lone_marker)
	{
		if (dialect->eol == FC_EOL_UNKNOWN)
			dialect->eol = buf[after] == '\r' ? FC_EOL_CR : FC_EOL_NL;
		return FC_END_MARKER_CORRUPT;
	}
	scan->total = after + end;
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
	const char	escape = dialect->raw ? '\n' : '\\';
	const char	cr = dialect->json ? '\n' : '\r';

	for (;;)
	{
		scan->pos = find_byte(buf, scan->pos, len, escape, '\n', cr);
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
 * Judges the backslash that a record of CSV begins with: FC_END_NONE if it is
 * data, as "\." is before anything but a line end.
 */
static FcEnd
csv_marker(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
		   bool eof)
{
	FcEnd		end;

	if (len == 1)
		return eof ? FC_END_NONE : FC_END_MORE;
	if (buf[1] != '.')
		return FC_END_NONE;
	end = judge_marker(dialect, scan, buf, len, eof);
	return end == FC_END_MARKER_CORRUPT ? FC_END_NONE : end;
}

size_t
fc_record_skip(const FcDialect *dialect, bool lines, const char *buf, size_t pos,
			   size_t len, bool *inside, uint64_t *embedded)
{
	const bool	nl = counted_byte(dialect) == '\n';
	FcMask		masks[BATCH];

	for (; len - pos >= BATCH * BLOCK; pos += BATCH * BLOCK)
	{
		uint64_t	state = *inside ? ~UINT64_C(0) : 0;
		uint64_t	ends = 0;
		uint64_t	counted = 0;

		fc_mask_kernel->lines(mask_bytes(dialect), buf + pos, BATCH * BLOCK, masks);
		for (int i = 0; i < BATCH; i++)
		{
			uint64_t	within = masks[i].within ^ state;

			ends |= (lines ? masks[i].nl | masks[i].cr : masks[i].delims) & ~within;
			counted += fc_mask_count((nl ? masks[i].nl : masks[i].cr) & within);
			state = within >> (BLOCK - 1) ? ~UINT64_C(0) : 0;
		}
		if (ends != 0)
			break;
		*embedded += counted;
		*inside = state != 0;
	}
	return pos;
}

/*
 * fc_record_end for CSV, but for the end of the file: FC_END_NONE if no end is
 * among these bytes.
 */
static FcEnd
csv_record_end(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
			   bool eof)
{
	if (dialect->csv_marker && scan->pos == 0 && len > 0 && buf[0] == '\\')
	{
		FcEnd		end = csv_marker(dialect, scan, buf, len, eof);

		if (end != FC_END_NONE)
			return end;
	}
	if (dialect->escape == dialect->quote)
	{
		bool		inside = scan->state != FC_OUTSIDE;

		scan->pos = fc_record_skip(dialect, true, buf, scan->pos, len, &inside, &scan->embedded);
		scan->state = inside ? FC_INSIDE : FC_OUTSIDE;
	}
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
 * See grammar/record.h.  Where bytes at the end of those read so far mean
 * something only together with the next, they are looked at again when more
 * have come.
 */
FcEnd
fc_record_end(FcDialect *dialect, FcScan *scan, const char *buf, size_t len,
			  bool eof)
{
	FcEnd		end;

	Assert(scan->pos <= len && dialect->mode != FC_MODE_BINARY);
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
