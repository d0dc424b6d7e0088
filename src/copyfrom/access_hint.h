/*-------------------------------------------------------------------------
 *
 * copyfrom/access_hint.h
 *	  What to do about a file that cannot be opened, or a missing privilege.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ACCESS_HINT_H
#define FC_ACCESS_HINT_H

#include "options/target.h"

/* What is being opened */
typedef struct FcAccessed
{
	const FcTarget *target;
	const char *path;			/* or pattern, as the caller gave it */
} FcAccessed;

/*
 * Error context callbacks, for a load that is not accelerated.  They give the
 * error a hint if it has none and is about a path (the argument is an
 * FcAccessed), or about a privilege on the target (the FcTarget).
 */
extern void fc_access_hint_path(void *arg);
extern void fc_access_hint_grant(void *arg);

#endif							/* FC_ACCESS_HINT_H */
