/*-------------------------------------------------------------------------
 *
 * sort/fetch_map.c
 *	  Copies records of the source file, in any order, out of a mapping of it.
 *
 *	entry stream ──► batch of entries ──► copied from the mapping
 *		──► marked together ──► records
 *
 * A read of a record costs a system call; the CPU itself finds a mapped page
 * that is in the page cache.  What is left is to wait for memory, and
 * prefetches let it wait for several records at a time.
 *
 * Touching a mapped page raises SIGBUS if the kernel cannot provide it: the
 * file was truncated before that page, or the disk fails.  So only fc_map_copy
 * reads the mapping.
 *
 * The files of a source, or the extents of their copies, are mapped into one
 * range of addresses, one after the other.  A reset callback of the memory
 * context ends the mapping, on error too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "key/search.h"
#include "sort/fetch_map.h"

/* Records copied at a time, and bytes of them */
#define FC_MAP_BATCH		256
#define FC_MAP_BUFFER		((Size) 128 * 1024)

/* No place in the mapping */
#define FC_MAP_NOWHERE		SIZE_MAX

/* Bytes copied between two looks at interrupts */
#define FC_MAP_PIECE		((Size) 1024 * 1024)

/*
 * While a record is copied the CPU is asked for the one that comes so many
 * after it: enough to wait for several at a time, and not more than its first
 * cache holds.  Of a long record it is asked for the first bytes; it foresees
 * the others by itself.
 */
#define FC_MAP_AHEAD		16
#define FC_MAP_LINES		((Size) 512)
#define FC_MAP_LINE			64

/*
 * Places of the file that are looked at, not more than one in so many bytes,
 * and how many of them may be uncached
 */
#define FC_MAP_PROBES		128
#define FC_MAP_APART		((uint64) 4096)
#define FC_MAP_MISSES		2

/* Mapped at most; processes may have 65,530 mappings */
#define FC_MAP_RANGES		4096

/* Bytes that stand together in a file or in a copy, and in the mapping */
typedef struct FcMapRange
{
	uint64		offset;			/* in the source */
	uint64		end;
	uint32		number;			/* of the file */
	Size		place;			/* in the mapping */
} FcMapRange;

struct FcMap
{
	MemoryContext mcxt;
	MemoryContextCallback unmap;
	const FcSource *source;
	const char *start;			/* for fc_map_copy and prefetches only */
	uint64		size;			/* of the source */
	Size		mapped;			/* bytes of addresses */
	FcMapRange *ranges;			/* that are in them, by their offsets */
	uint32		nranges;
	uint32	   *first;			/* the range that has byte i << shift, for
								 * each i up to the end, and the last one */
	int			shift;

	/* the stream of entries */
	FcEntryNext next;
	void	   *arg;
	FcEntry		pending;		/* taken from the stream, not in the batch */
	bool		has_pending;

	/* the batch */
	FcEntry		entries[FC_MAP_BATCH];
	char	   *records[FC_MAP_BATCH];
	uint32		nentries;
	uint32		entry;			/* the next one to be handed out */
	char	   *buf;			/* the records, with a line end after each */
	Size		buf_size;
	Size		used;			/* bytes of it */
	const FcDialect *dialect;
	FcMarks    *marks;			/* of the bytes from "marked" on */
	char	   *marked;
	char	   *large;			/* a record that the buffer has no room for */
	Size		large_size;

	FcReadStats stats;
};

/* What to copy */
typedef struct FcMapPiece
{
	Size		offset;			/* in the mapping */
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
}			fc_map_guard;

/*
 * Reads one byte if that takes no disk.  mincore() tells the truth only to
 * those who could write to the file.  A file system in memory refuses such
 * reads, but never takes a disk.
 */
