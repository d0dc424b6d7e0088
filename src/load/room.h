/*-------------------------------------------------------------------------
 *
 * load/room.h
 *	  Shared memory for a load that core can do as well.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ROOM_H
#define FC_ROOM_H

#include "options/options.h"

/*
 * Makes the segment of a load of one source, which has so many bytes: options
 * tell it to the load.  PG_UINT64_MAX: they are received, and nobody knows how
 * many.  False, and nothing has happened, if the system has no room.
 */
extern bool fc_room_take(FcOptions *options, uint64 size);

#endif							/* FC_ROOM_H */
