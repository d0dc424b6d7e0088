/*-------------------------------------------------------------------------
 *
 * report/clip.c
 *	  Text in so many columns of a terminal.
 *
 * A character may take none of them, one or two.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "report/report.h"

#define FC_CLIPPED	".."

int
fc_clip_fits(const char *text, int *columns)
{
	int			encoding = GetDatabaseEncoding();
	int			used = 0;
	const char *at = text;

	while (*at != '\0')
	{
		int			width = pg_encoding_dsplen(encoding, at);

		if (width < 0 || used + width > *columns)
			break;
		used += width;
		at += pg_encoding_mblen(encoding, at);
	}
	*columns = used;
	return at - text;
}

int
fc_clip(StringInfo line, const char *text, int columns)
{
	int			used = columns;
	int			len = fc_clip_fits(text, &used);

	Assert(columns >= (int) strlen(FC_CLIPPED) && used <= columns);
	if (text[len] == '\0')
	{
		appendStringInfoString(line, text);
		return used;
	}
	used = columns - (int) strlen(FC_CLIPPED);
	len = fc_clip_fits(text, &used);
	appendBinaryStringInfo(line, text, len);
	appendStringInfoString(line, FC_CLIPPED);
	return used + (int) strlen(FC_CLIPPED);
}

int
fc_clip_front(StringInfo line, const char *text, int columns)
{
	int			encoding = GetDatabaseEncoding();
	int			used = columns;
	int			len = fc_clip_fits(text, &used);

	if (text[len] == '\0')
		return fc_clip(line, text, columns);
	columns -= (int) strlen(FC_CLIPPED);
	for (const char *at = text; *at != '\0'; at += pg_encoding_mblen(encoding, at))
	{
		used = columns;
		len = fc_clip_fits(at, &used);
		if (at[len] != '\0')
			continue;
		appendStringInfoString(line, FC_CLIPPED);
		appendStringInfoString(line, at);
		return used + (int) strlen(FC_CLIPPED);
	}
	/* it ends with a line break */
	return fc_clip(line, text, columns);
}

/* The end gets the most: in names of partitions it is what tells them apart */
int
fc_clip_middle(StringInfo line, const char *text, int columns)
{
	int			used = columns;
	int			len = fc_clip_fits(text, &used);

	if (text[len] == '\0')
		return fc_clip(line, text, columns);
	used = (columns - (int) strlen(FC_CLIPPED)) / 4;
	len = fc_clip_fits(text, &used);
	appendBinaryStringInfo(line, text, len);
	return used + fc_clip_front(line, text + len, columns - used);
}
