/*-------------------------------------------------------------------------
 *
 * options/options.h
 *	  What the caller asked for, checked by COPY's own rules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OPTIONS_H
#define FC_OPTIONS_H

#include "commands/copy.h"
#include "utils/jsonb.h"

#include "context/shared.h"
#include "options/list.h"
#include "source/utf16.h"

/* on_error */
typedef enum FcOnError
{
	FC_ON_ERROR_STOP,
	FC_ON_ERROR_IGNORE,			/* the record is rejected */
	FC_ON_ERROR_SET_NULL		/* the value becomes NULL */
} FcOnError;

/* changed_files: of a file that is recorded as loaded, and has changed since */
typedef enum FcChanged
{
	FC_CHANGED_ERROR,
	FC_CHANGED_SKIP,			/* it is passed over like the others */
	FC_CHANGED_LOAD				/* it is loaded, too */
} FcChanged;

typedef enum FcVerbosity
{
	FC_LOG_DEFAULT,
	FC_LOG_VERBOSE,
	FC_LOG_SILENT
} FcVerbosity;

#define FC_OPTION_NUMBER(name, ...) FC_OPTION_##name,

/* The numbers of options in the list */
typedef enum FcOptionNumber
{
	FC_OPTIONS(FC_OPTION_NUMBER)
	FC_NOPTIONS
} FcOptionNumber;

/* What kind of value an option has, and the C type of its field */
typedef enum FcOptionKind
{
	FC_KIND_TEXT,				/* char * */
	FC_KIND_FLAG,				/* bool */
	FC_KIND_LIST,				/* List * of String */
	FC_KIND_TABLE,				/* Oid */
	FC_KIND_INTEGER,			/* int64 */
	FC_KIND_JSON				/* char *: a word, or the text of a JSON array
								 * or object */
} FcOptionKind;

/* Where an option may be given */
#define FC_FROM_CALL	1		/* fast_copy(), _analyze() and _sniff() */
#define FC_FROM_COPY	2		/* COPY ... WITH (fast_copy, ...) */
#define FC_FROM_FILES	4		/* fast_copy_files() */
#define FC_FROM_MOVE	8		/* fast_copy_drain(), fast_copy_repartition() */
#define FC_FROM_ONE_CALL	FC_FROM_CALL
#define FC_FROM_ONE		(FC_FROM_CALL | FC_FROM_COPY)
#define FC_FROM_FUNCTION	(FC_FROM_CALL | FC_FROM_FILES)
#define FC_FROM_ANY		(FC_FROM_ONE | FC_FROM_FILES)
#define FC_FROM_EVERY	(FC_FROM_ANY | FC_FROM_MOVE)

typedef struct FcOption
{
	const char *name;
	const char *type;			/* in SQL */
	const char *preset;			/* the default, as SQL has it */
	const char *core;			/* its other name, in core's COPY, or NULL */
	FcOptionKind kind;
	int			from;			/* FC_FROM_* */
	size_t		at;				/* its field in FcOptions */
	const char *values;			/* that are valid, as hints tell them; NULL:
								 * too many to be told */
	const char *words;			/* of other programs, or NULL */
} FcOption;

/* The options of options/list.h */
extern const FcOption fc_option_list[FC_NOPTIONS];

/* C types of fields, by the kind of their options */
#define FC_TYPE_TEXT	char *
#define FC_TYPE_FLAG	bool
#define FC_TYPE_LIST	List *
#define FC_TYPE_TABLE	Oid
#define FC_TYPE_INTEGER int64
#define FC_TYPE_JSON	char *
#define FC_OPTION_FIELD(name, type, preset, kind, from, core, field, ...) FC_TYPE_##kind field;

/* Separators of numbers */
typedef struct FcNumberFormat
{
	const char *group;			/* "": thousands are not set apart */
	const char *decimal;		/* "": numbers are as PostgreSQL reads them */
} FcNumberFormat;

typedef struct FcOptions
{
	bool		given[FC_NOPTIONS];

	/*
	 * What the caller gave, by the list; NULL or NIL: nothing.  A field
	 * NAME_word is only for fc_options_check(), and for what errors say.
	 */
	FC_OPTIONS(FC_OPTION_FIELD)

	FcCaller	caller;
	Oid			target;
	List	   *sources;		/* of String: paths and patterns; with program:
								 * commands */
	bool		literal;		/* paths, none of which is a pattern */
	bool		client;			/* the one source is what the client sends */
	bool		alone;			/* its transaction ends with it */
	List	   *copy_options;	/* DefElems as COPY's grammar makes them,
								 * without HEADER, FREEZE and what core may
								 * not know */
	CopyFormatOptions format;	/* copy_options, as core has read them */
	const char *delimiter;		/* between fields; NULL: the format has none */
	bool		raw;			/* no byte quotes or escapes others */
	bool		own_grammar;	/* core cannot read it: format and copy_options
								 * have other bytes in place of what it has */
	bool		json;			/* raw lines, each an object of JSON */
	int			header_lines;
	bool		header_match;	/* the last header line names the columns */
	bool		header_map;		/* the last header line maps the fields */
	bool		drops;			/* ignore_extra_columns, where no header names
								 * them */
	Node	   *where;			/* COPY's condition, as its grammar makes it;
								 * or NULL */
	const char *query;			/* the text that this is from */
	FcMissing	missing;
	FcExisting	existing;
	FcMove		move;
	double		min_replace_ratio;	/* new rows for each old one */
	bool		replace_deletes;	/* no files are exchanged */
	FcConflict	conflict;
	bool		dedup_first;	/* of equal rows the first stays, not the
								 * last */
	FcChanged	changed_files;
	bool		replace_others; /* also rows of files that are not loaded */
	uint64		cut_bytes;		/* a load has at most so many of one file, but
								 * whole records; 0: all of it */
	List	   *transforms;		/* FcTransformOption, with that of
								 * delete_where: options/transform.c */
	uint8		trim;			/* FC_FIELD_TRIM, FC_FIELD_TRIM_QUOTED */
	FcNumberFormat number;
	int			footer_lines;	/* so many last lines are no records, */
	char	   *footer;			/* or those that match; or NULL */
	bool		pads;			/* missing_columns "null" */
	FcOnError	on_error;
	uint32		tolerated;		/* FC_CLASS_* that on_error tolerates */
	int64		reject_limit;	/* records; -1: no limit of their number */
	double		reject_percent; /* of all records; 0: no such limit */
	bool		reject_each;	/* either is one of each file */
	FcVerbosity log_verbosity;
	int64		progress_us;	/* µs between lines about progress; 0: none */
	int			file_encoding;
	FcUtf16Hint utf16;			/* what is UTF-16, and read as UTF-8 */
} FcOptions;

