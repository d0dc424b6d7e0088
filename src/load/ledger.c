/*-------------------------------------------------------------------------
 *
 * load/ledger.c
 *	  The table of the files that are loaded already: the option "ledger".
 *
 *	 files ──► a row each, "loading" ──► those that were claimed: load
 *				│ there, and "loaded"        │
 *				▼                            ▼
 *			passed over                 checksum, rows ──► "loaded"
 *
 * One transaction writes the rows of a file and its row in the ledger.  A
 * claim inserts that row, or locks it and updates it: another load of the file
 * waits for this transaction, and then passes over the file, or loads it if
 * this one has failed.  No other session ever sees a row that is "loading".
 * Loads claim files in the order of their paths, and so never wait for each
 * other in a circle.
 *
 * A file is known by its path without links.  It is the same if it has the
 * size and time of the row; else its CRC-32C tells.  The leader computes the
 * checksum of a file that is loaded while it waits for workers: they read the
 * file, too, and it is in the page cache.
 *
 * With cut_bytes a load takes a part of a large file (load/range.c).  The row
 * then tells how many bytes are in, with their lines and checksum, and the next
 * load of the file goes on from there, if these bytes are still the same.
 *
 * All is done by SQL, as the caller, with search_path pinned.  Somebody else
 * may have named the ledger: see rejects/own_table.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/async.h"
#include "port/pg_crc32c.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

#include "load/ledger_row.h"
#include "source/root.h"

/* Bytes that are added to a checksum at a time */
#define FC_LEDGER_BLOCK	(256 * 1024)

/* Bytes of a path that fit into an index entry even if they do not compress */
#define FC_LEDGER_LONGEST	2500

/* A file, or data with a label */
typedef struct FcLedgerFile
{
	char	   *named;			/* path as the caller gave it, or the label */
	char	   *path;			/* as the ledger has it */
	dev_t		dev;
	ino_t		ino;
	uint64		size;
	TimestampTz modified;
	FcCut		cut;			/* what is loaded of it */
	pg_crc32c	checksum;		/* of its bytes up to cut.end, in the end */
} FcLedgerFile;

typedef struct FcLedger
{
	const FcOptions *options;
	Relation	rel;			/* open as long as the load may call code */
	uint32		nfiles;			/* to be loaded, once all are claimed */
	FcLedgerFile *files;
	uint64		gone;			/* rows of these files whose table was
								 * dropped */
	uint32		summed;			/* files whose checksum is known */
	uint64		at;				/* bytes of the next one that its checksum
								 * has */
	char	   *buf;
} FcLedger;

char *
fc_ledger_path(const char *root, const char *path, dev_t dev, ino_t ino)
{
	int			fd = fc_root_open(root, path, O_PATH | O_CLOEXEC);
	char		found[FC_LEDGER_LONGEST + 2];
	ssize_t		len = -1;
	char	   *place;
	struct stat st;

	if (fd >= 0)
	{
		/* a path that is cut here is still too long for the ledger */
		if (fstat(fd, &st) == 0)
			len = readlink(psprintf("/proc/self/fd/%d", fd), found, FC_LEDGER_LONGEST + 1);
		close(fd);
	}
	if (len < 0)
	{
		fc_root_check_refused();
		fc_file_error(errmsg("could not find out where file \"%s\" lies: %m", fc_root_text(path)));
	}
	found[len] = '\0';
	place = fc_root_place(root, found);
	if (st.st_dev != dev || st.st_ino != ino || st.st_nlink == 0 || place == NULL)
		fc_source_changed(path, "Its path leads to another file now.");
	return place;
}

bool
fc_ledger_takes(const char *named, const char *path, int elevel)
{
	bool		text = fc_root_text(named) == named && fc_root_text(path) == path;

	if (text && strlen(path) <= FC_LEDGER_LONGEST)
		return true;
	ereport(elevel, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("a ledger cannot know file \"%s\"", fc_root_text(named)),
			text ? errdetail("Its path is too long.") :
			errdetail("Its path is no text in the encoding of the database."));
	return false;
}

