/*-------------------------------------------------------------------------
 *
 * fc_write_multi.h
 *	  The writer that is right for any table: heap_multi_insert.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITE_MULTI_H
#define FC_WRITE_MULTI_H

#include "fc_write.h"

extern const FcWriterRoutine fc_write_multi;

#endif							/* FC_WRITE_MULTI_H */
