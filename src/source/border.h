/*-------------------------------------------------------------------------
 *
 * source/border.h
 *	  Where a member of packed data seems to begin.
 *
 * Pure C: nothing here knows the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_BORDER_H
#define FC_BORDER_H

#include "source/codec.h"

/* So many bytes are looked at to tell whether a member begins with the first */
#define FC_BORDER_HEAD	32

/*
 * The first of the bytes with which a member seems to begin.  Those too near
 * to the end to be looked at are passed over; len if there is none.
 */
extern size_t fc_border_find(FcCodecKind kind, const char *buf, size_t len);

#endif							/* FC_BORDER_H */