static bool
fc_map_cached(const FcSource *source, uint64 offset)
{
#ifdef RWF_NOWAIT
	char		byte;
	struct iovec iov = {&byte, 1};
	struct statfs fs;
	FcSourcePlace place;
	ssize_t		n;

	fc_source_place(source, fc_source_number(source, offset), offset, &place);
	n = preadv2(place.fd, &iov, 1, (off_t) place.offset, RWF_NOWAIT);
	return n == 1 || (n < 0 && errno == EOPNOTSUPP &&
					  fstatfs(place.fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC);
#else
	return false;
#endif
}

/* How many ranges have all bytes of the source */
static uint64
fc_map_count(const FcSource *source)
{
	uint64		n = 0;

	for (uint32 i = 0; i < source->nfiles; i++)
		n += Max(source->files[i].nextents, 1);
	return n;
}

bool
fc_map_worth(const FcShared *shared, const FcSource *source)
{
	static uint32 round = 0;
	uint64		size = source->size;
	int			probes = Min(FC_MAP_PROBES, size / FC_MAP_APART + 1);
	int			misses = 0;

	if (size == 0 || size > SIZE_MAX / 4 || shared->io.map == FC_MAP_NEVER ||
		fc_map_count(source) > FC_MAP_RANGES)
		return false;
	if (shared->io.map == FC_MAP_ALWAYS)
		return true;

	/*
	 * a read that misses may start a read-ahead, so that each call tries
	 * other places
	 */
	round++;
	for (int i = 0; i < probes; i++)
	{
		double		place = i + (round * 0.618 - (uint32) (round * 0.618));

		if (!fc_map_cached(source, fc_source_nth(source, (uint64) (place / probes * size))) &&
			++misses > FC_MAP_MISSES)
			return false;
	}
	return true;
}

static void
fc_map_unmap(void *arg)
{
	FcMap	   *map = arg;

	(void) munmap((void *) map->start, map->mapped);
}

/*
 * Maps each range at its place in the reserved addresses; false if one cannot
 * be
 */
static bool
fc_map_place_ranges(const FcMap *map)
{
	for (uint32 i = 0; i < map->nranges; i++)
	{
		const FcMapRange *range = &map->ranges[i];
		Size		ahead = range->place % sysconf(_SC_PAGESIZE);
		FcSourcePlace place;

		CHECK_FOR_INTERRUPTS();
		if (range->offset == range->end)
			continue;
		fc_source_place(map->source, range->number, range->offset, &place);
		if (mmap((char *) map->start + range->place - ahead,
				 range->end - range->offset + ahead, PROT_READ,
				 MAP_SHARED | MAP_FIXED, place.fd,
				 (off_t) (place.offset - ahead)) == MAP_FAILED)
			return false;
	}
	return true;
}

/*
 * Adds a range, which stands on its page as it does in the file or the copy.
 * What has all bytes in one file is mapped as it is.
 */
static void
fc_map_add_range(FcMap *map, uint32 number, uint64 offset, uint64 end, uint64 at)
{
	Size		page = sysconf(_SC_PAGESIZE);
	Size		place = map->source->fd >= 0 ? offset : map->mapped + at % page;

	map->ranges[map->nranges++] = (FcMapRange)
	{
		offset, end, number, place
	};
	map->mapped = TYPEALIGN(page, place + (end - offset));
}

static void
fc_map_make_ranges(FcMap *map)
{
	const FcSource *source = map->source;

	map->ranges = MemoryContextAlloc(map->mcxt, sizeof(FcMapRange) * fc_map_count(source));
	for (uint32 i = 0; i < source->nfiles; i++)
	{
		const FcFile *file = &source->files[i];
		const FcExtent *extents = source->extents + file->extent;
		uint64		end = fc_source_end(source, i);

		if (file->nextents == 0)
			fc_map_add_range(map, i, file->base, end, file->identity.start);
		for (uint32 j = 0; j < file->nextents; j++)
			fc_map_add_range(map, i, extents[j].offset,
							 j + 1 < file->nextents ? extents[j + 1].offset : end, extents[j].at);
	}
}

/*
 * So that few ranges are looked at to find the one that has a byte.  There may
 * be large gaps between the offsets of files.
 */
static void
fc_map_index_ranges(FcMap *map)
{
	uint64		end = map->ranges[map->nranges - 1].end;
	uint32		range = 0;
	uint64		n;

	while (end >> map->shift >= (uint64) map->nranges * 4)
		map->shift++;
	n = (end >> map->shift) + 1;
	map->first = MemoryContextAlloc(map->mcxt, sizeof(uint32) * (n + 1));
	for (uint64 i = 0; i < n; i++)
	{
		while (range + 1 < map->nranges && map->ranges[range + 1].offset <= i << map->shift)
			range++;
		map->first[i] = range;
	}
	map->first[n] = map->nranges - 1;
}

/* Maps a single file, or reserves addresses for all; false if that fails */
static bool
fc_map_reserve(FcMap *map)
{
	const FcSource *source = map->source;
	void	   *start;

	fc_map_make_ranges(map);
	fc_map_index_ranges(map);
	start = source->fd >= 0 ?
		mmap(NULL, map->size, PROT_READ, MAP_SHARED, source->fd, 0) :
		mmap(NULL, map->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);
	if (start == MAP_FAILED)
		return false;
	map->start = start;
	map->unmap.func = fc_map_unmap;
	map->unmap.arg = map;
	MemoryContextRegisterResetCallback(map->mcxt, &map->unmap);
	return true;
}

FcMap *
fc_map_begin(const FcSource *source, const FcDialect *dialect, Size memory)
{
	MemoryContext mcxt;
	FcMap	   *map;

	mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy mapping",
								 ALLOCSET_DEFAULT_SIZES);
	map = MemoryContextAllocZero(mcxt, sizeof(FcMap));
	map->buf_size = Min(memory, FC_MAP_BUFFER);
	map->buf = MemoryContextAlloc(mcxt, map->buf_size);
	map->marks = MemoryContextAllocZero(mcxt, sizeof(FcMarks));
	map->dialect = dialect;
	map->mcxt = mcxt;
	map->source = source;
	map->size = source->size;
	if (fc_map_reserve(map) && (source->fd >= 0 || fc_map_place_ranges(map)))
		return map;
	MemoryContextDelete(mcxt);
	return NULL;
}

