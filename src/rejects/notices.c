/*-------------------------------------------------------------------------
 *
 * rejects/notices.c
 *	  What the leader tells of the records that on_error passed over.
 *
 *	 rejects in file order ──► line number ──► NOTICE, as COPY's
 *										  ├──► row of reject_table
 *										  └──► too many: COPY's ERROR
 *
 * Only core gives notices while it loads.  Else they come after all processes,
 * when the order of the file is known; before an error, those that COPY would
 * have given.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "errors/first_error.h"
#include "rejects/rejects.h"

#define FC_CLASSES	8

/* One pass over the rejects */
typedef struct FcTeller
{
	FcTarget   *target;
	FcRejects  *rejects;
	FcLines    *lines;
	FcRejectTable *table;		/* or NULL */
	bool		verbose;
	uint64		rejected;		/* records so far */
	uint64		of_class[FC_CLASSES];
	FcReject	reject;			/* the reject in work */
} FcTeller;

/* What was wrong, by the number of the class's bit */
static const char *const reasons[FC_CLASSES] = {
	"data type incompatibility",
	"missing columns",
	"extra columns",
	"invalid encoding",
	"check constraints",
	"not-null constraints",
	"missing partitions",
	"unique constraints"
};

static void
fc_notices_context(void *arg)
{
	const FcTeller *teller = arg;
	const FcTarget *target = teller->target;

	/* COPY's context, with the name of the file where there are several */
	if (target->source->nfiles == 1)
		errcontext("fast_copy %s", target->relname);
	else
		errcontext("%s", fc_target_place(target, fc_source_number(target->source, teller->reject.offset)));
}

/*
 * Tells that the record in work, or a value of it, is left out, with COPY's
 * context
 */
static void
fc_notices_tell(FcTeller *teller, uint64 line)
{
	FcReject   *reject = &teller->reject;
	const char *what = reject->class == 0 ? "setting to null" : "skipping row";
	ErrorContextCallback callback;

	fc_reject_clip(reject);
	fc_error_context_push(&callback, fc_notices_context, teller);
	ereport(NOTICE, reject->class == FC_CLASS_REPLACE_INVALID ?
			errmsg("replacing characters at line " UINT64_FORMAT ": %s", line, reject->message) :
			reject->class == FC_CLASS_CUT_LONG ?
			errmsg("cutting value at line " UINT64_FORMAT " for column \"%s\": \"%s\"", line, reject->column, reject->value) :
			reject->class != 0 && reject->class != FC_CLASS_CONVERSION ?
			errmsg("skipping row due to %s at line " UINT64_FORMAT ": %s",
				   reasons[pg_leftmost_one_pos32(reject->class)], line, reject->message) :
			reject->null_input ?
			errmsg("%s due to data type incompatibility at line " UINT64_FORMAT " for column \"%s\": null input",
				   what, line, reject->column) :
			errmsg("%s due to data type incompatibility at line " UINT64_FORMAT " for column \"%s\": \"%s\"",
				   what, line, reject->column, reject->value));
	fc_error_context_pop();
}

void
fc_notices_show(FcTarget *target, const FcReject *reject, uint64 line)
{
	FcTeller	teller = {.target = target,.reject = *reject};

	if (target->options->log_verbosity == FC_LOG_VERBOSE)
		fc_notices_tell(&teller, line);
}

/*
 * Takes the next reject before the offset "end", counts it and tells of it;
 * false if there is none
 */
static bool
fc_notices_next(FcTeller *teller, uint64 end)
{
	FcReject   *reject = &teller->reject;
	uint64		before PG_USED_FOR_ASSERTS_ONLY = reject->offset;

	CHECK_FOR_INTERRUPTS();
	if (!fc_rejects_next(teller->rejects, reject) || reject->offset >= end)
		return false;
	Assert(reject->offset >= before);
	if (!fc_reject_is_kept(reject))
	{
		teller->rejected++;
		teller->of_class[pg_leftmost_one_pos32(reject->class)]++;
	}
	if (teller->verbose || (teller->table && !fc_reject_is_kept(reject)))
	{
		uint64		line = fc_lines_at(teller->lines, reject->offset, reject->length);

		if (teller->table && !fc_reject_is_kept(reject))
			fc_reject_table_put(teller->table, reject, line);
		if (teller->verbose)
			fc_notices_tell(teller, line);
	}
	return true;
}

static void
fc_notices_begin(FcTeller *teller, FcTarget *target)
{
	memset(teller, 0, sizeof(FcTeller));
	teller->target = target;
	/* where core loads, fc_notices_show has told of them */
	teller->verbose = target->options->log_verbosity == FC_LOG_VERBOSE &&
		!target->course.core;
	teller->lines = fc_lines_begin(&target->ctx);
	/* the load may have fewer processes than the scan had */
	teller->rejects = fc_rejects_open(&target->ctx,
									  Max(target->nworkers, target->shared->nscanners));
}

static void
fc_notices_end(FcTeller *teller)
{
	fc_rejects_close(teller->rejects);
	pfree(teller->lines);
}

