/*-------------------------------------------------------------------------
 *
 * copyfrom/find_keys.h
 *	  Which ranges of keys core finds in a file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIND_KEYS_H
#define FC_FIND_KEYS_H

#include "options/target.h"

/*
 * Makes core read all files, up to the first error; *parts are the ranges of
 * keys that it finds, FcSpillPart as of a scan.  Returns the rows read.  Ends
 * the progress of a COPY.
 */
extern uint64 fc_core_keys(FcTarget *target, List **parts);

#endif							/* FC_FIND_KEYS_H */
