/*-------------------------------------------------------------------------
 *
 * fc_map.c
 *	  Copies records of the source file, in any order, out of a mapping of it.
 *
 *	  entry stream ──► batch of entries ──► copied out of the mapping ──► records
 *
 * A read of a record costs a system call; a page that is in the page cache
 * already is looked up by the CPU.  What is left is waiting for memory, for
 * several records at a time.
 *
 * A mapped page that is not there is a SIGBUS: behind the end of a file that
 * was truncated, or when the disk fails.  So nobody ever has an address in the
 * mapping but fc_map_copy, which copies to private memory and does nothing
 * else, with a handler of that signal that is installed as long as it runs.
 * Neither an error nor an interrupt is thrown from there, so that the handler
 * is always taken back.  A signal that is not about the mapping gets what it
 * would have got without us.
 *
 * The mapping ends with the memory context, by a reset callback.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "fc_map.h"

/* Records copied at a time, and bytes of them */
#define FC_MAP_BATCH		256
#define FC_MAP_BUFFER		((Size) 128 * 1024)

/* Bytes copied between two looks at interrupts */
#define FC_MAP_PIECE		((Size) 1024 * 1024)

/*
 * So many records ahead the CPU is asked for a record: enough to wait for
 * several at a time, and not more than its first cache holds.  Of a long one
 * it gets the first bytes, and sees by itself how it goes on.
 */
#define FC_MAP_AHEAD		16
#define FC_MAP_LINES		((Size) 512)
#define FC_MAP_LINE			64

/* Places of the file that are looked at, and how many need not be cached */
#define FC_MAP_PROBES		128
#define FC_MAP_MISSES		2

struct FcMap
{
	MemoryContext mcxt;
	MemoryContextCallback unmap;
	const FcSource *source;
	const char *start;			/* for fc_map_copy and prefetches only */
	uint64		size;
	const char *end;			/* of its last page */

	/* the stream of entries */
	FcEntryNext next;
	void	   *arg;
	FcEntry		pending;		/* taken from the stream, not in the batch */
	bool		has_pending;

	/* the batch */
	FcEntry		entries[FC_MAP_BATCH];
	char	   *records[FC_MAP_BATCH];
	uint32		nentries;
	uint32		entry;			/* next one to be handed out */
	char	   *buf;
	Size		buf_size;
	char	   *large;			/* a record that the buffer has no room for */
	Size		large_size;

	FcReadStats stats;
};

/* What to copy */
typedef struct FcMapPiece
{
	uint64		offset;
	char	   *to;
	Size		length;
} FcMapPiece;

/* The copy that is under way, for the handler */
static struct
{
	sigjmp_buf	jump;
	const char *start;
	const char *end;
	struct sigaction outer;		/* what was there before the handler */
} fc_map_guard;

/*
 * One byte, if that takes no disk.  mincore() would tell the same without
 * copying, but the truth only to those who could write to the file.
 */
static bool
fc_map_cached(const FcSource *source, uint64 offset)
{
#ifdef RWF_NOWAIT
	char		byte;
	struct iovec iov = {&byte, 1};

	return preadv2(source->fd, &iov, 1, (off_t) offset, RWF_NOWAIT) == 1;
#else
	return false;
#endif
}

bool
fc_map_worth(const FcShared *shared, const FcSource *source)
{
	static uint32 round = 0;
	uint64		size = source->identity.size;
	int			misses = 0;

	if (size == 0 || size > SIZE_MAX / 4 || shared->map == FC_MAP_NEVER)
		return false;
	if (shared->map == FC_MAP_ALWAYS)
		return true;
	/* a read that misses starts to read ahead: other places each time */
	round++;
	for (int i = 0; i < FC_MAP_PROBES; i++)
	{
		double		place = i + (round * 0.618 - (uint32) (round * 0.618));

		if (!fc_map_cached(source, (uint64) (place / FC_MAP_PROBES * size)) &&
			++misses > FC_MAP_MISSES)
			return false;
	}
	return true;
}

static void
fc_map_unmap(void *arg)
{
	FcMap	   *map = arg;

	(void) munmap((void *) map->start, map->size);
}

FcMap *
fc_map_begin(const FcSource *source, Size memory)
{
	MemoryContext mcxt;
	FcMap	   *map;
	void	   *start;

	mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy mapping",
								 ALLOCSET_DEFAULT_SIZES);
	map = MemoryContextAllocZero(mcxt, sizeof(FcMap));
	map->buf_size = Min(memory, FC_MAP_BUFFER);
	map->buf = MemoryContextAlloc(mcxt, map->buf_size);
	start = mmap(NULL, source->identity.size, PROT_READ, MAP_SHARED,
				 source->fd, 0);
	if (start == MAP_FAILED)
	{
		MemoryContextDelete(mcxt);
		return NULL;
	}
	map->mcxt = mcxt;
	map->source = source;
	map->start = start;
	map->size = source->identity.size;
	map->end = map->start + TYPEALIGN(sysconf(_SC_PAGESIZE), map->size);
	map->unmap.func = fc_map_unmap;
	map->unmap.arg = map;
	MemoryContextRegisterResetCallback(mcxt, &map->unmap);
	return map;
}

