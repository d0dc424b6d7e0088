/*-------------------------------------------------------------------------
 *
 * options/columns.h
 *	  Which columns the fields of the file are, and what else they need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COLUMNS_H
#define FC_COLUMNS_H

#include "errors/context.h"
#include "options/options.h"

/* The byte order mark in UTF-8 */
#define FC_MARK	"\xef\xbb\xbf"

/*
 * What the caller says of the file, or its header or a conversion says in his
 * place
 */
typedef struct FcFileForm
{
	List	   *columns;		/* of String; NIL: all */
	List	   *fields;			/* with header => 'map': attnum of each field of
								 * the file, or 0 to skip it */
	List	   *names;			/* with it, too: each field's own, String */
	int			nfields;		/* without it, where extra columns are ignored:
								 * of the first record, or fewer */
	int			encoding;
	bool		extra;			/* expressions may name fields that are no
								 * columns */
	List	   *headers;		/* with it, too, if files have different ones:
								 * an FcFileForm for each, with fields and
								 * names.  Those of this form are all that
								 * any has, the first file's first. */
} FcFileForm;

/*
 * The columns that the file has.  After its fields come those columns that
 * transforms make without a field of their own, as if they were fields, too.
 */
typedef struct FcColumns
{
	List	   *attnums;		/* in the file's order */
	List	   *fields;			/* attnum of each field, or 0 to skip it */
	List	   *names;			/* String: what transforms call each field of
								 * the file */
	int			nwanted;		/* fields before those that are extra */
	List	   *transforms;		/* Expr: what makes each field, or NULL; and
								 * FcPlanned.mark, if there is one; NIL: all
								 * are NULL, and there is none */
	uint8		origins;		/* as in FcPlan */
	List	   *paths;			/* Const: names of folders in $path.NAME */
	uint16	   *flags;			/* FC_FIELD_* of each field */
	char	  **patterns;		/* timestamp pattern of each field, or NULL */
	List	  **words;			/* options/edits.c: null_strings of each field,
								 * String */
} FcColumns;

/*
 * For header => 'map': takes the names of the fields from the header record
 * rec[0..len), and sets form->fields and form->columns.  ERROR 42703 for
 * a name that the table does not have, unless extra columns are ignored, 42701
 * for a name that comes twice, 22P04 if a NOT NULL column without a default
 * is missing.
 */
extern void fc_columns_map(Relation rel, const FcOptions *options,
						   const FcDialect *dialect, char *rec, size_t len,
						   FcFileForm *form);

/*
 * Adds what another file's header has to the form; returns the number of that
 * header among form->headers.  ERROR 42702 if names differ in case alone.
 */
extern uint32 fc_columns_join(FcFileForm *form, const FcFileForm *other);

/*
 * Where a form has a field of another one, or -1: the same column, or the field
 * of the same name, of several the one that is as many before or after
 */
extern int	fc_columns_place(const FcFileForm *form, const FcFileForm *other, int field);

/* Has a column a default that a file with another header lacks? */
extern bool fc_columns_any_default(Relation rel, const FcOptions *options, const FcFileForm *form);

/* The fields of a record, FC_HEADER_FIELDS at most; -1: a quote does not end */
extern int	fc_columns_of_record(const FcDialect *dialect, const char *rec, size_t len);

/*
 * Returns the column that a field of this name is, one of n fields of a header,
 * or 0.  If no column has the very name, it is the only one whose name differs
 * in case alone, as that of a table made without quotes does, unless another
 * field has that column's very name.
 */
extern AttrNumber fc_columns_called(Relation rel, const FcField *fields, int n, const char *name);

/*
 * How many names of a header, which is in the server's encoding and may be cut
 * off, are columns?  Sets how many fields it has; -1: a quote does not end
 */
extern int	fc_columns_known(Relation rel, const FcOptions *options,
							 const FcDialect *dialect, const char *header, int *nfields);

