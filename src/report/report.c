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

#include "miscadmin.h"
#include "utils/acl.h"

#include "report/report.h"

static MemoryContext report_mcxt = NULL;
static List *report_rows = NIL;
static Oid	report_user = InvalidOid;	/* the user that ran the load */

void
fc_report_forget(void)
{
	report_rows = NIL;
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

	*copy = *row;
	copy->name = fc_report_copy(row->name);
	copy->io_method = fc_report_copy(row->io_method);
	copy->choice = fc_report_copy(row->choice);
	report_rows = lappend(report_rows, copy);
	MemoryContextSwitchTo(old);
}

const char *
fc_phase_name(FcPhase phase)
{
	static const char *const names[FC_NPHASES] = {
		"setup", "split", "scan", "partitions", "load", "index", "attach",
		"copy", "reject", "check", "analyze", "unpack", "receive", "total"
	};

	return names[phase];
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
