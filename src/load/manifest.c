/*-------------------------------------------------------------------------
 *
 * load/manifest.c
 *	  What the files of a load must be: the option "manifest".
 *
 *	 JSON, table ──► entries ──► their files, sizes, sums ──► load ──► sums
 *
 * Before anything is loaded, and before a ledger passes over files, the leader
 * reads each file once for the sums.  After the load it reads the files again,
 * which have their sizes and times still: what workers have read in between
 * has had the sum before and after.  The second time a CRC is enough.
 *
 * A table is read as the caller, with search_path pinned, and without code of
 * types' owners: its columns have types of the server's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"

#include "load/steps.h"

#define FC_MANIFEST_BLOCK	(256 * 1024)

/* An entry of the manifest, and the file that it is about */
typedef struct FcManifestEntry
{
	char	   *file;
	int64		bytes;			/* -1: it does not say */
	char	   *sha256;			/* or NULL */
	char	   *crc32c;
	FcFile		found;			/* as it was before the load */
	pg_crc32c	sum;
} FcManifestEntry;

struct FcManifest
{
	uint32		n;
	uint32		next;			/* where the next one is looked for first */
	FcManifestEntry *entries;	/* in the order of the files */
};

/* A name by which an entry may call a file */
typedef struct FcManifestName
{
	const char *name;
	uint32		number;
} FcManifestName;

/* Takes a member of an entry; false if it is none, or has no such value */
static bool
fc_manifest_take(FcManifestEntry *entry, const char *key, const JsonbValue *value)
{
	char	   *text = fc_json_text(value);
	bool		digits = text && strspn(text, "0123456789abcdefABCDEF") == strlen(text);

	if (value->type == jbvNull)
		return true;
	if (strcmp(key, "bytes") == 0 && value->type == jbvNumeric && text[0] != '-')
		entry->bytes = DatumGetInt64(DirectFunctionCall1(int8in, CStringGetDatum(text)));
	else if (value->type != jbvString)
		return false;
	else if (strcmp(key, "file") == 0)
		entry->file = text;
	else if (strcmp(key, "sha256") == 0 && digits && strlen(text) == 2 * PG_SHA256_DIGEST_LENGTH)
		entry->sha256 = text;
	else if (strcmp(key, "crc32c") == 0 && digits && strlen(text) == 2 * sizeof(pg_crc32c))
		entry->crc32c = text;
	else
		return false;
	return true;
}

/* Reads the entry from an object */
static void
fc_manifest_read_entry(FcManifestEntry *entry, const JsonbValue *value)
{
	JsonbIterator *it;
	JsonbValue	member;
	char	   *key = NULL;
	bool		sound = value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data);

	memset(entry, 0, sizeof(FcManifestEntry));
	entry->bytes = -1;
	it = sound ? JsonbIteratorInit(value->val.binary.data) : NULL;
	while (sound && fc_json_next(&it, &key, &member))
		sound = fc_manifest_take(entry, key, &member);
	if (!sound || entry->file == NULL || entry->file[0] == '\0')
		fc_option_error(errmsg("manifest has something other than files"),
						key ? errdetail("Look at \"%s\".", key) : 0,
						errhint("Write it as '[{\"file\": \"a.csv\", \"bytes\": 17, \"sha256\": \"...\"}]', or name a table. It may have \"crc32c\", too; only \"file\" must be there."));
}

/* Returns the rows of a table as JSON */
static Jsonb *
fc_manifest_of_table(const char *name)
{
	static const char *const columns[] = {"file", "bytes", "sha256", "crc32c"};
	Oid			table = fc_option_table(name, &fc_option_list[FC_OPTION_manifest]);
	StringInfoData sql;
	char	   *rows;

	LockRelationOid(table, AccessShareLock);
	initStringInfo(&sql);
	for (int i = 0; i < lengthof(columns); i++)
	{
		AttrNumber	attnum = get_attnum(table, columns[i]);
		Oid			type = attnum == InvalidAttrNumber ? InvalidOid : get_atttype(table, attnum);

		if (attnum == InvalidAttrNumber ? i == 0 :
			i == 1 ? type != INT8OID && type != INT4OID : type != TEXTOID && type != VARCHAROID)
			fc_option_error(errmsg("manifest \"%s\" has no column \"%s\" of type %s", name, columns[i], i == 1 ? "bigint" : "text"));
		if (attnum != InvalidAttrNumber)
			appendStringInfo(&sql, "%s'%s', t.%s", sql.len > 0 ? ", " : "", columns[i], quote_identifier(columns[i]));
	}
	rows = fc_ddl_value(psprintf("SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(%s)) FROM %s AS t",
								 sql.data, fc_ddl_table(table)));
	return fc_json_read(rows ? rows : "[]", "[");
}