/*
 * For header => 'match': COPY's errors if the header record has other names
 * than the fields.  False where core can tell: there is no transform, and it
 * knows the grammar.
 */
extern bool fc_columns_match(const FcOptions *options, const FcColumns *columns,
							 const FcDialect *dialect, int encoding, char *rec, size_t len);

/* The names of fields that are columns, as a list of String */
extern List *fc_columns_names(Relation rel, const List *fields);

/* The number of the field that is this column, from 0; -1: none of these is */
extern int	fc_columns_field(const List *fields, AttrNumber attnum);

/* Sets attnums, fields and flags; throws COPY's errors */
extern void fc_columns_make(Relation rel, const FcOptions *options,
							const FcFileForm *form, FcColumns *columns);

/*
 * The argument timestamp_format: a pattern, which is the key column's, or a
 * JSON object {"column": "pattern", ...}.  List of DefElem, a string for each
 * column; whether the columns exist is not checked.  ERROR 22023 or 22P02.
 */
extern List *fc_columns_given_patterns(char *timestamp_format, char *key_column);

/*
 * Sets the patterns; key_attnum is 0 where there is no key.  ERROR 42703 or
 * 42P10 for a column that the table or the file does not have, and the errors
 * of fc_pattern_compile.
 */
extern void fc_columns_make_patterns(Relation rel, const FcOptions *options,
									 AttrNumber key_attnum, FcColumns *columns);

/* Has the file no column of the table, so that an empty list would mean all? */
static inline bool
fc_columns_none(const FcColumns *columns)
{
	return columns->fields != NIL && columns->attnums == NIL;
}

/* The expression that makes the column's value, or NULL */
extern Node *fc_columns_transform(const FcColumns *columns, AttrNumber attnum);

/*
 * ERROR 42703 for a field that is no column of the table, and that no transform
 * names; once the transforms are made, whose errors come first; or 54000 for
 * more fields than the row of texts has room for
 */
extern void fc_columns_check_others(Relation rel, const FcOptions *options,
									const FcColumns *columns);

/* Returns the names of FORCE_NOT_NULL or FORCE_NULL with "*" written out */
extern List *fc_columns_force(List *names, Relation rel, List *attnums);

/*
 * options/edits.c
 */

/*
 * What null_strings says: DefElems, a list of String for the column of a name,
 * or for all, whose name is NULL.  ERROR 22023 or 22P02 if it is not as it
 * should be.
 */
extern List *fc_edits_null_strings(char *text);

/*
 * Sets the flags of the fields that are edited, and their words.  ERROR 42703
 * or 42P10 for a column that the table or the file does not have, 22023 or
 * 22P02 for null_strings that are not as they should be.
 */
extern void fc_edits_make(Relation rel, const FcOptions *options, FcColumns *columns);

/*
 * options/transform.c
 */

/* One column and its expression, as the caller wrote them */
typedef struct FcTransformOption
{
	char	   *column;			/* "" for delete_where, with expr alone */
	Node	   *expr;			/* as the grammar makes it */
	char	   *statement;		/* that the grammar has read */
	FcWithin	within;			/* the caller's text in it */
} FcTransformOption;

/*
 * Does an expression name such a field, or the one of this number, from 0?  So
 * that it may be there although no column of the table has its name.
 */
extern bool fc_transform_uses(const FcOptions *options, const char *field, int number);

/* Does an expression make this column's value? */
extern bool fc_transform_makes(const FcOptions *options, const char *column);

/* What the caller says of the column, or NULL */
extern const FcTransformOption *fc_transform_option(const FcOptions *options, const char *column);

/*
 * Returns the fields, as attnums, with columns that have none behind them, and
 * with 0 for those that get their default.  ERROR 42703 or 42P10 for a column
 * that the table does not have, or that cannot be set.
 */
extern List *fc_transform_fields(Relation rel, const FcOptions *options, const List *fields);

#endif							/* FC_COLUMNS_H */
