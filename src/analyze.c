/*-------------------------------------------------------------------------
 *
 * analyze.c
 *	  What a load would do, without doing it.
 *
 *	 split, scan, check (load/run.c) ──► counters, ranges of keys, rejects
 *		──► findings, one row each: file, numbers of rows, causes of rejects,
 *		errors, warnings, partitions
 *
 * Every row is parsed and checked as for a load; nothing is written but spill
 * files, which go with the job's segment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/float.h"

#include "fast_copy.h"
#include "load/steps.h"
#include "sort/order_by.h"

/* Errors that are told with their lines */
#define FC_ANALYZE_ERRORS	10

/* Bytes of a spill entry, and about those of an index entry beside its key */
#define FC_SPILL_ENTRY		16
#define FC_INDEX_ENTRY		20

typedef struct FcAnalysis
{
	FcJob	   *job;
	FcTarget   *target;			/* of the job */
	List	   *findings;
} FcAnalysis;

static FcFinding *
fc_analyze_add(FcAnalysis *analysis, const char *item, const char *name)
{
	FcFinding  *finding = palloc0(sizeof(FcFinding));

	finding->item = item;
	finding->name = name;
	finding->rows = finding->bytes = finding->line = -1;
	analysis->findings = lappend(analysis->findings, finding);
	return finding;
}

static void
fc_analyze_warn(FcAnalysis *analysis, const char *name, const char *detail)
{
	fc_analyze_add(analysis, "warning", name)->detail = detail;
}

/* Names the file that a detail is about, if there are several */
static char *
fc_analyze_where(const FcTarget *target, uint64 offset)
{
	if (target->source->nfiles == 1)
		return "";
	return psprintf("%s \"%s\": ", fc_source_word(target->source), fc_source_path_at(target->source, offset));
}

static void
fc_analyze_file(FcAnalysis *analysis, uint32 file)
{
	FcTarget   *target = analysis->target;
	const FcOptions *options = target->options;
	FcFinding  *finding = fc_analyze_add(analysis, "file",
										 fc_source_path(target->source, file));

	finding->bytes = target->source->files[file].identity.size;
	finding->rows = fc_chunks_records(target->shared, target->source, file);
	finding->detail = fc_format_is_binary(&options->format) ? "binary" :
		psprintf("%s, %s, %d line%s of header",
							   options->json ? "json" : fc_format_is_csv(&options->format) ? "csv" : "text",
							   pg_encoding_to_char(target->form.encoding),
							   options->header_lines, options->header_lines == 1 ? "" : "s");
}

/* Tells how many records would be loaded, filtered and refused */
static void
fc_analyze_rows(FcAnalysis *analysis)
{
	FcCounts   *counts = &analysis->target->shared->counts;

	fc_analyze_add(analysis, "rows", "accepted")->rows = analysis->target->loaded;
	fc_analyze_add(analysis, "rows", "filtered")->rows = pg_atomic_read_u64(&counts->filtered);
	if (analysis->target->plan->dedup.marks)
		fc_analyze_add(analysis, "rows", "marks")->rows = pg_atomic_read_u64(&counts->marks);
	fc_analyze_add(analysis, "rows", "bad")->rows = pg_atomic_read_u64(&counts->rejected);
}

static void
fc_analyze_key(FcAnalysis *analysis)
{
	FcTarget   *target = analysis->target;
	FcFinding  *finding;
	int64		low = PG_INT64_MAX;
	int64		high = PG_INT64_MIN;
	uint64		rows = 0;
	uint64		nulls = 0;

	foreach_ptr(const FcSpillPart, part, analysis->job->parts)
	{
		if (part->null)
		{
			nulls = part->rows;
			continue;
		}
		rows += part->rows;
		low = Min(low, part->min_key);
		high = Max(high, part->max_key);
	}
	finding = fc_analyze_add(analysis, "key",
							 get_attname(target->oid, target->plan->key.attnum, false));
	finding->rows = rows;
	finding->low = rows ? fc_key_text(target->plan->key.type, low) : NULL;
	finding->high = rows ? fc_key_text(target->plan->key.type, high) : NULL;
	if (nulls > 0)
		finding->detail = psprintf("%s with a null key", fc_units_of(nulls, "row"));
}