void
fc_map_entries(FcMap *map, FcEntryNext next, void *arg)
{
	map->entry = map->nentries = 0;
	map->has_pending = false;
	map->next = next;
	map->arg = arg;
}

/*
 * A SIGBUS that is not about the mapping goes to the handler that was there
 * before
 */
static void
fc_map_sigbus(int signo, siginfo_t * info, void *context)
{
	const char *at = info->si_addr;

	if (info->si_code > 0 && at >= fc_map_guard.start && at < fc_map_guard.end)
		siglongjmp(fc_map_guard.jump, 1);

	/*
	 * a fault is raised again after this function, a signal that was sent is
	 * not
	 */
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
 * Copies pieces out of the mapping, which no other function reads, to private
 * memory.  False if a page of it cannot be had.
 *
 * While it runs a handler of SIGBUS is installed.  So it does nothing else,
 * throws nothing and takes no interrupt: the handler is always removed again.
 */
static bool
fc_map_copy(const FcMap *map, const FcMapPiece *pieces, uint32 n)
{
	struct sigaction action = {0};
	volatile bool whole = false;

	/*
	 * the handler does not block SIGBUS, so that the jump needs no signal
	 * mask
	 */
	action.sa_sigaction = fc_map_sigbus;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigemptyset(&action.sa_mask);
	fc_map_guard.start = map->start;
	fc_map_guard.end = map->start + map->mapped;
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

/*
 * Throws the ERROR for one of the batch's n records, which could not be copied
 */
static void
fc_map_failed(const FcMap *map, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		if (map->entries[i].length > 0)
			fc_source_check_length(map->source, map->entries[i].offset + map->entries[i].length - 1);
	errno = EIO;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not read file \"%s\": %m",
					fc_source_path_at(map->source, map->entries[0].offset))));
}

/*
 * Where the record is in the mapping, or FC_MAP_NOWHERE if it goes on in
 * another range and must be read; ERROR if its file has got too short
 */
static inline Size
fc_map_place(const FcMap *map, const FcEntry *entry)
{
	uint64		end = entry->offset + entry->length;
	const uint32 *first = &map->first[entry->offset >> map->shift];
	uint32		next = first[0] + 1;
	const FcMapRange *range;

	fc_search(uint32, next, first[1] + 1, mid, map->ranges[mid].offset <= entry->offset);
	range = &map->ranges[next - 1];
	if (end <= range->end)
		return range->place + (entry->offset - range->offset);
	if (end > fc_source_end(map->source, range->number))
		fc_source_early_end(fc_source_path(map->source, range->number),
							map->source->files[range->number].identity.size);
	return FC_MAP_NOWHERE;
}

