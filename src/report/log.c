/*-------------------------------------------------------------------------
 *
 * report/log.c
 *	  One load as a whole: its totals, and its line in the server's log.
 *
 *	 options, counters, report rows ──► totals ──► report, summary, NOTICE,
 *												   LOG, history
 *
 * Strings of the totals are in the log's memory context, or constants.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"

#include "report/report.h"

#define FC_MEGABYTE		(1024.0 * 1024.0)

/* The table's name, or its OID if the table has been dropped */
static char *
fc_log_name(Oid relid)
{
	char	   *name = get_rel_name(relid);
	char	   *schema = get_namespace_name(get_rel_namespace(relid));

	if (name == NULL || schema == NULL)
		return psprintf("%u", relid);
	return quote_qualified_identifier(schema, name);
}

/*
 * The first source, and how many there are.  A program's command may hold a
 * password, and core does not log it either unless it is told to.
 */
static char *
fc_log_sources(const FcOptions *options)
{
	const char *first = strVal(linitial(options->sources));
	int			n = list_length(options->sources);

	if (options->program)
		return n == 1 ? pstrdup("a program") : psprintf("%d programs", n);
	if (n == 1)
		return psprintf("\"%s\"", first);
	return psprintf("\"%s\" and %d more", first, n - 1);
}

const char *
fc_log_writers(const FcTarget *target, uint64 rows)
{
	uint64		paged = pg_atomic_read_u64(&target->shared->counts.paged);

	return rows == 0 ? "none" : paged == 0 ? "multi_insert" :
		paged == rows ? "page" : "page and multi_insert";
}

static const char *
fc_log_order(const FcTarget *target)
{
	bool		keyed = fc_shared_keyed(target->shared);

	if (target->course.sends_all)
		return "file";
	if (target->course.core || target->course.leader || target->course.way == FC_WAY_TURNS)
		return keyed && !target->course.core ? "key" : "file";
	if (target->course.way == FC_WAY_PRESORTED)
		return "streamed";
	return keyed ? "key" : "none";
}

void
fc_log_count(const FcTarget *target, FcReportRow *row)
{
	FcCounts   *counts = &target->shared->counts;
	bool		alone = target->course.core || target->course.sends_all;

	row->counted = true;
	row->filtered = pg_atomic_read_u64(&counts->filtered);
	row->rejected = pg_atomic_read_u64(&counts->rejected);
	row->nulled = pg_atomic_read_u64(&counts->nulled);
	row->mended = pg_atomic_read_u64(&counts->mended);
	row->way = fc_report_way(target->course.way);
	row->reason = alone || target->course.leader == NULL ? pstrdup(target->course.reason) :
		psprintf("%s; in the leader: %s", target->course.reason, target->course.leader);
}

void
fc_log_begin(FcLog *log, const FcOptions *options)
{
	FcTotals   *totals = &log->totals;

	memset(log, 0, sizeof(FcLog));
	log->mcxt = CurrentMemoryContext;
	INSTR_TIME_SET_CURRENT(log->start);
	log->wal = pgWalUsage.wal_bytes;
	totals->start = GetCurrentTimestamp();
	totals->row.phase = FC_PHASE_TOTAL;
	totals->row.whole = true;
	totals->row.alone = totals->row.rows = totals->row.reads = totals->row.wal_bytes = -1;
	totals->row.table = fc_log_name(options->target);
	totals->row.source = fc_log_sources(options);
	totals->sources = options->sources;
	totals->role = GetUserNameFromId(GetUserId(), false);
	totals->row.tolerant = options->on_error == FC_ON_ERROR_IGNORE;
	fc_report_start();
}

/* Appends the seconds of each phase, which may have run twice */
static void
fc_log_phases(StringInfo line)
{
	double		seconds[FC_NPHASES] = {0};
	const char *separator = "; ";

	/* other rows are about a part of a phase */
	foreach_ptr(FcReportRow, row, fc_report_rows())
		if (row->whole)
			seconds[row->phase] += row->seconds;
	for (int i = 0; i < FC_NPHASES; i++)
	{
		if (i == FC_PHASE_TOTAL || seconds[i] == 0)
			continue;
		appendStringInfo(line, "%s%s=%.3f s", separator, fc_activity_phase_name(i), seconds[i]);
		separator = ", ";
	}
}

/* Ends the report */
static void
fc_log_end(FcTotals *totals, char *choice)
{
	totals->row.processes = Max(totals->workers, 1);
	totals->row.choice = choice;
	fc_report_add(&totals->row);
}

