/*-------------------------------------------------------------------------
 *
 * report/totals.c
 *	  One load as a whole, in figures.
 *
 *	 options, counters, report rows ──► totals ──► report, summary, NOTICE,
 *												   log, history
 *
 * Strings are allocated in the caller's context, or are constants.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "report/totals.h"

/* The table's name, or its OID if the table has been dropped */
static char *
fc_totals_name(Oid relid)
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
fc_totals_sources(const FcOptions *options)
{
	const char *first = strVal(linitial(options->sources));
	int			n = list_length(options->sources);

	if (options->program)
		return n == 1 ? pstrdup("a program") : psprintf("%d programs", n);
	if (n == 1)
		return psprintf("\"%s\"", first);
	return psprintf("\"%s\" and %d more", first, n - 1);
}

/* Bytes of spill that the scans have written: a load may scan twice */
static uint64
fc_totals_spilled(void)
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
fc_totals_spill(const FcProgress *progress)
{
	if (fc_totals_spilled() == 0)
		return "none";
	return progress->target->way == FC_WAY_ROWS ? "rows" : "offsets";
}

static const char *
fc_totals_writer(const FcProgress *progress)
{
	FcTarget   *target = progress->target;
	uint64		paged = pg_atomic_read_u64(&target->shared->counts.paged);

	if (target->way == FC_WAY_COPY)
		return "copy";
	if (target->way == FC_WAY_SEND)
		return "remote";
	if (target->loaded == 0)
		return "none";
	if (paged == 0)
		return "multi_insert";
	return paged == target->loaded ? "page" : "page and multi_insert";
}

static const char *
fc_totals_order(const FcProgress *progress)
{
	FcTarget   *target = progress->target;
	bool		keyed = fc_shared_keyed(target->shared);

	if (target->way == FC_WAY_SEND)
		return "file";
	if (target->way == FC_WAY_COPY || target->planned->leader_reason ||
		target->way == FC_WAY_TURNS)
		return keyed && target->way != FC_WAY_COPY ? "key" : "file";
	if (target->way == FC_WAY_PRESORTED)
		return "streamed";
	return keyed ? "key" : "none";
}

/* Why the load goes its way, and why the leader works alone if it does */
static char *
fc_totals_reason(const FcTarget *target)
{
	const char *reason = target->way == FC_WAY_COPY ? target->core_reason : target->way_reason;
	bool		alone = target->way == FC_WAY_COPY || target->way == FC_WAY_SEND;
	const char *leader = alone ? NULL : target->planned->leader_reason;

	if (leader == NULL)
		return pstrdup(reason);
	return psprintf("%s; in the leader: %s", reason, leader);
}

void
fc_totals_counts(const FcTarget *target, FcReportRow *row)
{
	FcCounts   *counts = &target->shared->counts;

	row->counted = true;
	row->filtered = pg_atomic_read_u64(&counts->filtered);
	row->rejected = pg_atomic_read_u64(&counts->rejected);
	row->nulled = pg_atomic_read_u64(&counts->nulled);
	row->way = fc_way_name(target->way);
	row->reason = fc_totals_reason(target);
}

void
fc_totals_begin(FcTotals *totals, const FcOptions *options)
{
	memset(totals, 0, sizeof(FcTotals));
	totals->start = GetCurrentTimestamp();
	totals->table = fc_totals_name(options->target);
	totals->source = fc_totals_sources(options);
	totals->tolerant = options->on_error == FC_ON_ERROR_IGNORE;
}

void
fc_totals_take(FcTotals *totals, const FcProgress *progress)
{
	FcTarget   *target = progress->target;
	FcReportRow row = {0};

	fc_totals_counts(target, &row);
	totals->rows = target->loaded;
	totals->bytes = target->shared->source.size;
	totals->filtered = row.filtered;
	totals->rejected = row.rejected;
	totals->nulled = row.nulled;
	totals->created = target->ncreated;
	totals->indexes = target->nindexes;
	totals->workers = progress->launched;
	totals->nworkers = target->nworkers;
	totals->spill = fc_totals_spilled();
	totals->spilled = fc_totals_spill(progress);
	totals->writer = fc_totals_writer(progress);
	totals->order = fc_totals_order(progress);
	totals->way = row.way;
	totals->reason = row.reason;
}
