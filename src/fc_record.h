/*-------------------------------------------------------------------------
 *
 * fc_record.h
 *	  The record grammar: COPY's CSV, shared by split, scan and load.
 *
 * Pure C: nothing of the server is known here, so that the grammar can be
 * tested and fuzzed alone.
 *
 * The rules are those of CopyReadLineText and CopyReadAttributesCSV: every
 * quote byte toggles, wherever it stands; the escape byte means something
 * inside quotes only; the style of the first line's end binds the whole file;
 * "\." alone on a line is data (as in PostgreSQL 18).
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

/* None of the three bytes may be '\r' or '\n'; the filler sees to it */
typedef struct FcDialect
{
	char		delim;
	char		quote;
	char		escape;			/* equal to quote unless the user said else */
	FcEol		eol;
	const char *default_string; /* a field that stands for a default, or NULL */
	size_t		default_len;
} FcDialect;

/* The quote state before a byte */
typedef enum FcQuote
{
	FC_OUTSIDE = 0,				/* not in quotes */
	FC_INSIDE,					/* in quotes */
	FC_ESCAPED					/* in quotes, just behind an active escape;
								 * only where escape differs from quote */
} FcQuote;

#define FC_NQUOTES	3			/* number of quote states */
#define FC_NOWHERE	UINT64_MAX	/* FcRun.first: no record starts here */

/*
 * What a run over bytes found when it began in one quote state.  Fed piece by
 * piece; positions are counted from the first byte ever fed.
 *
 * Only files whose line end style is known are run over.  A record ends at
 * '\n' for FC_EOL_NL and FC_EOL_CRNL, at '\r' for FC_EOL_CR, outside quotes;
 * wrong line ends are found later, by fc_record_end.
 */
typedef struct FcRun
{
	FcQuote		state;			/* state behind the last byte */
	uint64_t	fed;			/* bytes fed so far */
	uint64_t	records;		/* record ends met */
	uint64_t	embedded;		/* line ends in quotes that COPY counts: '\n'
								 * for FC_EOL_NL, else '\r' */
	uint64_t	first;			/* position just behind the first record end,
								 * or FC_NOWHERE */
	uint64_t	before;			/* the part of embedded ahead of first */
	uint64_t	last;			/* position just behind the last record end,
								 * or FC_NOWHERE */
} FcRun;

/* What fc_record_end says of the bytes it was given */
typedef enum FcEnd
{
	FC_END_FOUND,				/* a whole record */
	FC_END_MORE,				/* its end is not among these bytes */
	FC_END_NONE,				/* end of file, and no byte of a record */
	FC_END_BARE_CR,				/* "unquoted carriage return found in data" */
	FC_END_BARE_NL				/* "unquoted newline found in data" */
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

	/* valid after FC_END_FOUND; of BARE_*: content is the error's position */
	size_t		content;		/* bytes without the line end */
	size_t		total;			/* bytes with the line end */
	bool		unterminated;	/* the file ended inside quotes */
} FcScan;

/* One field of a record, unquoted in place */
typedef struct FcField
{
	char	   *data;			/* NUL-terminated */
	size_t		len;			/* without the NUL */
	bool		null;			/* matched the null string, unquoted */
	bool		marker;			/* matched the default string, unquoted */
} FcField;

extern void fc_run_init(FcRun *run, FcQuote start);
extern void fc_run_feed(const FcDialect *dialect, FcRun *run,
						const char *buf, size_t len);

/*
 * Finds the end of the record that starts at buf.  buf[0..len) are the bytes
 * read so far, eof says that the file ends behind them.  When dialect->eol is
 * unknown it is set by the line end met.  Line ends in quotes are counted as
 * COPY counts them, '\r' while the style is unknown.
 */
extern FcEnd fc_record_end(FcDialect *dialect, FcScan *scan,
						   const char *buf, size_t len, bool eof);

/*
 * Cuts the record rec[0..len) into fields, unquoting in place: rec is
 * overwritten and rec[len] must be writable.  Returns the number of fields in
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

#endif							/* FC_RECORD_H */
