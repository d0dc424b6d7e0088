/*-------------------------------------------------------------------------
 *
 * source/codec.c
 *	  One interface over the libraries that unpack gzip, zip, zstd, lz4,
 *	  bzip2 and xz data.
 *
 *	 bytes ──► member ──► [padding] ──► member ... ──► bytes
 *
 * In all formats several members (frames, streams) may follow each other; but a
 * zip file is one, whatever it contains (source/unzip.c).  Libraries
 * differ in what they do at the end of a member.  Here one ends
 * where its library says so, and only another one may follow, or padding:
 * zeros at the end of gzip data, zeros in multiples of four after an xz
 * stream.  Anything else is an error; to pass over it, as tools do, would lose
 * rows.
 *
 * The libraries check all checksums.  A build has the libraries that it finds
 * (HAVE_ZSTD and so on, libraries.mk), but every build knows all formats: the
 * table "formats" says which packages a format needs.
 *
 * Libraries take memory by malloc: a caller that begins a codec ends it, on an
 * error, too.
 *
 *-------------------------------------------------------------------------
 */
#include "source/codec.h"
#include "source/unzip.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_BZ2
#include <bzlib.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* zstd's windows of up to 2^23 bytes fit into FC_CODEC_LEAST */
#define FC_ZSTD_WINDOW_LOG	23

/* The first bytes of a member that are kept, enough to tell its format */
#define FC_CODEC_MAGIC		6

typedef enum FcCodecState
{
	FC_CODEC_BETWEEN,			/* a member may begin */
	FC_CODEC_INSIDE,
	FC_CODEC_PADDING			/* zeros have followed a member */
} FcCodecState;

struct FcCodec
{
	FcCodecKind kind;
	FcCodecState state;
	bool		used;			/* a member has ended */
	uint64_t	members;		/* that have, of the current data */
	uint64_t	taken;			/* bytes of the current member, or of padding */
	char		head[FC_CODEC_MAGIC];	/* the first of them */
	const char *reason;
	void	   *own;			/* the library's */
};

/* A format, and what unpacks it; without a start it is not in this build */
typedef struct FcFormat
{
	const char *packages;		/* that have what a build needs */

	/*
	 * Lets the library begin, with so much memory for a window; NULL if it gets
	 * none.  What it returns is given to the others.
	 */
	void	   *(*start) (size_t memory);
	void		(*end) (void *own);

	/*
	 * As fc_codec_step, of one member.  Sets *end where it has ended, with its
	 * sums right, and *reason where it is corrupt, if that is known.
	 */
	FcCodecResult (*step) (void *own, FcCodecIo *io, bool *end, const char **reason);
	/* Lets it begin anew after a member; NULL: it does by itself */
	bool		(*restart) (void *own);
	/* NULL: it does not tell */
	size_t		(*memory) (const void *own);
} FcFormat;

typedef struct FcMagic
{
	FcCodecKind kind;
	size_t		len;
	size_t		least;			/* enough to know a file that is cut off */
	const char *bytes;
} FcMagic;

