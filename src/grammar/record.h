/*-------------------------------------------------------------------------
 *
 * grammar/record.h
 *	  Finds where a record ends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECORD_H
#define FC_RECORD_H

#include <string.h>

#include "grammar/dialect.h"

/* What fc_record_end says of the bytes it was given */
typedef enum FcEnd
{
	FC_END_FOUND,				/* a whole record */
	FC_END_MORE,				/* its end is not among these bytes */
	FC_END_NONE,				/* end of file, and no byte of a record */
	FC_END_BARE_CR,				/* "unquoted carriage return found in data" */
	FC_END_BARE_NL,				/* "unquoted newline found in data" */
	FC_END_MARKER,				/* "\." alone on its line ends the data;
								 * binary: the trailer does */
	FC_END_MARKER_CORRUPT,		/* text: "\." not alone, or no line end after */
	FC_END_MARKER_STYLE,		/* "\." and a line end of another style */
	FC_END_MALFORMED			/* binary: COPY refuses the record; else a
								 * comment that does not end on its line */
} FcEnd;

/*
 * Has the record line ends within it?  A comment that has them has opened a
 * quote, or escapes a line end, and more than it belongs to the record.
 */
static inline bool
fc_record_is_open(const char *data, size_t length)
{
	/* a line of JSON has the first half of its end */
	if (length > 0 && data[length - 1] == '\r')
		length--;
	return memchr(data, '\n', length) != NULL || memchr(data, '\r', length) != NULL;
}

/*
 * Where the search for one record's end stands.  Zero it before each record;
 * kept between calls for the same record so that no byte is read twice.
 */
typedef struct FcScan
{
	size_t		pos;			/* bytes of the record examined so far */
	FcQuote		state;			/* quote state before pos */
	uint64_t	embedded;		/* as FcQuoteRun.embedded, within this record */

	/*
	 * Valid after FC_END_FOUND and FC_END_MARKER; after an error, content is
	 * its position
	 */
	size_t		content;		/* bytes without the line end */
	size_t		total;			/* bytes with the line end */
	bool		unterminated;	/* the file ended inside quotes */
	bool		marked;			/* the line end has a marker before it */
} FcScan;

/*
 * Finds the end of the record that starts at buf.  buf[0..len) are the bytes
 * read so far, eof says that the file ends after them.  Line ends in quotes
 * are counted as COPY does, '\r' while the style is unknown.
 *
 * The line end sets an unknown dialect->eol, a marker only for
 * FC_END_MARKER_CORRUPT with a line end after it.  A known one is not written:
 * processes share the dialect.
 */
extern FcEnd fc_record_end(FcDialect *dialect, FcScan *scan,
						   const char *buf, size_t len, bool eof);

/*
 * From buf[pos] on, in a long record, passes over batches of blocks in which no
 * line end, or else no delimiter, stands outside quotes; returns where it got
 * to.  *inside comes in and goes out as whether that is in quotes; adds to
 * *embedded the line ends in them.  The escape must be the quote.
 */
extern size_t fc_record_skip(const FcDialect *dialect, bool lines, const char *buf, size_t pos,
							 size_t len, bool *inside, uint64_t *embedded);

/* Is it an empty line: without a byte or, of json, with none but blanks? */
static inline bool
fc_record_is_empty(const FcDialect *dialect, const char *rec, size_t len)
{
	while (dialect->json && len > 0 && (rec[len - 1] == ' ' || rec[len - 1] == '\t' || rec[len - 1] == '\r'))
		len--;
	return len == 0;
}

#endif							/* FC_RECORD_H */
