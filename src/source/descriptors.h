/*-------------------------------------------------------------------------
 *
 * source/descriptors.h
 *	  Descriptors of many files, of which only some are open at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DESCRIPTORS_H
#define FC_DESCRIPTORS_H

#include <sys/stat.h>
#include <time.h>

/* What makes a file "the same": compared in every process, and at the end */
typedef struct FcIdentity
{
	dev_t		dev;
	ino_t		ino;
	uint64		size;
	struct timespec mtime;
	struct timespec ctime;
} FcIdentity;

/* One open file */
typedef struct FcDescriptor
{
	int			fd;				/* -1: none */
	uint32		file;			/* its number */
	int			pins;			/* readers that must not lose it */
	uint64		used;			/* when it was asked for last */
} FcDescriptor;

typedef struct FcDescriptors FcDescriptors;

/*
 * Lives in a context of its own below the current one, whose end closes what
 * is open: neither transactions nor subtransactions do.
 */
extern FcDescriptors *fc_descriptors_begin(void);
extern void fc_descriptors_end(FcDescriptors *descriptors);

/* The descriptor of file "file", or NULL if it is not open */
extern FcDescriptor *fc_descriptors_find(FcDescriptors *descriptors, uint32 file);

/*
 * Opens a file that is not open, in the place of the one that was not used for
 * longest.  NULL with errno set if it cannot be opened.  ERROR 53000 if every
 * descriptor is pinned or none can be had.
 */
extern FcDescriptor *fc_descriptors_open(FcDescriptors *descriptors,
										 uint32 file, const char *path);

/* May one more be pinned, so that enough are left for others? */
extern bool fc_descriptors_may_pin(const FcDescriptors *descriptors);
extern void fc_descriptors_pin(FcDescriptors *descriptors, FcDescriptor *descriptor);
extern void fc_descriptors_unpin(FcDescriptors *descriptors, FcDescriptor *descriptor);

#endif							/* FC_DESCRIPTORS_H */
