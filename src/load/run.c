/*-------------------------------------------------------------------------
 *
 * load/run.c
 *	  One load: its steps in their order, and the law that nothing is lost.
 *
 * The steps of a load are rows of a table, fc_job_steps.  Before each one
 * load/way.c decides the course anew (context/course.h), which tells whether
 * the step is needed; a step that learns something sets a fact.
 *
 *	 0 setup     options, target, files, plan ──► segment (load/setup.c).  Then
 *				 all data come in, if nothing can go on beside that
 *	 1 send      all records to other servers, if all leaves are there
 *	 2 split     the records of the files, unless a later pass finds them
 *	 3 alone     core's CopyFrom, where it needs nothing of what follows
 *	 4 grow      where core routes, partitions that rows lack: found by a scan
 *				 of its own, made and attached.  If some have gone meanwhile:
 *				 once more
 *	 5 look      is the file in key order?
 *	 6 scan      keys ──► spilled rows or offsets; which ranges have rows.
 *				 If it guessed wrongly where records begin: again from 2
 *	 7 lock      the leaves that get rows; the target, if some are missing.
 *				 If pg_partman is at work, or if rows of the target that others
 *				 move wait for this load, it ends, and begins at 0
 *	 8 compare   partitions with those that the scan saw: again from 6
 *	 9 prepare   deletes rows, makes substitutes, a stage, missing partitions
 *	10 drop      what the scan has counted, where the load counts it again
 *	11 fill      rows ──► leaves.  If the file is not in key order: from 6
 *	12 complete  every record is accounted for; indexes; attaches partitions;
 *				 foreign keys of the others
 *	13 settle    rows of a stage, or files of substitutes, get to their places
 *	14 core      core's CopyFrom, where partitions had to be made before
 *	15 rejects   reported, and put into reject_table
 *	16 end       the ledger, ANALYZE, the history; all is closed
 *
 * What the load holds:
 *
 *	locks        of the target: RowExclusive from 0 on, and from 7 on
 *				 ShareUpdateExclusive if partitions are missing; from 4 on, if
 *				 they are made there, also of the tables that they are attached
 *				 to or made like, and AccessExclusive of default partitions.
 *				 Of leaves, from 7 on, or from 1 if all records were to be sent:
 *				 RowExclusive, or ShareUpdateExclusive if rows are replaced or
 *				 merged, or from 9 on for those with substitutes; core's routing
 *				 locks them in 11 or 14 if no user's code is in the way.
 *				 AccessExclusive of new partitions from 9 on, of the default
 *				 partition from 12 on if some are attached, and of exchanged
 *				 files in 13.  They stay until the transaction ends; only a load
 *				 that ends at 7 gives the target's back.
 *	open tables  the target from 0 to 16, but while DDL runs; leaves, in
 *				 job->hold, from 9 on, until they have their rows or places;
 *				 history, ledger and reject_table from 0 on.  They belong to the
 *				 resource owner, as the open files of the source do.
 *	snapshot     of a replace or merge, from 7 to 13: rows that it does not see
 *				 are not replaced.
 *	segment      of the load, from 0 to 16, with what the scan has spilled and
 *				 the reject files; 1, 4, 6, 8, 10, 11 and 14 empty it, see
 *				 fc_find_forget().  Another one owns what was unpacked or
 *				 received; a load that ends at 7 leaves it to the next attempt.
 *	workers      from the beginning to the end of a phase, in its parallel
 *				 context.
 *	servers      transactions of other servers, in 1 and 11, which end with the
 *				 caller's.
 *
 * On error nothing is cleaned up here.  The abort of the caller's
 * (sub)transaction takes back rows, tables and catalog entries, and releases
 * locks; its resource owner closes files and tables and detaches the segments,
 * the last of which deletes temporary files; the parallel context ends the
 * workers; and the wing rolls back on other servers.  fc_job_run() notes the
 * failure in the report and lets the error go on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"

/*
 * Throws ERROR unless each record was loaded, filtered, rejected, equal to
 * another or a delete mark
 */
