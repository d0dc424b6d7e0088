/*-------------------------------------------------------------------------
 *
 * source/source.c
 *	  The source, one file or many, as bytes that stand at offsets.
 *
 * Every process opens the file by itself and compares device, inode, size
 * and times with what the leader saw: a file that was replaced or written to
 * while loading is an error, not a silently shorter or mixed load.  Only
 * sort/fetch_map.c maps it, because a truncated mapping is a SIGBUS.
 *
 * The bytes of many files stand one after another, so that an offset says
 * which file is meant:
 *
 *		| file 0      | file 1 | file 2             |
 *		0             base     base                 size
 *
 * Spilled entries, tasks, rejects and the order of the load know offsets only.
 * Records end with their file.  Each file is opened when it is read
 * (source/descriptors.c), and compared each time; at the end the leader looks
 * at all of them once more.  Where source/recode.c has converted them into one
 * file, their bytes really stand like that.  Files that were packed are read
 * from temporary copies (intake/intake.c): each copy may have extents of many
 * files, and a file may have extents in several copies.  What comes only once
 * may be in a ring in shared memory (intake/ring.c).
 *
 * The descriptor of a single file comes from OpenTransientFile; the end of the
 * (sub)transaction closes it if an error skips fc_source_close.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "key/search.h"
#include "source/source.h"

static uint32 source_wait_event = 0;

static void
fc_identity_fill(FcIdentity *identity, const struct stat *st)
{
	memset(identity, 0, sizeof(FcIdentity));
	identity->dev = st->st_dev;
	identity->ino = st->st_ino;
	identity->size = (uint64) st->st_size;
	identity->mtime = st->st_mtim;
	identity->ctime = st->st_ctim;
}

static void
fc_source_stat(int fd, const char *path, struct stat *st)
{
	if (fstat(fd, st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", path)));
}

static void
fc_source_refuse_special(const char *path, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a directory", path)));
	if (!S_ISREG(st->st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", path),
				 errdetail("The file is read several times, in any order."),
				 errhint("Use COPY to load from a pipe or a device.")));
}

/*
 * Split and scan read from front to back: the kernel may read ahead further
 * than it would by itself.  The load's own reads are not changed by that.
 */
static void
fc_source_advise(int fd)
{
#ifdef USE_POSIX_FADVISE
	(void) posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

static void
fc_source_cannot_open(const char *path)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not open file \"%s\" for reading: %m", path)));
}

static FcSource *
fc_source_make(void)
{
	FcSource   *source = palloc0(sizeof(FcSource));

	source->fd = -1;
	if (source_wait_event == 0)
		source_wait_event = fc_wait_event("FastCopyRead");
	return source;
}

FcSource *
fc_source_open(const char *path)
{
	FcSource   *source = fc_source_make();
	struct stat st;

	source->path = source->paths = pstrdup(path);
	source->open_path = pstrdup(path);
	source->fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | PG_BINARY);
	if (source->fd < 0)
		fc_source_cannot_open(path);
	fc_source_stat(source->fd, path, &st);
	fc_source_refuse_special(path, &st);
	fc_identity_fill(&source->identity, &st);
	fc_source_advise(source->fd);
	source->nfiles = 1;
	source->files = palloc0(sizeof(FcFile));
	source->files->identity = source->identity;
	return source;
}

FcSource *
fc_source_begin(void)
{
	FcSource   *source = fc_source_make();

	source->open_path = "";
	source->descriptors = fc_descriptors_begin();
	return source;
}

/* Makes room for one more file, zeroed, and for its path of so many bytes */
static FcFile *
fc_source_grow(FcSource *source, size_t path_size)
{
	FcFile	   *last = source->nfiles > 0 ? &source->files[source->nfiles - 1] : NULL;
	size_t		end = last ? last->path + strlen(source->paths + last->path) + 1 : 0;
	uint32		n = source->nfiles;
	FcFile	   *file;

	/* sizes are powers of two: what is there says whether there is room */
	if ((n & (n - 1)) == 0)
	{
		Size		size = sizeof(FcFile) * Max((Size) n * 2, 1);

		source->files = n == 0 ? palloc(size) : repalloc_huge(source->files, size);
	}
	if (source->paths_size < end + path_size)
	{
		source->paths_size = Max(source->paths_size * 2, end + path_size);
		source->paths = source->paths == NULL ? palloc(source->paths_size) :
			repalloc_huge(source->paths, source->paths_size);
	}
	file = &source->files[n];
	memset(file, 0, sizeof(FcFile));
	file->path = end;
	return file;
}

