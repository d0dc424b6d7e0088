/*-------------------------------------------------------------------------
 *
 * intake/copies.c
 *	  The segment and the temporary copies of what can be read only once, and
 *	  its part of the report.
 *
 * The segment belongs to the current resource owner and the temporary copies
 * to the SharedFileSet in it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat/compat.h"
#include "context/dsm.h"
#include "context/processors.h"
#include "intake/copies.h"
#include "intake/ring.h"
#include "report/progress.h"
#include "report/report.h"
#include "source/recode.h"

/* For fewer packed bytes workers cost more than they bring */
#define FC_SMALL_PACKED	(1024 * 1024)

static int
fc_area_size_cmp(const void *a, const void *b, void *arg)
{
	const FcFile *files = arg;
	uint32		na = *(const uint32 *) a;
	uint32		nb = *(const uint32 *) b;
	uint64		sa = files[na].identity.size;
	uint64		sb = files[nb].identity.size;

	if (sa != sb)
		return sa > sb ? -1 : 1;
	return na < nb ? -1 : na > nb;
}

/* Large files come first, so that no process is left alone with one */
static void
fc_area_fill_order(FcUnpackArea *area, const FcSource *source)
{
	uint32	   *order = fc_area_order(area);
	uint32		n = 0;

	for (uint32 i = 0; i < source->nfiles; i++)
		if (source->files[i].kind != FC_CODEC_NONE)
			order[n++] = i;
	qsort_arg(order, n, sizeof(uint32), fc_area_size_cmp, source->files);
}

static Size
fc_area_place(Size *end, Size len)
{
	Size		at = *end;

	*end = MAXALIGN(at + len);
	return at;
}

/*
 * The chains of all files, those of files that are not packed empty; counts
 * their pieces.  A binary file has one if its chunks are looked for: its
 * records can only be found in their order.
 */
static FcChain *
fc_area_make_chains(const FcIntake *intake, const FcSource *source, int processes, bool flows,
					uint32 *npieces)
{
	Size		size = sizeof(FcChain) * source->nfiles;
	FcChain    *chains = MemoryContextAllocExtended(CurrentMemoryContext, size,
													MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint32 i = 0; i < source->nfiles; i++)
	{
		chains[i].first = *npieces;
		if (source->files[i].kind == FC_CODEC_NONE)
			continue;
		fc_chain_init(&chains[i], source->files[i].identity.size, source->nfiles, processes,
					  flows && fc_format_is_binary(&intake->target->options->format));
		*npieces += chains[i].npieces;
	}
	return chains;
}

FcUnpackArea *
fc_area_share(FcIntake *intake, const FcSource *source, uint32 npacked, int processes,
			  bool flows)
{
	FcUnpackArea layout = {0};
	Size		end = MAXALIGN(sizeof(FcUnpackArea));
	Size		names = source ? fc_source_paths_size(source) : 0;
	FcChain    *chains = source ?
		fc_area_make_chains(intake, source, processes, flows, &layout.npieces) : NULL;
	FcUnpackArea *area;

	layout.nfiles = source ? source->nfiles : 0;
	layout.npacked = npacked;
	layout.ncopies = processes;
	layout.files_at = fc_area_place(&end, sizeof(FcFile) * layout.nfiles);
	layout.names_at = fc_area_place(&end, names);
	layout.order_at = fc_area_place(&end, sizeof(uint32) * npacked);
	layout.chains_at = fc_area_place(&end, sizeof(FcChain) * layout.nfiles);
	layout.pieces_at = fc_area_place(&end, sizeof(FcPiece) * layout.npieces);
	layout.extents_at = fc_area_place(&end, sizeof(FcExtent) * layout.npieces);
	layout.copies_at = fc_area_place(&end, sizeof(FcCopy) * processes);
	intake->unpacked = fc_dsm_create(end, 0);
	area = dsm_segment_address(intake->unpacked);
	memset(area, 0, end);
	*area = layout;
	pg_atomic_init_u64(&area->taken, 0);
	pg_atomic_init_u32(&area->done, 0);
	pg_atomic_init_u32(&area->processes, 0);
	fc_budget_init(&area->budget, (uint64) fc_memory_kb * 1024);
	/* tranche ids run out if each session takes one, so that we use core's */
	LWLockInitialize(&area->lock, LWTRANCHE_PARALLEL_APPEND);
	area->faulty = PG_UINT32_MAX;
	SharedFileSetInit(&area->fileset, intake->unpacked);
	intake->progress->taken = &area->taken;
	if (source == NULL)
		return area;
	memcpy(fc_area_files(area), source->files, sizeof(FcFile) * source->nfiles);
	memcpy(fc_area_names(area), source->paths, names);
	memcpy(fc_area_chains(area), chains, sizeof(FcChain) * source->nfiles);
	pfree(chains);
	fc_area_fill_order(area, source);
	return area;
}

void
fc_intake_begin(FcIntake *intake, FcPhase phase, uint64 bytes)
{
	intake->progress->packed_size = bytes;
	fc_progress_begin_stream(intake->progress, phase);
	intake->progress->stream_start = intake->progress->phase_start;
}

/* Bytes in temporary copies */
static uint64
fc_intake_copied(const FcSource *source)
{
	uint64		bytes = 0;

	if (source->ring)
		return fc_ring_not_taken(source->ring, source->size);
	for (uint32 i = 0; i < source->nfiles; i++)
		if (source->files[i].nextents > 0)
			bytes += source->files[i].identity.size;
	return bytes;
}

void
fc_intake_report(const FcIntake *intake, FcPhase phase, instr_time end, int processes,
				 char *choice)
{
	FcReportRow row = {0};

	INSTR_TIME_SUBTRACT(end, intake->progress->stream_start);
	row.phase = phase;
	row.whole = true;
	row.processes = processes;
	row.alone = -1;
	row.rows = row.reads = row.wal_bytes = -1;
	row.bytes = pg_atomic_read_u64(intake->progress->taken);
	row.spill_bytes = fc_intake_copied(intake->target->source);
	row.seconds = INSTR_TIME_GET_DOUBLE(end);
	row.choice = choice;
	fc_report_add(&row);
}

void
fc_intake_end(FcIntake *intake, int processes, char *choice)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	fc_intake_report(intake, intake->progress->phase, now, processes, choice);
	fc_progress_end(intake->progress);
	intake->progress->phase = FC_PHASE_SETUP;
}

int
fc_intake_workers(const FcIntake *intake, uint64 bytes)
{
	return fc_workers_wanted(intake->target->options->workers, bytes < FC_SMALL_PACKED);
}

bool
fc_intake_plan_flows(const FcPlanned *planned)
{
	return planned->core_reason == NULL && planned->leader_reason == NULL;
}

bool
fc_intake_may_flow(const FcIntake *intake, int least)
{
	FcTarget   *target = intake->target;
	const FcPlanned *planned = target->planned;

	return fc_intake_workers(intake, intake->progress->packed_size > 0 ? intake->progress->packed_size : PG_UINT64_MAX) >= least &&
		fc_caller_writes(target->options->caller) &&
		(fc_format_is_binary(&target->options->format) ||
		 !fc_recode_needed(target->form.encoding, &target->dialect)) &&
		(planned == NULL || fc_intake_plan_flows(planned));
}
