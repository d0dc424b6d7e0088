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
	char	   *name = palloc0(FC_HOST_LEN);

	/* the last byte stays zero */
	return gethostname(name, FC_HOST_LEN - 1) == 0 ? name : pstrdup("?");
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
	size_t		plain = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:=@%");

	return path[plain] == '\0' && path[0] != '-' && path[0] != '\0' ? path : word;
}
