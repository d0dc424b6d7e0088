/*-------------------------------------------------------------------------
 *
 * source/codec_io.h
 *	  What a step of unpacking takes, gives and says.
 *
 * Pure C: nothing here knows the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CODEC_IO_H
#define FC_CODEC_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FcCodecResult
{
	FC_CODEC_OK,				/* all is well so far */
	FC_CODEC_CORRUPT,
	FC_CODEC_GARBAGE,			/* something else follows the data */
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

#endif							/* FC_CODEC_IO_H */
