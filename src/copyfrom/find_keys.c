/*-------------------------------------------------------------------------
 *
 * copyfrom/find_keys.c
 *	  Which ranges of keys core finds in a file.
 *
 *	 file ──► core's NextCopyFrom ──► key ──► range ──► parts
 *
 * Core loads files whose records fast_copy cannot tell apart, such as those
 * with characters that cannot be converted; but missing partitions must be
 * made before.  So core reads the file twice, first for the keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "copyfrom/core.h"
#include "copyfrom/feed.h"
#include "errors/first_error.h"
#include "row/where.h"
#include "sort/spill.h"

typedef struct FcCoreKeys
{
	FcFeed		feed;
	MemoryContext mcxt;			/* of the parts */
	uint64		rows;
	List	   *parts;			/* FcSpillPart, by key */
	FcSpillPart *last;			/* the part found last, or NULL */
	FcSpillPart *null;			/* part of rows whose key is NULL */
} FcCoreKeys;

static FcSpillPart *
fc_find_keys_part(FcCoreKeys *scan, int64 key)
{
	FcRange		range;
	int			at = 0;			/* the first part at this range or after it */
	int			n = list_length(scan->parts);
	MemoryContext old;

	if (scan->last && fc_range_has(&scan->last->range, key))
		return scan->last;
	range = scan->feed.target->route ? fc_route_find(scan->feed.target->route, key) : FC_RANGE_ALL;
	fc_search(int, at, n, mid, ((FcSpillPart *) list_nth(scan->parts, mid))->range.lo < range.lo);
	scan->last = at < n ? list_nth(scan->parts, at) : NULL;
	if (scan->last && scan->last->range.lo == range.lo)
		return scan->last;
	old = MemoryContextSwitchTo(scan->mcxt);
	scan->last = palloc0(sizeof(FcSpillPart));
	scan->last->range = range;
	scan->parts = list_insert_nth(scan->parts, at, scan->last);
	MemoryContextSwitchTo(old);
	return scan->last;
}

/* Counts a row */
static void
fc_find_keys_of_row(FcCoreKeys *scan, const TupleTableSlot *slot)
{
	const FcPlan *plan = scan->feed.target->plan;
	int			i = plan->key.attnum - 1;
	bool		null = slot->tts_isnull[i];
	int64		key = null ? 0 : fc_key_from_datum(plan->key.type, slot->tts_values[i]);
	FcSpillPart *part = null ? scan->null : fc_find_keys_part(scan, key);
	FcSpillPart row = {part->range, null, 1,.min_offset = scan->rows,.min_key = key,.max_key = key};

	fc_spill_part_add(part, &row);
}

/* Stands in for input functions whose effects are left to CopyFrom */
static Datum
fc_find_keys_value(PG_FUNCTION_ARGS)
{
	if (PG_GETARG_CSTRING(0) == NULL)
		PG_RETURN_NULL();
	return (Datum) 0;
}

/*
 * Counts the keys of one file.  Neither defaults nor values of types that run
 * code of users are evaluated: the code may have effects, which CopyFrom is
 * to have once.  A condition that may need them is left to CopyFrom, too;
 * then the load may make partitions that stay empty.
 */
static void
fc_find_keys_read_file(FcFeed *feed, uint32 file)
{
	FcCoreKeys *scan = (FcCoreKeys *) feed;
	FcTarget   *target = feed->target;
	const FcColumns *columns = &target->planned->columns;
	EState	   *estate = CreateExecutorState();
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(target->rel), &TTSOpsVirtual);
	ExprState  *where = NULL;
	const char *header = fc_feed_whole(feed, file);
	CopyFromState cstate = fc_feed_copy(feed, NIL, header, false);

	if (cstate->num_defaults == 0 && !target->plan->where_late)
		where = fc_where_begin(target->shared, false);
	cstate->num_defaults = 0;
	/* no key is of a type with effects */
	for (int i = 0; i < list_length(columns->fields); i++)
		if (columns->flags[i] & FC_FIELD_VISIBLE)
			cstate->in_functions[list_nth_int(columns->fields, i) - 1].fn_addr = fc_find_keys_value;
	while (fc_feed_next_row(feed, estate, slot))
	{
		CHECK_FOR_INTERRUPTS();
		scan->rows++;
		slot->tts_tableOid = target->oid;
		if (!fc_copy_passes_over(cstate) &&
			(where == NULL || fc_where_accepts(where, feed->estate ? feed->estate : estate, slot)))
			fc_find_keys_of_row(scan, slot);
	}
	EndCopyFrom(cstate);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
}

/* Body of fc_error_try: reads all files */
static bool
fc_find_keys_read(void *arg)
{
	fc_feed_files(arg, fc_find_keys_read_file);
	return true;
}

/*
 * The reading is a subtransaction, which cleans up after an error.  Only an
 * error of the whole transaction ends the load: any other one CopyFrom will
 * meet, too, or an earlier one.  What was found before is in the caller's
 * memory.
 */
uint64
fc_core_keys(FcTarget *target, List **parts)
{
	FcCoreKeys	scan = {0};
	ErrorData  *edata;

	scan.mcxt = CurrentMemoryContext;
	scan.null = palloc0(sizeof(FcSpillPart));
	scan.null->null = true;
	fc_feed_begin(&scan.feed, target, fc_feed_context);
	scan.feed.silent = true;
	scan.feed.counts = true;
	edata = fc_error_try(fc_find_keys_read, &scan.feed);
	fc_feed_end(&scan.feed);
	if (edata && fc_error_is_of_transaction(edata))
		ReThrowError(edata);
	*parts = scan.null->rows > 0 ? lappend(scan.parts, scan.null) : scan.parts;
	return scan.rows;
}