/* Returns fc_ledger_path(); ERROR 22023 if the ledger cannot have it */
static char *
fc_ledger_usable_path(const FcSource *source, uint32 number)
{
	const char *named = fc_source_raw_path(source, number);
	const FcFile *file = &source->files[number];
	char	   *path = fc_ledger_path(source->root, named, file->dev, file->ino);

	(void) fc_ledger_takes(named, path, ERROR);
	return path;
}

/* Fills in the row that claims a file */
static void
fc_ledger_file_row(const FcLedger *ledger, const FcLedgerFile *file, FcLedgerRow *row)
{
	fc_ledger_row(row, ledger->options->target, file->path);
	fc_ledger_set(row, FC_LEDGER_STATE, CStringGetTextDatum("loading"));
	if (ledger->options->label)
		return;
	fc_ledger_set(row, FC_LEDGER_SIZE, Int64GetDatum((int64) file->size));
	fc_ledger_set(row, FC_LEDGER_MODIFIED, TimestampTzGetDatum(file->modified));
}

static char *
fc_ledger_hex(pg_crc32c checksum)
{
	FIN_CRC32C(checksum);
	return psprintf("%08x", checksum);
}

/*
 * Adds the bytes of file "number" from "at" on to its checksum, one block;
 * returns how many, 0 at the end of what is loaded
 */
static size_t
fc_ledger_add(FcLedger *ledger, const FcSource *source, uint32 number, FcLedgerFile *file, uint64 at)
{
	size_t		n = Min(FC_LEDGER_BLOCK, file->cut.end - at);

	if (at == 0)
		INIT_CRC32C(file->checksum);
	if (n == 0)
		return 0;
	fc_source_read(source, source->files[number].base + at, ledger->buf, n);
	COMP_CRC32C(file->checksum, ledger->buf, n);
	return n;
}

/* What the ledger has of a file */
typedef struct FcRecorded
{
	bool		loaded;
	int64		size;			/* -1: not said */
	TimestampTz modified;
	char	   *checksum;		/* "": not said */
	uint64		done;			/* bytes, of a file in part */
	uint64		lines;			/* in them */
	bool		failed;			/* an error is noted, too */
} FcRecorded;

static void
fc_ledger_refuse_changed(const FcLedger *ledger, const FcLedgerFile *file, const FcRecorded *recorded)
{
	/* the next call of the function writes to the same text */
	char	   *before = pstrdup(timestamptz_to_str(recorded->modified));

	fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, recorded->done > 0 ?
			 errmsg("file \"%s\" has changed since its first " UINT64_FORMAT " bytes were loaded", file->named, recorded->done) :
			 errmsg("file \"%s\" has changed since it was loaded", file->named),
			 errdetail("It had " INT64_FORMAT " bytes, written at %s, and has " UINT64_FORMAT " bytes, written at %s.",
					   recorded->size, before, file->size, timestamptz_to_str(file->modified)),
			 errhint("changed_files%s %s loads all of it, beside the rows that it gave before.",
					 fc_caller_arrow(ledger->options->caller), recorded->done > 0 ? "'load'" : "'skip' skips it, and 'load'"));
}

/*
 * ERROR 55000 for a row of which it is not known what table it is about.  It
 * may be the target, or a table that was dropped before the ledger was restored
 * from a dump; or, with "number", the row names table "target", and has the OID
 * of another one that exists, too: it was dumped, and restored after its table
 * had been renamed.
 */
