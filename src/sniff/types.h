/*-------------------------------------------------------------------------
 *
 * sniff/types.h
 *	  The types of the columns, and what stands for NULL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_TYPES_H
#define FC_SNIFF_TYPES_H

#include "sniff/columns.h"

/* Decides on both, after columns have their names */
extern void fc_types_decide(FcTable *table);

#endif							/* FC_SNIFF_TYPES_H */
