/*-------------------------------------------------------------------------
 *
 * files.c
 *	  fast_copy_files(): many files, some at a time, each time committed.
 *
 *	 paths, patterns ──► list, in the ledger: "waiting" ──► COMMIT
 *		 ┌──► lock the rows of the next files ──► fast_copy() ──► COMMIT ──┐
 *		 └─────────────────────────────────────────────────────────────────┘
 *
 * A batch of files is one load with the option "ledger" (load/ledger.c): one
 * transaction writes rows and ledger, and a crash at any moment leaves only
 * files that are loaded and files that are not: the next call goes on.
 * Several sessions work side by side, as each passes over rows that another
 * one has locked.  What is left then is tried again, and now waited for: so
 * all files of the call are loaded, or have failed, when it ends.  A session
 * that waits for a file has no other one's row locked; rows of new files are
 * inserted in the order of their names, by this session as by all.
 *
 * A load is a subtransaction.  If one of several files fails, each of them is
 * loaded by itself; a file that fails by itself is recorded as failed.  That is
 * for errors that are the file's.  After others, such as a full disk, the call
 * ends, and the files are still waiting.
 *
 * With cut_files a load has a part of a file that is larger than a batch
 * (load/range.c).  It still waits then, and what the ledger has of it tells
 * where the next part begins.
 *
 * All memory but that of one batch is in the context of the outermost SPI
 * connection, which outlives transactions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "tcop/pquery.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"

#include "fast_copy.h"
#include "load/ledger_row.h"
#include "source/root.h"

PG_FUNCTION_INFO_V1(fast_copy_files);

/* The arguments, in the order of the SQL declaration (sql/fast_copy.sql.in) */
enum
{
	ARG_TARGET,
	ARG_SOURCE,
	ARG_LEDGER,
	ARG_BATCH_FILES,
	ARG_BATCH_SIZE,
	ARG_ON_FAILURE,
	ARG_MIN_AGE,
	ARG_CUT_FILES,
	ARG_FIRST_OPTION
};

typedef struct FcFilesOne
{
	char	   *path;			/* as the caller's pattern has it */
	char	   *key;			/* as the ledger has it */
	dev_t		dev;
	ino_t		ino;
	int64		size;
	TimestampTz modified;
	bool		waits;			/* it is to be loaded */
	bool		begun;			/* this call has loaded a part of it */
	bool		alone;			/* by itself, because a load of several has
								 * failed */
	bool		recorded;		/* as loaded, with another size or time */
} FcFilesOne;

typedef struct FcFiles
{
	Oid			target;
	List	   *sources;		/* of String: paths and patterns */
	Oid			table;			/* the ledger */
	int			batch_files;	/* a load has at most so many files */
	int64		batch_bytes;	/* ... of so many bytes, or one file */
	bool		skip;			/* goes on after a file that fails */
	bool		finish;			/* ... but throws an error at the end */
	int			sqlerrcode;		/* of the last error */
	Interval   *min_age;		/* files that are younger are left for later */
	bool		cut;			/* a load may have a part of a file */
	List	   *given;			/* DefElem: options of each load */
	const FcOptions *options;	/* the same, but for its files */
	Relation	ledger;			/* open until the transaction ends */
	List	   *files;			/* of FcFilesOne, in the order in which they
								 * are loaded */
	List	   *batch;			/* of FcFilesOne, whose rows are locked */
	uint32		loaded;
	uint32		before;			/* had been loaded before this call */
	uint32		young;			/* are too young */
	uint32		failed;
} FcFiles;

/* The options of a load of these files */
static FcOptions *
fc_files_options(const FcFiles *files, List *paths)
{
	FcOptions  *options = fc_options_begin(FC_CALLER_FUNCTION);
	Node	   *ledger = (Node *) makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
											ObjectIdGetDatum(files->table), false, true);

	fc_options_take(options, list_make1(makeDefElem("ledger", ledger, -1)), NULL);
	fc_options_take(options, copyObject(files->given), NULL);
	options->target = files->target;
	options->sources = paths;
	return options;
}

/* Has the caller named this very path, and not a pattern? */
static bool
fc_files_is_named(const FcFiles *files, const char *path)
{
	foreach_node(String, named, files->sources)
		if (!fc_glob_is_pattern(path) && strcmp(strVal(named), path) == 0)
			return true;
	return false;
}