void
fc_map_entries(FcMap *map, FcEntryNext next, void *arg)
{
	map->entry = map->nentries = 0;
	map->has_pending = false;
	map->next = next;
	map->arg = arg;
}

static void
fc_map_sigbus(int signo, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;

	if (info->si_code > 0 && at >= fc_map_guard.start && at < fc_map_guard.end)
		siglongjmp(fc_map_guard.jump, 1);
	/* a fault comes up again behind this function, what was sent does not */
	(void) sigaction(signo, &fc_map_guard.outer, NULL);
	if (info->si_code <= 0)
		(void) raise(signo);
}

/* Makes the CPU fetch what will be copied; harmless where there is no page */
static inline void
fc_map_prefetch(const FcMap *map, const FcMapPiece *piece)
{
#ifdef __GNUC__
	const char *at = map->start + piece->offset;
	Size		length = Min(piece->length, FC_MAP_LINES);

	for (Size i = 0; i < length; i += FC_MAP_LINE)
		__builtin_prefetch(at + i);
	__builtin_prefetch(at + length);
#endif
}

/*
 * The only one who reads the mapping.  False if a page of it cannot be had;
 * throws nothing.
 */
static bool
fc_map_copy(const FcMap *map, const FcMapPiece *pieces, uint32 n)
{
	struct sigaction action = {0};
	volatile bool whole = false;

	/* not blocked in the handler, so that the jump needs no signal mask */
	action.sa_sigaction = fc_map_sigbus;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigemptyset(&action.sa_mask);
	fc_map_guard.start = map->start;
	fc_map_guard.end = map->end;
	if (sigaction(SIGBUS, &action, &fc_map_guard.outer) != 0)
		return false;
	if (sigsetjmp(fc_map_guard.jump, 0) == 0)
	{
		for (uint32 i = 0; i < n; i++)
		{
			if (i + FC_MAP_AHEAD < n)
				fc_map_prefetch(map, &pieces[i + FC_MAP_AHEAD]);
			memcpy(pieces[i].to, map->start + pieces[i].offset, pieces[i].length);
		}
		whole = true;
	}
	(void) sigaction(SIGBUS, &fc_map_guard.outer, NULL);
	return whole;
}

/* ERROR for what the mapping did not have */
static void
fc_map_failed(const FcMap *map)
{
	fc_source_check(map->source, &map->source->identity);
	errno = EIO;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not read file \"%s\": %m", map->source->path)));
}

/* Takes the batch's next entry from the stream */
static bool
fc_map_take(FcMap *map)
{
	if (map->has_pending)
		return true;
	if (map->next == NULL || !map->next(map->arg, &map->pending))
	{
		map->next = NULL;
		return false;
	}
	if (map->pending.offset + map->pending.length > map->size)
		fc_source_early_end(map->source->path, map->size);
	map->has_pending = true;
	return true;
}

/* A record that does not fit into the buffer is a batch of its own */
static void
fc_map_large(FcMap *map)
{
	FcEntry    *entry = &map->entries[0];
	Size		size = (Size) entry->length + 1;

	if (size > map->large_size)
	{
		if (map->large)
			pfree(map->large);
		map->large = NULL;
		map->large_size = 0;
		map->large = MemoryContextAllocHuge(map->mcxt, size);
		map->large_size = size;
	}
	for (Size done = 0; done < entry->length; done += FC_MAP_PIECE)
	{
		FcMapPiece	piece = {entry->offset + done, map->large + done,
		Min(entry->length - done, FC_MAP_PIECE)};

		CHECK_FOR_INTERRUPTS();
		if (!fc_map_copy(map, &piece, 1))
			fc_map_failed(map);
	}
	map->records[0] = map->large;
}

/* Fills the batch anew; false at the end of the stream */
static bool
fc_map_fill(FcMap *map)
{
	FcMapPiece	pieces[FC_MAP_BATCH];
	Size		used = 0;
	uint32		n = 0;

	CHECK_FOR_INTERRUPTS();
	while (n < FC_MAP_BATCH && fc_map_take(map) &&
		   (n == 0 || map->pending.length < map->buf_size - used))
	{
		uint32		length = map->pending.length;

		map->entries[n] = map->pending;
		map->has_pending = false;
		map->records[n] = map->buf + used;
		pieces[n] = (FcMapPiece) {map->pending.offset, map->buf + used, length};
		used += (Size) length + 1;
		n++;
		if (used > map->buf_size)
			break;
	}
	map->nentries = n;
	map->entry = 0;
	if (n == 0)
		return false;
	if (used > map->buf_size)
		fc_map_large(map);
	else if (!fc_map_copy(map, pieces, n))
		fc_map_failed(map);
	map->stats.reads++;
	map->stats.rows += n;
	map->stats.bytes += used - n;
	map->stats.mapped = map->stats.bytes;
	return true;
}

bool
fc_map_next(FcMap *map, FcEntry *entry, char **data)
{
	if (map->entry == map->nentries && !fc_map_fill(map))
		return false;
	*entry = map->entries[map->entry];
	*data = map->records[map->entry++];
	return true;
}

void
fc_map_stats(const FcMap *map, FcReadStats *stats)
{
	*stats = map->stats;
}

void
fc_map_end(FcMap *map)
{
	MemoryContextDelete(map->mcxt);
}
