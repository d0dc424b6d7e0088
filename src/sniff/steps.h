/*-------------------------------------------------------------------------
 *
 * sniff/steps.h
 *	  The steps by which a source is looked at, in their order, and what each
 *	  knows after those before it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_STEPS_H
#define FC_SNIFF_STEPS_H

#include "convert/pattern.h"
#include "copyfrom/core.h"

/* A part of a text */
typedef struct FcValueText
{
	const char *s;
	size_t		len;
} FcValueText;

/*
 * sniff/sample.c
 */

/* Bytes of one place of one file */
typedef struct FcSniffPlace
{
	uint32		file;			/* its number among those that the caller
								 * named */
	uint64		offset;			/* of the first byte, in the unpacked file */
	char	   *data;
	size_t		len;
	bool		start;			/* the file starts here, */
	bool		end;			/* or ends */
} FcSniffPlace;

/* A column that the folders of all files name: ".../NAME=VALUE/..." */
typedef struct FcFolder
{
	char	   *name;
	List	   *values;			/* of char *, by file; NULL is NULL */
} FcFolder;

/* What the value of a key is */
typedef enum FcObjectKind
{
	FC_OBJECT_NULL,				/* or not there */
	FC_OBJECT_PLAIN,			/* a number or a boolean */
	FC_OBJECT_STRING,
	FC_OBJECT_NESTED			/* an object or an array */
} FcObjectKind;

/* A key of objects of JSON */
typedef struct FcObjectKey
{
	char	   *name;
	int			number;			/* among all keys */
	FcObjectKind kind;			/* of the value of the object at hand, */
	FcValueText value;			/* and its text */
	uint64		nested;			/* objects in which it is nested */
} FcObjectKey;

typedef struct FcSniffSample
{
	const char *word;			/* what the source is: "file" or "program" */
	List	   *names;			/* of all files, String */
	uint32		nsampled;		/* files that were looked into */
	uint64		size;			/* bytes of all files as they are; 0: unknown */
	uint64		unpacked;		/* about how many these are unpacked; 0:
								 * unknown */
	const char *codec;			/* what a file is packed by, or NULL */
	bool		utf16;			/* the bytes of some file are UTF-16; the
								 * sample has them as UTF-8 */
	bool		unmarked;		/* of which no mark tells */
	List	   *folders;		/* of FcFolder; the last fields */
	char		comment;		/* records that begin so are none, or '\0' */
	int			footer;			/* so many last lines of each file are none, */
	const char *footer_line;	/* the first of which is this */
	List	   *keys;			/* of FcObjectKey: the file has lines of JSON,
								 * made records; else NIL */
	int			unnamed;		/* keys that no column can have as its name */
	uint64		odd_lines;		/* lines that are no objects */
	bool		joined;			/* files had different headers */
	bool		whole;			/* all bytes were looked at */
	uint64		bytes;			/* bytes looked at */
	int			nplaces;
	FcSniffPlace *places;			/* by file and offset; the first one of each
								 * file is at its start */
	FcField    *fields;			/* room for those of one record, */
	char	   *cut;			/* and for its bytes */
} FcSniffSample;

/* As many fields are cut; a record with more has them counted */
#define FC_SNIFF_FIELDS		1664

/* Bytes by which the kernels of the grammar and the conversions may read on */
#define FC_SNIFF_SLACK		64

/*
 * Opens what the caller may read, as a load does, takes the sample into the
 * current memory context, and closes all.  The options are checked.  Throws the
 * errors of a load for files that cannot be opened or unpacked and programs
 * that fail, and ERROR 22P04 for what is no text.
 */
extern FcSniffSample *fc_sample_take(const FcOptions *options);

/* Makes room for the longest record; after places have been written anew */
extern void fc_sample_make_room(FcSniffSample *sample);

/*
 * sniff/records.c
 */

/* The current record; its bytes are good until the next one is asked for */
typedef struct FcSniffRecord
{
	const FcSniffPlace *place;
	int64		number;			/* among those of its place, from 0 */
	const char *raw;			/* as it stands in the file */
	size_t		len;
	char	   *cut;			/* the same, in which the fields stand */
	int			nfields;		/* -1: a quote never closes */
	FcField    *fields;
} FcSniffRecord;