void
fc_source_add(FcSource *source, const char *path)
{
	FcFile	   *file = fc_source_grow(source, strlen(path) + 1);
	FcDescriptor *descriptor;
	struct stat st;

	strcpy(source->paths + file->path, path);
	source->path = source->paths;
	descriptor = fc_descriptors_open(source->descriptors, source->nfiles, path);
	if (descriptor == NULL)
		fc_source_cannot_open(path);
	fc_source_stat(descriptor->fd, path, &st);
	fc_source_refuse_special(path, &st);
	fc_identity_fill(&file->identity, &st);
	file->base = source->identity.size;
	source->identity.size += file->identity.size;
	source->nfiles++;
}

FcSource *
fc_source_attach(FcFile *files, uint32 nfiles, char *paths, FcCopy *copies,
				 uint32 ncopies, FcExtent *extents)
{
	FcSource   *source = fc_source_begin();

	source->files = files;
	source->nfiles = nfiles;
	source->path = source->paths = paths;
	source->copies = copies;
	source->ncopies = ncopies;
	source->extents = extents;
	for (uint32 i = 0; i < nfiles; i++)
		source->identity.size += files[i].identity.size;
	return source;
}

/* The last file that begins there or before: those before it may be empty */
uint32
fc_source_number(const FcSource *source, uint64 offset)
{
	uint32		next = 1;

	fc_search(uint32, next, source->nfiles, mid, source->files[mid].base <= offset);
	return next - 1;
}

const char *
fc_source_path(const FcSource *source, uint32 number)
{
	return source->paths + source->files[number].path;
}

uint64
fc_source_end(const FcSource *source, uint32 number)
{
	return source->files[number].base + source->files[number].identity.size;
}

size_t
fc_source_paths_size(const FcSource *source)
{
	return source->files[source->nfiles - 1].path +
		strlen(fc_source_path(source, source->nfiles - 1)) + 1;
}

const char *
fc_source_path_at(const FcSource *source, uint64 offset)
{
	return fc_source_path(source, fc_source_number(source, offset));
}

uint64
fc_source_end_at(const FcSource *source, uint64 offset)
{
	return fc_source_end(source, fc_source_number(source, offset));
}

uint64
fc_source_nth(const FcSource *source, uint64 n)
{
	uint32		i = 0;

	while (i + 1 < source->nfiles && n >= source->files[i].identity.size)
		n -= source->files[i++].identity.size;
	return source->files[i].base + n;
}

uint64
fc_source_data_size(const FcSource *source)
{
	uint64		size = 0;

	for (uint32 i = 0; i < source->nfiles; i++)
		size += fc_source_end(source, i) - source->files[i].data_start;
	return size;
}

static void
fc_source_changed(const char *path, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" changed while it was being loaded", path),
			 errdetail_internal("%s", detail),
			 errhint("Load a file that no one writes to.")));
}

void
fc_source_early_end(const char *path, uint64 offset)
{
	fc_source_changed(path,
					  psprintf("It ended at byte " UINT64_FORMAT ", before the size it had at first.",
							   offset));
}

void
fc_source_differs(const FcSource *source, uint64 offset, const char *what)
{
	const FcFile *file = fc_source_file(source, offset);
	char	   *detail = psprintf("The second time it was read, byte " UINT64_FORMAT " began %s.",
								  offset - file->base, what);

	if (file->nextents > 0)
		elog(ERROR, "copy of \"%s\" changed: %s",
			 fc_source_path_at(source, offset), detail);
	fc_source_changed(fc_source_path_at(source, offset), detail);
}