static void
fc_ledger_refuse_doubtful(const FcLedger *ledger, const FcLedgerFile *file, Oid target, Oid number)
{
	const char *name = fc_ddl_table(ledger->options->ledger);
	const char *relname = get_rel_name(ledger->options->ledger);
	const char *named = get_rel_name(target);
	char	   *row = psprintf("path = %s AND target = %u", quote_literal_cstr(file->path), target);

	if (OidIsValid(number))
		row = psprintf("%s AND target_oid = %u AND origin = '%s'", row, number, fc_ledger_origin());
	else
		row = psprintf("%s AND origin <> '%s'", row, fc_ledger_origin());
	fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, OidIsValid(number) ?
			 errmsg("it is not known for which table ledger \"%s\" has \"%s\"", relname, file->named) :
			 errmsg("it is not known whether ledger \"%s\" has \"%s\" for this table", relname, file->named),
			 OidIsValid(number) ?
			 errdetail("Its row names table \"%s\", and has the number of table \"%s\".",
					   named ? named : psprintf("%u", target), get_rel_name(number)) :
			 errdetail("The row was written in another database, for a table of this name that had the number %u. It may have been dropped before the dump.",
					   target),
			 OidIsValid(number) ?
			 errhint("If the rows of the file are in the first one: UPDATE %s SET target_oid = 0 WHERE %s. If they are in the second: UPDATE %s SET target = target_oid WHERE %s.",
					 name, row, name, row) :
			 errhint("If the table has the rows of the file: UPDATE %s SET target_oid = 0 WHERE %s. If not: DELETE FROM %s WHERE %s.",
					 name, row, name, row));
}

/*
 * Locks the row of a file, after waiting for a load that has claimed it; false
 * if there is none.  ERROR 55006 if this transaction is loading it.
 */
static bool
fc_ledger_look(const FcLedger *ledger, const FcLedgerFile *file, FcLedgerRow *row, FcRecorded *recorded)
{
	const char *counts = fc_ledger_counts();
	const char *state;
	const char *origin = fc_ledger_origin();
	Oid			target = ledger->options->target;
	Datum		values[11];
	bool		nulls[11];

	/* finds also a row of another table's name that has our unique key */
	if (fc_ledger_run(psprintf("SELECT l.size, l.modified, l.checksum, l.state, l.target = $1 AND %s, l.origin = '%s', l.target, l.target_oid, l.sqlstate, l.done_bytes, l.done_lines "
							   "FROM ONLY %s AS l WHERE l.path = $2 AND (l.target = $1 AND (%s OR l.target_name = %s AND l.state = 'loaded') OR "
							   "l.target <> $1 AND l.target_oid = %u AND l.origin = '%s') "
							   "ORDER BY (%s AND l.state = 'loaded') DESC, %s LIMIT 1 FOR UPDATE",
							   counts, origin, fc_ddl_table(ledger->options->ledger), counts,
							   quote_literal_cstr(fc_ddl_table(target)), target, origin, counts, counts), row) == 0)
		return false;
	heap_deform_tuple(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, values, nulls);
	state = TextDatumGetCString(values[3]);
	if (!DatumGetBool(values[4]) && DatumGetBool(values[5]))
		fc_ledger_refuse_doubtful(ledger, file, DatumGetObjectId(values[6]), DatumGetObjectId(values[7]));
	if (!DatumGetBool(values[4]))
		fc_ledger_refuse_doubtful(ledger, file, target, InvalidOid);
	recorded->loaded = strcmp(state, "loaded") == 0;
	recorded->size = nulls[0] ? -1 : DatumGetInt64(values[0]);
	recorded->modified = nulls[1] ? 0 : DatumGetTimestampTz(values[1]);
	recorded->checksum = nulls[2] ? "" : TextDatumGetCString(values[2]);
	recorded->failed = !nulls[8];
	recorded->done = nulls[9] || recorded->loaded ? 0 : DatumGetInt64(values[9]);
	recorded->lines = nulls[10] ? 0 : DatumGetInt64(values[10]);
	SPI_freetuptable(SPI_tuptable);
	/*
	 * only this transaction sees such a row: a function of its load called
	 * this
	 */
	if (strcmp(state, "loading") == 0)
		fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("\"%s\" is being loaded by this transaction", file->named));
	return true;
}

