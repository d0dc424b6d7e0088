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

#include <limits.h>
#include <unistd.h>

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "compat/compat.h"
#include "copyfrom/feed.h"
#include "copyfrom/run.h"
#include "errors/first_error.h"
#include "rejects/table.h"
#include "intake/intake.h"
#include "intake/receive.h"
#include "load/elsewhere.h"
#include "load/setup.h"
#include "load/worker.h"
#include "options/columns.h"
#include "row/executor.h"
#include "sort/order_by_keys.h"
#include "source/decompress.h"
#include "source/glob.h"
#include "source/program.h"
#include "source/recode.h"

/* Chunks have 168 + 56 bytes of shared memory each */
#define FC_MAX_CHUNKS	65536

/* While files are unpacked: so many places for chunks of each, or a part of those */
#define FC_LEAST_ROOM	512
#define FC_MOST_ROOM	16384

/* A worker gets about so many, but none smaller than this unless asked for */
#define FC_CHUNKS_EACH	16
#define FC_MIN_CHUNK	(256 * 1024)

/* Below this size of data workers cost more than they bring */
#define FC_SMALL_FILE	(4 * 1024 * 1024)

/* Is the path below the directory, both with links resolved? */
static bool
fc_setup_is_below(const char *path, const char *directory)
{
	char		real[PATH_MAX];
	size_t		len;

	if (directory == NULL || directory[0] == '\0' ||
		realpath(directory, real) == NULL)
		return false;
	len = strlen(real);
	return strncmp(path, real, len) == 0 && path[len] == '/';
}

static void
fc_setup_refuse_file(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to COPY from a file"),
			 errdetail("Only roles with privileges of the \"%s\" role may COPY from a file.",
					   "pg_read_server_files"),
			 errhint("Anyone can COPY to stdout or from stdin. "
					 "psql's \\copy command also works for anyone.")));
}

static bool
fc_setup_is_trusted(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES);
}

/*
 * A file below fast_copy.root_directory is anyone's.  The path is looked at
 * before it is opened, so that nothing is told about other files, and after,
 * so that it cannot be exchanged in between.
 */
static void
fc_setup_check_path(const char *path)
{
	char		real[PATH_MAX];

	if (!fc_setup_is_trusted() &&
		(realpath(path, real) == NULL ||
		 !fc_setup_is_below(real, fc_root_directory)))
		fc_setup_refuse_file();
}

static void
fc_setup_check_opened(const FcSource *source)
{
	if (!fc_setup_is_trusted() &&
		!fc_setup_is_below(fc_source_real_path(source), fc_root_directory))
		fc_setup_refuse_file();
}

/* The same for a directory in which a pattern looks for files */
static void
fc_setup_check_directory(const char *path)
{
	char		real[PATH_MAX];

	if (fc_setup_is_trusted())
		return;
	if (realpath(path, real) == NULL ||
		!fc_setup_is_below(psprintf("%s/.", real), fc_root_directory))
		fc_setup_refuse_file();
}

/* A file of exactly that name is no pattern */
static bool
fc_setup_is_pattern(const char *path)
{
	struct stat st;
	char		real[PATH_MAX];

	if (!fc_glob_is_pattern(path))
		return false;
	if (fc_setup_is_trusted())
		return lstat(path, &st) != 0;
	return realpath(path, real) == NULL ||
		!fc_setup_is_below(real, fc_root_directory);
}

/* The paths that the caller named, in the order of the load */
static List *
fc_setup_paths(const List *sources)
{
	List	   *paths = NIL;
	ListCell   *lc;

	foreach(lc, sources)
	{
		char	   *path = strVal(lfirst(lc));

		if (fc_setup_is_pattern(path))
			paths = list_concat(paths, fc_glob_expand(path, fc_setup_check_directory));
		else
			paths = lappend(paths, path);
	}
	return paths;
}

static int
fc_setup_file_cmp(const void *a, const void *b, void *arg)
{
	const FcFile *files = arg;
	uint32		na = *(const uint32 *) a;
	uint32		nb = *(const uint32 *) b;
	const FcIdentity *ia = &files[na].identity;
	const FcIdentity *ib = &files[nb].identity;

	if (ia->dev != ib->dev)
		return ia->dev < ib->dev ? -1 : 1;
	if (ia->ino != ib->ino)
		return ia->ino < ib->ino ? -1 : 1;
	return na < nb ? -1 : na > nb;
}

