/*-------------------------------------------------------------------------
 *
 * report/tell.c
 *	  Lines of progress for the client of a load: progress => '5s'.
 *
 *	 shared counters ──► one NOTICE, every so often ──► client
 *
 * The leader sends a line wherever it shows progress to other sessions, while
 * it waits for workers and while it works itself.  Percent and time left are
 * those of the phase: how long the phases after it take is not known.  While
 * the leader builds an index, converts a file or analyzes a table it sends no
 * line.  So each phase of a long load begins with a line, and there may be one
 * between two indexes or tables.
 *
 * A NOTICE is flushed to the client by core.  The server is not told how wide
 * a terminal is: a bar is drawn if fast_copy.progress_width says it.
 *
 * Nothing is allocated but in the caller's context, a few hundred bytes a
 * line.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/timestamp.h"

#include "report/figures.h"
#include "report/report.h"
#include "report/tell.h"
#include "report/units.h"

/* What psql puts in front of the line */
#define FC_TELL_PREFIX	((int) strlen("NOTICE:  "))

/* Least and most columns between the brackets of a bar; none has less */
#define FC_TELL_BAR_MIN	10
#define FC_TELL_BAR_MAX	200

/* Columns kept for the figures, so that bars have one length */
#define FC_TELL_FIGURES	58

/* A smaller share of a phase does not tell how long the rest will take */
#define FC_TELL_SURE	0.005

/* Appends a time as a clock shows it: 0:07, 12:34, 1:02:03 */
static void
fc_tell_time(StringInfo line, double seconds)
{
	int64		s = (int64) (seconds + 0.5);

	if (s >= 3600)
		appendStringInfo(line, INT64_FORMAT ":%02d:%02d", s / 3600,
						 (int) (s / 60 % 60), (int) (s % 60));
	else
		appendStringInfo(line, "%d:%02d", (int) (s / 60), (int) (s % 60));
}

static double
fc_tell_seconds(TimestampTz since)
{
	return Max((GetCurrentTimestamp() - since) / 1e6, 0.0);
}

/* Seconds of the phase; one that unpacks as well began when unpacking did */
static double
fc_tell_phase_seconds(const FcProgress *progress)
{
	bool		beside = progress->target->inflow && progress->phase != FC_PHASE_SETUP;
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, beside ? progress->stream_start : progress->phase_start);
	return Max(INSTR_TIME_GET_DOUBLE(now), 1e-6);
}

/* The rows that the phase has dealt with; -1 if it does not deal with rows */
static double
fc_tell_rows(const FcProgress *progress)
{
	FcTarget   *target = progress->target;

	switch (progress->phase)
	{
		case FC_PHASE_UNPACK:
		case FC_PHASE_RECEIVE:
			return !target->inflow || target->shared == NULL ? -1 :
				(double) pg_atomic_read_u64(&target->shared->counts.scanned);
		case FC_PHASE_SCAN:
			return (double) pg_atomic_read_u64(&target->shared->counts.scanned);
		case FC_PHASE_LOAD:
		case FC_PHASE_CHECK:
			return (double) pg_atomic_read_u64(&target->shared->counts.loaded);
		default:
			return -1;
	}
}

/* Appends rows and bytes per second of the phase so far */
static void
fc_tell_rates(StringInfo line, FcProgress *progress, double done)
{
	double		seconds = fc_tell_phase_seconds(progress);
	double		rows = fc_tell_rows(progress);
	double		bytes = done * fc_progress_bytes(progress);

	if (rows > 0)
		appendStringInfo(line, ", %.0f rows/s", rows / seconds);
	if (bytes > 0 && fc_progress_reads_file(progress))
		appendStringInfo(line, ", %.1f MB/s", bytes / seconds / (1024 * 1024));
}

/* Appends what was received, without a share: the total is not known */
static void
fc_tell_received(StringInfo line, const FcProgress *progress)
{
	double		megabytes = pg_atomic_read_u64(progress->taken) / (1024.0 * 1024);
	double		seconds = fc_tell_phase_seconds(progress);
	double		rows = fc_tell_rows(progress);

	appendStringInfo(line, "%.1f MB, %.1f MB/s", megabytes, megabytes / seconds);
	if (rows > 0)
		appendStringInfo(line, ", %.0f rows/s", rows / seconds);
}

