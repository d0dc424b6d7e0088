/*-------------------------------------------------------------------------
 *
 * row/column.h
 *	  How a field of the file becomes the value of its column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COLUMN_H
#define FC_COLUMN_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/execnodes.h"

#include "convert/convert.h"
#include "convert/pattern.h"
#include "grammar/field.h"

/* A field of the file and its column */
typedef struct FcColumn
{
	int			index;			/* in the target's row, from 0; -1: skipped */
	const char *name;
	uint8		flags;			/* FC_FIELD_* */
	bool		ours;			/* core would read the field in another way */
	bool		binary;			/* the field is of a binary file, and input is
								 * the type's receive function */
	FcConverter convert;
	FcPattern  *pattern;		/* the file's form of a timestamp, or NULL */
	FmgrInfo	input;
	Oid			typioparam;
	Oid			typid;
	int32		typmod;
	ExprState  *def;			/* the default, if a field may stand for it */
} FcColumn;

/*
 * Fills in a column that is zeroed.  attnum 0: the field is skipped.  pattern:
 * the file's own form of a timestamp, or "".  zone: the file's times are in a
 * zone that is not the session's.
 */
extern void fc_column_init(FcColumn *column, TupleDesc desc, AttrNumber attnum,
						   const char *pattern, bool zone, bool binary);

/* Does the value depend on nothing but the field, its type and NULL? */
extern bool fc_column_is_plain(const FcColumn *column);

/* Applies COPY's FORCE_NULL and FORCE_NOT_NULL to the field */
extern void fc_column_force(const FcColumn *column, const FcDialect *dialect,
							FcField *field);

/* The field's value; a NULL goes through the input function, unless strict */
extern Datum fc_column_value(FcColumn *column, const FcField *field);

#endif							/* FC_COLUMN_H */