/* What a cursor has met that COPY would refuse, or leave out */
typedef struct FcCursorFaults
{
	uint64		line_ends;		/* of another style than the first one's */
	uint64		quotes;			/* that never close */
	uint64		markers;		/* that are malformed */
	uint64		lost;			/* places in which no record was found */
	uint64		ended;			/* places with bytes after a marker that ends
								 * the data */
} FcCursorFaults;

/* Goes through the records, place after place */
typedef struct FcCursor
{
	const FcSniffSample *sample;
	FcDialect	dialect;
	int			wanted;			/* fields that a record should have, 0: not
								 * known; by this it is told how a place begins
								 * that is not at a record's start */
	size_t		limit;			/* bytes of each place that are looked at */
	FcCursorFaults faults;

	int			next;			/* place that comes next */
	const FcSniffPlace *place;		/* the current one, or NULL */
	size_t		pos;			/* next record in it */
	size_t		end;			/* bytes of it that are looked at */
	bool		whole;			/* the place's end is the file's */
	FcSniffRecord record;
} FcCursor;

/* One cursor at a time goes through a sample, which has its room */
extern void fc_records_begin(FcCursor *cursor, const FcSniffSample *sample,
							 const FcDialect *dialect, int wanted, size_t limit);

/* The next record, or NULL after the last one */
extern FcSniffRecord *fc_records_next(FcCursor *cursor);

/* The bytes of field i, as they stand in the file */
extern FcValueText fc_records_raw(const FcSniffRecord *record, const FcDialect *dialect, int i);

/* Does field i of the record begin with a quote, and close it at its end? */
extern bool fc_records_quoted(const FcSniffRecord *record, const FcDialect *dialect, int i);

/* Has it quotes in other places? */
extern bool fc_records_messy(const FcSniffRecord *record, const FcDialect *dialect, int i);

/*
 * sniff/numbers.c
 */

/*
 * Blanks that break no line: U+00A0 and the narrow one, U+202F, in UTF8, and
 * the first one in LATIN1, which no valid UTF8 has beside a number
 */
#define FC_BLANK_UNBROKEN	"\xC2\xA0"
#define FC_BLANK_NARROW		"\xE2\x80\xAF"
#define FC_BLANK_BYTE		"\xA0"

/*
 * The one of these that s[0..len) begins or ends with, or ""; none, unless the
 * database is in UTF8
 */
extern const char *fc_numbers_blank(const char *s, size_t len, bool ends);

/* The decimal separators, by number */
#define FC_DECIMAL_POINT	0
#define FC_DECIMAL_COMMA	1
#define FC_DECIMALS			2

/* A format of numbers */
typedef struct FcNumberWay
{
	const char *group;			/* between thousands, or "" */
	int			decimal;		/* FC_DECIMAL_* */
	const char *example;		/* for number_format */
} FcNumberWay;

/* All of them; of those that fit the first one is taken */
#define FC_NUMBER_WAYS		13
#define FC_NUMBER_BIT(n)	((uint32) 1 << (n))
#define FC_NUMBER_ALL		(FC_NUMBER_BIT(FC_NUMBER_WAYS) - 1)
extern const FcNumberWay fc_number_ways[FC_NUMBER_WAYS];

/* How one number may be written */
typedef struct FcNumberShape
{
	uint32		formats;		/* those that it fits, as bits */
	int			digits;			/* all of them, without an exponent's */
	int			decimals[FC_DECIMALS];	/* digits after a separator */
	bool		exponent;
} FcNumberShape;

/* The same of all values of a column */
typedef struct FcNumbersSeen
{
	uint64		values;			/* that fit any format */
	uint32		formats;		/* that all of these fit */
	int			digits[2];		/* the fewest and the most */
	int			decimals[FC_DECIMALS][2];
	bool		exponent;		/* one has an exponent */
	char	   *example;		/* the first with a separator, or NULL */
} FcNumbersSeen;

/*
 * Is there nothing, or an exponent that any type of numbers takes?  *exponent
 * tells which.
 */
extern bool fc_numbers_exponent(const char *s, const char *end, bool *exponent);

/*
 * Reads a number without a sign; false if it fits no format.  There is a NUL at
 * its end.
 */
