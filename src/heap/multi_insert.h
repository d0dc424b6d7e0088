/*-------------------------------------------------------------------------
 *
 * heap/multi_insert.h
 *	  The writer that is right for any table: heap_multi_insert.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MULTI_INSERT_H
#define FC_MULTI_INSERT_H

#include "heap/insert.h"

extern const FcWriterRoutine fc_write_multi;

#endif							/* FC_MULTI_INSERT_H */
