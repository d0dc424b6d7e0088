/*-------------------------------------------------------------------------
 *
 * source/source.c
 *	  The source, one file or many, as bytes that stand at offsets.
 *
 * The bytes of many files stand one after another, and an offset says which
 * file is meant.  Spilled entries, tasks, rejects and the order of the load
 * know offsets only; records end with their file.
 *
 *		| file 0      | file 1 | file 2             |
 *		0             base     base                 size
 *
 * Bytes are read from where they are:
 *
 *	 the file itself                  opened when it is read (descriptors.c)
 *	 one copy, each at its offset     if source/recode.c has converted the files
 *	 extents of temporary copies      if intake/intake.c has unpacked them: a
 *									  copy may have extents of many files, a
 *									  file extents in several copies
 *	 a ring in shared memory          of what comes only once (intake/receive.c)
 *
 * The leader opens each path once, and holds the first hundred files open
 * (FC_DESCRIPTORS_HELD).  It is an error if a path that is opened again leads
 * to another file.
 *
 * A file ends where it ended when the leader opened it: what others append is
 * not loaded, and an earlier end is an error.  Nothing is concluded from its
 * times: a process that reads a record twice compares the two (phase/row.c).
 * No file is mapped: a mapping that is truncated is a SIGBUS.
 *
 * The memory context that the source was made in closes the descriptors, and
 * the resource owner the temporary file, if an error skips fc_source_close.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat/compat.h"
#include "key/range.h"
#include "source/advice.h"
#include "source/root.h"
#include "source/source.h"

/* Bytes of a stream that are copied at a time */
#define FC_SOURCE_BLOCK	((size_t) 64 * 1024)

/* How often a size is asked for while somebody else changes it */
#define FC_SOURCE_TRIES	3

static void
fc_source_stat(int fd, const char *path, struct stat *st)
{
	if (fstat(fd, st) != 0)
		fc_file_error(errmsg("could not stat file \"%s\": %m", fc_root_text(path)));
}

static void
fc_source_refuse_special(const char *path, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		fc_throw(ERRCODE_WRONG_OBJECT_TYPE, errmsg("\"%s\" is a directory", fc_root_text(path)));
	if (!S_ISREG(st->st_mode))
		fc_throw(ERRCODE_WRONG_OBJECT_TYPE, errmsg("\"%s\" is not a regular file", fc_root_text(path)),
				 errdetail("The file is read several times, in any order."),
				 errhint("Load what a program prints, by program => true or COPY ... FROM PROGRAM: 'cat %s'.",
						 fc_advice_path(path, "FILE")));
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

TimestampTz
fc_source_modified(const struct stat *st)
{
	return time_t_to_timestamptz((pg_time_t) st->st_mtim.tv_sec) + st->st_mtim.tv_nsec / 1000;
}

void
fc_source_changed(const char *path, const char *detail)
{
	fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("file \"%s\" changed while it was being loaded", fc_root_text(path)),
			 errdetail_internal("%s", detail),
			 errhint("Load a file that no one writes to."));
}

static void
fc_source_early_end(const char *path, uint64 offset)
{
	fc_source_changed(path,
					  psprintf("It ended at byte " UINT64_FORMAT ", before the size it had at first.",
							   offset));
}

/* Throws the ERROR that errno stands for; ESTALE: it is another file */
static void
fc_source_cannot_open(const char *path)
{
	if (errno == ESTALE)
		fc_source_changed(path, "Its path leads to another file now.");
	fc_root_check_refused();
	fc_file_error(errmsg("could not open file \"%s\" for reading: %m", fc_root_text(path)));
}

void
fc_source_write(File file, const char *buf, size_t len, uint64 at, uint32 event)
{
	if (FileWrite(file, (char *) buf, len, (off_t) at, event) != (int) len)
		fc_file_error(errmsg("could not write to file \"%s\": %m", FilePathName(file)));
}

FcSource *
fc_source_begin(void)
{
	FcSource   *source = palloc0(sizeof(FcSource));

	source->root = fc_root_of_caller();
	source->descriptors = fc_descriptors_begin();
	return source;
}

