/*-------------------------------------------------------------------------
 *
 * heap/count.c
 *	  Rows that workers insert, in the leader's statistics of their tables.
 *
 * 1. A worker inserts, and core counts the rows in the worker's statistics.
 * 2. The worker takes them away from there, and adds them to the table's turn,
 *    in shared memory (fc_count_hand_over).
 * 3. The leader counts them as rows of its own (fc_count_take).
 *
 * Core keeps the counts of a (sub)transaction until it ends: only then are the
 * rows known to be alive, or dead and work for autovacuum.  Only the leader
 * sees that end, and a TRUNCATE before the load.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"

#include "heap/writer.h"

/* The tables of a turn, open in the leader; NULL: not open, or there is none */
typedef struct FcCounted
{
	Relation	heap;
	Relation	toast;
} FcCounted;

/* Takes rows that core has counted as inserted away from this process */
static uint64
fc_count_remove(Relation rel)
{
	PgStat_TableXactStatus *trans = rel && rel->pgstat_info ? rel->pgstat_info->trans : NULL;
	uint64		rows;

	if (trans == NULL)
		return 0;
	rows = trans->tuples_inserted;
	trans->tuples_inserted = 0;
	return rows;
}

void
fc_count_hand_over(FcTurn *turn, Relation heap, Relation toast, bool last)
{
	if (!IsParallelWorker() || (!last && pg_atomic_read_u32(&turn->counted) == 0))
		return;
	Assert(turn != NULL && heap != NULL && CritSectionCount == 0);
	pg_atomic_fetch_add_u64(&turn->rows, fc_count_remove(heap));
	pg_atomic_fetch_add_u64(&turn->toasted, fc_count_remove(toast));
}

/*
 * The leader opens the tables before rows come, because after an error it
 * could open none.  Where core routes it opens a leaf after locking it.
 */
void
fc_count_open(FcContext *ctx, uint32 turn)
{
	Relation	rel = table_open((Oid) pg_atomic_read_u64(&ctx->turns[turn].leaf), NoLock);
	FcCounted  *counted;

	Assert(!IsParallelWorker() && turn < ctx->shared->nturns);
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));
	if (ctx->counted == NULL)
		ctx->counted = MemoryContextAllocZero(ctx->mcxt, sizeof(FcCounted) * ctx->shared->nturns);
	counted = &ctx->counted[turn];
	Assert(counted->heap == NULL && pg_atomic_read_u32(&ctx->turns[turn].counted) == 0);
	counted->heap = rel;
	if (OidIsValid(rel->rd_rel->reltoastrelid))
		counted->toast = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	pg_atomic_write_u32(&ctx->turns[turn].counted, 1);
}

/*
 * If the phase fails, all workers have ended.  A worker that failed has
 * counted as dead rows what was still in its own statistics.
 */
void
fc_count_take(FcContext *ctx, bool last)
{
	Assert(!IsParallelWorker());
	if (ctx->counted == NULL)
		return;
	for (uint32 i = 0; i < ctx->shared->nturns; i++)
	{
		FcCounted  *counted = &ctx->counted[i];
		FcTurn	   *turn = &ctx->turns[i];

		if (counted->heap)
			pgstat_count_heap_insert(counted->heap, pg_atomic_exchange_u64(&turn->rows, 0));
		if (counted->toast)
			pgstat_count_heap_insert(counted->toast, pg_atomic_exchange_u64(&turn->toasted, 0));
		if (last && counted->toast)
			table_close(counted->toast, AccessShareLock);
		if (last && counted->heap)
			table_close(counted->heap, NoLock);
	}
	if (!last)
		return;
	pfree(ctx->counted);
	ctx->counted = NULL;
}
