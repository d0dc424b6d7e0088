/*-------------------------------------------------------------------------
 *
 * source/stream.h
 *	  The records of a source, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STREAM_H
#define FC_STREAM_H

#include "grammar/marks.h"
#include "source/source.h"

/*
 * Records one after the other, from any record start, to the end of its file.
 */
typedef struct FcStream FcStream;

typedef struct FcRecord
{
	uint64		offset;			/* of the first byte in the file */
	char	   *data;			/* writable, data[length] too, until the next
								 * record is asked for */
	size_t		length;			/* bytes without the line end */
	size_t		total;			/* bytes with it */
	uint64		embedded;		/* line ends inside quotes that COPY counts */
	bool		unterminated;	/* the file ended inside quotes */
	bool		marked;			/* its line end has a marker before it */
	const FcMarks *marks;		/* of a stretch with this record in it; NULL:
								 * it has none */
	size_t		marks_pos;		/* place of its first byte in the marks */
	uint64		line;			/* on which it ends, and its number from 1, in
								 * its file; row/chunk_reader.h sets them */
	uint64		row;
} FcRecord;

/* Marked bytes in memory, which begin with a record */
typedef struct FcMarkedBytes
{
	char	   *buf;
	const char *readable;		/* where the current bytes end */
	const FcMarks *marks;		/* their first is buf[0] */
	size_t		pos;			/* where the record begins in them */
	uint64		offset;			/* of buf[0] in the file */
} FcMarkedBytes;

extern FcStream *fc_stream_begin(const FcSource *source, size_t buffer_size);

/* A record with more bytes is ERROR 54000; by default with 1 GB */
extern void fc_stream_limit(FcStream *stream, size_t most);

/* Restarts at a record start; the stream ends with the file of that record */
extern void fc_stream_seek(FcStream *stream, uint64 offset);

/* Restarts at an offset of file "number", which may be its end */
extern void fc_stream_seek_file(FcStream *stream, uint32 number, uint64 offset);

/*
 * Finds the next record; anything but FC_END_FOUND says why there is none, and
 * record->offset then is where the search began
 */
extern FcEnd fc_stream_next(FcStream *stream, FcDialect *dialect,
							FcRecord *record);

/*
 * The same, past comments, which begin with the string, if it is not NULL;
 * counts their lines.  FC_END_MALFORMED for one that does not end on its line.
 */
extern FcEnd fc_stream_next_but(FcStream *stream, FcDialect *dialect, const char *comment,
								FcRecord *record, uint64 *lines);

/*
 * Shows what is marked from the next record on; unless "most" is 0 marks from
 * there before, at most so many bytes.  False if marks do not serve, if the
 * record begins at "end" or later, or if there are no more bytes to be marked.
 */
extern bool fc_stream_stretch(FcStream *stream, const FcDialect *dialect, uint64 end, size_t most,
							  FcMarkedBytes *stretch);

/* Passes over bytes of the stretch, which are whole records */
extern void fc_stream_pass(FcStream *stream, size_t bytes);

extern void fc_stream_end(FcStream *stream);

#endif							/* FC_STREAM_H */
