/*-------------------------------------------------------------------------
 *
 * fc_source.h
 *	  The source file: opened once per process, read with pread, and proven
 *	  to be the same file from the first byte to the last.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SOURCE_H
#define FC_SOURCE_H

#include <sys/stat.h>
#include <time.h>

#include "fc_marks.h"

/* What makes a file "the same": compared in every process, and at the end */
typedef struct FcIdentity
{
	dev_t		dev;
	ino_t		ino;
	uint64		size;
	struct timespec mtime;
	struct timespec ctime;
} FcIdentity;

typedef struct FcSource
{
	char	   *path;			/* as the user gave it, for messages */
	char	   *open_path;		/* what was opened */
	int			fd;				/* released with the (sub)transaction */
	FcIdentity	identity;
} FcSource;

/*
 * Opens a regular file for reading, never blocking (a FIFO has no writer to
 * wait for).  Errors are COPY's.
 */
extern FcSource *fc_source_open(const char *path);

/* ERROR 55000 unless the open file still is what "expected" says */
extern void fc_source_check(const FcSource *source, const FcIdentity *expected);

/* Exactly len bytes; ERROR 55000 if the file ends before */
extern void fc_source_read(const FcSource *source, uint64 offset,
						   char *buf, size_t len);
extern void fc_source_early_end(const char *path, uint64 offset);
extern void fc_source_close(FcSource *source);

/* The path of the open file with all links resolved */
extern char *fc_source_real_path(const FcSource *source);

/*
 * Records one after the other, from any record start of the file.
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
	const FcMarks *marks;		/* what is marked in it; NULL: nothing */
	size_t		marks_pos;		/* where the marks of its first byte are */
} FcRecord;

extern FcStream *fc_stream_begin(const FcSource *source, size_t buffer_size);

/* Restarts at a record start; "end" is where the bytes to read stop */
extern void fc_stream_seek(FcStream *stream, uint64 offset);
extern FcEnd fc_stream_next(FcStream *stream, FcDialect *dialect,
							FcRecord *record);
extern void fc_stream_end(FcStream *stream);

#endif							/* FC_SOURCE_H */
