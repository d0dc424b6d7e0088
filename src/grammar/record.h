/*-------------------------------------------------------------------------
 *
 * grammar/record.h
 *	  The record grammar: COPY's CSV and text formats, shared by split, scan
 *	  and load.
 *
 * Pure C: nothing of the server is known here, so that the grammar can be
 * tested and fuzzed alone.
 *
 * The rules are those of CopyReadLineText, CopyReadAttributesCSV and
 * CopyReadAttributesText.  In both formats the style of the first line's end
 * binds the whole file.
 *
 * CSV: every quote byte toggles, wherever it stands; the escape byte means
 * something inside quotes only; "\." alone on a line is data (as in
 * PostgreSQL 18).
 *
 * Text: a backslash takes the next byte with it, whatever that is.  "\." is
 * the marker of the end of the data and must be followed by a line end of the
 * file's style.  Alone on its line it ends the data.  Behind other bytes it is
 * an error, or, before PostgreSQL 18, part of the line's end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECORD_H
#define FC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How lines end; found in the first record, binding for all others */
typedef enum FcEol
{
	FC_EOL_UNKNOWN = 0,			/* first record not read yet */
	FC_EOL_NL,
	FC_EOL_CR,
	FC_EOL_CRNL
} FcEol;

typedef enum FcMode
{
	FC_MODE_CSV = 0,
	FC_MODE_TEXT
} FcMode;

/* None of the three bytes may be '\r' or '\n'; the filler sees to it */
typedef struct FcDialect
{
	char		delim;
	char		quote;			/* csv only */
	char		escape;			/* csv only; equal to quote unless the user
								 * said else */
	FcEol		eol;
	const char *default_string; /* a field that stands for a default, or NULL */
	size_t		default_len;
	FcMode		mode;
	bool		lone_marker;	/* text: "\." behind other bytes of its line is
								 * an error */
} FcDialect;

/* The quote state before a byte */
typedef enum FcQuote
{
	FC_OUTSIDE = 0,				/* not in quotes; text: nothing special */
	FC_INSIDE,					/* in quotes; csv only */
	FC_ESCAPED					/* csv: in quotes, just behind an active
								 * escape, only where escape differs from
								 * quote; text: just behind an active
								 * backslash */
} FcQuote;

#define FC_NQUOTES	3			/* number of quote states */
#define FC_NOWHERE	UINT64_MAX	/* FcRun.first: no record starts here */

/*
 * What a run over bytes found when it began in one quote state.  Fed piece by
 * piece; positions are counted from the first byte ever fed.
 *
 * Only files whose line end style is known are run over.  A record ends at
 * '\n' for FC_EOL_NL and FC_EOL_CRNL, at '\r' for FC_EOL_CR, outside quotes
 * and not escaped; wrong line ends are found later, by fc_record_end.
 */
typedef struct FcRun
{
	FcQuote		state;			/* state behind the last byte */
	uint64_t	fed;			/* bytes fed so far */
	uint64_t	records;		/* record ends met */
	uint64_t	embedded;		/* line ends in quotes that COPY counts: '\n'
								 * for FC_EOL_NL, else '\r'; text has none */
	uint64_t	first;			/* position just behind the first record end,
								 * or FC_NOWHERE */
	uint64_t	before;			/* the part of embedded ahead of first */
	uint64_t	last;			/* position just behind the last record end,
								 * or FC_NOWHERE */
	uint64_t	marker;			/* text: position of the first "\." just behind
								 * a record end, or FC_NOWHERE */
} FcRun;

/* What fc_record_end says of the bytes it was given */
typedef enum FcEnd
{
	FC_END_FOUND,				/* a whole record */
	FC_END_MORE,				/* its end is not among these bytes */
	FC_END_NONE,				/* end of file, and no byte of a record */
	FC_END_BARE_CR,				/* "unquoted carriage return found in data" */
	FC_END_BARE_NL,				/* "unquoted newline found in data" */
	FC_END_MARKER,				/* text: "\." alone on its line, the data ends */
	FC_END_MARKER_CORRUPT,		/* text: "\." not alone, or no line end behind */
	FC_END_MARKER_STYLE			/* text: "\." and a line end of another style */
} FcEnd;

/*
 * Where the search for one record's end stands.  Zero it before each record;
 * kept between calls for the same record so that no byte is read twice.
 */
typedef struct FcScan
{
	size_t		pos;			/* bytes of the record examined so far */
	FcQuote		state;			/* quote state before pos */
	uint64_t	embedded;		/* as FcRun.embedded, within this record */

	/*
	 * Valid after FC_END_FOUND and FC_END_MARKER; of the errors
	 * content is the error's position
	 */
	size_t		content;		/* bytes without the line end */
	size_t		total;			/* bytes with the line end */
	bool		unterminated;	/* the file ended inside quotes */
	bool		marked;			/* the line end has a marker before it */
} FcScan;

/* One field of a record, unquoted or de-escaped in place */
typedef struct FcField
{
	char	   *data;			/* NUL-terminated; somewhere in the field */
	size_t		len;			/* without the NUL */
	bool		null;			/* matched the null string, unquoted; text: as
								 * it stood in the file */
	bool		marker;			/* matched the default string, likewise */
	bool		verify;			/* escapes made bytes that may be wrong in the
								 * encoding: NUL or with the high bit */
} FcField;

extern void fc_run_init(FcRun *run, FcQuote start);
extern void fc_run_feed(const FcDialect *dialect, FcRun *run,
						const char *buf, size_t len);

/*
 * fc_run_feed for both runs of csv whose escape is the quote: one of them
 * began in quotes, the other not, and both were fed the same bytes so far.
 */
extern void fc_run_feed_pair(const FcDialect *dialect, FcRun *one,
							 FcRun *other, const char *buf, size_t len);

/*
 * Finds the end of the record that starts at buf.  buf[0..len) are the bytes
 * read so far, eof says that the file ends behind them.  When dialect->eol is
 * unknown it is set by the line end met; a marker leaves it unknown, but for
 * FC_END_MARKER_CORRUPT, where a line end behind the marker sets it.  Line ends in
 * quotes are counted as COPY counts them, '\r' while the style is unknown.
 */
extern FcEnd fc_record_end(FcDialect *dialect, FcScan *scan,
						   const char *buf, size_t len, bool eof);

/*
 * Cuts the record rec[0..len) into fields, unquoting or de-escaping in place:
 * rec is overwritten and rec[len] must be writable.  Returns the number of fields in
 * the record, which may exceed max (only max are stored), or -1 for a quote
 * that never closes ("unterminated CSV quoted field").
 */
extern int	fc_record_fields(const FcDialect *dialect, char *rec, size_t len,
							 const char *null_string, size_t null_len,
							 FcField *fields, int max);

/*
 * Cuts out field number "wanted" (from 0) alone, overwriting only that
 * field's bytes and the one behind it.  False if the record has fewer fields
 * or a quote never closes.
 */
extern bool fc_record_field(const FcDialect *dialect, char *rec, size_t len,
							const char *null_string, size_t null_len,
							int wanted, FcField *field);

/*
 * Makes the field whose borders are known: rec[start..end) of a record that
 * has something behind it.  "quotes" says how many quotes there are in it,
 * text: backslashes; for more than two it need not be exact.
 */
extern void fc_record_cut(const FcDialect *dialect, char *rec, size_t start,
						  size_t end, int quotes, const char *null_string,
						  size_t null_len, FcField *field);

#endif							/* FC_RECORD_H */
