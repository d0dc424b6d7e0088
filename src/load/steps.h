/*-------------------------------------------------------------------------
 *
 * load/steps.h
 *	  What the modules of load/ do: the steps of a load first, in the order in
 *	  which load/run.c calls them, then what several steps need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_STEPS_H
#define FC_STEPS_H

#include "copyfrom/core.h"
#include "elsewhere/elsewhere.h"
#include "intake/chunks.h"
#include "load/job.h"
#include "phase/phases.h"
#include "sort/spill.h"
#include "source/recode.h"

/*
 * Setup: load/header.c
 */

/*
 * Reads the header lines of each file, and finds out from its first record how
 * its lines end.  Sets where the data of each file begin, and with header
 * "map" target.form.  Throws COPY's errors.
 */
extern void fc_header_read(FcJob *job);

/*
 * Setup: load/layout.c
 */

/*
 * Makes target.shared from options, plan and source.  The current resource
 * owner owns its segment; memory of a process that works alone goes with
 * job->mcxt.
 */
extern void fc_layout_make(FcJob *job);

/* Ends target->shared; called twice, it does nothing */
extern void fc_layout_release(void *target);

/* Cuts the files into chunks anew, and forgets what was found in them */
extern void fc_layout_chunks(FcJob *job);

/*
 * Returns the bytes of a segment that is large enough for one source of "size"
 * bytes, which is loaded in its order
 */
extern Size fc_layout_foresee(const FcOptions *options, uint64 size, int nworkers);

/*
 * Makes the part of such a segment that FC_PHASE_UNPACK needs when it runs
 * ahead of all others; "area" has the files.
 */
extern dsm_segment *fc_layout_early(Oid target, dsm_segment *area);

/*
 * Split and scan: load/find.c
 */

/* Finds the records of a source that is whole */
extern void fc_find_split(FcJob *job);

/* Looks whether the file seems to be in key order; true */
extern bool fc_find_look(FcJob *job);

/*
 * Finds the keys, and the records, too, if no split has found them.  If it
 * guesses wrongly where records begin it forgets all: a split must find the
 * records before the next call.
 */
extern void fc_find_keys(FcJob *job);

/* Makes the source whole, and finds its records, ahead of a phase */
extern void fc_find_unpack(FcJob *job);

/*
 * Forgets what was scanned or loaded, with its counts, spill and errors: the
 * next scan or load reads all records again.
 */
extern void fc_find_forget(FcJob *job);

/* The same, but for the error about a record, which was caught */
extern void fc_find_forget_rows(FcJob *job);

/*
 * Partitions: load/tables.c
 */

/*
 * Locks the leaves that take rows; and the target, if partitions are to be
 * made, to keep other sessions from making any with the same bounds.  False if
 * pg_partman is making or dropping partitions, or if another session that has
 * the target locked waits for this one (job->awaited): the load must wait for
 * that, and begin again.
 */
extern bool fc_tables_lock(FcJob *job);

/*
 * Has the lock table room for n partitions of "each" tables?  A table is locked
 * until commit with its indexes and a TOAST table, which takes two locks.
 * ERROR 53200 at once if it has not, and there is a hint.
 */
extern bool fc_tables_check_locks(const FcJob *job, int n, int each, const char *verb,
								  const char *hint);

/* Have partitions come or gone since the scan looked at them? */
extern bool fc_tables_bounds_changed(const FcTarget *target);

/* OIDs of the locked leaves that were there before the load */
extern List *fc_tables_existing(FcJob *job);

/*
 * Looks at the leaves that were there before the load, and decides the course
 * that their triggers and indexes require.  Throws COPY's errors for FREEZE.
 */
extern void fc_tables_check(FcJob *job);

/*
 * Holds target, leaves and new partitions: from here on no other code can
 * change them unnoticed (heap/hold.c)
 */
extern void fc_tables_hold(FcJob *job);

/*
 * Foreign keys: load/references.c
 */

/*
 * Why the foreign keys of a table must be checked by core for each row as it
 * comes; NULL: they need not be, or there are none.  Adds the table to those
 * that are to be looked at.
 */
extern const char *fc_references_refusal(FcJob *job, Relation rel);

/* Notes the moment from which on rows come */
extern void fc_references_begin(FcJob *job);

