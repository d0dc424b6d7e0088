/*-------------------------------------------------------------------------
 *
 * border.c
 *	  Borders between members: source/border.c and source/codec.c against the
 *	  libraries that pack.
 *
 * Members of all sizes and settings are packed one after the other.  Each of
 * their beginnings must be found, in buffers of any size, and the data must be
 * unpacked from each of them on, and stop at each, to the same bytes.  Then come
 * bytes that are no members: random ones, and headers with one byte changed.
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "source/codec.h"

#define MOST	(2 * 1024 * 1024)	/* bytes, packed or not */
#define MEMBERS	60

typedef struct Packed
{
	FcCodecKind kind;
	size_t		n;				/* members */
	size_t		start[MEMBERS + 1]; /* of each, and the end */
	size_t		plain[MEMBERS + 1]; /* where its bytes begin unpacked */
	size_t		len;
	char		data[MOST];
} Packed;

static char plain[MOST];
static char got[MOST];
static Packed packed;

static unsigned int
any(unsigned int limit)
{
	static uint64_t seed = 7;

	return made_up(&seed, limit);
}

static void
make_plain(char *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = i > 300 && any(4) > 0 ? buf[i - 1 - any(300)] : (char) ('a' + any(26));
}

static size_t
pack_gzip(const char *from, size_t len, char *to)
{
	z_stream	z;

	memset(&z, 0, sizeof(z));
	deflateInit2(&z, 1 + (int) any(9), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	z.next_in = (Bytef *) from;
	z.avail_in = (uInt) len;
	z.next_out = (Bytef *) to;
	z.avail_out = MOST / 4;
	deflate(&z, Z_FINISH);
	len = MOST / 4 - z.avail_out;
	deflateEnd(&z);
	return len;
}

/* With and without checksum, size and the frame that pzstd writes before */
static size_t
pack_zstd(const char *from, size_t len, char *to)
{
	ZSTD_CCtx  *ctx = ZSTD_createCCtx();
	size_t		before = 0;

	ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, (int) any(20) - 3);
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, (int) any(2));
	ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, (int) any(2));
	if (any(3) == 0)
		before = 12;
	len = ZSTD_compress2(ctx, to + before, MOST / 4, from, len);
	if (before > 0)
	{
		memcpy(to, "\x50\x2a\x4d\x18\4\0\0\0", 8);
		for (int i = 0; i < 4; i++)
			to[8 + i] = (char) (len >> (8 * i));
	}
	ZSTD_freeCCtx(ctx);
	return before + len;
}

static size_t
pack_lz4(const char *from, size_t len, char *to)
{
	LZ4F_preferences_t how;

	memset(&how, 0, sizeof(how));
	how.frameInfo.blockSizeID = any(2) ? LZ4F_default : (LZ4F_blockSizeID_t) (LZ4F_max64KB + any(4));
	how.frameInfo.blockMode = any(2) ? LZ4F_blockLinked : LZ4F_blockIndependent;
	how.frameInfo.contentChecksumFlag = any(2) ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
	how.frameInfo.contentSize = any(2) ? len : 0;
	return LZ4F_compressFrame(to, MOST / 4, from, len, &how);
}

static size_t
pack_bzip2(const char *from, size_t len, char *to)
{
	unsigned int n = MOST / 4;

	BZ2_bzBuffToBuffCompress(to, &n, (char *) from, (unsigned int) len, 1 + (int) any(9), 0, 0);
	return n;
}

static size_t
pack_xz(const char *from, size_t len, char *to)
{
	static const lzma_check checks[] = {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256};
	size_t		n = 0;

	lzma_easy_buffer_encode(0, checks[any(4)], NULL, (const uint8_t *) from, len,
							(uint8_t *) to, &n, MOST / 4);
	return n;
}

static void
make_packed(FcCodecKind kind, size_t (*pack) (const char *, size_t, char *), size_t n, unsigned int largest)
{
	size_t		at = 0;

	packed.kind = kind;
	packed.n = n;
	packed.len = 0;
	for (size_t i = 0; i < n; i++)
	{
		size_t		len = any(5) == 0 ? any(3) : any(largest);

		make_plain(plain + at, len);
		packed.start[i] = packed.len;
		packed.plain[i] = at;
		packed.len += pack(plain + at, len, packed.data + packed.len);
		at += len;
	}
	packed.start[n] = packed.len;
	packed.plain[n] = at;
}

/* fc_border_find in a buffer that ends where it says, for the sanitizers */
static size_t
find_exactly(FcCodecKind kind, const char *from, size_t len)
{
	char	   *buf = malloc(len > 0 ? len : 1);
	size_t		at;

	memcpy(buf, from, len);
	at = fc_border_find(kind, buf, len);
	free(buf);
	return at;
}

/*
 * Is each beginning the first that is found after the one before?  Of those too
 * near to the end none is.
 */
static bool
finds_all(void)
{
	for (size_t i = 0; i < packed.n; i++)
	{
		/* behind the first byte of the member before, and of the frame before it */
		size_t		from = i == 0 ? 0 : packed.start[i - 1] + 1 +
			(packed.data[packed.start[i - 1]] == 0x50 ? 12 : 0);
		size_t		len = packed.len - from;
		/* a frame that tells of the next one is known by that */
		size_t		least = packed.start[i] - from + FC_BORDER_HEAD +
			(packed.data[packed.start[i]] == 0x50 ? 12 : 0);

		if (least > len)
			continue;
		if (find_exactly(packed.kind, packed.data + from, len) != packed.start[i] - from ||
			find_exactly(packed.kind, packed.data + from, least - 1) != least - 1 ||
			find_exactly(packed.kind, packed.data + from, least) != packed.start[i] - from)
		{
			printf("# member %zu at %zu\n", i, packed.start[i]);
			return false;
		}
	}
	return true;
}