/* By what they are, and not by their names */
static void
fc_setup_refuse_twice(const FcSource *source)
{
	Size		size = sizeof(uint32) * source->nfiles;
	uint32	   *order = MemoryContextAllocHuge(CurrentMemoryContext, size);
	const FcFile *files = source->files;

	for (uint32 i = 0; i < source->nfiles; i++)
		order[i] = i;
	qsort_arg(order, source->nfiles, sizeof(uint32), fc_setup_file_cmp,
			  source->files);
	for (uint32 i = 1; i < source->nfiles; i++)
		if (files[order[i - 1]].identity.ino == files[order[i]].identity.ino &&
			files[order[i - 1]].identity.dev == files[order[i]].identity.dev)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("file \"%s\" is named more than once",
							fc_source_path(source, order[i])),
					 errdetail("\"%s\" is the same file.",
							   fc_source_path(source, order[i - 1])),
					 errhint("Name each file once in \"source\"; several patterns must not match the same file.")));
	pfree(order);
}

static FcSource *
fc_setup_open_source(const List *sources)
{
	List	   *paths = fc_setup_paths(sources);
	FcSource   *source;
	ListCell   *lc;

	if (list_length(paths) == 1)
	{
		fc_setup_check_path(linitial(paths));
		source = fc_source_open(linitial(paths));
		fc_setup_check_opened(source);
		source->files->kind = fc_unpack_detect(source, 0);
		return source;
	}
	source = fc_source_begin();
	foreach(lc, paths)
	{
		CHECK_FOR_INTERRUPTS();
		fc_setup_check_path(lfirst(lc));
		fc_source_add(source, lfirst(lc));
		fc_setup_check_opened(source);
		source->files[source->nfiles - 1].kind = fc_unpack_detect(source, source->nfiles - 1);
	}
	fc_setup_refuse_twice(source);
	return source;
}

/*
 * The privileges of a load.  What only looks is no INSERT, of which others'
 * hooks should hear; they see its command.
 */
static void
fc_setup_check_permissions(FcJob *job)
{
	ExecutorCheckPerms_hook_type hook = ExecutorCheckPerms_hook;

	PG_TRY();
	{
		if (job->target.options->analyze)
			ExecutorCheckPerms_hook = NULL;
		fc_check_permissions(job->target.plan->pstate);
	}
	PG_FINALLY();
	{
		ExecutorCheckPerms_hook = hook;
	}
	PG_END_TRY();
}

static void
fc_setup_check_target(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_setup_check_permissions(job);
	if (check_enable_rls(target->oid, InvalidOid, false) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("COPY FROM not supported with row-level security"),
				 errhint("Use INSERT statements instead.")));
	if (XactReadOnly && !target->rel->rd_islocaltemp && !target->options->analyze)
		PreventCommandIfReadOnly(target->options->statement ? "COPY FROM" : "fast_copy()");
	fc_elsewhere_check(target->oid);
}

void
fc_setup_open_target(FcJob *job)
{
	FcTarget   *target = &job->target;

	target->rel = table_open(target->oid, RowExclusiveLock);
	target->ctx.target = target->rel;
}

void
fc_setup_close_target(FcJob *job)
{
	FcTarget   *target = &job->target;

	table_close(target->rel, NoLock);
	target->rel = target->ctx.target = NULL;
}

/*
 * Header lines, and the line end style of the first line that has one.  COPY
 * counts '\r' in quotes as lines until it knows the style, and '\n' may be
 * what counts afterwards: the difference in a first record without a header
 * is taken off the number of lines before it.
 */
static void
fc_setup_first_record(FcJob *job, FcStream *stream, uint32 i)
{
	FcTarget   *target = &job->target;
	FcDialect  *dialect = &target->dialect;
	FcFile	   *file = &target->source->files[i];
	FcRecord	record;
	FcRun		run;
	FcEnd		end;

	if (dialect->eol != FC_EOL_UNKNOWN)
		return;
	end = fc_stream_next(stream, dialect, &record);
	if (end == FC_END_NONE)
		record.total = record.embedded = 0;
	if (end == FC_END_MARKER)
		file->data_start = fc_source_end(target->source, i);
	/* "x\.\n" is a row and leaves open how lines end: core knows what then */
	file->unsettled = (end == FC_END_FOUND && record.marked);
	if (dialect->eol == FC_EOL_UNKNOWN)
		dialect->eol = FC_EOL_NL;
	fc_run_init(&run, FC_OUTSIDE);
	fc_run_feed(dialect, &run, record.data, record.total);
	file->lines_before -= run.embedded - record.embedded;
}

/* Where a fault is that is found before the load */
typedef struct FcLineContext
{
	FcTarget   *target;
	uint32		file;
	uint64		line;
} FcLineContext;