/*
 * Does the file have the content that the ledger recorded?  If it was only
 * touched, or copied anew, its row gets the new time, and no error any more.
 * Of a file in part the rest may be another by now.
 */
static bool
fc_ledger_is_same(FcLedger *ledger, const FcSource *source, uint32 number, FcLedgerFile *file,
				  FcLedgerRow *row, const FcRecorded *recorded)
{
	bool		as_large = recorded->size == (int64) file->size;
	size_t		n;

	if (recorded->done > 0 ? recorded->done > file->size : !as_large)
		return false;
	if (as_large && recorded->modified == file->modified && !recorded->failed)
		return true;
	if (recorded->done > 0)
		file->cut.end = recorded->done;
	for (uint64 at = 0; (n = fc_ledger_add(ledger, source, number, file, at)) > 0; at += n)
		;
	if (strcmp(recorded->checksum, fc_ledger_hex(file->checksum)) != 0)
		return false;
	(void) fc_ledger_set_columns(ledger->options->ledger, row, "modified = $4, sqlstate = NULL, message = NULL, line = NULL");
	return true;
}

/* Claims a file whose row is locked; "rows" of it may be there already */
static void
fc_ledger_claim_again(const FcLedger *ledger, const FcLedgerFile *file, bool rows)
{
	FcLedgerRow row;

	fc_ledger_file_row(ledger, file, &row);
	(void) fc_ledger_set_columns(ledger->options->ledger, &row, rows ? "state = $6" : "state = $6, rows = 0");
}

/*
 * Goes on after the part of a file that is loaded.  One that replaces rows is
 * loaded from its start, as all of them are its own, and so is one that has
 * changed, if the caller says so.
 */
static void
fc_ledger_resume(FcLedger *ledger, const FcSource *source, uint32 number, FcLedgerFile *file,
				 FcLedgerRow *row, const FcRecorded *recorded)
{
	bool		same = fc_ledger_is_same(ledger, source, number, file, row, recorded);

	if (!same && ledger->options->changed_files != FC_CHANGED_LOAD)
		fc_ledger_refuse_changed(ledger, file, recorded);
	if (!same || ledger->options->existing == FC_EXISTING_REPLACE)
		return;
	file->cut.start = recorded->done;
	file->cut.lines = recorded->lines;
	file->checksum = (pg_crc32c) strtoul(recorded->checksum, NULL, 16);
	FIN_CRC32C(file->checksum);
}

/*
 * Claims a file, or data with a label (source NULL), after waiting for a load
 * that has claimed it.  False if it is loaded, and is to be passed over.
 */
static bool
fc_ledger_claim_one(FcLedger *ledger, const FcSource *source, uint32 number, FcLedgerFile *file)
{
	FcLedgerRow row;
	FcRecorded	recorded;

	fc_ledger_file_row(ledger, file, &row);
	while (!fc_ledger_look(ledger, file, &row, &recorded))
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_ledger_run(psprintf("INSERT INTO %s (target, path, size, modified, state, rows, " FC_LEDGER_IDENTITY ") "
								   "VALUES ($1, $2, $3, $4, $6, 0, %s) ON CONFLICT DO NOTHING",
								   fc_ddl_table(ledger->options->ledger), fc_ledger_identity(ledger->options->target)), &row) == 0)
			continue;
		/* rows of tables that were dropped, here or before a dump */
		ledger->gone += fc_ledger_run(psprintf("SELECT FROM ONLY %s AS l WHERE l.path = $2 AND CASE l.target WHEN $1 THEN NOT %s "
											   "ELSE NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = l.target) END",
											   fc_ddl_table(ledger->options->ledger), fc_ledger_counts()), &row);
		SPI_freetuptable(SPI_tuptable);
		return true;
	}
	/* nothing was loaded from a file that was empty */
	if (recorded.loaded && (recorded.size != 0 || (source && file->size == 0)))
	{
		if (source == NULL || fc_ledger_is_same(ledger, source, number, file, &row, &recorded) ||
			ledger->options->changed_files == FC_CHANGED_SKIP)
			return false;
		if (ledger->options->changed_files == FC_CHANGED_ERROR)
			fc_ledger_refuse_changed(ledger, file, &recorded);
	}
	else if (recorded.done > 0)
		fc_ledger_resume(ledger, source, number, file, &row, &recorded);
	fc_ledger_claim_again(ledger, file, recorded.loaded || recorded.done > 0);
	return true;
}

