/*-------------------------------------------------------------------------
 *
 * source/advice.c
 *	  What hints say of the server's machine, and of commands for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <pwd.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "source/advice.h"

#define FC_HOST_LEN	256

char *
fc_advice_host(void)
{
	char		name[FC_HOST_LEN];

	if (gethostname(name, sizeof(name)) != 0)
		return pstrdup("?");
	name[sizeof(name) - 1] = '\0';
	return pstrdup(name);
}

char *
fc_advice_user(void)
{
	const struct passwd *user = getpwuid(geteuid());

	return user ? pstrdup(user->pw_name) : psprintf("%d", (int) geteuid());
}

const char *
fc_advice_role(void)
{
	return quote_identifier(GetUserNameFromId(GetUserId(), false));
}

const char *
fc_advice_path(const char *path, const char *word)
{
	const char *s = path;

	while ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		   (*s >= '0' && *s <= '9') || (*s != '\0' && strchr("/._-+,:=@%", *s)))
		s++;
	return *s == '\0' && path[0] != '-' && path[0] != '\0' ? path : word;
}
