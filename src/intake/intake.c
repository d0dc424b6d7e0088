/*-------------------------------------------------------------------------
 *
 * intake/intake.c
 *	  Sources that can only be read once, from front to back: packed files,
 *	  and what receive.c and they have in common.
 *
 *	 packed files ──► processes, a piece at a time ──► temporary copies
 *
 * A load reads its source several times, in any order.  So what is packed or
 * received is put into temporary copies.  They cost about as much as a spill
 * of rows would, but keep the order of the file: one that is in key order is
 * still loaded without a sort.
 *
 * Packed files are unpacked in one of two ways:
 *
 * 1. Ahead: in a phase before all others, even before the headers are read
 *    (fc_lead_unpack, load/lead.c).
 * 2. Meanwhile: by the processes that scan, or load without a scan
 *    (intake/pieces.c), if there are fewer files than processes; or in a phase
 *    of their own, if nothing can go on beside it (FcCourse.waits).  The leader
 *    unpacks the files' heads before, because headers and line ends must be
 *    known before records can be looked for.
 *
 * After unpacking all phases see a source as if the unpacked files had been
 * named; messages have the names of the packed ones.
 *
 * The segment belongs to the current resource owner, the temporary copies to
 * the SharedFileSet in it; workers end with the parallel context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "intake/chunks.h"
#include "intake/intake.h"
#include "source/recode.h"

/* For fewer packed bytes workers cost more than they bring */
#define FC_SMALL_PACKED	(1024 * 1024)

/* Bits of an offset within its file: no file is larger */
#define FC_HEADS_BITS	48

/* Bytes after the first record that a head must have, for messages */
#define FC_HEADS_MARGIN	16

#define FC_HEADS_READ	65536	/* bytes at a time */

/*
 * A step has at least and at most so many bytes (fewer with a smaller
 * fast_copy.chunk_size); each process should get so many steps.  All files
 * together have at most so many pieces, or one each.
 */
#define FC_STEP_LEAST	(256 * 1024)
#define FC_STEP_MOST	(4 * 1024 * 1024)
#define FC_STEPS_EACH	16
#define FC_PIECES_MOST	1024

static int
fc_area_size_cmp(const void *a, const void *b, void *arg)
{
	const FcFile *files = arg;
	uint32		na = *(const uint32 *) a;
	uint32		nb = *(const uint32 *) b;
	uint64		sa = files[na].identity.size;
	uint64		sb = files[nb].identity.size;

	return sa != sb ? (sa > sb ? -1 : 1) : na < nb ? -1 : na > nb;
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
	Assert(n == area->npacked);
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
	bool		whole = flows && fc_format_is_binary(&intake->target->options->format);
	uint64		most = Max(FC_PIECES_MOST / source->nfiles, 1);

	for (uint32 i = 0; i < source->nfiles; i++)
	{
		FcChain    *chain = &chains[i];
		uint64		packed = source->files[i].identity.size;
		uint64		step = packed / (FC_STEPS_EACH * Max(processes, 1));

		chain->first = *npieces;
		if (source->files[i].kind == FC_CODEC_NONE)
			continue;
		step = Min(Max(step, FC_STEP_LEAST), FC_STEP_MOST);
		step = Max(Min(step, (uint64) fc_chunk_size), packed / most + 1);
		chain->packed = packed;
		chain->step = whole || !fc_border_is_there((FcCodecKind) source->files[i].kind) ? packed : step;
		chain->npieces = (packed + chain->step - 1) / chain->step;
		*npieces += chain->npieces;
	}
	return chains;
}

