/*-------------------------------------------------------------------------
 *
 * compat/storage.h
 *	  What differs between versions in files, pages and their WAL: a part of
 *	  compat/compat.h, which its users include.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COMPAT_STORAGE_H
#define FC_COMPAT_STORAGE_H

#include "access/hio.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/storage_xlog.h"
#include "commands/sequence.h"
#include "common/relpath.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "storage/sync.h"
#include "utils/rel.h"

/* 19: the WAL records of sequences have a header of their own */
#if PG_VERSION_NUM >= 190000
#include "commands/sequence_xlog.h"
#endif

/* 17: the build of a B-tree leaves it to the next checkpoint to sync it */
#define FC_BUILD_SYNCS	(PG_VERSION_NUM < 170000 && enableFsync)

/*
 * 16: renamed.  The subtransaction that gave the table its present file, and
 * the first one of this transaction that gave it a new file
 */
#if PG_VERSION_NUM >= 160000
#define fc_new_storage_subid(rel) ((rel)->rd_newRelfilelocatorSubid)
#define fc_first_storage_subid(rel) ((rel)->rd_firstRelfilelocatorSubid)
#else
#define fc_new_storage_subid(rel) ((rel)->rd_newRelfilenodeSubid)
#define fc_first_storage_subid(rel) ((rel)->rd_firstRelfilenodeSubid)
#endif

/* 16: renamed.  What the files of a table are found by */
#if PG_VERSION_NUM >= 160000
typedef RelFileLocator FcLocator;
#define fc_relation_locator(rel) ((rel)->rd_locator)
#define fc_locator_number(locator) ((locator)->relNumber)
#define fc_locator_equals(a, b) RelFileLocatorEquals(a, b)
#else
typedef RelFileNode FcLocator;
#define fc_relation_locator(rel) ((rel)->rd_node)
#define fc_locator_number(locator) ((locator)->relNode)
#define fc_locator_equals(a, b) RelFileNodeEquals(a, b)
#endif

/* 17: a relation of no single backend is opened with another constant */
#if PG_VERSION_NUM >= 170000
#define fc_smgr_open(locator) smgropen(*(locator), INVALID_PROC_NUMBER)
#else
#define fc_smgr_open(locator) smgropen(*(locator), InvalidBackendId)
#endif

/*
 * 16: renamed.  Makes new files for a table, which are not its own yet.  If the
 * (sub)transaction is rolled back they are deleted.
 */
static inline FcLocator
fc_create_files(Relation rel)
{
	Form_pg_class form = rel->rd_rel;
	FcLocator	locator = fc_relation_locator(rel);
	TransactionId frozenxid;
	MultiXactId minmulti;

#if PG_VERSION_NUM >= 160000
	locator.relNumber = GetNewRelFileNumber(form->reltablespace, NULL,
											form->relpersistence);
	table_relation_set_new_filelocator(rel, &locator, form->relpersistence,
									   &frozenxid, &minmulti);
#else
	locator.relNode = GetNewRelFileNode(form->reltablespace, NULL,
										form->relpersistence);
	table_relation_set_new_filenode(rel, &locator, form->relpersistence,
									&frozenxid, &minmulti);
#endif
	return locator;
}

/* 16: renamed.  Tells the relcache that a table has other files */
#if PG_VERSION_NUM >= 160000
#define fc_assume_new_files(rel) RelationAssumeNewRelfilelocator(rel)
#else
#define fc_assume_new_files(rel) RelationAssumeNewRelfilenode(rel)
#endif

/* 17: the server closes files by itself that a relation has no more */
#if PG_VERSION_NUM >= 170000
#define RelationCloseSmgrByOid(relid) ((void) 0)
#endif

/* 18: pg_class tells how many pages are all frozen */
static inline void
fc_exchange_all_frozen(Form_pg_class a, Form_pg_class b)
{
#if PG_VERSION_NUM >= 180000
	int32		kept = a->relallfrozen;

	a->relallfrozen = b->relallfrozen;
	b->relallfrozen = kept;
#endif
}

/* 18: relpathperm returns the path by value */
#if PG_VERSION_NUM >= 180000
#define fc_locator_path(locator, fork) pstrdup(relpathperm(*(locator), fork).str)
#else
#define fc_locator_path(locator, fork) relpathperm(*(locator), fork)
#endif