/* Unpacks from a member on until one ends at or after "border"; where it ended */
static size_t
unpack(size_t from, size_t border, size_t *len)
{
	FcCodec    *codec = fc_codec_begin(packed.kind, FC_CODEC_LEAST);
	FcCodecIo	io = {packed.data, from, from, got, MOST, 0};
	size_t		end = SIZE_MAX;

	if (from > 0)
		fc_codec_go_on(codec, true);
	for (;;)
	{
		size_t		in = io.in_pos;
		size_t		out = io.out_pos;

		if (fc_codec_step(codec, &io) != FC_CODEC_OK)
			break;
		if (fc_codec_is_between(codec) && io.in_pos > from && io.in_pos >= border)
		{
			end = io.in_pos;
			break;
		}
		if (io.in_pos != in || io.out_pos != out)
			continue;
		if (io.in_len == packed.len)
			break;
		io.in_len += 1 + any(5000);
		if (io.in_len > packed.len)
			io.in_len = packed.len;
	}
	*len = io.out_pos;
	fc_codec_end(codec);
	return end;
}

/*
 * From each member to any border after it: the bytes are those packed.  The
 * frame before a frame is a member, too.
 */
static bool
unpacks_between(void)
{
	for (size_t i = 0; i < packed.n; i++)
	{
		size_t		last = i + 1 + any((unsigned int) (packed.n - i));
		size_t		border = packed.start[last] - any(2) * any((unsigned int) (packed.start[last] - packed.start[last - 1]));
		size_t		len;
		size_t		end = unpack(packed.start[i], border, &len);
		bool		frame = packed.data[packed.start[last - 1]] == 0x50 &&
			end == packed.start[last - 1] + 12;

		if ((end != packed.start[last] && !frame) ||
			len != packed.plain[frame ? last - 1 : last] - packed.plain[i] ||
			memcmp(got, plain + packed.plain[i], len) != 0)
		{
			printf("# from member %zu to %zu: %zu bytes up to %zu\n", i, border, len, end);
			return false;
		}
	}
	return true;
}

/* Faults after a member are told from those of the first one */
static bool
follows(FcCodecKind kind)
{
	FcCodec    *codec = fc_codec_begin(kind, FC_CODEC_LEAST);
	FcCodecIo	io = {"garbage and more of it", 22, 0, got, MOST, 0};
	FcCodecResult result;

	fc_codec_go_on(codec, true);
	result = fc_codec_finish(codec) == FC_CODEC_OK ? fc_codec_step(codec, &io) : FC_CODEC_OK;
	fc_codec_end(codec);
	return result == FC_CODEC_GARBAGE;
}

/* Random bytes, and those that all are the first of a magic */
static bool
finds_none(FcCodecKind kind)
{
	size_t		none = 0;

	for (size_t i = 0; i < MOST; i++)
		got[i] = (char) any(256);
	for (size_t len = 0; len < MOST; len += 1 + len / 2)
		none += find_exactly(kind, got, len) != len;
	for (int byte = 0; byte < 256; byte++)
	{
		memset(got, byte, 1000);
		none += find_exactly(kind, got, 1000) != 1000;
	}
	return none == 0;
}

/* A header with one byte changed: never found elsewhere, never read beyond */
static bool
finds_in_place(void)
{
	for (int i = 0; i < 5000; i++)
	{
		size_t		len = packed.len < 200 ? packed.len : 200;
		size_t		at;

		memcpy(got, packed.data, len);
		got[any(FC_BORDER_HEAD)] = (char) any(256);
		at = find_exactly(packed.kind, got, len);
		if (at != 0 && at != len && at != 12)
		{
			printf("# found at %zu\n", at);
			return false;
		}
	}
	return true;
}

static void
check_kind(FcCodecKind kind, size_t (*pack) (const char *, size_t, char *))
{
	const char *name = fc_codec_name(kind);
	char		text[128];
	bool		all = true;
	bool		unpacks = true;

	for (int i = 0; i < 40; i++)
	{
		make_packed(kind, pack, 1 + any(MEMBERS), i % 2 ? 300 : 20000);
		all = finds_all() && all;
		unpacks = unpacks_between() && unpacks;
	}
	snprintf(text, sizeof(text), "%s: each member is found", name);
	ok(all, text);
	snprintf(text, sizeof(text), "%s: from each member to each border", name);
	ok(unpacks, text);
	snprintf(text, sizeof(text), "%s: what follows a member", name);
	ok(follows(kind), text);
	snprintf(text, sizeof(text), "%s: no member among other bytes", name);
	ok(finds_none(kind), text);
	make_packed(kind, pack, 1, 20000);
	snprintf(text, sizeof(text), "%s: headers that are damaged", name);
	ok(finds_in_place(), text);
}

int
main(void)
{
	check_kind(FC_CODEC_GZIP, pack_gzip);
	check_kind(FC_CODEC_ZSTD, pack_zstd);
	check_kind(FC_CODEC_LZ4, pack_lz4);
	check_kind(FC_CODEC_BZIP2, pack_bzip2);
	check_kind(FC_CODEC_XZ, pack_xz);
	ok(find_exactly(FC_CODEC_NONE, "\x1f\x8b\x08", 3) == 3, "plain data have no borders");
	return done_testing();
}