/* ERROR unless the file is what it was */
static void
fc_source_compare(const char *path, const struct stat *st,
				  const FcIdentity *expected)
{
	FcIdentity	now;

	fc_identity_fill(&now, st);
	if (now.dev != expected->dev || now.ino != expected->ino)
		fc_source_changed(path, "Its path leads to another file now.");
	if (now.size != expected->size)
		fc_source_changed(path,
						  psprintf("Its size went from " UINT64_FORMAT " to " UINT64_FORMAT " bytes.",
								   expected->size, now.size));
	if (memcmp(&now.mtime, &expected->mtime, sizeof(now.mtime)) != 0 ||
		memcmp(&now.ctime, &expected->ctime, sizeof(now.ctime)) != 0)
		fc_source_changed(path, "It was modified.");
}

void
fc_source_check(const FcSource *source, const FcIdentity *expected)
{
	struct stat st;

	if (source->fd < 0)
		return;
	fc_source_stat(source->fd, source->path, &st);
	fc_source_compare(source->path, &st, expected);
}

/*
 * Checks a file by its path, as its next reader would find it; a temporary
 * copy is not checked, because no other process writes to it.
 */
static void
fc_source_check_file(const FcSource *source, uint32 number)
{
	const char *path = fc_source_path(source, number);
	struct stat st;

	if (source->files[number].nextents > 0)
		return;
	if (stat(path, &st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", path)));
	fc_source_compare(path, &st, &source->files[number].identity);
}

void
fc_source_check_files(const FcSource *source)
{
	if (source->fd >= 0)
		return;
	for (uint32 i = 0; i < source->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_source_check_file(source, i);
	}
}

void
fc_source_check_at(const FcSource *source, uint64 offset)
{
	if (source->fd >= 0)
		fc_source_check(source, &source->identity);
	else
		fc_source_check_file(source, fc_source_number(source, offset));
}

/* Bytes that stand together in the file, or in a copy of it */
typedef struct FcStretch
{
	uint32		opened;			/* what has them, as fc_source_get numbers it */
	uint64		within;			/* where in that */
	uint64		left;			/* how many */
} FcStretch;

/*
 * Where the byte is, and those after it.  A file that is being unpacked grows
 * meanwhile: its end is read first, so that all extents up to there are seen.
 */
static FcStretch
fc_source_stretch(const FcSource *source, uint32 number, uint64 offset)
{
	const FcFile *file = &source->files[number];
	const FcExtent *extents = source->extents + file->extent;
	uint64		end = fc_source_end(source, number);
	uint32		n;
	uint32		i = 1;

	pg_read_barrier();
	n = file->nextents;
	if (n == 0)
		return (FcStretch)
	{
		number, offset - file->base, end - offset
	};
	fc_search(uint32, i, n, mid, extents[mid].offset <= offset);
	if (i < n)
		end = Min(end, extents[i].offset);
	return (FcStretch)
	{
		source->nfiles + extents[i - 1].copy,
			offset - extents[i - 1].offset + extents[i - 1].at, end - offset
	};
}

/*
 * The descriptor of a file; ERROR if it is not the file that was added.  The
 * numbers of temporary copies follow those of the files.
 */
static FcDescriptor *
fc_source_get(const FcSource *source, uint32 opened)
{
	FcDescriptor *descriptor = fc_descriptors_find(source->descriptors, opened);
	bool		copy = opened >= source->nfiles;
	const char *path = copy ? source->copies[opened - source->nfiles].path :
		fc_source_path(source, opened);
	struct stat st;

	if (descriptor)
		return descriptor;
	descriptor = fc_descriptors_open(source->descriptors, opened, path);
	if (descriptor == NULL)
		fc_source_cannot_open(path);
	if (!copy)
	{
		fc_source_stat(descriptor->fd, path, &st);
		fc_source_compare(path, &st, &source->files[opened].identity);
	}
	fc_source_advise(descriptor->fd);
	return descriptor;
}

void
fc_source_place(const FcSource *source, uint32 number, uint64 offset, FcSourcePlace *place)
{
	FcStretch	stretch;

	if (source->fd >= 0)
	{
		*place = (FcSourcePlace)
		{
			source->fd, source->path, offset,
				source->identity.size - offset, NULL
		};
		return;
	}
	stretch = fc_source_stretch(source, number, offset);
	*place = (FcSourcePlace)
	{
		fc_source_get(source, stretch.opened)->fd, fc_source_path(source, number),
			stretch.within, stretch.left, NULL
	};
}

bool
fc_source_pin(const FcSource *source, uint64 offset, FcSourcePlace *place)
{
	FcDescriptor *descriptor;
	uint32		number = fc_source_number(source, offset);
	uint32		opened;

	if (source->fd >= 0)
	{
		fc_source_place(source, number, offset, place);
		return true;
	}
	opened = fc_source_stretch(source, number, offset).opened;
	descriptor = fc_descriptors_find(source->descriptors, opened);
	if ((descriptor == NULL || descriptor->pins == 0) &&
		!fc_descriptors_may_pin(source->descriptors))
		return false;
	fc_source_place(source, number, offset, place);
	place->pinned = fc_source_get(source, opened);
	fc_descriptors_pin(source->descriptors, place->pinned);
	return true;
}

void
fc_source_unpin(const FcSource *source, FcDescriptor *pinned)
{
	fc_descriptors_unpin(source->descriptors, pinned);
}

/* Reads bytes of one descriptor */
static void
fc_source_read_from(int fd, const char *path, uint64 offset, char *buf,
					size_t len)
{
	while (len > 0)
	{
		ssize_t		n;

		CHECK_FOR_INTERRUPTS();
		pgstat_report_wait_start(source_wait_event);
		n = pread(fd, buf, Min(len, (size_t) 1 << 30), (off_t) offset);
		pgstat_report_wait_end();
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", path)));
		if (n == 0)
			fc_source_early_end(path, offset);
		buf += n;
		offset += n;
		len -= n;
	}
}

/* Copies bytes from the ring; returns how many, 0 if it lacks the first one */
static size_t
fc_source_read_ring(FcRing *ring, uint64 offset, char *buf, size_t len)
{
	uint64		upto = pg_atomic_read_u64(&ring->upto);
	size_t		at = (offset - ring->from) % ring->size;

	if (offset < ring->from || offset >= upto)
		return 0;
	len = Min(Min(len, upto - offset), ring->size - at);
	memcpy(buf, ring->data + at, len);
	return len;
}

/* Takes what the ring has out of the bytes in a copy */
static void
fc_source_without_ring(FcRing *ring, uint64 offset, FcStretch *stretch)
{
	if (offset < ring->from)
		stretch->left = Min(stretch->left, ring->from - offset);
	else
		stretch->within -= pg_atomic_read_u64(&ring->upto) - ring->from;
}

void
fc_source_read(const FcSource *source, uint64 offset, char *buf, size_t len)
{
	if (source->fd >= 0)
	{
		fc_source_read_from(source->fd, source->path, offset, buf, len);
		return;
	}
	while (len > 0)
	{
		uint32		number = fc_source_number(source, offset);
		FcStretch	stretch;
		size_t		n = source->ring == NULL ? 0 :
			fc_source_read_ring(source->ring, offset, buf, len);

		if (n > 0)
		{
			buf += n;
			offset += n;
			len -= n;
			continue;
		}
		stretch = fc_source_stretch(source, number, offset);
		if (source->ring)
			fc_source_without_ring(source->ring, offset, &stretch);
		n = Min(len, stretch.left);
		if (n == 0)
			fc_source_early_end(fc_source_path(source, number),
								offset - source->files[number].base);
		fc_source_read_from(fc_source_get(source, stretch.opened)->fd,
							fc_source_path(source, number), stretch.within, buf, n);
		buf += n;
		offset += n;
		len -= n;
	}
}

void
fc_source_close(FcSource *source)
{
	if (source->fd >= 0)
		CloseTransientFile(source->fd);
	source->fd = -1;
	if (source->descriptors)
		fc_descriptors_end(source->descriptors);
	source->descriptors = NULL;
}

char *
fc_source_real_path(const FcSource *source)
{
	char		link[MAXPGPATH];
	char		path[MAXPGPATH];
	uint32		last = source->nfiles - 1;
	FcSourcePlace place;
	ssize_t		len;

	fc_source_place(source, last, source->files[last].base, &place);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place.fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read symbolic link \"%s\": %m", link)));
	return pnstrdup(path, len);
}