/* bzip2 is not among them: "BZh9" could be a row */
static const FcMagic magics[] = {
	{FC_CODEC_GZIP, 2, 2, "\x1f\x8b"},
	{FC_CODEC_ZSTD, 4, 3, "\x28\xb5\x2f\xfd"},
	{FC_CODEC_LZ4, 4, 3, "\x04\x22\x4d\x18"},
	{FC_CODEC_XZ, 5, 3, "\xfd" "7zXZ"},
	{FC_CODEC_ZIP, 4, 4, "PK\x03\x04"},
	{FC_CODEC_ZIP, 4, 4, "PK\x05\x06"},
	{FC_CODEC_SEVENZIP, 6, 6, "7z\xbc\xaf\x27\x1c"},
	{FC_CODEC_COMPRESS, 2, 2, "\x1f\x9d"},
	{FC_CODEC_OLD_LZ4, 4, 4, "\x02\x21\x4c\x18"},
	{FC_CODEC_LZMA, 3, 3, "\x5d\0\0"},
	{FC_CODEC_WORKBOOK, 8, 8, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"},
	{FC_CODEC_PARQUET, 5, 5, "PAR1\x15"},
	{FC_CODEC_AVRO, 4, 4, "Obj\x01"},
	{FC_CODEC_ARROW, 8, 8, "ARROW1\0\0"},
	{FC_CODEC_SQLITE, 16, 16, "SQLite format 3\0"},
	{FC_CODEC_DUMP, 6, 6, "PGDMP\x01"}
};

#define FC_BZIP2_MAGIC	10
#define FC_TAR_MAGIC_AT	257
#define FC_ZIP_NAME_AT	30

/* What a file is whose container others have, too: the first name tells */
static FcCodecKind
fc_codec_contained(FcCodecKind kind, const char *head, size_t len)
{
	static const struct
	{
		FcCodecKind container;
		FcCodecKind kind;
		size_t		at;
		const char *name;
	}			contents[] = {
		{FC_CODEC_ZIP, FC_CODEC_WORKBOOK, FC_ZIP_NAME_AT, "[Content_Types].xml"},
		{FC_CODEC_ZIP, FC_CODEC_WORKBOOK, FC_ZIP_NAME_AT, "_rels/.rels"},
		{FC_CODEC_ZIP, FC_CODEC_WORKBOOK, FC_ZIP_NAME_AT, "docProps/"},
		{FC_CODEC_ZIP, FC_CODEC_WORKBOOK, FC_ZIP_NAME_AT, "xl/"},
		{FC_CODEC_ZIP, FC_CODEC_WORKBOOK, FC_ZIP_NAME_AT, "mimetypeapplication/vnd.oasis"},
		{FC_CODEC_TAR, FC_CODEC_DUMP, 0, "toc.dat"}
	};

	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
	{
		size_t		n = strlen(contents[i].name);

		if (contents[i].container == kind && len >= contents[i].at + n &&
			memcmp(head + contents[i].at, contents[i].name, n) == 0)
			return contents[i].kind;
	}
	return kind;
}

/* Does a skippable frame begin here?  zstd and lz4 have them in common. */
static bool
fc_codec_skips(const char *head)
{
	return ((unsigned char) head[0] & 0xf0) == 0x50 &&
		memcmp(head + 1, "\x2a\x4d\x18", 3) == 0;
}

FcCodecKind
fc_codec_detect(const char *head, size_t len, uint64_t *skip)
{
	if (skip)
		*skip = 0;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
	{
		const FcMagic *magic = &magics[i];

		if (len >= magic->least &&
			memcmp(head, magic->bytes, len < magic->len ? len : magic->len) == 0)
			return fc_codec_contained(magic->kind, head, len);
	}
	/* "BZh" and a level, and then what a block or a stream's end begins with */
	if (len >= FC_BZIP2_MAGIC && memcmp(head, "BZh", 3) == 0 &&
		head[3] >= '1' && head[3] <= '9' &&
		(memcmp(head + 4, "1AY&SY", 6) == 0 ||
		 memcmp(head + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0))
		return FC_CODEC_BZIP2;
	/* a header of tar has a NUL before its "ustar", and no row has a NUL */
	if (len >= FC_CODEC_HEAD && memcmp(head + FC_TAR_MAGIC_AT, "ustar", 5) == 0 &&
		memchr(head, '\0', FC_TAR_MAGIC_AT) != NULL)
		return fc_codec_contained(FC_CODEC_TAR, head, len);
	/* "ORC" could be a row; a file of that format has a NUL soon */
	if (len > 3 && memcmp(head, "ORC", 3) == 0 && memchr(head, '\0', len) != NULL)
		return FC_CODEC_ORC;
	if (len < 8 || !fc_codec_skips(head))
		return FC_CODEC_NONE;
	/* its length stands in four bytes, of which the lowest comes first */
	for (int i = 7; skip && i >= 4; i--)
		*skip = *skip << 8 | (unsigned char) head[i];
	if (skip)
		*skip += 8;
	return FC_CODEC_ZSTD;
}

#if defined(HAVE_ISAL) || defined(HAVE_ZLIB)
#define FC_GZIP	fc_gunzip_start, fc_gunzip_end, fc_gunzip_step, fc_gunzip_restart
#define FC_ZIP	fc_unzip_start, fc_unzip_end, fc_unzip_step, fc_unzip_restart
#else
#define FC_GZIP	NULL
#define FC_ZIP	NULL
#endif

#ifdef HAVE_ZSTD

/* The largest n for which a window of 2^n bytes fits into the memory */
static int
fc_zstd_window_log(size_t memory)
{
	ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
	int			n = FC_ZSTD_WINDOW_LOG;

	while (n < bounds.upperBound && ((size_t) 1 << (n + 1)) <= memory)
		n++;
	return n;
}

static void
fc_zstd_end(void *own)
{
	(void) ZSTD_freeDStream(own);
}

static void *
fc_zstd_start(size_t memory)
{
	ZSTD_DStream *zstd = ZSTD_createDStream();

	if (zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax,
													 fc_zstd_window_log(memory))))
		return zstd;
	fc_zstd_end(zstd);
	return NULL;
}