extern bool fc_numbers_shape(const char *s, const char *end, FcNumberShape *shape);

/* Adds the value s[0..len), which has this shape */
extern void fc_numbers_add(FcNumbersSeen *seen, const FcNumberShape *shape,
						   const char *s, size_t len);

/*
 * sniff/values.c
 */

/* Types of columns, and what is told apart among their values */
typedef enum FcValueType
{
	FC_VALUE_BOOLEAN,			/* as a word; 0 and 1 are integers */
	FC_VALUE_INTEGER,			/* as a bigint */
	FC_VALUE_NUMBER,
	FC_VALUE_UUID,
	FC_VALUE_DATE,
	FC_VALUE_TIME,
	FC_VALUE_TIMESTAMP,			/* without a zone; a date is one, too */
	FC_VALUE_TIMESTAMPTZ,		/* with a zone or without */
	FC_VALUE_JSON,				/* an object or a list */
	FC_VALUE_INET,				/* an address of version 4 */
	FC_VALUE_TYPES,				/* how many types there are */

	/* what else is counted of a value */
	FC_VALUE_ZONED = FC_VALUE_TYPES,	/* a timestamptz with a zone */
	FC_VALUE_TRUE,				/* a boolean that is true */
	FC_VALUE_LETTER,			/* a boolean that is no "true" or "false" */
	FC_VALUE_EXPONENT,			/* a number with an exponent, or infinite */
	FC_VALUE_COMMA,				/* a number of any of the formats */
	FC_VALUE_BLANK,				/* it begins or ends with a blank */
	FC_VALUE_KINDS
} FcValueType;

#define FC_VALUE_BIT(type)	(1 << (type))
#define FC_VALUE_TYPED		(FC_VALUE_BIT(FC_VALUE_TYPES) - 1)

/* Those that a load converts, by FcValueType; or InvalidOid */
extern const Oid fc_value_typids[FC_VALUE_TYPES];

/* What a value is made of, for those that are numbers */
typedef struct FcValueNumber
{
	int64		integer;		/* what stands before the point */
	int			decimals;		/* digits after the point */
	int			digits;			/* all digits */
	FcNumberShape shape;		/* FC_VALUE_COMMA: how it may be written */
} FcValueNumber;

/* s[0..len) without the blanks around it that trim takes off */
extern FcValueText fc_value_trim(const char *s, size_t len);

/* What stands around the number of an amount, apart from blanks and a minus */
typedef struct FcValueMarks
{
	const char *sign;			/* of a currency, or NULL; equal ones are one
								 * pointer, and so are blanks */
	const char *blank;			/* between sign and number, one that breaks no
								 * line; or NULL */
	bool		before;			/* the sign stands before the number */
	bool		brackets;		/* around it: it is negative */
} FcValueMarks;

/*
 * Takes the marks off an amount, and a minus before its sign with them.  If the
 * value is no amount, there are none.
 */
extern FcValueMarks fc_value_marks(char **s, size_t *len);

/* What values are judged by; made once */
typedef struct FcJudge FcJudge;

/* With a pattern that the caller has given for the key, or NULL */
extern FcJudge *fc_value_begin(const char *pattern);

/* A pattern of timestamp_format that values are tried by */
typedef struct FcValuePattern
{
	const char *text;
	Oid			typid;			/* of its values */
	FcPattern  *compiled;
} FcValuePattern;

/* That of the caller, NULL if there is none that can be tried */
extern const FcValuePattern *fc_value_given(const FcJudge *judge);

/*
 * The kinds of a value, as bits.  s[0..len) is followed by bytes that may be
 * read; len is not 0.
 */
extern int	fc_value_judge(FcJudge *judge, char *s, size_t len, FcValueNumber *number);

/* Are more brackets open than the parser, which is recursive, should have? */
extern bool fc_value_is_deep(const char *s, size_t len);

/*
 * The patterns (FcValuePattern) that the value matches without blanks around
 * it; those among "among", or, if that is NULL, all.  A new list.
 */
extern List *fc_value_patterns(FcJudge *judge, const char *s, size_t len, const List *among);

/*
 * The type that values of a pattern have: timestamptz, if they are instants,
 * or timestamp or date
 */
extern Oid	fc_value_pattern_type(const char *pattern, const char *column);

