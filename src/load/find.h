/*-------------------------------------------------------------------------
 *
 * load/find.h
 *	  The records of the files, and their keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_FIND_H
#define FC_LOAD_FIND_H

#include "load/job.h"

/* Finds the records of a source that is whole */
extern void fc_find_split(FcJob *job);

/*
 * Looks whether the file is in key order; the second tells whether it seems so,
 * and the load takes it as it comes.
 */
extern void fc_find_look(FcJob *job);
extern bool fc_find_is_presorted(FcJob *job);

/*
 * Finds the keys, and the records, too, if the source is not whole yet.  The
 * second tells whether that was in vain: with the whole source at hand another
 * way is better.
 */
extern void fc_find_keys(FcJob *job);
extern bool fc_find_again(FcJob *job);

/* Makes the source whole, and finds its records, ahead of a phase */
extern void fc_find_unpack(FcJob *job);

/* After a pass over all records (send/pass.c): the files of the report */
extern void fc_find_report_pass(FcJob *job);

/*
 * Forgets what was scanned or loaded, with its counts, spill and errors: the
 * next scan or load meets all records again.
 */
extern void fc_find_forget(FcJob *job);

/* Is core the only one that can tell where records start? */
extern bool fc_find_core_reads(const FcJob *job);

#endif							/* FC_LOAD_FIND_H */
