/*-------------------------------------------------------------------------
 *
 * row/parse_some.h
 *	  The values of some fields of a record, which stays as it is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARSE_SOME_H
#define FC_PARSE_SOME_H

#include "row/parse.h"

/*
 * Sets values and nulls to those of n fields, given by their numbers in the
 * file.  Values passed by reference are in the current memory context.  The
 * fields have no FC_FIELD_*, no pattern and no zone of their own, none stands
 * for a default, and the file is in the server's encoding.
 *
 * The first throws no error about data: false says that the second must be
 * asked, which throws COPY's errors.
 */
extern bool fc_parse_some_quickly(FcParser *parser, const FcRecord *record,
								  const int *fields, int n, Datum *values, bool *nulls);
extern void fc_parse_some(FcParser *parser, const FcRecord *record,
						  const int *fields, int n, Datum *values, bool *nulls);

#endif							/* FC_PARSE_SOME_H */