/* Appends [####------], in the width that is left by len columns */
static void
fc_tell_bar(StringInfo line, double done, int len)
{
	int			width = fc_progress_width - FC_TELL_PREFIX - len -
		(int) strlen("[] ");
	int			filled;

	if (width < FC_TELL_BAR_MIN)
		return;
	width = Min(width, FC_TELL_BAR_MAX);
	filled = (int) (done * width);
	appendStringInfoChar(line, '[');
	for (int i = 0; i < width; i++)
		appendStringInfoChar(line, i < filled ? '#' : '-');
	appendStringInfoString(line, "] ");
}

/*
 * Sends a line without context: it is not about an error, and to find out
 * which record the load is at takes long.
 */
static void
fc_tell_notice(const char *line)
{
	ErrorContextCallback *context = error_context_stack;

	error_context_stack = NULL;
	ereport(NOTICE, (errmsg_internal("%s", line)));
	error_context_stack = context;
}

/* Appends ", 3 of 7 indexes" in a phase that goes from one to the next */
static void
fc_tell_steps(StringInfo line, FcProgress *progress)
{
	int			done;
	int			total;
	const char *name = fc_progress_steps(progress, &done, &total);

	if (name && total > 0)
		appendStringInfo(line, ", %d of %d %s", done, total, name);
}

/* Appends percent, rates and times; done is -1 if it is not known */
static void
fc_tell_figures(StringInfo line, FcProgress *progress, double done)
{
	double		elapsed = fc_tell_phase_seconds(progress);

	if (done >= 0)
		appendStringInfo(line, "%3d%%", (int) (done * 100));
	if (done >= 0)
	{
		fc_tell_rates(line, progress, done);
		fc_tell_steps(line, progress);
	}
	else if (progress->phase == FC_PHASE_RECEIVE)
		fc_tell_received(line, progress);
	appendStringInfoString(line, line->len > 0 ? ", " : "");
	fc_tell_time(line, fc_tell_seconds(progress->start));
	appendStringInfoString(line, " elapsed");
	if (done < FC_TELL_SURE)
		return;
	appendStringInfoString(line, ", ");
	fc_tell_time(line, elapsed * (1 - done) / done);
	appendStringInfoString(line, " left");
}

static void
fc_tell_line(FcProgress *progress)
{
	double		done = fc_progress_of_phase(progress);
	StringInfoData line;
	StringInfoData figures;

	progress->told = GetCurrentTimestamp();
	initStringInfo(&line);
	initStringInfo(&figures);
	fc_tell_figures(&figures, progress, done);
	appendStringInfo(&line, "fast_copy %s: %s ", progress->target->relname,
					 fc_phase_name(progress->phase));
	if (done >= 0)
		fc_tell_bar(&line, done, pg_mbstrlen(line.data) +
					Max(figures.len, FC_TELL_FIGURES));
	appendStringInfoString(&line, figures.data);
	fc_tell_notice(line.data);
	pfree(figures.data);
	pfree(line.data);
}

void
fc_tell_progress(FcProgress *progress)
{
	TimestampTz now;
	TimestampTz last = progress->told == 0 ? progress->start : progress->told;

	if (progress->target->options->progress_us == 0)
		return;
	now = GetCurrentTimestamp();
	/* clocks may be put back */
	if (now - last >= progress->target->options->progress_us || now < last)
		fc_tell_line(progress);
}

void
fc_tell_phase(FcProgress *progress)
{
	if (progress->target->options->progress_us > 0 &&
		GetCurrentTimestamp() - progress->start >= progress->target->options->progress_us)
		fc_tell_line(progress);
}

void
fc_tell_end(const FcOptions *options, const FcTotals *totals)
{
	FcLoaded	loaded = {
		totals->rows, totals->bytes, totals->seconds, totals->created,
		totals->filtered, totals->rejected, totals->tolerant
	};
	char		line[FC_LINE_LEN];

	if (!options->accelerated && options->log_verbosity != FC_LOG_SILENT)
		fc_tell_notice(fc_units_loaded(line, &loaded));
}