/* Files that were written to after it are too young */
static TimestampTz
fc_files_youngest(const FcFiles *files)
{
	const Interval *age = files->min_age;

	if (age->time == 0 && age->day == 0 && age->month == 0)
		return DT_NOEND;
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
												   TimestampTzGetDatum(GetCurrentTimestamp()),
												   IntervalPGetDatum(age)));
}

/* Looks at a path, and adds it to the files if it is one to be loaded now */
static void
fc_files_look(FcFiles *files, const char *root, TimestampTz youngest, char *path)
{
	FcFilesOne *one;
	struct stat st;

	if (fc_root_stat(root, path, true, &st) != 0)
	{
		/* gone since the directory was read, or a link to nothing */
		if ((errno == ENOENT || errno == ELOOP) && !fc_files_is_named(files, path))
			return;
		fc_root_check_refused();
		fc_file_error(errmsg("could not open file \"%s\" for reading: %m", fc_root_text(path)));
	}
	if (!S_ISREG(st.st_mode) && !fc_files_is_named(files, path))
		return;
	one = palloc(sizeof(FcFilesOne));
	*one = (FcFilesOne)
	{
		.path = path, .key = fc_ledger_path(root, path, st.st_dev, st.st_ino), .dev = st.st_dev,
			.ino = st.st_ino, .size = st.st_size, .modified = fc_source_modified(&st)
	};
	/* it fails, without a row that tells it */
	if (!fc_ledger_takes(one->path, one->key, files->skip ? WARNING : ERROR))
	{
		files->failed++;
		files->sqlerrcode = ERRCODE_INVALID_PARAMETER_VALUE;
	}
	else if (one->modified > youngest)
		files->young++;
	else
		files->files = lappend(files->files, one);
}

/* Finds the files that the caller names */
static void
fc_files_find(FcFiles *files)
{
	FcTarget	target = {.options = files->options, .sources = files->sources};
	const char *root = fc_root_of_caller();
	TimestampTz youngest = fc_files_youngest(files);

	foreach_ptr(char, path, fc_access_list(&target))
	{
		CHECK_FOR_INTERRUPTS();
		fc_files_look(files, root, youngest, path);
	}
}

/* list_sort's: by device and inode */
static int
fc_files_inode_cmp(const ListCell *a, const ListCell *b)
{
	const FcFilesOne *fa = lfirst(a);
	const FcFilesOne *fb = lfirst(b);

	if (fa->dev != fb->dev)
		return fa->dev < fb->dev ? -1 : 1;
	return fa->ino < fb->ino ? -1 : fa->ino > fb->ino;
}

/* ERROR 22023 for a file that has two names in the file system */
static void
fc_files_refuse_twice(const FcFiles *files)
{
	List	   *order = list_copy(files->files);
	const FcFilesOne *before = NULL;

	list_sort(order, fc_files_inode_cmp);
	foreach_ptr(const FcFilesOne, one, order)
	{
		if (before && before->dev == one->dev && before->ino == one->ino && strcmp(before->key, one->key) != 0)
			fc_option_error(errmsg("file \"%s\" is named more than once", one->path),
							errdetail("\"%s\" is the same file.", before->path),
							errhint("Each file is loaded once, by one name."));
		before = one;
	}
}

/*
 * Marks the files that the ledger has not as loaded, one that is named twice
 * once; and puts those into it that it does not know, in the order of their
 * names, in which all sessions insert rows.  A session that has such a row, and
 * has not committed it, is waited for.
 */