/*
 * The moment of a value as a key (microseconds or days).  The pattern may be
 * NULL.  False if it is none.
 */
extern bool fc_value_moment(FcJudge *judge, Oid typid, FcPattern *pattern,
							char *s, size_t len, int64 *key);

/*
 * sniff/changes.c
 */

/*
 * What a type that fits a value changes in print, beside the usual: trailing
 * zeros, other forms of a date, a boolean or an exponent
 */
typedef enum FcChange
{
	FC_CHANGE_PLUS,				/* a number loses its plus */
	FC_CHANGE_POWER,			/* 1E5, which may be a code, gets zeros */
	FC_CHANGE_DIGITS,			/* a double precision loses digits */
	FC_CHANGE_ZERO,				/* 1.10 and 1.1 are one number */
	FC_CHANGE_MICRO,			/* a moment is rounded to microseconds */
	FC_CHANGES
} FcChange;

/* What a type may change of the value s[0..len) with these kinds, as bits */
extern int	fc_changes_of(const char *s, size_t len, int kinds);

/*
 * sniff/dialect.c
 */

/* A quote, delimiter or escape that stands for "there is none" */
#define FC_NO_QUOTE		'\001'
#define FC_NO_DELIMITER	"\002"
#define FC_NO_ESCAPE	'\003'

typedef struct FcGuess
{
	FcDialect	dialect;
	const char *delim;			/* its delimiter */
	bool		text;			/* the text format; raw CSV is cut like it */
	int			nfields;		/* that most records have */
	int			skip;			/* records before those, at the file's start */
	uint64		records;		/* looked at, without those */
	uint64		others;			/* of these, with another number of fields */
	bool		skips_empty;	/* lines without a byte are no records */
	uint64		empty;			/* such lines */
	FcCursorFaults faults;
	double		score;
	double		next_score;		/* of the best guess with another delimiter, */
	const char *next_delim;		/* which is this; or NULL */
	uint64		quoted;			/* fields in quotes */
	bool		trailing;		/* the last field of all records is empty */
} FcGuess;

/*
 * The delimiter that the first line of a file for Excel names: "sep=;"; 0 if
 * s[0..len), a line and perhaps more, does not begin with one
 */
extern char fc_dialect_said(const char *s, size_t len);

/*
 * Guesses the dialect; what the caller has given is taken as it is.  Where the
 * fields fit none well the best one is returned, and its numbers tell.
 */
extern FcGuess *fc_dialect_guess(const FcSniffSample *sample, const FcOptions *options,
								 FcJudge *judge);

/*
 * Has the value a type, is it an amount, or a date or time as some pattern has
 * them?
 */
extern bool fc_dialect_is_typed(FcJudge *judge, const FcField *field);

/* Does a place have the two bytes, one after the other? */
extern bool fc_dialect_has_pair(const FcSniffSample *sample, char first, char second);

/* Appends a delimiter */
extern void fc_dialect_append(const FcDialect *dialect, StringInfo out);

/*
 * sniff/objects.c
 */

/*
 * If the sample has lines of JSON, makes them records, with the keys as the
 * header.  ERROR 22P04 if there are none, though the caller says so.
 */
extern void fc_objects_look(FcSniffSample *sample, const FcOptions *options);

/*
 * sniff/edges.c
 */

/*
 * Finds lines that are no records, by a guess: the byte that comments begin
 * with, and a footer, without which the places of the sample end then.  True if
 * there are some.
 */
extern bool fc_edges_find(FcSniffSample *sample, const FcOptions *options, FcJudge *judge,
						  const FcGuess *guess);

/*
 * sniff/join.c
 */

/*
 * Where files have headers with other columns, writes all with the columns of
 * any; and adds to all records what the folders say.  True if it did any.
 */
extern bool fc_join_files(FcSniffSample *sample, const FcOptions *options, FcJudge *judge);

/* What the steps find out, each what the next ones build on */

