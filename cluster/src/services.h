/*-------------------------------------------------------------------------
 *
 * services.h
 *	  The functions of fast_copy, under their names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CLUSTER_SERVICES_H
#define FC_CLUSTER_SERVICES_H

#include "elsewhere/services.h"

/* Notes where the functions are; before one of them is called */
extern void fc_services_take(const FcServices *given);

#endif							/* FC_CLUSTER_SERVICES_H */