static FcManifest *
fc_manifest_read(const FcOptions *options)
{
	FcManifest *manifest = palloc0(sizeof(FcManifest));
	Jsonb	   *json = fc_json_read(options->manifest, "[{");
	JsonbIterator *it;
	JsonbValue	value;
	char	   *key;

	if (json == NULL)
		json = fc_manifest_of_table(options->manifest);
	manifest->entries = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(FcManifestEntry) * Max(JB_ROOT_COUNT(json), 1));
	it = JsonbIteratorInit(&json->root);
	while (fc_json_next(&it, &key, &value))
	{
		CHECK_FOR_INTERRUPTS();
		fc_manifest_read_entry(&manifest->entries[manifest->n++], &value);
	}
	return manifest;
}

static int
fc_manifest_cmp(const void *a, const void *b)
{
	return strcmp(((const FcManifestName *) a)->name, ((const FcManifestName *) b)->name);
}

/* Gives each entry the file that it names by its path, or without a folder */
static void
fc_manifest_match(FcManifest *manifest, const FcSource *source)
{
	uint32		n = 2 * source->nfiles;
	FcManifestName *names = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(FcManifestName) * n);
	FcManifestEntry *files = MemoryContextAllocExtended(CurrentMemoryContext, sizeof(FcManifestEntry) * source->nfiles,
														MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint32 i = 0; i < n; i++)
	{
		const char *path = fc_source_path(source, i / 2);
		const char *last = strrchr(path, '/');

		names[i] = (FcManifestName) {i % 2 == 0 ? path : last ? last + 1 : "", i / 2};
	}
	qsort(names, n, sizeof(FcManifestName), fc_manifest_cmp);
	for (uint32 i = 0; i < manifest->n; i++)
	{
		FcManifestEntry *entry = &manifest->entries[i];
		FcManifestName key = {entry->file};
		FcManifestName *found = bsearch(&key, names, n, sizeof(FcManifestName), fc_manifest_cmp);

		CHECK_FOR_INTERRUPTS();
		if (found == NULL)
			fc_format_error(errmsg("file \"%s\" of the manifest is not among those to be loaded", entry->file));
		for (FcManifestName *other = found - Min(found - names, 1); other <= found + 1 && other < names + n; other++)
			if (other->number != found->number && strcmp(other->name, entry->file) == 0)
				fc_format_error(errmsg("several files have the name \"%s\" of the manifest", entry->file),
								errhint("Write their paths into it, as the load names them."));
		if (files[found->number].file)
			fc_format_error(errmsg("the manifest has file \"%s\" more than once", fc_source_path(source, found->number)));
		files[found->number] = *entry;
		files[found->number].found = source->files[found->number];
	}
	for (uint32 i = 0; i < source->nfiles; i++)
		if (files[i].file == NULL)
			fc_format_error(errmsg("file \"%s\" is not in the manifest", fc_source_path(source, i)));
	manifest->entries = files;
}

/* The file's CRC, and its SHA-256, as text, unless "sha256" is NULL */
static pg_crc32c
fc_manifest_sum(const FcSource *source, uint32 number, char *sha256)
{
	pg_cryptohash_ctx *hash = sha256 ? pg_cryptohash_create(PG_SHA256) : NULL;
	uint64		size = source->files[number].identity.size;
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	char	   *buf = palloc(FC_MANIFEST_BLOCK);
	bool		sound = sha256 == NULL || (hash && pg_cryptohash_init(hash) == 0);
	pg_crc32c	sum;

	INIT_CRC32C(sum);
	for (uint64 at = 0; sound && at < size; at += FC_MANIFEST_BLOCK)
	{
		size_t		n = Min(FC_MANIFEST_BLOCK, size - at);

		CHECK_FOR_INTERRUPTS();
		fc_source_read(source, source->files[number].base + at, buf, n);
		COMP_CRC32C(sum, buf, n);
		sound = hash == NULL || pg_cryptohash_update(hash, (uint8 *) buf, n) == 0;
	}
	FIN_CRC32C(sum);
	if (!sound || (hash && pg_cryptohash_final(hash, digest, sizeof(digest)) < 0))
		elog(ERROR, "could not compute SHA-256 of \"%s\"", fc_source_path(source, number));
	if (hash)
	{
		pg_cryptohash_free(hash);
		sha256[hex_encode((char *) digest, sizeof(digest), sha256)] = '\0';
	}
	pfree(buf);
	return sum;
}

