/*-------------------------------------------------------------------------
 *
 * source/root.h
 *	  Opens paths for roles that may open only what is below one directory, and
 *	  finds the files that match a pattern.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ROOT_H
#define FC_ROOT_H

#include <fcntl.h>
#include <sys/stat.h>

#include "nodes/pg_list.h"

/* How files are opened: without waiting, as for the writer of a FIFO */
#define FC_ROOT_READ	(O_RDONLY | O_NONBLOCK | O_CLOEXEC | PG_BINARY)

#define FC_ROOT_REFUSED	"permission denied to COPY from a file"

/* May the current role read all files that the server may read? */
extern bool fc_root_trusts(void);

/*
 * The directory that the current role may read files below, "" if there is
 * none; NULL: it may read all files.
 */
extern const char *fc_root_of_caller(void);

/*
 * As open(), and stat() or lstat(), but touch nothing that is not below "root",
 * unless that is NULL.  -1 with errno if they fail, which is EXDEV where the
 * path leads out of the directory.
 */
extern int	fc_root_open(const char *root, const char *path, int flags);
extern int	fc_root_stat(const char *root, const char *path, bool follow,
						 struct stat *st);

/* ERROR 42501, COPY's, the same for all paths, if errno is EXDEV */
extern void fc_root_check_refused(void);

/*
 * A path as messages have it: bytes that are no text in the server's encoding
 * as \xff; the path itself if there are none.  Names of files may be any bytes.
 */
extern const char *fc_root_text(const char *path);

/*
 * Where a file lies, for tables that the caller may read: below
 * fast_copy.root_directory, if it is set, as this has it, whatever links that
 * leads through.  NULL if the file lies elsewhere, and "root" is not NULL.
 */
extern char *fc_root_place(const char *root, const char *place);

/* Has the path characters that stand for others? */
extern bool fc_glob_is_pattern(const char *path);

/*
 * The paths that match, as strings, in the order of their bytes; NIL if none
 * does.  With "root", which may be NULL, ERROR 42501 for a directory that is
 * not below that.
 */
extern List *fc_glob_expand(const char *pattern, const char *root);

#endif							/* FC_ROOT_H */
