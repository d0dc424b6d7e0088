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

#include "compat/compat.h"
#include "source/root.h"
#include "source/source.h"

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
fc_glob_stat(const char *root, const char *path, bool follow, struct stat *st)
{
	if (fc_root_stat(root, path, follow, st) == 0)
		return true;
	fc_root_check_refused();
	return false;
}

/*
 * Opens a directory as source/root.c allows: a caller who may read one
 * directory must not learn what is in others
 */
static DIR *
fc_glob_open(const char *root, const char *path)
{
	int			fd = fc_root_open(root, path, FC_ROOT_READ | O_DIRECTORY);
	DIR		   *dir = fd < 0 ? NULL : fdopendir(fd);
	int			save_errno = errno;

	if (dir)
		return dir;
	if (fd >= 0)
		close(fd);
	errno = save_errno;
	fc_root_check_refused();
	fc_file_error(errmsg("could not open directory \"%s\": %m", fc_root_text(path)));
}

/*
 * The names in a directory that match a component, by fnmatch(): "*", "?" and
 * "[...]" stand for no leading period; a backslash takes the meaning from the
 * next character.  The directory is closed, on error too, before another one
 * is opened.
 */
static List *
fc_glob_names(const char *root, const char *path, const char *component)
{
	DIR		   *dir = fc_glob_open(root, path);
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
			fc_file_error(errmsg("could not read directory \"%s\": %m", fc_root_text(path)));
	}
	PG_FINALLY();
	{
		(void) closedir(dir);
	}
	PG_END_TRY();
	return names;
}

/*
 * The paths that match what is left of the pattern, whose next component it
 * takes.  "before" is what is known of the path; the pattern begins with the
 * slashes that follow it, if any do.
 */
static List *
fc_glob_walk(const char *root, const char *before, const char *pattern)
{
	size_t		slashes = strspn(pattern, "/");
	const char *component = pattern + slashes;
	size_t		len = strcspn(component, "/");
	const char *rest = component + len;
	char	   *directory = psprintf("%s%.*s", before, (int) slashes, pattern);
	bool		special = fc_glob_has_special(component, len);
	List	   *names = special ?
		fc_glob_names(root, directory[0] == '\0' ? "." : directory, pnstrdup(component, len)) :
		list_make1(fc_glob_plain(component, len));
	List	   *paths = NIL;
	struct stat st;

	check_stack_depth();
	foreach_ptr(char, name, names)
	{
		char	   *path = psprintf("%s%s", directory, name);

		CHECK_FOR_INTERRUPTS();
		if (rest[0] != '\0' &&
			(!special || (fc_glob_stat(root, path, true, &st) && S_ISDIR(st.st_mode))))
			paths = list_concat(paths, fc_glob_walk(root, path, rest));
		else if (rest[0] == '\0' && (special || fc_glob_stat(root, path, false, &st)))
			paths = lappend(paths, path);
	}
	list_free_deep(names);
	return paths;
}

static int
fc_glob_cmp(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

List *
fc_glob_expand(const char *pattern, const char *root)
{
	List	   *paths = fc_glob_walk(root, "", pattern);

	list_sort(paths, fc_glob_cmp);
	return paths;
}
