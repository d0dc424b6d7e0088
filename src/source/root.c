/*-------------------------------------------------------------------------
 *
 * source/root.c
 *	  Opens paths for roles that may open only what is below one directory.
 *
 *	 /data/2024/x.csv ──► fast_copy.root_directory, open ──► 2024, open in that
 *		──► x.csv, open in that
 *
 * A role without the privileges of pg_read_server_files must learn nothing of
 * files outside fast_copy.root_directory, not even whether they exist.  It may
 * be able to rename and link what is below the directory at any moment.  So no
 * path is checked first and opened later:
 *
 * 1. The walk opens each component in the directory that the one before has
 *    opened, and never opens a link.
 * 2. It reads a link instead, and what the link says becomes a part of the
 *    path.
 * 3. For ".." it begins again at fast_copy.root_directory (fc_root_up).
 * 4. It does not look at what would leave the directory: neither an error nor
 *    the time that it takes tells about that.
 *
 * A file is opened by its path once (source/source.c): it cannot be exchanged
 * between two processes.
 *
 * The kernel's openat2() with RESOLVE_BENEATH will not do: old kernels lack
 * it, containers forbid it, and it refuses links that say the whole path of a
 * file below the directory.
 *
 * No function here throws an error between opening and closing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "catalog/pg_authid.h"

#include "compat/compat.h"
#include "compat/settings.h"
#include "source/root.h"

/* How directories on the way are opened: only to be searched, if that exists */
#ifdef O_PATH
#define FC_ROOT_SEARCH	(O_PATH | O_DIRECTORY | O_CLOEXEC)
#else
#define FC_ROOT_SEARCH	(O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#endif

/* Links followed in one path, as many as Linux follows */
#define FC_ROOT_LINKS	40

/* A path that is being walked along */
typedef struct FcRootWalk
{
	const char *root;
	char		real[PATH_MAX]; /* the same with links resolved */
	int			base;			/* the directory, open */
	int			dir;			/* where the walk is, open */
	char		done[PATH_MAX]; /* how it got there, without links */
	char		path[PATH_MAX];
	const char *rest;			/* what is left of the path */
	char		name[PATH_MAX]; /* the current component */
	int			links;			/* followed so far */
} FcRootWalk;

bool
fc_root_trusts(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES);
}

const char *
fc_root_of_caller(void)
{
	if (fc_root_trusts())
		return NULL;
	return fc_root_directory ? fc_root_directory : "";
}

void
fc_root_check_refused(void)
{
	if (errno == EXDEV)
		fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg(FC_ROOT_REFUSED),
				 errdetail("Only roles with privileges of the \"%s\" role may COPY from a file.",
						   "pg_read_server_files"));
}

const char *
fc_root_text(const char *path)
{
	StringInfoData text;
	int			len;

	if (pg_verifymbstr(path, strlen(path), true))
		return path;
	initStringInfo(&text);
	for (; *path != '\0'; path += Max(len, 1))
	{
		len = pg_encoding_verifymbchar(GetDatabaseEncoding(), path, strlen(path));
		if (len > 0)
			appendBinaryStringInfo(&text, path, len);
		else
			appendStringInfo(&text, "\\x%02x", (unsigned char) *path);
	}
	return text.data;
}

static bool
fc_root_fail(int code)
{
	errno = code;
	return false;
}

/* Passes over slashes, and components that lead nowhere */
static const char *
fc_root_skip(const char *path)
{
	while (path[0] == '/' || (path[0] == '.' && (path[1] == '/' || path[1] == '\0')))
		path++;
	return path;
}

/* What of an absolute path follows the directory; NULL: it is not below it */
static const char *
fc_root_below(const char *path, const char *directory)
{
	if (directory[0] != '/')
		return NULL;
	for (;;)
	{
		size_t		len;

		path = fc_root_skip(path);
		directory = fc_root_skip(directory);
		len = strcspn(directory, "/");
		if (len == 0)
			return path;
		if (strncmp(path, directory, len) != 0 || (path[len] != '/' && path[len] != '\0'))
			return NULL;
		path += len;
		directory += len;
	}
}

char *
fc_root_place(const char *root, const char *place)
{
	char		real[PATH_MAX];
	const char *below = NULL;
	char	   *shown;

	if (fc_root_directory && fc_root_directory[0] == '/' && realpath(fc_root_directory, real) != NULL)
		below = fc_root_below(place, real);
	if (below == NULL)
		return root ? NULL : pstrdup(place);
	shown = psprintf("%s/%s", fc_root_directory, below);
	canonicalize_path(shown);
	return shown;
}

/* Makes a path of two parts what is left to be walked */
static bool
fc_root_join(FcRootWalk *walk, const char *first, const char *then)
{
	char		path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", first, then) >= (int) sizeof(path))
		return fc_root_fail(ENAMETOOLONG);
	strcpy(walk->path, path);
	walk->rest = walk->path;
	return true;
}

static void
fc_root_restart(FcRootWalk *walk)
{
	if (walk->dir != walk->base)
		close(walk->dir);
	walk->dir = walk->base;
	walk->done[0] = '\0';
}

/*
 * The same for a path that may be absolute.  Then it must begin with the
 * directory's path, as this is set or with its own links resolved: any other
 * link that leads into the directory lies outside.
 */
