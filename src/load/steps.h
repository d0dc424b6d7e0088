/*-------------------------------------------------------------------------
 *
 * load/steps.h
 *	  What the steps of a load do, each in a module of its own.
 *
 * In the order in which load/run.c calls them, for the first time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STEPS_H
#define FC_STEPS_H

#include "load/job.h"

/*
 * Setup: load/header.c
 */

/*
 * Reads the header lines of each file, and finds out how its lines end, from
 * its first record.  Sets where the data of each file begin, and with header
 * "map" target.form.  Throws COPY's errors.
 */
extern void fc_header_read(FcJob *job);

/*
 * Throws COPY's error, with the line, for the character because of which a
 * file cannot be converted (job->fault)
 */
extern void fc_header_refuse_encoding(FcJob *job);

/*
 * Setup: load/layout.c
 */

/*
 * Makes target.shared from options, plan and source.  The segment belongs to
 * the current resource owner.
 */
extern void fc_layout_make(FcJob *job);

/* Cuts the files into chunks again, as if nobody had looked at them yet */
extern void fc_layout_chunks(FcJob *job);

/*
 * Returns the bytes of a segment that is large enough for so many bytes of one
 * source, which is loaded in its order
 */
extern Size fc_layout_foresee(const FcOptions *options, uint64 size, int nworkers);

/*
 * Makes as much of such a segment as the phase needs that unpacks files ahead
 * of all others; they are in the area.
 */
extern dsm_segment *fc_layout_early(Oid target, dsm_segment *area);

/*
 * Split and scan: load/find.c
 */

/*
 * Finds the records of a source that is whole.  The second tells, before,
 * whether the pass that comes next finds them by itself: the scan, or the load.
 */
extern void fc_find_split(FcJob *job);
extern bool fc_find_by_pass(FcJob *job);

/* Takes FC_WAY_PRESORTED if the file seems to be in key order */
extern void fc_find_look(FcJob *job);

/*
 * Finds the keys, and the records, too, if nobody has found them yet.  If that
 * goes wrong it sets job->guessed_wrong, and forgets all: a split must find the
 * records before the next scan.
 */
extern void fc_find_keys(FcJob *job);

/* Makes the source whole, and finds its records, ahead of a phase */
extern void fc_find_unpack(FcJob *job);

/* After a pass over all records elsewhere: the files of the report */
extern void fc_find_report_pass(FcJob *job);

/*
 * Forgets what was scanned or loaded, with its counts, spill and errors: the
 * next scan or load meets all records again.
 */
extern void fc_find_forget(FcJob *job);

/* Is core the only one that can tell where records start? */
extern bool fc_find_core_reads(const FcJob *job);

/*
 * Partitions: load/tables.c
 */

/*
 * Locks the leaves that take rows; and the target, if partitions are to be
 * made, so that no other session makes one in their place.  False if
 * pg_partman is making or dropping partitions: the load must wait for that, and
 * begin again.
 */
extern bool fc_tables_lock(FcJob *job);

/* The number of the target's partitions at all levels, plus one for itself */
extern uint32 fc_tables_count(Oid target);

/* Have partitions come or gone since the scan looked at them? */
extern bool fc_tables_bounds_changed(const FcTarget *target);

/* OIDs of the locked leaves that were there before the load */
extern List *fc_tables_existing(FcJob *job);

/*
 * Looks at the leaves that were there before the load, and takes the way that
 * their triggers and indexes ask for.  Throws COPY's errors for FREEZE.
 */
extern void fc_tables_check(FcJob *job);

/* Between the two target and leaves stay as they are: see heap/hold.h */
extern void fc_tables_hold(FcJob *job);
extern void fc_tables_let_go(FcJob *job);

/*
 * Partitions and attach: load/partitions.c
 */

/*
 * Makes the partitions that are missing, once the leaves are locked.  If a bad
 * record is known it makes those for later records, too, which does no harm:
 * the load fails in any case.
 */
