/*-------------------------------------------------------------------------
 *
 * report/summary.c
 *	  The last load of this session for eyes: fast_copy_summary().
 *
 *	 totals, report rows ──► figures with units, phases, a histogram ──► lines
 *
 * The same as fast_copy_report(), which is for programs.  Lines are allocated
 * in the caller's context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "report/report.h"
#include "report/units.h"

/* Columns of the names in front of the figures */
#define FC_SUMMARY_LABEL	11

/* Columns of a count; a larger one is shortened */
#define FC_SUMMARY_COUNT	17

/* Columns of the bars of phases */
#define FC_SUMMARY_BAR		20

/* Lines of the histogram, and columns of its names and bars */
#define FC_SUMMARY_LINES	20
#define FC_SUMMARY_NAME		36
#define FC_SUMMARY_HASHES	(FC_SUMMARY_COLUMNS - FC_SUMMARY_NAME - FC_SUMMARY_COUNT - 3)

/* Between the two names of a line for many partitions */
#define FC_SUMMARY_TO		" to "

static void
fc_summary_end_line(List **lines, StringInfo line)
{
	while (line->len > 0 && line->data[line->len - 1] == ' ')
		line->data[--line->len] = '\0';
	*lines = lappend(*lines, line->data);
}

static char *
fc_summary_count(char *buf, uint64 n)
{
	fc_units_count(buf, n);
	return strlen(buf) > FC_SUMMARY_COUNT ? fc_units_short(buf, n) : buf;
}

/* Adds a name and a text, which is broken between words */
static void
fc_summary_say(List **lines, const char *name, const char *text)
{
	StringInfoData line;

	do
	{
		int			columns = FC_SUMMARY_COLUMNS - FC_SUMMARY_LABEL;
		int			len = fc_clip_fits(text, &columns);
		int			word = len;

		initStringInfo(&line);
		appendStringInfo(&line, "%-*s", FC_SUMMARY_LABEL, name);
		while (text[len] != '\0' && word > 0 && text[word] != ' ')
			word--;
		if (word == 0)
		{
			/* a word that is too long, or a line break */
			(void) fc_clip(&line, text, FC_SUMMARY_COLUMNS - FC_SUMMARY_LABEL);
			word = strlen(text);
		}
		else
			appendBinaryStringInfo(&line, text, word);
		fc_summary_end_line(lines, &line);
		text += word;
		text += strspn(text, " ");
		name = "";
	} while (*text != '\0');
}

static void
fc_summary_head(List **lines, const FcTotals *totals)
{
	StringInfoData line;
	int			used;

	initStringInfo(&line);
	used = fc_clip_front(&line, totals->table, FC_SUMMARY_COLUMNS / 2 - 6);
	appendStringInfoString(&line, " from ");
	(void) fc_clip_front(&line, totals->source, FC_SUMMARY_COLUMNS - 6 - used);
	fc_summary_end_line(lines, &line);
	if (totals->failed)
		fc_summary_say(lines, "failed", psprintf("in phase %s, with SQLSTATE %s: nothing was loaded",
												 fc_activity_phase_name(totals->phase), totals->failed));
}

/* Rows, bytes, time and rates */
static void
fc_summary_pace(List **lines, const FcTotals *totals)
{
	char		a[FC_UNITS_LEN];
	char		b[FC_UNITS_LEN];
	double		seconds = Max(totals->loaded.seconds, 1e-6);

	fc_summary_say(lines, "time", fc_units_time(a, totals->loaded.seconds));
	if (totals->failed)
		return;
	fc_summary_say(lines, "rows", psprintf("%s, %s a second", fc_units_count(a, totals->loaded.rows),
										   fc_units_short(b, (uint64) (totals->loaded.rows / seconds))));
	fc_summary_say(lines, "bytes", psprintf("%s, %s a second", fc_units_bytes(a, totals->loaded.bytes),
											fc_units_bytes(b, totals->loaded.bytes / seconds)));
}

/* What was left out, if anything might have been */
static void
fc_summary_left_out(List **lines, const FcTotals *totals)
{
	char		a[FC_UNITS_LEN];
	StringInfoData text;

	initStringInfo(&text);
	if (totals->loaded.filtered > 0)
		appendStringInfo(&text, "%s filtered", fc_units_count(a, totals->loaded.filtered));
	if (totals->loaded.tolerant || totals->loaded.rejected > 0)
		appendStringInfo(&text, "%s%s rejected", text.len > 0 ? ", " : "",
						 fc_units_count(a, totals->loaded.rejected));
	if (totals->loaded.duplicates > 0)
		appendStringInfo(&text, "%s%s %s", text.len > 0 ? ", " : "", fc_units_count(a, totals->loaded.duplicates),
						 totals->loaded.duplicates == 1 ? "duplicate" : "duplicates");
	if (totals->nulled > 0)
		appendStringInfo(&text, "%s%s with values set to null", text.len > 0 ? ", " : "",
						 fc_units_count(a, totals->nulled));
	if (text.len > 0)
		fc_summary_say(lines, "left out", text.data);
}

