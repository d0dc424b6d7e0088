/*-------------------------------------------------------------------------
 *
 * load/layout.c
 *	  The segment that all processes of a load share.
 *
 *	 options, plan, source ──► FcShared and what follows it, in one segment
 *
 * What has no fixed size, the tail, lies after the struct, which has its
 * offsets.  The current resource owner owns the segment, and detaches it on
 * error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/steps.h"
#include "sort/order_by.h"

/*
 * Most chunks, beside one for each file; each takes 232 bytes of shared memory
 */
#define FC_MAX_CHUNKS	65536

/* A part of the tail */
typedef struct FcTail
{
	Size		size;
	const void *from;			/* what it begins as; NULL: zeros */
} FcTail;

/* Room for chunks of files that grow: least for each, most for all */
#define FC_LEAST_ROOM	512
#define FC_MOST_ROOM	16384

/*
 * More than a load of one source needs beside chunks and ring; and more than
 * most that one process does, which should take no pages that it does not touch
 */
#define FC_LAYOUT_REST	((Size) 512 * 1024)
#define FC_LAYOUT_ALONE	((Size) 32 * 1024)
#define FC_LAYOUT_PRIVATE	(2 * FC_LAYOUT_ALONE)

/* Chunks that each worker gets, about, and bytes of a chunk, at least */
#define FC_CHUNKS_EACH	16
#define FC_MIN_CHUNK	(256 * 1024)

/* Bytes of a chunk of received data, whose size is not known */
#define FC_STREAM_CHUNK	(1024 * 1024)

/*
 * The most bytes of a chunk whose rows may have to wait, in memory, for their
 * turn.  Smaller chunks would cost more: the rows of each begin, in each of the
 * partitions, in the middle of a page.
 */
#define FC_TURN_CHUNK	(4 * 1024 * 1024)

/*
 * Returns the bytes of a chunk: so few that no worker runs out of work before
 * the others.  "waits": the rows of a chunk may wait for those of another.
 */
static uint64
fc_layout_chunk_bytes(bool received, uint64 size, bool waits, int nworkers)
{
	uint64		share = received ? FC_STREAM_CHUNK :
		Max(size / (FC_CHUNKS_EACH * Max(nworkers, 1)), FC_MIN_CHUNK);

	if (waits)
		share = Min(share, FC_TURN_CHUNK);
	return Max(Min((uint64) fc_chunk_size, share),
			   received ? 0 : (size + FC_MAX_CHUNKS - 1) / FC_MAX_CHUNKS);
}

/* Counters, locks and the error slot */
static void
fc_layout_state(FcShared *shared)
{
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u32(&shared->working, 0);
	pg_atomic_init_u32(&shared->nheld, 0);
	pg_atomic_init_u32(&shared->mistaken, 0);
	fc_counts_begin(shared, FC_NCOUNTS);
	pg_atomic_init_u32(&shared->io.uring_errno, 0);
	pg_atomic_init_u32(&shared->errors.stopped, 0);
	pg_atomic_init_u64(&shared->errors.offset, PG_UINT64_MAX);
	SpinLockInit(&shared->errors.mutex);
	/* a tranche of core's: ids would run out if each session took one */
	LWLockInitialize(&shared->logical_lock, LWTRANCHE_PARALLEL_APPEND);
	ConditionVariableInit(&shared->turn_cv);
	ConditionVariableInit(&shared->inflow_cv);
	pg_atomic_init_u32(&shared->inflow_failed, 0);
}

/* The number of chunks; each is part of one file */
static uint32
fc_layout_count_chunks(const FcSource *source, uint64 chunk_size)
{
	uint64		n = 0;

	for (uint32 i = 0; i < source->nfiles; i++)
		n += (fc_source_end(source, i) - source->files[i].data_start +
			  chunk_size - 1) / chunk_size;
	Assert(n <= PG_UINT32_MAX);
	return (uint32) n;
}

