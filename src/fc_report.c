/*-------------------------------------------------------------------------
 *
 * fc_report.c
 *	  What fast_copy_report() tells of this session's last load.
 *
 * Rows live in a context of their own until the next load starts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fc_report.h"

static MemoryContext report_mcxt = NULL;
static List *report_rows = NIL;

void
fc_report_start(void)
{
	if (report_mcxt == NULL)
		report_mcxt = AllocSetContextCreate(TopMemoryContext,
											"fast_copy report",
											ALLOCSET_SMALL_SIZES);
	report_rows = NIL;
	MemoryContextReset(report_mcxt);
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