static FcCodecResult
fc_zstd_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	ZSTD_inBuffer in = {io->in, io->in_len, io->in_pos};
	ZSTD_outBuffer out = {io->out, io->out_len, io->out_pos};
	size_t		rc = ZSTD_decompressStream(own, &out, &in);

	io->in_pos = in.pos;
	io->out_pos = out.pos;
	*end = (rc == 0);
	if (!ZSTD_isError(rc))
		return FC_CODEC_OK;
	switch (ZSTD_getErrorCode(rc))
	{
		case ZSTD_error_frameParameter_windowTooLarge:
			return FC_CODEC_TOO_BIG;
		case ZSTD_error_memory_allocation:
			return FC_CODEC_OUT_OF_MEMORY;
		case ZSTD_error_dictionary_wrong:
			return FC_CODEC_DICTIONARY;
		default:
			*reason = ZSTD_getErrorName(rc);
			return FC_CODEC_CORRUPT;
	}
}

static size_t
fc_zstd_memory(const void *own)
{
	return ZSTD_sizeof_DStream(own);
}

#define FC_ZSTD	fc_zstd_start, fc_zstd_end, fc_zstd_step, NULL, fc_zstd_memory
#else
#define FC_ZSTD	NULL
#endif

#ifdef HAVE_LZ4

static void *
fc_lz4_start(size_t memory)
{
	LZ4F_dctx  *lz4;

	return LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION)) ? NULL : lz4;
}

static void
fc_lz4_end(void *own)
{
	(void) LZ4F_freeDecompressionContext(own);
}

static FcCodecResult
fc_lz4_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	size_t		in = io->in_len - io->in_pos;
	size_t		out = io->out_len - io->out_pos;
	size_t		rc = LZ4F_decompress(own, io->out + io->out_pos, &out,
									 io->in + io->in_pos, &in, NULL);

	if (LZ4F_isError(rc))
	{
		*reason = LZ4F_getErrorName(rc);
		return FC_CODEC_CORRUPT;
	}
	io->in_pos += in;
	io->out_pos += out;
	*end = (rc == 0);
	return FC_CODEC_OK;
}

#define FC_LZ4	fc_lz4_start, fc_lz4_end, fc_lz4_step
#else
#define FC_LZ4	NULL
#endif

#ifdef HAVE_BZ2

static void *
fc_bzip2_start(size_t memory)
{
	bz_stream  *b = calloc(1, sizeof(bz_stream));

	if (b && BZ2_bzDecompressInit(b, 0, 0) == BZ_OK)
		return b;
	free(b);
	return NULL;
}

static void
fc_bzip2_end(void *own)
{
	(void) BZ2_bzDecompressEnd(own);
	free(own);
}

static FcCodecResult
fc_bzip2_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	bz_stream  *b = own;
	int			rc;

	fc_codec_lend(b, io);
	rc = BZ2_bzDecompress(b);
	fc_codec_take_back(b, io);
	*end = (rc == BZ_STREAM_END);
	switch (rc)
	{
		case BZ_OK:
		case BZ_STREAM_END:
			return FC_CODEC_OK;
		case BZ_MEM_ERROR:
			return FC_CODEC_OUT_OF_MEMORY;
		default:
			return FC_CODEC_CORRUPT;
	}
}

static bool
fc_bzip2_restart(void *own)
{
	(void) BZ2_bzDecompressEnd(own);
	memset(own, 0, sizeof(bz_stream));
	return BZ2_bzDecompressInit(own, 0, 0) == BZ_OK;
}

#define FC_BZIP2	fc_bzip2_start, fc_bzip2_end, fc_bzip2_step, fc_bzip2_restart
#else
#define FC_BZIP2	NULL
#endif

#ifdef HAVE_LZMA

typedef struct FcXz
{
	lzma_stream stream;
	size_t		memory;			/* that it may use */
} FcXz;

/* The library uses again what memory it has */
static bool
fc_xz_restart(void *own)
{
	FcXz	   *xz = own;

	return lzma_stream_decoder(&xz->stream, xz->memory, 0) == LZMA_OK;
}

static void
fc_xz_end(void *own)
{
	lzma_end(&((FcXz *) own)->stream);
	free(own);
}

