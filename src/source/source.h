/*-------------------------------------------------------------------------
 *
 * source/source.h
 *	  The source: a file, or many, that all processes read with pread as the
 *	  leader has opened them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SOURCE_H
#define FC_SOURCE_H

#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/fd.h"

#include "grammar/dialect.h"
#include "source/descriptors.h"

/*
 * One of the files.  Their bytes stand one after another: an offset counts
 * from the first byte of the first file.  Files whose size is not known at
 * first have gaps between them.
 */
typedef struct FcFile
{
	uint64		base;			/* offset of its first byte */
	FcIdentity	identity;
	uint64		data_start;		/* offset of the first byte after its header,
								 * or after what an earlier load had of it */
	uint64		lines_before;	/* lines before that */
	uint32		header;			/* number of its own, of those that differ */
	uint64		footer;			/* bytes at its end that are no records of the
								 * load */
	bool		resumed;		/* an earlier load had its first records */
	FcEol		eol;
	bool		unsettled;		/* text: its first line has rows before a
								 * marker */
	uint8		kind;			/* as FcCodecKind: how its bytes are packed */
	bool		utf16;			/* what is read are bytes that were made from
								 * UTF-16 */
	bool		cut;			/* of one that tells its size only by its end:
								 * there is more */
	dev_t		dev;			/* which file was named, although another one */
	ino_t		ino;			/* has what could be read of it only once */
	TimestampTz modified;		/* when somebody wrote to it last */
	uint32		nextents;		/* they are in temporary copies; 0: in the
								 * file */
	uint32		extent;			/* the first of their extents */
	size_t		path;			/* where in the source's paths its own begins,
								 * as text */
	size_t		raw;			/* so many bytes after it stand those that it
								 * is opened by */
} FcFile;

/* A temporary copy, which has the bytes of any number of files */
typedef struct FcCopy
{
	char		path[MAXPGPATH];
} FcCopy;

/* Bytes of one file that stand together in a temporary copy */
typedef struct FcExtent
{
	uint64		offset;			/* of the first of them in the source */
	uint64		at;				/* in the copy */
	uint32		copy;			/* its number, from 0 */
} FcExtent;

/*
 * Memory for bytes that are read only once, one after another.  The bytes from
 * "from" up to "upto" are put into it, and it has the last ones of these.
 */
typedef struct FcRing
{
	Size		size;			/* bytes; 0: there is none */
	uint64		from;			/* offset of the first byte that was put
								 * there; those before it are in the temporary
								 * copy */
	pg_atomic_uint64 upto;		/* offset of the first byte after them that is
								 * in the temporary copy again; UINT64_MAX:
								 * none is so far */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} FcRing;

typedef struct FcSource
{
	bool		grows;			/* the files are unpacked or received by the
								 * next phases, and have their first bytes */
	uint64		size;			/* of all files; a guess as long as they grow */
	uint64		passed;			/* bytes that are not of this load */
	const char *root;			/* below which alone the caller may open
								 * files; NULL: he may open all */
	File		streamed;		/* temporary file with the bytes of all files
								 * that tell their size only by their end; 0:
								 * there is none */
	off_t		streamed_end;	/* where it ends */
	FcIdentity	streamed_identity;
	uint32		nfiles;
	FcFile	   *files;			/* in the order of the load */
	char	   *paths;			/* theirs, as the user gave them; for messages
								 * as text, and as they are */
	size_t		paths_size;		/* bytes there is room for */
	bool		programs;		/* they are commands whose output was copied */
	uint32		ncopies;
	FcCopy	   *copies;
	FcExtent   *extents;		/* of all files; each has its own in order */
	FcDescriptors *descriptors;
	FcRing	   *ring;			/* has most bytes, if there is one file; or
								 * NULL */
} FcSource;

/*
 * The first begins a source of files that the caller names, the second adds
 * one.  Errors are COPY's.  If fd is not -1 the file is open there, and gets
 * another descriptor.  Of a file that does not know its size at most so many
 * bytes are copied.
 */