static void
fc_files_ask(FcFiles *files)
{
	const Oid	types[] = {REGCLASSOID, TEXTARRAYOID, INT8ARRAYOID, TIMESTAMPTZARRAYOID};
	int			n = list_length(files->files);
	Datum	   *paths = palloc(sizeof(Datum) * n);
	Datum	   *sizes = palloc(sizeof(Datum) * n);
	Datum	   *times = palloc(sizeof(Datum) * n);
	Datum		values[lengthof(types)] = {ObjectIdGetDatum(files->target)};
	/* OFFSET 0 keeps it from becoming a join: each file is found by the key */
	const char *rows = psprintf("unnest($2, $3, $4) WITH ORDINALITY AS u (path, size, modified, n) WHERE NOT EXISTS "
								"(SELECT FROM ONLY %s AS l WHERE l.target = $1 AND l.path = u.path AND",
								fc_ddl_table(files->table));
	uint64		nrows;

	foreach_ptr(const FcFilesOne, one, files->files)
	{
		int			i = foreach_current_index(one);

		paths[i] = CStringGetTextDatum(one->key);
		sizes[i] = Int64GetDatum(one->size);
		times[i] = TimestampTzGetDatum(one->modified);
	}
	values[1] = PointerGetDatum(construct_array(paths, n, TEXTOID, -1, false, TYPALIGN_INT));
	values[2] = PointerGetDatum(construct_array(sizes, n, INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	values[3] = PointerGetDatum(construct_array(times, n, TIMESTAMPTZOID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	nrows = fc_ddl_execute(NULL, psprintf("SELECT min(u.n) FROM %s l.state = 'loaded' AND l.sqlstate IS NULL AND l.size = u.size AND l.modified = u.modified AND %s OFFSET 0) GROUP BY u.path",
									rows, fc_ledger_counts()), lengthof(types), types, values, NULL);
	for (uint64 i = 0; i < nrows; i++)
	{
		bool		null;
		int64		number = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &null));

		((FcFilesOne *) list_nth(files->files, number - 1))->waits = true;
	}
	(void) fc_ddl_execute(NULL, psprintf("INSERT INTO %s (target, path, size, modified, state, " FC_LEDGER_IDENTITY ") "
								   "SELECT $1, u.path, u.size, u.modified, 'waiting', %s FROM %s (%s OR l.target_name = %s) OFFSET 0) "
								   "ORDER BY u.path COLLATE \"C\" ON CONFLICT DO NOTHING",
								   fc_ddl_table(files->table), fc_ledger_identity(files->target), rows,
								   fc_ledger_counts(), quote_literal_cstr(fc_ddl_table(files->target))),
						  lengthof(types), types, values, NULL);
}

/* Marks the files that are to be loaded, and sees to it that each has a row */
static void
fc_files_record(FcFiles *files)
{
	int			level;

	fc_files_refuse_twice(files);
	level = fc_ddl_begin();
	if (files->files != NIL)
		fc_files_ask(files);
	foreach_ptr(const FcFilesOne, one, files->files)
		files->before += !one->waits;
	fc_ddl_end(level, false);
}

/*
 * Looks again at a file that is to be loaded: others may have written to it
 * since the call began.  False if it is too young now.
 */
static bool
fc_files_is_old_enough(FcFiles *files, FcFilesOne *one)
{
	struct stat st;

	/* if it is gone the load tells */
	if (fc_root_stat(fc_root_of_caller(), one->path, true, &st) != 0)
		return true;
	one->size = st.st_size;
	one->modified = fc_source_modified(&st);
	if (one->modified <= fc_files_youngest(files))
		return true;
	one->waits = false;
	files->young++;
	return false;
}

/*
 * Locks the row of a file.  False if another session has it locked, unless we
 * wait for that, or has loaded the file meanwhile.
 */
static bool
fc_files_take(FcFiles *files, FcFilesOne *one, bool wait)
{
	FcLedgerRow row;
	int			level = fc_ddl_begin();
	bool		taken;
	bool		loaded = false;

	fc_ledger_row(&row, files->target, one->key);
	fc_ledger_set(&row, FC_LEDGER_SIZE, Int64GetDatum(one->size));
	fc_ledger_set(&row, FC_LEDGER_MODIFIED, TimestampTzGetDatum(one->modified));
	taken = fc_ledger_run(psprintf("SELECT l.state = 'loaded' AND coalesce(l.size <> 0, true), "
								   "l.state = 'loaded' AND l.sqlstate IS NULL AND coalesce(l.size = $3 AND l.modified = $4, false) FROM ONLY %s AS l "
								   "WHERE l.target = $1 AND l.path = $2 AND %s ORDER BY 1 DESC FOR UPDATE%s",
								   fc_ddl_table(files->table), fc_ledger_counts(), wait ? "" : " SKIP LOCKED"), &row) > 0;
	if (taken)
	{
		HeapTuple	tuple = SPI_tuptable->vals[0];
		bool		null;

		one->recorded = DatumGetBool(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1, &null));
		/* what comes after the last part is for the next call */
		loaded = (one->recorded && (one->begun || files->options->changed_files == FC_CHANGED_SKIP)) ||
			DatumGetBool(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 2, &null));
	}
	fc_ddl_end(level, false);
	if (loaded)
	{
		one->waits = false;
		files->loaded += one->begun;
		files->before += !one->begun;
	}
	/* who waited and found no row loads the file: somebody has deleted it */
	return !loaded && (taken || wait);
}

