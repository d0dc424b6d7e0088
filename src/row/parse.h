/*-------------------------------------------------------------------------
 *
 * row/parse.h
 *	  From the bytes of a record to the values of a row, as COPY has them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARSE_H
#define FC_PARSE_H

#include "executor/execdesc.h"
#include "nodes/execnodes.h"

#include "errors/reject_file.h"

typedef struct FcParser FcParser;

/* Lives in the current memory context; estate is for default expressions */
extern FcParser *fc_parse_begin(FcContext *ctx, EState *estate);

extern void fc_parse_end(FcParser *parser);

/*
 * The number in the file, from 0, of the record to be parsed next: defaults
 * that a sequence numbers go by it.
 */
extern void fc_parse_number(FcParser *parser, uint64 number);

/*
 * The key of the very bytes that are parsed next, if it is known: then it is
 * not converted again.  With this said of one record it must be said of all.
 */
extern void fc_parse_known_key(FcParser *parser, int64 key, bool known);

/*
 * Fills values and nulls, in the target's row type, from rec[0..len), which is
 * overwritten.  Values passed by reference are allocated in the current
 * memory context, or are in rec or the parser: they last until any of the
 * three has another use.  Errors are those of COPY, in COPY's order; false for
 * one that is tolerated, see fc_parse_bad.
 */
extern bool fc_parse_record(FcParser *parser, char *rec, size_t len,
							Datum *values, bool *nulls);

/*
 * May values have the short headers that they will have in a tuple?  Not where
 * an expression could ask for their size before, as a CHECK can.
 */
extern void fc_parse_compact(FcParser *parser, bool compact);

/*
 * The two halves of fc_parse_record.  The first throws no error about data and
 * calls no code but ours: true if that was all.  Otherwise the second goes on
 * from there.
 */
extern bool fc_parse_quickly(FcParser *parser, char *rec, size_t len,
							 Datum *values, bool *nulls);
extern bool fc_parse_rest(FcParser *parser);

/*
 * Parses a record for core's COPY: the fields as text, which core converts to
 * what fc_parse_record would give.  Only values that core could not read, or
 * whose faults are tolerated, are converted here, and only here: for these
 * there is fc_parse_text_value.  Defaults of columns the file does not have
 * are not evaluated.
 */
extern bool fc_parse_texts(FcParser *parser, char *rec, size_t len);

/*
 * The value of field i, from 0, if it was converted; it lasts as long as those
 * of fc_parse_record.
 */
extern bool fc_parse_text_value(const FcParser *parser, int i, Datum *value);

/*
 * A record that fc_parse_texts was false for is passed over: evaluates what
 * COPY evaluates of it then, the defaults of columns the file does not have.
 */
extern void fc_parse_pass_over(FcParser *parser);

/*
 * The fields then, without those that are skipped: NULL after the last.  *i
 * starts with 0.  A field that stands for a default is only there if core
 * knows such fields.
 */
extern const FcField *fc_parse_next_text(const FcParser *parser, int *i);

/* Did fc_parse_texts get beyond the record's encoding? */
extern bool fc_parse_is_cut(const FcParser *parser);

/*
 * Which field an error of fc_parse_texts is about; false: the record.  *value
 * is NULL for a NULL.
 */
extern bool fc_parse_at(const FcParser *parser, const char **column,
						const char **value);

/* Is the last record's key a default that a field stood for? */
extern bool fc_parse_key_is_default(const FcParser *parser);

/* What was wrong with the last record; lives as long as a record's values */
extern const FcBad *fc_parse_bad(const FcParser *parser);

/*
 * Values of the last record that became NULL, by shared->errors.set_null;
 * their number
 */
extern int	fc_parse_nulled(const FcParser *parser, const FcNulled **nulled);

/* Counts and keeps these values by fc_reject_nulled; offset is the record's */
extern void fc_parse_count_nulled(const FcParser *parser, uint64 offset, uint64 length);

/*
 * Only the key: true with *key set, or with *null.  Errors as above, but false
 * only says that the whole record must be looked at, from unchanged bytes.
 */
extern bool fc_parse_key(FcParser *parser, const FcRecord *record,
						 int64 *key, bool *null);

/*
 * The key alone, where no error, and no look at the whole record, can come of
 * it: false for any other key, a NULL too.  Leaves the record as it is.
 */
extern bool fc_parse_plain_key(FcParser *parser, const FcRecord *record,
							   int64 *key);

#endif							/* FC_PARSE_H */