/* What becomes of the rows that a partition has */
static char *
fc_analyze_leaf(const FcTarget *target, Oid leaf)
{
	Relation	rel;
	double		rows;

	if (!fc_plan_replaces(target->plan) || get_rel_relkind(leaf) != RELKIND_RELATION)
		return "exists";
	if (!target->plan->bounds.hi_max)
		return "exists, its rows within the range are replaced";
	rel = table_open(leaf, AccessShareLock);
	(void) fc_old_rows_count(rel, get_float8_infinity(), false, &rows);
	table_close(rel, AccessShareLock);
	return psprintf(rows == 1 ? "exists, %.0f row is %s" : "exists, %.0f rows are %s", rows,
					fc_plan_merges(target->plan) ? "merged" : "replaced");
}

static FcFinding *
fc_analyze_partition(FcAnalysis *analysis, const FcSpillPart *part)
{
	FcTarget   *target = analysis->target;
	FcFinding  *finding = fc_analyze_add(analysis, "partition", NULL);
	const FcRange *bounds = &target->plan->bounds;

	/* all would be refused, as the range that is replaced has none of them */
	bool		outside = !bounds->hi_max && !part->null && (part->max_key < bounds->lo || part->min_key >= bounds->hi);
	bool		created;
	Oid			leaf = fc_tasks_leaf(target, part, &created);

	finding->rows = part->rows;
	finding->bytes = part->bytes;
	if (!part->null)
	{
		finding->low = fc_key_text(target->route->type, part->min_key);
		finding->high = fc_key_text(target->route->type, part->max_key);
	}
	finding->name = created ? fc_partition_name(target->rel, target->route, &part->range) :
		OidIsValid(leaf) ? get_rel_name(leaf) : NULL;
	if (!created && !OidIsValid(leaf))
		finding->line = fc_error_line(&target->ctx, part->min_offset, part->min_length);
	finding->detail = outside ? "outside of the range that is replaced" : created ? "to be created" :
		!OidIsValid(leaf) && fc_spill_part_only_marks(part) ? "only delete marks, and no partition" : !OidIsValid(leaf) ?
		psprintf("%sno partition takes these rows", fc_analyze_where(target, part->min_offset)) :
		leaf == target->route->default_oid ? "default partition" : fc_analyze_leaf(target, leaf);
	return finding;
}

/* Tells the partitions that core's routing would find missing */
static void
fc_analyze_sprouts(FcAnalysis *analysis)
{
	foreach_ptr(FcSprout, sprout, analysis->job->tree ? analysis->job->tree->sprouts : NIL)
	{
		Oid			parent = fc_sprout_parent(sprout);

		CHECK_FOR_INTERRUPTS();
		sprout->name = fc_sprout_name(sprout, sprout->above->sprout ? sprout->above->sprout->name : get_rel_name(parent),
									  get_rel_namespace(parent));
		fc_analyze_add(analysis, "partition", sprout->name)->detail = "to be created";
	}
}

/* Tells the partitions; before them the rows that none takes */
static void
fc_analyze_partitions(FcAnalysis *analysis)
{
	int			at = list_length(analysis->findings);

	fc_analyze_sprouts(analysis);
	if (!analysis->target->plan->key.routes)
		return;
	foreach_ptr(const FcSpillPart, part, analysis->job->parts)
	{
		FcFinding  *finding;

		CHECK_FOR_INTERRUPTS();
		finding = fc_analyze_partition(analysis, part);
		if (finding->line < 0)
			continue;
		analysis->findings = list_delete_last(analysis->findings);
		analysis->findings = list_insert_nth(analysis->findings, at++, finding);
	}
}

/* Tells one of the first rejects */
static void
fc_analyze_reject(FcAnalysis *analysis, const FcReject *reject, int64 line)
{
	FcFinding  *finding = fc_analyze_add(analysis, "error", NULL);
	char	   *where = fc_analyze_where(analysis->target, reject->offset);

	if (reject->column[0] != '\0')
		finding->name = pstrdup(reject->column);
	finding->line = line;
	finding->detail = reject->class != 0 ?
		psprintf("%s%s%s: %s", where, fc_reject_is_kept(reject) ? "mended, " : "",
				 unpack_sql_state(reject->sqlerrcode), reject->message) :
		reject->null_input ? psprintf("%sset to null: null input", where) :
		psprintf("%sset to null: \"%s\"", where, reject->value);
}