/*
 * Locks the rows of the next files; false if there are none.  In a later round
 * other sessions have those that wait: we wait for one.
 */
static bool
fc_files_next_batch(FcFiles *files, int round)
{
	int64		bytes = 0;

	files->batch = NIL;
	foreach_ptr(FcFilesOne, one, files->files)
	{
		bool		first = files->batch == NIL;

		CHECK_FOR_INTERRUPTS();
		if (!one->waits)
			continue;
		if (!first && (one->alone || bytes + one->size > files->batch_bytes || list_length(files->batch) == files->batch_files))
			break;
		if (!fc_files_is_old_enough(files, one) || !fc_files_take(files, one, round > 0 && first))
			continue;
		files->batch = lappend(files->batch, one);
		bytes += one->size;
		if (one->alone)
			break;
	}
	return files->batch != NIL;
}

/* Is the batch a part of a file, if that can be cut? */
static bool
fc_files_cuts(const FcFiles *files)
{
	return files->cut && ((const FcFilesOne *) linitial(files->batch))->size > files->batch_bytes;
}

/*
 * Body of fc_error_try: loads a batch.  Constraints that are checked at the end
 * of the transaction are checked here, where a file can still fail.
 */
static bool
fc_files_load(void *arg)
{
	FcFiles    *files = arg;
	List	   *paths = NIL;
	FcOptions  *options;

	foreach_ptr(FcFilesOne, one, files->batch)
		paths = lappend(paths, makeString(one->path));
	options = fc_files_options(files, paths);
	options->literal = true;
	if (fc_files_cuts(files))
		options->cut_bytes = Max(files->batch_bytes, 1);
	/* the procedure commits after each batch */
	options->alone = true;
	(void) fc_statement_call(options);
	SPI_connect();
	fc_ddl_run("SET CONSTRAINTS ALL IMMEDIATE");
	SPI_finish();
	return true;
}

/* Can one of the files not be read by the server? */
static bool
fc_files_is_unreadable(const FcFiles *files)
{
	foreach_ptr(const FcFilesOne, one, files->batch)
	{
		int			fd = fc_root_open(fc_root_of_caller(), one->path, FC_ROOT_READ);

		if (fd < 0 && errno == EACCES)
			return true;
		if (fd >= 0)
			close(fd);
	}
	return false;
}

/* Is it the fault of the files that a load has failed? */
static bool
fc_files_at_fault(const FcFiles *files, const ErrorData *edata)
{
	if (edata->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE)
		return fc_files_is_unreadable(files);
	switch (ERRCODE_TO_CATEGORY(edata->sqlerrcode))
	{
		case ERRCODE_CONNECTION_EXCEPTION:
		case ERRCODE_INVALID_TRANSACTION_STATE:
		case ERRCODE_INVALID_TRANSACTION_TERMINATION:
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_INTERNAL_ERROR:
			return false;
		case ERRCODE_SYSTEM_ERROR:
			return edata->sqlerrcode == ERRCODE_UNDEFINED_FILE;
		default:
			return edata->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE &&
				edata->sqlerrcode != ERRCODE_UNDEFINED_TABLE && !fc_error_is_of_transaction(edata);
	}
}

/*
 * Records that a file has failed.  One that was loaded before, and has changed,
 * stays loaded, with the error beside it.
 */