/* Makes room for one more file, zeroed, and for its path */
static FcFile *
fc_source_grow(FcSource *source, size_t path_size)
{
	FcFile	   *last = source->nfiles > 0 ? &source->files[source->nfiles - 1] : NULL;
	size_t		end = last ? fc_source_paths_size(source) : 0;
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

/*
 * Reads up to len bytes at an offset, or, if that is -1, from where the last
 * read ended; 0 at the end of the file.  The end of a stream can be found in no
 * other way.
 */
static size_t
fc_source_read_some(int fd, const char *path, off_t offset, char *buf, size_t len)
{
	ssize_t		n;

	do
	{
		CHECK_FOR_INTERRUPTS();
		pgstat_report_wait_start(fc_wait_event(FC_WAIT_READ));
		n = offset < 0 ? read(fd, buf, len) : pread(fd, buf, len, offset);
		pgstat_report_wait_end();
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		fc_file_error(errmsg("could not read file \"%s\": %m", fc_root_text(path)));
	return (size_t) n;
}

/*
 * Does the file end where its size says?  In /proc, /sys and what programs
 * serve a file of size 0 may have bytes, or a file fewer or more than its size
 * says: only a read can tell.  Sets the size anew if somebody else has changed
 * it meanwhile.
 */
static bool
fc_source_knows_size(int fd, const char *path, struct stat *st)
{
	for (int i = 0; i < FC_SOURCE_TRIES; i++)
	{
		off_t		size = st->st_size;
		ssize_t		last = size > 0 ? 1 : 0;
		char		bytes[2];
		ssize_t		n = pread(fd, bytes, sizeof(bytes), size - last);

		if (n == last)
			return true;
		fc_source_stat(fd, path, st);
		if (n > last && st->st_size > size)
			return true;
		if (st->st_size == size)
			return false;
	}
	return false;
}

/* Makes the temporary file, and holds it open for all processes */
static void
fc_source_begin_streamed(FcSource *source)
{
	FcDescriptor *place;
	const char *path;
	struct stat st;

	source->streamed = OpenTemporaryFile(false);
	path = FilePathName(source->streamed);
	place = fc_descriptors_reserve(source->descriptors, PG_UINT32_MAX);
	place = fc_descriptors_put(source->descriptors, place, BasicOpenFile(path, FC_ROOT_READ));
	if (place == NULL)
		fc_source_cannot_open(path);
	fc_descriptors_hold(source->descriptors, place);
	fc_source_stat(place->fd, path, &st);
	source->streamed_identity = (FcIdentity)
	{
		st.st_dev, st.st_ino, 0, 0, place->fd
	};
}

/*
 * Copies a file that does not know its size, or so much of it, to the end of
 * the temporary file; all processes read it from there
 */
static void
fc_source_copy_stream(FcSource *source, FcFile *file, const char *path, int fd, uint64 most)
{
	char	   *buf = palloc(FC_SOURCE_BLOCK);
	uint64		start = source->streamed_end;
	size_t		n;

	while ((n = fc_source_read_some(fd, path, -1, buf, FC_SOURCE_BLOCK)) > 0)
	{
		file->cut = (source->streamed_end - start >= most);
		if (file->cut)
			break;
		if (source->streamed == 0)
			fc_source_begin_streamed(source);
		fc_source_write(source->streamed, buf, n, source->streamed_end, WAIT_EVENT_BUFFILE_WRITE);
		source->streamed_end += n;
	}
	pfree(buf);
	if (source->streamed_end > start)
		file->identity = source->streamed_identity;
	file->identity.start = start;
	file->identity.size = source->streamed_end - start;
}

/*
 * Opens the file that is added, or again what is open.  Refuses a pipe before:
 * a process that waits to write to it would take the open for a reader, and
 * die of a signal once it is closed.
 */
static FcDescriptor *
fc_source_open_next(FcSource *source, const char *path, int fd)
{
	struct stat st;
	FcDescriptor *place = fc_descriptors_reserve(source->descriptors, source->nfiles);

	if (fd < 0 && fc_root_stat(source->root, path, true, &st) == 0 && S_ISFIFO(st.st_mode))
		fc_source_refuse_special(path, &st);
	place = fc_descriptors_put(source->descriptors, place,
							   fd < 0 ? fc_root_open(source->root, path, FC_ROOT_READ) :
							   fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (place == NULL)
		fc_source_cannot_open(path);
	return place;
}

void
fc_source_add(FcSource *source, const char *path, int fd, uint64 most)
{
	const char *text = fc_root_text(path);
	FcFile	   *file = fc_source_grow(source, strlen(path) + 1 + (text == path ? 0 : strlen(text) + 1));
	FcDescriptor *place = fc_source_open_next(source, path, fd);
	bool		knows_size;
	struct stat st;

	strcpy(source->paths + file->path, text);
	file->raw = text == path ? 0 : strlen(text) + 1;
	strcpy(source->paths + file->path + file->raw, path);
	fc_source_stat(place->fd, path, &st);
	fc_source_refuse_special(path, &st);
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	file->modified = fc_source_modified(&st);
	knows_size = fc_source_knows_size(place->fd, path, &st);
	/* what is open already has known its size, and was truncated since */
	if (!knows_size && fd >= 0)
		fc_source_early_end(path, st.st_size);
	file->identity = (FcIdentity)
	{
		st.st_dev, st.st_ino, 0, (uint64) st.st_size, -1
	};
	if (!knows_size)
	{
		fc_source_copy_stream(source, file, path, place->fd, most);
		fc_descriptor_close(place);
	}
	else if (fc_descriptors_may_hold(source->descriptors))
	{
		fc_descriptors_hold(source->descriptors, place);
		fc_source_advise(place->fd);
		file->identity.fd = place->fd;
	}
	file->base = source->size;
	source->size += file->identity.size;
	source->nfiles++;
}

bool
fc_source_is_plain(int fd, const char *path)
{
	struct stat st;

	fc_source_stat(fd, path, &st);
	return S_ISREG(st.st_mode) && fc_source_knows_size(fd, path, &st);
}

/*
 * Opens what the leader has opened; -1 with errno if that fails, ESTALE if the
 * path leads to another file now.  A worker opens a held file by the leader's
 * descriptor in /proc: that is the same file, whatever has become of its path.
 * Without /proc or permissions, or if the file is not held, it opens the path.
 */
static int
fc_source_reopen(const FcSource *source, const char *path, const FcIdentity *identity)
{
	int			leader = MyProc->lockGroupLeader ? MyProc->lockGroupLeader->pid : MyProcPid;
	char		link[64];
	int			fd = -1;

	if (identity->fd >= 0 && leader == MyProcPid)
		return fcntl(identity->fd, F_DUPFD_CLOEXEC, 0);
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", leader, identity->fd);
	for (int i = identity->fd >= 0 ? 0 : 1; i < 2; i++)
	{
		struct stat st;

		fd = i == 0 ? BasicOpenFile(link, FC_ROOT_READ) :
			fc_root_open(source->root, path, FC_ROOT_READ);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0 && st.st_dev == identity->dev && st.st_ino == identity->ino)
			return fd;
		close(fd);
		fd = -1;
		errno = ESTALE;
	}
	return fd;
}

FcSource *
fc_source_attach(FcFile *files, uint32 nfiles, char *paths, bool programs, FcCopy *copies,
				 uint32 ncopies, FcExtent *extents)
{
	FcSource   *source = fc_source_begin();

	source->files = files;
	source->nfiles = nfiles;
	source->paths = paths;
	source->programs = programs;
	source->copies = copies;
	source->ncopies = ncopies;
	source->extents = extents;
	for (uint32 i = 0; i < nfiles; i++)
		source->size += files[i].identity.size;
	return source;
}

FcSource *
fc_source_of_copy(const char *path, FcFile *files, uint32 nfiles, char *paths, bool programs)
{
	FcCopy	   *copy = palloc(sizeof(FcCopy));
	FcExtent   *extents = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(FcExtent) * nfiles);

	strlcpy(copy->path, path, MAXPGPATH);
	for (uint32 i = 0; i < nfiles; i++)
	{
		files[i].nextents = 1;
		files[i].extent = i;
		extents[i] = (FcExtent)
		{
			files[i].base, files[i].base, 0
		};
	}
	return fc_source_attach(files, nfiles, paths, programs, copy, 1, extents);
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

const char *
fc_source_raw_path(const FcSource *source, uint32 number)
{
	return fc_source_path(source, number) + source->files[number].raw;
}

uint64
fc_source_end(const FcSource *source, uint32 number)
{
	return source->files[number].base + source->files[number].identity.size - source->files[number].footer;
}

size_t
fc_source_paths_size(const FcSource *source)
{
	const char *last;

	if (source->nfiles == 0)
		return 0;
	last = fc_source_raw_path(source, source->nfiles - 1);
	return last - source->paths + strlen(last) + 1;
}

uint64
fc_source_data_size(const FcSource *source)
{
	uint64		size = 0;

	if (source->grows)
		return source->size;
	for (uint32 i = 0; i < source->nfiles; i++)
		size += fc_source_end(source, i) - source->files[i].data_start;
	return size;
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
	uint64		end = file->base + file->identity.size;
	uint32		n;
	uint32		i = 1;

	pg_read_barrier();
	n = file->nextents;
	pg_read_barrier();
	if (n == 0)
		return (FcStretch)
	{
		number, offset - file->base + file->identity.start, end - offset
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
 * The descriptor of a file, NULL with errno if it cannot be opened.  The
 * numbers of temporary copies follow those of the files.
 */
static FcDescriptor *
fc_source_try(const FcSource *source, uint32 opened)
{
	FcDescriptor *descriptor = fc_descriptors_find(source->descriptors, opened);

	if (descriptor)
		return descriptor;
	descriptor = fc_descriptors_reserve(source->descriptors, opened);
	descriptor = fc_descriptors_put(source->descriptors, descriptor,
									opened >= source->nfiles ?
									BasicOpenFile(source->copies[opened - source->nfiles].path, FC_ROOT_READ) :
									fc_source_reopen(source, fc_source_raw_path(source, opened),
													 &source->files[opened].identity));
	if (descriptor)
		fc_source_advise(descriptor->fd);
	return descriptor;
}

static FcDescriptor *
fc_source_get(const FcSource *source, uint32 opened)
{
	FcDescriptor *descriptor = fc_source_try(source, opened);

	if (descriptor == NULL)
		fc_source_cannot_open(opened < source->nfiles ? fc_source_path(source, opened) :
							  source->copies[opened - source->nfiles].path);
	return descriptor;
}

void
fc_source_stat_opened(const FcSource *source, uint32 number, struct stat *st)
{
	FcStretch	stretch = fc_source_stretch(source, number, source->files[number].base);

	fc_source_stat(fc_source_get(source, stretch.opened)->fd, fc_source_path(source, number), st);
}

/*
 * A worker that cannot open a held file has no part in the load; the leader
 * can always read.  (Descriptors sent through a socket would make the leader
 * wait for each worker, and share the kernel's readahead.)
 */
bool
fc_source_hold(FcSource *source)
{
	for (uint32 i = 0; i < source->nfiles && i < FC_DESCRIPTORS_HELD; i++)
	{
		FcDescriptor *descriptor;

		CHECK_FOR_INTERRUPTS();
		if (source->files[i].nextents > 0 || source->files[i].identity.fd < 0)
			continue;
		descriptor = fc_source_try(source, i);
		if (descriptor == NULL)
			return false;
		if (!descriptor->held)
			fc_descriptors_hold(source->descriptors, descriptor);
	}
	return true;
}

bool
fc_source_pin(const FcSource *source, uint64 offset, FcSourcePlace *place)
{
	uint32		number = fc_source_number(source, offset);
	FcStretch	stretch = fc_source_stretch(source, number, offset);
	FcDescriptor *descriptor;

	descriptor = fc_descriptors_find(source->descriptors, stretch.opened);
	if ((descriptor == NULL || (descriptor->pins == 0 && !descriptor->held)) &&
		!fc_descriptors_may_pin(source->descriptors))
		return false;
	descriptor = fc_source_get(source, stretch.opened);
	*place = (FcSourcePlace)
	{
		descriptor->fd, fc_source_path(source, number), stretch.within, stretch.left, descriptor
	};
	fc_descriptors_pin(source->descriptors, descriptor);
	return true;
}

static void
fc_source_read_from(int fd, const char *path, uint64 offset, char *buf,
					size_t len)
{
	while (len > 0)
	{
		size_t		n = fc_source_read_some(fd, path, (off_t) offset, buf, Min(len, (size_t) 1 << 30));

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

void
fc_source_read(const FcSource *source, uint64 offset, char *buf, size_t len)
{
	Assert(source->grows || offset + len <= source->size || source->nfiles > 1);
	for (size_t n; len > 0; buf += n, offset += n, len -= n)
	{
		uint32		number = fc_source_number(source, offset);
		FcStretch	stretch;

		n = source->ring == NULL ? 0 : fc_source_read_ring(source->ring, offset, buf, len);
		if (n > 0)
			continue;
		stretch = fc_source_stretch(source, number, offset);
		/* the copy lacks what the ring has */
		if (source->ring && offset < source->ring->from)
			stretch.left = Min(stretch.left, source->ring->from - offset);
		else if (source->ring)
			stretch.within -= pg_atomic_read_u64(&source->ring->upto) - source->ring->from;
		n = Min(len, stretch.left);
		if (n == 0)
			fc_source_early_end(fc_source_path(source, number),
								offset - source->files[number].base);
		fc_source_read_from(fc_source_get(source, stretch.opened)->fd,
							fc_source_path(source, number), stretch.within, buf, n);
	}
}

void
fc_source_read_copy(const FcSource *source, uint32 copy, uint64 at, char *buf, size_t len)
{
	Assert(copy < source->ncopies);
	fc_source_read_from(fc_source_get(source, source->nfiles + copy)->fd,
						source->copies[copy].path, at, buf, len);
}

void
fc_source_close(FcSource *source)
{
	if (source->descriptors)
		fc_descriptors_end(source->descriptors);
	source->descriptors = NULL;
	if (source->streamed != 0)
		FileClose(source->streamed);
	source->streamed = 0;
}