/* Reads all rejects, in the order of the file, and tells the first ones */
static FcCauses *
fc_analyze_causes(FcAnalysis *analysis)
{
	FcTarget   *target = analysis->target;
	FcRejects  *rejects = fc_rejects_open(&target->ctx, target->nworkers);
	FcLines    *lines = fc_lines_begin(&target->ctx);
	FcCauses   *causes = fc_causes_begin(target);
	FcReject	reject;

	for (uint64 i = 0; fc_rejects_next(rejects, &reject); i++)
	{
		FcCause    *new;
		int64		line;

		fc_reject_clip(&reject);
		new = fc_causes_add(causes, &reject);
		CHECK_FOR_INTERRUPTS();
		if (new == NULL && i >= FC_ANALYZE_ERRORS)
			continue;
		line = fc_lines_at(lines, reject.offset, reject.length);
		if (new)
			new->line = line;
		if (i < FC_ANALYZE_ERRORS)
			fc_analyze_reject(analysis, &reject, line);
	}
	pfree(lines);
	fc_rejects_close(rejects);
	return causes;
}

/* Tells the first rejects, and before them what all have in common */
static void
fc_analyze_rejects(FcAnalysis *analysis)
{
	List	   *before = analysis->findings;
	List	   *errors;
	FcCauses   *causes;
	uint64		others;

	analysis->findings = NIL;
	causes = fc_analyze_causes(analysis);
	errors = analysis->findings;
	analysis->findings = before;
	foreach_ptr(const FcCause, cause, fc_causes_list(causes, &others))
	{
		FcFinding  *finding = fc_analyze_add(analysis, "cause",
											 cause->column[0] == '\0' ? NULL : cause->column);

		finding->rows = cause->count;
		finding->line = cause->line;
		finding->detail = psprintf("%s%s", fc_analyze_where(analysis->target, cause->offset),
								   cause->detail);
	}
	if (others > 0)
	{
		FcFinding  *finding = fc_analyze_add(analysis, "cause", NULL);

		finding->rows = others;
		finding->detail = "other causes than those above";
	}
	analysis->findings = list_concat(analysis->findings, errors);
}

/* The error as the text of a warning */
static char *
fc_analyze_error_text(const ErrorData *edata)
{
	return psprintf("%s%s%s%s%s", edata->message, edata->detail ? ": " : "",
					edata->detail ? edata->detail : "", edata->hint ? " " : "",
					edata->hint ? edata->hint : "");
}

/*
 * Tells the error at which the analysis ended, before the rows after it; or
 * that reject_limit allows a smaller part of the records
 */
static void
fc_analyze_fatal(FcAnalysis *analysis)
{
	FcTarget   *target = analysis->target;
	FcErrorSlot *slot = &target->shared->errors.first;
	FcFinding  *finding;
	ErrorData  *edata;
	char	   *where;

	if (pg_atomic_read_u64(&target->shared->errors.offset) == PG_UINT64_MAX)
	{
		edata = fc_error_catch_undo(&target->ctx, fc_job_judge, analysis->job);
		if (edata)
			fc_analyze_add(analysis, "error", NULL)->detail =
				psprintf("%s: %s", unpack_sql_state(edata->sqlerrcode), fc_analyze_error_text(edata));
		return;
	}
	finding = fc_analyze_add(analysis, "error", NULL);
	finding->line = fc_error_line(&target->ctx, slot->offset, slot->length);
	/* what was kept of a converted file may be about a byte of the copy */
	edata = slot->kind <= FC_ERROR_BATCH && target->original == NULL ? fc_error_kept(target->shared) :
		fc_error_catch_undo(&target->ctx, fc_lead_throw, target);
	/* code of the table has tried to write: that is no fault of the file */
	if (edata->sqlerrcode == ERRCODE_READ_ONLY_SQL_TRANSACTION && edata->funcname != NULL &&
		strcmp(edata->funcname, "PreventCommandIfReadOnly") == 0)
		ThrowErrorData(edata);
	where = fc_analyze_where(target, slot->offset);
	finding->detail = psprintf("%s%s: %s%s%s", where, unpack_sql_state(edata->sqlerrcode), edata->message,
							   edata->hint ? ". " : "", edata->hint ? edata->hint : "");
	fc_analyze_warn(analysis, "file",
					psprintf("%sRecords after line " INT64_FORMAT " were not looked at.", where, finding->line));
}