static void
fc_files_record_failure(FcFiles *files, const FcFilesOne *one, int64 line, const ErrorData *edata)
{
	FcLedgerRow row;
	int			level = fc_ddl_begin();

	fc_ledger_row(&row, files->target, one->key);
	fc_ledger_set(&row, FC_LEDGER_LOADED_AT, TimestampTzGetDatum(GetCurrentTimestamp()));
	fc_ledger_set(&row, FC_LEDGER_LOADED_BY, CStringGetTextDatum(GetUserNameFromId(GetUserId(), false)));
	fc_ledger_set(&row, FC_LEDGER_SQLSTATE, CStringGetTextDatum(unpack_sql_state(edata->sqlerrcode)));
	fc_ledger_set(&row, FC_LEDGER_MESSAGE, CStringGetTextDatum(edata->message ? edata->message : ""));
	if (line > 0)
		fc_ledger_set(&row, FC_LEDGER_LINE, Int64GetDatum(line));
	(void) fc_ledger_set_columns(files->table, &row, "sqlstate = $13, message = $14, line = $15, "
								 "state = CASE state WHEN 'loaded' THEN state ELSE 'failed' END, "
								 "loaded_at = CASE state WHEN 'loaded' THEN loaded_at ELSE $11 END, "
								 "loaded_by = CASE state WHEN 'loaded' THEN loaded_by ELSE $12 END");
	fc_ddl_end(level, false);
}

/* Ends the transaction, and begins the next one */
static void
fc_files_commit(FcFiles *files)
{
	table_close(files->ledger, NoLock);
	SPI_commit();
	EnsurePortalSnapshotExists();
}

/* Takes note of a batch that has failed; throws its error if that is the end */
static void
fc_files_failed(FcFiles *files, ErrorData *edata)
{
	FcFilesOne *one = linitial(files->batch);
	char	   *place = psprintf("\"%s\", line ", one->path);
	const char *found = edata->context ? strstr(edata->context, place) : NULL;
	int64		line = found ? strtoll(found + strlen(place), NULL, 10) : 0;

	if (!fc_files_at_fault(files, edata))
		ReThrowError(edata);
	if (list_length(files->batch) > 1)
	{
		foreach_ptr(FcFilesOne, each, files->batch)
			each->alone = true;
		return;
	}
	one->waits = false;
	files->failed++;
	files->sqlerrcode = edata->sqlerrcode;
	fc_files_record_failure(files, one, line, edata);
	if (!files->skip)
	{
		fc_files_commit(files);
		ReThrowError(edata);
	}
	ereport(WARNING, errcode(edata->sqlerrcode),
			errmsg("file \"%s\"%s was not loaded: %s", one->path,
				   line > 0 ? psprintf(", line " INT64_FORMAT ",", line) : "", edata->message),
			edata->detail ? errdetail_internal("%s", edata->detail) : 0,
			edata->hint ? errhint("%s", edata->hint) : 0,
			edata->context ? errcontext("%s", edata->context) : 0);
}

/* Loads the next batch, in a transaction of its own; false if there is none */
static bool
fc_files_load_batch(FcFiles *files, int round)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext mcxt = AllocSetContextCreate(outer, "fast_copy files", ALLOCSET_DEFAULT_SIZES);
	ErrorData  *edata = NULL;
	bool		any;

	MemoryContextSwitchTo(mcxt);
	files->ledger = fc_ledger_open(files->table, files->target);
	any = fc_files_next_batch(files, round);
	if (any)
		edata = fc_error_try(fc_files_load, files);
	if (edata)
		fc_files_failed(files, edata);
	foreach_ptr(FcFilesOne, one, edata ? NIL : files->batch)
	{
		/* an unchanged file was passed over */
		bool		passed = one->recorded && files->options->changed_files != FC_CHANGED_LOAD;

		/* the next look tells whether that was all of it */
		one->waits = one->begun = fc_files_cuts(files) && !passed;
		files->before += passed;
		files->loaded += !passed && !one->waits;
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(mcxt);
	fc_files_commit(files);
	return any;
}

static bool
fc_files_wait(const FcFiles *files)
{
	foreach_ptr(const FcFilesOne, one, files->files)
		if (one->waits)
			return true;
	return false;
}

/* ERROR 25001 unless the procedure may end transactions */
static void
fc_files_refuse_transaction(FunctionCallInfo fcinfo)
{
	if (fcinfo->context && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic)
		return;
	fc_throw(ERRCODE_ACTIVE_SQL_TRANSACTION, errmsg("%s cannot run inside a transaction block", "CALL fast_copy_files()"),
			 errhint("It commits as it goes: drivers need autocommit for it. Within a transaction, use fast_copy() with ledger => 'TABLE'."));
}

