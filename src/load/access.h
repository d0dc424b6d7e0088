/*-------------------------------------------------------------------------
 *
 * load/access.h
 *	  What the caller may read, and load into.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_ACCESS_H
#define FC_LOAD_ACCESS_H

#include "load/job.h"

/*
 * Opens the files of a load, in its order: paths and patterns.  Throws COPY's
 * errors for files that the caller may not read or that cannot be opened,
 * ERROR 22023 for a file that is named twice.  Reads at most so many bytes of
 * files without a known size.  Needs the options and, for hints, the table if
 * there is one.
 */
extern FcSource *fc_access_open(const FcTarget *target, uint64 most);

/* The paths of the files, as strings, unopened; there may be none */
extern List *fc_access_list(const FcTarget *target);

/*
 * Before the target is opened, if its rows are replaced: locks a plain table
 * against another such load, so that the two do not wait for each other at the
 * end
 */
extern void fc_access_lock_target(const FcOptions *options);

/*
 * Throws COPY's errors if the caller may not load, and ERROR 0A000 if rows are
 * to be replaced that cannot be; needs the plan
 */
extern void fc_access_check_target(FcJob *job);

#endif							/* FC_LOAD_ACCESS_H */
