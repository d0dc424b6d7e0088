/*-------------------------------------------------------------------------
 *
 * source/gunzip.h
 *	  Unpacks one member of a gzip file, by ISA-L or by zlib.
 *
 * Pure C: nothing here knows the server, and nothing throws.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_GUNZIP_H
#define FC_GUNZIP_H

#include "source/codec_io.h"

typedef struct FcGunzip FcGunzip;

/* NULL: there is no memory.  fc_gunzip_end must be called for it. */
extern FcGunzip *fc_gunzip_begin(void);
extern void fc_gunzip_end(FcGunzip *gunzip);

/* Lets another member begin; false if it cannot */
extern bool fc_gunzip_restart(FcGunzip *gunzip);

/*
 * Goes on with the member, see fc_codec_step.  Sets *end once the member has
 * ended, with its sums right, and *reason where it is corrupt; NULL: unknown.
 */
extern FcCodecResult fc_gunzip_step(FcGunzip *gunzip, FcCodecIo *io, bool *end,
									const char **reason);

#endif							/* FC_GUNZIP_H */