static void *
fc_xz_start(size_t memory)
{
	FcXz	   *xz = calloc(1, sizeof(FcXz));

	if (xz == NULL)
		return NULL;
	xz->memory = memory;
	if (fc_xz_restart(xz))
		return xz;
	fc_xz_end(xz);
	return NULL;
}

static FcCodecResult
fc_xz_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	lzma_stream *x = &((FcXz *) own)->stream;
	lzma_ret	rc;

	fc_codec_lend(x, io);
	rc = lzma_code(x, LZMA_RUN);
	fc_codec_take_back(x, io);
	*end = (rc == LZMA_STREAM_END);
	switch (rc)
	{
		case LZMA_OK:
		case LZMA_STREAM_END:
		case LZMA_BUF_ERROR:
			return FC_CODEC_OK;
		case LZMA_MEMLIMIT_ERROR:
			return FC_CODEC_TOO_BIG;
		case LZMA_MEM_ERROR:
			return FC_CODEC_OUT_OF_MEMORY;
		case LZMA_OPTIONS_ERROR:
			*reason = "options that the library does not know";
			return FC_CODEC_CORRUPT;
		default:
			return FC_CODEC_CORRUPT;
	}
}

static size_t
fc_xz_memory(const void *own)
{
	return (size_t) lzma_memusage(&((const FcXz *) own)->stream);
}

#define FC_XZ	fc_xz_start, fc_xz_end, fc_xz_step, fc_xz_restart, fc_xz_memory
#else
#define FC_XZ	NULL
#endif

#define FC_ZLIB_PACKAGES	"zlib1g-dev (Debian) or zlib-devel (Fedora)"

static const FcFormat formats[FC_CODEC_KINDS] = {
	[FC_CODEC_GZIP] = {FC_ZLIB_PACKAGES, FC_GZIP},
	[FC_CODEC_ZSTD] = {"libzstd-dev (Debian) or libzstd-devel (Fedora)", FC_ZSTD},
	[FC_CODEC_LZ4] = {"liblz4-dev (Debian) or lz4-devel (Fedora)", FC_LZ4},
	[FC_CODEC_BZIP2] = {"libbz2-dev (Debian) or bzip2-devel (Fedora)", FC_BZIP2},
	[FC_CODEC_XZ] = {"liblzma-dev (Debian) or xz-devel (Fedora)", FC_XZ},
	[FC_CODEC_ZIP] = {FC_ZLIB_PACKAGES, FC_ZIP}
};

#define FC_CODEC_NAME(kind, name) name,

const char *
fc_codec_name(FcCodecKind kind)
{
	static const char *const names[] = {FC_CODECS(FC_CODEC_NAME)};

	return kind >= FC_CODEC_NONE && kind < FC_CODEC_KINDS ? names[kind] : "unknown";
}

bool
fc_codec_unpacks(FcCodecKind kind)
{
	return kind == FC_CODEC_UTF16 || (kind > FC_CODEC_NONE && formats[kind].start != NULL);
}

const char *
fc_codec_lacks(FcCodecKind kind)
{
	return formats[kind].packages;
}

FcCodec *
fc_codec_begin(FcCodecKind kind, size_t memory)
{
	FcCodec    *codec = calloc(1, sizeof(FcCodec));

	if (codec == NULL)
		return NULL;
	codec->kind = kind;
	codec->reason = "";
	codec->own = formats[kind].start(memory > FC_CODEC_LEAST ? memory : FC_CODEC_LEAST);
	if (codec->own)
		return codec;
	free(codec);
	return NULL;
}

void
fc_codec_end(FcCodec *codec)
{
	formats[codec->kind].end(codec->own);
	free(codec);
}

/*
 * Is it certain, by the bytes seen after a member, that they begin no other
 * one?
 */
static bool
fc_codec_is_garbage(const FcCodec *codec)
{
	size_t		len = codec->taken < FC_CODEC_MAGIC ? codec->taken : FC_CODEC_MAGIC;

	if (codec->members == 0)
		return false;
	if ((codec->kind == FC_CODEC_ZSTD || codec->kind == FC_CODEC_LZ4) && len >= 4 &&
		fc_codec_skips(codec->head))
		return false;
	if (codec->kind == FC_CODEC_BZIP2)
		return memcmp(codec->head, "BZh", len < 3 ? len : 3) != 0;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (magics[i].kind == codec->kind)
			return memcmp(codec->head, magics[i].bytes,
						  len < magics[i].len ? len : magics[i].len) != 0;
	return false;
}

