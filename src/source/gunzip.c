/*-------------------------------------------------------------------------
 *
 * source/gunzip.c
 *	  Unpacks one member of a gzip file, or deflated data, by ISA-L or by zlib.
 *
 * ISA-L is faster, and used if the build finds its headers (HAVE_ISAL,
 * libraries.mk).  It takes a member's header in pieces only if it is asked for
 * the header alone.  A unit test sees that both unpack, and refuse, the same
 * files.
 *
 *-------------------------------------------------------------------------
 */
#include "source/gunzip.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#elif defined(HAVE_ZLIB)
#include <zlib.h>
#endif

#ifdef HAVE_ISAL

/* Flags of a member's header that no format defines: zlib refuses them */
#define FLAGS_RESERVED	0xe0

typedef struct Gunzip
{
	bool		body;			/* the header has been read */
	struct isal_gzip_header header;
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

	gunzip->body = false;
	/* without memory for the name, and so on, it passes over them */
	memset(&gunzip->header, 0, sizeof(gunzip->header));
	isal_inflate_reset(&gunzip->state);
	return true;
}

bool
fc_gunzip_bare(void *own)
{
	Gunzip	   *gunzip = own;

	(void) fc_gunzip_restart(gunzip);
	gunzip->body = true;
	gunzip->state.crc_flag = ISAL_DEFLATE;
	return true;
}

size_t
fc_gunzip_rest(void *own, unsigned char *rest)
{
	struct inflate_state *state = &((Gunzip *) own)->state;
	size_t		n = (size_t) state->read_in_length / 8;

	/* what is left of the last byte belongs to the data */
	for (size_t i = 0; i < n; i++)
		rest[i] = (unsigned char) (state->read_in >> (state->read_in_length % 8 + 8 * i));
	return n;
}

uint32_t
fc_gunzip_sum(uint32_t sum, const char *bytes, size_t len)
{
	return crc32_gzip_refl(sum, (const unsigned char *) bytes, len);
}

static const char *
gunzip_reason(const Gunzip *gunzip, int rc)
{
	switch (rc)
	{
		case ISAL_INVALID_WRAPPER:
			return "incorrect header check";
		case ISAL_UNSUPPORTED_METHOD:
			return "unknown compression method";
		case ISAL_INVALID_BLOCK:
			return "invalid block";
		case ISAL_INVALID_SYMBOL:
			return "invalid code";
		case ISAL_INVALID_LOOKBACK:
			return "invalid distance too far back";
		case ISAL_INCORRECT_CHECKSUM:
			return gunzip->body ? "incorrect data check" : "header crc mismatch";
		default:
			return NULL;
	}
}

FcCodecResult
fc_gunzip_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	Gunzip	   *gunzip = own;
	struct inflate_state *state = &gunzip->state;
	int			rc = ISAL_DECOMP_OK;

	fc_codec_lend(state, io);
	if (!gunzip->body)
	{
		rc = isal_read_gzip_header(state, &gunzip->header);
		if ((gunzip->header.flags & FLAGS_RESERVED) != 0)
			*reason = "unknown header flags set";
	}
	if (rc == ISAL_DECOMP_OK && *reason == NULL)
	{
		gunzip->body = true;
		rc = isal_inflate(state);
	}
	fc_codec_take_back(state, io);
	*end = gunzip->body && rc == ISAL_DECOMP_OK &&
		state->block_state == ISAL_BLOCK_FINISH;
	if (*reason == NULL && (rc == ISAL_DECOMP_OK || rc == ISAL_END_INPUT))
		return FC_CODEC_OK;
	if (*reason == NULL)
		*reason = gunzip_reason(gunzip, rc);
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

bool
fc_gunzip_bare(void *own)
{
	return inflateReset2(own, -15) == Z_OK;
}

size_t
fc_gunzip_rest(void *own, unsigned char *rest)
{
	return 0;
}

uint32_t
fc_gunzip_sum(uint32_t sum, const char *bytes, size_t len)
{
	return (uint32_t) crc32_z(sum, (const Bytef *) bytes, len);
}

FcCodecResult
fc_gunzip_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	z_stream   *z = own;
	int			rc;

	fc_codec_lend(z, io);
	rc = inflate(z, Z_NO_FLUSH);
	fc_codec_take_back(z, io);
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
