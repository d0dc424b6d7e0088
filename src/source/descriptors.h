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

/* Files that stay open in the leader for all processes, at most */
#define FC_DESCRIPTORS_HELD	100

/*
 * Which file the leader has opened for the bytes of a file, and where they are
 */
typedef struct FcIdentity
{
	dev_t		dev;
	ino_t		ino;
	uint64		start;			/* offset of the first byte in it */
	uint64		size;			/* bytes from there on */
	int			fd;				/* the leader's descriptor, as long as it loads;
								 * -1: it has none */
} FcIdentity;

/* One open file */
typedef struct FcDescriptor
{
	int			fd;				/* -1: none */
	uint32		file;			/* its number */
	int			pins;			/* readers that must not lose it */
	bool		held;			/* it stays open until all are closed */
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
 * The first takes an entry for a file that is not open: the least recently
 * used one.  ERROR 53000 if every descriptor is pinned or held, or none can be
 * had.  Before anything else may throw, the second gives the entry a
 * descriptor; if that is -1 it returns NULL, with errno unchanged.
 */
extern FcDescriptor *fc_descriptors_reserve(FcDescriptors *descriptors, uint32 file);
extern FcDescriptor *fc_descriptors_put(FcDescriptors *descriptors,
										FcDescriptor *place, int fd);

/*
 * The second keeps a file open.  The first says whether that leaves enough
 * entries for others; one more may be held, whatever it says.
 */
extern bool fc_descriptors_may_hold(const FcDescriptors *descriptors);
extern void fc_descriptors_hold(FcDescriptors *descriptors, FcDescriptor *descriptor);

/* Closes one that is neither held nor pinned */
extern void fc_descriptor_close(FcDescriptor *descriptor);

/* May one more be pinned, so that enough are left for others? */
extern bool fc_descriptors_may_pin(const FcDescriptors *descriptors);
extern void fc_descriptors_pin(FcDescriptors *descriptors, FcDescriptor *descriptor);
extern void fc_descriptors_unpin(FcDescriptors *descriptors, FcDescriptor *descriptor);

#endif							/* FC_DESCRIPTORS_H */
