/*-------------------------------------------------------------------------
 *
 * source/unzip.h
 *	  Unpacks the one member of a zip file, read from its front to its end.
 *
 * Pure C: nothing here knows the server, and nothing throws.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_UNZIP_H
#define FC_UNZIP_H

#include "source/gunzip.h"

/* An FcFormat of source/codec.c */
extern void *fc_unzip_start(size_t memory);
extern void fc_unzip_end(void *own);
extern FcCodecResult fc_unzip_step(void *own, FcCodecIo *io, bool *end, const char **reason);
extern bool fc_unzip_restart(void *own);

#endif							/* FC_UNZIP_H */