extern void fc_partitions_make(FcJob *job);

/* Attaches the new partitions that got rows, and drops the others */
extern void fc_partitions_attach(FcJob *job);

/* What speaks against making the partitions: a list of FcFault */
extern List *fc_partitions_faults(FcJob *job);

/* What speaks for fewer, wider ones; NULL: nothing, or they cannot be wider */
extern FcFault *fc_partitions_too_small(FcJob *job);

/*
 * A fault for a warning only, or NULL: new partitions are far in the future,
 * and would not be if the numbers were in another unit
 */
extern FcFault *fc_partitions_far(FcJob *job);

/*
 * Rows that are replaced: load/replace.c
 */

/*
 * Chooses what is replaced, once leaves are locked.  ERROR 55000 if a partition
 * would get too few rows, 0A000 if it cannot be replaced.
 */
extern void fc_replace_choose(FcJob *job);

/*
 * load/merge.c.  Refuses a table with rows that cannot be exchanged, "why".
 * The second refuses rows that would have to be compared, and cannot be: those
 * of the default partition, or all, as "why" says.
 */
extern void fc_merge_refuse(const char *relname, const char *why);
extern void fc_merge_check(FcJob *job, const char *why);

/*
 * Spills the rows of the leaves that have substitutes, so that
 * they are loaded with those of the file
 */
extern void fc_merge_read(FcJob *job);

/*
 * load/upsert.c: with on_conflict, once leaves are locked, makes the stage, if
 * one is needed.  After the load inserts its rows.  The last refuses to load by
 * core's COPY, which meets no conflicts.
 */
extern void fc_upsert_begin(FcJob *job);
extern void fc_upsert_insert(FcJob *job);
extern void fc_upsert_check_core(const FcTarget *target);

/* Deletes the rows, before the load, as the caller's DELETE would */
extern void fc_replace_delete(FcJob *job);

/*
 * Exchanges the files of leaves with those of their substitutes, if there are
 * any, after new partitions are attached
 */
extern void fc_replace_exchange(FcJob *job);

/* Throws the error on that was caught; it tells of a leaf, and no substitute */
extern void fc_replace_rethrow(FcJob *job);

/* After the load: ERROR 55000 if a leaf has got too few rows after all */
extern void fc_replace_check_loaded(FcJob *job);

/*
 * Load, of what goes to other servers: load/send.c
 */

/*
 * If job->sends.  The first, before the phase load, begins the COPYs, so that
 * the leader sends while workers load.  The second, after it, ends them, and
 * keeps an error about a record.  The third adds what was sent to the report.
 */
extern void fc_send_start(FcJob *job);
extern void fc_send_stop(FcJob *job);
extern void fc_send_end_job(FcJob *job);

/* Rows that were sent, as the servers have counted them */
extern uint64 fc_send_job_rows(const FcJob *job);

/*
 * FC_WAY_SEND: finds and sends all records of the files, and throws the first
 * error about one.  False, with nothing sent, if another way must be taken: a
 * partition is missing or on this server.
 */
extern bool fc_send_whole(FcJob *job);

/*
 * Load: load/fill.c
 */

/*
 * Puts the rows into their leaves.  Throws the error of the first bad record.
 * False, with all undone and the new partitions dropped, if the file was taken
 * for a presorted one and is not.
 */
extern bool fc_fill_run(FcJob *job);

/*
 * May chunks be loaded while files are unpacked?  Not if core loads, if rows
 * are sorted or if their number must be known before; nor if chunks of several
 * files insert in turn, because a turn needs numbers without a gap.
 */
extern bool fc_fill_may_flow(const FcJob *job);

/*
 * Index: load/indexes.c
 */

/*
 * Defines the parent's indexes on the new partitions and builds them.  If one
 * cannot be built, throws COPY's error for the first row that it refuses.
 */
extern void fc_indexes_run(FcJob *job);

#endif							/* FC_STEPS_H */
