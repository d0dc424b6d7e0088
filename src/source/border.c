/*-------------------------------------------------------------------------
 *
 * source/border.c
 *	  Where a member of packed data seems to begin.
 *
 *	 bytes ──► magic of the format ──► header that makes sense ──► a guess
 *
 * Packed data may look like a member, in a hostile file on purpose.  So the
 * caller must see whether the member before ends there.  Headers are checked
 * closely, because a wrong guess is unpacked in vain.
 *
 *-------------------------------------------------------------------------
 */
#include "source/codec.h"

#include <string.h>

/* The largest block of zstd, whatever its window */
#define ZSTD_BLOCK	(128 * 1024)

/* Flags, extra flags and system as compressors write them */
static bool
begins_gzip(const unsigned char *b)
{
	return b[1] == 0x8b && b[2] == 8 && (b[3] & 0xe0) == 0 &&
		(b[8] == 0 || b[8] == 2 || b[8] == 4) && (b[9] <= 13 || b[9] == 255);
}

/* The frame's header, and that of its first block */
static bool
begins_zstd(const unsigned char *b)
{
	static const unsigned char dictionary[] = {0, 1, 2, 4};
	static const unsigned char content[] = {0, 2, 4, 8};
	unsigned int flags = b[4];
	bool		single = (flags & 0x20) != 0;
	const unsigned char *block = b + 5 + (single ? 0 : 1) + dictionary[flags & 3] +
		(flags >> 6 == 0 && single ? 1 : content[flags >> 6]);
	unsigned int header = block[0] | block[1] << 8 | block[2] << 16;

	return memcmp(b, "\x28\xb5\x2f\xfd", 4) == 0 && (flags & 0x08) == 0 &&
		(header >> 1 & 3) != 3 && header >> 3 <= ZSTD_BLOCK;
}

/* Bytes of the frame that tells the size of the next one, as pzstd has it */
#define PZSTD_FRAME	12

static bool
begins_lz4(const unsigned char *b)
{
	return memcmp(b, "\x04\x22\x4d\x18", 4) == 0 && (b[4] & 0xc2) == 0x40 &&
		(b[5] & 0x8f) == 0 && b[5] >> 4 >= 4;
}

static bool
begins_bzip2(const unsigned char *b)
{
	return fc_codec_detect((const char *) b, FC_BORDER_HEAD, NULL) == FC_CODEC_BZIP2;
}

/* Of the flags only four bits are in use */
static bool
begins_xz(const unsigned char *b)
{
	return memcmp(b, "\xfd" "7zXZ\0\0", 7) == 0 && (b[7] & 0xf0) == 0;
}

/* What the members of a format begin with: a byte to look for, and the rest */
static const struct
{
	int			byte;
	bool		(*begins) (const unsigned char *b);
}			borders[FC_CODEC_REFUSED] = {
	[FC_CODEC_GZIP] = {0x1f, begins_gzip},
	[FC_CODEC_ZSTD] = {0x28, begins_zstd},
	[FC_CODEC_LZ4] = {0x04, begins_lz4},
	[FC_CODEC_BZIP2] = {'B', begins_bzip2},
	[FC_CODEC_XZ] = {0xfd, begins_xz}
};

bool
fc_border_is_there(FcCodecKind kind)
{
	return kind > FC_CODEC_NONE && kind < FC_CODEC_REFUSED && borders[kind].begins != NULL;
}

size_t
fc_border_find(FcCodecKind kind, const char *buf, size_t len)
{
	size_t		end = len < FC_BORDER_HEAD ? 0 : len - FC_BORDER_HEAD + 1;

	if (!fc_border_is_there(kind))
		return len;
	for (size_t at = 0; at < end; at++)
	{
		const char *found = memchr(buf + at, borders[kind].byte, end - at);

		if (found == NULL)
			break;
		at = (size_t) (found - buf);
		if (borders[kind].begins((const unsigned char *) found))
			return kind == FC_CODEC_ZSTD && at >= PZSTD_FRAME && (found[-PZSTD_FRAME] & 0xf0) == 0x50 &&
				memcmp(found - PZSTD_FRAME + 1, "\x2a\x4d\x18\4\0\0\0", 7) == 0 ? at - PZSTD_FRAME : at;
	}
	return len;
}
