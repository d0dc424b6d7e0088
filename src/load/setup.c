/*-------------------------------------------------------------------------
 *
 * load/setup.c
 *	  From options to a job that can start: privileges, file, header, shared
 *	  memory.
 *
 * The shared segment belongs to the current resource owner: on error it is
 * detached, which deletes the spill files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"

#include "copyfrom/feed.h"
#include "io/io.h"
#include "load/steps.h"
#include "row/column.h"
#include "row/origin.h"

/*
 * Shared memory of phases beside the load's segment: that of the parallel
 * context, of one phase at a time, and a small segment for received data
 */
#define FC_SEGMENT_REST	((Size) 1024 * 1024)
#define FC_SEGMENT_WORKER	((Size) 32 * 1024)
#define FC_SEGMENT_RECEIVED	((Size) 64 * 1024)

/* ERROR 55006 if code of users has changed it while it was closed */
void
fc_setup_open_target(FcJob *job)
{
	FcTarget   *target = &job->target;
	Relation	rel = try_relation_open(target->oid, RowExclusiveLock);

	if (rel == NULL || (job->closed && !equalTupleDescs(RelationGetDescr(rel), job->closed)))
		fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("table \"%s\" was changed while it was being loaded", target->relname),
				 errhint("Look for such a command in event triggers."));
	target->rel = target->ctx.target = rel;
}

void
fc_setup_close_target(FcJob *job)
{
	FcTarget   *target = &job->target;
	MemoryContext old = MemoryContextSwitchTo(job->mcxt);

	job->closed = CreateTupleDescCopyConstr(RelationGetDescr(target->rel));
	MemoryContextSwitchTo(old);
	table_close(target->rel, NoLock);
	target->rel = target->ctx.target = NULL;
}

/* The argument of fc_setup_try_segment */
typedef struct FcSegmentWanted
{
	Size		size;
	Size		beside;			/* 0: nothing */
	dsm_segment *segment;		/* NULL: the system refuses */
} FcSegmentWanted;