char *
fc_notices_finish(FcTarget *target)
{
	uint64		rejected = pg_atomic_read_u64(&target->shared->counts.rejected);
	uint64		nulled = pg_atomic_read_u64(&target->shared->counts.nulled);
	uint64		mended = pg_atomic_read_u64(&target->shared->counts.mended);
	char	   *job = NULL;
	FcTeller	teller;

	fc_notices_begin(&teller, target);
	if (OidIsValid(target->options->reject_table) && rejected > 0)
		teller.table = fc_reject_table_begin(target);
	while (fc_notices_next(&teller, PG_UINT64_MAX))
		fc_context_progress(&target->ctx);
	if (teller.table)
		job = fc_reject_table_end(teller.table);
	fc_notices_end(&teller);
	if (teller.rejected != rejected)
		elog(ERROR, "fast_copy rejected " UINT64_FORMAT " records, but kept " UINT64_FORMAT,
			 rejected, teller.rejected);
	if (target->options->log_verbosity == FC_LOG_SILENT)
		return job;
	for (int i = 0; i < FC_CLASSES; i++)
		if (teller.of_class[i] > 0)
			ereport(NOTICE, errmsg_plural(UINT64_FORMAT " row was skipped due to %s",
										  UINT64_FORMAT " rows were skipped due to %s",
										  teller.of_class[i], teller.of_class[i],
										  reasons[i]));
	if (nulled > 0)
		ereport(NOTICE, errmsg_plural("in " UINT64_FORMAT " row, columns were set to null due to data type incompatibility",
									  "in " UINT64_FORMAT " rows, columns were set to null due to data type incompatibility",
									  nulled, nulled));
	if (mended > 0)
		ereport(NOTICE, errmsg_plural("in " UINT64_FORMAT " row, values were mended",
									  "in " UINT64_FORMAT " rows, values were mended",
									  mended, mended));
	return job;
}

/* Error context of the first reject that is beyond reject_limit */
static void
fc_notices_limit_context(void *arg)
{
	FcTeller   *teller = arg;
	FcTarget   *target = teller->target;
	FcReject   *reject = &teller->reject;
	char	   *where = psprintf("%s, line " UINT64_FORMAT,
								 fc_target_place(target, fc_source_number(target->source, reject->offset)),
								 fc_lines_at(teller->lines, reject->offset, reject->length));

	fc_reject_clip(reject);
	if (reject->class != FC_CLASS_CONVERSION)
	{
		char	   *text = fc_error_record_text(target->source, target->plan, reject->offset, reject->length);

		errcontext(text ? "%s: \"%s\"" : "%s", where, text);
	}
	else if (reject->null_input)
		errcontext("%s, column %s: null input", where, reject->column);
	else
		errcontext("%s, column %s: \"%s\"", where, reject->column, reject->value);
}

void
fc_notices_throw(FcTarget *target)
{
	FcErrorSlot *slot = &target->shared->errors.first;
	int64		limit = target->options->reject_limit;
	bool		each = target->options->reject_each;
	ErrorContextCallback callback;
	FcTeller	teller;
	uint64		before = 0;		/* rejects of the files before */
	uint32		file = 0;

	if (target->shared->plan.tolerated == 0)
		return;
	if (limit < 0 && target->options->log_verbosity != FC_LOG_VERBOSE)
		return;
	fc_notices_begin(&teller, target);
	/* values of the bad record may have become NULL before its error */
	while (fc_notices_next(&teller, slot->offset + 1))
	{
		uint32		number = each ? fc_source_number(target->source, teller.reject.offset) : 0;

		/* the reject itself is counted; a value that became NULL is none */
		if (number != file)
			before = teller.rejected - (teller.reject.class != 0);
		file = number;
		if (limit < 0 || teller.rejected - before <= (uint64) limit)
			continue;
		fc_error_context_push(&callback, fc_notices_limit_context, &teller);
		fc_throw(ERRCODE_INVALID_TEXT_REPRESENTATION, target->options->tolerated == FC_CLASS_CONVERSION ?
				 errmsg("skipped more than REJECT_LIMIT (" INT64_FORMAT ") rows due to data type incompatibility", limit) :
				 errmsg("skipped more than REJECT_LIMIT (" INT64_FORMAT ") rows", limit),
				 each ? errdetail("In %s \"%s\".", fc_source_word(target->source), fc_source_path(target->source, file)) : 0);
	}
	fc_notices_end(&teller);
	if (slot->kind == FC_ERROR_LIMIT)
		elog(ERROR, "fast_copy kept " UINT64_FORMAT " rejected records, more than " INT64_FORMAT " expected",
			 teller.rejected, limit);
}

void
fc_notices_judge(const FcTarget *target, uint32 file, uint64 records)
{
	const FcOptions *options = target->options;
	FcFileCounts *files = fc_shared_file_counts(target->shared);
	uint64		rejected = pg_atomic_read_u64(file == PG_UINT32_MAX ? &target->shared->counts.rejected : &files[file].rejected);

	records -= pg_atomic_read_u64(file == PG_UINT32_MAX ? &target->shared->counts.skipped : &files[file].skipped);
	if ((double) rejected * 100 <= options->reject_percent * (double) records)
		return;
	fc_throw(ERRCODE_INVALID_TEXT_REPRESENTATION, errmsg("skipped more than REJECT_LIMIT (%s) of the rows", options->reject_limit_word),
			 file == PG_UINT32_MAX ? errdetail(UINT64_FORMAT " of " UINT64_FORMAT " records were rejected.", rejected, records) :
			 errdetail(UINT64_FORMAT " of " UINT64_FORMAT " records of %s \"%s\" were rejected.", rejected, records,
					   fc_source_word(target->source), fc_source_path(target->source, file)));
}
