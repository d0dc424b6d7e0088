/*-------------------------------------------------------------------------
 *
 * elsewhere/elsewhere.c
 *	  Finds the functions that send rows to other servers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/extension.h"

#include "elsewhere/elsewhere.h"

static const FcElsewhere *functions = NULL;

const FcElsewhere *
fc_elsewhere(const char **why)
{
	functions = fc_cluster_functions();
	return functions;
}

const FcElsewhere *
fc_elsewhere_need(const char *option)
{
	const char *why;
	const FcElsewhere *found = fc_elsewhere(&why);

	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("option \"%s\" needs extension \"%s\"", option, FC_ELSEWHERE_EXTENSION),
				 errdetail_internal("%s", why)));
	return found;
}

const FcElsewhere *
fc_elsewhere_get(void)
{
	return functions;
}