/*
 * Throws core's error if a row of the load refers to one that is not there.
 * Its rows are in tables of the list, or in new ones.
 */
extern void fc_references_check(FcJob *job, const List *existing);

/*
 * Says in which other tables a DELETE from these leaves deletes or changes
 * rows; NULL: in none.  The second is an error context callback for it: says
 * how to load rows that others reference.
 */
extern FcFault *fc_references_cascades(const char *relname, const List *leaves);
extern void fc_references_hint(void *arg);

/*
 * Partitions and attach: load/partitions.c
 */

/*
 * Makes the partitions that are missing, once the leaves are locked; also
 * those for records after a known bad one, which does no harm, since the load
 * fails.
 */
extern void fc_partitions_make(FcJob *job);

/* Attaches the new partitions that got rows, and drops the others */
extern void fc_partitions_attach(FcJob *job);

/* Returns why the partitions cannot be made: a list of FcFault */
extern List *fc_partitions_faults(FcJob *job);

/* ERROR 53200 at once if the lock table has no room for n partitions */
extern void fc_partitions_check_room(const FcJob *job, int n);

/*
 * Where core routes: looks through the files for rows that lack a partition,
 * and makes these.  False if partitions have come or gone meanwhile: it
 * must look again.  Leaves what it has counted to fc_find_forget_rows().
 *
 * For an analysis: the second sets job->tree, and the third throws an ERROR if
 * what is missing cannot be made, or is too much.
 */
extern bool fc_partitions_grow(FcJob *job);
extern void fc_partitions_look(FcJob *job);
extern void fc_partitions_check_tree(FcJob *job);

/*
 * Advises fewer, wider partitions; NULL: they are not too small, or cannot be
 * wider
 */
extern FcFault *fc_partitions_too_small(FcJob *job);

/*
 * Does missing_partitions "error" keep rows out of a default partition?  The
 * second throws ERROR 0A000 for a load that does not find these rows.
 */
extern bool fc_partitions_keep_default(const FcTarget *target);
extern void fc_partitions_refuse_default(const FcTarget *target, const char *why);

/*
 * Warns that new partitions are far in the future, and would not be if keys
 * were counted in another unit; or NULL
 */
extern FcFault *fc_partitions_far(FcJob *job);

/*
 * Rows that are replaced: load/replace.c
 */

/*
 * Notes the moment from which on other sessions' rows stay.  Called once the
 * source has been read, before the load waits for a lock; with "merge" before
 * it reads the rows of leaves.
 */
extern void fc_replace_begin(FcJob *job);

/* Why no leaf, or not this one with this range, can be exchanged; or NULL */
extern const char *fc_replace_job_refusal(FcJob *job);
extern const char *fc_replace_leaf_refusal(const FcTarget *target, Relation rel,
										   const FcRange *range);

/*
 * Chooses what is replaced, once leaves are locked.  ERROR 55000 if a partition
 * would get too few rows, 0A000 if it cannot be replaced.
 */
extern void fc_replace_choose(FcJob *job);

/*
 * For an analysis.  The first chooses, and undoes it; returns the error that
 * fc_replace_choose() would throw, or NULL.  The second, after that, returns
 * faults of partitions with too few rows, and those of fc_ledger_others(), as
 * a list of FcFault.
 */
extern ErrorData *fc_replace_error(FcJob *job);
extern List *fc_replace_faults(FcJob *job);

/*
 * load/merge.c.  ERROR 0A000 for a table whose rows cannot be exchanged, as
 * "why" says.  The second throws it for rows that cannot be compared though
 * the options ask for it: those of the default partition, or all, as "why"
 * says.
 */
extern void fc_merge_refuse(const char *relname, const char *why);
extern void fc_merge_check(FcJob *job, const char *why);

/*
 * Spills the rows of leaves that have substitutes, to be loaded with the
 * file's, or of those that are moved
 */
extern void fc_merge_read(FcJob *job);

/*
 * load/move.c, for a load that moves rows.  The first locks and holds the
 * leaves, job->moved, and throws ERROR 0A000 for one whose rows cannot be
 * moved.  The second, once the route is known, reads the rows, and sets the
 * partitions to be made; the range of keys becomes that of whole partitions.
 */