FcUnpackArea *
fc_intake_share(FcIntake *intake, const FcSource *source, uint32 npacked, int processes,
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
	layout.hint = intake->target->options->utf16;
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
	fc_budget_init(&area->budget, fc_settings_memory(processes));
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
fc_intake_begin(FcIntake *intake, FcPhase phase)
{
	fc_progress_begin_stream(intake->progress, phase);
	intake->progress->stream_start = intake->progress->phase_start;
}

/* Bytes of the source that are in temporary copies */
static uint64
fc_intake_copied(const FcSource *source)
{
	uint64		bytes = 0;

	if (source->ring)
	{
		uint64		upto = pg_atomic_read_u64(&source->ring->upto);

		upto = Min(upto, source->size);
		return source->size - (upto - Min(source->ring->from, upto));
	}
	for (uint32 i = 0; i < source->nfiles; i++)
		bytes += source->files[i].nextents > 0 ? source->files[i].identity.size : 0;
	return bytes;
}

/* Adds the row for the phase, which ended at "end", to the report */
static void
fc_intake_report(const FcIntake *intake, FcPhase phase, instr_time end, int processes,
				 char *choice)
{
	FcReportRow row = {0};

	INSTR_TIME_SUBTRACT(end, intake->progress->stream_start);
	row.phase = phase;
	row.whole = true;
	row.processes = processes;
	row.alone = row.rows = row.reads = row.wal_bytes = -1;
	row.bytes = pg_atomic_read_u64(intake->progress->taken);
	row.spill_bytes = fc_intake_copied(intake->target->source);
	row.seconds = INSTR_TIME_GET_DOUBLE(end);
	row.choice = choice;
	fc_report_add(&row);
}

void
fc_intake_end(FcIntake *intake, int processes)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	fc_intake_report(intake, intake->progress->phase, now, processes, intake->choice);
	fc_progress_end(intake->progress);
	intake->progress->phase = FC_PHASE_SETUP;
}

/* The number of workers that unpack; nothing is known of what is received */
static int
fc_intake_workers(const FcIntake *intake)
{
	uint64		bytes = intake->progress->packed_size;

	return fc_processors_workers(intake->target->options->workers, bytes > 0 && bytes < FC_SMALL_PACKED);
}

bool
fc_intake_may_flow(const FcIntake *intake, int least)
{
	FcTarget   *target = intake->target;
	const FcPlanned *planned = target->planned;

	return fc_intake_workers(intake) >= least &&
		fc_caller_writes(target->options->caller) && !fc_options_cut(target->options) &&
		(fc_format_is_binary(&target->options->format) ||
		 !fc_recode_needed(target->form.encoding, &target->dialect)) &&
		(planned == NULL || (planned->core_reason == NULL && planned->leader_reason == NULL));
}

/* What is found out about the files */
typedef struct FcHeads
{
	const FcSource *packed;
	FcFile	   *files;			/* as the heads have them */
	FcExtent   *extents;		/* one of each */
	bool	   *cut;			/* there is more than the head */
	uint64		expected;		/* bytes in all, roughly */
	bool		wide;			/* windows take memory of the budget */
} FcHeads;

/*
 * Unpacks one head, some 256 kB; false if it is faulty or needs too much
 * memory.  A fault is thrown only when all of the file is unpacked.
 */
static bool
fc_heads_unpack(FcHeads *heads, FcUnpacker *unpacker, uint32 number)
{
	const FcFile *packed = &heads->packed->files[number];
	FcFile	   *file = &heads->files[number];
	FcFileInput input;
	FcUnpackEnd end;
	uint64		taken;
	bool		fits;

	fc_piece_input(&input, heads->packed, number, 0);
	file->nextents = 1;
	file->extent = number;
	file->base = (uint64) number << FC_HEADS_BITS;
	heads->extents[number] = (FcExtent)
	{
		file->base, unpacker->written, 0
	};
	fc_unpack_open(unpacker, &input.input, (FcCodecKind) packed->kind);
	end = fc_unpack_some(unpacker, unpacker->written + 1);
	taken = fc_unpack_taken(unpacker);
	fits = unpacker->reserved <= unpacker->budget->size;
	heads->wide |= unpacker->reserved > 0;
	fc_unpack_close(unpacker);
	file->identity.size = unpacker->written - heads->extents[number].at;
	file->utf16 = unpacker->utf16.is;
	heads->cut[number] = (end == FC_UNPACK_MORE);
	heads->expected += end == FC_UNPACK_END ? file->identity.size :
		(uint64) ((double) packed->identity.size / Max(taken, 1) * file->identity.size);
	return end != FC_UNPACK_FAULT && fits;
}

