/*-------------------------------------------------------------------------
 *
 * fc_source.c
 *	  The source file and the stream of its records.
 *
 * Every process opens the file by itself and compares device, inode, size
 * and times with what the leader saw: a file that was replaced or written to
 * while loading is an error, not a silently shorter or mixed load.  Only
 * fc_map.c maps it, because a truncated mapping is a SIGBUS.
 *
 *		fc_source_read      any bytes, whole or ERROR
 *		fc_stream_next      record after record, buffered: by marks that
 *							are made for some hundred records at once, or,
 *							where those do not tell, by fc_record_end
 *
 * The descriptor comes from OpenTransientFile and is closed by the end of the
 * (sub)transaction if an error skips fc_source_close; the buffers belong to
 * the caller's memory context.
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

#include "fc_compat.h"
#include "fc_source.h"

/* COPY's own limit of a line: what a StringInfo can hold */
#define FC_MAX_RECORD	(MaxAllocSize - 1)

struct FcStream
{
	const FcSource *source;
	char	   *buf;			/* size + 1 bytes */
	size_t		size;
	size_t		block;			/* bytes read at a time */
	size_t		len;			/* bytes in buf */
	size_t		pos;			/* start of the next record in buf */
	uint64		offset;			/* file offset of buf[0] */
	FcMarks    *marks;			/* of some bytes of buf */
	size_t		marks_start;	/* the first of them in buf */
};

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
fc_source_stat(const FcSource *source, struct stat *st)
{
	if (fstat(source->fd, st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", source->path)));
}

static void
fc_source_refuse_special(const FcSource *source, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a directory", source->path)));
	if (!S_ISREG(st->st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", source->path),
				 errdetail("The file is read several times, in any order."),
				 errhint("Use COPY to load from a pipe or a device.")));
}

/*
 * Split and scan read from front to back: the kernel may read ahead further
 * than it would by itself.  The load's own reads are not changed by that.
 */
static void
fc_source_advise(const FcSource *source)
{
#ifdef USE_POSIX_FADVISE
	(void) posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

FcSource *
fc_source_open(const char *path)
{
	FcSource   *source = palloc0(sizeof(FcSource));
	struct stat st;

	source->path = pstrdup(path);
	source->open_path = pstrdup(path);
	source->fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | PG_BINARY);
	if (source->fd < 0)
	{
		int			save_errno = errno;

		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for reading: %m", path),
				 (save_errno == ENOENT || save_errno == EACCES) ?
				 errhint("fast_copy instructs the PostgreSQL server process to read a file. "
						 "You may want a client-side facility such as psql's \\copy.") : 0));
	}
	fc_source_stat(source, &st);
	fc_source_refuse_special(source, &st);
	fc_identity_fill(&source->identity, &st);
	fc_source_advise(source);
	if (source_wait_event == 0)
		source_wait_event = fc_wait_event("FastCopyRead");
	return source;
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
fc_source_check(const FcSource *source, const FcIdentity *expected)
{
	FcIdentity	now;
	struct stat st;

	fc_source_stat(source, &st);
	fc_identity_fill(&now, &st);
	if (now.dev != expected->dev || now.ino != expected->ino)
		fc_source_changed(source->path, "Its path leads to another file now.");
	if (now.size != expected->size)
		fc_source_changed(source->path,
						  psprintf("Its size went from " UINT64_FORMAT " to " UINT64_FORMAT " bytes.",
								   expected->size, now.size));
	if (memcmp(&now.mtime, &expected->mtime, sizeof(now.mtime)) != 0 ||
		memcmp(&now.ctime, &expected->ctime, sizeof(now.ctime)) != 0)
		fc_source_changed(source->path, "It was modified.");
}

void
fc_source_read(const FcSource *source, uint64 offset, char *buf, size_t len)
{
	while (len > 0)
	{
		ssize_t		n;

		CHECK_FOR_INTERRUPTS();
		pgstat_report_wait_start(source_wait_event);
		n = pread(source->fd, buf, Min(len, (size_t) 1 << 30), (off_t) offset);
		pgstat_report_wait_end();
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", source->path)));
		if (n == 0)
			fc_source_early_end(source->path, offset);
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
}

char *
fc_source_real_path(const FcSource *source)
{
	char		link[MAXPGPATH];
	char		path[MAXPGPATH];
	ssize_t		len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", source->fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read symbolic link \"%s\": %m", link)));
	return pnstrdup(path, len);
}

