/*-------------------------------------------------------------------------
 *
 * load/room.c
 *	  Shared memory for a load that core can do as well.
 *
 * A container may have little of it.  A load that core would do without any
 * gets its segment before it begins, and is not begun where there is none:
 * later, when bytes have been read, it would have to fail.
 *
 * Only creating a segment tells whether there is room.  This may throw, so that
 * it is done in a subtransaction, to which nothing else happens.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/resowner.h"

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

/* Returns the segment, with room for others beside it; may throw */
static dsm_segment *
fc_room_create(Size size, Size beside)
{
	dsm_segment *segment = fc_dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	dsm_segment *rest = segment ? fc_dsm_create(beside, DSM_CREATE_NULL_IF_MAXSEGMENTS) : NULL;

	if (rest == NULL)
		return NULL;
	dsm_detach(rest);
	/* it outlives the subtransaction */
	dsm_pin_mapping(segment);
	return segment;
}

/* Returns NULL, and all is as it was, if the system refuses */
static dsm_segment *
fc_room_try(Size size, Size beside)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	dsm_segment *volatile segment = NULL;
	ErrorData  *volatile edata = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(mcxt);
	PG_TRY();
	{
		segment = fc_room_create(size, beside);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (segment)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(mcxt);
	CurrentResourceOwner = owner;
	if (edata && fc_error_is_of_transaction(edata))
		ReThrowError(edata);
	return segment;
}

bool
fc_room_take(FcOptions *options, uint64 size)
{
	int			workers = fc_setup_count_workers(options, size);

	options->room = fc_room_try(fc_layout_foresee(options, size, workers),
								FC_ROOM_REST + workers * FC_ROOM_WORKER);
	if (options->room)
		dsm_unpin_mapping(options->room);
	return options->room != NULL;
}
