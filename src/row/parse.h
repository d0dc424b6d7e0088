/*-------------------------------------------------------------------------
 *
 * row/parse.h
 *	  From the bytes of a record to the values of a row, as COPY has them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARSE_H
#define FC_PARSE_H

#include "row/mend.h"

typedef struct FcParser FcParser;

/*
 * Lives in the current memory context; estate is for default expressions.
 * numbered: these get the numbers that the leader has taken of sequences;
 * false: the caller does not need the defaults that have some.
 */
extern FcParser *fc_parse_begin(FcContext *ctx, EState *estate, bool numbered);

extern void fc_parse_end(FcParser *parser);

/*
 * Sets the number in the file, from 0, of the record that is parsed next: by
 * it defaults get their numbers of sequences
 */
extern void fc_parse_number(FcParser *parser, uint64 number);

/*
 * Says whether values may have the short headers that they will have in a
 * tuple: not where an expression, as a CHECK, could ask for their size.
 */
extern void fc_parse_compact(FcParser *parser, bool compact);

/*
 * Fills values and nulls, in the target's row type, from a record's data, which
 * are overwritten, and length; cuts it by its marks if it has some.  Values
 * passed by reference are in the current memory context, in the record or in
 * the parser: they last until one of the three is used again.
 *
 * fc_parse_quickly throws no error about data, calls only code of this
 * extension, and returns true if the row is complete.  Otherwise fc_parse_rest
 * goes on from there.  It throws COPY's errors, in COPY's order, and returns
 * false at one that is tolerated, see fc_parse_faults.
 */
extern bool fc_parse_quickly(FcParser *parser, const FcRecord *record,
							 Datum *values, bool *nulls);
extern bool fc_parse_rest(FcParser *parser);

/*
 * Parses a record for core's COPY, as both would do together, but for the
 * defaults of columns without a field, which core evaluates
 */
extern bool fc_parse_for_core(FcParser *parser, const FcRecord *record,
							  Datum *values, bool *nulls);

/*
 * For a record for which fc_parse_for_core returned false: evaluates the
 * defaults of columns without a field, as COPY does although it leaves the
 * record out.
 */
extern void fc_parse_pass_over(FcParser *parser);

/* Has fc_parse_for_core cut the record?  Not if its encoding was not valid. */
extern bool fc_parse_is_cut(const FcParser *parser);

/*
 * Finds the field that an error of fc_parse_for_core is about; false if it is
 * about the record.  *value is the field's text, or NULL for a NULL; the
 * record's, which the caller has, for a column that has no field of its own.
 */
extern bool fc_parse_at(const FcParser *parser, const char *record,
						const char **column, const char **value);

/* Does the last record's key come from a field that stands for a default? */
extern bool fc_parse_key_is_default(const FcParser *parser);

/* The faults of the last record; last as long as its values */
extern const FcFaults *fc_parse_faults(const FcParser *parser);

/* Passes those for which it was not left out to fc_reject_keep */
extern void fc_parse_count_kept(const FcParser *parser, uint64 offset, uint64 length);

/*
 * Reads only the key: sets *key, or *null.  Throws COPY's errors.  False: the
 * whole record must be parsed, from unchanged bytes.
 */
extern bool fc_parse_key(FcParser *parser, const FcRecord *record,
						 int64 *key, bool *null);

/*
 * Reads only the key, if that can neither throw an error nor need the whole
 * record; false for any other key, and for NULL.  Does not change the record.
 */
extern bool fc_parse_plain_key(FcParser *parser, const FcRecord *record,
							   int64 *key);

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

#endif							/* FC_PARSE_H */
