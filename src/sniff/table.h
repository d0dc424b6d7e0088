/*-------------------------------------------------------------------------
 *
 * sniff/table.h
 *	  The table that a sample would make: its columns, their names and types,
 *	  what stands for NULL, the key; and the steps by which it is guessed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_TABLE_H
#define FC_SNIFF_TABLE_H

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
	uint64		given;			/* the caller's words for NULL */
	Bitmapset  *said;			/* numbers of the caller's null_strings that
								 * came up */
	bool		patterned;		/* patterns is set */
	List	   *patterns;		/* numbers of those that all values match */
	List	   *likely;			/* those that all matched before one did not, */
	uint64		unlikely;		/* and values that match none of these */
	int64		low;			/* of numbers, without fractions */
	int64		high;
	uint64		amounts;		/* values that had the sign of a currency, */
	const char *sign;			/* this one, the last value's; or NULL */
	bool		signs_differ;	/* not all values have it */
	bool		ascending;		/* within each place */
	int64		last;
	int			decimals[2];	/* the fewest and the most after the point */
	int			digits;			/* the most of a number */
	FcNumbersSeen numbers;		/* values that are numbers of any format */
	uint64		padded;			/* values with blanks around them, */
	uint64		padded_quoted;	/* and such within quotes */
	uint64		padded_words[FC_NULL_WORDS];	/* words for NULL with blanks
												 * around them */
	char	   *example;		/* the first of the values, as in the file; or
								 * NULL */

	/* what was decided */
	Oid			typid;
	const char *type;			/* as CREATE TABLE has it */
	const char *pattern;		/* for timestamp_format, or NULL */
	bool		format;			/* its numbers are as number_format has them */
	bool		amount;			/* a transform takes "sign" off */
	bool		force_null;		/* quoted words for NULL are NULL, too */
	uint32		null_words;		/* for null_strings: words, as bits */
	List	   *notes;			/* of char *: what is unsure */
} FcColumnSeen;

typedef struct FcTable
{
	const FcSniffSample *sample;
	const FcOptions *options;
	FcJudge    *judge;
	FcGuess    *guess;
	int			encoding;		/* that all records are valid in */
	bool		ascii;			/* they have no other characters */
	bool		mark;			/* a file begins with a byte order mark */
	List	   *titles;			/* of FcSniffHeld: records before that one, with
								 * other numbers of fields */
	const char *title;			/* the first of these that is not empty */
	int			header_lines;
	bool		map;			/* the files have different headers */
	List	   *heads;			/* of FcSniffHeld: first records of the files */
	uint64		records;		/* that were looked at, without headers */
	int			ncolumns;
	FcColumnSeen *columns;
	List	   *null_strings;	/* of FcNullWords: the caller's */
	const char *null_string;	/* what stands for NULL, NULL: the default */
	const char *number_format;	/* or NULL */
	int			decimal;		/* FC_DECIMAL_* of number_format */
	const char *trim;			/* or NULL */
	List	   *notes;			/* of char *: what is unsure of the file */
} FcTable;

/* A first record, which may be a header */
typedef struct FcSniffHeld
{
	uint32		file;
	int			nfields;
	char	  **fields;
	bool	   *quoted;
} FcSniffHeld;

/* The key by which the table is partitioned */
typedef struct FcKeyGuess
{
	int			column;			/* its number, -1: there is none */
	const char *interval;		/* for partition_interval; NULL: the default */
	List	   *notes;			/* of char * */
} FcKeyGuess;

/* The steps, in their order; each takes what the caller has given */

/* Looks at all records; the caller has set what comes before "encoding" */
extern void fc_columns_look(FcTable *table);

/*
 * The next record that has all columns and is no header, or NULL after the last
 * one.  The cursor was begun for the table.
 */
extern FcSniffRecord *fc_columns_next(const FcTable *table, FcCursor *cursor);

/* Values that are words for NULL, of the caller's or of people */
extern uint64 fc_columns_nulls(const FcColumnSeen *column);

/*
 * Are the values words for true and false?  "N" alone may be a letter of many:
 * then both must have come up.
 */
extern bool fc_columns_is_boolean(const FcColumnSeen *column);

/* Counts a first record that is no header */
extern void fc_columns_count(FcTable *table, const FcSniffHeld *held);

/*
 * s[0..len) for messages: in the server's encoding, on one line, and at most so
 * many bytes of it
 */
extern char *fc_sniff_shown(const FcTable *table, const char *s, size_t len, int width);

/*
 * Is the first record a header?  Then what it says of the lines before it is
 * settled, too: table->guess->skip.  Notes tell of what is unsure.
 */
extern bool fc_evidence_of_header(FcTable *table, const FcSniffHeld *first);

/* Are the fields of two first records the same? */
extern bool fc_evidence_is_same(const FcSniffHeld *a, const FcSniffHeld *b);

/*
 * Decides on the header, counts the first records if there is none, and names
 * the columns.  All records must have been looked at.
 */
extern void fc_names_choose(FcTable *table);

/* The number of the one of the first n columns that has the name, or -1 */
extern int	fc_names_find(const FcTable *table, int n, const char *name);

/* The name of a table for what the source has, in the server's encoding */
extern char *fc_names_table(const FcSniffSample *sample, const FcOptions *options);

/* Decides on number_format, and which columns have such numbers */
extern void fc_formats_decide(FcTable *table);

/* Chooses null_string, and null_strings; types must have been decided */
extern void fc_nulls_decide(FcTable *table);

/* Decides on trim, after what stands for NULL */
extern void fc_blanks_decide(FcTable *table);

/* Decides on the types, and what stands for NULL, after columns have names */
extern void fc_types_decide(FcTable *table);

/*
 * Makes columns of integers narrower, as far as the values seen allow, if the
 * widest row of the sample would not fit into a page else, and says so.  ERROR
 * 54000 if that is not enough.  Types must have been decided.
 */
extern void fc_types_fit(FcTable *table);

/* Chooses the key, unless the caller has, and the width of partitions */
extern void fc_key_guess(FcTable *table, FcKeyGuess *key);

/*
 * The two statements, each with comments.  "target" is the table as the
 * statements name it, "function" is fast_copy likewise.
 */
extern char *fc_statement_create(const FcTable *table, const FcKeyGuess *key, const char *target);
extern char *fc_statement_select(const FcTable *table, const FcKeyGuess *key, const char *target,
								 const char *function);

#endif							/* FC_SNIFF_TABLE_H */
