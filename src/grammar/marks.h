/*-------------------------------------------------------------------------
 *
 * grammar/marks.h
 *	  Where records and fields end in a stretch of many records.
 *
 * Pure C, like grammar/dialect.h.  Finds for some hundred records at once what
 * fc_record_end and fc_record_field find byte by byte, where nothing is out of
 * the ordinary.  Where something is, or may be, it is left to them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MARKS_H
#define FC_MARKS_H

#include "grammar/field.h"
#include "grammar/mask.h"
#include "grammar/record.h"

#define FC_MARKS_BYTES	16384
#define FC_MARKS_BLOCKS	(FC_MARKS_BYTES / FC_MASK_BLOCK)

/* Bit n of word w is byte 64 * w + n; bits after the last byte are 0 */
typedef struct FcMarks
{
	size_t		len;			/* bytes marked */
	bool		has_quotes;		/* any bit of quotes is set */
	bool		has_embedded;	/* any bit of embedded is set */
	uint64_t	ends[FC_MARKS_BLOCKS];	/* line ends outside quotes and not
										 * escaped; text: also the backslash of
										 * a marker */
	uint64_t	delims[FC_MARKS_BLOCKS];	/* likewise */
	uint64_t	quotes[FC_MARKS_BLOCKS];	/* text: backslashes */
	uint64_t	embedded[FC_MARKS_BLOCKS];	/* line ends in quotes that COPY
											 * counts; unset where there are
											 * none at all */
} FcMarks;

/* Can files of this dialect be marked? */
extern bool fc_marks_serve(const FcDialect *dialect);

/*
 * Marks buf[0..len), or as much as there is room for; buf[0] is the first byte
 * of a record.
 */
extern void fc_marks_fill(const FcDialect *dialect, FcMarks *marks,
						  const char *buf, size_t len);

/*
 * Finds the end of the record that starts at buf[pos], which was marked from
 * its start: fills content, total and embedded of *scan, which the caller has
 * zeroed, as fc_record_end would.  False, with nothing filled, if
 * fc_record_end must be asked: the end is not among the bytes marked, or is no
 * plain end of a record.
 */
extern bool fc_marks_record(const FcDialect *dialect, const FcMarks *marks,
							const char *buf, size_t pos, FcScan *scan);

/*
 * The borders of field number "wanted" (from 0) of the record marked from pos
 * on, of len bytes, counted from pos.  False if the record has fewer fields.
 */
extern bool fc_marks_borders(const FcMarks *marks, size_t pos, size_t len,
							 int wanted, FcBorders *borders);

#endif							/* FC_MARKS_H */