extern void fc_move_begin(FcJob *job);
extern void fc_move_read(FcJob *job);

/*
 * Deletes the rows that were moved, if others of the same leaf stay.  ERROR
 * 40001 if one was changed meanwhile.
 */
extern void fc_move_delete(FcJob *job);

/*
 * After the exchange, under its locks: detaches and drops what is cut anew, and
 * sets the counts
 */
extern void fc_move_end(FcJob *job);

/*
 * load/upsert.c, with on_conflict.  The first makes the stage, if one is
 * needed, once leaves are locked; the second inserts its rows after the load.
 * The last throws ERROR 0A000 if core loads, which knows no ON CONFLICT.
 */
extern void fc_upsert_begin(FcJob *job);
extern void fc_upsert_insert(FcJob *job);
extern void fc_upsert_check_core(const FcTarget *target);

/*
 * ERROR 0A000, before the load, if a tolerated class of errors may come only
 * when the rows of the stage are inserted
 */
extern void fc_upsert_check_classes(const FcTarget *target);

/*
 * Once the rows to delete are chosen: says in which other tables the DELETE
 * deletes or changes rows; NULL: in none
 */
extern FcFault *fc_replace_cascades(const FcJob *job);

/*
 * Makes substitutes of leaves that are empty, if the load replaces nothing,
 * once leaves are locked
 */
extern void fc_replace_choose_empty(FcJob *job);

/* Deletes the rows, before the load, as the caller's DELETE would */
extern void fc_replace_delete(FcJob *job);

/*
 * load/replace_exchange.c: exchanges the files of leaves with those of their
 * substitutes, if there are any, after new partitions are attached
 */
extern void fc_replace_exchange(FcJob *job);

/* Carries along what came to all leaves until now; returns how many rows */
extern uint64 fc_replace_carry_all(FcJob *job);

/* Returns "merge", "replace" or another verb, for errors */
extern const char *fc_replace_verb(const FcJob *job);

/* ERROR 40001 if "changed", rows of the leaf changed meanwhile, is not 0 */
extern void fc_replace_refuse_changed(const FcJob *job, Relation leaf, uint64 changed);

/* Re-throws the caught error so that it names the leaf's schema, not ours */
extern void fc_replace_rethrow(FcJob *job);

/* After the load: ERROR 55000 if a leaf has got too few rows */
extern void fc_replace_check_loaded(FcJob *job);

/*
 * Load, of what goes to other servers: load/send.c
 */

/*
 * If some leaves are on other servers.  The first, before the phase load,
 * begins the COPYs: the leader sends while workers load.  The second, after
 * it, ends them, and notes an error about a record.  The third adds what was
 * sent to the report.
 */
extern void fc_send_start(FcJob *job);
extern void fc_send_stop(FcJob *job);
extern void fc_send_end_job(FcJob *job);

/* Rows that were sent, as the servers have counted them */
extern uint64 fc_send_job_rows(const FcJob *job);

/*
 * Finds and sends all records of the files, and throws the first error about
 * one.  False, with all that was sent rolled back, if a partition is missing
 * or on this server: the load must take another way.
 */
extern bool fc_send_whole(FcJob *job);

/*
 * Load: load/fill.c
 */

/*
 * Forgets the key, which the load no longer needs: missing partitions are
 * found, or rows must come in the order of the file.  Forgets also what the
 * scan has counted, rejected and filtered: the load looks at all records
 * again, and core routes.  An error that the scan has noted still ends the
 * load.  True.
 */
extern bool fc_fill_drop_key(FcJob *job);

/*
 * Puts the rows into their leaves.  Throws the error of the first bad record.
 * False, with all undone and the new partitions dropped, if the file looked
 * presorted and is not.
 */
extern bool fc_fill_run(FcJob *job);

/*
 * Index: load/indexes.c
 */

/*
 * Defines the parent's indexes on the new partitions and builds them.  If one
 * cannot be built, throws COPY's error for the first row that it refuses.
 */
extern void fc_indexes_run(FcJob *job);

/*
 * load/setup.c
 */

/*
 * The first makes a job, and the second makes it ready to run, both in the
 * memory context of the load.  All but the options may be NULL.  The second
 * throws COPY's errors for privileges, target, files and header.
 */
