/*-------------------------------------------------------------------------
 *
 * source/glob.c
 *	  The files that match a pattern.
 *
 *	 /data/2024-??/x*.csv ──► /data/ ──► those that match 2024-?? ──► in each,
 *		those that match x*.csv
 *
 * The system's glob() cannot be interrupted, looks wherever links lead, and
 * passes over directories that it cannot read.  Here such a directory is an
 * error, so that no load becomes smaller without a word.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dirent.h>
#include <fnmatch.h>
#include <unistd.h>

#include "miscadmin.h"

#include "compat/compat.h"
#include "source/root.h"

typedef struct FcGlob
{
	const char *root;			/* or NULL */
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

/* Is there such a file?  ERROR if it is outside of the root. */
static bool
fc_glob_stat(const FcGlob *glob, const char *path, bool follow, struct stat *st)
{
	if (fc_root_stat(glob->root, path, follow, st) == 0)
		return true;
	fc_root_check_refused();
	return false;
}

/*
 * Opens a directory as source/root.c allows: a caller who may read one
 * directory must not learn what is in others
 */
static DIR *
fc_glob_open(const FcGlob *glob, const char *path)
{
	int			fd = fc_root_open(glob->root, path, FC_ROOT_READ | O_DIRECTORY);
	DIR		   *dir = fd < 0 ? NULL : fdopendir(fd);
	int			save_errno = errno;

	if (dir)
		return dir;
	if (fd >= 0)
		close(fd);
	errno = save_errno;
	fc_root_check_refused();
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not open directory \"%s\": %m", fc_root_text(path))));
}

/*
 * The names in a directory that match a component, by fnmatch(): "*", "?" and
 * "[...]" stand for no leading period; a backslash takes the meaning from the
 * next character.  The directory is closed, on error too, before another one
 * is opened.
 */
static List *
fc_glob_names(const FcGlob *glob, const char *path, const char *component)
{
	DIR		   *dir = fc_glob_open(glob, path);
	List	   *volatile names = NIL;
	struct dirent *entry;

	PG_TRY();
	{
		while (errno = 0, (entry = readdir(dir)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			if (fnmatch(component, entry->d_name, FNM_PERIOD) == 0)
				names = lappend(names, pstrdup(entry->d_name));
		}
		if (errno != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read directory \"%s\": %m", fc_root_text(path))));
	}
	PG_FINALLY();
	{
		(void) closedir(dir);
	}
	PG_END_TRY();
	return names;
}

static void
fc_glob_match(FcGlob *glob, const char *directory, const char *component,
			  const char *rest)
{
	List	   *names = fc_glob_names(glob, directory[0] == '\0' ? "." : directory, component);

	foreach_ptr(char, name, names)
	{
		char	   *path = psprintf("%s%s", directory, name);
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		if (rest[0] == '\0')
			glob->paths = lappend(glob->paths, path);
		else if (fc_glob_stat(glob, path, true, &st) && S_ISDIR(st.st_mode))
			fc_glob_walk(glob, path, rest);
	}
	list_free_deep(names);
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
	if (fc_glob_stat(glob, path, false, &st))
		glob->paths = lappend(glob->paths, path);
}

static int
fc_glob_cmp(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

List *
fc_glob_expand(const char *pattern, const char *root)
{
	FcGlob		glob = {root, NIL};

	fc_glob_walk(&glob, "", pattern);
	list_sort(glob.paths, fc_glob_cmp);
	return glob.paths;
}
