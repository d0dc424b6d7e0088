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

/* A column the file does not have, with a default */
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
	FcNumbers  *numbers;		/* that sequences gave; or NULL */
} FcDefaults;

/* Does the file have this column? */
extern bool fc_defaults_in_file(FcShared *shared, AttrNumber attnum);

extern void fc_defaults_begin(FcDefaults *defaults, FcShared *shared,
							  Relation target, EState *estate);
extern void fc_defaults_end(FcDefaults *defaults);

/*
 * The target's default, as for COPY, not the partition's; or NULL.  The scan
 * needs no value that may be another one in the load, and must not use one
 * up.
 */
extern ExprState *fc_defaults_expr(FcShared *shared, Relation target,
								   AttrNumber attnum);

/* Evaluates them into a row */
extern void fc_defaults_evaluate(const FcDefaults *defaults, Datum *values,
								 bool *nulls);

#endif							/* FC_DEFAULTS_H */
