/*-------------------------------------------------------------------------
 *
 * heap/page_new.c
 *	  New files for tables that are written in pages.
 *
 * 1. fc_new_begin: the leader makes a file beside the table's own.
 * 2. All processes write pages to it, in any order (heap/page_file.c).
 * 3. fc_new_end: the leader puts the new file into pg_class, if the table's
 *    own is still empty.  Otherwise the leader appends the pages to it through
 *    shared buffers, because the file may be in use.
 *
 * A file is extended before its pages are written.  A reader would find zeros
 * or halves of pages, and shared buffers would cache them; an insert would
 * take them for free pages.
 *
 * Code that the load evaluates (a CHECK, a default, a type) may read the
 * target or an unattached partition, and insert into it.  It finds the table's
 * own file, empty as before the load, and no buffer can hold a block of the
 * new one.  Rows that it inserts stay.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/indexing.h"
#include "catalog/storage.h"

#include "heap/append.h"
#include "heap/hold.h"

/* The visibility map's layout, which is private to visibilitymap.c */
#define FC_MAP_HEADER	MAXALIGN(SizeOfPageHeaderData)
#define FC_MAP_PER_BYTE	(BITS_PER_BYTE / BITS_PER_HEAPBLOCK)
#define FC_MAP_PER_PAGE	((BLCKSZ - FC_MAP_HEADER) * FC_MAP_PER_BYTE)

typedef struct FcNewFile
{
	Relation	rel;
	FcLocator	locator;
	bool		frozen;
} FcNewFile;

/*
 * No other session can read the table: this transaction made its storage.  A
 * table that this session has open elsewhere (in a cursor, or in a load whose
 * code runs this one) gets no new file, as core would give it none.
 */
FcLocator
fc_new_begin(Relation rel, bool frozen, List **files)
{
	FcNewFile  *file = palloc(sizeof(FcNewFile));

	Assert(!IsParallelWorker() && RelationGetNumberOfBlocks(rel) == 0);
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	Assert(fc_hold_alone(rel));
	file->rel = rel;
	file->frozen = frozen;
	file->locator = fc_create_files(rel);
	Assert(!fc_locator_equals(file->locator, fc_relation_locator(rel)));
	*files = lappend(*files, file);
	return file->locator;
}

/*
 * Makes the new file the table's own.  With fc_new_begin this is an ALTER
 * TABLE ... SET TABLESPACE: a rollback of the (sub)transaction removes the new
 * file and pg_class's row, commit deletes the old file, and WAL is skipped for
 * both files or for neither.
 */
static void
fc_new_exchange(const FcNewFile *file)
{
	Relation	classes = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(RELOID,
											ObjectIdGetDatum(RelationGetRelid(file->rel)));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(file->rel));
	((Form_pg_class) GETSTRUCT(tuple))->relfilenode = fc_locator_number(&file->locator);
	RelationDropStorage(file->rel);
	CatalogTupleUpdate(classes, &tuple->t_self, tuple);
	fc_assume_new_files(file->rel);
	table_close(classes, RowExclusiveLock);
}

/* Reads append->n pages of the new file, from the block on */
static void
fc_new_read(const FcNewFile *file, FcAppend *append, BlockNumber block,
			BufferAccessStrategy strategy)
{
	for (int i = 0; i < append->n; i++)
	{
		Buffer		buffer = ReadBufferWithoutRelcache(file->locator, MAIN_FORKNUM,
													   block + i, RBM_NORMAL,
													   strategy, RelationIsPermanent(file->rel));

		memcpy(append->pages + (Size) i * BLCKSZ, BufferGetPage(buffer), BLCKSZ);
		fc_append_check(append, i, block + i);
		ReleaseBuffer(buffer);
	}
}

/* Appends the pages of the new file to the table's own, which is not empty */
static void
fc_new_copy(const FcNewFile *file)
{
	BlockNumber nblocks = smgrnblocks(fc_smgr_open(&file->locator), MAIN_FORKNUM);
	BufferAccessStrategy reads = GetAccessStrategy(BAS_BULKREAD);
	BufferAccessStrategy writes = GetAccessStrategy(BAS_BULKWRITE);
	FcAppend	append = {.rel = file->rel};
	RelationData stand_in = {0};

	append.pages = palloc(FC_PAGE_BATCH * BLCKSZ);
	for (BlockNumber block = 0; block < nblocks; block += append.n)
	{
		CHECK_FOR_INTERRUPTS();
		append.n = Min(nblocks - block, FC_PAGE_BATCH);
		fc_new_read(file, &append, block, reads);
		fc_shared_append(&append, writes);
	}
	pfree(append.pages);
	FreeAccessStrategy(reads);
	FreeAccessStrategy(writes);
	/* commit deletes the new file, which the table does not get */
	fc_relation_locator(&stand_in) = file->locator;
	stand_in.rd_backend = file->rel->rd_backend;
	RelationDropStorage(&stand_in);
}

/*
 * Writes the map of the new file, whose rows are all frozen: a page for each
 * 255 MB of the table.  heap/page_writer.c has marked the pages' headers, as
 * heap_multi_insert does under FREEZE; on error in between the mark is missing
 * in the map, which is sound as well.
 */
static void
fc_new_map(const FcNewFile *file)
{
	BlockNumber left = smgrnblocks(fc_smgr_open(&file->locator), MAIN_FORKNUM);
	FcAppend	append = {
		.rel = file->rel,.file = file->locator,.fork = VISIBILITYMAP_FORKNUM,.n = 1
	};

	if (left == 0)
		return;
	smgrcreate(fc_smgr_open(&file->locator), VISIBILITYMAP_FORKNUM, false);
	append.pages = palloc(BLCKSZ);
	while (left > 0)
	{
		uint32		n = Min(left, FC_MAP_PER_PAGE);
		uint32		bits = n % FC_MAP_PER_BYTE * BITS_PER_HEAPBLOCK;
		uint8	   *map = (uint8 *) append.pages + FC_MAP_HEADER;

		CHECK_FOR_INTERRUPTS();
		/* all are visible and frozen */
		PageInit((Page) append.pages, BLCKSZ, 0);
		memset(map, 0xff, n / FC_MAP_PER_BYTE);
		if (bits > 0)
			map[n / FC_MAP_PER_BYTE] = (1 << bits) - 1;
		fc_file_reserve(&append, 1);
		fc_file_append(&append);
		left -= n;
	}
	/* the map has a page for each stretch of the table */
	Assert(append.block == (smgrnblocks(fc_smgr_open(&file->locator), MAIN_FORKNUM) - 1) / FC_MAP_PER_PAGE);
	pfree(append.pages);
}

void
fc_new_end(List *files)
{
	Assert(!IsInParallelMode());
	foreach_ptr(FcNewFile, file, files)
	{
		CHECK_FOR_INTERRUPTS();
		Assert(file->rel->rd_refcnt > 0 && CheckRelationLockedByMe(file->rel, RowExclusiveLock, true));
		if (RelationGetNumberOfBlocks(file->rel) > 0)
			fc_new_copy(file);
		else
		{
			if (file->frozen)
				fc_new_map(file);
			fc_new_exchange(file);
		}
	}
	list_free_deep(files);
}
