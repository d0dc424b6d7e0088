/*-------------------------------------------------------------------------
 *
 * intake/ring.c
 *	  Memory for bytes that are received while they are loaded.
 *
 *	 leader ──► ring, in shared memory ──► workers, chunk by chunk
 *
 * What a load without a key receives is read once, in chunks that insert in
 * turn.  So nobody keeps a copy of it.  The leader puts the bytes into a ring,
 * and waits before it would overwrite a chunk whose turn is not over; the
 * client waits meanwhile.  The same memory is used again and again, and
 * nothing goes to disk.
 *
 *	  from            tail                 head
 *	 ..|.. done ......|-- chunks --|-- ? --|
 *					  '---- at most the ring's size ----'
 *
 * If an error in a chunk is known, the turn of the chunk never ends.  So the
 * bytes of the first bad record, and of records before it that must be looked
 * at again, stay until the error is thrown.
 *
 * A leader that loads alone receives as much as it lacks for the next chunk,
 * and so never waits.
 *
 * A record longer than the ring would make the leader wait for ever.  It then
 * leaves the ring, and the rest of the data goes to the temporary copy.
 *
 * The ring is in the load's shared segment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "intake/ring.h"

/* Chunks that each process may be ahead */
#define FC_RING_CHUNKS	3

#define FC_RING_LEAST	((Size) 4 * 1024 * 1024)

Size
fc_ring_size(int nworkers, uint64 chunk_size, Size memory)
{
	Size		size = Max(FC_RING_LEAST, (Size) nworkers * FC_RING_CHUNKS * chunk_size);

	return Min(size, Max(memory / 4, FC_RING_LEAST));
}

void
fc_ring_init(FcRing *ring, Size size)
{
	ring->size = size;
	ring->from = PG_UINT64_MAX;
	pg_atomic_init_u64(&ring->upto, PG_UINT64_MAX);
}

void
fc_ring_begin(FcRing *ring, uint64 offset)
{
	ring->from = offset;
}

void
fc_ring_copy(FcRing *ring, uint64 offset, const char *buf, size_t len)
{
	size_t		at = (offset - ring->from) % ring->size;
	size_t		n = Min(len, ring->size - at);

	memcpy(ring->data + at, buf, n);
	memcpy(ring->data, buf + n, len - n);
}

void
fc_ring_leave(FcRing *ring, uint64 offset)
{
	pg_atomic_write_u64(&ring->upto, offset);
}
