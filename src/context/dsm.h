/*-------------------------------------------------------------------------
 *
 * context/dsm.h
 *	  Segments of shared memory, of which a crash leaves nothing behind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DSM_H
#define FC_DSM_H

#include "storage/dsm.h"

/* As dsm_create(), which it is where segments are no files of POSIX */
extern dsm_segment *fc_dsm_create(Size size, int flags);

#endif							/* FC_DSM_H */