static void
fc_job_check_conservation(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		scanned = pg_atomic_read_u64(&target->shared->counts.scanned);
	uint64		filtered = pg_atomic_read_u64(&target->shared->counts.filtered);
	uint64		rejected = pg_atomic_read_u64(&target->shared->counts.rejected);

	uint64		duplicates = pg_atomic_read_u64(&target->shared->counts.duplicates);
	uint64		marks = pg_atomic_read_u64(&target->shared->counts.marks);

	if (target->found == scanned &&
		target->found == target->loaded + filtered + rejected + duplicates + marks)
		return;
	fc_throw(ERRCODE_INTERNAL_ERROR, errmsg("fast_copy lost count of its rows"),
			 errdetail("The file has " UINT64_FORMAT " records; " UINT64_FORMAT
					   " were scanned, " UINT64_FORMAT " loaded, "
					   UINT64_FORMAT " filtered, " UINT64_FORMAT " rejected, " UINT64_FORMAT " equal to others and " UINT64_FORMAT " delete marks.",
					   target->found, scanned, target->loaded, filtered, rejected, duplicates, marks),
			 errhint("Nothing was loaded. Please report this with the file's first lines."));
}

/* The target and its leaves with rows; without a scan all its partitions */
static List *
fc_job_loaded_tables(FcJob *job)
{
	FcTarget   *target = &job->target;
	List	   *tables;

	if (!fc_shared_key_routes(target->shared) || job->parts == NIL)
		return find_all_inheritors(target->oid, NoLock, NULL);
	tables = fc_tables_existing(job);
	for (int i = 0; i < target->ncreated; i++)
		tables = lappend_oid(tables, target->created[i].range.partition);
	list_sort(tables, list_oid_cmp);
	return lcons_oid(target->oid, tables);
}

/*
 * Runs ANALYZE on the tables that were loaded, and on nothing below them, as
 * the current user: they stay locked in ShareUpdateExclusiveLock.  ANALYZE gets
 * OIDs, as from autovacuum: by name it would go on to all partitions of a
 * table.  The load's progress is saved meanwhile: ANALYZE overwrites the slot.
 *
 * It locks the target first, as loads that attach to it do, and then the leaves
 * in the order of their OIDs: two such loads do not deadlock.
 */
static void
fc_job_statistics(FcJob *job)
{
	FcProgressSlot slot;
	List	   *tables;

	if (!job->target.options->run_analyze || job->target.kept ||
		job->target.rel->rd_rel->relkind == RELKIND_VIEW)
		return;
	fc_progress_phase(&job->progress, FC_PHASE_ANALYZE);
	CommandCounterIncrement();
	tables = fc_job_loaded_tables(job);
	job->progress.steps = list_length(tables);
	foreach_oid(table, tables)
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_away_is_unseen(job, table))
			continue;
		fc_progress_slot_save(&slot);
		fc_analyze_tables(list_make1(makeVacuumRelation(NULL, table, NIL)));
		fc_progress_slot_restore(&slot);
		job->progress.steps_done++;
		fc_progress_update(&job->progress);
	}
	fc_lead_report(job, 0, -1, -1, fc_units_of(list_length(tables), "table"));
}

void
fc_job_judge(void *arg)
{
	const FcTarget *target = &((const FcJob *) arg)->target;
	const FcOptions *options = target->options;
	uint32		n = options->reject_each ? target->source->nfiles : 1;

	for (uint32 i = 0; options->reject_percent > 0 && i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_notices_judge(target, options->reject_each ? i : PG_UINT32_MAX,
						 n == 1 ? target->found : fc_chunks_records(target->shared, target->source, i));
	}
}

