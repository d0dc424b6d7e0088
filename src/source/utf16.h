/*-------------------------------------------------------------------------
 *
 * source/utf16.h
 *	  Text in UTF-16, made UTF-8 as it is read.
 *
 * Pure C: nothing here knows the server, and nothing throws.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_UTF16_H
#define FC_UTF16_H

#include <stdbool.h>
#include <stddef.h>

/* What is known of the encoding before the first bytes are seen */
typedef enum FcUtf16Hint
{
	FC_UTF16_NEVER,				/* it is another one */
	FC_UTF16_MARKED,			/* UTF-8, or UTF-16 after its mark */
	FC_UTF16_ANY,				/* UTF-16 in an order that is not told */
	FC_UTF16_LE,
	FC_UTF16_BE
} FcUtf16Hint;

typedef struct FcUtf16
{
	bool		is;				/* it is UTF-16 */
	bool		big;			/* the higher byte of a unit comes first */
	bool		begun;			/* more than a mark has been read */
	bool		odd;			/* half a unit has been */
	unsigned char half;
	unsigned int high;			/* of a pair of surrogates; 0: none waits */
} FcUtf16;

/*
 * Tells by the first bytes, all or at least two of them, whether the text is
 * UTF-16.  A mark says more than a hint about the order.  Without either the
 * zeros of ASCII tell.
 */
extern void fc_utf16_begin(FcUtf16 *utf16, FcUtf16Hint hint, const char *head, size_t len);

/*
 * Reads from *in on up to "end", and writes up to "room" bytes, of which there
 * must be FC_UTF16_LEAST; returns how many.  A surrogate without its other half
 * becomes bytes that are not valid in UTF-8, for an error that tells the line.
 */
#define FC_UTF16_LEAST	6
extern size_t fc_utf16_convert(FcUtf16 *utf16, const char **in, const char *end, char *out, size_t room);

/* Writes what waits at the end, up to FC_UTF16_LEAST bytes; returns how many */
extern size_t fc_utf16_end(FcUtf16 *utf16, char *out);

#endif							/* FC_UTF16_H */
