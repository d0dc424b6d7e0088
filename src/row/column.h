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

/* A column of the file */
typedef struct FcColumn
{
	int			index;			/* in the target's row, from 0; -1: skipped */
	const char *name;
	uint8		flags;			/* FC_FIELD_* */
	bool		ours;			/* core cannot read the field as it is */
	FcConverter convert;
	FcPattern  *pattern;		/* the file's form of a timestamp, or NULL */
	FmgrInfo	input;
	Oid			typioparam;
	Oid			typid;
	int32		typmod;
	ExprState  *def;			/* where a field may stand for it, or NULL */
} FcColumn;

/*
 * The column is zeroed.  attnum 0: the field is skipped.  pattern: the file's
 * own form of a timestamp, or "".  zone: times are read in one that is not the
 * session's.
 */
extern void fc_column_init(FcColumn *column, TupleDesc desc, AttrNumber attnum,
						   const char *pattern, bool zone);

/* Is there nothing more to the column's field than its type and NULL? */
extern bool fc_column_is_plain(const FcColumn *column);

/* COPY's FORCE options: what is NULL, and what is not */
extern void fc_column_force(const FcColumn *column, const FcDialect *dialect,
							FcField *field);

/* A value as the input function gives it; it is asked for NULLs too */
extern Datum fc_column_value(FcColumn *column, const FcField *field);

#endif							/* FC_COLUMN_H */
