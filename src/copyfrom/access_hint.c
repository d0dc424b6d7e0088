/*-------------------------------------------------------------------------
 *
 * copyfrom/access_hint.c
 *	  What to do about a file that cannot be opened, or a missing privilege.
 *
 * Messages and SQLSTATEs are COPY's.  A role that has only
 * fast_copy.root_directory gets these errors for files below it, and no hint
 * about the server's machine.  For all other paths it gets one refusal,
 * whether a file is there or not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "copyfrom/core.h"
#include "source/advice.h"
#include "source/root.h"

/* The target's name as a command of this session has it, if it has one yet */
static char *
fc_access_target(const FcTarget *target)
{
	const char *schema;

	if (!OidIsValid(target->oid))
		return pstrdup("TABLE");
	schema = RelationIsVisible(target->oid) ? NULL :
		get_namespace_name(get_rel_namespace(target->oid));
	return quote_qualified_identifier(schema, target->relname);
}

/* The command of psql that loads a file of the client */
static char *
fc_access_client(const FcAccessed *accessed)
{
	return psprintf("\\copy %s FROM '%s' WITH (FORMAT %s, fast_copy)",
					fc_access_target(accessed->target),
					fc_advice_path(accessed->path, "file"),
					accessed->target->options->format_word);
}

/* Returns a command that prints what is at the URL; NULL: it is none */
static char *
fc_access_fetch(const char *path)
{
	static const struct
	{
		const char *scheme;
		const char *command;
	}			fetches[] = {
		{"https://", "curl -fsS \"%s\""},
		{"http://", "curl -fsS \"%s\""},
		{"ftp://", "curl -fsS \"%s\""},
		{"s3://", "aws s3 cp \"%s\" -"},
		{"gs://", "gcloud storage cat \"%s\""},
	};

	for (int i = 0; i < lengthof(fetches); i++)
		if (pg_strncasecmp(path, fetches[i].scheme, strlen(fetches[i].scheme)) == 0)
			return psprintf(fetches[i].command,
							strpbrk(path, "'\"\\$`!\r\n") ? "URL" : path);
	return NULL;
}

/* Gives a hint about what is no path; false if it may be one */
static bool
fc_access_hint_no_path(const FcAccessed *accessed)
{
	const char *path = accessed->path;
	const FcTarget *target = accessed->target;
	bool		statement = fc_caller_wrote_copy(target->options->caller);
	char	   *fetch = fc_access_fetch(path);

	if (fetch && statement)
		errhint("The server opens files, no URLs; a program can fetch it: COPY %s FROM PROGRAM '%s' WITH (FORMAT %s, fast_copy).",
				fc_access_target(target), fetch, target->options->format_word);
	else if (fetch)
		errhint("The server opens files, no URLs; a program can fetch it: fast_copy('%s', '%s', program => true).",
				fc_access_target(target), fetch);
	else if (path[0] == '~' || path[0] == '$')
		errhint("The server takes \"%c\" for a part of the name: give the whole path.", path[0]);
	else if (strncmp(path, "file:", 5) == 0)
		errhint("The server takes \"file:\" for a part of the name: give the path alone.");
	else if (strcmp(path, "-") == 0 || strcmp(path, FC_CLIENT_PATH) == 0)
		errhint("What the client sends is loaded by COPY %s FROM STDIN WITH (FORMAT %s, fast_copy).",
				fc_access_target(target), target->options->format_word);
	else if (!statement && (path[0] == '{' || (strchr(path, ',') && strchr(path, '/'))))
		errhint("Name several files as an array, ARRAY['a.csv', 'b.csv'], or by a pattern, '/data/" "*.csv'.");
	else if (!statement && !is_absolute_path(path) && strchr(path, ' '))
		errhint("If it is a command, add program => true.");
	else
		return false;
	return true;
}

void
fc_access_hint_path(void *arg)
{
	const FcAccessed *accessed = arg;
	int			code = geterrcode();

	/* what has a hint is about something else */
	if ((code != ERRCODE_UNDEFINED_FILE && code != ERRCODE_INSUFFICIENT_PRIVILEGE &&
		 code != ERRCODE_WRONG_OBJECT_TYPE) || !fc_error_wants_hint(""))
		return;
	if (fc_error_wants_hint(FC_ROOT_REFUSED))
		errhint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone: %s. "
				"A superuser may let you read the server's files: GRANT pg_read_server_files TO %s; or %s.",
				fc_access_client(accessed), fc_advice_role(),
				fc_root_directory && fc_root_directory[0] != '\0' ?
				psprintf("put them below fast_copy.root_directory, \"%s\"", fc_root_directory) :
				"set fast_copy.root_directory to a directory whose files anyone may load");
	else if (code == ERRCODE_INSUFFICIENT_PRIVILEGE)
		errhint("The server reads it%s, and must be allowed to, and to search the directories on the way. As yourself, you load it from the client by psql's %s.",
				fc_root_trusts() ?
				psprintf(" on host \"%s\" as user \"%s\" of the operating system",
						 fc_advice_host(), fc_advice_user()) : "",
				fc_access_client(accessed));
	else if (code == ERRCODE_WRONG_OBJECT_TYPE)
		errhint("Name the files in it by a pattern, such as '%s*'.",
				accessed->path[strlen(accessed->path) - 1] == '/' ? accessed->path :
				psprintf("%s/", accessed->path));
	else if (!fc_access_hint_no_path(accessed))
		errhint("%s%s. A file of the client's machine is loaded by psql's %s.",
				is_absolute_path(accessed->path) ? "The server looks for it on its own machine" :
				"The path is relative, so the server looks below its data directory",
				fc_root_trusts() ? psprintf(", %shost \"%s\"", is_absolute_path(accessed->path) ? "" : "on ", fc_advice_host()) : "",
				fc_access_client(accessed));
}

static bool
fc_access_may(Oid table, AclMode mode)
{
	return pg_class_aclcheck(table, GetUserId(), mode) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(table, GetUserId(), mode, ACLMASK_ANY) == ACLCHECK_OK;
}

void
fc_access_hint_grant(void *arg)
{
	const FcTarget *target = arg;
	FcConflict	conflict = target->options->conflict;
	const char *lacks = NULL;
	const char *what = "";

	if (geterrcode() != ERRCODE_INSUFFICIENT_PRIVILEGE)
		return;
	if (!fc_access_may(target->oid, ACL_INSERT))
		lacks = "INSERT";
	else if ((target->options->existing != FC_EXISTING_KEEP || target->options->delete_where) &&
			 pg_class_aclcheck(target->oid, GetUserId(), ACL_DELETE) != ACLCHECK_OK)
	{
		lacks = "DELETE";
		what = target->options->move != FC_MOVE_NOTHING ? ", because rows are moved" :
			target->options->delete_where ? ", because rows are deleted" : ", because rows are replaced";
	}
	else if (!fc_access_may(target->oid, ACL_SELECT) &&
			 (target->planned->where || target->options->existing != FC_EXISTING_KEEP || conflict != FC_CONFLICT_ERROR))
	{
		lacks = "SELECT";
		what = target->planned->where ? ", for the columns of the condition" :
			", for the key, by which rows are found";
	}
	else if (conflict == FC_CONFLICT_UPDATE && !fc_access_may(target->oid, ACL_UPDATE))
	{
		lacks = "UPDATE";
		what = ", because rows are updated";
	}
	if (lacks)
		errhint("Its owner may GRANT %s ON %s TO %s%s.", lacks, fc_access_target(target),
				fc_advice_role(), what);
}
