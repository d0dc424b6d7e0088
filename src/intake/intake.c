/*-------------------------------------------------------------------------
 *
 * intake/intake.c
 *	  Sources that can only be read once, from front to back: packed files,
 *	  and what receive.c and they have in common.
 *
 *	 packed files ──► processes, a piece at a time ──► temporary copies
 *
 * A load reads its source several times, in any order, and what is packed or
 * received can be read only once.  So it is put into a temporary copy, which
 * costs about as much as a spill of rows would, but has the order of the file:
 * a packed file in key order is still loaded without a sort.  Phases after
 * unpacking see a source as if the unpacked files had been named; messages
 * have the names of the packed ones.
 *
 * Where there are fewer packed files than processes, the leader unpacks no more
 * than their heads (intake/heads.c), and the processes that scan, or load
 * without a scan, unpack the rest meanwhile (intake/pieces.c).  Else all files
 * are unpacked before all other phases, even before the headers are read, with
 * a segment and a parallel context for that.
 *
 * Files that are unpacked beside a scan get offsets with gaps between them,
 * because their sizes are not known when they get their places.  Only after the
 * scan can the leader see whether such a file is in key order, and what it
 * would cost to read its rows by offsets.  It may then forget the scan, or scan
 * again and spill rows (load/find.c).
 *
 * A load without a key takes chunks as soon as they are published.  All files
 * are unpacked before it if it must know the number of rows (sequences), sorts
 * rows, or inserts the rows of several files in turn.  They are unpacked first,
 * too, for a load by core, for an analysis, and if their encoding must be
 * converted.
 *
 * If several files cannot be unpacked, the error is about the first of them: a
 * process that meets one notes it, and all processes then unpack only files
 * before it.  Errors of other kinds are thrown at once.
 *
 * After a record that ends the load, nobody waits for what a program or the
 * client still sends, unless it is packed: only the end of packed data says
 * whether they are sound.  A load that gives way to pg_partman and begins
 * again keeps what it has received, because that comes only once; packed files
 * are unpacked again.
 *
 * The segment belongs to the current resource owner and the temporary copies
 * to the SharedFileSet in it; workers end with the parallel context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "context/workers.h"
#include "intake/chunks.h"
#include "intake/copies.h"
#include "intake/heads.h"
#include "intake/intake.h"
#include "intake/receive.h"
#include "report/progress.h"
#include "report/report.h"
#include "source/decompress.h"

#define FC_KEY_AREA	UINT64CONST(0xFC00000000000011)

PGDLLEXPORT void fc_intake_main(dsm_segment *seg, shm_toc *toc);

/* One process's work: unpacks pieces until none is left, into its copy */
static void
fc_intake_unpack_pieces(FcUnpackArea *area, const FcSource *source, int process,
						void (*progress) (void *arg), void *progress_arg)
{
	FcHand	   *hand = fc_hand_begin(area, source, process, NULL, progress, progress_arg);

	while (fc_hand_step(hand))
		;
	fc_hand_end(hand);
}

