/*-------------------------------------------------------------------------
 *
 * send/raw.h
 *	  May records be sent to other servers as they are?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RAW_H
#define FC_RAW_H

#include "options/target.h"

/*
 * Returns why core must load because of this foreign table, which is the target
 * or a leaf of it; NULL: its records can be sent as they are.
 */
extern const char *fc_raw_refusal(const FcTarget *target, Relation foreign);

/*
 * Returns why records cannot be sent to the target's shards, as a sentence;
 * NULL: they can
 */
extern const char *fc_raw_shards_refusal(const FcTarget *target);

#endif							/* FC_RAW_H */