/* qsort's: by the paths of files */
static int
fc_ledger_path_cmp(const void *a, const void *b, void *arg)
{
	const FcLedgerFile *files = arg;

	return strcmp(files[*(const uint32 *) a].path, files[*(const uint32 *) b].path);
}

/*
 * Claims all, in the order of their paths, and leaves in ledger->files those
 * that are to be loaded, in the order of the load.  With existing_rows
 * "replace" it claims all or none: one file, loaded alone, would replace the
 * rows that another gave the same partition.
 */
static void
fc_ledger_claim_all(FcLedger *ledger, const FcSource *source)
{
	uint32		n = ledger->nfiles;
	uint32		nclaimed = 0;
	uint32	   *order = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint32) * n);
	bool	   *claimed = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(bool) * n);
	int			level = fc_ddl_begin();
	MemoryContext one = fc_context_memory(CurrentMemoryContext, "ledger");

	/* it is reset after each file, and ends with the connection to SPI */
	MemoryContextSwitchTo(one);
	for (uint32 i = 0; i < n; i++)
		order[i] = i;
	qsort_arg(order, n, sizeof(uint32), fc_ledger_path_cmp, ledger->files);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		claimed[order[i]] = fc_ledger_claim_one(ledger, source, order[i], &ledger->files[order[i]]);
		nclaimed += claimed[order[i]];
		MemoryContextReset(one);
	}
	for (uint32 i = 0; i < n && nclaimed > 0 && ledger->options->existing == FC_EXISTING_REPLACE; i++)
		if (!claimed[i])
		{
			fc_ledger_claim_again(ledger, &ledger->files[i], true);
			claimed[i] = true;
			MemoryContextReset(one);
		}
	fc_ddl_end(level, false);
	ledger->nfiles = 0;
	for (uint32 i = 0; i < n; i++)
		if (claimed[i])
			ledger->files[ledger->nfiles++] = ledger->files[i];
}

/* The file, as it is now */
static FcLedgerFile
fc_ledger_file(const FcSource *source, uint32 number)
{
	const FcFile *file = &source->files[number];

	return (FcLedgerFile)
	{
		.named = pstrdup(fc_source_path(source, number)), .path = fc_ledger_usable_path(source, number),
			.dev = file->dev, .ino = file->ino, .size = file->identity.size, .modified = file->modified,
			.cut.end = file->identity.size
	};
}

/* Says by a NOTICE how many files are passed over */
static void
fc_ledger_tell(const FcLedger *ledger, uint32 total)
{
	const FcOptions *options = ledger->options;
	uint32		passed = total - ledger->nfiles;

	if (options->log_verbosity == FC_LOG_SILENT)
		return;
	if (ledger->gone > 0)
		ereport(NOTICE, errmsg("ledger \"%s\" has %s of these files for tables that are gone: they are ignored",
							   get_rel_name(options->ledger), fc_units_of(ledger->gone, "row")),
				errhint("DELETE FROM %s AS l WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = l.target) deletes those of all files.",
						fc_ddl_table(options->ledger)));
	if (passed == 0)
		return;
	if (total == 1)
		ereport(NOTICE, errmsg("\"%s\" is skipped: ledger \"%s\" has it as loaded",
							   ledger->files[0].named, get_rel_name(options->ledger)));
	else
		ereport(NOTICE, errmsg("%s of %s files are skipped: ledger \"%s\" has them as loaded",
							   fc_units_count(passed), fc_units_count(total), get_rel_name(options->ledger)));
}

