/*-------------------------------------------------------------------------
 *
 * fc_reject.c
 *	  Records that on_error passed over.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fc_reject.h"

void
fc_reject_put(FcContext *ctx, uint64 offset, uint64 length, const FcBad *bad)
{
	pg_atomic_fetch_add_u64(&ctx->shared->rejected, 1);
}