extern FcJob *fc_setup_begin(const FcOptions *options, const FcOpened *opened,
							 struct FcLedger *ledger, struct FcManifest *manifest);
extern void fc_setup_job(FcJob *job);

/*
 * Makes the segment of a load of one source of "size" bytes, PG_UINT64_MAX if
 * that is not known.  Returns NULL, with nothing changed, if there is too
 * little shared memory, as in a container: core can do this load without any.
 * Only creating the segment shows whether there is enough.
 */
extern dsm_segment *fc_setup_segment(const FcOptions *options, uint64 size);

/* Closes what setup opened; the target stays locked */
extern void fc_setup_end(FcJob *job);

/* Open and close the target, which is closed while the leader does DDL */
extern void fc_setup_open_target(FcJob *job);
extern void fc_setup_close_target(FcJob *job);

/* Returns the number of workers for "bytes" of data */
extern int	fc_setup_workers(const FcTarget *target, uint64 bytes);

/*
 * load/access.c
 */

/*
 * Opens the files of a load, in its order: paths and patterns.  Throws COPY's
 * errors for files that the caller may not read or that cannot be opened,
 * ERROR 22023 for a file that is named twice, or for a pattern of files that
 * is also the name of one.  Reads at most "most" bytes of files without a
 * known size.  Needs the options and, for hints, the table if there is one.
 */
extern FcSource *fc_access_open(const FcTarget *target, uint64 most);

/* The files as they were named: neither unpacked nor converted */
extern const FcSource *fc_access_named(const FcJob *job);

/*
 * The paths of the files, as strings, unopened; there may be none.  All
 * patterns are expanded.
 */
extern List *fc_access_list(const FcTarget *target);

/*
 * Before the target is opened, if its rows are replaced or moved: locks a
 * plain table, or one whose rows are moved, against another such load; else the
 * two would deadlock at their ends.
 */
extern void fc_access_lock_target(const FcOptions *options);

/* COPY's ERROR 0A000 if row-level security would apply to the caller */
extern void fc_access_refuse_rls(Oid table);

/*
 * Throws COPY's errors if the caller may not load, and ERROR 0A000 if rows are
 * to be replaced that cannot be; needs the plan
 */
extern void fc_access_check_target(FcJob *job);

/*
 * load/away.c
 */

/*
 * Before all else: ERROR 0A000 if options need fast_copy_cluster and it is
 * missing, 22023 if they are wrong
 */
extern void fc_away_check_options(const FcOptions *options);

/*
 * Returns why core must load because of this foreign table, which is the target
 * or a leaf of it; NULL: its records can be sent as they are.
 */
extern const char *fc_away_refusal(FcJob *job, Relation foreign);

/*
 * Finds out which leaves are on other servers, and whether records can be sent
 * there.  ERROR 0A000 if another extension keeps the target's rows elsewhere,
 * and records cannot be sent there.
 */
extern void fc_away_foresee(FcJob *job);

/*
 * With a ledger: ERROR 0A000 if rows go to other servers, which could commit
 * them when the row of the ledger here is lost, or to unlogged tables, which
 * lose them in a crash
 */
extern void fc_away_check_ledger(const FcJob *job);

/*
 * Locks all leaves, or checks that another extension still keeps the rows: can
 * all records still be sent?
 */
extern bool fc_away_confirm(FcJob *job);

/* Before core loads: ERROR if it must not, or if the rows belong elsewhere */
extern void fc_away_check_core(FcJob *job);

/* ERROR if rows would be loaded here that another extension keeps elsewhere */
extern void fc_away_check_here(const FcTarget *target);

/* Are rows that were loaded into the table invisible until the commit? */
extern bool fc_away_is_unseen(FcJob *job, Oid table);

/*
 * load/way.c
 */

/*
 * Sets the facts of the plan and of the source, and decides the course; once
 * more under the locks, for what others may have changed.
 */
extern void fc_way_begin(FcJob *job);

/* Decides the course anew, from what the facts are now */
extern void fc_way_decide(FcJob *job);

/* For the report: how a load went */
extern char *fc_way_choice(const FcTarget *target);
extern char *fc_way_of_leaf(const FcTarget *target, const FcTask *task);

/*
 * load/lead.c
 */

