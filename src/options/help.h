/*-------------------------------------------------------------------------
 *
 * options/help.h
 *	  What there is to say about the options of a load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HELP_H
#define FC_HELP_H

#include "nodes/pg_list.h"

/* An option, with what options/list.h and options/help_list.h say of it */
typedef struct FcHelp
{
	const char *name;
	const char *type;			/* in SQL */
	const char *preset;			/* the default, as SQL has it; "": none */
	int			from;			/* FC_FROM_* */
	const char *copy;			/* what COPY calls it, or NULL */
	const char *values;			/* that are valid, or NULL */
	const char *sample;			/* a value */
	const char *words;			/* of other programs, or NULL */
	const char *meaning;		/* a phrase */
	const char *text;			/* whole sentences */
	const char *example;

	/* what follows */
	const char *kind;			/* argument, or option of COPY */
} FcHelp;

/* Returns a list of FcHelp, in the order of the arguments and then of COPY */
extern List *fc_help_options(void);

#endif							/* FC_HELP_H */