void
fc_log_add_up(FcLog *log, FcProgress *progress)
{
	FcTotals   *totals = &log->totals;
	FcTarget   *target = progress->target;
	FcReportRow *row = &totals->row;

	fc_log_count(target, row);
	row->rows = target->loaded;
	row->bytes = fc_plan_moves(target->plan) ? -1 : (int64) target->shared->source.size;
	row->created = target->ncreated + target->nsprouts;
	row->replaced = target->nreplaced;
	row->merged = fc_plan_merges(target->plan) && !fc_plan_moves(target->plan);
	row->duplicates = pg_atomic_read_u64(&target->shared->counts.duplicates);
	row->updated = pg_atomic_read_u64(&target->shared->counts.updated) + target->updated;
	row->deleted = pg_atomic_read_u64(&target->shared->counts.deleted) + target->deleted;
	row->unmatched = pg_atomic_read_u64(&target->shared->counts.unmatched);
	row->old_rows = target->old_rows;
	row->old_guessed = target->old_guessed;
	row->indexes = target->nindexes;
	/* a load may scan twice */
	foreach_ptr(FcReportRow, of_phase, fc_report_rows())
		if (of_phase->whole && of_phase->phase == FC_PHASE_SCAN)
			row->spill_bytes += of_phase->spill_bytes;
	row->writer = target->course.core ? "copy" : target->course.sends_all ? "remote" :
		fc_log_writers(target, target->loaded == 0 ? 0 : target->loaded + fc_shared_rewritten(target->shared));
	row->wal_bytes = pgWalUsage.wal_bytes - log->wal;
	row->seconds = fc_figures_since(log->start);
	totals->workers = progress->launched;
	totals->nworkers = target->nworkers;
	totals->spilled = row->spill_bytes == 0 ? "none" :
		target->course.way == FC_WAY_ROWS ? "rows" : "offsets";
	totals->order = fc_log_order(target);
	fc_log_end(totals, psprintf("%d of %d workers", progress->launched, target->nworkers));
}

/*
 * Writes names, counts and choices, if the load took long enough, and nothing
 * of the file or of a program's command.  Hides statement and context, which
 * may hold data or passwords.
 */
static void
fc_log_line(const FcLog *log, const char *outcome, const char *figures)
{
	if (fc_log_min_duration < 0 || log->totals.row.seconds * 1000 < fc_log_min_duration)
		return;
	ereport(LOG, errmsg_internal("fast_copy of %s from %s%s: %s",
								 log->totals.row.table, log->totals.row.source, outcome, figures),
			errhidestmt(true),
			errhidecontext(true));
}

void
fc_log_loaded(FcLog *log)
{
	const FcTotals *totals = &log->totals;
	const FcReportRow *row = &totals->row;
	StringInfo	line = makeStringInfo();

	appendStringInfo(line, "rows=" INT64_FORMAT ", rejected=" INT64_FORMAT
					 ", filtered=" INT64_FORMAT ", nulled=" INT64_FORMAT ", mended=" INT64_FORMAT
					 ", bytes=" INT64_FORMAT ", seconds=%.3f, rate=%.0f rows/s and %.1f MB/s",
					 row->rows, row->rejected, row->filtered, row->nulled, row->mended, Max(row->bytes, 0), row->seconds,
					 row->rows / row->seconds, Max(row->bytes, 0) / row->seconds / FC_MEGABYTE);
	appendStringInfo(line, ", workers=%d of %d, spill=%s, spill_bytes=" INT64_FORMAT
					 ", writer=%s, order=%s, partitions=%d, replaced=%d, duplicates=" INT64_FORMAT
					 ", updated=" INT64_FORMAT ", deleted=" INT64_FORMAT ", unmatched=" INT64_FORMAT ", indexes=%d, wal_bytes=" INT64_FORMAT,
					 (int) totals->workers, totals->nworkers, totals->spilled, row->spill_bytes,
					 row->writer, totals->order, (int) row->created, (int) row->replaced,
					 row->duplicates, row->updated, row->deleted, row->unmatched, (int) row->indexes, row->wal_bytes);
	fc_log_phases(line);
	fc_log_line(log, "", line->data);
}

/*
 * Core logs the error itself.  In a PG_CATCH block this takes what was filled
 * before, and looks at no catalog.
 */
void
fc_log_failed(FcLog *log, const FcProgress *progress)
{
	FcTotals   *totals = &log->totals;
	FcTarget   *target = progress && progress->target->source ? progress->target : NULL;
	MemoryContext old = MemoryContextSwitchTo(log->mcxt);
	FcPhase		phase = progress ? progress->phase : FC_PHASE_SETUP;
	StringInfo	line = makeStringInfo();

	totals->row.seconds = fc_figures_since(log->start);
	totals->row.failed = unpack_sql_state(geterrcode());
	if (target)
	{
		totals->row.bytes = fc_target_grows(target) ? pg_atomic_read_u64(progress->taken) :
			target->source->size - target->source->passed;
		totals->workers = progress->launched;
		totals->nworkers = target->nworkers;
	}
	fc_log_end(totals, psprintf("failed in phase %s", fc_activity_phase_name(phase)));
	appendStringInfo(line, "phase=%s, sqlstate=%s, seconds=%.3f",
					 fc_activity_phase_name(phase), totals->row.failed, totals->row.seconds);
	if (target)
		appendStringInfo(line, ", bytes=" INT64_FORMAT ", workers=%d of %d",
						 totals->row.bytes, (int) totals->workers, totals->nworkers);
	fc_log_phases(line);
	fc_log_line(log, " failed", line->data);
	MemoryContextSwitchTo(old);
}