/* Body of fc_error_try: what it finds out leaves nothing behind */
static bool
fc_analyze_try_parts(void *arg)
{
	const FcJob *job = arg;
	const FcTarget *target = &job->target;

	if (job->tree)
		fc_partitions_check_tree(arg);
	else
		fc_partitions_check_room(job, target->ncreated);
	fc_partition_precheck(target->rel, target->route, target->created, target->ncreated, false);
	return false;
}

/* Returns, as text, why the partitions cannot be made; NULL if they can */
static char *
fc_analyze_precheck(FcJob *job)
{
	ErrorData  *edata;

	if (job->target.ncreated == 0 && job->tree == NULL)
		return NULL;
	edata = fc_error_try(fc_analyze_try_parts, job);
	if (edata == NULL)
		return NULL;
	if (edata->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(edata);
	return fc_analyze_error_text(edata);
}

/* Tells a fault, unless it is NULL, with its detail, its hint or both */
static void
fc_analyze_fault(FcAnalysis *analysis, const FcFault *fault, bool detail, bool hint)
{
	if (fault)
		fc_analyze_warn(analysis, fault->name,
						psprintf("%s: %s%s%s", fault->message, detail ? fault->detail : "",
								 detail && hint ? " " : "", hint ? fault->hint : ""));
}

/* Tells for what a load would refuse to replace, or merge, rows */
static void
fc_analyze_replaced(FcAnalysis *analysis)
{
	ErrorData  *edata;

	if (!fc_plan_replaces(analysis->target->plan))
		return;
	edata = fc_replace_error(analysis->job);
	if (edata)
		fc_analyze_warn(analysis, "existing_rows", fc_analyze_error_text(edata));
	foreach_ptr(const FcFault, fault, fc_replace_faults(analysis->job))
		fc_analyze_fault(analysis, fault, true, true);
	fc_analyze_fault(analysis, fc_replace_cascades(analysis->job), true, true);
}

/* Tells of what a load would warn, or for what it would make no partitions */
static void
fc_analyze_warnings(FcAnalysis *analysis)
{
	FcTarget   *target = analysis->target;
	uint32		known = fc_ledger_count(analysis->job);
	char	   *reason;

	if (known > 0)
		fc_analyze_warn(analysis, "ledger",
						psprintf("%s of %s files are recorded as loaded: unless they have changed, a load skips them.",
								 fc_units_count(known), fc_units_count(target->source->nfiles)));
	reason = fc_analyze_precheck(analysis->job);
	if (reason)
		fc_analyze_warn(analysis, "partitions", reason);
	fc_analyze_fault(analysis, fc_partitions_too_small(analysis->job), false, true);
	if (fc_plan_is_published(target->rel) && (target->ncreated > 0 || (analysis->job->tree && analysis->job->tree->sprouts)))
		fc_analyze_warn(analysis, "publication",
						"New partitions are attached before they are filled, so that subscribers get their rows.");
	if (target->course.core)
		fc_analyze_warn(analysis, "serial",
						psprintf("Rows are loaded one by one, as COPY does%s: %s.",
								 target->options->order_by != NIL ? ", and order_by would be refused" : "",
								 target->course.reason));
	else if (target->course.leader)
		fc_analyze_warn(analysis, "serial",
						psprintf("The leader works alone: %s.",
								 target->course.leader));
	if (target->route && OidIsValid(target->route->default_oid) &&
		target->plan->missing == FC_MISSING_DEFAULT)
		fc_analyze_warn(analysis, "default partition",
						"Rows without a partition of their own go to the default partition.");
	fc_analyze_fault(analysis, fc_partitions_far(analysis->job), true, true);
	foreach_ptr(const FcFault, fault, fc_partitions_faults(analysis->job))
		fc_analyze_fault(analysis, fault, true, false);
}

static void
fc_analyze_choices(FcAnalysis *analysis)
{
	FcTarget   *target = analysis->target;

	fc_analyze_add(analysis, "choice", "workers")->detail =
		psprintf("%d", target->course.core || target->course.leader ? 0 : target->nworkers);
	fc_analyze_add(analysis, "choice", "order")->detail =
		target->plan->order.nkeys > 0 && !target->course.core ?
		fc_sort_keys_text(target->rel, target->planned->order) :
		target->options->order_by != NIL && !target->course.core ? "key" :
		target->course.core || target->plan->in_order ? "file" :
		target->plan->key.type != FC_KEY_NONE && !target->plan->key.early ?
		"key" : "chunks of the file";
	fc_analyze_add(analysis, "choice", "spill")->detail =
		target->plan->key.type == FC_KEY_NONE || target->course.core ? "none" :
		target->course.way == FC_WAY_ROWS ? "rows" : "offsets";
	fc_analyze_add(analysis, "choice", "io_method")->detail =
		target->course.way == FC_WAY_ROWS ? "none" : target->shared->io.uring ? "io_uring" : "sync";
}

/* Bytes of temporary copies and of the converted file */
static uint64
fc_analyze_copied(const FcJob *job)
{
	const FcTarget *target = &job->target;
	uint64		bytes = target->original ? target->source->size : 0;
	const FcSource *source = fc_target_unconverted(target);

	if (job->intake.unpacked == NULL)
		return bytes;
	for (uint32 i = 0; i < source->nfiles; i++)
		if (source->files[i].nextents > 0)
			bytes += source->files[i].identity.size;
	return bytes;
}

/*
 * Estimates the disk space that the load takes: tuples, index pages nine
 * tenths full, and as much WAL again.
 */
static void
fc_analyze_disk(FcAnalysis *analysis)
{
	FcTarget   *target = analysis->target;
	uint64		heap = pg_atomic_read_u64(&target->shared->counts.heap_bytes);
	uint64		average = target->loaded > 0 ? heap / target->loaded : 0;
	uint64		nindexes = list_length(RelationGetIndexList(target->rel));
	uint64		index = nindexes * target->loaded * (FC_INDEX_ENTRY + Min(average / 4, 64)) * 10 / 9;
	bool		logged = target->rel->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT;

	fc_analyze_add(analysis, "disk", "tables")->bytes =
		TYPEALIGN(BLCKSZ, heap + heap / 100);
	fc_analyze_add(analysis, "disk", "indexes")->bytes = TYPEALIGN(BLCKSZ, index);
	fc_analyze_add(analysis, "disk", "WAL")->bytes = logged ? heap + index : 0;
	fc_analyze_add(analysis, "disk", "temporary files")->bytes =
		fc_analyze_copied(analysis->job) +
		(target->plan->key.type == FC_KEY_NONE ? 0 :
		 target->loaded * FC_SPILL_ENTRY + (target->course.way == FC_WAY_ROWS ? Max(heap, target->source->size) : 0));
}

List *
fc_analyze_run(FcOptions *options)
{
	FcAnalysis	analysis = {0};
	bool		read_only = XactReadOnly;

	/*
	 * A condition or constraint may call functions that write.  From 16 on
	 * transaction_read_only cannot be set for the length of one function, so
	 * that its variable is set; an abort resets the variable, too.
	 */
	XactReadOnly = true;
	analysis.job = fc_job_analyze(options);
	analysis.target = &analysis.job->target;
	for (uint32 i = 0; i < analysis.target->source->nfiles; i++)
		fc_analyze_file(&analysis, i);
	fc_analyze_rows(&analysis);
	if (analysis.target->plan->key.type != FC_KEY_NONE)
		fc_analyze_key(&analysis);
	fc_analyze_rejects(&analysis);
	fc_analyze_fatal(&analysis);
	fc_analyze_warnings(&analysis);
	fc_analyze_replaced(&analysis);
	fc_analyze_choices(&analysis);
	fc_analyze_disk(&analysis);
	fc_analyze_partitions(&analysis);
	fc_setup_end(analysis.job);
	XactReadOnly = read_only;
	return analysis.findings;
}
