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

/*
 * Finds the records and, if there is a key and the file does not look
 * presorted, their keys.
 */
extern void fc_find_records(FcJob *job);

/* Find the records alone, and the keys alone */
extern void fc_find_split(FcJob *job);
extern void fc_find_keys(FcJob *job);

/* After a pass over all records (phase/pass.c): the files of the report */
extern void fc_find_report_pass(FcJob *job);

/*
 * Locks the leaves that take rows.  The scan ran under a lock that lets other
 * sessions attach and detach partitions; if one did, the scan is done again.
 * Sets gives_way if pg_partman is making or dropping partitions.
 */
extern void fc_find_settle(FcJob *job);

/*
 * Forgets what was scanned or loaded, with its counts, spill and errors: the
 * next scan or load meets all records again.
 */
extern void fc_find_forget(FcJob *job);

/* Is core the only one that can tell where records start? */
extern bool fc_find_core_reads(const FcJob *job);

/*
 * The leader runs a phase that unpacks or receives the files as well between
 * these two.  The second reports as if the files had been unpacked and split
 * before the phase: the phase gets only the time after that.
 */
extern void fc_find_begin_flow(FcJob *job);
extern void fc_find_end_flow(FcJob *job, FcPhase phase);

/* Unpacks the files and finds their records, in a phase of its own */
extern void fc_find_unpack(FcJob *job);

#endif							/* FC_LOAD_FIND_H */