struct FcLedger *
fc_ledger_claim(const FcOptions *options)
{
	FcTarget	target = {.options = options, .sources = options->sources, .literal = options->literal};
	FcLedger   *ledger;
	FcSource   *source = NULL;
	uint32		total = 1;

	if (!OidIsValid(options->ledger))
		return NULL;
	ledger = palloc0(sizeof(FcLedger));
	ledger->options = options;
	ledger->rel = fc_ledger_open(options->ledger, options->target);
	ledger->buf = palloc(FC_LEDGER_BLOCK);
	if (options->label == NULL)
	{
		source = fc_access_open(&target, PG_UINT64_MAX);
		total = source->nfiles;
	}
	ledger->files = MemoryContextAllocExtended(CurrentMemoryContext, sizeof(FcLedgerFile) * total,
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (; ledger->nfiles < total; ledger->nfiles++)
	{
		CHECK_FOR_INTERRUPTS();
		ledger->files[ledger->nfiles] = source ? fc_ledger_file(source, ledger->nfiles) :
			(FcLedgerFile) {.named = options->label, .path = options->label};
	}
	fc_ledger_claim_all(ledger, source);
	if (ledger->nfiles == 0 && options->client)
		fc_receive_pass_over(options);
	fc_ledger_tell(ledger, total);
	if (source)
		fc_source_close(source);
	if (fc_ledger_has_all(ledger))
		table_close(ledger->rel, NoLock);
	return ledger;
}

char *
fc_ledger_paths(const FcJob *job)
{
	const FcSource *source = fc_access_named(job);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "''");
	for (uint32 i = 0; job->ledger == NULL && job->target.options->label == NULL && i < source->nfiles; i++)
		appendStringInfo(&sql, ", %s", quote_literal_cstr(fc_ledger_usable_path(source, i)));
	return sql.data;
}

uint32
fc_ledger_count(const FcJob *job)
{
	const FcOptions *options = job->target.options;
	uint32		known;
	Relation	rel;
	int			level;
	bool		null;

	if (!OidIsValid(options->ledger) || options->label || RecoveryInProgress())
		return 0;
	(void) fc_ddl_table(options->ledger);
	rel = table_open(options->ledger, AccessShareLock);
	fc_ledger_check(rel);
	level = fc_ddl_begin();
	(void) fc_ddl_execute(NULL, psprintf("SELECT count(DISTINCT l.path) FROM ONLY %s AS l WHERE l.target = %u AND l.path IN (%s) AND l.state = 'loaded' AND %s",
								   fc_ddl_table(options->ledger), options->target, fc_ledger_paths(job), fc_ledger_counts()), 0, NULL, NULL, NULL);
	known = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
	fc_ddl_end(level, false);
	table_close(rel, NoLock);
	return known;
}

bool
fc_ledger_has_all(const struct FcLedger *ledger)
{
	return ledger && ledger->nfiles == 0;
}

const List *
fc_ledger_sources(const struct FcLedger *ledger)
{
	List	   *sources = NIL;

	if (ledger->options->label)
		return ledger->options->sources;
	for (uint32 i = 0; i < ledger->nfiles; i++)
		sources = lappend(sources, makeString(ledger->files[i].named));
	return sources;
}

void
fc_ledger_check_opened(const FcJob *job)
{
	const FcLedger *ledger = job->ledger;
	const FcSource *source = job->target.source;

	Assert(ledger == NULL || (ledger->options->label == NULL && ledger->nfiles == source->nfiles));
	for (uint32 i = 0; ledger && i < ledger->nfiles; i++)
	{
		const FcLedgerFile *claimed = &ledger->files[i];
		const FcFile *file = &source->files[i];

		if (file->dev != claimed->dev || file->ino != claimed->ino ||
			file->identity.size != claimed->size || file->modified != claimed->modified)
			fc_source_changed(claimed->named, "It changed before it was opened.");
	}
}

