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

/*
 * Formats, with their names in messages; 7z and those after it are known, but
 * no build loads them
 */
#define FC_CODECS(X) \
	X(NONE, "plain") \
	X(GZIP, "gzip") \
	X(ZSTD, "zstd") \
	X(LZ4, "lz4") \
	X(BZIP2, "bzip2") \
	X(XZ, "xz") \
	X(ZIP, "zip") \
	X(UTF16, "UTF-16")			/* unpacked by source/utf16.c */ \
	X(SEVENZIP, "7z") \
	X(COMPRESS, "compress")		/* .Z */ \
	X(OLD_LZ4, "legacy lz4") \
	X(LZMA, "lzma") \
	X(TAR, "tar") \
	X(WORKBOOK, "spreadsheet")	/* .xlsx, .ods, .xls */ \
	X(PARQUET, "Parquet") \
	X(ORC, "ORC") \
	X(AVRO, "Avro") \
	X(ARROW, "Arrow") \
	X(SQLITE, "SQLite") \
	X(DUMP, "pg_dump")			/* but for SQL */

#define FC_CODEC_REFUSED	FC_CODEC_SEVENZIP

#define FC_CODEC_NUMBER(kind, name) FC_CODEC_##kind,

typedef enum FcCodecKind
{
	FC_CODEC_UNKNOWN = -1,		/* not looked at yet */
	FC_CODECS(FC_CODEC_NUMBER)
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