static void
fc_setup_line_context(void *arg)
{
	FcLineContext *context = arg;

	errcontext("fast_copy %s, %s \"%s\", line " UINT64_FORMAT,
			   context->target->relname, fc_source_word(context->target->source),
			   fc_source_path(context->target->source, context->file), context->line);
}

/* COPY's errors of the grammar, for a line of the header */
static void
fc_setup_check_header(FcJob *job, FcEnd end, uint32 file, int line)
{
	FcLineContext context = {&job->target, file, line};
	ErrorContextCallback callback;

	callback.callback = fc_setup_line_context;
	callback.arg = &context;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	fc_core_refuse_grammar(&job->target.dialect, end);
	error_context_stack = callback.previous;
}

/* COPY verifies and converts a header even if nobody asks for its names */
static void
fc_setup_check_encoding(FcJob *job, const FcRecord *record)
{
	FcTarget   *target = &job->target;
	int			encoding = target->options->file_encoding;
	int			server = GetDatabaseEncoding();
	int			valid;
	char		bad[MAX_MULTIBYTE_CHAR_LEN];
	int			len;

	valid = pg_encoding_verifymbstr(encoding, record->data, record->total);
	if (valid < record->total)
	{
		/* the message shows bytes that may stand in the next line */
		len = Min(sizeof(bad),
				  fc_source_end_at(target->source, record->offset) - record->offset - valid);
		fc_source_read(target->source, record->offset + valid, bad, len);
		report_invalid_encoding(encoding, bad, len);
	}
	if (encoding != server && encoding != PG_SQL_ASCII && server != PG_SQL_ASCII)
		(void) pg_any_to_server(pnstrdup(record->data, record->total),
								record->total, encoding);
}

/*
 * With header => 'map' the first file says which columns there are; the others
 * must say the same.
 */
static void
fc_setup_map_header(FcJob *job, const FcRecord *record, uint32 file)
{
	FcTarget   *target = &job->target;
	FcOptions	other = *target->options;

	other.columns = other.fields = NIL;
	fc_fields_map(target->rel, file == 0 ? target->options : &other, &target->dialect,
				  record->data, record->length);
	if (file == 0 || equal(other.fields, target->options->fields))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("header of %s \"%s\" is another than that of %s \"%s\"",
					fc_source_word(target->source), fc_source_path(target->source, file),
					fc_source_word(target->source), fc_source_path(target->source, 0)),
			 errdetail("With header \"map\" all files of a load must have the same columns in the same order."),
			 errhint("Load files with other columns by a call of their own.")));
}

/* What the header says; most are equal to the one before, byte by byte */
static void
fc_setup_read_header(FcJob *job, const FcRecord *record, uint32 file)
{
	if (file > 0 && record->total == job->header_len &&
		memcmp(record->data, job->header, record->total) == 0)
		return;
	if (job->target.options->header_match)
		fc_core_match_header(&job->target, file, record);
	if (job->target.options->header_map)
		fc_setup_map_header(job, record, file);
	if (file > 0)
		return;
	job->header = palloc(record->total + 1);
	memcpy(job->header, record->data, record->total);
	job->header_len = record->total;
}

/* One line of a header, the last of which has names */
static void
fc_setup_header_line(FcJob *job, const FcRecord *record, uint32 file, int line)
{
	FcTarget   *target = &job->target;
	FcLineContext context = {&job->target, file, line};
	ErrorContextCallback callback;
	bool		last = (line == target->options->header_lines);

	callback.callback = fc_setup_line_context;
	callback.arg = &context;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	fc_setup_check_encoding(job, record);
	/* of several files, it must be said which one has the wrong names */
	if (last && target->options->header_map && target->source->nfiles > 1)
		fc_setup_read_header(job, record, file);
	error_context_stack = callback.previous;
	if (last && (target->options->header_match ||
				 (target->options->header_map && target->source->nfiles == 1)))
		fc_setup_read_header(job, record, file);
}