void
fc_ledger_cut(FcJob *job)
{
	FcLedger   *ledger = job->ledger;
	uint64		most = ledger ? ledger->options->cut_bytes : 0;

	for (uint32 i = 0; ledger && !ledger->options->label && i < ledger->nfiles; i++)
	{
		FcLedgerFile *file = &ledger->files[i];

		file->cut.end = file->size;
		if (file->cut.start > 0 || most > 0)
			fc_range_cut(job, i, most, fc_access_named(job) == job->target.source, &file->cut);
	}
}

bool
fc_ledger_sum(void *arg)
{
	FcJob	   *job = arg;
	FcLedger   *ledger = job->ledger;
	FcLedgerFile *file;
	size_t		n;

	if (ledger->options->label || ledger->summed == ledger->nfiles)
		return false;
	file = &ledger->files[ledger->summed];
	n = fc_ledger_add(ledger, fc_access_named(job), ledger->summed, file, file->cut.start + ledger->at);
	ledger->at += n;
	fc_context_pace(&job->target.ctx, n);
	if (n > 0)
		return true;
	ledger->summed++;
	ledger->at = 0;
	return ledger->summed < ledger->nfiles;
}

/*
 * ERROR 55000 if somebody has written to a file.  Does not look at what has
 * been copied because its size was not known: that is another file now.
 */
static void
fc_ledger_check_unchanged(const FcJob *job)
{
	const FcSource *source = fc_access_named(job);

	for (uint32 i = 0; i < job->ledger->nfiles; i++)
	{
		const FcLedgerFile *file = &job->ledger->files[i];
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		fc_source_stat_opened(source, i, &st);
		if (st.st_dev == file->dev && st.st_ino == file->ino &&
			(st.st_size != (off_t) file->size || fc_source_modified(&st) != file->modified))
			fc_source_changed(file->named, "Somebody has written to it.");
	}
}

/*
 * Sets how many records of one file were loaded, filtered and rejected, as far
 * as that is known
 */
static void
fc_ledger_set_counts(const FcJob *job, uint32 i, FcLedgerRow *row)
{
	const FcTarget *target = &job->target;
	FcShared   *shared = target->shared;
	uint64		filtered = pg_atomic_read_u64(&shared->counts.filtered);
	uint64		rejected = pg_atomic_read_u64(&shared->counts.rejected);
	uint64		rows = target->loaded;
	FcFileCounts *files = fc_shared_file_counts(shared);

	Assert(files);
	if (target->source->nfiles > 1)
	{
		/* of which file a mark in the stage was is not known */
		if (target->course.core ||
			(target->options->conflict != FC_CONFLICT_ERROR && target->plan->dedup.marks))
			return;
		Assert(target->counted);
		filtered = pg_atomic_read_u64(&files[i].filtered);
		rejected = pg_atomic_read_u64(&files[i].rejected);
		rows = fc_chunks_records(shared, target->source, i) - filtered - rejected -
			pg_atomic_read_u64(&files[i].duplicates) - pg_atomic_read_u64(&files[i].marks);
	}
	fc_ledger_set(row, FC_LEDGER_ROWS, Int64GetDatum((int64) rows));
	fc_ledger_set(row, FC_LEDGER_FILTERED, Int64GetDatum((int64) filtered));
	fc_ledger_set(row, FC_LEDGER_REJECTED, Int64GetDatum((int64) rejected));
}