/* Body of fc_error_try: the segment outlives the subtransaction */
static bool
fc_setup_try_segment(void *arg)
{
	FcSegmentWanted *wanted = arg;
	dsm_segment *segment = fc_dsm_create(wanted->size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	dsm_segment *rest = segment && wanted->beside > 0 ?
		fc_dsm_create(wanted->beside, DSM_CREATE_NULL_IF_MAXSEGMENTS) : NULL;

	if (segment == NULL || (wanted->beside > 0 && rest == NULL))
		return false;
	if (rest)
		dsm_detach(rest);
	dsm_pin_mapping(segment);
	wanted->segment = segment;
	return true;
}

dsm_segment *
fc_setup_segment(const FcOptions *options, uint64 size)
{
	int			workers = fc_processors_workers(options->workers, size < FC_PROCESSORS_SMALL);
	FcSegmentWanted wanted = {fc_layout_foresee(options, size, workers),
	FC_SEGMENT_REST + workers * FC_SEGMENT_WORKER};
	ErrorData  *edata;

	if (workers == 0 && size != PG_UINT64_MAX)
		wanted.beside = options->client || options->program ? FC_SEGMENT_RECEIVED : 0;
	edata = fc_error_try(fc_setup_try_segment, &wanted);
	if (edata && fc_error_is_of_transaction(edata))
		ReThrowError(edata);
	if (wanted.segment)
		dsm_unpin_mapping(wanted.segment);
	return wanted.segment;
}

int
fc_setup_workers(const FcTarget *target, uint64 bytes)
{
	if (target->course.leader != NULL ||
		(!fc_caller_writes(target->options->caller) && target->plan->subtransactions))
		return 0;
	return fc_processors_workers(target->options->workers, bytes < FC_PROCESSORS_SMALL);
}

/*
 * Chooses how records are read in key order: by io_uring if the kernel allows
 * it.  For a small file the setup of rings takes longer than the reads.
 */
static void
fc_setup_io(FcTarget *target)
{
	FcShared   *shared = target->shared;
	int			err;

	if (fc_io_method == FC_IO_SYNC || target->plan->key.type == FC_KEY_NONE ||
		(fc_io_method == FC_IO_AUTO && target->nworkers == 0 &&
		 target->data_size < FC_PROCESSORS_SMALL))
		return;
	err = fc_io_uring_probe();
	shared->io.uring = (err == 0);
	pg_atomic_write_u32(&shared->io.uring_errno, err);
}

static void
fc_setup_dialect(FcTarget *target)
{
	const CopyFormatOptions *format = &target->options->format;

	target->dialect.null_string = format->null_print;
	target->dialect.null_len = strlen(format->null_print);
	target->dialect.default_string = target->options->default_string;
	if (target->dialect.default_string)
		target->dialect.default_len = strlen(target->dialect.default_string);
	if (fc_format_is_binary(format))
	{
		target->dialect.mode = FC_MODE_BINARY;
		target->dialect.nfields = target->plan->nfields;
		return;
	}
	target->dialect.delim = target->options->delimiter[0];
	target->dialect.delim_more = strlen(target->options->delimiter) - 1;
	memcpy(target->dialect.delim_rest, target->options->delimiter + 1, target->dialect.delim_more);
	if (fc_format_is_csv(format) && !target->options->raw)
	{
		target->dialect.quote = format->quote[0];
		target->dialect.escape = format->escape[0];
		target->dialect.csv_marker = fc_caller_reads_as_core(target->options->caller) && FC_CORE_CSV_MARKER;
		return;
	}
	target->dialect.mode = FC_MODE_TEXT;
	target->dialect.raw = target->options->raw;
	target->dialect.json = target->options->json;
	target->dialect.others = target->options->ignore_extra_columns;
	target->dialect.lone_marker = FC_CORE_LONE_MARKER;
}

/*
 * Converts the source to the server's encoding, if records cannot be found in
 * its own.  From then on the converted copy is the source, but core gets files
 * as they were.
 */
static void
fc_setup_recode(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcOptions *options = target->options;
	SharedFileSet *fileset;

	if (fc_format_is_binary(&options->format) ||
		!fc_recode_needed(target->form.encoding, &target->dialect))
		return;
	job->converted = dsm_create(sizeof(SharedFileSet), 0);
	fileset = dsm_segment_address(job->converted);
	SharedFileSetInit(fileset, job->converted);
	target->original = target->source;
	target->source = fc_recode_source(target->original, target->form.encoding, fileset);
	target->form.encoding = GetDatabaseEncoding();
}

/* Opens or receives the source, and converts it */
static void
fc_setup_file(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_setup_dialect(target);
	if (target->options->move != FC_MOVE_NOTHING)
	{
		target->source = fc_source_begin();
		return;
	}
	if (target->options->program)
		fc_program_check();
	if (target->options->program || target->options->client)
		fc_receive(&job->intake);
	else if (fc_caller_opened_by_core(target->options->caller))
		target->source = target->opened.file;
	else
	{
		target->source = fc_access_open(target, PG_UINT64_MAX);
		fc_ledger_check_opened(job);
		if (fc_intake_unpack_ahead(&job->intake))
			fc_lead_unpack(job);
	}
	fc_setup_recode(job);
}

/*
 * Checks the settings that protect the owner of partitions, and finds the
 * pg_partman that manages the table, to make partitions as it does
 */
static void
fc_setup_partman(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcPartman  *partman;

	if (!target->plan->partitioned || target->plan->missing != FC_MISSING_CREATE ||
		target->kept)
		return;
	fc_settings_check_guards();
	job->partman = partman = fc_partman_find(target->rel);
	if (partman == NULL)
		return;
	if (target->options->interval)
		fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("argument \"partition_interval\" cannot be used for table \"%s\", which pg_partman manages",
														 target->relname),
				 errhint("Leave it out, or switch fast_copy.use_partman off."));

	/*
	 * a caller who may not read its tables can still load partitions that are
	 * there
	 */
	if (partman->refusal && fc_caller_writes(target->options->caller) &&
		partman->refusal->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE)
		fc_fault_report(ERROR, partman->refusal);
}

/* Body of fc_column_in_setting: reads the call's texts as those of the file */
static void
fc_setup_make_plan(void *arg)
{
	FcTarget   *target = arg;

	target->planned = fc_plan_make(target->rel, target->options, &target->form,
								   target->opened.where);
	target->plan = &target->planned->plan;
}

/*
 * ERROR for what expressions name of where rows came from, and a file does not
 * have: 22021 for a name that is no text, 22023 for another folder
 */
static void
fc_setup_check_origins(const FcTarget *target)
{
	const FcColumns *columns = &target->planned->columns;
	const FcSource *source = target->source;
	const int	named = fc_origin_bit(FC_ORIGIN_FILE) | fc_origin_bit(FC_ORIGIN_PATH);

	/* where core loads it gets fields as texts */
	if (columns->origins && target->dialect.mode == FC_MODE_BINARY)
		fc_throw(ERRCODE_SYNTAX_ERROR, errmsg("cannot use $file and the like in BINARY mode"));
	for (uint32 i = 0; columns->origins && i < source->nfiles; i++)
	{
		char	   *value;

		CHECK_FOR_INTERRUPTS();
		if ((columns->origins & named) && source->files[i].raw > 0)
			fc_throw(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, errmsg("name of file \"%s\" is no text in encoding \"%s\"",
																 fc_source_path(source, i), GetDatabaseEncodingName()),
					 errhint("Rename the file, or leave out $file and $path."));
		foreach_node(Const, path, columns->paths)
			if (!fc_origin_path(source, i, TextDatumGetCString(path->constvalue), &value))
				fc_option_error(errmsg("path of %s \"%s\" has no folder \"%s=...\"", fc_source_word(source),
									   fc_source_path(source, i), TextDatumGetCString(path->constvalue)),
								errhint("Load files that lie in no such folder by a call of their own, without $path.%s.",
										TextDatumGetCString(path->constvalue)));
	}
}

