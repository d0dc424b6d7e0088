/*-------------------------------------------------------------------------
 *
 * options/transform.h
 *	  What the caller says of values that expressions make.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TRANSFORM_OPTION_H
#define FC_TRANSFORM_OPTION_H

#include "errors/context.h"
#include "options/options.h"

/* One column and its expression, as the caller wrote them */
typedef struct FcTransformOption
{
	char	   *column;
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
 * that the table does not have, or that nobody may set.
 */
extern List *fc_transform_fields(Relation rel, const FcOptions *options, const List *fields);

#endif							/* FC_TRANSFORM_OPTION_H */