static bool
fc_root_take(FcRootWalk *walk, const char *first, const char *then)
{
	const char *below;

	if (!fc_root_join(walk, first, then))
		return false;
	if (walk->path[0] != '/')
		return true;
	below = fc_root_below(walk->path, walk->root);
	if (below == NULL)
		below = fc_root_below(walk->path, walk->real);
	if (below == NULL)
		return fc_root_fail(EXDEV);
	walk->rest = below;
	fc_root_restart(walk);
	return true;
}

/* Opens the directory, and takes the path, which may begin at ours */
static bool
fc_root_begin(FcRootWalk *walk, const char *root, const char *path)
{
	char		from_data[PATH_MAX];

	walk->root = root;
	walk->links = 0;
	walk->base = walk->dir = -1;
	if (root[0] == '\0' || realpath(root, walk->real) == NULL)
		return fc_root_fail(EXDEV);
	walk->base = walk->dir = open(walk->real, FC_ROOT_SEARCH);
	if (walk->base < 0)
		return fc_root_fail(EXDEV);
	walk->done[0] = '\0';
	if (snprintf(from_data, sizeof(from_data), "%s/", DataDir) >= (int) sizeof(from_data))
		return fc_root_fail(ENAMETOOLONG);
	return fc_root_take(walk, path[0] == '/' ? "" : from_data, path);
}

static void
fc_root_end(const FcRootWalk *walk)
{
	int			save_errno = errno;

	if (walk->dir != walk->base)
		close(walk->dir);
	if (walk->base >= 0)
		close(walk->base);
	errno = save_errno;
}

/* Takes the next component into walk->name; false if there is none */
static bool
fc_root_next(FcRootWalk *walk)
{
	size_t		len;

	walk->rest = fc_root_skip(walk->rest);
	len = strcspn(walk->rest, "/");
	memcpy(walk->name, walk->rest, len);
	walk->name[len] = '\0';
	walk->rest += len;
	return len > 0;
}

/* Goes into the current component, which must be a directory and no link */
static bool
fc_root_down(FcRootWalk *walk)
{
	size_t		len = strlen(walk->done);
	int			fd;

	if (len + strlen(walk->name) + 2 > sizeof(walk->done))
		return fc_root_fail(ENAMETOOLONG);
	fd = openat(walk->dir, walk->name, FC_ROOT_SEARCH | O_NOFOLLOW);
	if (fd < 0)
		return false;
	if (walk->dir != walk->base)
		close(walk->dir);
	walk->dir = fd;
	snprintf(walk->done + len, sizeof(walk->done) - len, "/%s", walk->name);
	return true;
}

/*
 * Goes up.  The directory's ".." may be outside by now: so the walk begins
 * again, and goes one component less far.
 */
static bool
fc_root_up(FcRootWalk *walk)
{
	char		before[PATH_MAX];
	char	   *last = strrchr(walk->done, '/');

	if (last == NULL)
		return fc_root_fail(EXDEV);
	*last = '\0';
	strcpy(before, walk->done);
	fc_root_restart(walk);
	return fc_root_join(walk, before, walk->rest);
}

/* What the current link says becomes a part of the path; false if it is none */
static bool
fc_root_follow(FcRootWalk *walk)
{
	char		target[PATH_MAX];
	ssize_t		len = readlinkat(walk->dir, walk->name, target, sizeof(target) - 1);

	if (len < 0)
		return false;
	if (++walk->links > FC_ROOT_LINKS)
		return fc_root_fail(ELOOP);
	target[len] = '\0';
	return fc_root_take(walk, target, walk->rest);
}

/*
 * Goes to the directory of the path's last component.  This is in walk->name
 * then, and with "follow" it is no link.
 */
static bool
fc_root_go(FcRootWalk *walk, bool follow)
{
	while (fc_root_next(walk))
	{
		bool		last = (*walk->rest == '\0');

		if (strcmp(walk->name, "..") == 0)
		{
			if (!fc_root_up(walk))
				return false;
			continue;
		}
		if (!last || follow)
		{
			if (fc_root_follow(walk))
				continue;
			if (errno != EINVAL)
				return false;
		}
		if (last)
			return true;
		if (!fc_root_down(walk))
			return false;
	}
	strcpy(walk->name, ".");
	return true;
}

int
fc_root_open(const char *root, const char *path, int flags)
{
	FcRootWalk	walk;
	int			fd = -1;

	if (root == NULL)
		return BasicOpenFile(path, flags);
	if (fc_root_begin(&walk, root, path) && fc_root_go(&walk, true))
		fd = openat(walk.dir, walk.name, flags | O_NOFOLLOW);
	fc_root_end(&walk);
	return fd;
}

int
fc_root_stat(const char *root, const char *path, bool follow, struct stat *st)
{
	FcRootWalk	walk;
	int			result = -1;

	if (root == NULL)
		return follow ? stat(path, st) : lstat(path, st);
	if (fc_root_begin(&walk, root, path) && fc_root_go(&walk, follow))
		result = fstatat(walk.dir, walk.name, st, AT_SYMLINK_NOFOLLOW);
	fc_root_end(&walk);
	return result;
}