/*
 * Begins a phase in report and progress, if the source is whole; else the
 * phase begins when the source is whole, in fc_lead_run()
 */
extern void fc_lead_begin(FcJob *job, FcPhase phase);

/*
 * Runs a phase over "units" chunks or tasks, in workers or in the leader
 * alone.  Returns the number of processes that worked.  If the source is still
 * to be unpacked or received, this happens meanwhile, and the source is whole
 * afterwards.
 */
extern int	fc_lead_run(FcJob *job, FcPhase phase, uint32 units, FcWork *work);

/*
 * Unpacks the packed files of target->source ahead of all other phases, before
 * its segment exists, and makes their copies the source
 */
extern void fc_lead_unpack(FcJob *job);

/*
 * Calls "phase", in which the leader may run code of users, in a
 * subtransaction that is rolled back.  The transaction goes on after an error
 * of such code is caught, and what the code did must not stay.
 */
extern void fc_lead_apart(FcJob *job, void (*phase) (FcJob *job));

/*
 * Throws the error of the first bad record, an FcTarget's, after the NOTICEs of
 * rejects before it
 */
extern void fc_lead_throw(void *target);

/* Gives the leader the load's tasks again, after a phase with other tasks */
extern void fc_lead_take_up_tasks(FcJob *job);

/* Ends the phase in the report; rows and bytes are -1 if unknown */
extern void fc_lead_report(FcJob *job, int processes, int64 rows, int64 bytes,
						   char *choice);

/*
 * Once the records are counted: adds a row to the report for each of several
 * files
 */
extern void fc_lead_report_files(FcJob *job);

/* Returns for the report how many chunks there are */
extern char *fc_lead_split_choice(const FcJob *job);

/*
 * load/tasks.c
 */

/*
 * The first sets job->parts from the spill, the second to the parts given.
 * Both set job->target.created to the ranges that need a new partition, and
 * note an error for rows that no partition will take.
 */
extern void fc_tasks_find_parts(FcJob *job);
extern void fc_tasks_set_parts(FcJob *job, List *parts);

/* Makes job->tasks, the largest leaf first; new partitions must have OIDs */
extern void fc_tasks_make(FcJob *job);

/*
 * Makes job->tasks for a presorted file: a slice for each chunk that may have
 * rows of a part, by job->keys, which fc_presorted_look has set
 */
extern void fc_tasks_make_presorted(FcJob *job);

/*
 * Sets job->parts to all ranges from the first key of a presorted file to its
 * last; some may turn out to have no rows.  False if these are too many, or if
 * a new partition cannot be made for each of them.
 */
extern bool fc_tasks_span_parts(FcJob *job);

/*
 * The leaf that takes a part's rows, or its substitute; InvalidOid if none
 * does, if core routes, or if it is not made yet.  *created: the load makes
 * it.
 */
extern Oid	fc_tasks_leaf(const FcTarget *target, const FcSpillPart *part,
						  bool *created);

/*
 * Decides how about "rows" rows get into a leaf.  They are frozen if "frozen"
 * or the caller says so.
 */
extern FcStorage fc_tasks_storage(FcJob *job, Oid leaf, bool frozen, uint64 rows);

/* Rows that went to one leaf, with its OID first for oid_cmp() */
typedef struct FcLeafRows
{
	Oid			leaf;
	uint64		rows;
	uint64		old;			/* of these: see FcTask */
	uint64		old_gone;
	uint64		gone;
} FcLeafRows;

/* Returns target.ngroups of them, one for each leaf loaded, in order of OIDs */
extern FcLeafRows *fc_tasks_leaf_rows(FcJob *job);

/* The same, if tasks have loaded the leaves; else NULL */
extern FcLeafRows *fc_tasks_counts(FcJob *job);

/* The rows of a leaf; if "leaves" is NULL there is but one */
extern uint64 fc_tasks_rows_of(FcJob *job, const FcLeafRows *leaves, Oid leaf);

/*
 * Has the load of a leaf, or its substitute, added rows, or left old ones out?
 * False if no row of the file came.
 */
extern bool fc_tasks_has_changed(FcJob *job, const FcLeafRows *leaves, Oid leaf);

/*
 * load/manifest.c
 */

typedef struct FcManifest FcManifest;

