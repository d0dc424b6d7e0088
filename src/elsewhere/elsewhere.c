/*-------------------------------------------------------------------------
 *
 * elsewhere/elsewhere.c
 *	  Finds the functions that send rows to other servers.
 *
 *	extension created here? ──► $libdir/fast_copy_cluster ──► of this version?
 *
 * The library has a fixed name, which nothing in the database can change, and
 * is loaded only where a superuser has created its extension, from where core
 * looks for libraries of extensions.  It stays for the life of the session, and
 * is loaded in its parallel workers, too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/extension.h"

#include "elsewhere/elsewhere.h"

#define FC_SERVICE_NAME(result, function, parameters, arguments) function,
static const FcServices services = {FC_SERVICES(FC_SERVICE_NAME)};

static const FcElsewhere *functions = NULL;

const FcElsewhere *
fc_elsewhere(const char **why)
{
	static const Size version[] = FC_ELSEWHERE_VERSION;
	const char *refusal = NULL;

	if (!OidIsValid(get_extension_oid(FC_ELSEWHERE_EXTENSION, true)))
		refusal = "extension " FC_ELSEWHERE_EXTENSION " is not created in this database";
	else if (functions == NULL && !fc_library_is_there(FC_ELSEWHERE_EXTENSION))
		refusal = "the library of extension " FC_ELSEWHERE_EXTENSION " is not installed";
	*why = refusal;
	if (refusal)
		return NULL;
	if (functions == NULL)
	{
		FcElsewhereEntry entry = (FcElsewhereEntry)
			load_external_function("$libdir/" FC_ELSEWHERE_EXTENSION, FC_ELSEWHERE_ENTRY, true, NULL);

		functions = entry(version, lengthof(version), &services);
	}
	if (functions == NULL)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("library \"%s\" is not of the version that library \"%s\" is of",
																  FC_ELSEWHERE_EXTENSION, "fast_copy"),
				 errhint("Connect again. If that does not help, install both anew."));
	return functions;
}

const FcElsewhere *
fc_elsewhere_need(const char *option)
{
	const char *why;
	const FcElsewhere *found = fc_elsewhere(&why);

	if (found == NULL)
		fc_unsupported(errmsg("option \"%s\" cannot be used: %s", option, why),
					   errhint("%s", fc_elsewhere_hint()));
	return found;
}

const char *
fc_elsewhere_hint(void)
{
	return OidIsValid(get_extension_oid(FC_ELSEWHERE_EXTENSION, true)) ?
		"Install the library of extension " FC_ELSEWHERE_EXTENSION "." :
		"CREATE EXTENSION " FC_ELSEWHERE_EXTENSION ".";
}

const FcElsewhere *
fc_elsewhere_get(void)
{
	return functions;
}
