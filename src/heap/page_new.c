/*-------------------------------------------------------------------------
 *
 * heap/page_new.c
 *	  New files for tables that are written in pages.
 *
 *	 begin: new file ──► load: pages, by all processes ──► end: the table's
 *								  own file empty: pg_class tells of the new one
 *								  own file in use: pages behind those it has
 *
 * Pages get to the disk in any order, and a file is made longer before they
 * are there.  Whoever read such a file through shared buffers would find pages
 * of zeros or halves of pages, and keep them, and whoever inserted would take
 * them for free.  The code of the load's own tables (a CHECK, a default, a
 * type) can do both: to the target, or to a partition that is not attached
 * yet.  So they find the table's own file, which is as empty as before the
 * load, until all pages are where they belong.  No buffer can hold a block of
 * the new one.
 *
 * What such code has put into the table's own file is kept there, and the
 * pages follow it, through shared buffers, where anybody may be.
 *
 * The leader holds the tables (heap/hold.c), which have the files that they
 * had when all pages are there.  No other session sees them, since their
 * storage is of this transaction.  A table that this session has open
 * elsewhere, as in a cursor or in a load whose code runs this one, gets no new
 * file, as core gives it none then.
 *
 * It is ALTER TABLE ... SET TABLESPACE in two halves.  Whatever
 * (sub)transaction is rolled back takes the new file along, and pg_class's
 * row; the old file goes with commit.  A table's WAL is skipped or not for
 * both of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/syscache.h"

#include "heap/page_new.h"
#include "heap/page_shared.h"
#include "heap/page_writer.h"
#include "heap/visibility.h"

typedef struct FcNewFile
{
	Relation	rel;
	FcLocator	locator;
} FcNewFile;

FcLocator
fc_new_begin(Relation rel, List **files)
{
	FcNewFile  *file = palloc(sizeof(FcNewFile));

	file->rel = rel;
	file->locator = fc_create_files(rel);
	*files = lappend(*files, file);
	return file->locator;
}

/* The table's files are the new ones */
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
	heap_freetuple(tuple);
	table_close(classes, RowExclusiveLock);
}

/* At most FC_PAGE_BATCH pages of the new file */
static void
fc_new_read(const FcNewFile *file, FcAppend *append, BlockNumber block,
			BufferAccessStrategy strategy)
{
	bool		permanent = RelationIsPermanent(file->rel);

	for (int i = 0; i < append->n; i++)
	{
		Buffer		buffer = ReadBufferWithoutRelcache(file->locator, MAIN_FORKNUM,
													   block + i, RBM_NORMAL,
													   strategy, permanent);

		memcpy(append->pages + (Size) i * BLCKSZ, BufferGetPage(buffer), BLCKSZ);
		ReleaseBuffer(buffer);
	}
}

/* The new file goes with commit, as any other that a table no longer has */
static void
fc_new_drop(const FcNewFile *file)
{
	RelationData stand_in = {0};

	fc_relation_locator(&stand_in) = file->locator;
	stand_in.rd_backend = file->rel->rd_backend;
	RelationDropStorage(&stand_in);
}

/* Somebody has used the table's file: what is in the new one follows there */
static void
fc_new_copy(const FcNewFile *file)
{
	BlockNumber nblocks = smgrnblocks(fc_smgr_open(&file->locator), MAIN_FORKNUM);
	BufferAccessStrategy reads = GetAccessStrategy(BAS_BULKREAD);
	BufferAccessStrategy writes = GetAccessStrategy(BAS_BULKWRITE);
	FcAppend	append = {.rel = file->rel,.place = fc_page_place_rows};

	append.pages = palloc(FC_PAGE_BATCH * BLCKSZ);
	for (BlockNumber block = 0; block < nblocks; block += append.n)
	{
		CHECK_FOR_INTERRUPTS();
		append.n = Min(nblocks - block, FC_PAGE_BATCH);
		fc_new_read(file, &append, block, reads);
		fc_buffer_append(&append, writes);
	}
	pfree(append.pages);
	FreeAccessStrategy(reads);
	FreeAccessStrategy(writes);
	fc_new_drop(file);
}

void
fc_new_end(List *files, bool frozen)
{
	ListCell   *lc;

	foreach(lc, files)
	{
		FcNewFile  *file = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (RelationGetNumberOfBlocks(file->rel) > 0)
			fc_new_copy(file);
		else
		{
			if (frozen)
				fc_write_page_map(file->rel, file->locator);
			fc_new_exchange(file);
		}
		pfree(file);
	}
	list_free(files);
}