static void
fc_setup_file_header(FcJob *job, FcStream *stream, uint32 i)
{
	FcTarget   *target = &job->target;
	FcFile	   *file = &target->source->files[i];
	FcRecord	record;

	target->dialect.eol = FC_EOL_UNKNOWN;
	file->data_start = file->base;
	file->lines_before = 0;
	fc_stream_seek_file(stream, i, file->base);
	for (int line = 1; line <= target->options->header_lines; line++)
	{
		FcEnd		end;

		CHECK_FOR_INTERRUPTS();
		end = fc_stream_next(stream, &target->dialect, &record);
		if (end == FC_END_NONE)
			record.length = record.total = 0;
		fc_setup_check_header(job, end, i, line);
		fc_setup_header_line(job, &record, i, line);
		if (end == FC_END_NONE)
			break;
		if (record.marked)
		{
			file->data_start = fc_source_end(target->source, i);
			break;
		}
		file->data_start = record.offset + record.total;
		file->lines_before += 1 + record.embedded;
	}
	fc_setup_first_record(job, stream, i);
	file->eol = target->dialect.eol;
	target->unsettled |= file->unsettled;
}

/* Each file has a header of its own, and its own line ends */
static void
fc_setup_header(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcStream   *stream = fc_stream_begin(target->source, 65536);
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "fast_copy header",
											   ALLOCSET_DEFAULT_SIZES);

	for (uint32 i = 0; i < target->source->nfiles; i++)
	{
		/* what the first one says is kept */
		MemoryContext old = MemoryContextSwitchTo(i == 0 ? job->mcxt : mcxt);

		CHECK_FOR_INTERRUPTS();
		fc_setup_file_header(job, stream, i);
		MemoryContextSwitchTo(old);
		MemoryContextReset(mcxt);
	}
	target->dialect.eol = target->source->files[0].eol;
	MemoryContextDelete(mcxt);
	fc_stream_end(stream);
}

/* Is the file so small that workers cost more than they bring? */
static bool
fc_setup_is_small(const FcJob *job)
{
	return job->target.data_size < FC_SMALL_FILE;
}

static int
fc_setup_workers(const FcJob *job)
{
	const FcTarget *target = &job->target;
	int			workers = target->options->workers >= 0 ? target->options->workers : fc_workers;

	if (target->plan->leader_reason != NULL ||
		(target->options->analyze && target->plan->subtransactions))
		return 0;
	if (workers < 0)
	{
		if (fc_setup_is_small(job))
			return 0;
		workers = Min(sysconf(_SC_NPROCESSORS_ONLN), max_parallel_workers);
	}
	return Max(Min(workers, FC_MAX_WORKERS), 0);
}

/* Small enough for all workers to be at work to the end of a phase */
static uint64
fc_setup_chunk_size(const FcJob *job)
{
	uint64		size = job->intake.incoming ? 0 : job->target.data_size;
	uint64		share = Max(size / (FC_CHUNKS_EACH * Max(job->target.nworkers, 1)),
							FC_MIN_CHUNK);

	return Max(Min((uint64) fc_chunk_size, share),
			   (size + FC_MAX_CHUNKS - 1) / FC_MAX_CHUNKS);
}

/* Counters, locks and the error slot */
static void
fc_setup_shared_state(FcShared *shared)
{
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u32(&shared->unordered, 0);
	pg_atomic_init_u64(&shared->split_bytes, 0);
	pg_atomic_init_u64(&shared->scan_bytes, 0);
	pg_atomic_init_u64(&shared->scanned, 0);
	pg_atomic_init_u64(&shared->spilled, 0);
	pg_atomic_init_u64(&shared->load_bytes, 0);
	pg_atomic_init_u64(&shared->loaded, 0);
	pg_atomic_init_u64(&shared->paged, 0);
	pg_atomic_init_u64(&shared->heap_bytes, 0);
	pg_atomic_init_u64(&shared->filtered, 0);
	pg_atomic_init_u64(&shared->rejected, 0);
	pg_atomic_init_u64(&shared->last_rejected, 0);
	pg_atomic_init_u64(&shared->nulled, 0);
	pg_atomic_init_u64(&shared->reads, 0);
	pg_atomic_init_u64(&shared->read_bytes, 0);
	pg_atomic_init_u64(&shared->mapped_bytes, 0);
	pg_atomic_init_u32(&shared->sorts, 0);
	pg_atomic_init_u32(&shared->disk_sorts, 0);
	pg_atomic_init_u64(&shared->sort_bytes, 0);
	pg_atomic_init_u32(&shared->parts_done, 0);
	pg_atomic_init_u64(&shared->built, 0);
	pg_atomic_init_u32(&shared->nbuilt, 0);
	pg_atomic_init_u32(&shared->uring_errno, 0);
	pg_atomic_init_u32(&shared->stopped, 0);
	pg_atomic_init_u64(&shared->error_offset, PG_UINT64_MAX);
	SpinLockInit(&shared->error_mutex);
	/* a tranche of our own would be used up by sessions that come and go */
	LWLockInitialize(&shared->logical_lock, LWTRANCHE_PARALLEL_APPEND);
	ConditionVariableInit(&shared->turn_cv);
	ConditionVariableInit(&shared->inflow_cv);
	pg_atomic_init_u32(&shared->inflow_failed, 0);
}

