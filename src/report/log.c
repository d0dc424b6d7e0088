/*-------------------------------------------------------------------------
 *
 * report/log.c
 *	  One load as a whole: its line in the server's log, and the end of its
 *	  report.
 *
 *	 counters, report rows ──► totals ──► LOG, fast_copy_report()
 *
 * fast_copy.log_min_duration says whether the line is written.  It holds
 * names, counts and choices, and nothing that stands in the file or in the
 * command of a program.  For a load that fails it has the phase and the
 * SQLSTATE; core logs the error itself.  The leader writes that line in a
 * PG_CATCH block, from memory that was filled before, without a look at
 * catalogs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "lib/stringinfo.h"
#include "report/log.h"
#include "report/totals.h"

#define FC_MEGABYTE		(1024.0 * 1024.0)

static double
fc_log_seconds(const FcLog *log)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, log->start);
	return Max(INSTR_TIME_GET_DOUBLE(now), 1e-6);
}

void
fc_log_begin(FcLog *log, const FcOptions *options)
{
	memset(log, 0, sizeof(FcLog));
	log->mcxt = CurrentMemoryContext;
	INSTR_TIME_SET_CURRENT(log->start);
	log->wal = pgWalUsage.wal_bytes;
	fc_totals_begin(&log->totals, options);
	fc_report_start();
}

/* Appends the seconds of each phase, which may have run twice */
static void
fc_log_phases(StringInfo line)
{
	double		seconds[FC_NPHASES] = {0};
	const char *separator = "; ";
	ListCell   *lc;

	foreach(lc, fc_report_rows())
	{
		FcReportRow *row = lfirst(lc);

		/* other rows are about a part of a phase */
		if (row->whole)
			seconds[row->phase] += row->seconds;
	}
	for (int i = 0; i < FC_NPHASES; i++)
	{
		if (i == FC_PHASE_TOTAL || seconds[i] == 0)
			continue;
		appendStringInfo(line, "%s%s=%.3f s", separator, fc_phase_name(i), seconds[i]);
		separator = ", ";
	}
}

static char *
fc_log_figures(const FcTotals *totals)
{
	StringInfoData line;

	initStringInfo(&line);
	appendStringInfo(&line, "rows=" UINT64_FORMAT ", rejected=" UINT64_FORMAT
					 ", filtered=" UINT64_FORMAT ", nulled=" UINT64_FORMAT
					 ", bytes=" UINT64_FORMAT ", seconds=%.3f, rate=%.0f rows/s and %.1f MB/s",
					 totals->rows, totals->rejected, totals->filtered, totals->nulled,
					 totals->bytes, totals->seconds, totals->rows / totals->seconds,
					 totals->bytes / totals->seconds / FC_MEGABYTE);
	appendStringInfo(&line, ", workers=%d of %d, spill=%s, spill_bytes=" UINT64_FORMAT
					 ", writer=%s, order=%s, partitions=%d, indexes=%d, wal_bytes=" UINT64_FORMAT,
					 totals->workers, totals->nworkers, totals->spilled, totals->spill,
					 totals->writer, totals->order, totals->created, totals->indexes,
					 totals->wal);
	fc_log_phases(&line);
	return line.data;
}

void
fc_log_add_up(FcLog *log, FcProgress *progress)
{
	FcTotals   *totals = &log->totals;

	fc_totals_take(totals, progress);
	totals->wal = pgWalUsage.wal_bytes - log->wal;
	totals->seconds = fc_log_seconds(log);
	fc_report_end(totals);
}

/* Hides statement and context, which may hold data or passwords */
static void
fc_log_line(const FcLog *log, const char *outcome, const char *figures)
{
	ereport(LOG,
			(errmsg_internal("fast_copy of %s from %s%s: %s",
							 log->totals.table, log->totals.source, outcome, figures),
			 errhidestmt(true),
			 errhidecontext(true)));
}

static bool
fc_log_is_due(double seconds)
{
	return fc_log_min_duration >= 0 && seconds * 1000 >= fc_log_min_duration;
}

void
fc_log_loaded(FcLog *log)
{
	if (fc_log_is_due(log->totals.seconds))
		fc_log_line(log, "", fc_log_figures(&log->totals));
}

/* What is known of a load that fails */
static void
fc_log_take_failed(FcLog *log, const FcProgress *progress)
{
	FcTotals   *totals = &log->totals;
	FcTarget   *target = progress ? progress->target : NULL;

	totals->seconds = fc_log_seconds(log);
	totals->failed = unpack_sql_state(geterrcode());
	totals->phase = progress ? progress->phase : FC_PHASE_SETUP;
	if (target == NULL || target->source == NULL)
		return;
	totals->bytes = target->inflow ? pg_atomic_read_u64(progress->taken) :
		(uint64) target->source->size;
	totals->workers = progress->launched;
	totals->nworkers = target->nworkers;
}

void
fc_log_failed(FcLog *log, const FcProgress *progress)
{
	FcTotals   *totals = &log->totals;
	MemoryContext old = MemoryContextSwitchTo(log->mcxt);
	StringInfoData line;

	fc_log_take_failed(log, progress);
	fc_report_end(totals);
	if (fc_log_is_due(totals->seconds))
	{
		initStringInfo(&line);
		appendStringInfo(&line, "phase=%s, sqlstate=%s, seconds=%.3f",
						 fc_phase_name(totals->phase), totals->failed, totals->seconds);
		if (progress && progress->target->source)
			appendStringInfo(&line, ", bytes=" UINT64_FORMAT ", workers=%d of %d",
							 totals->bytes, totals->workers, totals->nworkers);
		fc_log_phases(&line);
		fc_log_line(log, " failed", line.data);
	}
	MemoryContextSwitchTo(old);
}
