/*-------------------------------------------------------------------------
 *
 * report/log.c
 *	  One load as a whole: its line in the server's log, and the last row of
 *	  its report.
 *
 *	 counters, report rows ──► figures ──► LOG, fast_copy_report()
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
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "report/log.h"
#include "report/report.h"

#define FC_MEGABYTE		(1024.0 * 1024.0)

static double
fc_log_seconds(const FcLog *log)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, log->start);
	return Max(INSTR_TIME_GET_DOUBLE(now), 1e-6);
}

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
static const char *
fc_log_sources(const FcOptions *options)
{
	const char *first = strVal(linitial(options->sources));
	int			n = list_length(options->sources);

	if (options->program)
		return n == 1 ? "a program" : psprintf("%d programs", n);
	if (n == 1)
		return psprintf("\"%s\"", first);
	return psprintf("\"%s\" and %d more", first, n - 1);
}

void
fc_log_begin(FcLog *log, const FcOptions *options)
{
	memset(log, 0, sizeof(FcLog));
	log->mcxt = CurrentMemoryContext;
	INSTR_TIME_SET_CURRENT(log->start);
	log->wal = pgWalUsage.wal_bytes;
	if (fc_log_min_duration < 0)
		return;
	log->target = fc_log_name(options->target);
	log->source = fc_log_sources(options);
}

/* Bytes of spill that the scans have written: a load may scan twice */
static uint64
fc_log_spilled(void)
{
	uint64		bytes = 0;
	ListCell   *lc;

	foreach(lc, fc_report_rows())
	{
		FcReportRow *row = lfirst(lc);

		if (row->whole && row->phase == FC_PHASE_SCAN)
			bytes += row->spill_bytes;
	}
	return bytes;
}

static const char *
fc_log_spill(const FcProgress *progress)
{
	if (fc_log_spilled() == 0)
		return "none";
	return progress->target->way == FC_WAY_ROWS ? "rows" : "offsets";
}

static const char *
fc_log_writer(const FcProgress *progress)
{
	FcTarget   *target = progress->target;
	uint64		paged = pg_atomic_read_u64(&target->shared->counts.paged);

	if (target->way == FC_WAY_COPY)
		return "copy";
	if (target->loaded == 0)
		return "none";
	if (paged == 0)
		return "multi_insert";
	return paged == target->loaded ? "page" : "page and multi_insert";
}

static const char *
fc_log_order(const FcProgress *progress)
{
	FcTarget   *target = progress->target;
	bool		keyed = (target->plan->key_type != FC_KEY_NONE);

	if (target->way == FC_WAY_COPY || target->plan->leader_reason ||
		target->way == FC_WAY_TURNS)
		return keyed && target->way != FC_WAY_COPY ? "key" : "file";
	if (target->way == FC_WAY_PRESORTED)
		return "streamed";
	return keyed ? "key" : "none";
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
fc_log_figures(const FcProgress *progress, double seconds, uint64 wal)
{
	FcTarget   *target = progress->target;
	FcShared   *shared = target->shared;
	uint64		bytes = shared->source.identity.size;
	StringInfoData line;

	initStringInfo(&line);
	appendStringInfo(&line, "rows=" UINT64_FORMAT ", rejected=" UINT64_FORMAT
					 ", filtered=" UINT64_FORMAT ", nulled=" UINT64_FORMAT
					 ", bytes=" UINT64_FORMAT ", seconds=%.3f, rate=%.0f rows/s and %.1f MB/s",
					 target->loaded, pg_atomic_read_u64(&shared->counts.rejected),
					 pg_atomic_read_u64(&shared->counts.filtered),
					 pg_atomic_read_u64(&shared->counts.nulled), bytes, seconds,
					 target->loaded / seconds, bytes / seconds / FC_MEGABYTE);
	appendStringInfo(&line, ", workers=%d of %d, spill=%s, spill_bytes=" UINT64_FORMAT
					 ", writer=%s, order=%s, partitions=%d, indexes=%d, wal_bytes=" UINT64_FORMAT,
					 progress->launched, target->nworkers, fc_log_spill(progress),
					 fc_log_spilled(), fc_log_writer(progress),
					 fc_log_order(progress), target->ncreated, target->nindexes, wal);
	fc_log_phases(&line);
	return line.data;
}

/* Adds the last row of the report: the phases' total */
static void
fc_log_report(const FcProgress *progress, double seconds, uint64 wal)
{
	FcTarget   *target = progress->target;
	FcReportRow row = {0};
	FcShared   *shared = target->shared;

	row.phase = FC_PHASE_TOTAL;
	row.whole = true;
	row.processes = Max(progress->launched, 1);
	row.alone = -1;
	row.rows = target->loaded;
	row.bytes = shared->source.identity.size;
	row.reads = -1;
	row.seconds = seconds;
	row.wal_bytes = wal;
	row.spill_bytes = fc_log_spilled();
	row.choice = psprintf("%d of %d workers, " UINT64_FORMAT " filtered, "
						  UINT64_FORMAT " rejected, " UINT64_FORMAT " with values set to null",
						  progress->launched, target->nworkers,
						  pg_atomic_read_u64(&shared->counts.filtered),
						  pg_atomic_read_u64(&shared->counts.rejected),
						  pg_atomic_read_u64(&shared->counts.nulled));
	fc_report_add(&row);
}

void
fc_log_add_up(FcLog *log, FcProgress *progress)
{
	uint64		wal = pgWalUsage.wal_bytes - log->wal;

	log->seconds = fc_log_seconds(log);
	fc_log_report(progress, log->seconds, wal);
	if (log->target)
		log->figures = fc_log_figures(progress, log->seconds, wal);
}

/* Hides statement and context, which may hold data or passwords */
static void
fc_log_line(const FcLog *log, const char *outcome, const char *figures)
{
	ereport(LOG,
			(errmsg_internal("fast_copy of %s from %s%s: %s",
							 log->target, log->source, outcome, figures),
			 errhidestmt(true),
			 errhidecontext(true)));
}

static bool
fc_log_is_due(const FcLog *log, double seconds)
{
	return log->target && fc_log_min_duration >= 0 &&
		seconds * 1000 >= fc_log_min_duration;
}

void
fc_log_loaded(FcLog *log)
{
	if (fc_log_is_due(log, log->seconds))
		fc_log_line(log, "", log->figures);
}

void
fc_log_failed(FcLog *log, const FcProgress *progress)
{
	FcTarget   *target = progress ? progress->target : NULL;
	double		seconds = fc_log_seconds(log);
	int			sqlerrcode = geterrcode();
	MemoryContext old;
	StringInfoData line;

	if (!fc_log_is_due(log, seconds))
		return;
	old = MemoryContextSwitchTo(log->mcxt);
	initStringInfo(&line);
	appendStringInfo(&line, "phase=%s, sqlstate=%s, seconds=%.3f",
					 fc_phase_name(progress ? progress->phase : FC_PHASE_SETUP),
					 unpack_sql_state(sqlerrcode), seconds);
	if (target && target->source)
		appendStringInfo(&line, ", bytes=" UINT64_FORMAT ", workers=%d of %d",
						 target->inflow ? pg_atomic_read_u64(progress->taken) :
						 (uint64) target->source->identity.size, progress->launched,
						 target->nworkers);
	if (progress && progress->reporting)
		fc_log_phases(&line);
	fc_log_line(log, " failed", line.data);
	MemoryContextSwitchTo(old);
}