/* Adds a way or a writer, with what its name means, and the reason for it */
static void
fc_summary_word(List **lines, const char *label, const char *name, const char *reason)
{
	static const struct
	{
		const char *name;
		const char *meaning;
	}			words[] = {
		{"chunks", "pieces of the file, in no order"},
		{"turns", "in the order of the file"},
		{"send", "records go to other servers"},
		{"presorted", "the file is in the order of the key"},
		{"offsets", "sorted by key, and read again from the file"},
		{"rows", "sorted by key, through temporary files"},
		{"copy", "one by one, by COPY's own code"},
		{"remote", "other servers write them"},
		{"page", "whole pages"},
		{"multi_insert", "rows into pages, as COPY inserts them"},
		{"page and multi_insert", "whole pages, and rows into pages that have some"}
	};
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, name);
	for (int i = 0; i < lengthof(words); i++)
		if (strcmp(words[i].name, name) == 0)
			appendStringInfo(&text, " (%s)", words[i].meaning);
	if (reason)
		appendStringInfo(&text, ": %s", reason);
	fc_summary_say(lines, label, text.data);
}

/* How it was done */
static void
fc_summary_means(List **lines, const FcTotals *totals)
{
	char		a[FC_UNITS_LEN];
	char		b[FC_UNITS_LEN];

	fc_summary_left_out(lines, totals);
	if (totals->loaded.created > 0)
		fc_summary_say(lines, "partitions", psprintf("%s new, %s indexes built",
													 fc_units_count(a, totals->loaded.created),
													 fc_units_count(b, totals->indexes)));
	if (totals->loaded.replaced > 0)
		fc_summary_say(lines, totals->loaded.merged ? "merged" : "replaced",
					   psprintf(totals->loaded.replaced == 1 ? "%s table" : "%s tables",
								fc_units_count(a, totals->loaded.replaced)));
	if (totals->updated > 0)
		fc_summary_say(lines, "updated", psprintf("%s rows", fc_units_count(a, totals->updated)));
	fc_summary_say(lines, "workers", psprintf("%d of %d", totals->workers, totals->nworkers));
	fc_summary_say(lines, "WAL", fc_units_bytes(a, totals->wal));
	if (totals->spill > 0)
		fc_summary_say(lines, "spill", psprintf("%s of %s", fc_units_bytes(a, totals->spill),
												totals->spilled));
	fc_summary_word(lines, "way", totals->way, totals->reason);
	fc_summary_word(lines, "writer", totals->writer, NULL);
}

static void
fc_summary_hashes(StringInfo line, double share, int columns)
{
	int			hashes = (int) (share * columns + 0.5);

	for (int i = 0; i < columns; i++)
		appendStringInfoChar(line, i < hashes ? '#' : ' ');
}

/* Adds the line of a phase; rows and WAL are -1 if they are not known */
static void
fc_summary_phase(List **lines, const char *name, double seconds, double total,
				 int64 rows, int64 wal)
{
	double		share = total > 0 ? Min(seconds / total, 1.0) : 0;
	char		figure[FC_UNITS_LEN];
	StringInfoData line;

	initStringInfo(&line);
	appendStringInfo(&line, "%-10s %8s %3d%%  ", name, fc_units_time(figure, seconds),
					 (int) (share * 100 + 0.5));
	fc_summary_hashes(&line, share, FC_SUMMARY_BAR);
	appendStringInfo(&line, " %*s", FC_SUMMARY_COUNT,
					 rows < 0 ? "" : fc_summary_count(figure, rows));
	appendStringInfo(&line, " %11s", wal < 0 ? "" : fc_units_bytes(figure, wal));
	fc_summary_end_line(lines, &line);
}

/* The phases, and what was not in any of them */
static void
fc_summary_phases(List **lines, const List *rows, const FcTotals *totals)
{
	double		sum = 0;
	double		total;
	StringInfoData line;
	ListCell   *lc;

	foreach(lc, rows)
	{
		const FcReportRow *row = lfirst(lc);

		sum += row->whole && row->phase != FC_PHASE_TOTAL ? row->seconds : 0;
	}
	total = totals ? totals->loaded.seconds : sum;
	initStringInfo(&line);
	appendStringInfo(&line, "%-10s %8s %4s  %-*s %*s %11s", "phase", "time", "",
					 FC_SUMMARY_BAR, "", FC_SUMMARY_COUNT, "rows", "WAL");
	*lines = lappend(*lines, "");
	fc_summary_end_line(lines, &line);
	foreach(lc, rows)
	{
		const FcReportRow *row = lfirst(lc);

		if (row->whole && row->phase != FC_PHASE_TOTAL)
			fc_summary_phase(lines, fc_activity_phase_name(row->phase), row->seconds, total,
							 row->rows, row->wal_bytes);
	}
	if (totals)
		fc_summary_phase(lines, "the rest", Max(total - sum, 0), total, -1, -1);
}

