/*-------------------------------------------------------------------------
 *
 * report/tell.c
 *	  Lines of progress for the client of a load: progress => '5s'.
 *
 *	 shared counters ──► one NOTICE, every so often ──► client
 *
 * The leader sends a line wherever it shows progress to other sessions: while
 * it waits for workers, between two steps of its own work, and where a phase
 * of a long load begins.  Within one index, one table to analyze or a file to
 * be converted it sends none.
 *
 * Percent and time left are those of the whole load (report/figures.c).  The
 * server is not told how wide a terminal is: fast_copy.progress_width says it,
 * and no line is wider, with what psql puts in front.  A line has a memory
 * context of its own, because there may be very many.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "report/report.h"

/* What psql puts in front of the line */
#define FC_TELL_PREFIX	((int) strlen("NOTICE:  "))

/* Columns of a terminal whose width is not known */
#define FC_TELL_WIDTH	80

/*
 * Columns between the brackets of a bar: at least, at most, and as many as are
 * enough where figures could say more
 */
#define FC_TELL_BAR_MIN		6
#define FC_TELL_BAR_MAX		200
#define FC_TELL_BAR_ENOUGH	20
#define FC_TELL_BRACKETS	((int) strlen("[] "))

/*
 * Columns of the longest name of a phase, and of figures: of the shortest that
 * tell all, 42%, 1,078 of 1,095, 12:34 left, and of the longest
 */
#define FC_TELL_PHASE		((int) strlen("partitions"))
#define FC_TELL_FIGURES		31
#define FC_TELL_FIGURES_MAX	60

/* Columns of a table's name, if it is that long, on the narrowest terminal */
#define FC_TELL_NAME_MIN	8

/* In place of what has no room */
#define FC_CLIPPED	".."

/* What the figures leave out to be short enough; each one after the other */
typedef enum FcTellBrevity
{
	FC_TELL_ALL,
	FC_TELL_ONE_RATE,			/* no bytes beside rows, no time elapsed beside
								 * the time left */
	FC_TELL_NO_WORD,			/* 3 of 7, without "indexes" */
	FC_TELL_SHORT				/* 10k of 12k, and no time elapsed */
} FcTellBrevity;

/* Returns how many bytes of a text have room, and sets *columns to theirs */
static int
fc_clip_fits(const char *text, int *columns)
{
	int			encoding = GetDatabaseEncoding();
	int			used = 0;
	const char *at = text;

	while (*at != '\0')
	{
		int			width = pg_encoding_dsplen(encoding, at);

		if (width < 0 || used + width > *columns)
			break;
		used += width;
		at += pg_encoding_mblen(encoding, at);
	}
	*columns = used;
	return at - text;
}

/*
 * Appends a text in at most so many columns, and returns how many it takes.  A
 * text that takes more, or has a line break, which would make two lines, gets
 * ".." in place of its end.  A character may take no column, one or two.
 */
static int
fc_clip(StringInfo line, const char *text, int columns)
{
	int			used = columns;
	int			len = fc_clip_fits(text, &used);

	Assert(columns >= (int) strlen(FC_CLIPPED) && used <= columns);
	if (text[len] == '\0')
	{
		appendStringInfoString(line, text);
		return used;
	}
	used = columns - (int) strlen(FC_CLIPPED);
	len = fc_clip_fits(text, &used);
	appendBinaryStringInfo(line, text, len);
	appendStringInfoString(line, FC_CLIPPED);
	return used + (int) strlen(FC_CLIPPED);
}

/* A time as a clock shows it, 0:07 or 99:59, or as 1.7 h */
static char *
fc_tell_time(double seconds)
{
	int64		s = (int64) (seconds + 0.5);
	double		hours = Min(seconds / SECS_PER_HOUR, 999);

	if (s < 100 * SECS_PER_MINUTE)
		return psprintf("%d:%02d", (int) (s / 60), (int) (s % 60));
	return psprintf(hours < 9.95 ? "%.1f h" : "%.0f h", hours);
}

/* The rows that the phase has dealt with; -1 if it does not deal with rows */
static double
fc_tell_rows(const FcProgress *progress)
{
	FcShared   *shared = progress->target->shared;
	FcPhase		phase = progress->phase;

	if (shared && (phase == FC_PHASE_SCAN || fc_figures_is_stream(progress)))
		return (double) pg_atomic_read_u64(&shared->counts.scanned);
	if (phase == FC_PHASE_LOAD || phase == FC_PHASE_CHECK)
		return (double) pg_atomic_read_u64(&shared->counts.loaded);
	return -1;
}

/*
 * Appends what the phase has done, and rows and bytes per second so far; ", 3
 * of 7 indexes" if it goes from one thing to the next
 */