extern FcSource *fc_source_begin(void);
extern void fc_source_add(FcSource *source, const char *path, int fd, uint64 most);

/* ERROR 22P04 about what a file has in it */
#define fc_format_error(...) \
	ereport(ERROR, (errcode(ERRCODE_BAD_COPY_FILE_FORMAT), __VA_ARGS__))

/* Writes bytes to a temporary file, all or ERROR */
extern void fc_source_write(File file, const char *buf, size_t len, uint64 at, uint32 event);

/* When somebody wrote to the file last */
extern TimestampTz fc_source_modified(const struct stat *st);

/* Asks the system about a file that is open; or about the copy of one */
extern void fc_source_stat_opened(const FcSource *source, uint32 number, struct stat *st);

/* ERROR 55000: the file has changed since it was opened, as the detail says */
extern void fc_source_changed(const char *path, const char *detail);

/* Is it an open regular file that knows its size? */
extern bool fc_source_is_plain(int fd, const char *path);

/*
 * Many files that the leader has looked at, some of which have temporary
 * copies; they are opened when read.
 */
extern FcSource *fc_source_attach(FcFile *files, uint32 nfiles, char *paths, bool programs,
								  FcCopy *copies, uint32 ncopies, FcExtent *extents);

/* Such a source of files that stand in one temporary copy of ours, at "base" */
extern FcSource *fc_source_of_copy(const char *path, FcFile *files, uint32 nfiles, char *paths,
								   bool programs);

/*
 * In a worker: opens what the leader holds.  False if something of it cannot be
 * opened.
 */
extern bool fc_source_hold(FcSource *source);

/* Bytes that the paths of all files take */
extern size_t fc_source_paths_size(const FcSource *source);

/* What messages call one of the files */
static inline const char *
fc_source_word(const FcSource *source)
{
	return source->programs ? "program" : "file";
}

/* The number of the file that has the byte at "offset" */
extern uint32 fc_source_number(const FcSource *source, uint64 offset);
extern const char *fc_source_path(const FcSource *source, uint32 number);
extern const char *fc_source_raw_path(const FcSource *source, uint32 number);

/* Where its records end for the load */
extern uint64 fc_source_end(const FcSource *source, uint32 number);

static inline FcFile *
fc_source_file(const FcSource *source, uint64 offset)
{
	Assert(source->nfiles > 0);
	return source->nfiles == 1 ? source->files :
		&source->files[fc_source_number(source, offset)];
}

/* Its name for messages, and where it ends */
#define fc_source_path_at(source, offset)	fc_source_path(source, fc_source_number(source, offset))
#define fc_source_end_at(source, offset)	fc_source_end(source, fc_source_number(source, offset))

/* Bytes after the headers; the whole guess as long as it is one */
extern uint64 fc_source_data_size(const FcSource *source);

/*
 * Where a byte is read: a descriptor, the byte's offset in that, and how many
 * bytes of the file are left from there on.  The descriptor stays open until
 * "pinned" is unpinned.
 */
typedef struct FcSourcePlace
{
	int			fd;
	const char *path;
	uint64		offset;
	uint64		left;
	FcDescriptor *pinned;
} FcSourcePlace;

/* False if too many are pinned: one must be unpinned first */
extern bool fc_source_pin(const FcSource *source, uint64 offset,
						  FcSourcePlace *place);

/* Exactly len bytes; ERROR 55000 if the file ends before */
extern void fc_source_read(const FcSource *source, uint64 offset,
						   char *buf, size_t len);

/* The same of a temporary copy, at an offset in that */
extern void fc_source_read_copy(const FcSource *source, uint32 copy, uint64 at,
								char *buf, size_t len);

/*
 * ERROR 55000: the bytes at this offset were read twice, and the second time
 * were "what".  XX000 if they are of a temporary copy, which no other process
 * writes to.
 */
extern void fc_source_differs(const FcSource *source, uint64 offset,
							  const char *what);
extern void fc_source_close(FcSource *source);

#endif							/* FC_SOURCE_H */