static void
fc_ledger_put_one(const FcJob *job, uint32 i)
{
	const FcLedger *ledger = job->ledger;
	const FcLedgerFile *file = &ledger->files[i];
	FcFileCounts *counts = &fc_shared_file_counts(job->target.shared)[i];
	FcKeyType	type = job->target.plan->key.type;
	uint64		low = ~pg_atomic_read_u64(&counts->lowest);
	uint64		high = pg_atomic_read_u64(&counts->highest);
	FcLedgerRow row;
	int64		bytes;
	char	   *hash = NULL;

	fc_ledger_file_row(ledger, file, &row);
	fc_ledger_set(&row, FC_LEDGER_STATE, CStringGetTextDatum(file->cut.end < file->size ? "waiting" : "loaded"));
	if (file->cut.end < file->size)
	{
		fc_ledger_set(&row, FC_LEDGER_DONE_BYTES, Int64GetDatum((int64) file->cut.end));
		fc_ledger_set(&row, FC_LEDGER_DONE_LINES, Int64GetDatum((int64) file->cut.end_lines));
	}
	if (ledger->options->label)
		fc_ledger_set(&row, FC_LEDGER_SIZE, Int64GetDatum((int64) job->target.source->size));
	else
		fc_ledger_set(&row, FC_LEDGER_CHECKSUM, CStringGetTextDatum(fc_ledger_hex(file->checksum)));
	fc_ledger_set_counts(job, i, &row);
	/* else no keys are known */
	if (low <= high)
	{
		fc_ledger_set(&row, FC_LEDGER_FIRST_KEY, CStringGetTextDatum(fc_key_text(type, fc_context_distance((int64) low))));
		fc_ledger_set(&row, FC_LEDGER_LAST_KEY, CStringGetTextDatum(fc_key_text(type, fc_context_distance((int64) high))));
		fc_ledger_set(&row, FC_LEDGER_KEY_COLUMN,
					  CStringGetTextDatum(get_attname(job->target.oid, job->target.plan->key.attnum, false)));
	}
	if (fc_manifest_expects(job, i, &bytes, &hash))
		fc_ledger_set(&row, FC_LEDGER_EXPECTED_SIZE, Int64GetDatum(bytes));
	if (hash)
		fc_ledger_set(&row, FC_LEDGER_EXPECTED_HASH, CStringGetTextDatum(hash));
	if (job->rejects_job)
		fc_ledger_set(&row, FC_LEDGER_JOB, DirectFunctionCall1(uuid_in, CStringGetDatum(job->rejects_job)));
	fc_ledger_set(&row, FC_LEDGER_LOADED_AT, TimestampTzGetDatum(GetCurrentTimestamp()));
	fc_ledger_set(&row, FC_LEDGER_LOADED_BY, CStringGetTextDatum(GetUserNameFromId(GetUserId(), false)));
	fc_ledger_update(ledger->options->ledger, &row, type, file->cut.start > 0);
}

/*
 * Tells the channel, once the transaction commits, which ledger has more files
 * of which table
 */
static void
fc_ledger_notify(const FcOptions *options)
{
	StringInfoData told;

	if (options->notify_channel == NULL)
		return;
	initStringInfo(&told);
	appendStringInfoString(&told, "{\"ledger\": ");
	escape_json(&told, fc_ddl_table(options->ledger));
	appendStringInfoString(&told, ", \"table\": ");
	escape_json(&told, fc_ddl_table(options->target));
	appendStringInfoChar(&told, '}');
	Async_Notify(options->notify_channel, told.data);
}

void
fc_ledger_put(FcJob *job)
{
	MemoryContext one;
	int			level;

	if (job->ledger == NULL)
		return;
	/* partitions may have come since the load began */
	fc_away_check_ledger(job);
	while (fc_ledger_sum(job))
		;
	if (!job->ledger->options->label)
		fc_ledger_check_unchanged(job);
	fc_ledger_check(job->ledger->rel);
	level = fc_ddl_begin();
	one = fc_context_memory(CurrentMemoryContext, "ledger");
	MemoryContextSwitchTo(one);
	for (uint32 i = 0; i < job->ledger->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fc_ledger_put_one(job, i);
		MemoryContextReset(one);
	}
	fc_ddl_end(level, false);
	fc_ledger_notify(job->ledger->options);
	table_close(job->ledger->rel, NoLock);
}
