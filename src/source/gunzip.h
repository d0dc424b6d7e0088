/*-------------------------------------------------------------------------
 *
 * source/gunzip.h
 *	  Unpacks one member of a gzip file, or deflated data, by ISA-L or by zlib;
 *	  what a step of unpacking takes, gives and says.
 *
 * Pure C: nothing here knows the server, and nothing throws.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_GUNZIP_H
#define FC_GUNZIP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a step of unpacking says, of any format */
typedef enum FcCodecResult
{
	FC_CODEC_OK,				/* all is well so far */
	FC_CODEC_CORRUPT,
	FC_CODEC_GARBAGE,			/* something else follows the data */
	FC_CODEC_REFUSES,			/* sound, but not to be unpacked here: the
								 * reason says why */
	FC_CODEC_DICTIONARY,		/* packed with one, which is not here */
	FC_CODEC_TOO_BIG,			/* needs more memory than it may have */
	FC_CODEC_OUT_OF_MEMORY
} FcCodecResult;

/* Where a step takes bytes from, and where it puts them */
typedef struct FcCodecIo
{
	const char *in;
	size_t		in_len;
	size_t		in_pos;			/* bytes taken */
	char	   *out;
	size_t		out_len;
	size_t		out_pos;		/* bytes put */
} FcCodecIo;

/* As many of n bytes as a library takes that counts by unsigned int */
static inline unsigned int
fc_codec_count(size_t n)
{
	return n > UINT_MAX ? UINT_MAX : (unsigned int) n;
}

/*
 * Lend bytes to a library that calls them as zlib does, and take back what it
 * left of them
 */
#define fc_codec_lend(stream, io) \
	((stream)->next_in = (void *) ((io)->in + (io)->in_pos), \
	 (stream)->avail_in = fc_codec_count((io)->in_len - (io)->in_pos), \
	 (stream)->next_out = (void *) ((io)->out + (io)->out_pos), \
	 (stream)->avail_out = fc_codec_count((io)->out_len - (io)->out_pos))
#define fc_codec_take_back(stream, io) \
	((io)->in_pos = (const char *) (stream)->next_in - (io)->in, \
	 (io)->out_pos = (char *) (stream)->next_out - (io)->out)

/* Unpacks a member of a gzip file: an FcFormat of source/codec.c */
extern void *fc_gunzip_start(size_t memory);
extern void fc_gunzip_end(void *own);
extern FcCodecResult fc_gunzip_step(void *own, FcCodecIo *io, bool *end, const char **reason);
extern bool fc_gunzip_restart(void *own);

/*
 * The first lets it begin anew with deflated data that have no header or sums.
 * After their end the second gives the bytes, at most 8, that it has taken of
 * what follows.  The third is gzip's checksum, of more bytes; it begins at 0.
 */
extern bool fc_gunzip_bare(void *own);
extern size_t fc_gunzip_rest(void *own, unsigned char *rest);
extern uint32_t fc_gunzip_sum(uint32_t sum, const char *bytes, size_t len);

#endif							/* FC_GUNZIP_H */
