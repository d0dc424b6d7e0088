/*-------------------------------------------------------------------------
 *
 * row/defaults.h
 *	  Defaults of the columns that the file does not have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DEFAULTS_H
#define FC_DEFAULTS_H

#include "nodes/execnodes.h"

#include "row/serial.h"

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

/* Does the file have a field for this column? */
extern bool fc_defaults_in_file(FcShared *shared, AttrNumber attnum);

extern void fc_defaults_begin(FcDefaults *defaults, FcShared *shared,
							  Relation target, EState *estate);
extern void fc_defaults_end(FcDefaults *defaults);

/*
 * Prepares the column's default: the target's, as for COPY, not a partition's;
 * NULL if there is none.  In the scan, and before it, a constant NULL stands
 * for a volatile default: the load may get another value, and the scan must
 * not use one up.
 */
extern ExprState *fc_defaults_expr(FcShared *shared, Relation target,
								   AttrNumber attnum);

/* Evaluates the defaults into a row */
extern void fc_defaults_evaluate(const FcDefaults *defaults, Datum *values,
								 bool *nulls);

#endif							/* FC_DEFAULTS_H */