/* Reports the rejects, and puts them into reject_table */
static bool
fc_job_rejects(FcJob *job)
{
	FcShared   *shared = job->target.shared;
	uint64		rejected = pg_atomic_read_u64(&shared->counts.rejected);

	if (rejected == 0 && pg_atomic_read_u64(&shared->counts.nulled) == 0 && pg_atomic_read_u64(&shared->counts.mended) == 0)
		return true;
	if (job->progress.shown)
		fc_progress_phase(&job->progress, FC_PHASE_REJECT);
	else
		fc_progress_begin_phase(&job->progress, FC_PHASE_REJECT);
	job->rejects_job = fc_notices_finish(&job->target);
	/* core's COPY has judged */
	if (!job->target.course.core)
		fc_job_judge(job);
	if (job->rejects_job)
		fc_lead_report(job, 1, rejected, -1, psprintf("job %s", job->rejects_job));
	return true;
}

/*
 * With missing_partitions "error" core would still put rows into a default
 * partition: refuses the load unless the scan has found that there are no such
 * rows.  Throws the scan's error before core loads rows ahead of it.
 */
static void
fc_job_check_default(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcSharedErrors *errors = &target->shared->errors;

	if (!fc_partitions_keep_default(target))
		return;
	if (pg_atomic_read_u64(&errors->offset) != PG_UINT64_MAX && errors->first.kind == FC_ERROR_ROUTE &&
		!target->plan->where_late)
		fc_core_throw(target);
	if (!fc_shared_key_routes(target->shared) || target->plan->where_late)
		fc_partitions_refuse_default(target, psprintf("Rows are loaded one by one, as COPY does: %s.",
													  target->course.reason));
}

/*
 * Loads with core's CopyFrom.  Missing partitions were found by our scan and
 * are attached; where that is not possible core throws COPY's error.
 */
static bool
fc_job_copy(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcErrorKind kind = target->shared->errors.first.kind;

	/* the scan has noted an error about a record, which ends any load */
	bool		failed = pg_atomic_read_u64(&target->shared->errors.offset) != PG_UINT64_MAX &&
		(kind == FC_ERROR_DATA || kind == FC_ERROR_GRAMMAR);

	/* core holds tables by itself */
	fc_hold_end_all(job->hold, FC_HELD_ROWS);
	fc_upsert_check_core(target);
	fc_job_check_default(job);
	/* rejects need the lines of records, and no split has counted these */
	Assert(!target->shared->source.unsplit || target->shared->plan.tolerated == 0);
	fc_away_check_core(job);
	if (fc_caller_is_told(target->options->caller))
		ereport(NOTICE, errmsg("rows are loaded one by one, as COPY does: %s",
							   target->course.reason),
				job->lacks_elsewhere && strcmp(target->course.reason, job->lacks_elsewhere) == 0 ?
				errhint("%s", fc_elsewhere_hint()) : 0);
	fc_core_check(target);
	fc_find_forget(job);
	fc_progress_end(&job->progress);
	fc_progress_begin_phase(&job->progress, FC_PHASE_COPY);
	pg_atomic_write_u64(&target->shared->counts.load_bytes, 0);
	/* a scan that failed has not counted all records */
	target->counted &= !failed;
	target->loaded = fc_core_copy(target);
	/* core accepted the record that the scan refused */
	if (failed)
		fc_core_throw(target);
	fc_lead_report(job, 1, target->loaded, target->shared->source.size,
				   psprintf("core's COPY: %s", target->course.reason));
	if (fc_plan_replaces(target->plan))
		fc_replace_check_loaded(job);
	return true;
}

/*
 * Sends all records to other servers.  If that cannot be, a scan finds the
 * records again, and their keys show which partition is in the way.
 */
static bool
fc_job_send(FcJob *job)
{
	if (fc_send_whole(job))
	{
		fc_job_check_conservation(job);
		return true;
	}
	fc_find_forget(job);
	if (!job->target.facts.heads)
		fc_layout_chunks(job);
	return false;
}