/*
 * Returns the members of the object as DefElems for fc_options_take(),
 * without those that are null.  ERROR 42601 for a key that is no option of a
 * call, 22023 for a value that is no object or has another type than the
 * option.
 */
extern List *fc_json_options(Jsonb *json, int from);

/*
 * Reads a text as JSON if it begins with one of these brackets, after blanks;
 * or NULL.  ERROR 22P02.
 */
extern Jsonb *fc_json_read(const char *text, const char *begins);

/*
 * Takes the next member of an object or an array, and its key, which stays as
 * it is in an array; false if there is none
 */
extern bool fc_json_next(JsonbIterator **it, char **key, JsonbValue *value);

/* A string or a number as a text; NULL: it is neither */
extern char *fc_json_text(const JsonbValue *value);

/*
 * Returns options of which none has been given.  The caller then sets the
 * sources and the target.
 */
extern FcOptions *fc_options_begin(FcCaller caller);

/*
 * Takes in DefElems as COPY's grammar makes them; a table can also be a
 * Const, its OID.  May be called again with other DefElems.  ERROR 42601 for
 * an option that is not known, that this caller may not give, or that comes
 * twice; for a wrong value COPY's error.
 */
extern void fc_options_take(FcOptions *options, List *given, ParseState *pstate);

/*
 * Works out what the options mean.  The caller calls it once, after all are
 * taken in.  Throws COPY's errors for COPY's options, ERROR 22023 for ours.
 */
extern void fc_options_check(FcOptions *options);

/*
 * options/grammar.c: the part of it that takes out of the words what core does
 * not know of the file's grammar.  ERROR 22023 for what contradicts it.
 */
extern void fc_options_grammar(FcOptions *options);

/*
 * options/existing.c: the part of it that is about rows which are there
 * already.  What of on_error is to be tolerated is known.
 */
extern void fc_options_existing(FcOptions *options);

/*
 * options/edits.c: the part of it that is about values which are written
 * otherwise.  ERROR 42601 for one of its options in binary format.
 */
extern void fc_options_edits(FcOptions *options);

/* Does a file end for the load where only a look at its records tells? */
static inline bool
fc_options_cut(const FcOptions *options)
{
	return options->max_records > 0 || options->footer_lines > 0 || options->footer;
}

/* Does the line, in the server's encoding, match skip_footer? */
extern bool fc_edits_footer(const FcOptions *options, char *line, int len);

/*
 * options/transform.c: the part of it that is about transform.  ERROR 42601 for
 * a text that is no list of columns and expressions, 22023 for other JSON,
 * 42701 for a column that comes twice.
 */
extern void fc_options_transform(FcOptions *options);

/*
 * Finds the option with this name, its own or core's, that may be given in one
 * of the places "from" (FC_FROM_*); or NULL
 */
extern const FcOption *fc_option_find(const char *name, int from);

/*
 * ERROR 42601 for a word that is the name of no such option: it names the one
 * that is most like it, or all.  pstate may be NULL.
 */
extern void fc_option_refuse(const char *word, int from, ParseState *pstate,
							 int location);

/*
 * The name that a word was probably meant to be: of those that differ from it
 * by few letters the first that differs by the fewest; or NULL.  Core has
 * ClosestMatchState for this from version 16 on.
 */
extern const char *fc_option_nearest(const char *word, const List *names);

/*
 * Returns the table of this name, for an option.  ERROR 42P01, with a hint how
 * it is made, if there is none.
 */
extern Oid	fc_option_table(const char *name, const FcOption *option);

/* Adds one of core's options to a list as COPY's grammar makes it */
extern List *fc_option_add(List *list, const char *name, const char *value);

/* Returns the option's default if that is a text, or NULL */
extern char *fc_option_default(const FcOption *option);

/* ERROR 22023 about the value of an option, or of two together */
#define fc_option_error(...) \
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), __VA_ARGS__))

/* ERROR 0A000 about what cannot be done */
#define fc_unsupported(...) \
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), __VA_ARGS__))

/* errhint() with an option's valid values, as the caller would write them */
extern int	fc_option_hint(const FcOptions *options, FcOptionNumber option);

/*
 * The number of the option's word among its valid values (sql/help.in),
 * which its enumeration has in the same order; 0 if none is given.  ERROR 22023
 * for another one.
 */
extern int	fc_option_word(const FcOptions *options, FcOptionNumber number);

/* Returns the name of one FC_CLASS_* as on_error_classes has it */
extern const char *fc_options_class_name(uint32 class);

#endif							/* FC_OPTIONS_H */
