/*-------------------------------------------------------------------------
 *
 * intake/ring.h
 *	  Memory for bytes that are received while they are loaded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RING_H
#define FC_RING_H

#include "context/shared.h"

/* Returns the bytes of a ring for so many workers and chunks of this size */
extern Size fc_ring_size(int nworkers, uint64 chunk_size, Size memory);

/* Makes a ring of the memory, FcRing and size bytes after it */
extern void fc_ring_init(FcRing *ring, Size size);

/* Before the phase: the bytes from this offset on go into the ring */
extern void fc_ring_begin(FcRing *ring, uint64 offset);

/*
 * Copies bytes into the ring, in the place of the bytes that stand the ring's
 * size before them: no process must need those any more.
 */
extern void fc_ring_copy(FcRing *ring, uint64 offset, const char *buf, size_t len);

/* The bytes from this offset on go to the temporary copy */
extern void fc_ring_leave(FcRing *ring, uint64 offset);

/* Is the byte at this offset to be put into the ring? */
static inline bool
fc_ring_takes(FcRing *ring, uint64 offset)
{
	return offset < pg_atomic_read_u64(&ring->upto);
}

/* How many of the first so many bytes have not gone through the ring */
static inline uint64
fc_ring_not_taken(FcRing *ring, uint64 size)
{
	uint64		upto = pg_atomic_read_u64(&ring->upto);

	upto = Min(upto, size);
	return size - (upto - Min(ring->from, upto));
}

#endif							/* FC_RING_H */