/* A chunk is part of one file, and a file without data has none */
static uint32
fc_setup_count_chunks(const FcSource *source, uint64 chunk_size)
{
	uint64		n = 0;

	for (uint32 i = 0; i < source->nfiles; i++)
		n += (fc_source_end(source, i) - source->files[i].data_start +
			  chunk_size - 1) / chunk_size;
	return (uint32) n;
}

/* Places for chunks of each file, some times as many as it will have */
static uint32
fc_setup_room(const FcJob *job, uint64 chunk_size)
{
	const FcTarget *target = &job->target;
	uint64		expected = target->data_size / chunk_size / target->source->nfiles * 4;

	if (job->intake.incoming)
		return FC_MOST_ROOM;
	return Max(Min(expected, FC_MOST_ROOM / target->source->nfiles), FC_LEAST_ROOM);
}

/* The scan unpacks the files into shared memory's source, which is the leader's, too */
static void
fc_setup_shared_inflow(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	FcSource   *heads = target->source;

	shared->streams = job->intake.incoming ? DSM_HANDLE_INVALID : dsm_segment_handle(job->intake.unpacked);
	for (uint32 i = 0; i < shared->nfiles; i++)
	{
		pg_atomic_init_u32(&fc_shared_inflow(shared)[i].published, 0);
		pg_atomic_init_u32(&fc_shared_inflow(shared)[i].whole, 0);
	}
	target->source = fc_source_attach(fc_shared_files(shared), shared->nfiles, heads->paths,
									  fc_shared_copies(shared), shared->ncopies);
	target->source->programs = heads->programs;
	fc_source_close(heads);
}

static void
fc_setup_shared_chunks(FcJob *job, uint64 chunk_size)
{
	FcTarget   *target = &job->target;
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
}

static void
fc_setup_shared_job(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	FcPlan	   *plan = target->plan;

	shared->target = target->oid;
	shared->dialect = target->dialect;
	shared->file = target->source->identity;
	if (target->inflow)
		shared->file.size = target->expected;
	shared->joined = (target->source->fd >= 0);
	shared->programs = target->source->programs;
	shared->file_encoding = target->options->file_encoding;
	shared->need_transcoding = plan->need_transcoding;
	shared->statement = target->options->statement;
	shared->routed = plan->routed;
	shared->freeze = target->options->freeze;
	shared->missing = target->options->missing;
	shared->tolerated = target->options->tolerated;
	shared->set_null = target->options->on_error == FC_ON_ERROR_SET_NULL;
	if (target->options->analyze)
	{
		/* faults are told, and do not end the look at the file */
		shared->tolerated = FC_CLASSES_CHECKED |
			(plan->routed ? FC_CLASS_NO_PARTITION : 0);
		if ((target->options->tolerated & FC_CLASS_CONVERSION) == 0)
			shared->set_null = false;
	}
	shared->verbose = target->options->analyze ||
		target->options->log_verbosity == FC_LOG_VERBOSE;
	shared->reject_limit = target->options->reject_limit;
	shared->key_type = plan->key_type;
	shared->key_attnum = plan->key_attnum;
	shared->key_field = plan->key_field;
	shared->key_routes = plan->key_routes;
	shared->where_late = plan->where_late;
	shared->data_start = target->source->files[0].data_start;
	shared->data_size = target->data_size;
	shared->memory = (Size) fc_memory_kb * 1024 / Max(target->nworkers, 1);
	shared->io_depth = fc_io_depth;
}

/* The patterns of all fields, one string behind the other */
static StringInfo
fc_setup_patterns(const FcPlan *plan)
{
	StringInfo	patterns = makeStringInfo();

	for (int i = 0; i < list_length(plan->columns.fields); i++)
		appendBinaryStringInfo(patterns, plan->columns.patterns[i] ? plan->columns.patterns[i] : "",
							   plan->columns.patterns[i] ? strlen(plan->columns.patterns[i]) + 1 : 1);
	return patterns;
}

/* A place for len bytes behind what is laid out already */
static Size
fc_setup_place(Size *end, Size len)
{
	Size		at = *end;

	*end = MAXALIGN(at + len);
	return at;
}

static Size
fc_setup_place_text(Size *end, const char *text)
{
	return fc_setup_place(end, strlen(text) + 1);
}