/* Finds the records, or leaves that to the next pass */
static bool
fc_job_split(FcJob *job)
{
	FcTarget   *target = &job->target;

	/* there is no file */
	if (fc_plan_moves(target->plan))
		return true;
	target->shared->source.unsplit = target->course.unsplit;
	if (target->course.splits)
		fc_find_split(job);
	return true;
}

/* False if partitions have come or gone since rows were looked at */
static bool
fc_job_grow(FcJob *job)
{
	bool		grown = fc_partitions_grow(job);

	fc_find_forget_rows(job);
	return grown;
}

/* False if it guessed wrongly where records begin */
static bool
fc_job_scan(FcJob *job)
{
	fc_find_keys(job);
	if (fc_plan_moves(job->target.plan))
		fc_move_read(job);
	return !job->target.facts.guessed_wrong;
}

/* False if another session must go first */
static bool
fc_job_lock(FcJob *job)
{
	/* the scan's lock let others attach and detach */
	fc_away_check_here(&job->target);
	fc_progress_phase(&job->progress, FC_PHASE_PARTITIONS);
	if (job->target.plan->existing == FC_EXISTING_REPLACE)
		fc_replace_begin(job);
	return fc_tables_lock(job);
}

/* False if partitions have come or gone since the scan, which is forgotten */
static bool
fc_job_compare(FcJob *job)
{
	if (!fc_tables_bounds_changed(&job->target))
		return true;
	fc_find_forget(job);
	job->target.facts.presorted = false;
	return false;
}

/* Deletes what the load replaces, and makes the tables that it needs */
static bool
fc_job_prepare(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (fc_plan_replaces(target->plan))
		fc_replace_choose(job);
	else
		fc_replace_choose_empty(job);
	if (target->plan->existing == FC_EXISTING_MERGE && target->nsubstitutes > 0)
		fc_merge_read(job);
	if (target->options->conflict != FC_CONFLICT_ERROR)
		fc_upsert_begin(job);
	if (target->plan->existing == FC_EXISTING_REPLACE)
		fc_replace_delete(job);
	CHECK_FOR_INTERRUPTS();
	fc_partitions_make(job);
	fc_references_begin(job);
	if (fc_target_grows(target) && !target->course.flows)
		fc_find_unpack(job);
	return true;
}

/* Counts, builds indexes, attaches new partitions, checks foreign keys */
static bool
fc_job_complete(FcJob *job)
{
	fc_job_check_conservation(job);
	if (fc_plan_replaces(job->target.plan) && !fc_plan_moves(job->target.plan))
		fc_replace_check_loaded(job);
	CHECK_FOR_INTERRUPTS();
	fc_indexes_run(job);
	/* from here on others may wait for the load: it is done with its files */
	while (job->ledger && fc_ledger_sum(job))
		;
	CHECK_FOR_INTERRUPTS();
	if (job->target.ncreated > 0 && job->moved != NIL)
	{
		fc_move_delete(job);
		fc_replace_exchange(job);
		fc_move_end(job);
	}
	fc_partitions_attach(job);
	CHECK_FOR_INTERRUPTS();
	fc_references_check(job, fc_tables_existing(job));
	return true;
}

/* Inserts the rows of a stage, or exchanges substitutes with their leaves */
static bool
fc_job_settle(FcJob *job)
{
	if (OidIsValid(job->target.stage))
		fc_upsert_insert(job);
	else if (job->exchange_schemas != NIL)
		fc_replace_exchange(job);
	fc_hold_check(job->hold);
	fc_hold_end_all(job->hold, FC_HELD_PLACE);
	return true;
}

