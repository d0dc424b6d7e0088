/*-------------------------------------------------------------------------
 *
 * wire/wire.c
 *	  Finds and loads the module that knows libpq.
 *
 * It lies beside this library, wherever that was loaded from.  Once loaded it
 * stays for the life of the session.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include "fmgr.h"

#include "wire/wire.h"

#define FC_WIRE_MODULE	"fast_copy_libpq" DLSUFFIX

/*
 * Returns the path of the module, palloc'd; NULL: our own is not known.  Links
 * to this library are followed: one of them makes it a plugin.
 */
static char *
fc_wire_path(void)
{
	char		path[PATH_MAX];
	Dl_info		info;
	char	   *slash;

	if (dladdr((void *) fc_wire_path, &info) == 0 || realpath(info.dli_fname, path) == NULL)
		return NULL;
	slash = strrchr(path, '/');
	*slash = '\0';
	return psprintf("%s/%s", path, FC_WIRE_MODULE);
}

bool
fc_wire_is_there(const char **why)
{
	char	   *path = fc_wire_path();
	bool		there = path && access(path, R_OK) == 0;

	if (!there)
		*why = "fast_copy was built without libpq";
	return there;
}

const FcWireFunctions *
fc_wire(void)
{
	static const FcWireFunctions *functions = NULL;
	FcWireTable table;
	char	   *path;

	if (functions)
		return functions;
	path = fc_wire_path();
	if (path == NULL)
		elog(ERROR, "the path of fast_copy is not known");
	table = (FcWireTable) load_external_function(path, "fc_wire_table", true, NULL);
	functions = table(sizeof(FcWireFunctions));
	if (functions == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("library \"%s\" is not of the version that this session has loaded",
						FC_WIRE_MODULE),
				 errhint("Connect again.")));
	return functions;
}