/* Unpacks all heads into a temporary copy; NULL if one cannot be */
static FcCopy *
fc_heads_copy(FcHeads *heads, FcUnpackArea *area)
{
	FcCopy	   *copy = palloc(sizeof(FcCopy));
	FcUnpacker	unpacker;
	bool		fit = true;

	fc_unpack_begin(&unpacker, &area->fileset, area->ncopies,
					&area->budget, &area->taken);
	unpacker.hint = area->hint;
	for (uint32 i = 0; i < heads->packed->nfiles && fit; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fit = fc_heads_unpack(heads, &unpacker, i);
	}
	fc_unpack_end(&unpacker, copy->path);
	pg_atomic_write_u64(&area->taken, 0);
	if (!heads->wide)
		area->budget.size = 0;
	return fit ? copy : NULL;
}

/* Does a binary header end in the head?  Core refuses one that is malformed */
static bool
fc_heads_has_binary(const FcSource *source, uint32 number)
{
	char		header[FC_BINARY_HEADER_LEN];
	uint64		size = fc_source_end(source, number) - source->files[number].base;
	uint32		extension;

	if (size < sizeof(header))
		return false;
	fc_source_read(source, source->files[number].base, header, sizeof(header));
	memcpy(&extension, header + sizeof(header) - sizeof(extension), sizeof(extension));
	return size - sizeof(header) >= pg_ntoh32(extension);
}

/*
 * Do header and first record end in the head, and is nothing special about
 * them?
 */
static bool
fc_heads_is_enough(const FcIntake *intake, const FcSource *source, FcStream *stream,
				   uint32 number)
{
	FcDialect	dialect = intake->target->dialect;
	FcRecord	record;
	uint64		lines = 0;

	if (dialect.mode == FC_MODE_BINARY)
		return fc_heads_has_binary(source, number);
	fc_stream_seek_file(stream, number, source->files[number].base);
	for (int line = 0; line <= intake->target->options->header_lines; line++)
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_stream_next_but(stream, &dialect, intake->target->options->comment, &record, &lines) != FC_END_FOUND ||
			record.unterminated || record.marked ||
			record.offset + record.total + FC_HEADS_MARGIN > fc_source_end(source, number))
			return false;
	}
	return true;
}

bool
fc_intake_suffices(const FcIntake *intake, const FcSource *source, const bool *cut)
{
	FcStream   *stream = fc_stream_begin(source, FC_HEADS_READ);
	bool		suffice = true;

	for (uint32 i = 0; i < source->nfiles && suffice; i++)
		suffice = (cut && !cut[i]) || fc_heads_is_enough(intake, source, stream, i);
	fc_stream_end(stream);
	return suffice;
}