static char *
fc_setup_text(char *text)
{
	return text ? text : "";
}

/* Lays out what has no fixed size behind the struct; returns the size of all */
static Size
fc_setup_layout(FcJob *job, FcShared *layout, StringInfo patterns, char *where)
{
	FcTarget   *target = &job->target;
	FcOptions  *options = target->options;
	Size		end = MAXALIGN(sizeof(FcShared));

	layout->columns_at = fc_setup_place(&end, sizeof(AttrNumber) * layout->ncolumns);
	layout->flags_at = fc_setup_place(&end, layout->ncolumns);
	layout->null_at = fc_setup_place_text(&end, options->format.null_print);
	layout->default_at = fc_setup_place_text(&end, fc_setup_text(options->default_string));
	layout->patterns_at = fc_setup_place(&end, patterns->len + 1);
	layout->zone_at = fc_setup_place_text(&end, fc_setup_text(options->time_zone));
	layout->where_at = fc_setup_place_text(&end, where);
	layout->path_at = target->inflow ? fc_setup_place(&end, MAXPGPATH) :
		fc_setup_place_text(&end, target->source->open_path);
	layout->names_at = fc_setup_place(&end, fc_source_paths_size(target->source));
	layout->copies_at = fc_setup_place(&end, sizeof(FcCopy) * layout->ncopies);
	layout->files_at = fc_setup_place(&end, sizeof(FcFile) * layout->nfiles);
	layout->numbers_at = fc_setup_place(&end, sizeof(FcNumber) * layout->nnumbers);
	layout->order_at = fc_setup_place(&end, sizeof(FcSortKey) * layout->norder);
	layout->inflow_at = fc_setup_place(&end, layout->room > 0 ? sizeof(FcInflow) * layout->nfiles : 0);
	layout->texts_at = fc_setup_place(&end, dsa_minimum_size());
	layout->chunks_at = fc_setup_place(&end, sizeof(FcChunk) * layout->nchunks);
	layout->starts_at = fc_setup_place(&end, sizeof(FcChunkStart) * layout->nchunks);
	return end;
}

static void
fc_setup_shared_texts(FcJob *job, StringInfo patterns, const char *where)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	FcOptions  *options = target->options;

	shared->null_len = strlen(options->format.null_print);
	shared->default_len = options->default_string ? strlen(options->default_string) : -1;
	strcpy(fc_shared_null(shared), options->format.null_print);
	strcpy(fc_shared_default(shared), fc_setup_text(options->default_string));
	memcpy(fc_shared_patterns(shared), patterns->data, patterns->len);
	strcpy(fc_shared_zone(shared), fc_setup_text(options->time_zone));
	strcpy(fc_shared_where(shared), where);
	strcpy(fc_shared_path(shared), target->source->open_path);
	memcpy(fc_shared_names(shared), target->source->paths,
		   fc_source_paths_size(target->source));
	memcpy(fc_shared_copies(shared), target->source->copies,
		   sizeof(FcCopy) * target->source->ncopies);
	memcpy(fc_shared_files(shared), target->source->files,
		   sizeof(FcFile) * shared->nfiles);
}

/*
 * The condition for the phases.  Core evaluates it by itself, and if that may
 * have an effect, nobody else must.
 */
static char *
fc_setup_where(FcJob *job)
{
	List	   *where = job->target.plan->where;

	if (where == NIL ||
		(job->target.core_reason && contain_volatile_functions((Node *) where)))
		return "";
	return nodeToString(where);
}