/* The steps, as the list at the head of the file numbers them */
typedef enum FcStepNumber
{
	FC_STEP_SEND = 1,			/* 0 is before all of them */
	FC_STEP_SPLIT,
	FC_STEP_ALONE,
	FC_STEP_GROW,
	FC_STEP_LOOK,
	FC_STEP_SCAN,
	FC_STEP_LOCK,
	FC_STEP_COMPARE,
	FC_STEP_PREPARE,
	FC_STEP_DROP,
	FC_STEP_FILL,
	FC_STEP_COMPLETE,
	FC_STEP_SETTLE,
	FC_STEP_CORE,
	FC_STEP_REJECTS,
	FC_STEP_END,				/* loaded */
	FC_STEP_AWAY				/* another session goes first */
} FcStepNumber;

typedef struct FcStep
{
	size_t		needed;			/* offset of the field of FcCourse that says
								 * so; 0: always */
	bool		(*run) (FcJob *job);
	FcStepNumber done;			/* the step after it, */
	FcStepNumber again;			/* ... and if it returned false */
} FcStep;

#define if_course(field)	offsetof(FcCourse, field)

static const FcStep fc_job_steps[] = {
	[FC_STEP_SEND] = {if_course(sends_all), fc_job_send, FC_STEP_END, FC_STEP_SPLIT},
	[FC_STEP_SPLIT] = {0, fc_job_split, FC_STEP_ALONE},
	[FC_STEP_ALONE] = {if_course(core_alone), fc_job_copy, FC_STEP_REJECTS},
	[FC_STEP_GROW] = {if_course(finds), fc_job_grow, FC_STEP_LOOK, FC_STEP_GROW},
	[FC_STEP_LOOK] = {if_course(seeks), fc_find_look, FC_STEP_SCAN},
	[FC_STEP_SCAN] = {if_course(scans), fc_job_scan, FC_STEP_LOCK, FC_STEP_SPLIT},
	[FC_STEP_LOCK] = {0, fc_job_lock, FC_STEP_COMPARE, FC_STEP_AWAY},
	[FC_STEP_COMPARE] = {if_course(routes), fc_job_compare, FC_STEP_PREPARE, FC_STEP_SCAN},
	[FC_STEP_PREPARE] = {0, fc_job_prepare, FC_STEP_DROP},
	[FC_STEP_DROP] = {if_course(drops_key), fc_fill_drop_key, FC_STEP_FILL},
	[FC_STEP_FILL] = {if_course(fills), fc_fill_run, FC_STEP_COMPLETE, FC_STEP_SCAN},
	[FC_STEP_COMPLETE] = {if_course(fills), fc_job_complete, FC_STEP_SETTLE},
	[FC_STEP_SETTLE] = {0, fc_job_settle, FC_STEP_CORE},
	[FC_STEP_CORE] = {if_course(core), fc_job_copy, FC_STEP_REJECTS},
	[FC_STEP_REJECTS] = {0, fc_job_rejects, FC_STEP_END},
};

/* Goes from step to step; false if the load gives way to another session */
static bool
fc_job_run_steps(FcJob *job)
{
	int			step = FC_STEP_SEND;

	while (step < FC_STEP_END)
	{
		const FcStep *row = &fc_job_steps[step];
		const char *course = (const char *) &job->target.course;

		CHECK_FOR_INTERRUPTS();
		fc_way_decide(job);
		if (row->needed != 0 && !*(const bool *) (course + row->needed))
			step++;
		else
			step = row->run(job) ? row->done : row->again;
	}
	return step == FC_STEP_END;
}

/* Parses and checks every row, as the load would */
static void
fc_job_check(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcWork		work = {0};
	int			processes;

	fc_progress_phase(&job->progress, FC_PHASE_CHECK);
	fc_find_forget(job);
	processes = fc_lead_run(job, FC_PHASE_CHECK, target->shared->source.nchunks, &work);
	target->loaded = pg_atomic_read_u64(&target->shared->counts.loaded);
	fc_lead_report(job, processes, target->loaded,
				   target->data_size, "nothing is written");
}