/* 16: renamed.  Tells the checkpointer to sync one file of a table */
static inline void
fc_register_sync(const FcLocator *locator, ForkNumber fork, BlockNumber segment)
{
	FileTag		tag;

	memset(&tag, 0, sizeof(tag));
	tag.handler = SYNC_HANDLER_MD;
	tag.forknum = fork;
	tag.segno = segment;
#if PG_VERSION_NUM >= 160000
	tag.rlocator = *locator;
#else
	tag.rnode = *locator;
#endif
	(void) RegisterSyncRequest(&tag, SYNC_REQUEST, true);
}

/* 19: renamed */
#if PG_VERSION_NUM >= 190000
#define fc_page_set_checksum(page, block) PageSetChecksum(page, block)
#else
#define fc_page_set_checksum(page, block) PageSetChecksumInplace(page, block)
#endif

#define fc_log_smgrcreate(rel, fork) log_smgrcreate(&fc_relation_locator(rel), fork)

/* 16: file nodes became locators */
#if PG_VERSION_NUM >= 160000
#define fc_seq_rec_locate(record, sequence) ((record)->locator = (sequence)->rd_locator)
#else
#define fc_seq_rec_locate(record, sequence) ((record)->node = (sequence)->rd_node)
#endif

/*
 * 16: a bulk insert adds more blocks than it needs at once.  These two hand the
 * blocks that are left over to another bulk insert.
 */
static inline void
fc_bulk_set_free(struct BulkInsertStateData *bistate, BlockNumber next, BlockNumber last, uint32 added)
{
#if PG_VERSION_NUM >= 160000
	bistate->next_free = next;
	bistate->last_free = last;
	bistate->already_extended_by = added;
#endif
}

static inline void
fc_bulk_get_free(struct BulkInsertStateData *bistate, BlockNumber *next, BlockNumber *last, uint32 *added)
{
#if PG_VERSION_NUM >= 160000
	*next = bistate->next_free;
	*last = bistate->last_free;
	*added = bistate->already_extended_by;
#endif
}

/*
 * 19: the record of rows on a page that is visible to all is that of the
 * visibility map, too, and replay wants both pages in it
 */
#if PG_VERSION_NUM >= 190000
#define FC_CORE_LOGS_MAP_WITH_ROWS true
#else
#define FC_CORE_LOGS_MAP_WITH_ROWS false
#endif

/*
 * Marks pages of frozen rows, as many from the first one on as the page of the
 * map covers; returns how many.  "map" is pinned and covers the first; the
 * pages are locked and logged, and their headers are marked.
 * 19: core's function leaves the lock and the WAL to the caller
 */
static inline int
fc_map_set(Relation rel, const Buffer *pages, int n, Buffer map)
{
	const uint8 flags = VISIBILITYMAP_ALL_VISIBLE | VISIBILITYMAP_ALL_FROZEN;
#if PG_VERSION_NUM >= 190000
	int			done = 0;

	LockBuffer(map, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	while (done < n && visibilitymap_pin_ok(BufferGetBlockNumber(pages[done]), map))
		visibilitymap_set(BufferGetBlockNumber(pages[done++]), map, flags, rel->rd_locator);
	MarkBufferDirty(map);
	if (RelationNeedsWAL(rel))
		(void) log_newpage_buffer(map, false);
	END_CRIT_SECTION();
	LockBuffer(map, BUFFER_LOCK_UNLOCK);
	return done;
#else
	(void) n;
	visibilitymap_set(rel, BufferGetBlockNumber(pages[0]), pages[0], InvalidXLogRecPtr,
					  map, InvalidTransactionId, flags);
	return 1;
#endif
}

/* compat/extend.c */

/*
 * Adds at most n blocks to the end of the table.  Returns how many, and their
 * buffers, in order, pinned and locked.  Another session may have found one of
 * them before it was locked, and put rows on it.  ERROR as from core's own
 * extension.
 */
extern int	fc_extend_buffers(Relation rel, BufferAccessStrategy strategy, int n,
							  Buffer *buffers);

#endif							/* FC_COMPAT_STORAGE_H */