/* Room for chunks of each file, for some times as many as it will have */
static uint32
fc_layout_room(const FcJob *job, uint64 chunk_size)
{
	const FcTarget *target = &job->target;
	uint64		expected = target->data_size / chunk_size / target->source->nfiles * 4;

	if (job->intake.incoming)
		return FC_MOST_ROOM;
	return Max(Min(expected, FC_MOST_ROOM / target->source->nfiles), FC_LEAST_ROOM);
}

/*
 * Makes the leader's source the one in shared memory, which grows while
 * processes unpack or receive the files
 */
static void
fc_layout_inflow(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	FcSource   *heads = target->source;

	if (job->intake.incoming == NULL)
		shared->source.area = dsm_segment_handle(job->intake.unpacked);
	for (uint32 i = 0; i < shared->source.nfiles; i++)
	{
		pg_atomic_init_u32(&fc_shared_inflow(shared)[i].published, 0);
		pg_atomic_init_u32(&fc_shared_inflow(shared)[i].whole, 0);
	}
	target->source = fc_source_attach(fc_shared_files(shared), shared->source.nfiles, heads->paths,
									  heads->programs, fc_shared_copies(shared),
									  shared->source.ncopies, fc_shared_extents(shared));
	target->source->ring = fc_shared_ring(shared);
	target->source->grows = true;
	target->source->size = heads->size;
	fc_source_close(heads);
}

void
fc_layout_chunks(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		chunk_size = target->shared->source.chunk_size;
	FcChunk    *chunk = fc_shared_chunks(target->shared);

	for (uint32 i = 0; i < target->source->nfiles; i++)
	{
		uint64		end = fc_source_end(target->source, i);

		for (uint64 at = target->source->files[i].data_start; at < end; chunk++)
		{
			chunk->start = at;
			chunk->length = Min(chunk_size, end - at);
			at += chunk->length;
		}
	}
	Assert(chunk <= fc_shared_chunks(target->shared) + target->shared->source.nchunks);
}

/* The area of processes that unpack files during phases; NULL: none do */
static const FcUnpackArea *
fc_layout_area(const FcJob *job)
{
	if (!fc_target_grows(&job->target) || job->intake.incoming)
		return NULL;
	return dsm_segment_address(job->intake.unpacked);
}

static void
fc_layout_job(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	const FcUnpackArea *area = fc_layout_area(job);
	Size		memory = area ? area->budget.most - area->budget.size : fc_settings_memory(target->nworkers);

	shared->target = target->oid;
	for (FcEol eol = FC_EOL_UNKNOWN; eol <= FC_EOL_CRNL; eol++)
	{
		shared->dialects[eol] = target->dialect;
		shared->dialects[eol].eol = eol;
	}
	shared->source.size = target->source->size - target->source->passed;
	shared->source.programs = target->source->programs;
	shared->source.data_size = target->data_size;
	shared->memory = memory / Max(target->nworkers, 1);
	shared->io.depth = fc_io_depth;
}

/* What is said of fields, as FC_TAIL_FIELDS has it */
static List *
fc_layout_fields(const FcOptions *options, const FcColumns *columns)
{
	List	   *patterns = NIL;
	List	   *words = NIL;

	for (int i = 0; i < list_length(columns->fields); i++)
	{
		patterns = lappend(patterns, makeString(columns->patterns[i] ? columns->patterns[i] : ""));
		words = lappend(words, columns->words[i]);
	}
	return list_make4(options->json ? columns->names : NIL, patterns, words,
					  list_make2(makeString(unconstify(char *, options->number.group)),
								 makeString(unconstify(char *, options->number.decimal))));
}

static AttrNumber *
fc_layout_columns(const FcColumns *columns)
{
	AttrNumber *attnums = palloc(sizeof(AttrNumber) * list_length(columns->fields));

	for (int i = 0; i < list_length(columns->fields); i++)
		attnums[i] = list_nth_int(columns->fields, i);
	return attnums;
}

/* A text, "" for NULL */
static FcTail
fc_layout_text(const char *text)
{
	return text ? (FcTail) {strlen(text) + 1, text} : (FcTail) {1, NULL};
}

