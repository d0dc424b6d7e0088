/*-------------------------------------------------------------------------
 *
 * fc_parse.h
 *	  From the bytes of a record to the values of a row, as COPY has them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARSE_H
#define FC_PARSE_H

#include "executor/execdesc.h"
#include "nodes/execnodes.h"

#include "fc_shared.h"

typedef struct FcParser FcParser;

/* Lives in the current memory context; estate is for default expressions */
extern FcParser *fc_parse_begin(FcContext *ctx, EState *estate);

/*
 * Fills values and nulls, in the target's row type, from rec[0..len), which is
 * overwritten.  Values passed by reference are allocated in the current
 * memory context.  Errors are those of COPY, in COPY's order.
 */
extern void fc_parse_record(FcParser *parser, char *rec, size_t len,
							Datum *values, bool *nulls);

/*
 * Only the key: true with *key set, or with *null.  Errors as above.
 */
extern void fc_parse_key(FcParser *parser, char *rec, size_t len,
						 int64 *key, bool *null);

#endif							/* FC_PARSE_H */
