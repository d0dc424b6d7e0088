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

/* Some fields, and what their values need */
typedef struct FcSome FcSome;

/*
 * Makes ready to read n fields, given by their numbers in the file, in the
 * current memory context.  The file is in the server's encoding.  The fields
 * have no FC_FIELD_*, no pattern, no zone of their own, and do not stand for a
 * default.
 */
extern FcSome *fc_parse_some_begin(FcParser *parser, const int *fields, int n);

/*
 * Sets values and nulls to those of the fields.  Values passed by reference
 * are in the current memory context, or last until the next call.
 *
 * The first throws no error about data.  If it returns false the second must
 * be called, which throws COPY's errors.
 */
extern bool fc_parse_some_quickly(FcSome *some, const FcRecord *record,
								  Datum *values, bool *nulls);
extern void fc_parse_some(FcSome *some, const FcRecord *record,
						  Datum *values, bool *nulls);

#endif							/* FC_PARSE_SOME_H */