/* Entry point of a worker */
void
fc_intake_main(dsm_segment *seg, shm_toc *toc)
{
	dsm_handle *handle = shm_toc_lookup(toc, FC_KEY_AREA, false);
	dsm_segment *segment = dsm_attach(*handle);
	FcUnpackArea *area;
	FcSource   *source;

	if (segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	area = dsm_segment_address(segment);
	SharedFileSetAttach(&area->fileset, segment);
	source = fc_source_attach(fc_area_files(area), area->nfiles,
							  fc_area_names(area), NULL, 0, NULL);
	if (fc_source_hold(source))
		fc_intake_unpack_pieces(area, source, ParallelWorkerNumber, NULL, NULL);
	fc_source_close(source);
	dsm_detach(segment);
}

/* Unpacks in workers; false if none could and nothing was done */
static bool
fc_intake_parallel(FcIntake *intake, int nworkers)
{
	ParallelContext *pcxt;
	dsm_handle *handle;
	FcUnpackArea *area = dsm_segment_address(intake->unpacked);

	EnterParallelMode();
	pcxt = CreateParallelContext("fast_copy", "fc_intake_main", nworkers);
	shm_toc_estimate_chunk(&pcxt->estimator, sizeof(dsm_handle));
	shm_toc_estimate_keys(&pcxt->estimator, 1);
	InitializeParallelDSM(pcxt);
	handle = shm_toc_allocate(pcxt->toc, sizeof(dsm_handle));
	*handle = dsm_segment_handle(intake->unpacked);
	shm_toc_insert(pcxt->toc, FC_KEY_AREA, handle);
	if (fc_workers_launch(pcxt) > 0)
		fc_workers_wait(pcxt, fc_progress_update, intake->progress);
	DestroyParallelContext(pcxt);
	ExitParallelMode();
	return pg_atomic_read_u32(&area->processes) > 0;
}

/* Makes the unpacked file follow those before it */
static void
fc_intake_place_file(FcUnpackArea *area, FcFile *file, uint32 number, uint64 base)
{
	const FcChain *chain = &fc_area_chains(area)[number];

	file->base = base;
	if (chain->npieces == 0)
		return;
	file->identity.size = chain->unpacked;
	file->extent = chain->first;
	file->nextents = chain->nextents;
	for (uint32 i = 0; i < chain->nextents; i++)
		fc_area_extents(area)[chain->first + i].offset += base;
}

/* Makes a source of the files, with temporary copies of the packed ones */
static FcSource *
fc_intake_make_source(FcUnpackArea *area, FcSource *packed)
{
	Size		size = sizeof(FcFile) * packed->nfiles;
	FcFile	   *files = MemoryContextAllocHuge(CurrentMemoryContext, size);
	FcSource   *source;
	uint64		base = 0;

	memcpy(files, packed->files, size);
	for (uint32 i = 0; i < packed->nfiles; i++)
	{
		fc_intake_place_file(area, &files[i], i, base);
		base += files[i].identity.size;
	}
	source = fc_source_attach(files, packed->nfiles, packed->paths, fc_area_copies(area),
							  area->ncopies, fc_area_extents(area));
	(void) fc_source_hold(source);
	return source;
}

void
fc_intake_flow(FcIntake *intake)
{
	fc_progress_begin_stream(intake->progress, intake->incoming ? FC_PHASE_RECEIVE : FC_PHASE_UNPACK);
	/* receiving began with the first bytes */
	if (intake->incoming)
		intake->progress->phase_start = intake->progress->stream_start;
	intake->progress->stream_start = intake->progress->phase_start;
}

/* Replaces the guess of the files' sizes, once all are unpacked */
static void
fc_intake_measure(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcSource   *source = target->source;

	source->size = 0;
	for (uint32 i = 0; i < source->nfiles; i++)
		source->size += source->files[i].identity.size;
	target->expected = source->size;
	target->shared->source.size = source->size;
	target->shared->source.data_size = fc_source_data_size(source);
}

void
fc_intake_progress(void *arg)
{
	FcIntake   *intake = arg;
	FcTarget   *target = intake->target;
	FcUnpackArea *area = target->inflow ? dsm_segment_address(intake->unpacked) : NULL;

	if (area && fc_figures_is_stream(intake->progress) && intake->incoming == NULL &&
		intake->progress->phase != target->shared->phase &&
		pg_atomic_read_u32(&area->done) == area->npacked)
	{
		/* after a fault files are passed over, and have no size */
		if (pg_atomic_read_u32(&target->shared->inflow_failed) == 0)
			fc_intake_measure(intake);
		fc_progress_start(intake->progress);
		fc_progress_phase(intake->progress, target->shared->phase);
	}
	fc_progress_update(intake->progress);
}

static char *
fc_intake_choice(const FcSource *packed, uint32 npacked)
{
	uint32		counts[FC_CODEC_REFUSED] = {0};
	const char *separator = " (";
	StringInfoData choice;

	for (uint32 i = 0; i < packed->nfiles; i++)
		counts[packed->files[i].kind]++;
	initStringInfo(&choice);
	appendStringInfo(&choice, "%u of %u files", npacked, packed->nfiles);
	for (int kind = FC_CODEC_NONE + 1; kind < FC_CODEC_REFUSED; kind++)
	{
		if (counts[kind] == 0)
			continue;
		appendStringInfo(&choice, "%s%u %s", separator, counts[kind],
						 fc_codec_name(kind));
		separator = ", ";
	}
	appendStringInfoString(&choice, ") unpacked to temporary files");
	return choice.data;
}

/* Counts packed files and their bytes; ERROR for a kind we cannot unpack */
static uint32
fc_intake_count(const FcSource *source, uint64 *bytes)
{
	uint32		npacked = 0;

	*bytes = 0;
	for (uint32 i = 0; i < source->nfiles; i++)
	{
		const FcFile *file = &source->files[i];

		if (file->kind == FC_CODEC_NONE)
			continue;
		if (!fc_codec_unpacks(file->kind))
			fc_unpack_refuse(file->kind, fc_source_word(source),
							 fc_source_path(source, i));
		npacked++;
		*bytes += file->identity.size;
	}
	return npacked;
}

/* FcUnpacker.put: drops what is unpacked */
static FcUnpackPut
fc_intake_drop(void *arg, const char *buf, size_t len)
{
	return FC_PUT_DROPPED;
}

/*
 * Throws the error of the first file that cannot be unpacked.  Whoever met it
 * may have begun in the middle of the file: so it is unpacked once more, from
 * the front, to tell the same as if one process had.
 */
static void
fc_intake_check_fault(const FcIntake *intake, FcUnpackArea *area, const FcSource *source)
{
	FcUnpacker	unpacker;
	FcFileInput input;
	FcUnpackFault fault;
	FcUnpackEnd end;
	uint64		taken;

	if (area->faulty == PG_UINT32_MAX)
		return;
	fc_unpack_begin(&unpacker, &area->fileset, area->ncopies + 1, &area->budget, &area->taken);
	unpacker.progress = fc_progress_update;
	unpacker.progress_arg = intake->progress;
	unpacker.put = fc_intake_drop;
	fc_piece_input(&input, source, area->faulty, 0);
	end = fc_unpack_members(&unpacker, &input.input, (FcCodecKind) source->files[area->faulty].kind,
							false, PG_UINT64_MAX, &taken, &fault);
	if (end != FC_UNPACK_FAULT)
		fc_source_differs(source, source->files[area->faulty].base,
						  "a file that can be unpacked");
	fc_unpack_throw(&fault, fc_source_word(source), fc_source_path(source, area->faulty));
}

/* Unpacks in workers or in the leader */
static void
fc_intake_work(FcIntake *intake, FcUnpackArea *area, int workers)
{
	/* the leader unpacks a single piece as fast as a worker does */
	workers = area->npieces < 2 ? 0 : Min(workers, area->npieces);
	if (workers == 0 || !fc_intake_parallel(intake, workers))
		fc_intake_unpack_pieces(area, intake->target->source, 0, fc_progress_update, intake->progress);
	fc_intake_check_fault(intake, area, intake->target->source);
}

/* Unpacks all files, in a phase of its own */
static void
fc_intake_unpack_all(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcUnpackArea *area;
	uint64		bytes;
	uint32		npacked = fc_intake_count(target->source, &bytes);
	int			workers = fc_intake_workers(intake, bytes);

	area = fc_area_share(intake, target->source, npacked, Max(workers, 1), false);
	fc_intake_begin(intake, FC_PHASE_UNPACK, bytes);
	fc_intake_work(intake, area, workers);
	intake->packed = target->source;
	target->source = fc_intake_make_source(area, intake->packed);
	fc_intake_end(intake, pg_atomic_read_u32(&area->processes),
				  fc_intake_choice(intake->packed, npacked));
}

/* Unpacks the heads; false, with nothing changed, if they do not suffice */
static bool
fc_intake_take_heads(FcIntake *intake, uint32 npacked, int workers)
{
	FcTarget   *target = intake->target;
	FcUnpackArea *area = fc_area_share(intake, target->source, npacked, workers, true);
	FcSource   *heads;

	/* the rest of the memory is for the scan, in the same processes */
	area->budget.size = Min(area->budget.most / workers * npacked, area->budget.most / 2);
	heads = fc_heads_source(intake, area, &target->expected);
	if (heads == NULL)
	{
		dsm_detach(intake->unpacked);
		intake->unpacked = NULL;
		return false;
	}
	intake->packed = target->source;
	target->source = heads;
	return target->inflow = true;
}

void
fc_intake_unpack(FcIntake *intake)
{
	uint32		npacked = fc_intake_count(intake->target->source, &intake->progress->packed_size);
	int			workers = fc_intake_workers(intake, intake->progress->packed_size);

	if (npacked > 0 &&
		!(npacked == intake->target->source->nfiles && fc_intake_may_flow(intake, npacked + 1) &&
		  fc_intake_take_heads(intake, npacked, workers)))
		fc_intake_unpack_all(intake);
}

/* Takes what the heads told of the header to a file at another offset */
static void
fc_intake_move_header(FcFile *file, const FcFile *head)
{
	file->data_start = head->data_start - head->base + file->base;
	file->lines_before = head->lines_before;
	file->eol = head->eol;
	file->unsettled = head->unsettled;
}

void
fc_intake_settle(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcSource   *heads = target->source;
	/*
	 * workers that it takes; a leader alone can load received data as they
	 * come, without a copy, if it reads them only once
	 */
	int			least = intake->packed ? intake->packed->nfiles + 1 :
		target->way == FC_WAY_TURNS && target->plan->order.nkeys == 0 ? 0 : 1;

	/* a function that was evaluated meanwhile may have asked for more */
	if (target->inflow && intake->packed)
	{
		const FcUnpackArea *area = dsm_segment_address(intake->unpacked);

		target->nworkers = Min(target->nworkers, area->ncopies);
	}
	if (!target->inflow || (target->nworkers >= least && target->way != FC_WAY_COPY && target->way != FC_WAY_SEND &&
							fc_intake_plan_flows(target->planned)))
		return;
	target->inflow = false;
	if (intake->incoming)
		fc_receive_rest(intake);
	else
	{
		fc_source_close(heads);
		target->source = intake->packed;
		dsm_detach(intake->unpacked);
		fc_intake_unpack_all(intake);
	}
	for (uint32 i = 0; i < heads->nfiles; i++)
		fc_intake_move_header(&target->source->files[i], &heads->files[i]);
}

/*
 * Opens the temporary copies as the source, as if they had been named.  What
 * was received outlives the load's shared memory.
 */
static FcSource *
fc_intake_join(const FcIntake *intake, const FcSource *inflow)
{
	FcSource   *source;

	if (intake->packed == NULL)
		return fc_source_of_copy(inflow->copies->path,
								 memcpy(palloc(sizeof(FcFile)), inflow->files, sizeof(FcFile)),
								 1, inflow->paths);
	source = fc_source_attach(inflow->files, inflow->nfiles, inflow->paths,
							  inflow->copies, inflow->ncopies, inflow->extents);
	(void) fc_source_hold(source);
	return source;
}

/* Takes the whole files as the source, or what a ring still has of them */
static void
fc_intake_take_source(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcShared   *shared = target->shared;
	FcSource   *source;

	if (target->source->ring)
		target->source->size = target->source->files->identity.size;
	else
	{
		fc_source_close(target->source);
		source = fc_intake_join(intake, target->source);
		source->programs = target->source->programs;
		target->source = source;
	}
	target->inflow = false;
	if (intake->packed == NULL)
		intake->received = target->source;
	target->ctx.source = target->source;
	shared->source.size = target->source->size;
	shared->source.data_size = target->data_size = fc_source_data_size(target->source);
}

void
fc_intake_flowed(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcUnpackArea *area = dsm_segment_address(intake->unpacked);
	uint32		nfiles = target->source->nfiles;
	int			processes = intake->packed ? pg_atomic_read_u32(&area->processes) : 1;
	char	   *choice = intake->packed ? fc_intake_choice(intake->packed, nfiles) :
		fc_receive_choice(intake);
	const char *meanwhile = target->shared->phase == FC_PHASE_SCAN ? ", scanned meanwhile" :
		target->shared->phase == FC_PHASE_LOAD ? ", loaded meanwhile" : "";

	if (intake->packed)
		fc_intake_check_fault(intake, area, intake->packed);
	target->found = fc_inflow_finish(target->shared);
	fc_intake_take_source(intake);
	fc_intake_report(intake, intake->packed ? FC_PHASE_UNPACK : FC_PHASE_RECEIVE, area->ended,
					 processes, psprintf("%s%s", choice, meanwhile));
	/* the phase counts from the end of unpacking on */
	intake->progress->phase = target->shared->phase;
	intake->progress->phase_start = area->ended;
}