/* An array of copies of the list's elements, of "size" bytes each */
static FcTail
fc_layout_list(const List *list, Size size)
{
	FcTail		tail = {size * list_length(list)};
	char	   *array = palloc(tail.size);

	for (int i = 0; i < list_length(list); i++)
		memcpy(array + size * i, list_nth(list, i), size);
	tail.from = array;
	return tail;
}

/* Room for the extents of all files: each piece may become one */
static uint32
fc_layout_count_extents(const FcJob *job)
{
	const FcSource *source = job->target.source;
	const FcUnpackArea *area = fc_layout_area(job);
	uint32		n = area ? area->npieces : 0;

	for (uint32 i = 0; i < source->nfiles; i++)
		n = Max(n, source->files[i].extent + source->files[i].nextents);
	return n;
}

/*
 * The copies, and the extents: those of the heads of files where their own will
 * be.  There is room for more of both.
 */
static void
fc_layout_copies(FcJob *job)
{
	FcShared   *shared = job->target.shared;
	const FcSource *source = job->target.source;
	const FcExtent *extents = source->extents;
	const FcUnpackArea *area = fc_layout_area(job);

	Assert(source->ncopies <= shared->source.ncopies);
	if (source->ncopies > 0)
		memcpy(fc_shared_copies(shared), source->copies, sizeof(FcCopy) * source->ncopies);
	for (uint32 i = 0; i < shared->source.nfiles; i++)
	{
		FcFile	   *file = &fc_shared_files(shared)[i];
		uint32		from = file->extent;

		if (area)
			file->extent = fc_area_chains(area)[i].first;
		if (file->nextents > 0)
			memcpy(fc_shared_extents(shared) + file->extent, extents + from,
				   sizeof(FcExtent) * file->nextents);
	}
}

/*
 * The condition that the phases evaluate.  If core loads the rows it evaluates
 * the condition itself, and a volatile one must not be evaluated twice.
 */
static char *
fc_layout_where(FcTarget *target)
{
	List	   *where = target->planned->where;

	if (where == NIL ||
		(target->course.core && contain_volatile_functions((Node *) where)))
		return "";
	return nodeToString(where);
}

/* Where the files of each header have the fields of the plan */
static FcTail
fc_layout_maps(const FcFileForm *form)
{
	int			n = list_length(form->names);
	int32	   *maps = palloc(sizeof(int32) * (n + 1) * Max(list_length(form->headers), 1));
	int32	   *map = maps;

	foreach_ptr(FcFileForm, header, form->headers)
	{
		bool		same = list_length(header->fields) == n;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
		{
			map[i + 1] = fc_columns_place(header, form, i);
			same &= map[i + 1] == i;
		}
		map[0] = same ? -1 : list_length(header->fields);
		map += n + 1;
	}
	return (FcTail) {(char *) map - (char *) maps, maps};
}

/*
 * Sets the parts of the tail, and their offsets in "layout"; returns its end
 */