static void
fc_setup_shared(FcJob *job)
{
	FcTarget   *target = &job->target;
	uint64		chunk_size = fc_setup_chunk_size(job);
	StringInfo	patterns = fc_setup_patterns(target->plan);
	char	   *where = fc_setup_where(job);
	FcShared	layout = {0};
	Size		total;

	layout.nfiles = target->source->nfiles;
	layout.room = target->inflow ? fc_setup_room(job, chunk_size) : 0;
	layout.chunk_size = chunk_size;
	layout.nchunks = target->inflow ? layout.room * layout.nfiles :
		fc_setup_count_chunks(target->source, chunk_size);
	/* each process that unpacks will have one */
	layout.ncopies = target->source->ncopies + (target->inflow ? target->nworkers : 0);
	layout.ncolumns = list_length(target->plan->columns.fields);
	layout.nnumbers = list_length(target->plan->numbers);
	layout.norder = list_length(target->plan->order);
	layout.order_sliced = target->plan->order_sliced;
	layout.append = target->options->order_by != NIL;
	total = fc_setup_layout(job, &layout, patterns, where);
	job->segment = dsm_create(total, 0);
	target->shared = dsm_segment_address(job->segment);
	memset(target->shared, 0, total);
	*target->shared = layout;
	SharedFileSetInit(&target->shared->fileset, job->segment);
	fc_error_begin(target->shared, job->segment);
	for (int i = 0; i < layout.ncolumns; i++)
		fc_shared_columns(target->shared)[i] = list_nth_int(target->plan->columns.fields, i);
	for (int i = 0; i < layout.nnumbers; i++)
		fc_shared_numbers(target->shared)[i] = *(FcNumber *) list_nth(target->plan->numbers, i);
	for (int i = 0; i < layout.norder; i++)
		fc_shared_order(target->shared)[i] = *(FcSortKey *) list_nth(target->plan->order, i);
	memcpy(fc_shared_flags(target->shared), target->plan->columns.flags, layout.ncolumns);
	fc_setup_shared_texts(job, patterns, where);
	fc_setup_shared_job(job);
	fc_setup_shared_state(target->shared);
	if (target->inflow)
		fc_setup_shared_inflow(job);
	else
		fc_setup_shared_chunks(job, chunk_size);
}

/* Will the load itself read the rows it has written? */
static bool
fc_setup_reads_again(FcJob *job)
{
	List	   *indexes = RelationGetIndexList(job->target.rel);
	bool		has_index = (indexes != NIL);

	list_free(indexes);
	return has_index || job->target.options->run_analyze;
}

/*
 * How records are read in key order: io_uring if the kernel lets us.  The
 * rings of a small file would take longer to set up than its reads take.
 */
static void
fc_setup_io(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcShared   *shared = target->shared;
	int			err;

	if (fc_io_method == FC_IO_AUTO)
		shared->map = FC_MAP_CACHED;
	else if (fc_io_method == FC_IO_MMAP)
		shared->map = FC_MAP_ALWAYS;
	if (fc_io_method == FC_IO_SYNC || target->plan->key_type == FC_KEY_NONE ||
		(fc_io_method == FC_IO_AUTO && target->nworkers == 0 &&
		 fc_setup_is_small(job)))
		return;
	err = fc_io_uring_probe();
	shared->io_uring = (err == 0);
	shared->direct = (err == 0) && !fc_setup_reads_again(job);
	pg_atomic_write_u32(&shared->uring_errno, err);
}

static void
fc_setup_dialect(FcJob *job)
{
	FcTarget   *target = &job->target;
	CopyFormatOptions *format = &target->options->format;

	target->dialect.delim = format->delim[0];
	target->dialect.eol = FC_EOL_UNKNOWN;
	if (format->csv_mode)
	{
		target->dialect.quote = format->quote[0];
		target->dialect.escape = format->escape[0];
		return;
	}
	target->dialect.mode = FC_MODE_TEXT;
	target->dialect.lone_marker = FC_CORE_LONE_MARKER;
}

/*
 * From here on the copy is the file, in the server's encoding; core is told
 * so, too.  If the file cannot be converted, core will say why.
 */
static void
fc_setup_recode(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcOptions  *options = target->options;
	SharedFileSet *fileset;
	FcSource   *copy;

	if (!fc_recode_needed(options->file_encoding, &target->dialect))
		return;
	job->converted = dsm_create(sizeof(SharedFileSet), 0);
	fileset = dsm_segment_address(job->converted);
	SharedFileSetInit(fileset, job->converted);
	copy = fc_recode_source(target->source, options->file_encoding, fileset, &job->fault);
	if (copy == NULL)
	{
		target->unconvertible = true;
		return;
	}
	target->original = target->source;
	target->source = copy;
	fc_options_set_encoding(options, GetDatabaseEncoding());
}

/*
 * Core reads a file that cannot be converted, until it meets the character;
 * and knows nothing of zones, patterns and fields to be skipped.
 */
static void
fc_setup_unconvertible(FcJob *job)
{
	FcLineContext context = {&job->target, job->fault.file, job->fault.line};
	ErrorContextCallback callback;

	job->target.core_reason = "the file has characters that cannot be converted";
	if (!fc_feed_rereads_fields(&job->target))
		return;
	callback.callback = fc_setup_line_context;
	callback.arg = &context;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	fc_recode_refuse(job->target.options->file_encoding, &job->fault);
	error_context_stack = callback.previous;
}

