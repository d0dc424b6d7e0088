/*-------------------------------------------------------------------------
 *
 * grammar/marks.h
 *	  Where records and fields end in a stretch of many records.
 *
 * Finds for some hundred records at once what fc_record_end and fc_field_at
 * find byte by byte.  These must be asked where anything is, or may be, out of
 * the ordinary.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MARKS_H
#define FC_MARKS_H

#include "grammar/mask.h"
#include "grammar/record.h"

#define FC_MARKS_BYTES	63488	/* at most; places in them have 16 bits */
#define FC_MARKS_BLOCKS	(FC_MARKS_BYTES / FC_MASK_BLOCK)

/* Where a field lies in its record */
typedef struct FcBorders
{
	size_t		start;
	size_t		end;			/* of its delimiter, or of the record */
	int			quotes;			/* in it; text: backslashes.  From 3 on the
								 * number need not be exact */
} FcBorders;

/* Bit n of word w is byte 64 * w + n; bits after the last byte are 0 */
typedef struct FcMarks
{
	size_t		len;			/* bytes marked */
	int			delim_more;		/* bytes of a delimiter before the last */
	bool		has_quotes;		/* any bit of quotes is set */
	bool		has_embedded;	/* any bit of embedded is set */
	bool		has_strange;	/* any byte is not ASCII, or 0 */
	uint64_t	ends[FC_MARKS_BLOCKS];	/* line ends outside quotes and not
										 * escaped; text: also the backslash of
										 * a marker */
	uint64_t	delims[FC_MARKS_BLOCKS];	/* likewise: the last byte of each
											 * delimiter */
	uint64_t	quotes[FC_MARKS_BLOCKS];	/* text: backslashes */
	uint64_t	strange[FC_MARKS_BLOCKS];	/* see has_strange; none of a
											 * delimiter of several bytes */
	uint64_t	embedded[FC_MARKS_BLOCKS];	/* line ends in quotes that COPY
											 * counts; unset where there are
											 * none at all */
} FcMarks;

/*
 * Can files of this dialect be marked?  Where escape and quote differ, masks do
 * not tell enough; and borders of json's fields are in no mask.
 */
static inline bool
fc_marks_serve(const FcDialect *dialect)
{
	return dialect->eol != FC_EOL_UNKNOWN && !dialect->json &&
		(dialect->mode == FC_MODE_TEXT ||
		 (dialect->mode == FC_MODE_CSV && dialect->escape == dialect->quote));
}

/*
 * Marks buf[0..len), or as much as there is room for; buf[0] is the first byte
 * of a record.
 */
extern void fc_marks_fill(const FcDialect *dialect, FcMarks *marks,
						  const char *buf, size_t len);

/* The first bit at or after pos; not below "end" if none is before "end" */
static inline size_t
fc_marks_next(const uint64_t *words, size_t pos, size_t end)
{
	size_t		w = pos / FC_MASK_BLOCK;
	uint64_t	bits;

	if (pos >= end)
		return end;
	bits = words[w] & (~UINT64_C(0) << (pos % FC_MASK_BLOCK));
	while (bits == 0)
	{
		if (++w * FC_MASK_BLOCK >= end)
			return end;
		bits = words[w];
	}
	return w * FC_MASK_BLOCK + __builtin_ctzll(bits);
}

/* How many bits from pos on, before "end", are set */
extern int	fc_marks_count(const uint64_t *words, size_t pos, size_t end);

/*
 * The first quote of csv at or after pos, where a field begins, that is neither
 * the first nor the last byte of its field; not below "end" if there is none
 * before "end", where a record does.  Another field has two quotes around it,
 * or none.
 */
extern size_t fc_marks_inner(const FcMarks *marks, size_t pos, size_t end);

/*
 * Finds some of the bytes from *pos on, before "end": sets *pos to the first
 * strange one, and returns the place after another, before which all characters
 * of more than one byte end that begin before it.  0 if there is none.
 */
extern size_t fc_marks_strange(const FcMarks *marks, size_t *pos, size_t end);

/*
 * Finds the end of the record that starts at buf[pos], which was marked from
 * its start.  Fills content, total and embedded of *scan, which the caller has
 * zeroed, as fc_record_end would.
 *
 * False, with nothing filled, where fc_record_end must be asked: the end is
 * not among the bytes marked, or may be another than a plain line end.
 */
static inline bool
fc_marks_record(const FcDialect *dialect, const FcMarks *marks,
				const char *buf, size_t pos, FcScan *scan)
{
	size_t		end = fc_marks_next(marks->ends, pos, marks->len);
	size_t		after = end + 1;

	if (end >= marks->len ||
		buf[end] != (dialect->eol == FC_EOL_NL ? '\n' : '\r'))
		return false;
	/* it may be a marker, which is none of the marks in csv */
	if (dialect->csv_marker && buf[pos] == '\\' && buf[pos + 1] == '.')
		return false;
	if (dialect->eol == FC_EOL_CRNL)
	{
		if (after >= marks->len || buf[after] != '\n')
			return false;
		after++;
	}
	scan->content = end - pos;
	scan->total = after - pos;
	scan->embedded = marks->has_embedded ? fc_marks_count(marks->embedded, pos, end) : 0;
	return true;
}

/*
 * The borders of field number "wanted" (from 0) of the record marked from pos
 * on, of len bytes, counted from pos.  False if the record has fewer fields.
 */
extern bool fc_marks_borders(const FcMarks *marks, size_t pos, size_t len,
							 int wanted, FcBorders *borders);

/* Is each quote closed of a csv record of len bytes that is marked alone? */
extern bool fc_marks_closed(const FcMarks *marks, size_t len);

#endif							/* FC_MARKS_H */