/* Makes a source of the files, with temporary copies of the packed ones */
static FcSource *
fc_intake_make_source(FcUnpackArea *area, FcSource *packed)
{
	Size		size = sizeof(FcFile) * packed->nfiles;
	FcFile	   *files = MemoryContextAllocHuge(CurrentMemoryContext, size);
	uint64		base = 0;

	memcpy(files, packed->files, size);
	for (uint32 i = 0; i < packed->nfiles; i++)
	{
		const FcChain *chain = &fc_area_chains(area)[i];

		files[i].base = base;
		if (chain->npieces > 0)
		{
			files[i].identity.size = chain->unpacked;
			files[i].extent = chain->first;
			files[i].nextents = chain->nextents;
			files[i].utf16 = chain->utf16;
		}
		for (uint32 k = 0; k < chain->nextents; k++)
			fc_area_extents(area)[chain->first + k].offset += base;
		base += files[i].identity.size;
	}
	return fc_source_attach(files, packed->nfiles, packed->paths, false, fc_area_copies(area),
							area->ncopies, fc_area_extents(area));
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

/* Replaces the guess of the files' sizes, once all are there */
static void
fc_intake_measure(FcTarget *target)
{
	FcSource   *source = target->source;

	source->size = 0;
	for (uint32 i = 0; i < source->nfiles; i++)
		source->size += source->files[i].identity.size;
	target->shared->source.size = source->size;
	target->shared->source.data_size = fc_source_data_size(source);
}

void
fc_intake_progress(void *arg)
{
	FcIntake   *intake = arg;
	FcTarget   *target = intake->target;
	FcUnpackArea *area = fc_target_grows(target) ? dsm_segment_address(intake->unpacked) : NULL;

	if (area && fc_figures_is_stream(intake->progress) && intake->incoming == NULL &&
		intake->progress->phase != target->shared->phase &&
		pg_atomic_read_u32(&area->done) == area->npacked)
	{
		pg_read_barrier();
		/* after a fault files are passed over, and have no size */
		if (pg_atomic_read_u32(&target->shared->inflow_failed) == 0)
			fc_intake_measure(target);
		fc_progress_start(intake->progress);
		fc_progress_phase(intake->progress, target->shared->phase);
	}
	fc_progress_update(intake->progress);
}

/* Says for the report what was unpacked */
static char *
fc_intake_choice(const FcSource *packed, uint32 npacked)
{
	uint32		counts[FC_CODEC_REFUSED] = {0};
	const char *separator = " (";
	StringInfo	choice = makeStringInfo();

	for (uint32 i = 0; i < packed->nfiles; i++)
		counts[packed->files[i].kind]++;
	appendStringInfo(choice, "%u of %u files", npacked, packed->nfiles);
	for (int kind = FC_CODEC_NONE + 1; kind < FC_CODEC_REFUSED; kind++)
	{
		if (counts[kind] == 0)
			continue;
		appendStringInfo(choice, "%s%u %s", separator, counts[kind],
						 fc_codec_name(kind));
		separator = ", ";
	}
	appendStringInfoString(choice, ") unpacked to temporary files");
	return choice->data;
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

/*
 * Throws the error of the first file that cannot be unpacked.  The process that
 * met it may have begun in the middle of the file, so the leader unpacks the
 * file once more, from its beginning, and reports what one process would.
 */
static void
fc_intake_check_fault(const FcIntake *intake, FcUnpackArea *area, const FcSource *source)
{
	FcUnpacker	unpacker;
	FcFileInput input;
	uint64		taken;

	if (area->faulty == PG_UINT32_MAX)
		return;
	fc_unpack_begin(&unpacker, NULL, 0, &area->budget, &area->taken);
	unpacker.hint = area->hint;
	unpacker.progress = fc_progress_update;
	unpacker.progress_arg = intake->progress;
	fc_piece_input(&input, source, area->faulty, 0);
	if (fc_unpack_members(&unpacker, &input.input, (FcCodecKind) source->files[area->faulty].kind,
						  false, PG_UINT64_MAX, &taken) != FC_UNPACK_FAULT)
		fc_source_differs(source, source->files[area->faulty].base,
						  "a file that can be unpacked");
	fc_unpack_throw(&unpacker);
}

int
fc_intake_unpackers(const FcIntake *intake)
{
	const FcUnpackArea *area = dsm_segment_address(intake->unpacked);

	return area->npieces < 2 || area->ncopies < 2 ? 0 : Min(area->ncopies, area->npieces);
}

void
fc_intake_end_unpack(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcUnpackArea *area = dsm_segment_address(intake->unpacked);

	fc_intake_check_fault(intake, area, target->source);
	intake->packed = target->source;
	target->source = fc_intake_make_source(area, intake->packed);
	fc_intake_end(intake, pg_atomic_read_u32(&area->processes));
}

/*
 * Makes a source of the first bytes of the files, all of which are packed.  The
 * files' offsets are so far apart that the rest of each has room: an offset
 * means the same before and after it is unpacked.  False, with nothing changed,
 * if a head lacks part of the header or the first record, is faulty, or needs
 * too much memory.
 */
static bool
fc_intake_take_heads(FcIntake *intake, uint32 npacked, int workers)
{
	FcSource   *packed = intake->target->source;
	FcUnpackArea *area = fc_intake_share(intake, packed, npacked, workers, true);
	Size		size = sizeof(FcFile) * packed->nfiles;
	FcHeads		heads = {packed};
	FcSource   *source = NULL;
	FcCopy	   *copy;

	/* the rest of the memory is for the scan, in the same processes */
	area->budget.size = Min(area->budget.most / workers * npacked, area->budget.most / 2);
	heads.files = memcpy(palloc(size), packed->files, size);
	heads.extents = palloc(sizeof(FcExtent) * packed->nfiles);
	heads.cut = palloc0(sizeof(bool) * packed->nfiles);
	copy = fc_heads_copy(&heads, area);
	if (copy)
		source = fc_source_attach(heads.files, packed->nfiles, packed->paths, false, copy, 1,
								  heads.extents);
	if (source && fc_intake_suffices(intake, source, heads.cut))
	{
		source->grows = true;
		source->size = heads.expected;
		intake->packed = packed;
		intake->target->source = source;
		return true;
	}
	if (source)
		fc_source_close(source);
	dsm_detach(intake->unpacked);
	intake->unpacked = NULL;
	return false;
}

bool
fc_intake_unpack_ahead(FcIntake *intake)
{
	uint32		npacked = fc_intake_count(intake->target->source, &intake->progress->packed_size);
	int			workers = fc_intake_workers(intake);

	if (npacked == 0)
		return false;
	intake->choice = fc_intake_choice(intake->target->source, npacked);
	if (npacked == intake->target->source->nfiles && fc_intake_may_flow(intake, npacked + 1) &&
		fc_intake_take_heads(intake, npacked, workers))
		return false;
	(void) fc_intake_share(intake, intake->target->source, npacked, Max(workers, 1), false);
	fc_intake_begin(intake, FC_PHASE_UNPACK);
	return true;
}

/*
 * The source is whole.  What was received outlives the load's shared memory,
 * unless a ring still has some of it.
 */
static void
fc_intake_take_source(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcSource   *grown = target->source;

	if (grown->ring == NULL && intake->packed == NULL)
	{
		fc_source_close(grown);
		target->source = fc_source_of_copy(grown->copies->path,
										   memcpy(palloc(sizeof(FcFile)), grown->files, sizeof(FcFile)),
										   1, grown->paths, grown->programs);
	}
	target->source->grows = false;
	if (intake->packed == NULL)
		intake->received.source = target->source;
	target->ctx.source = target->source;
	fc_intake_measure(target);
	target->data_size = target->shared->source.data_size;
}

void
fc_intake_flowed(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcUnpackArea *area = dsm_segment_address(intake->unpacked);
	int			processes = intake->packed ? pg_atomic_read_u32(&area->processes) : 1;
	const char *meanwhile = target->shared->phase == FC_PHASE_SCAN ? ", scanned meanwhile" :
		target->shared->phase == FC_PHASE_LOAD ? ", loaded meanwhile" : "";

	if (intake->packed)
		fc_intake_check_fault(intake, area, intake->packed);
	target->found = fc_chunks_finish(target->shared);
	fc_intake_take_source(intake);
	fc_intake_report(intake, intake->packed ? FC_PHASE_UNPACK : FC_PHASE_RECEIVE, area->ended,
					 processes, psprintf("%s%s", intake->choice, meanwhile));
	/* the phase counts from the end of unpacking on */
	intake->progress->phase = target->shared->phase;
	intake->progress->phase_start = area->ended;
}
