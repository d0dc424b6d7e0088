/*-------------------------------------------------------------------------
 *
 * services.c
 *	  The functions of fast_copy, under their names.
 *
 * fast_copy hands them over when it first asks for the functions of this
 * library (cluster.c).  fast_copy_resolve() and its view, which a session may
 * call without fast_copy, need none of them.
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