/* Makes map->pending valid; false at the end of the stream */
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
	map->has_pending = true;
	return true;
}

/* Copies a record that does not fit into the buffer, as a batch of its own */
static void
fc_map_large(FcMap *map)
{
	FcEntry    *entry = &map->entries[0];
	Size		size = (Size) entry->length + 1;
	Size		place = fc_map_place(map, entry);

	if (size > map->large_size)
	{
		if (map->large)
			pfree(map->large);
		map->large = NULL;
		map->large_size = 0;
		map->large = MemoryContextAllocHuge(map->mcxt, size);
		map->large_size = size;
	}
	map->records[0] = map->large;
	if (place == FC_MAP_NOWHERE)
	{
		fc_source_read(map->source, entry->offset, map->large, entry->length);
		return;
	}
	for (Size done = 0; done < entry->length; done += FC_MAP_PIECE)
	{
		FcMapPiece	piece = {place + done, map->large + done,
		Min(entry->length - done, FC_MAP_PIECE)};

		CHECK_FOR_INTERRUPTS();
		if (!fc_map_copy(map, &piece, 1))
			fc_map_failed(map, 1);
	}
}

/* Fills the batch anew; false at the end of the stream */
static bool
fc_map_fill(FcMap *map)
{
	FcMapPiece	pieces[FC_MAP_BATCH];
	Size		used = 0;
	uint32		n = 0;
	uint32		npieces = 0;

	CHECK_FOR_INTERRUPTS();
	while (n < FC_MAP_BATCH && fc_map_take(map) &&
		   (n == 0 || map->pending.length < map->buf_size - used))
	{
		uint32		length = map->pending.length;
		Size		place = fc_map_place(map, &map->pending);

		map->entries[n] = map->pending;
		map->has_pending = false;
		map->records[n] = map->buf + used;
		used += (Size) length + 1;
		n++;
		if (used > map->buf_size)
			break;
		if (place == FC_MAP_NOWHERE)
			fc_source_read(map->source, map->entries[n - 1].offset, map->records[n - 1], length);
		else
			pieces[npieces++] = (FcMapPiece)
		{
			place, map->records[n - 1], length
		};
		map->buf[used - 1] = '\n';
	}
	map->nentries = n;
	map->entry = 0;
	map->used = used;
	map->marks->len = 0;
	if (n == 0)
		return false;
	if (used > map->buf_size)
		fc_map_large(map);
	else if (!fc_map_copy(map, pieces, npieces))
		fc_map_failed(map, n);
	map->stats.reads++;
	map->stats.bytes += used - n;
	map->stats.mapped = map->stats.bytes;
	return true;
}

/*
 * Marks the record, together with those that come after it in the batch.  It
 * gets no marks if the file has changed so that a line end beside it stands in
 * quotes by the marks: then they say nothing about it.
 */
static inline void
fc_map_mark(FcMap *map, FcRecord *record)
{
	FcMarks    *marks = map->marks;

	record->marks = NULL;
	if (record->data == map->large || !fc_marks_serve(map->dialect))
		return;
	if (marks->len == 0 || record->data + record->length >= map->marked + marks->len)
	{
		map->marked = record->data;
		fc_marks_fill(map->dialect, marks, record->data,
					  map->buf + map->used - record->data);
	}
	record->marks_pos = record->data - map->marked;
	if (fc_marks_enclosed(marks, record->marks_pos, record->length))
		record->marks = marks;
}

bool
fc_map_next(FcMap *map, FcEntry *entry, FcRecord *record)
{
	if (map->entry == map->nentries && !fc_map_fill(map))
		return false;
	*entry = map->entries[map->entry];
	record->data = map->records[map->entry++];
	record->length = entry->length;
	fc_map_mark(map, record);
	return true;
}

const FcReadStats *
fc_map_stats(const FcMap *map)
{
	return &map->stats;
}

void
fc_map_end(FcMap *map)
{
	MemoryContextDelete(map->mcxt);
}
