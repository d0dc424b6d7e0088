/*-------------------------------------------------------------------------
 *
 * source/glob.h
 *	  The files that match a pattern.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_GLOB_H
#define FC_GLOB_H

#include "nodes/pg_list.h"

/* Has the path characters that stand for others? */
extern bool fc_glob_is_pattern(const char *path);

/*
 * The paths that match, as strings, in the order of their bytes; NIL if none
 * does.  With "root", which may be NULL, ERROR 42501 for a directory that is
 * not below that.
 */
extern List *fc_glob_expand(const char *pattern, const char *root);

#endif							/* FC_GLOB_H */