typedef struct FcColumnSeen
{
	char	   *name;
	const FcObjectKey *key;		/* whose values it has, or NULL */
	const char *folder;			/* the folders have its values, by this name; or
								 * NULL */
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
	List	   *patterns;		/* FcValuePattern: those all values match */
	List	   *likely;			/* those that all matched before one did not, */
	uint64		unlikely;		/* and values that match none of these */
	int64		low;			/* of numbers, without fractions */
	int64		high;
	uint64		amounts;		/* values that had the sign of a currency, */
	FcValueMarks marks;			/* this one, the last value's */
	bool		signs_differ;	/* not all values have it */
	uint64		brackets;		/* values that had brackets */
	bool		ascending;		/* within each place */
	int64		last;
	int			decimals[2];	/* the fewest and the most after the point */
	bool		negative;		/* a value begins with a minus */
	FcNumbersSeen numbers;		/* values that are numbers of any format */
	uint64		padded;			/* values with blanks around them, */
	uint64		padded_quoted;	/* and such within quotes */
	uint64		padded_words[FC_NULL_WORDS];	/* words for NULL with blanks
												 * around them */
	char	   *example;		/* the first of the values, as in the file; or
								 * NULL */
	uint64		changes[FC_CHANGES];	/* values that a type changes */
	char	   *changed[FC_CHANGES];	/* the first of each */

	/* what was decided */
	Oid			typid;
	const char *pattern;		/* for timestamp_format, or NULL */
	bool		format;			/* its numbers are as number_format has them */
	bool		amount;			/* a transform takes the marks off */
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
								 * other numbers of fields, or padded */
	const char *title;			/* the first of these that is not empty */
	int			header_lines;
	bool		map;			/* the files have different headers */
	bool		list;			/* the call has to list the columns */
	List	   *heads;			/* of FcSniffHeld: first records of the files */
	bool		second;			/* the records below these belong to them */
	List	   *rules;			/* of FcSniffHeld: those, or records of dashes
								 * below all of these, which are no values if
								 * those are headers; or NIL */
	uint64		records;		/* that were looked at, without headers */
	int			ncolumns;
	bool		drops;			/* without what is after the last delimiter */
	FcColumnSeen *columns;
	List	   *null_strings;	/* as of fc_edits_null_strings */
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

/*
 * Looks at all records; the caller has set what comes before "encoding", and
 * "second"
 */
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

/* Bytes of a byte order mark that a record or its first field begins with */
extern size_t fc_columns_mark(const FcSniffRecord *record, const char *s, size_t len);

/* Counts a first record that is no header */
extern void fc_columns_count(FcTable *table, const FcSniffHeld *held);

/* Adds a note, a format and its arguments, to those of a column or others */
#define fc_sniff_note(notes, ...)	((notes) = lappend((notes), psprintf(__VA_ARGS__)))

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

/*
 * Do the second records belong to the headers, as units or types do?  Then
 * columns are looked at without them: table->second.  Notes tell of it.
 */
extern void fc_evidence_of_second(FcTable *table);

/* Letters, digits and what people write into names, a letter among them */
extern bool fc_evidence_is_plain(const char *s);

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
extern char *fc_names_table(const FcOptions *options);

/* Decides on number_format, and which columns have such numbers */
extern void fc_formats_decide(FcTable *table);

/* Chooses null_string, null_strings and trim_blanks, by the types */
extern void fc_nulls_decide(FcTable *table);

/* Decides on the types, and what stands for NULL, after columns have names */
extern void fc_types_decide(FcTable *table);

/* The type as CREATE TABLE has it */
extern const char *fc_types_name(Oid typid);

/*
 * Makes columns of integers narrower, as far as the values seen allow, if the
 * widest row of the sample would not fit into a page else, and says so.  ERROR
 * 54000 if that is not enough.  Types must have been decided.
 */
extern void fc_types_fit(FcTable *table);

/* Chooses the key, unless the caller has, and the width of partitions */
extern void fc_key_guess(FcTable *table, FcKeyGuess *key);

/*
 * For a table that is there: takes its columns and its key, and leaves out what
 * cannot be used for them
 */
extern void fc_sniff_fit_target(FcTable *table, FcKeyGuess *key, Oid relid);

/*
 * Returns both statements, each with comments, or the call alone if the table
 * is there.  "target" is the table as the statements name it, "function" is
 * fast_copy likewise.
 */
extern char *fc_statements(const FcTable *table, const FcKeyGuess *key, const char *target,
						   const char *function, bool there);

#endif							/* FC_SNIFF_STEPS_H */
