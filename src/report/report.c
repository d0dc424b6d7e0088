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

#include "utils/array.h"

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

const FcReportColumn fc_report_columns[] = {
#define X(type, member) {type##OID, offsetof(FcReportRow, member)},
	FC_REPORT_COLUMNS(X)
#undef X
};
const int	fc_report_ncolumns = lengthof(fc_report_columns);

void
fc_report_add(const FcReportRow *row)
{
	MemoryContext old = MemoryContextSwitchTo(report_mcxt);
	FcReportRow *copy = palloc(sizeof(FcReportRow));

	Assert(!IsParallelWorker());
	*copy = *row;
	for (int i = 0; i < fc_report_ncolumns; i++)
	{
		char	  **text = (char **) ((char *) copy + fc_report_columns[i].at);

		if (fc_report_columns[i].typid == TEXTOID && *text)
			*text = pstrdup(*text);
	}
	/* what follows from the rest; and what is not said is unset */
	copy->phase_name = fc_activity_phase_name(row->phase);
	copy->processes = row->processes > 0 ? row->processes : -1;
	copy->alone = row->processes > 1 ? row->alone : -1;
	copy->rows_per_read = row->reads > 0 ? (double) row->rows / row->reads : -1;
	copy->rows_per_second = row->seconds > 0 ? row->rows / row->seconds : -1;
	copy->bytes_per_second = row->seconds > 0 ? row->bytes / row->seconds : -1;
	if (!row->whole)
		copy->wal_bytes = copy->spill_bytes = -1;
	if (!row->counted)
		copy->filtered = copy->rejected = copy->nulled = copy->mended = -1;
	if (!row->counted || row->phase != FC_PHASE_TOTAL)
		copy->duplicates = copy->updated = copy->deleted = copy->unmatched = -1;
	report_rows = lappend(report_rows, copy);
	MemoryContextSwitchTo(old);
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

/* An array of the list's strings */
static Datum
fc_report_array(const List *strings)
{
	int			n = list_length(strings);
	Datum	   *values = palloc(sizeof(Datum) * n);

	for (int i = 0; i < n; i++)
		values[i] = CStringGetTextDatum(strVal(list_nth(strings, i)));
	return PointerGetDatum(construct_array(values, n, TEXTOID, -1, false, TYPALIGN_INT));
}

Datum
fc_report_value(const void *row, Oid typid, size_t at, bool *null)
{
	const void *value = (const char *) row + at;

	*null = typid == TEXTOID ? *(char *const *) value == NULL :
		typid == INT8OID ? *(const int64 *) value < 0 :
		typid == FLOAT8OID && *(const double *) value < 0;
	if (*null)
		return (Datum) 0;
	switch (typid)
	{
		case BOOLOID:
			return BoolGetDatum(*(const bool *) value);
		case INT4OID:
			return Int32GetDatum((int32) *(const int64 *) value);
		case FLOAT8OID:
			return Float8GetDatum(*(const double *) value);
		case TEXTOID:
			return CStringGetTextDatum(*(char *const *) value);
		case TEXTARRAYOID:
			return fc_report_array(*(const List *const *) value);
		default:
			Assert(typid == INT8OID || typid == TIMESTAMPTZOID);
			return Int64GetDatum(*(const int64 *) value);
	}
}