static void
fc_tell_work(StringInfo line, FcProgress *progress, FcTellBrevity brevity)
{
	double		share = fc_figures_of_phase(progress);
	double		bytes = share * fc_figures_bytes(progress);
	int			done;
	int			total;
	const char *name = fc_figures_steps(progress, &done, &total);

	if (progress->phase == FC_PHASE_RECEIVE)
	{
		bytes = pg_atomic_read_u64(progress->taken);
		appendStringInfo(line, ", %s", fc_units_bytes(bytes));
	}
	if (progress->phase == FC_PHASE_RECEIVE || (share >= 0 && name == NULL))
	{
		double		rows = fc_tell_rows(progress);
		double		seconds = fc_figures_phase_seconds(progress);

		if (rows > 0)
			appendStringInfo(line, ", %s rows/s", fc_units_short((uint64) (rows / seconds)));
		if (bytes > 0 && (rows <= 0 || brevity == FC_TELL_ALL))
			appendStringInfo(line, ", %s/s", fc_units_bytes(bytes / seconds));
	}
	else if (total > 0 && brevity == FC_TELL_SHORT)
		appendStringInfo(line, ", %s of %s", fc_units_short(done), fc_units_short(total));
	else if (total > 0)
		appendStringInfo(line, ", %s of %s%s%s", fc_units_count(done), fc_units_count(total),
						 brevity == FC_TELL_NO_WORD ? "" : " ", brevity == FC_TELL_NO_WORD ? "" : name);
}

/* Returns percent, rates and times */
static const char *
fc_tell_figures(FcProgress *progress, FcTellBrevity brevity)
{
	StringInfo	line = makeStringInfo();
	double		elapsed = (GetCurrentTimestamp() - progress->target->start) / 1e6;
	double		left;
	double		whole = fc_figures_whole(progress, &left);

	if (whole >= 0)
		appendStringInfo(line, "%2d%%", (int) (whole * 100));
	fc_tell_work(line, progress, brevity);
	if (brevity == FC_TELL_ALL || (left < 0 && brevity < FC_TELL_SHORT))
		appendStringInfo(line, ", %s elapsed", fc_tell_time(Max(elapsed, 0.0)));
	if (left >= 0)
		appendStringInfo(line, ", %s left", fc_tell_time(left));
	/* what begins with a separator has no percent in front */
	return line->data + (line->data[0] == ',' ? 2 : 0);
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
	ereport(NOTICE, errmsg_internal("%s", line));
	error_context_stack = context;
}

/*
 * The columns of the bar, of so many for bar and figures, whatever these are;
 * 0: there is no room for one
 */
static int
fc_tell_bar_width(int columns)
{
	int			figures;

	columns -= FC_TELL_BRACKETS;
	figures = Min(Max(columns - FC_TELL_BAR_ENOUGH, FC_TELL_FIGURES), FC_TELL_FIGURES_MAX);
	return columns - figures < FC_TELL_BAR_MIN ? 0 : Min(columns - figures, FC_TELL_BAR_MAX);
}

/*
 * Appends the phase, a bar, if there is room for one, and the longest figures
 * that have room in the columns, if any have.  Of many partitions, defining the
 * indexes may take as long as building them, and both are counted.
 */
static void
fc_tell_rest(StringInfo line, FcProgress *progress, int columns)
{
	const char *phase = fc_figures_defines(progress) ? "defining" : fc_activity_phase_name(progress->phase);
	bool		bar = fc_progress_width > 0 && progress->phase != FC_PHASE_RECEIVE;
	int			width = bar ? fc_tell_bar_width(columns - FC_TELL_PHASE - 1) : 0;
	int			name = width > 0 ? FC_TELL_PHASE : (int) strlen(phase);
	const char *figures = NULL;

	appendStringInfo(line, "%-*s ", name, phase);
	columns -= name + 1 + (width > 0 ? width + FC_TELL_BRACKETS : 0);
	for (int brevity = FC_TELL_ALL; brevity <= FC_TELL_SHORT; brevity++)
	{
		figures = fc_tell_figures(progress, brevity);
		if ((int) strlen(figures) <= columns)
			break;
	}
	if (width > 0)
		appendStringInfoChar(line, '[');
	for (int i = 0; i < width; i++)
		appendStringInfoChar(line, i < (int) (progress->estimate.whole * width) ? '#' : '-');
	appendStringInfo(line, "%s%s", width > 0 ? "] " : "", figures);
}

void
fc_tell_progress(FcProgress *progress, bool begins)
{
	int64		interval = progress->target->options->progress_us;
	TimestampTz now;
	TimestampTz last = begins || progress->told == 0 ? progress->target->start : progress->told;
	int			columns = (fc_progress_width > 0 ? fc_progress_width : FC_TELL_WIDTH) -
		FC_TELL_PREFIX - (int) strlen("fast_copy : ");
	MemoryContext old;
	StringInfo	line;

	if (interval == 0)
		return;
	now = GetCurrentTimestamp();
	/* clocks may be put back */
	if (now - last < interval && now >= last)
		return;
	progress->told = now;
	old = MemoryContextSwitchTo(fc_context_memory(CurrentMemoryContext, "progress"));
	line = makeStringInfo();
	appendStringInfoString(line, "fast_copy ");
	columns -= fc_clip(line, progress->target->relname,
					   Max(columns - FC_TELL_PHASE - 1 - FC_TELL_BRACKETS - FC_TELL_BAR_MIN - FC_TELL_FIGURES,
						   FC_TELL_NAME_MIN));
	appendStringInfoString(line, ": ");
	fc_tell_rest(line, progress, columns);
	fc_tell_notice(line->data);
	MemoryContextDelete(MemoryContextSwitchTo(old));
}

void
fc_tell_end(const FcOptions *options, const FcTotals *totals)
{
	if (fc_caller_is_told(options->caller) && options->log_verbosity != FC_LOG_SILENT)
		fc_tell_notice(fc_units_loaded(&totals->row));
}
