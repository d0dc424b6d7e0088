/*-------------------------------------------------------------------------
 *
 * intake/heads.h
 *	  The first bytes of packed files, for what must be known of them before
 *	  they are unpacked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HEADS_H
#define FC_HEADS_H

#include "intake/chunks.h"
#include "intake/copies.h"

/*
 * Returns a source of the first bytes of target->source's files, all of which
 * are packed; offsets stay the same when the files become longer.  *expected is
 * about how many bytes there will be.  NULL if a head does not have the whole
 * header and first record, or if it is faulty or needs too much memory.
 */
extern FcSource *fc_heads_source(FcIntake *intake, FcUnpackArea *area,
								 uint64 *expected);

/*
 * Do the heads, of which "cut" says which are not whole files (NULL: all of
 * them), have header and first record, and a little more?
 */
extern bool fc_heads_suffice(const FcIntake *intake, const FcSource *source,
							 const bool *cut);

#endif							/* FC_HEADS_H */
