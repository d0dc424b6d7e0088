/*-------------------------------------------------------------------------
 *
 * copyfrom/core.h
 *	  Core's own COPY: for targets only it can load, and for its errors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COPYFROM_RUN_H
#define FC_COPYFROM_RUN_H

#include "options/target.h"

/* Refuses options that cannot be had where core loads; ERROR 0A000 */
extern void fc_core_check(FcTarget *target);

/* Loads all files with CopyFrom; returns the rows it counts */
extern uint64 fc_core_copy(FcTarget *target);

/* Makes core read the header of a binary file, and notes where it ends */
extern void fc_core_binary_header(FcTarget *target, uint32 file);

/* Compares a file's header line with the column names; throws COPY's errors */
extern void fc_core_match_header(FcTarget *target, uint32 file, const FcRecord *header);

/*
 * Throws the first bad record's error: COPY's, if COPY refuses the record, or
 * else the one that a process kept.
 */
extern void fc_core_throw(FcTarget *target);

/* Throws ERROR 22P04 with COPY's text, if that is what a record's end means */
extern void fc_core_refuse_grammar(const FcDialect *dialect, FcEnd end);

/*
 * Makes core read all files, up to the first error; *parts are the ranges of
 * keys that it finds, FcSpillPart as of a scan.  Returns the rows read.  Ends
 * the progress of a COPY.
 */
extern uint64 fc_core_keys(FcTarget *target, List **parts);

#endif							/* FC_COPYFROM_RUN_H */
