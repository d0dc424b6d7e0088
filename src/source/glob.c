/*-------------------------------------------------------------------------
 *
 * source/glob.c
 *	  The files that match a pattern.
 *
 *	 /data/2024-??/x*.csv ──► /data/ ──► those that match 2024-?? ──► in each,
 *		those that match x*.csv
 *
 * The system's own glob() passes over directories that it cannot read, cannot
 * be interrupted, and looks wherever links lead.  A load must not become
 * smaller without a word, and a user who may read only one directory must not
 * learn what is in others.  What a component matches is fnmatch()'s business:
 * "*", "?" and "[...]", none of which stands for a leading period or a slash;
 * a backslash takes the meaning from the next character.
 *
 * Paths are allocated in the caller's memory context; directories are closed
 * by the end of the (sub)transaction if an error skips that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include "miscadmin.h"
#include "storage/fd.h"

#include "source/glob.h"

typedef struct FcGlob
{
	void		(*enter) (const char *directory);
	List	   *paths;			/* found so far */
} FcGlob;

static void fc_glob_walk(FcGlob *glob, const char *before, const char *pattern);

/* Does one of the first len bytes stand for others? */
static bool
fc_glob_has_special(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		if (s[i] == '\\' && i + 1 < len)
			i++;
		else if (strchr("*?[", s[i]) != NULL)
			return true;
	}
	return false;
}

bool
fc_glob_is_pattern(const char *path)
{
	return fc_glob_has_special(path, strlen(path));
}

/* The first len bytes, without the backslashes that take meaning away */
static char *
fc_glob_plain(const char *s, size_t len)
{
	char	   *plain = palloc(len + 1);
	size_t		n = 0;

	for (size_t i = 0; i < len; i++)
	{
		if (s[i] == '\\' && i + 1 < len)
			i++;
		plain[n++] = s[i];
	}
	plain[n] = '\0';
	return plain;
}

static void
fc_glob_enter(const FcGlob *glob, const char *directory)
{
	glob->enter(directory[0] == '\0' ? "." : directory);
}

/* Takes a path that matches so far; "rest" is the pattern of what follows it */
static void
fc_glob_found(FcGlob *glob, char *path, const char *rest)
{
	struct stat st;

	if (rest[0] == '\0')
		glob->paths = lappend(glob->paths, path);
	else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		fc_glob_walk(glob, path, rest);
}

/* Takes all names of a directory that match a component */
static void
fc_glob_match(FcGlob *glob, const char *directory, const char *component,
			  const char *rest)
{
	const char *path = directory[0] == '\0' ? "." : directory;
	DIR		   *dir;
	struct dirent *entry;

	fc_glob_enter(glob, directory);
	dir = AllocateDir(path);
	while ((entry = ReadDir(dir, path)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (fnmatch(component, entry->d_name, FNM_PERIOD) == 0)
			fc_glob_found(glob, psprintf("%s%s", directory, entry->d_name), rest);
	}
	FreeDir(dir);
}

/*
 * Takes the next component of the pattern.  "before" is what is known of the
 * path; the pattern begins with the slashes that follow it, if any do.
 */
static void
fc_glob_walk(FcGlob *glob, const char *before, const char *pattern)
{
	size_t		slashes = strspn(pattern, "/");
	const char *component = pattern + slashes;
	size_t		len = strcspn(component, "/");
	const char *rest = component + len;
	char	   *directory = psprintf("%s%.*s", before, (int) slashes, pattern);
	struct stat st;
	char	   *path;

	check_stack_depth();
	if (fc_glob_has_special(component, len))
	{
		fc_glob_match(glob, directory, pnstrdup(component, len), rest);
		return;
	}
	path = psprintf("%s%s", directory, fc_glob_plain(component, len));
	if (rest[0] != '\0')
	{
		fc_glob_walk(glob, path, rest);
		return;
	}
	fc_glob_enter(glob, directory);
	if (lstat(path, &st) == 0)
		glob->paths = lappend(glob->paths, path);
}

static int
fc_glob_cmp(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

List *
fc_glob_expand(const char *pattern, void (*enter) (const char *directory))
{
	FcGlob		glob = {enter, NIL};

	fc_glob_walk(&glob, "", pattern);
	if (glob.paths == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("no file matches \"%s\"", pattern),
				 errhint("The pattern is looked up on the machine of the server, as its user; a backslash takes the meaning from *, ? and [.")));
	list_sort(glob.paths, fc_glob_cmp);
	return glob.paths;
}