/*
 * Makes the plan, opens the files and decides the first course.  As in COPY
 * the target is looked at before the files, unless a header names the columns.
 */
static void
fc_setup_plan(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (target->options->move != FC_MOVE_NOTHING && target->rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		fc_plan_refuse_move(target->rel, NULL, NULL);
	fc_plan_check_relkind(target->rel);
	fc_history_check(target);
	if (target->options->header_map || target->options->drops)
	{
		fc_setup_file(job);
		fc_header_read(job);
	}
	fc_column_in_setting(fc_column_zone(target->options->time_zone), fc_setup_make_plan, target);
	fc_access_check_target(job);
	fc_setup_partman(job);
	if (target->options->nodes != NIL)
		job->places = fc_elsewhere_get()->places(target, job->partman != NULL);
	fc_reject_table_check(target);
	if (!target->options->header_map && !target->options->drops)
		fc_setup_file(job);
	if (target->original)
	{
		target->planned->plan.encoding = target->form.encoding;
		target->planned->plan.need_transcoding = false;
		target->planned->plan.origins &= ~fc_origin_bit(FC_ORIGIN_BYTE_OFFSET);
	}
	fc_way_begin(job);
	if (target->course.core && fc_caller_writes(target->options->caller))
		fc_core_check(target);
}

FcJob *
fc_setup_begin(const FcOptions *options, const FcOpened *opened, struct FcLedger *ledger,
			   struct FcManifest *manifest)
{
	FcJob	   *job = palloc0(sizeof(FcJob));

	job->target.options = options;
	job->target.sources = ledger ? fc_ledger_sources(ledger) : options->sources;
	/* the ledger names files that it has claimed */
	job->target.literal = options->literal || ledger;
	job->ledger = ledger;
	job->manifest = manifest;
	if (opened)
		job->target.opened = *opened;
	job->target.form.columns = options->columns;
	job->target.form.encoding = options->file_encoding;
	job->target.oid = options->target;
	job->progress.target = job->intake.target = &job->target;
	job->intake.progress = &job->progress;
	job->target.start = GetCurrentTimestamp();
	job->progress.estimate.left = -1;
	job->mcxt = CurrentMemoryContext;
	job->hold = fc_hold_create();
	return job;
}

void
fc_setup_job(FcJob *job)
{
	FcTarget   *target = &job->target;
	const FcOptions *options = target->options;

	fc_away_check_options(options);
	/* naming a table by its OID must not get around its schema's privileges */
	fc_executor_check_schema(target->oid);
	fc_access_lock_target(options);
	fc_setup_open_target(job);
	target->relname = pstrdup(RelationGetRelationName(target->rel));
	fc_setup_plan(job);

	/* workers need an XID, which they cannot assign, and a used command id */
	if (fc_caller_writes(options->caller))
	{
		(void) GetCurrentTransactionId();
		(void) GetCurrentCommandId(true);
	}
	if (!options->header_map && !options->drops && target->source->nfiles > 0)
		fc_header_read(job);
	fc_setup_check_origins(target);
	fc_range_limit(job);
	fc_ledger_cut(job);
	fc_way_decide(job);
	if (target->facts.unsettled && !target->course.core_alone)
		fc_feed_refuse_unsettled();
	fc_away_check_ledger(job);
	fc_away_foresee(job);
	target->data_size = fc_source_data_size(target->source);
	target->nworkers = fc_setup_workers(target, target->data_size);
	fc_way_decide(job);
	fc_layout_make(job);
	fc_setup_io(target);
	fc_worker_context_begin(&target->ctx, target->shared);
	target->ctx.source = target->source;
	target->ctx.target = target->rel;
	if (target->nworkers == 0)
		target->ctx.keep = fc_context_memory(target->ctx.mcxt, "kept");
}

void
fc_setup_end(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_source_close(target->source);
	if (target->original)
		fc_source_close(target->original);
	if (job->intake.packed)
		fc_source_close(job->intake.packed);
	if (job->converted)
		dsm_detach(job->converted);
	if (job->intake.unpacked)
		dsm_detach(job->intake.unpacked);
	fc_worker_context_end(&target->ctx);
	if (job->since.snapshot)
		UnregisterSnapshot(job->since.snapshot);
	if (target->history)
		table_close(target->history, NoLock);
	if (target->rejects)
		table_close(target->rejects, NoLock);
	fc_setup_close_target(job);
	fc_layout_release(target);
}
