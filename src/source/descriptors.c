/*-------------------------------------------------------------------------
 *
 * source/descriptors.c
 *	  Descriptors of many files, of which only some are open at a time.
 *
 * There is a fixed number of places: a file that is read takes the place of
 * the one that was not read for longest.  Reads in flight pin a file.  The
 * leader holds those that workers open by his descriptor (source/source.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "compat/compat.h"
#include "source/descriptors.h"

/* Open at a time; fewer if fd.c grants fewer */
#define FC_DESCRIPTORS	(FC_DESCRIPTORS_HELD + 28)

/* Neither pinned nor held, for callers that read at once */
#define FC_DESCRIPTORS_FREE	2

/*
 * Bare descriptors, which fd.c only counts; a callback of the memory context
 * closes them, on the error path, too.  Virtual files of fd.c will not do:
 * opening any other file may close them under reads in flight, and a
 * subtransaction that happens to read a file takes away what fd.c has
 * allocated for it.
 */
struct FcDescriptors
{
	MemoryContextCallback callback;
	FcDescriptor places[FC_DESCRIPTORS];
	int			nplaces;		/* that have been used so far */
	int			nheld;
	int			npinned;		/* of those that are not held */
	uint64		clock;
	FcDescriptor *last;			/* the one that was found last */
};

void
fc_descriptor_close(FcDescriptor *descriptor)
{
	if (descriptor->fd < 0)
		return;
	(void) close(descriptor->fd);
	ReleaseExternalFD();
	descriptor->fd = -1;
}

static void
fc_descriptors_close_all(void *arg)
{
	FcDescriptors *descriptors = arg;

	for (int i = 0; i < descriptors->nplaces; i++)
		fc_descriptor_close(&descriptors->places[i]);
}

FcDescriptors *
fc_descriptors_begin(void)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy files",
											   ALLOCSET_SMALL_SIZES);
	FcDescriptors *descriptors = MemoryContextAllocZero(mcxt, sizeof(FcDescriptors));

	descriptors->callback.func = fc_descriptors_close_all;
	descriptors->callback.arg = descriptors;
	MemoryContextRegisterResetCallback(mcxt, &descriptors->callback);
	return descriptors;
}

void
fc_descriptors_end(FcDescriptors *descriptors)
{
	MemoryContextDelete(GetMemoryChunkContext(descriptors));
}

FcDescriptor *
fc_descriptors_find(FcDescriptors *descriptors, uint32 file)
{
	FcDescriptor *found = descriptors->last;

	for (int i = 0; found == NULL || found->fd < 0 || found->file != file; i++)
	{
		if (i == descriptors->nplaces)
			return NULL;
		found = &descriptors->places[i];
	}
	descriptors->last = found;
	found->used = ++descriptors->clock;
	return found;
}

/*
 * The place of the file that was not read for longest; NULL: all are pinned or
 * held
 */
static FcDescriptor *
fc_descriptors_oldest(FcDescriptors *descriptors)
{
	FcDescriptor *oldest = NULL;

	for (int i = 0; i < descriptors->nplaces; i++)
	{
		FcDescriptor *place = &descriptors->places[i];

		if (place->fd < 0)
			return place;
		if (place->pins == 0 && !place->held && (oldest == NULL || place->used < oldest->used))
			oldest = place;
	}
	return oldest;
}

FcDescriptor *
fc_descriptors_reserve(FcDescriptors *descriptors, uint32 file)
{
	bool		accounted = descriptors->nplaces < FC_DESCRIPTORS && AcquireExternalFD();
	FcDescriptor *place = accounted ? &descriptors->places[descriptors->nplaces++] :
		fc_descriptors_oldest(descriptors);

	if (place && !accounted)
	{
		fc_descriptor_close(place);
		accounted = AcquireExternalFD();
	}
	if (!accounted)
		fc_throw(ERRCODE_INSUFFICIENT_RESOURCES, errmsg("could not open another file: too many files are open"),
				 errhint("Increase max_files_per_process or the limit of the operating system."));
	*place = (FcDescriptor)
	{
		.fd = -1,.file = file,.used = ++descriptors->clock
	};
	return place;
}

FcDescriptor *
fc_descriptors_put(FcDescriptors *descriptors, FcDescriptor *place, int fd)
{
	place->fd = fd;
	if (fd < 0)
	{
		int			save_errno = errno;

		ReleaseExternalFD();
		errno = save_errno;
		return NULL;
	}
	descriptors->last = place;
	return place;
}

bool
fc_descriptors_may_hold(const FcDescriptors *descriptors)
{
	int			granted = 0;

	if (descriptors->nheld >= FC_DESCRIPTORS_HELD)
		return false;
	while (granted < FC_DESCRIPTORS_FREE && AcquireExternalFD())
		granted++;
	for (int i = 0; i < granted; i++)
		ReleaseExternalFD();
	return granted == FC_DESCRIPTORS_FREE;
}

void
fc_descriptors_hold(FcDescriptors *descriptors, FcDescriptor *descriptor)
{
	descriptor->held = true;
	descriptors->nheld++;
}

bool
fc_descriptors_may_pin(const FcDescriptors *descriptors)
{
	/* with none pinned there is none whose end could be waited for */
	return descriptors->npinned == 0 ||
		descriptors->npinned < descriptors->nplaces - descriptors->nheld - FC_DESCRIPTORS_FREE;
}

void
fc_descriptors_pin(FcDescriptors *descriptors, FcDescriptor *descriptor)
{
	if (descriptor->pins++ == 0 && !descriptor->held)
		descriptors->npinned++;
}

void
fc_descriptors_unpin(FcDescriptors *descriptors, FcDescriptor *descriptor)
{
	if (--descriptor->pins == 0 && !descriptor->held)
		descriptors->npinned--;
}
