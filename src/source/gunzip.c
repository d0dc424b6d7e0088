/*-------------------------------------------------------------------------
 *
 * source/gunzip.c
 *	  Unpacks one member of a gzip file, by ISA-L or by zlib.
 *
 * ISA-L is faster, and used if the build finds its headers (HAVE_ISAL,
 * libraries.mk).  It takes a member's header in one piece only: so the header
 * is read here, with zlib's checks.  A unit test sees that both unpack, and
 * refuse, the same files.
 *
 *-------------------------------------------------------------------------
 */
#include "source/gunzip.h"

#include <stdlib.h>

#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#elif defined(HAVE_ZLIB)
#include <zlib.h>
#endif

#ifdef HAVE_ISAL

/* Flags of a member's header; zlib refuses those that no format defines */
#define HAS_HCRC		0x02
#define HAS_EXTRA		0x04
#define HAS_NAME		0x08
#define HAS_COMMENT		0x10
#define HAS_RESERVED	0xe0

/* What of a member comes next; ISA-L reads a header from one piece only */
typedef enum GunzipPart
{
	PART_FIXED,
	PART_EXTRA_LENGTH,
	PART_EXTRA,
	PART_NAME,
	PART_COMMENT,
	PART_HCRC,
	PART_BODY
}			GunzipPart;

typedef struct Gunzip
{
	GunzipPart	part;
	unsigned int at;			/* bytes of the part that were taken */
	unsigned int flags;
	unsigned int number;		/* of two bytes: extra length, then sum */
	uint32_t	crc;			/* of the header's bytes */
	struct inflate_state state;
}			Gunzip;

void *
fc_gunzip_start(size_t memory)
{
	Gunzip	   *gunzip = malloc(sizeof(Gunzip));

	if (gunzip == NULL)
		return NULL;
	isal_inflate_init(&gunzip->state);
	gunzip->state.crc_flag = ISAL_GZIP_NO_HDR_VER;
	(void) fc_gunzip_restart(gunzip);
	return gunzip;
}

void
fc_gunzip_end(void *own)
{
	free(own);
}

bool
fc_gunzip_restart(void *own)
{
	Gunzip	   *gunzip = own;

	gunzip->part = PART_FIXED;
	gunzip->at = gunzip->flags = gunzip->number = 0;
	gunzip->crc = 0;
	isal_inflate_reset(&gunzip->state);
	return true;
}

static const char *
gunzip_reason(int rc)
{
	switch (rc)
	{
		case ISAL_INVALID_BLOCK:
			return "invalid block";
		case ISAL_INVALID_SYMBOL:
			return "invalid code";
		case ISAL_INVALID_LOOKBACK:
			return "invalid distance too far back";
		case ISAL_INCORRECT_CHECKSUM:
			return "incorrect data check";
		default:
			return NULL;
	}
}

/* Goes on to the next part that the header has */
static void
gunzip_end_part(Gunzip *gunzip)
{
	static const unsigned int flags[PART_BODY] = {
		0, HAS_EXTRA, HAS_EXTRA, HAS_NAME, HAS_COMMENT, HAS_HCRC
	};

	gunzip->at = 0;
	do
		gunzip->part++;
	while (gunzip->part < PART_BODY && (gunzip->flags & flags[gunzip->part]) == 0);
	if (gunzip->part == PART_EXTRA && gunzip->number == 0)
		gunzip_end_part(gunzip);
}

/* gunzip_take for the ten bytes that all headers have */
static const char *
gunzip_take_fixed(Gunzip *gunzip, unsigned char byte)
{
	switch (gunzip->at++)
	{
		case 0:
			return byte == 0x1f ? NULL : "incorrect header check";
		case 1:
			return byte == 0x8b ? NULL : "incorrect header check";
		case 2:
			return byte == 8 ? NULL : "unknown compression method";
		case 3:
			gunzip->flags = byte;
			return (byte & HAS_RESERVED) == 0 ? NULL : "unknown header flags set";
		case 9:
			gunzip_end_part(gunzip);
	}
	return NULL;
}