FcStream *
fc_stream_begin(const FcSource *source, size_t buffer_size)
{
	FcStream   *stream = palloc0(sizeof(FcStream));

	stream->source = source;
	stream->block = Max(buffer_size, 64);
	stream->size = stream->block;
	stream->buf = palloc(stream->size + 1);
	stream->marks = palloc(sizeof(FcMarks));
	stream->marks->len = stream->marks_start = 0;
	return stream;
}

void
fc_stream_seek(FcStream *stream, uint64 offset)
{
	stream->offset = offset;
	stream->len = stream->pos = 0;
	stream->marks->len = stream->marks_start = 0;
}

/*
 * Makes room behind the record that is being read: moves it to the front,
 * and doubles the buffer when it fills it.
 */
static void
fc_stream_make_room(FcStream *stream)
{
	size_t		kept = stream->len - stream->pos;

	if (stream->pos > 0)
	{
		memmove(stream->buf, stream->buf + stream->pos, kept);
		stream->marks->len = stream->marks_start = 0;
		stream->offset += stream->pos;
		stream->len = kept;
		stream->pos = 0;
	}
	if (stream->len < stream->size)
		return;
	if (stream->size >= FC_MAX_RECORD)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("out of memory"),
				 errdetail("The record at byte " UINT64_FORMAT " is longer than %zu bytes.",
						   stream->offset, (size_t) FC_MAX_RECORD)));
	stream->size = Min(stream->size * 2, FC_MAX_RECORD);
	stream->buf = repalloc_huge(stream->buf, stream->size + 1);
}

/* Reads on; false at the end of the file */
static bool
fc_stream_fill(FcStream *stream)
{
	uint64		next = stream->offset + stream->len;
	size_t		want;

	if (next >= stream->source->identity.size)
		return false;
	fc_stream_make_room(stream);
	next = stream->offset + stream->len;
	want = Min(stream->size - stream->len,
			   stream->source->identity.size - next);
	fc_source_read(stream->source, next, stream->buf + stream->len, want);
	stream->len += want;
	return true;
}

/* The next record if marks tell where it ends; they are made when needed */
static bool
fc_stream_marked(FcStream *stream, const FcDialect *dialect, FcRecord *record)
{
	FcMarks    *marks = stream->marks;
	FcScan		scan;

	if (!fc_marks_record(dialect, marks, stream->buf + stream->marks_start,
						 stream->pos - stream->marks_start, &scan))
	{
		if (stream->pos == stream->marks_start && marks->len > 0)
			return false;
		fc_marks_fill(dialect, marks, stream->buf + stream->pos,
					  stream->len - stream->pos);
		stream->marks_start = stream->pos;
		if (!fc_marks_record(dialect, marks, stream->buf + stream->pos, 0, &scan))
			return false;
	}
	record->offset = stream->offset + stream->pos;
	record->data = stream->buf + stream->pos;
	record->length = scan.content;
	record->total = scan.total;
	record->embedded = scan.embedded;
	record->unterminated = record->marked = false;
	record->marks = marks;
	record->marks_pos = stream->pos - stream->marks_start;
	stream->pos += scan.total;
	return true;
}

/*
 * The next record; its data is NULL if an error ends the search, such as the
 * limit of a record's length.  After an error the record tells where it starts, and
 * the stream must not be used further without a seek.
 */
static FcEnd
fc_stream_search(FcStream *stream, FcDialect *dialect, FcRecord *record)
{
	FcScan		scan = {0};
	bool		eof = false;
	FcEnd		end;

	record->data = NULL;
	record->marks = NULL;
	for (;;)
	{
		end = fc_record_end(dialect, &scan, stream->buf + stream->pos,
							stream->len - stream->pos, eof);
		if (end != FC_END_MORE)
			break;
		eof = !fc_stream_fill(stream);
	}
	if (end == FC_END_NONE && !eof && fc_stream_fill(stream))
		return fc_stream_search(stream, dialect, record);

	record->offset = stream->offset + stream->pos;
	record->data = stream->buf + stream->pos;
	record->length = scan.content;
	record->total = scan.total;
	record->embedded = scan.embedded;
	record->unterminated = scan.unterminated;
	record->marked = scan.marked;
	if (end == FC_END_FOUND)
		stream->pos += scan.total;
	return end;
}

FcEnd
fc_stream_next(FcStream *stream, FcDialect *dialect, FcRecord *record)
{
	if (stream->pos < stream->len && fc_marks_serve(dialect) &&
		fc_stream_marked(stream, dialect, record))
		return FC_END_FOUND;
	return fc_stream_search(stream, dialect, record);
}

void
fc_stream_end(FcStream *stream)
{
	pfree(stream->marks);
	pfree(stream->buf);
	pfree(stream);
}