/*
 * Compares the files of a call with its manifest, all of their bytes; NULL
 * without one.  ERROR 22P04 if files are missing, or others there, or if size
 * or sums are not as it says.
 */
extern FcManifest *fc_manifest_check(const FcOptions *options);

/* ERROR 55000 if these are no longer the files; reads all of them */
extern void fc_manifest_check_loaded(const FcJob *job);

/* What it says of a file, for the ledger; *hash may become NULL */
extern bool fc_manifest_expects(const FcJob *job, uint32 number, int64 *bytes, char **hash);

/*
 * load/range.c
 */

/* The bytes of a file that one load has */
typedef struct FcCut
{
	uint64		start;			/* those before are loaded */
	uint64		end;
	uint64		lines;			/* before the start */
	uint64		end_lines;		/* before the end, if that is not the file's */
} FcCut;

/*
 * Lets a load have one of the files from cut->start on, and if it is alone, and
 * "most" is not 0, no records that end after so many bytes, but for the first
 * one; sets the end.  ERROR 55000 for a start that is not 0 in a file whose
 * bytes are not loaded as they "stand", or not record by record.
 */
extern void fc_range_cut(FcJob *job, uint32 number, uint64 most, bool stand, FcCut *cut);

/*
 * Cuts off what skip_footer says of each file, and what comes after max_records
 * of all files together.  The headers have been read, and the files are there.
 */
extern void fc_range_limit(FcJob *job);

/*
 * load/ledger.c
 */

extern const FcOwnTable fc_ledger_kind;

/*
 * Opens the table, and locks it until the transaction ends against changes of
 * its definition.  ERROR 42501 or 55000 if it cannot be trusted, or is the
 * target.
 */
extern Relation fc_ledger_open(Oid table, Oid target);

/*
 * For commands on the ledger, as "l": the columns that identify the table of a
 * row, their values for a row that is written, and a condition that is true
 * for rows whose column "target" can be trusted
 */
#define FC_LEDGER_IDENTITY "target_oid, target_name, origin, xid"
extern char *fc_ledger_identity(Oid target);
extern char *fc_ledger_counts(void);

/*
 * Returns a file's path without links, as fc_root_place() does; "root" as in
 * fc_root_open().  ERROR 55000 if that is not the file with this device and
 * inode.
 */
extern char *fc_ledger_path(const char *root, const char *path, dev_t dev, ino_t ino);

/*
 * Can the ledger have a file of this name and path?  If not, says so: "elevel"
 * is WARNING, or ERROR (22023).
 */
extern bool fc_ledger_takes(const char *named, const char *path, int elevel);

/*
 * Before a load: locks the ledger, and claims in it the files that are to be
 * loaded; other loads of them wait until the transaction ends.  NULL if the
 * options name no ledger.  ERROR 55000 for a file that has changed since it
 * was loaded.
 */
extern struct FcLedger *fc_ledger_claim(const FcOptions *options);

/* For an analysis: how many of the files the ledger has; 0 on a standby */
extern uint32 fc_ledger_count(const FcJob *job);

/* Has the ledger all files as loaded? */
extern bool fc_ledger_has_all(const struct FcLedger *ledger);

/*
 * load/ledger_other.c.  Returns faults, a list of FcFault, if rows are replaced
 * that have keys in these ranges, a list of FcRange by key, and are of files
 * that the load does not name; ERRCODE_WARNING if they may be, or if
 * other_files says so.
 */
extern List *fc_ledger_others(const FcJob *job, const List *ranges);

/* The sources without what the ledger has: List of String */
extern const List *fc_ledger_sources(const struct FcLedger *ledger);

/* ERROR 55000 unless the files that were opened are those that were claimed */
extern void fc_ledger_check_opened(const FcJob *job);

/*
 * Once headers were read: leaves of the files what this load is to have
 */
extern void fc_ledger_cut(FcJob *job);

/* FcContext.idle: adds to the checksums of the files; arg is the job */
extern bool fc_ledger_sum(void *arg);

/*
 * After the load: records the files as loaded.  ERROR 55000 for a file that
 * somebody has written to since it was claimed.
 */
extern void fc_ledger_put(FcJob *job);

#endif							/* FC_STEPS_H */