/* Takes a byte of the header; returns what is wrong with it, or NULL */
static const char *
gunzip_take(Gunzip *gunzip, unsigned char byte)
{
	uint32_t	before = gunzip->crc;

	gunzip->crc = crc32_gzip_refl(before, &byte, 1);
	switch (gunzip->part)
	{
		case PART_FIXED:
			return gunzip_take_fixed(gunzip, byte);
		case PART_EXTRA_LENGTH:
			gunzip->number |= (unsigned int) byte << (8 * gunzip->at);
			if (++gunzip->at == 2)
				gunzip_end_part(gunzip);
			return NULL;
		case PART_EXTRA:
			if (++gunzip->at == gunzip->number)
				gunzip_end_part(gunzip);
			return NULL;
		case PART_NAME:
		case PART_COMMENT:
			if (byte == 0)
				gunzip_end_part(gunzip);
			return NULL;
		case PART_HCRC:
			gunzip->crc = before;
			if (byte != (unsigned char) (before >> (8 * gunzip->at)))
				return "header crc mismatch";
			if (++gunzip->at == 2)
				gunzip_end_part(gunzip);
			return NULL;
		case PART_BODY:
			break;
	}
	return NULL;
}

FcCodecResult
fc_gunzip_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	Gunzip	   *gunzip = own;
	struct inflate_state *state = &gunzip->state;
	int			rc;

	while (gunzip->part != PART_BODY && io->in_pos < io->in_len && *reason == NULL)
		*reason = gunzip_take(gunzip, (unsigned char) io->in[io->in_pos++]);
	if (*reason)
		return FC_CODEC_CORRUPT;
	if (gunzip->part != PART_BODY)
		return FC_CODEC_OK;
	state->next_in = (uint8_t *) io->in + io->in_pos;
	state->avail_in = fc_codec_count(io->in_len - io->in_pos);
	state->next_out = (uint8_t *) io->out + io->out_pos;
	state->avail_out = fc_codec_count(io->out_len - io->out_pos);
	rc = isal_inflate(state);
	io->in_pos = (const char *) state->next_in - io->in;
	io->out_pos = (char *) state->next_out - io->out;
	*end = (rc == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH);
	if (rc == ISAL_DECOMP_OK)
		return FC_CODEC_OK;
	*reason = gunzip_reason(rc);
	return FC_CODEC_CORRUPT;
}

#elif defined(HAVE_ZLIB)

void *
fc_gunzip_start(size_t memory)
{
	z_stream   *z = calloc(1, sizeof(z_stream));

	/* 15 bits of window, and 16 for gzip's own header */
	if (z && inflateInit2(z, 15 + 16) == Z_OK)
		return z;
	free(z);
	return NULL;
}

void
fc_gunzip_end(void *own)
{
	(void) inflateEnd(own);
	free(own);
}

bool
fc_gunzip_restart(void *own)
{
	return inflateReset(own) == Z_OK;
}

FcCodecResult
fc_gunzip_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	z_stream   *z = own;
	int			rc;

	z->next_in = (Bytef *) io->in + io->in_pos;
	z->avail_in = fc_codec_count(io->in_len - io->in_pos);
	z->next_out = (Bytef *) io->out + io->out_pos;
	z->avail_out = fc_codec_count(io->out_len - io->out_pos);
	rc = inflate(z, Z_NO_FLUSH);
	io->in_pos = (const char *) z->next_in - io->in;
	io->out_pos = (char *) z->next_out - io->out;
	*end = (rc == Z_STREAM_END);
	switch (rc)
	{
		case Z_OK:
		case Z_STREAM_END:
		case Z_BUF_ERROR:		/* no input, or no room, is left */
			return FC_CODEC_OK;
		case Z_MEM_ERROR:
			return FC_CODEC_OUT_OF_MEMORY;
		default:
			*reason = z->msg;
			return FC_CODEC_CORRUPT;
	}
}

#endif							/* HAVE_ISAL, HAVE_ZLIB */