static Size
fc_layout_tail(FcJob *job, FcShared *layout, FcTail *tail)
{
	FcTarget   *target = &job->target;
	const FcPlan *plan = &layout->plan;
	const FcSharedSource *source = &layout->source;
	const FcOptions *options = target->options;
	const FcColumns *columns = &target->planned->columns;
	Size		end = MAXALIGN(sizeof(FcShared));
	const FcTail tails[FC_NTAILS] = {
		[FC_TAIL_COLUMNS] = {sizeof(AttrNumber) * plan->ncolumns, fc_layout_columns(columns)},
		[FC_TAIL_FLAGS] = {sizeof(uint16) * plan->ncolumns, columns->flags},
		[FC_TAIL_NULL] = fc_layout_text(options->format.null_print),
		[FC_TAIL_DEFAULT] = fc_layout_text(options->default_string),
		[FC_TAIL_FIELDS] = fc_layout_text(nodeToString(fc_layout_fields(options, columns))),
		[FC_TAIL_TRANSFORMS] = fc_layout_text(columns->transforms || columns->origins ? nodeToString(lcons(columns->paths, columns->transforms)) : ""),
		[FC_TAIL_ZONE] = fc_layout_text(options->time_zone),
		[FC_TAIL_WHERE] = fc_layout_text(fc_layout_where(target)),
		[FC_TAIL_MAPS] = fc_layout_maps(&target->form),
		[FC_TAIL_NAMES] = {fc_source_paths_size(target->source), target->source->paths},
		[FC_TAIL_COPIES] = {sizeof(FcCopy) * source->ncopies},
		[FC_TAIL_EXTENTS] = {sizeof(FcExtent) * source->nextents},
		[FC_TAIL_FILES] = {sizeof(FcFile) * source->nfiles, target->source->files},
		[FC_TAIL_FILE_COUNTS] = {OidIsValid(options->ledger) || options->reject_each ? sizeof(FcFileCounts) * source->nfiles : 0},
		[FC_TAIL_NUMBERS] = fc_layout_list(target->planned->numbers, sizeof(FcNumber)),
		[FC_TAIL_ORDER] = fc_layout_list(target->planned->order, sizeof(FcSortKey)),
		[FC_TAIL_DEDUP] = fc_layout_list(target->planned->dedup, sizeof(FcSortKey)),
		[FC_TAIL_INFLOW] = {source->room > 0 ? sizeof(FcInflow) * source->nfiles : 0},
		[FC_TAIL_TEXTS] = {dsa_minimum_size()},
		[FC_TAIL_CHUNKS] = {sizeof(FcChunk) * source->nchunks},
		[FC_TAIL_STARTS] = {sizeof(FcChunkStart) * source->nchunks},
		[FC_TAIL_RING] = {target->course.once ? offsetof(FcRing, data) : 0},
	};

	Assert(list_length(columns->fields) == plan->ncolumns);
	Assert(list_length(target->planned->numbers) == plan->nnumbers);
	memcpy(tail, tails, sizeof(tails));
	for (int i = 0; i < FC_NTAILS; i++)
	{
		layout->at[i] = tail[i].size > 0 ? end : 0;
		end = MAXALIGN(end + tail[i].size);
	}
	return end;
}

/*
 * Room for chunks that each file gets beside, as many as the most pieces of
 * one
 */
static uint32
fc_layout_ahead(const FcJob *job)
{
	const FcUnpackArea *area = fc_layout_area(job);
	uint32		most = 0;

	for (uint32 i = 0; area && i < area->nfiles; i++)
	{
		const FcChain *chain = &fc_area_chains(area)[i];

		most = Max(most, chain->npieces);
	}
	return most;
}

/* Error context callback: says what to do if /dev/shm is full */
static void
fc_layout_hint(void *arg)
{
	if (geterrcode() == ERRCODE_DISK_FULL)
		errhint("Shared memory lies in /dev/shm, which in a container has 64 MB unless it was started with more, as by docker run --shm-size=1g. Data that are received take less of it with a lower fast_copy.memory or fast_copy.workers.");
}

Size
fc_layout_foresee(const FcOptions *options, uint64 size, int nworkers)
{
	bool		alone = nworkers == 0 && size != PG_UINT64_MAX;
	bool		received = (options->client || options->program) && !alone;
	uint64		chunk_size = fc_layout_chunk_bytes(received, size, true, nworkers);
	Size		nchunks = received ? FC_MOST_ROOM : size / chunk_size + 1;
	Size		ring_size = received ?
		fc_receive_ring_size(nworkers, chunk_size) : 0;

	return (alone ? FC_LAYOUT_ALONE : FC_LAYOUT_REST) +
		nchunks * (sizeof(FcChunk) + sizeof(FcChunkStart)) + ring_size;
}

dsm_segment *
fc_layout_early(Oid target, dsm_segment *area)
{
	dsm_segment *segment = fc_dsm_create(sizeof(FcShared), 0);
	FcShared   *shared = dsm_segment_address(segment);

	memset(shared, 0, sizeof(FcShared));
	shared->target = target;
	shared->source.area = dsm_segment_handle(area);
	SharedFileSetInit(&shared->fileset, segment);
	fc_layout_state(shared);
	return segment;
}

void
fc_layout_release(void *arg)
{
	FcTarget   *target = arg;

	if (target->opened.segment)
		dsm_detach(target->opened.segment);
	else if (target->shared)
	{
		SharedFileSetDeleteAll(&target->shared->fileset);
		dsa_release_in_place(fc_shared_texts(target->shared));
	}
	target->opened.segment = NULL;
	target->shared = NULL;
}

