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
 * Finds the records and, where they are wanted and the file is in another order,
 * their keys.
 */
extern void fc_find_records(FcJob *job);

/* The records alone, and the keys alone */
extern void fc_find_split(FcJob *job);
extern void fc_find_keys(FcJob *job);

/*
 * Locks the leaves that take rows.  The scan ran under a lock that lets others
 * attach partitions; if somebody did, it is done again.  Sets gives_way if
 * pg_partman is making or dropping partitions.
 */
extern void fc_find_settle(FcJob *job);

/*
 * As if nothing had been scanned or loaded: whatever was passed over or refused
 * is met again.
 */
extern void fc_find_forget(FcJob *job);

/* Is core the only one that can tell where records start? */
extern bool fc_find_core_reads(const FcJob *job);

/*
 * Around a phase that unpacks the files as well.  After it, by so many processes,
 * all is as if they had been unpacked and split before, and only what was left of
 * the phase then had been in it.
 */
extern void fc_find_begin_flow(FcJob *job);
extern void fc_find_end_flow(FcJob *job, FcPhase phase, int processes);

/* Unpacks the files and finds their records, and nothing else meanwhile */
extern void fc_find_unpack(FcJob *job);

#endif							/* FC_LOAD_FIND_H */
