/*-------------------------------------------------------------------------
 *
 * sniff/columns.h
 *	  The columns of a sample: their names, their types, what stands for NULL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_COLUMNS_H
#define FC_SNIFF_COLUMNS_H

#include "sniff/dialect.h"

typedef struct FcColumnSeen
{
	char	   *name;
	char	   *header;			/* what the header calls it, in the server's
								 * encoding, if that is another name; or
								 * NULL */

	/* what was counted */
	uint64		values;			/* that are no words for NULL */
	uint64		kinds[FC_VALUE_KINDS];	/* of these, by FcValueType */
	uint64		words[FC_NULL_WORDS];	/* words for NULL, without quotes */
	uint64		quoted[FC_NULL_WORDS];	/* and in quotes */
	uint64		given;			/* the caller's word for NULL */
	bool		patterned;		/* patterns is set */
	List	   *patterns;		/* numbers of those that all values match */
	int64		low;			/* of integers */
	int64		high;
	bool		ascending;		/* within each place */
	int64		last;
	int			decimals[2];	/* the fewest and the most after the point */
	int			digits;			/* the most of a number */
	char	   *example;		/* the first of the values, as in the file; or
								 * NULL */

	/* what was decided */
	Oid			typid;
	const char *type;			/* as CREATE TABLE has it */
	const char *pattern;		/* for timestamp_format, or NULL */
	bool		force_null;		/* quoted words for NULL are NULL, too */
	List	   *notes;			/* of char *: what is unsure */
} FcColumnSeen;

typedef struct FcTable
{
	const FcSample *sample;
	const FcOptions *options;
	FcJudge    *judge;
	FcGuess    *guess;
	int			encoding;		/* that all records are valid in */
	bool		ascii;			/* they have no other characters */
	bool		mark;			/* a file begins with a byte order mark */
	List	   *titles;			/* of FcHeld: records before that one, with
								 * other numbers of fields */
	const char *title;			/* the first of these that is not empty */
	int			header_lines;
	bool		map;			/* the files have different headers */
	List	   *heads;			/* of FcHeld: the first record of each file */
	uint64		records;		/* that were looked at, without headers */
	int			ncolumns;
	FcColumnSeen *columns;
	const char *null_string;	/* what stands for NULL, NULL: the default */
	List	   *notes;			/* of char *: what is unsure of the file */
} FcTable;

/* A first record, which may be a header */
typedef struct FcHeld
{
	uint32		file;
	int			nfields;
	char	  **fields;
	bool	   *quoted;
} FcHeld;

/* Looks at all records; the caller has set what comes before "encoding" */
extern void fc_columns_look(FcTable *table);

/*
 * Are the values words for true and false?  "N" alone may be a letter of many:
 * then both must have come up.
 */
extern bool fc_columns_is_boolean(const FcColumnSeen *column);

/* Counts a first record that is no header */
extern void fc_columns_count(FcTable *table, const FcHeld *held);

/*
 * s[0..len) for messages: in the server's encoding, on one line, and at most so
 * many bytes of it
 */
extern char *fc_sniff_shown(const FcTable *table, const char *s, size_t len, int width);

#endif							/* FC_SNIFF_COLUMNS_H */