static int
fc_summary_cmp(const ListCell *a, const ListCell *b)
{
	const FcReportRow *x = lfirst(a);
	const FcReportRow *y = lfirst(b);

	return (x->key > y->key) - (x->key < y->key);
}

/* The rows of the report that are about partitions, by key */
static List *
fc_summary_partitions(const List *rows)
{
	List	   *partitions = NIL;
	ListCell   *lc;

	foreach(lc, rows)
	{
		FcReportRow *row = lfirst(lc);

		if (!row->whole && row->name)
			partitions = lappend(partitions, row);
	}
	list_sort(partitions, fc_summary_cmp);
	return partitions;
}

/* Rows of the partitions from number "from" to the one before "to" */
static uint64
fc_summary_sum(const List *partitions, int from, int to)
{
	uint64		sum = 0;

	Assert(from < to && to <= list_length(partitions));
	for (int i = from; i < to; i++)
		sum += ((FcReportRow *) list_nth(partitions, i))->rows;
	return sum;
}

/* Adds a line for partitions, from number "from" to the one before "to" */
static void
fc_summary_bucket(List **lines, const List *partitions, int from, int to, uint64 most)
{
	const FcReportRow *first = list_nth(partitions, from);
	const FcReportRow *last = list_nth(partitions, to - 1);
	uint64		rows = fc_summary_sum(partitions, from, to);
	int			each = (FC_SUMMARY_NAME - (int) strlen(FC_SUMMARY_TO)) / 2;
	char		figure[FC_UNITS_LEN];
	StringInfoData line;
	int			used;

	initStringInfo(&line);
	if (first == last)
		used = fc_clip_middle(&line, first->name, FC_SUMMARY_NAME);
	else
	{
		used = fc_clip_middle(&line, first->name, each);
		appendStringInfoString(&line, FC_SUMMARY_TO);
		used += fc_clip_middle(&line, last->name, each) + (int) strlen(FC_SUMMARY_TO);
	}
	appendStringInfoSpaces(&line, FC_SUMMARY_NAME - used);
	appendStringInfo(&line, " %*s  ", FC_SUMMARY_COUNT, fc_summary_count(figure, rows));
	fc_summary_hashes(&line, most > 0 ? (double) rows / most : 0, FC_SUMMARY_HASHES);
	fc_summary_end_line(lines, &line);
}

/* Rows by partition; several partitions on one line if there are many */
static void
fc_summary_histogram(List **lines, const List *rows)
{
	List	   *partitions = fc_summary_partitions(rows);
	int64		n = list_length(partitions);
	int64		each = (n + FC_SUMMARY_LINES - 1) / FC_SUMMARY_LINES;
	int64		nlines;
	uint64		most = 0;
	StringInfoData line;

	if (n == 0)
		return;
	/* as many partitions on each line as can be */
	nlines = (n + each - 1) / each;
	initStringInfo(&line);
	appendStringInfo(&line, "%-*s %*s", FC_SUMMARY_NAME, "partition", FC_SUMMARY_COUNT, "rows");
	*lines = lappend(*lines, "");
	fc_summary_end_line(lines, &line);
	for (int64 i = 0; i < nlines; i++)
	{
		uint64		sum = fc_summary_sum(partitions, i * n / nlines, (i + 1) * n / nlines);

		most = Max(most, sum);
	}
	for (int64 i = 0; i < nlines; i++)
		fc_summary_bucket(lines, partitions, i * n / nlines, (i + 1) * n / nlines, most);
}

List *
fc_summary_lines(void)
{
	const FcTotals *totals = fc_report_visible_totals();
	List	   *rows = fc_report_visible_rows();
	List	   *lines = NIL;
	ListCell   *lc;

	if (totals)
	{
		fc_summary_head(&lines, totals);
		fc_summary_pace(&lines, totals);
		if (totals->failed == NULL)
			fc_summary_means(&lines, totals);
	}
	else
	{
		/* an analysis, or a plain COPY that core has loaded */
		foreach(lc, rows)
		{
			const FcReportRow *row = lfirst(lc);

			if (row->whole && row->choice)
				fc_summary_say(&lines, fc_activity_phase_name(row->phase), row->choice);
		}
	}
	if (list_length(rows) > 1)
		fc_summary_phases(&lines, rows, totals);
	fc_summary_histogram(&lines, rows);
	return lines;
}
