/*-------------------------------------------------------------------------
 *
 * load/room.h
 *	  Shared memory for a load that core can do as well.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ROOM_H
#define FC_ROOM_H

#include "storage/dsm.h"

#include "options/options.h"

/*
 * Makes the segment of a load of one source, which has so many bytes.
 * PG_UINT64_MAX: they are received, and nobody knows how many.  NULL, and
 * nothing has happened, if the system has no room.
 */
extern dsm_segment *fc_room_take(const FcOptions *options, uint64 size);

#endif							/* FC_ROOM_H */
