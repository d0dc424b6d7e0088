/*-------------------------------------------------------------------------
 *
 * services.c
 *	  The functions of fast_copy, under their names.
 *
 * They come with the first call of fast_copy's for the functions of this
 * library (cluster.c).  What a session calls without fast_copy,
 * fast_copy_resolve() and its view, needs none of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "services.h"

static const FcServices *services = NULL;

void
fc_services_take(const FcServices *given)
{
	services = given;
}

#define FC_SERVICE_BODY(result, function, parameters, arguments) \
	result function parameters { return services->function arguments; }

FC_SERVICES(FC_SERVICE_BODY)
