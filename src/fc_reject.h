/*-------------------------------------------------------------------------
 *
 * fc_reject.h
 *	  Records that on_error passed over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REJECT_H
#define FC_REJECT_H

#include "fc_parse.h"

/* Counts the record and keeps what was wrong with it; by any process */
extern void fc_reject_put(FcContext *ctx, uint64 offset, uint64 length,
						  const FcBad *bad);

#endif							/* FC_REJECT_H */
