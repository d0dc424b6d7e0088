/*-------------------------------------------------------------------------
 *
 * row/column.h
 *	  How a column gets its value: from a field of the file, or by default.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COLUMN_H
#define FC_COLUMN_H

#include "access/tupdesc.h"

#include "convert/convert.h"
#include "convert/pattern.h"
#include "row/edit.h"
#include "row/serial.h"

typedef struct FcTransforms FcTransforms;
typedef struct FcPopulate FcPopulate;

/* A field of the file and its column */
typedef struct FcColumn
{
	int			index;			/* in the target's row, from 0; -1: skipped */
	const char *name;
	uint16		flags;			/* FC_FIELD_* */
	bool		binary;			/* the field is of a binary file, and input is
								 * the type's receive function */
	FcConverter convert;
	FcEdit		edit;			/* before the field is converted */
	ExprState  *transform;		/* makes the value, or the text that is to be
								 * converted; or NULL: row/transform.c */
	bool		made_text;		/* the latter */
	FcPattern  *pattern;		/* the file's form of a timestamp, or NULL */
	FmgrInfo	input;
	Oid			typioparam;
	Oid			typid;
	int32		typmod;
	int			most;			/* characters that on_error cuts a value to; or
								 * 0 */
	const char *most_type;		/* the type that takes no more */
	ExprState  *def;			/* the default, if a field may stand for it */
	bool		json;			/* the field is JSON, and stays JSON */
	FcPopulate *populate;		/* makes the value of JSON; or NULL */
} FcColumn;

/* A column that has a default, and no field in the file */
typedef struct FcDefault
{
	int			index;			/* in the target's row, from 0 */
	ExprState  *expr;
} FcDefault;

typedef struct FcDefaults
{
	int			n;
	FcDefault  *defaults;
	ExprContext *econtext;
	FcNumbers  *numbers;		/* numbers of sequences, or NULL */
} FcDefaults;

/* The column of the table that has this name; ERROR 42703 if there is none */
extern AttrNumber fc_column_named(Relation rel, const char *name);

/*
 * Fills in a column that is zeroed.  attnum 0: the field is skipped.  pattern:
 * the file's own form of a timestamp, or "".
 */
extern void fc_column_init(FcColumn *column, TupleDesc desc, AttrNumber attnum,
						   const char *pattern, bool binary);

/*
 * For fields that are values of JSON: columns of json types, arrays and row
 * types get the value as JSON, and others a text.
 */
extern void fc_column_take_json(FcColumn *column);

/*
 * The time zone of this name; ERROR 22023 for one that SET would refuse.  NULL
 * if the name is NULL or "".
 */
extern pg_tz *fc_column_zone(const char *name);

/* Calls body(arg), with the zone as session_timezone unless it is NULL */
extern void fc_column_in_zone(pg_tz *zone, void (*body) (void *arg), void *arg);

/*
 * The same by the setting TimeZone, for a body that calls code of users: a
 * function with TimeZone among its own settings then restores this zone, not
 * the session's.  Takes many times as long.
 */
extern void fc_column_in_setting(pg_tz *zone, void (*body) (void *arg), void *arg);

/* The data of fields that a record does not have, or no record has */
extern char fc_column_nothing[];

/* Applies COPY's FORCE_NULL and FORCE_NOT_NULL to the field, if it is there */
extern void fc_column_force(const FcColumn *column, const FcDialect *dialect,
							FcField *field);

/* Has the edit of a field found that it is no number of the column's? */
static inline bool
fc_column_refuses(const FcColumn *column, const FcField *field)
{
	return (column->edit.flags & FC_FIELD_NUMBER) && field->bad;
}

/* The field's value; a NULL goes through the input function, unless strict */
extern Datum fc_column_value(FcColumn *column, const FcField *field);

/* Does the file have a field for this column? */
extern bool fc_column_in_file(FcShared *shared, AttrNumber attnum);

/*
 * Prepares the column's default: the target's, as for COPY, not a partition's;
 * NULL if there is none.  Up to the scan a constant NULL stands for a volatile
 * default: the load may get another value, and the scan must not use one up.
 */
extern ExprState *fc_column_default(FcShared *shared, Relation target,
									AttrNumber attnum, bool numbered);

/*
 * The defaults of all columns that the file does not have; numbered: with the
 * numbers that the leader has taken of sequences
 */
extern void fc_column_begin_defaults(FcDefaults *defaults, FcShared *shared,
									 Relation target, EState *estate, bool numbered);

#endif							/* FC_COLUMN_H */