/* The file, and with header => 'map' what its header says */
static void
fc_setup_file(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (!target->options->format.binary)
		fc_setup_dialect(job);
	if (target->options->program)
		fc_program_check();
	if (target->options->program || target->options->client)
		fc_receive(&job->intake);
	else
	{
		target->source = fc_setup_open_source(target->options->sources);
		fc_streams_unpack(&job->intake);
	}
	if (!target->options->format.binary)
		fc_setup_recode(job);
}

/* Partitions are to be made as pg_partman makes them, if it keeps the table */
static void
fc_setup_partman(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcPartman  *partman;

	if (!target->plan->partitioned || target->options->missing != FC_MISSING_CREATE)
		return;
	job->partman = partman = fc_partman_find(target->rel);
	if (partman == NULL)
		return;
	if (target->options->interval)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"partition_interval\" cannot be used for table \"%s\", which pg_partman keeps",
						target->relname),
				 errhint("Leave it out, or switch fast_copy.use_partman off.")));

	/* who may not read the configuration may still load existing partitions */
	if (partman->refusal && !target->options->analyze &&
		partman->refusal->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE)
		fc_partman_throw(partman->refusal);
}

/*
 * Which way the load takes.  As in COPY the target is looked at before the
 * file, but for a file that says itself which columns it has.
 */
static void
fc_setup_plan(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_plan_check_relkind(target->rel);
	if (target->options->header_map)
	{
		fc_setup_file(job);
		fc_setup_header(job);
	}
	target->plan = fc_plan_make(target->rel, target->options);
	fc_setup_check_target(job);
	fc_setup_partman(job);
	fc_reject_table_check(target);
	if (!target->options->header_map)
		fc_setup_file(job);
	/* the file may be in another encoding now */
	if (target->original)
		target->plan->need_transcoding = false;
	target->core_reason = target->plan->core_reason;
	if (target->unconvertible)
		fc_setup_unconvertible(job);
	if (target->core_reason && !target->options->analyze)
		fc_core_check(target);
}

/* Are the files to be unpacked before all else, after all? */
static void
fc_setup_settle_streams(FcJob *job)
{
	FcTarget   *target = &job->target;

	if (!target->inflow)
		return;
	fc_streams_settle(&job->intake);
	if (target->inflow)
		return;
	target->data_size = fc_source_data_size(target->source);
	target->nworkers = fc_setup_workers(job);
}

FcJob *
fc_setup_begin(FcOptions *options)
{
	FcJob	   *job = palloc0(sizeof(FcJob));

	job->target.options = options;
	job->target.oid = options->target;
	job->progress.target = job->intake.target = &job->target;
	job->intake.progress = &job->progress;
	job->progress.start = GetCurrentTimestamp();
	job->mcxt = CurrentMemoryContext;
	job->progress.phase = FC_PHASE_SETUP;
	return job;
}

void
fc_setup_job(FcJob *job)
{
	FcTarget   *target = &job->target;
	FcOptions  *options = target->options;

	/* whoever names a table by its OID passes over its schema */
	fc_target_check_schema(target->oid);
	fc_setup_open_target(job);
	target->relname = pstrdup(RelationGetRelationName(target->rel));
	fc_setup_plan(job);

	/* workers need both, and must not make them */
	if (!options->analyze)
	{
		(void) GetCurrentTransactionId();
		(void) GetCurrentCommandId(true);
	}
	if (!options->header_map && !options->format.binary)
		fc_setup_header(job);
	if (target->unsettled)
		target->core_reason = "the first row ends with a marker, and not with a line end";
	target->data_size = target->inflow ? target->expected : fc_source_data_size(target->source);
	target->nworkers = fc_setup_workers(job);
	fc_setup_settle_streams(job);
	fc_setup_shared(job);
	fc_setup_io(job);
	fc_context_begin(&target->ctx, target->shared, 0, false);
	target->ctx.source = target->source;
	target->ctx.target = target->rel;
}

/* One that the load itself has not read, or NULL */
static void
fc_setup_end_source(FcSource *source)
{
	if (source == NULL)
		return;
	fc_source_check(source, &source->identity);
	fc_source_check_files(source);
	fc_source_close(source);
}

void
fc_setup_end(FcJob *job)
{
	FcTarget   *target = &job->target;

	fc_source_check(target->source, &target->shared->file);
	fc_source_check_files(target->source);
	fc_source_close(target->source);
	fc_setup_end_source(target->original);
	fc_setup_end_source(job->intake.packed);
	if (job->converted)
		dsm_detach(job->converted);
	if (job->intake.unpacked)
		dsm_detach(job->intake.unpacked);
	fc_context_end(&target->ctx);
	fc_setup_close_target(job);
	dsm_detach(job->segment);
}
