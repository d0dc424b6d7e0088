/*-------------------------------------------------------------------------
 *
 * row/transform.h
 *	  Values that expressions make of the fields of a record.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TRANSFORM_H
#define FC_TRANSFORM_H

#include "row/column.h"

/*
 * Prepares the expressions of the columns that have FC_FIELD_TRANSFORM; NULL
 * if none has, and no row may be a delete mark.  They are evaluated in
 * econtext, and in the caller's memory context.  The columns and the dialect
 * must outlive them, at their addresses.
 */
extern FcTransforms *fc_transforms_begin(FcContext *ctx, FcColumn *columns,
										 const FcDialect *dialect, ExprContext *econtext);

/*
 * Takes the fields of the current record, which are in the server's encoding,
 * as texts, with their edits, and where it came from, offset, line and row;
 * conditions see that, too, until the next record's are taken.  The fields stay
 * as they are.
 */
extern void fc_transforms_take(FcTransforms *transforms, const FcField *fields, const FcRecord *from);

/* Does an expression name this field?  NULL: there are no expressions. */
extern bool fc_transforms_name(const FcTransforms *transforms, int field);

/*
 * Evaluates the column's expression.  True: *value, or field->null, is the
 * column's value.  False: the field is a text that the column's type must
 * read.
 */
extern bool fc_transform_value(FcTransforms *transforms, const FcColumn *column,
							   FcField *field, Datum *value);

#endif							/* FC_TRANSFORM_H */