/* Passes over zeros that may follow a member; false if what follows may not */
static bool
fc_codec_pad(FcCodec *codec, FcCodecIo *io)
{
	if (codec->state == FC_CODEC_BETWEEN && io->in[io->in_pos] == '\0')
	{
		codec->state = FC_CODEC_PADDING;
		codec->taken = 0;
	}
	if (codec->state != FC_CODEC_PADDING)
		return true;
	while (io->in_pos < io->in_len && io->in[io->in_pos] == '\0')
	{
		io->in_pos++;
		codec->taken++;
	}
	if (io->in_pos == io->in_len)
		return true;
	if (codec->kind != FC_CODEC_XZ || codec->taken % 4 != 0)
		return false;
	codec->state = FC_CODEC_BETWEEN;
	return true;
}

/*
 * Before the first member, and after each: lets the next one begin, or takes
 * padding
 */
static FcCodecResult
fc_codec_between(FcCodec *codec, FcCodecIo *io)
{
	bool		(*restart) (void *) = formats[codec->kind].restart;

	if (io->in_pos == io->in_len)
		return FC_CODEC_OK;
	if (codec->kind == FC_CODEC_ZIP && codec->members > 0)
		return FC_CODEC_GARBAGE;
	if ((codec->kind == FC_CODEC_GZIP || codec->kind == FC_CODEC_XZ) &&
		codec->members > 0 && !fc_codec_pad(codec, io))
		return FC_CODEC_GARBAGE;
	if (codec->state == FC_CODEC_PADDING)
		return FC_CODEC_OK;
	if (codec->used && restart && !restart(codec->own))
		return FC_CODEC_OUT_OF_MEMORY;
	codec->state = FC_CODEC_INSIDE;
	codec->taken = 0;
	return FC_CODEC_OK;
}

FcCodecResult
fc_codec_step(FcCodec *codec, FcCodecIo *io)
{
	size_t		in;
	size_t		out = io->out_pos;
	bool		end = false;
	const char *reason = NULL;
	FcCodecResult result;

	if (codec->state != FC_CODEC_INSIDE)
	{
		result = fc_codec_between(codec, io);
		if (result != FC_CODEC_OK || codec->state != FC_CODEC_INSIDE)
			return result;
	}
	in = io->in_pos;
	/* a library may take any number of bytes before it complains */
	for (size_t n = 0; codec->taken + n < FC_CODEC_MAGIC && in + n < io->in_len; n++)
		codec->head[codec->taken + n] = io->in[in + n];
	result = formats[codec->kind].step(codec->own, io, &end, &reason);
	/* a library that complains has seen all of the input, whatever it took */
	codec->taken += (result == FC_CODEC_CORRUPT ? io->in_len : io->in_pos) - in;
	if (result == FC_CODEC_CORRUPT && fc_codec_is_garbage(codec))
		return FC_CODEC_GARBAGE;
	codec->reason = reason ? reason : "";
	if (result != FC_CODEC_OK)
		return result;
	/* a library that neither goes on nor ends cannot read its input */
	if (!end && io->in_pos == in && io->out_pos == out &&
		io->in_pos < io->in_len && io->out_pos < io->out_len)
		return FC_CODEC_CORRUPT;
	if (end && codec->taken > 0)
	{
		codec->state = FC_CODEC_BETWEEN;
		codec->used = true;
		codec->members++;
	}
	return FC_CODEC_OK;
}

void
fc_codec_go_on(FcCodec *codec, bool follows)
{
	codec->members = follows ? 1 : 0;
}

bool
fc_codec_is_between(const FcCodec *codec)
{
	return codec->state == FC_CODEC_BETWEEN && codec->members > 0;
}

FcCodecResult
fc_codec_finish(const FcCodec *codec)
{
	if (codec->members == 0)
		return FC_CODEC_CORRUPT;
	if (codec->state == FC_CODEC_BETWEEN)
		return FC_CODEC_OK;
	if (codec->state == FC_CODEC_PADDING)
		return codec->kind == FC_CODEC_XZ && codec->taken % 4 != 0 ?
			FC_CODEC_GARBAGE : FC_CODEC_OK;
	return fc_codec_is_garbage(codec) ? FC_CODEC_GARBAGE : FC_CODEC_CORRUPT;
}

size_t
fc_codec_memory(const FcCodec *codec)
{
	size_t		(*memory) (const void *) = formats[codec->kind].memory;

	return memory ? memory(codec->own) : 0;
}

const char *
fc_codec_reason(const FcCodec *codec)
{
	return codec->reason;
}
