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

#include "compat/versions.h"

/* 19: the WAL records of sequences have a header of their own */
#if PG_VERSION_NUM >= 190000
#include "commands/sequence_xlog.h"
#endif

/*
 * 16: renamed.  The subtransaction that gave the table its present file, and
 * the first one of this transaction that gave it a new file
 */
#define fc_new_storage_subid(rel) ((rel)->FC_16(rd_newRelfilelocatorSubid, rd_newRelfilenodeSubid))
#define fc_first_storage_subid(rel) ((rel)->FC_16(rd_firstRelfilelocatorSubid, rd_firstRelfilenodeSubid))

/* 16: renamed.  What the files of a table are found by */
typedef FC_16(RelFileLocator, RelFileNode) FcLocator;
#define fc_relation_locator(rel) ((rel)->FC_16(rd_locator, rd_node))
#define fc_locator_number(locator) ((locator)->FC_16(relNumber, relNode))
#define fc_locator_equals(a, b) FC_16(RelFileLocatorEquals(a, b), RelFileNodeEquals(a, b))

/* 17: a relation of no single backend is opened with another constant */
#define fc_smgr_open(locator) smgropen(*(locator), FC_17(INVALID_PROC_NUMBER, InvalidBackendId))

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

	fc_locator_number(&locator) = FC_16(GetNewRelFileNumber, GetNewRelFileNode)
		(form->reltablespace, NULL, form->relpersistence);
	FC_16(table_relation_set_new_filelocator, table_relation_set_new_filenode)
		(rel, &locator, form->relpersistence, &frozenxid, &minmulti);
	return locator;
}

/* 16: renamed.  Tells the relcache that a table has other files */
#define fc_assume_new_files(rel) \
	FC_16(RelationAssumeNewRelfilelocator(rel), RelationAssumeNewRelfilenode(rel))

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
#define fc_locator_path(locator, fork) \
	FC_18(pstrdup(relpathperm(*(locator), fork).str), relpathperm(*(locator), fork))

/* 16: renamed.  Tells the checkpointer to sync one file of a table */
static inline void
fc_register_sync(const FcLocator *locator, ForkNumber fork, BlockNumber segment)
{
	FileTag		tag;

	memset(&tag, 0, sizeof(tag));
	tag.handler = SYNC_HANDLER_MD;
	tag.forknum = fork;
	tag.segno = segment;
	tag.FC_16(rlocator, rnode) = *locator;
	(void) RegisterSyncRequest(&tag, SYNC_REQUEST, true);
}

/* 19: renamed */
#define fc_page_set_checksum(page, block) \
	FC_19(PageSetChecksum(page, block), PageSetChecksumInplace(page, block))

/* 16: file nodes became locators */
#define fc_seq_rec_locate(record, sequence) \
	((record)->FC_16(locator, node) = fc_relation_locator(sequence))

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
#define FC_CORE_LOGS_MAP_WITH_ROWS	(PG_VERSION_NUM >= 190000)

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

/*
 * Deletes a row of a heap as one that goes to another partition: who waits to
 * change it gets ERROR 40001.  19: options
 */
static inline TM_Result
fc_delete_moved(Relation rel, ItemPointer tid, CommandId cid)
{
	TM_FailureData failure;
#if PG_VERSION_NUM >= 190000
	return table_tuple_delete(rel, tid, cid, TABLE_DELETE_CHANGING_PARTITION, InvalidSnapshot,
							  InvalidSnapshot, true, &failure);
#else
	return table_tuple_delete(rel, tid, cid, InvalidSnapshot, InvalidSnapshot, true, &failure, true);
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
