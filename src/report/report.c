/*-------------------------------------------------------------------------
 *
 * report/report.c
 *	  What fast_copy_report() tells of this session's last load.
 *
 * Rows live in a context of their own until the next load starts, or DISCARD
 * ALL gives the session to another client.  They are shown to roles with the
 * privileges of the user that ran the load: a session may change its user.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "report/report.h"

static MemoryContext report_mcxt = NULL;
static List *report_rows = NIL;
static FcTotals *report_totals = NULL;
static Oid	report_user = InvalidOid;	/* the user that ran the load */

void
fc_report_forget(void)
{
	report_rows = NIL;
	report_totals = NULL;
	if (report_mcxt)
		MemoryContextReset(report_mcxt);
}

void
fc_report_start(void)
{
	if (report_mcxt == NULL)
		report_mcxt = AllocSetContextCreate(TopMemoryContext,
											"fast_copy report",
											ALLOCSET_SMALL_SIZES);
	fc_report_forget();
	report_user = GetUserId();
}

static char *
fc_report_copy(const char *s)
{
	return s ? pstrdup(s) : NULL;
}

void
fc_report_add(const FcReportRow *row)
{
	MemoryContext old = MemoryContextSwitchTo(report_mcxt);
	FcReportRow *copy = palloc(sizeof(FcReportRow));

	Assert(!IsParallelWorker());
	*copy = *row;
	copy->name = fc_report_copy(row->name);
	copy->io_method = fc_report_copy(row->io_method);
	copy->choice = fc_report_copy(row->choice);
	copy->reason = fc_report_copy(row->reason);
	copy->failed = fc_report_copy(row->failed);
	report_rows = lappend(report_rows, copy);
	MemoryContextSwitchTo(old);
}

/* Adds the row of the phase "total" */
static void
fc_report_add_total(const FcTotals *totals)
{
	FcReportRow row = {0};
	char		choice[128];

	row.phase = FC_PHASE_TOTAL;
	row.whole = true;
	row.processes = Max(totals->workers, 1);
	row.alone = row.reads = -1;
	row.rows = totals->failed ? -1 : (int64) totals->loaded.rows;
	row.bytes = totals->loaded.bytes;
	row.seconds = totals->loaded.seconds;
	row.wal_bytes = totals->failed ? -1 : (int64) totals->wal;
	row.spill_bytes = totals->spill;
	row.counted = totals->failed == NULL;
	row.filtered = totals->loaded.filtered;
	row.rejected = totals->loaded.rejected;
	row.nulled = totals->nulled;
	row.way = totals->way;
	row.reason = totals->reason;
	row.failed = totals->failed;
	if (totals->failed)
		snprintf(choice, sizeof(choice), "failed in phase %s", fc_activity_phase_name(totals->phase));
	else
		snprintf(choice, sizeof(choice), "%d of %d workers", totals->workers, totals->nworkers);
	row.choice = choice;
	fc_report_add(&row);
}

void
fc_report_end(const FcTotals *totals)
{
	MemoryContext old = MemoryContextSwitchTo(report_mcxt);
	FcTotals   *copy = palloc(sizeof(FcTotals));

	*copy = *totals;
	copy->table = fc_report_copy(totals->table);
	copy->source = fc_report_copy(totals->source);
	copy->reason = fc_report_copy(totals->reason);
	copy->failed = fc_report_copy(totals->failed);
	/* only the history has these, while the load is open */
	copy->sources = NIL;
	copy->role = NULL;
	report_totals = copy;
	MemoryContextSwitchTo(old);
	fc_report_add_total(totals);
}

const char *
fc_report_way(FcWay way)
{
	static const char *const names[] = {
		"chunks", "turns", "send", "presorted", "offsets", "rows", "copy"
	};

	return names[way];
}

List *
fc_report_rows(void)
{
	return report_rows;
}

List *
fc_report_visible_rows(void)
{
	return has_privs_of_role(GetUserId(), report_user) ? report_rows : NIL;
}

const FcTotals *
fc_report_visible_totals(void)
{
	return has_privs_of_role(GetUserId(), report_user) ? report_totals : NULL;
}
