/*-------------------------------------------------------------------------
 *
 * grammar/places.c
 *	  Where the fields of many records end, all at once.
 *
 *	marks ──► places of all borders ──► each width-th ends a line, no other does
 *
 * So the fields of a record need not be counted.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/places.h"

/* Does the record whose last border stands before buf[*at] end with a line? */
static inline bool
ends_line(const FcDialect *dialect, const char *buf, const uint16_t *at)
{
	if (buf[at[0] - 1] != (dialect->eol == FC_EOL_CR ? '\r' : '\n'))
		return false;
	return dialect->eol != FC_EOL_CRNL || (at[-1] == at[0] - 1 && buf[at[0] - 2] == '\r');
}

/* How many of the first n records end with a line */
static int
count_lines(const FcDialect *dialect, const char *buf, const uint16_t *at, int width, int n)
{
	for (int i = 0; i < n; i++)
	{
		at += width;
		if (!ends_line(dialect, buf, at))
			return i;
	}
	return n;
}

/* How many of the first n records have no line end among their fields */
static int
count_unbroken(const FcMarks *marks, const uint16_t *at, int nfields, int width, int n)
{
	for (int i = 0; i < n; i++, at += width)
		if (fc_marks_next(marks->ends, at[0], marks->len) + 1 != at[nfields])
			return i;
	return n;
}

/* How many of the first n records cannot be a marker */
static int
count_unmarked(const char *buf, const uint16_t *at, int width, int n)
{
	for (int i = 0; i < n; i++, at += width)
		if (buf[at[0]] == '\\' && buf[at[0] + 1] == '.')
			return i;
	return n;
}

int
fc_places_find(const FcDialect *dialect, const FcMarks *marks, const char *buf,
			   size_t pos, int nfields, int most, FcPlaces *places)
{
	const int	most_gap = FC_MASK_BLOCK - 2;
	int			width = fc_places_width(dialect, nfields);
	int			ends = 1 + width - nfields;
	int			n;

	Assert(pos < marks->len && nfields > 0);
	places->at[0] = (uint16_t) pos;
	places->at++;
	fc_mask_kernel->places(marks->delims, marks->ends, pos, marks->len, width * most,
						   dialect->null_len < (size_t) most_gap ? (int) dialect->null_len : most_gap,
						   places);
	places->at--;
	/* the bytes of a line end are near each other in any case */
	places->near |= dialect->null_len > (size_t) most_gap || ends > 1 || dialect->delim_more > 0;
	n = places->n < width * most ? places->n / width : most;
	n = count_lines(dialect, buf, places->at, width, n);
	if (places->nlast != n * ends)
		n = count_unbroken(marks, places->at, nfields, width, n);
	if (dialect->csv_marker)
		n = count_unmarked(buf, places->at, width, n);
	return n;
}
