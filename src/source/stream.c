/*-------------------------------------------------------------------------
 *
 * source/stream.c
 *	  The records of a source, one after the other.
 *
 *	 bytes ──► buffer ──► marks, made for some hundred records at once
 *			(or, where those do not tell, fc_record_end) ──► FcRecord
 *
 * The buffer grows to the longest record.  It belongs to the memory context
 * that the caller began in, so that there is nothing to clean up on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat/compat.h"
#include "grammar/binary.h"
#include "source/stream.h"

/* Bytes that are marked at once where records are taken one by one */
#define FC_STREAM_MARKS	16384

/* COPY's own limit of a line: what a StringInfo can hold */
#define FC_MAX_RECORD	(MaxAllocSize - 1)

struct FcStream
{
	const FcSource *source;
	char	   *buf;			/* size + 1 bytes */
	size_t		size;
	size_t		most;			/* bytes that a record may have */
	size_t		len;			/* bytes in buf */
	size_t		pos;			/* start of the next record in buf */
	uint64		offset;			/* of buf[0] */
	uint64		end;			/* of the file that is read */
	FcMarks    *marks;			/* of some bytes of buf */
	size_t		marks_start;	/* the first of them in buf */
};

FcStream *
fc_stream_begin(const FcSource *source, size_t buffer_size)
{
	FcStream   *stream = palloc0(sizeof(FcStream));

	stream->source = source;
	stream->size = Max(buffer_size, 64);
	stream->most = FC_MAX_RECORD;
	stream->buf = palloc(stream->size + 1);
	stream->marks = palloc(sizeof(FcMarks));
	fc_stream_seek_file(stream, 0, 0);
	return stream;
}

void
fc_stream_limit(FcStream *stream, size_t most)
{
	stream->most = Max(most, stream->size);
}

void
fc_stream_seek(FcStream *stream, uint64 offset)
{
	fc_stream_seek_file(stream, fc_source_number(stream->source, offset), offset);
}

void
fc_stream_seek_file(FcStream *stream, uint32 number, uint64 offset)
{
	stream->offset = offset;
	stream->end = fc_source_end(stream->source, number);
	stream->len = stream->pos = 0;
	stream->marks->len = stream->marks_start = 0;
}

/*
 * Makes room after the record that is being read: moves it to the front,
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
	if (stream->size >= stream->most)
		fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg("out of memory"),
				 errdetail("The record at byte " UINT64_FORMAT " of file \"%s\" is longer than %zu bytes.",
						   stream->offset - fc_source_file(stream->source, stream->offset)->base,
						   fc_source_path_at(stream->source, stream->offset),
						   stream->most));
	stream->size = Min(stream->size * 2, stream->most);
	stream->buf = repalloc_huge(stream->buf, stream->size + 1);
}

/* Reads on; false at the end of its file */
static bool
fc_stream_fill(FcStream *stream)
{
	uint64		next = stream->offset + stream->len;
	size_t		want;

	if (next >= stream->end)
		return false;
	fc_stream_make_room(stream);
	next = stream->offset + stream->len;
	want = Min(stream->size - stream->len, stream->end - next);
	fc_source_read(stream->source, next, stream->buf + stream->len, want);
	stream->len += want;
	return true;
}

/* Marks what comes next, at most so much; false if it is marked already */
static bool
fc_stream_mark(FcStream *stream, const FcDialect *dialect, size_t most)
{
	if (stream->pos == stream->marks_start && stream->marks->len > 0)
		return false;
	fc_marks_fill(dialect, stream->marks, stream->buf + stream->pos,
				  Min(stream->len - stream->pos, most));
	stream->marks_start = stream->pos;
	return true;
}

/* Finds the next record if marks tell where it ends; makes them when needed */
static inline bool
fc_stream_marked(FcStream *stream, const FcDialect *dialect, FcRecord *record)
{
	FcMarks    *marks = stream->marks;
	FcScan		scan;

	while (!fc_marks_record(dialect, marks, stream->buf + stream->marks_start,
							stream->pos - stream->marks_start, &scan))
		if (!fc_stream_mark(stream, dialect, FC_STREAM_MARKS))
			return false;
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
 * Finds the next record without marks.  Its data stays NULL if an error is
 * thrown meanwhile, such as that about the length of a record.  After a
 * malformed record the stream must not be used further without a seek.
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
		end = dialect->mode == FC_MODE_BINARY ?
			fc_binary_end(dialect, &scan, stream->buf + stream->pos,
						  stream->len - stream->pos, eof) :
			fc_record_end(dialect, &scan, stream->buf + stream->pos,
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

FcEnd
fc_stream_next_but(FcStream *stream, FcDialect *dialect, const char *comment,
				   FcRecord *record, uint64 *lines)
{
	FcEnd		end;

	while ((end = fc_stream_next(stream, dialect, record)) == FC_END_FOUND && comment &&
		   record->length > 0 && record->data[0] == comment[0])
	{
		CHECK_FOR_INTERRUPTS();
		if (record->unterminated || fc_record_is_open(record->data, record->length))
			return FC_END_MALFORMED;
		(*lines)++;
	}
	return end;
}

bool
fc_stream_stretch(FcStream *stream, const FcDialect *dialect, uint64 end, size_t most,
				  FcMarkedBytes *stretch)
{
	FcMarks    *marks = stream->marks;

	if (!fc_marks_serve(dialect) || stream->offset + stream->pos >= end)
		return false;
	if (most > 0)
	{
		if (stream->len - stream->pos < most)
			(void) fc_stream_fill(stream);
		if (stream->pos == stream->len || !fc_stream_mark(stream, dialect, most))
			return false;
	}
	stretch->pos = stream->pos - stream->marks_start;
	if (stretch->pos >= marks->len)
		return false;
	stretch->buf = stream->buf + stream->marks_start;
	stretch->readable = stream->buf + stream->len;
	stretch->marks = marks;
	stretch->offset = stream->offset + stream->marks_start;
	return true;
}

void
fc_stream_pass(FcStream *stream, size_t bytes)
{
	Assert(bytes <= stream->len - stream->pos);
	stream->pos += bytes;
}

void
fc_stream_end(FcStream *stream)
{
	pfree(stream->marks);
	pfree(stream->buf);
	pfree(stream);
}
