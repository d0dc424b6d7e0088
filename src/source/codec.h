/*-------------------------------------------------------------------------
 *
 * source/codec.h
 *	  One interface over the libraries that unpack gzip, zstd, lz4, bzip2 and
 *	  xz data.
 *
 * Pure C: nothing here knows the server, and nothing throws.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CODEC_H
#define FC_CODEC_H

#include "source/gunzip.h"

typedef enum FcCodecKind
{
	FC_CODEC_UNKNOWN = -1,		/* not looked at yet */
	FC_CODEC_NONE,				/* plain data */
	FC_CODEC_GZIP,
	FC_CODEC_ZSTD,
	FC_CODEC_LZ4,
	FC_CODEC_BZIP2,
	FC_CODEC_XZ,
	FC_CODEC_ZIP,
	FC_CODEC_UTF16,				/* unpacked by source/utf16.c */

	/* what is known and no build loads */
	FC_CODEC_REFUSED,
	FC_CODEC_SEVENZIP = FC_CODEC_REFUSED,
	FC_CODEC_COMPRESS,			/* .Z */
	FC_CODEC_OLD_LZ4,
	FC_CODEC_LZMA,
	FC_CODEC_TAR,
	FC_CODEC_WORKBOOK,			/* .xlsx, .ods, .xls */
	FC_CODEC_PARQUET,
	FC_CODEC_ORC,
	FC_CODEC_AVRO,
	FC_CODEC_ARROW,
	FC_CODEC_SQLITE,
	FC_CODEC_DUMP,				/* of pg_dump, but for SQL */
	FC_CODEC_KINDS
} FcCodecKind;

/* The first bytes, which tell a format */
#define FC_CODEC_HEAD	512

/*
 * The format of data that begin with head[0..len); if len is less than
 * FC_CODEC_HEAD these are all.  Where they begin with a skippable frame, *skip
 * is set to its length, and the bytes after it tell more; else *skip is 0.
 * "skip" may be NULL.
 */
extern FcCodecKind fc_codec_detect(const char *head, size_t len, uint64_t *skip);

/* As messages have it: "gzip" */
extern const char *fc_codec_name(FcCodecKind kind);

/* Does this build unpack data of that format? */
extern bool fc_codec_unpacks(FcCodecKind kind);

/*
 * Where it does not: the packages that a build needs to do so, or NULL if no
 * build does
 */
extern const char *fc_codec_lacks(FcCodecKind kind);

typedef struct FcCodec FcCodec;

/*
 * For a format that is unpacked.  Memory is the library's own, so that
 * fc_codec_end must be called; NULL if there is none.  The data's window may
 * take "memory" bytes, or FC_CODEC_LEAST if that is more.
 */
#define FC_CODEC_LEAST	((size_t) 16 * 1024 * 1024)

extern FcCodec *fc_codec_begin(FcCodecKind kind, size_t memory);
extern void fc_codec_end(FcCodec *codec);

/*
 * Unpacks as far as the input reaches and the output has room, at most to the
 * end of one of the members that may follow each other.  Without input it
 * still gives what it keeps; if a call neither takes nor puts a byte, it has
 * nothing left.  After anything but FC_CODEC_OK it must not be called again.
 */
extern FcCodecResult fc_codec_step(FcCodec *codec, FcCodecIo *io);

/*
 * The first is called before the first step, or where a member has just ended:
 * what comes next are other data.  "follows": they stand after a member of
 * their file.  The second tells after a step whether a member has just ended.
 */
extern void fc_codec_go_on(FcCodec *codec, bool follows);
extern bool fc_codec_is_between(const FcCodec *codec);

/* May the input end here? */
extern FcCodecResult fc_codec_finish(const FcCodec *codec);

/* Bytes of memory in use, as far as the library tells */
extern size_t fc_codec_memory(const FcCodec *codec);

/* What the library says about the last fault; "" if nothing */
extern const char *fc_codec_reason(const FcCodec *codec);

/* So many bytes are looked at to tell whether a member begins with the first */
#define FC_BORDER_HEAD	32

/*
 * The first of the bytes with which a member seems to begin.  Those too near
 * to the end to be looked at are passed over; len if there is none.
 */
extern size_t fc_border_find(FcCodecKind kind, const char *buf, size_t len);

/* Has data of the format borders that can be told? */
extern bool fc_border_is_there(FcCodecKind kind);

#endif							/* FC_CODEC_H */
