/*-------------------------------------------------------------------------
 *
 * source/marker.c
 *	  Finds where text ends that a client sends.
 *
 * Before 18, "\." with a line end ends what a client sends, wherever it
 * stands, while in a file it ends no more than its line unless it is alone
 * there.  What reads the data after this, a load or core, takes them for those
 * of a file.  So they are made to end before the marker.
 *
 * A backslash that another one escapes begins no marker.  The line end must be
 * that of the first line; if it is another, or none, the bytes go on, and
 * whoever reads them finds the error.  In the encodings that only clients have
 * a character may have a byte that looks like a backslash: there the bytes are
 * read character by character.
 *
 * Nothing is allocated, so there is nothing to release on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "source/marker.h"

/* How long the character at buf[at] is */
static inline size_t
fc_marker_char(const FcMarkerScan *scan, const char *buf, size_t at)
{
	if (!PG_ENCODING_IS_CLIENT_ONLY(scan->encoding))
		return 1;
	/* the terminating zero after the bytes may be looked at */
	return pg_encoding_mblen(scan->encoding, buf + at);
}

/* The position of the next byte from "at" on that means something, or len */
static size_t
fc_marker_next(FcMarkerScan *scan, const char *buf, size_t at, size_t len)
{
	const char *found;

	if (at >= len)
		return at;
	if (scan->eol != FC_EOL_UNKNOWN && !PG_ENCODING_IS_CLIENT_ONLY(scan->encoding))
	{
		found = memchr(buf + at, '\\', len - at);
		return found ? (size_t) (found - buf) : len;
	}
	while (at < len && buf[at] != '\\' &&
		   (scan->eol != FC_EOL_UNKNOWN || (buf[at] != '\n' && buf[at] != '\r')))
		at += fc_marker_char(scan, buf, at);
	return at;
}

/* How many bytes of a line end must follow "\." */
static inline size_t
fc_marker_eol_length(const FcMarkerScan *scan)
{
	return scan->eol == FC_EOL_CRNL ? 2 : 1;
}

/* Does the line end that must follow "\." begin at s? */
static bool
fc_marker_is_eol(const FcMarkerScan *scan, const char *s)
{
	switch (scan->eol)
	{
		case FC_EOL_NL:
			return s[0] == '\n';
		case FC_EOL_CR:
			return s[0] == '\r';
		case FC_EOL_CRNL:
			return s[0] == '\r' && s[1] == '\n';
		default:
			return s[0] == '\n' || s[0] == '\r';
	}
}

/* How many bytes from buf[at] on tell what it means */
static size_t
fc_marker_needs(const FcMarkerScan *scan, const char *buf, size_t at, size_t len)
{
	if (buf[at] == '\n')
		return 1;
	if (buf[at] == '\\' && at + 1 < len && buf[at + 1] == '.')
		return 2 + fc_marker_eol_length(scan);
	return 2;
}

/* Learns from the end of the first line how lines end */
static void
fc_marker_learn(FcMarkerScan *scan, const char *s)
{
	scan->eol = s[0] == '\n' ? FC_EOL_NL : s[1] == '\n' ? FC_EOL_CRNL : FC_EOL_CR;
}

size_t
fc_marker_find(FcMarkerScan *scan, const char *buf, size_t len, size_t *held)
{
	size_t		at = scan->skip;

	*held = 0;
	while (!scan->bad && (at = fc_marker_next(scan, buf, at, len)) < len)
	{
		if (fc_marker_needs(scan, buf, at, len) > len - at)
		{
			*held = len - at;
			break;
		}
		if (buf[at] != '\\')
			fc_marker_learn(scan, buf + at++);
		else if (buf[at + 1] != '.')
			at += 1 + fc_marker_char(scan, buf, at + 1);
		else if (fc_marker_is_eol(scan, buf + at + 2))
			return at;
		else
			scan->bad = true;
	}
	scan->skip = at > len ? at - len : 0;
	return len;
}