/* From here on others see the progress of the load */
static void
fc_job_start(FcJob *job)
{
	fc_setup_job(job);
	fc_upsert_check_classes(&job->target);
	fc_progress_start(&job->progress);
	fc_progress_phase(&job->progress, FC_PHASE_SETUP);
	job->target.ctx.progress = fc_intake_progress;
	job->target.ctx.lead = job->intake.incoming ? fc_receive_lead : NULL;
	job->target.ctx.progress_arg = job->target.ctx.lead_arg = &job->intake;
	job->target.ctx.idle = job->ledger ? fc_ledger_sum : NULL;
	job->target.ctx.idle_arg = job;
}

FcJob *
fc_job_analyze(const FcOptions *options)
{
	FcJob	   *job = fc_setup_begin(options, NULL, NULL, fc_manifest_check(options));
	FcTarget   *target = &job->target;

	fc_report_start();
	fc_job_start(job);
	fc_find_split(job);
	if (target->course.finds)
		fc_lead_apart(job, fc_partitions_look);
	if (fc_shared_keyed(target->shared))
		fc_lead_apart(job, fc_find_keys);
	fc_lead_apart(job, fc_job_check);
	fc_progress_end(&job->progress);
	return job;
}

/*
 * Ends a load that has written nothing so far, and releases its lock on the
 * target.  Returns what it has received.
 */
static FcReceived
fc_job_give_way(FcJob *job)
{
	Oid			target = job->target.oid;
	FcReceived	received = job->intake.received;

	fc_progress_end(&job->progress);
	received.given_up = job->target.given_up;
	if (received.source)
	{
		received.copies = job->intake.unpacked;
		job->intake.unpacked = NULL;
	}
	fc_setup_end(job);
	UnlockRelationOid(target, RowExclusiveLock);
	return received;
}

/* Runs the load; false if it must give way, and start again */
static bool
fc_job_load_file(FcJob *job, FcLog *log)
{
	fc_job_start(job);
	if (fc_plan_moves(job->target.plan))
		fc_move_begin(job);
	if (job->target.course.waits)
		fc_find_unpack(job);
	if (!fc_job_run_steps(job))
		return false;
	fc_receive_check_whole(&job->intake);
	if (job->intake.received.cut)
		elog(ERROR, "the error for which the rest was not received is gone");
	fc_manifest_check_loaded(job);
	fc_ledger_put(job);
	fc_job_statistics(job);
	fc_progress_end(&job->progress);
	fc_log_add_up(log, &job->progress);
	fc_history_put(&job->target, &log->totals);
	fc_setup_end(job);
	return true;
}

uint64
fc_job_run(const FcOptions *options, const FcOpened *opened)
{
	FcJob	   *volatile job = NULL;
	struct FcLedger *ledger;
	FcManifest *manifest;
	volatile bool loads = false;
	FcLog		log;

	fc_log_begin(&log, options);
	PG_TRY();
	{
		manifest = fc_manifest_check(options);
		ledger = fc_ledger_claim(options);
		loads = !fc_ledger_has_all(ledger);
		if (loads)
			job = fc_setup_begin(options, opened, ledger, manifest);
		while (loads && !fc_job_load_file(job, &log))
		{
			bool		awaited = job->awaited;
			FcReceived	received = fc_job_give_way(job);

			/* a plain COPY makes no partitions, and never gives way */
			Assert(opened == NULL);
			/* the job has ended: fc_log_failed() must not look at it */
			job = NULL;
			fc_partman_lock();
			if (awaited)
				fc_lock_patiently(options->target, ShareUpdateExclusiveLock);
			job = fc_setup_begin(options, opened, ledger, manifest);
			job->intake.received = received;
		}
	}
	PG_CATCH();
	{
		fc_log_failed(&log, job ? &job->progress : NULL);
		if (job && job->exchange_schemas != NIL)
			fc_replace_rethrow(job);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (!loads)
		return 0;
	fc_tell_end(options, &log.totals);
	fc_log_loaded(&log);
	return job->target.loaded;
}