/* Reads the arguments */
static void
fc_files_begin(FcFiles *files, FunctionCallInfo fcinfo)
{
	static const char *const names[] = {"target", "source", "ledger", "batch_files", "batch_size",
	"on_failure", "min_age", "cut_files"};
	char	   *word;

	for (int i = 0; i < lengthof(names); i++)
		if (PG_ARGISNULL(i))
			fast_copy_refuse_null(names[i], i >= ARG_BATCH_FILES);
	files->target = PG_GETARG_OID(ARG_TARGET);
	files->sources = fast_copy_sources(fcinfo, ARG_SOURCE);
	files->table = fc_option_table(text_to_cstring(PG_GETARG_TEXT_PP(ARG_LEDGER)), &fc_option_list[FC_OPTION_ledger]);
	files->batch_files = PG_GETARG_INT32(ARG_BATCH_FILES);
	files->batch_bytes = DatumGetInt64(DirectFunctionCall1(pg_size_bytes, PG_GETARG_DATUM(ARG_BATCH_SIZE)));
	if (files->batch_files < 1 || files->batch_bytes < 0)
		fc_option_error(errmsg("argument \"%s\" must be positive", files->batch_files < 1 ? "batch_files" : "batch_size"));
	word = text_to_cstring(PG_GETARG_TEXT_PP(ARG_ON_FAILURE));
	files->finish = (pg_strcasecmp(word, "finish") == 0);
	files->skip = files->finish || pg_strcasecmp(word, "skip") == 0;
	if (!files->skip && pg_strcasecmp(word, "stop") != 0)
		fc_option_error(errmsg("on_failure \"%s\" not recognized", word),
						errhint("Use on_failure => 'stop', 'skip' or 'finish'."));
	files->min_age = PG_GETARG_INTERVAL_P(ARG_MIN_AGE);
	files->cut = PG_GETARG_BOOL(ARG_CUT_FILES);
	files->given = fast_copy_given(fcinfo, ARG_FIRST_OPTION, FC_FROM_FILES);
}

/* The options of all loads, checked */
static FcOptions *
fc_files_checked_options(const FcFiles *files)
{
	FcOptions  *options = fc_files_options(files, files->sources);

	if (options->program)
		fc_option_error(errmsg("argument \"program\" cannot be used in fast_copy_files()"),
						errhint("Use fast_copy() with ledger => 'TABLE' and label => 'NAME'."));
	if (options->manifest)
		fc_option_error(errmsg("argument \"manifest\" cannot be used in fast_copy_files()"),
						errhint("It tells of all files of one load: use fast_copy() with ledger => 'TABLE'."));
	fc_options_check(options);
	if (options->existing == FC_EXISTING_REPLACE)
		fc_option_error(errmsg("existing_rows \"replace\" cannot be used in fast_copy_files()"),
						errdetail("A file would replace the rows of another one that is loaded before it."),
						errhint("Use fast_copy() with ledger => 'TABLE' and all files whose rows are in the same partitions."));
	return options;
}

/*
 * Loads the files that the ledger does not have yet, batch by batch; see
 * docs/ledger.md.  It begins and ends transactions, so that it is a procedure,
 * called outside of any.  After an error the files before it are loaded, and
 * the ledger tells which one has failed.
 */
Datum
fast_copy_files(PG_FUNCTION_ARGS)
{
	FcFiles		files = {0};

	fast_copy_refuse_standby(fcinfo);
	fc_files_refuse_transaction(fcinfo);
	fc_files_begin(&files, fcinfo);
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	files.options = fc_files_checked_options(&files);
	files.ledger = fc_ledger_open(files.table, files.target);
	fc_files_find(&files);
	fc_files_record(&files);
	fc_files_commit(&files);
	for (int round = 0; fc_files_wait(&files); round++)
		while (fc_files_load_batch(&files, round))
			;
	ereport(NOTICE, errmsg("fast_copy_files: %s loaded, %s loaded before, %s failed, %s too young",
						   fc_units_count(files.loaded), fc_units_count(files.before),
						   fc_units_count(files.failed), fc_units_count(files.young)));
	SPI_finish();
	if (files.finish && files.failed > 0)
		fc_throw(files.sqlerrcode, errmsg("%s %s not loaded", fc_units_of(files.failed, "file"), files.failed == 1 ? "was" : "were"),
				 errdetail("Files that could be loaded are committed."),
				 errhint("SELECT path, line, message FROM %s WHERE sqlstate IS NOT NULL.", fc_ddl_table(files.table)));
	PG_RETURN_VOID();
}
