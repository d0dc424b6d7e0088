/*-------------------------------------------------------------------------
 *
 * load/room.c
 *	  Shared memory for a load that core can do as well.
 *
 * A container may have little of it.  So the leader makes the segment before
 * it begins a load that core could do without one.  If there is no memory for
 * it, core loads: once bytes have been read, the load could only fail.
 *
 * Only making a segment tells whether there is memory for it.  That may throw,
 * so it is done in a subtransaction that does nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "context/dsm.h"
#include "errors/first_error.h"
#include "load/layout.h"
#include "load/room.h"
#include "load/setup.h"

/*
 * What the phases take beside the segment: a segment for the parallel context,
 * one at a time, and a small one for what is received
 */
#define FC_ROOM_REST	((Size) 1024 * 1024)
#define FC_ROOM_WORKER	((Size) 32 * 1024)

/* What fc_room_create makes */
typedef struct FcRoomWanted
{
	Size		size;
	Size		beside;
	dsm_segment *segment;		/* NULL: the system refuses */
} FcRoomWanted;

/* Body of fc_error_try: the segment outlives the subtransaction */
static bool
fc_room_create(void *arg)
{
	FcRoomWanted *wanted = arg;
	dsm_segment *segment = fc_dsm_create(wanted->size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	dsm_segment *rest = segment ?
		fc_dsm_create(wanted->beside, DSM_CREATE_NULL_IF_MAXSEGMENTS) : NULL;

	if (rest == NULL)
		return false;
	dsm_detach(rest);
	dsm_pin_mapping(segment);
	wanted->segment = segment;
	return true;
}

dsm_segment *
fc_room_take(const FcOptions *options, uint64 size)
{
	int			workers = fc_setup_count_workers(options, size);
	FcRoomWanted wanted = {fc_layout_foresee(options, size, workers),
	FC_ROOM_REST + workers * FC_ROOM_WORKER};
	ErrorData  *edata = fc_error_try(fc_room_create, &wanted);

	if (edata && fc_error_is_of_transaction(edata))
		ReThrowError(edata);
	if (wanted.segment)
		dsm_unpin_mapping(wanted.segment);
	return wanted.segment;
}