/*
 * Makes the segment, unless the one from before the load is large enough.  A
 * process that loads few rows alone takes memory of its own: to make a segment
 * and to end it takes as long as all else.
 */
static FcShared *
fc_layout_create(FcJob *job, Size size)
{
	FcOpened   *opened = &job->target.opened;
	ErrorContextCallback callback;
	MemoryContextCallback *release;

	if (opened->segment && dsm_segment_map_length(opened->segment) >= size)
		return dsm_segment_address(opened->segment);
	if (opened->segment)
		dsm_detach(opened->segment);
	opened->segment = NULL;
	/* a merge may get workers for the rows that are there */
	if (job->target.nworkers == 0 && size <= FC_LAYOUT_PRIVATE &&
		job->intake.unpacked == NULL && !fc_plan_merges(job->target.plan))
	{
		release = MemoryContextAlloc(job->mcxt, sizeof(MemoryContextCallback));
		release->func = fc_layout_release;
		release->arg = &job->target;
		MemoryContextRegisterResetCallback(job->mcxt, release);
		return MemoryContextAlloc(job->mcxt, size);
	}
	fc_error_context_push(&callback, fc_layout_hint, NULL);
	opened->segment = fc_dsm_create(size, 0);
	fc_error_context_pop();
	return dsm_segment_address(opened->segment);
}

void
fc_layout_make(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcUnpackArea *area = fc_layout_area(job);
	uint64		chunk_size;
	FcTail		tail[FC_NTAILS];
	FcShared	layout = {.plan = *target->plan};
	FcRing	   *ring;
	Size		total;
	Size		ring_size;

	Assert(target->shared == NULL && target->plan == &target->planned->plan);
	/* a function that was evaluated since may have asked for more */
	if (area)
		target->nworkers = Min(target->nworkers, area->ncopies);
	chunk_size = fc_layout_chunk_bytes(job->intake.incoming != NULL, target->data_size,
									   target->course.way == FC_WAY_TURNS || target->course.sends_all,
									   target->nworkers);
	layout.source.nfiles = target->source->nfiles;
	layout.source.ahead = fc_layout_ahead(job);
	layout.source.room = fc_target_grows(target) ? fc_layout_room(job, chunk_size) + layout.source.ahead : 0;
	layout.source.chunk_size = chunk_size;
	layout.source.nchunks = layout.source.room > 0 ? layout.source.room * layout.source.nfiles :
		fc_layout_count_chunks(target->source, chunk_size);
	/* each process that unpacks makes a temporary copy */
	layout.source.ncopies = target->source->ncopies + (area ? area->ncopies : 0);
	layout.source.nextents = fc_layout_count_extents(job);
	total = fc_layout_tail(job, &layout, tail);
	ring_size = layout.at[FC_TAIL_RING] == 0 ? 0 :
		fc_receive_ring_size(target->nworkers, chunk_size);
	target->shared = fc_layout_create(job, total + ring_size);
	memset(target->shared, 0, total);
	*target->shared = layout;
	target->plan = &target->shared->plan;
	if (ring_size > 0)
	{
		target->shared->source.places = layout.source.room;
		ring = fc_shared_ring(target->shared);
		ring->size = ring_size;
		ring->from = PG_UINT64_MAX;
		pg_atomic_init_u64(&ring->upto, PG_UINT64_MAX);
	}
	SharedFileSetInit(&target->shared->fileset, target->opened.segment);
	fc_error_begin(target->shared, target->opened.segment);
	for (int i = 0; i < FC_NTAILS; i++)
		if (tail[i].from)
			memcpy((char *) target->shared + target->shared->at[i], tail[i].from, tail[i].size);
	fc_layout_copies(job);
	fc_layout_job(job);
	fc_layout_state(target->shared);
	fc_pace_begin(target->shared);
	if (layout.source.room > 0)
		fc_layout_inflow(job);
	else
		fc_layout_chunks(job);
}
