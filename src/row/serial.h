/*-------------------------------------------------------------------------
 *
 * row/serial.h
 *	  Numbers of sequences, taken by the leader for the records of the file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SERIAL_H
#define FC_SERIAL_H

#include "nodes/params.h"

#include "context/shared.h"

/*
 * Does the expression, as planned, call nextval() for one sequence exactly
 * once whatever the values are?  Sets sequence and identity of *number.  The
 * caller must find out whether the rest of it is parallel safe, by
 * fc_number_replace.
 */
extern bool fc_number_find(Node *expr, FcNumber *number);

/* The expression with parameter "id" (0: with the number 1) for nextval() */
extern Node *fc_number_replace(Node *expr, int id);

/*
 * Called by the leader, outside parallel mode, after the split has counted the
 * records: takes that many numbers of each of the load's sequences, as COPY
 * would.  Notes an error for the record for which COPY would report it.
 */
extern void fc_number_reserve(FcContext *ctx, uint64 records);

/*
 * Access to the numbers taken; lives in the current memory context.  The
 * parameters are the numbers of the record set last.
 */
typedef struct FcNumbers FcNumbers;

extern FcNumbers *fc_numbers_open(FcShared *shared, ParamListInfo *params);

extern void fc_numbers_close(FcNumbers *numbers);

/* Sets the values of the parameters for the record with this number, from 0 */
extern void fc_numbers_set(FcNumbers *numbers, uint64 record);

#endif							/* FC_SERIAL_H */