static void
fc_manifest_compare(const char *path, const char *what, const char *is, const char *expected)
{
	if (expected && pg_strcasecmp(is, expected) != 0)
		fc_format_error(errmsg("file \"%s\" is not as the manifest says", path),
						errdetail("Its %s is %s, and not %s.", what, is, expected));
}

/* The entry of a file; a ledger has left out some of them */
static FcManifestEntry *
fc_manifest_entry(FcManifest *manifest, const FcSource *source, uint32 number)
{
	const FcFile *file = &source->files[number];

	for (uint32 i = 0; i < manifest->n; i++)
	{
		FcManifestEntry *entry = &manifest->entries[manifest->next];

		manifest->next = (manifest->next + 1) % manifest->n;
		if (entry->found.dev == file->dev && entry->found.ino == file->ino)
			return entry;
	}
	fc_source_changed(fc_source_path(source, number), "Its path leads to another file now.");
	return NULL;
}

FcManifest *
fc_manifest_check(const FcOptions *options)
{
	FcTarget	target = {.options = unconstify(FcOptions *, options), .sources = options->sources, .literal = options->literal};
	FcManifest *manifest;
	FcSource   *source;

	if (options->manifest == NULL)
		return NULL;
	manifest = fc_manifest_read(options);
	source = fc_access_open(&target, PG_UINT64_MAX);
	fc_manifest_match(manifest, source);
	for (uint32 i = 0; i < source->nfiles; i++)
	{
		FcManifestEntry *entry = fc_manifest_entry(manifest, source, i);
		const char *path = fc_source_path(source, i);
		char		sha256[PG_SHA256_DIGEST_STRING_LENGTH];

		if (entry->bytes >= 0)
			fc_manifest_compare(path, "size", psprintf(UINT64_FORMAT, source->files[i].identity.size), psprintf(INT64_FORMAT, entry->bytes));
		entry->sum = fc_manifest_sum(source, i, entry->sha256 ? sha256 : NULL);
		fc_manifest_compare(path, "CRC-32C", psprintf("%08x", entry->sum), entry->crc32c);
		fc_manifest_compare(path, "SHA-256", sha256, entry->sha256);
	}
	fc_source_close(source);
	return manifest;
}

void
fc_manifest_check_loaded(const FcJob *job)
{
	const FcSource *source = fc_access_named(job);

	for (uint32 i = 0; job->manifest && i < source->nfiles; i++)
	{
		const FcManifestEntry *entry = fc_manifest_entry(job->manifest, source, i);
		struct stat st;

		fc_source_stat_opened(source, i, &st);
		if (fc_manifest_sum(source, i, NULL) != entry->sum ||
			(st.st_dev == entry->found.dev && st.st_ino == entry->found.ino &&
			 ((uint64) st.st_size != entry->found.identity.size ||
			  fc_source_modified(&st) != entry->found.modified)))
			fc_source_changed(fc_source_path(source, i), "Its bytes are no longer those that were compared with the manifest.");
	}
}

bool
fc_manifest_expects(const FcJob *job, uint32 number, int64 *bytes, char **hash)
{
	const FcManifestEntry *entry;

	if (job->manifest == NULL)
		return false;
	entry = fc_manifest_entry(job->manifest, fc_access_named(job), number);
	*bytes = entry->found.identity.size;
	*hash = entry->sha256 ? psprintf("sha256:%s", entry->sha256) :
		entry->crc32c ? psprintf("crc32c:%s", entry->crc32c) : NULL;
	return true;
}
