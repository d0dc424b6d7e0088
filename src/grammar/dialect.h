/*-------------------------------------------------------------------------
 *
 * grammar/dialect.h
 *	  The record grammar: COPY's formats, as one file has them.
 *
 * Pure C, as all of this room: nothing of the server is known, so that the
 * grammar can be tested and fuzzed alone.  Nothing is allocated, and no byte
 * beside those given is read.
 *
 * The rules are those of CopyReadLineText, CopyReadAttributesCSV and
 * CopyReadAttributesText.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DIALECT_H
#define FC_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar/assert.h"

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
	FC_MODE_TEXT,
	FC_MODE_BINARY				/* see grammar/binary.h */
} FcMode;

#define FC_DELIM_BYTES	8		/* of a delimiter, at most */

/*
 * delim, quote and escape are neither '\r' nor '\n', and no byte of the
 * delimiter is a quote or, in text, a backslash; the caller ensures it.  Of
 * delimiters that overlap the first one is one.
 *
 * CSV: every quote byte toggles, wherever it stands; the escape byte means
 * something inside quotes only.
 *
 * Text: a backslash takes the next byte with it, whatever that is.
 */
typedef struct FcDialect
{
	char		delim;			/* its first byte */
	char		quote;			/* csv only */
	char		escape;			/* csv only; equal to quote unless the user
								 * said else */
	FcEol		eol;
	const char *null_string;	/* a field that is NULL; "" if none is set */
	size_t		null_len;
	const char *default_string; /* a field that stands for a default, or NULL */
	size_t		default_len;
	FcMode		mode;
	bool		lone_marker;	/* text: "\." after other bytes of its line is
								 * an error */
	bool		csv_marker;		/* csv: "\." alone on a line ends the data */
	uint8_t		delim_more;		/* bytes of the delimiter after the first: */
	char		delim_rest[FC_DELIM_BYTES - 1];
	bool		raw;			/* text: backslashes are data, too, and nothing
								 * but the file's end is one */
	bool		json;			/* raw text: each line is an object, and its
								 * end '\n' alone */
	bool		others;			/* json: keys that are no fields are left out */
	int			nfields;		/* binary only: fields of each record */
} FcDialect;

/*
 * The marker with its line end, which ends the data where it is a record of
 * its own; "" if the dialect has none.  dialect->eol must be known.
 *
 * Text: after other bytes of its line "\." is an error, or, without
 * lone_marker (before 18), part of the line's end.
 */
static inline const char *
fc_dialect_marker(const FcDialect *dialect)
{
	if (dialect->raw || (dialect->mode == FC_MODE_CSV && !dialect->csv_marker))
		return "";
	return dialect->eol == FC_EOL_NL ? "\\.\n" :
		dialect->eol == FC_EOL_CR ? "\\.\r" : "\\.\r\n";
}

/* The quote state before a byte */
typedef enum FcQuote
{
	FC_OUTSIDE = 0,				/* not in quotes; text: nothing special */
	FC_INSIDE,					/* in quotes; csv only */
	FC_ESCAPED					/* csv: in quotes, just after an active
								 * escape, only where escape differs from
								 * quote; text: just after an active
								 * backslash */
} FcQuote;

#define FC_NQUOTES	3			/* number of quote states */

#endif							/* FC_DIALECT_H */
