/*-------------------------------------------------------------------------
 *
 * send/send.c
 *	  The leader's pass over the file, which sends the records of leaves on
 *	  other servers as they are.
 *
 *	 chunks in file order ──► record ──► its leaf (send/dispatch.c)
 *			──► the leaf's COPY (remote/), byte by byte as it stands
 *
 * A COPY needs a connection of its own, so that only FC_SEND_STREAMS are open.
 * A leaf without one takes the place of a leaf that had no record for a whole
 * chunk; or its records are left for another pass, from the first one on.  So
 * a file in the order of its partitions is read once, another one once for
 * each FC_SEND_STREAMS leaves.
 *
 * The slot of the load's first error gets the first bad record of the file,
 * wherever it is found:
 *
 * 1. A server that refuses a record names a line of its COPY.
 * 2. A walk over the records that have gone there finds that line
 *    (fc_send_locate).  Its record goes into the slot.
 * 3. From then on no later record is sent; earlier ones have been, or are sent
 *    in a later pass.
 * 4. All COPYs are ended, and the servers judge what they were sent.
 *
 * An error about no record, such as a lost connection, is thrown at once.
 * Then the abort of the transaction ends the COPYs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "portability/instr_time.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

#include "send/send.h"

/* Records of a step, and bytes that are read at a time */
#define FC_SEND_STEP	8192
#define FC_SEND_BLOCK	((size_t) 256 * 1024)

/* A leaf on another server */
typedef struct FcSendLeaf
{
	const FcDispatchLeaf *leaf;
	bool		pending;		/* this pass may send to it */
	uint64		resume;			/* records before this offset have been sent in
								 * passes before */
	bool		left;			/* its records from left_from on are left for
								 * the next pass */
	uint64		left_from;

	/* its COPY; NULL: none is open */
	FcRemoteCopy *copy;
	FcEol		eol;			/* of all its lines */
	uint64		first;			/* offset of its first record */
	uint64		records;
	uint32		chunk;			/* the last one with a record for it */
	instr_time	begun;

	bool		fast;			/* the server's fast_copy loads it */
	FcElsewhereSent sent;		/* without texts; seconds in which a COPY to
								 * it was open */
} FcSendLeaf;

struct FcSender
{
	FcContext  *ctx;
	FcSendPlan	plan;
	MemoryContext mcxt;
	MemoryContext row_mcxt;		/* reset with each step */
	EState	   *estate;
	FcParser   *parser;
	FcDispatch *dispatch;
	FcChunkReader reader;
	int			nleaves;
	FcSendLeaf *leaves;
	int			nopen;
	StringInfoData other;		/* a record that does not go as it stands */

	/* the pass */
	uint32		chunk;			/* the current one, or the next one */
	bool		in_chunk;
	bool		ended;
	bool		missing;		/* a partition is: plan.load.makes */
	uint64		bytes;			/* not counted as progress yet */
};

/* Locks the leaves in the order of all loads, which is that of their OIDs */
static void
fc_send_lock(FcSender *sender)
{
	List	   *oids = NIL;

	for (int i = 0; i < sender->nleaves; i++)
		oids = lappend_oid(oids, sender->leaves[i].leaf->oid);
	list_sort(oids, list_oid_cmp);
	foreach_oid(oid, oids)
		LockRelationOid(oid, RowExclusiveLock);
}

FcSender *
fc_send_begin(FcContext *ctx, const FcSendPlan *plan)
{
	MemoryContext mcxt = fc_context_memory(CurrentMemoryContext, "send");
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	FcSender   *sender = palloc0(sizeof(FcSender));
	const List *foreign;

	sender->ctx = ctx;
	sender->plan = *plan;
	sender->mcxt = mcxt;
	sender->row_mcxt = fc_context_memory(mcxt, "send row");
	sender->estate = fc_executor_begin(ctx);
	sender->parser = fc_parse_begin(ctx, sender->estate, true);
	sender->dispatch = plan->shards ?
		fc_dispatch_begin_shards(ctx, sender->parser, plan->shards) :
		fc_dispatch_begin(ctx, sender->parser, plan->load.created, plan->load.ncreated);
	fc_chunk_reader_begin(&sender->reader, ctx, FC_SEND_BLOCK);
	initStringInfo(&sender->other);
	/* the first pass over the whole file finds its chunks */
	if (plan->load.whole)
		fc_chunk_reader_find(&sender->reader, FC_UNSPLIT_FIND);
	foreign = fc_dispatch_foreign(sender->dispatch);
	sender->nleaves = list_length(foreign);
	sender->leaves = palloc0(sizeof(FcSendLeaf) * Max(sender->nleaves, 1));
	for (int i = 0; i < sender->nleaves; i++)
	{
		FcSendLeaf *leaf = &sender->leaves[i];

		leaf->leaf = list_nth(foreign, i);
		leaf->sent.leaf = leaf->leaf->oid;
		leaf->pending = true;
	}
	fc_send_lock(sender);
	MemoryContextSwitchTo(old);
	return sender;
}

/* The leaf's columns that the file has: those with the target's names */
static List *
fc_send_attnums(const FcSender *sender, Oid leaf)
{
	Oid			target = RelationGetRelid(sender->ctx->target);
	List	   *attnums = NIL;

	foreach_int(attnum, sender->plan.attnums)
		attnums = lappend_int(attnums, leaf == target ? attnum :
							  get_attnum(leaf, get_attname(target, attnum, false)));
	return attnums;
}

/* Begins a COPY for the leaf, unless its table can be reached only later */
static void
fc_send_open_leaf(FcSender *sender, FcSendLeaf *leaf)
{
	MemoryContext old = MemoryContextSwitchTo(sender->mcxt);
	Relation	rel = table_open(leaf->leaf->oid, NoLock);
	FcRemotePlace place = {rel, leaf->leaf->shard};
	List	   *attnums = fc_send_attnums(sender, leaf->leaf->oid);

	INSTR_TIME_SET_CURRENT(leaf->begun);
	leaf->copy = fc_remote_copy_begin(&place, sender->plan.userid, attnums,
									  &sender->plan.options, leaf->leaf->table, &leaf->fast);
	leaf->eol = FC_EOL_UNKNOWN;
	leaf->records = 0;
	table_close(rel, NoLock);
	sender->nopen += leaf->copy != NULL;
	MemoryContextSwitchTo(old);
}

void
fc_send_open(FcSender *sender)
{
	for (int i = 0; i < sender->nleaves && sender->nopen < FC_SEND_STREAMS; i++)
	{
		FcSendLeaf *leaf = &sender->leaves[i];

		if (sender->plan.load.leaves == NIL || list_member_oid(sender->plan.load.leaves, leaf->leaf->oid))
			fc_send_open_leaf(sender, leaf);
	}
}

/* The walk of fc_send_locate */
typedef struct FcSendWalk
{
	FcSender   *sender;
	const FcSendLeaf *leaf;
	uint64		line;			/* that is looked for */
	uint64		lines;			/* of the leaf's records so far */
	uint64		left;			/* records of the COPY that are left */
	uint64		offset;			/* of the last one */
	uint64		length;
	FcChunkReader reader;
} FcSendWalk;

/*
 * How many lines the server has counted for the record.  In the first record
 * of a COPY it did not know yet how lines end, and counted each '\r' in
 * quotes.
 */
static uint64
fc_send_lines(const FcSendWalk *walk, const FcRecord *record)
{
	FcDialect	dialect = walk->sender->ctx->shared->dialects[FC_EOL_UNKNOWN];
	FcScan		scan = {0};

	if (walk->lines > 0)
		return 1 + record->embedded;
	(void) fc_record_end(&dialect, &scan, record->data, record->total, true);
	return 1 + scan.embedded;
}

static void
fc_send_walk_chunk(FcSendWalk *walk, uint32 chunk)
{
	FcSender   *sender = walk->sender;
	const FcRecord *record = &walk->reader.record;
	const FcDispatchLeaf *found;

	if (!fc_chunk_reader_enter(&walk->reader, chunk))
		return;
	while (walk->left > 0 && walk->lines < walk->line && fc_chunk_reader_next(&walk->reader))
	{
		if (walk->reader.found % FC_SEND_STEP == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(sender->row_mcxt);
		}
		if (record->offset < walk->leaf->first ||
			fc_dispatch_find(sender->dispatch, record, &found) != NULL ||
			found != walk->leaf->leaf)
			continue;
		walk->lines += fc_send_lines(walk, record);
		walk->left--;
		walk->offset = record->offset;
		walk->length = record->length;
	}
}

/*
 * Finds the record on a line of the leaf's COPY: goes over the records from
 * the COPY's first one on, as the pass has done, and counts lines
 */
static bool
fc_send_locate(FcSender *sender, const FcSendLeaf *leaf, uint64 line,
			   uint64 *offset, uint64 *length)
{
	FcContext  *ctx = sender->ctx;
	MemoryContext old = MemoryContextSwitchTo(sender->mcxt);
	FcSendWalk	walk = {sender, leaf, line,.left = leaf->records};

	fc_chunk_reader_begin(&walk.reader, ctx, FC_SEND_BLOCK);
	walk.reader.looks = true;
	MemoryContextSwitchTo(sender->row_mcxt);
	for (uint32 i = fc_lines_chunk(ctx->shared, leaf->first);
		 i < ctx->shared->source.nchunks && walk.left > 0 && walk.lines < line; i++)
		fc_send_walk_chunk(&walk, i);
	MemoryContextSwitchTo(old);
	fc_chunk_reader_end(&walk.reader);
	*offset = walk.offset;
	*length = walk.length;
	return walk.lines >= line;
}

static char *
fc_send_name(const FcSendLeaf *leaf)
{
	const char *name = get_rel_name(leaf->leaf->oid);

	if (leaf->leaf->shard)
		return psprintf("shard " INT64_FORMAT " of table \"%s\"", leaf->leaf->shard->id, name);
	return psprintf("foreign table \"%s\"", name);
}

/*
 * The server's context without the lines of its COPY, which are not those of
 * the file.  The column is told, as COPY here may take what the server does
 * not.
 */
static char *
fc_send_context(const FcSendLeaf *leaf, const FcRemoteError *error)
{
	StringInfo	context = makeStringInfo();
	char	   *lines = pstrdup(error->edata->context ? error->edata->context : "");

	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line, "COPY ", 5) != 0)
			appendStringInfo(context, "%s\n", line);
	appendStringInfo(context, "%s on server \"%s\"", fc_send_name(leaf),
					 fc_remote_server(leaf->leaf->oid, leaf->leaf->shard));
	if (error->field)
		appendStringInfo(context, ", %s", error->field);
	return context->data;
}

/* Keeps the server's error as one of a record, or throws it */
static void
fc_send_refused(FcSender *sender, const FcSendLeaf *leaf, const FcRemoteError *error)
{
	ErrorData  *edata = error->edata;
	uint64		offset = 0;
	uint64		length = 0;

	edata->context = fc_send_context(leaf, error);
	if (error->line == 0 || fc_error_is_of_server(edata) ||
		!fc_send_locate(sender, leaf, error->line, &offset, &length))
		ThrowErrorData(edata);
	fc_error_keep(sender->ctx->shared, FC_ERROR_DATA, offset, length, edata);
}

/* ERROR unless the server has counted the rows that it was sent */
static void
fc_send_check_rows(const FcSendLeaf *leaf, uint64 rows)
{
	if (rows == leaf->records)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FDW_ERROR),
			 errmsg("%s took " UINT64_FORMAT " of " UINT64_FORMAT " rows",
					fc_send_name(leaf), rows, leaf->records),
			 errdetail("Nothing was loaded, because rows would be lost."),
			 errhint("Look for triggers of the table on the other server that leave rows out, or load with COPY.")));
}

static void
fc_send_end_leaf(FcSender *sender, FcSendLeaf *leaf)
{
	FcRemoteError error = {0};
	MemoryContext old = MemoryContextSwitchTo(sender->mcxt);
	FcRemoteCopy *copy = leaf->copy;
	uint64		rows = 0;
	instr_time	now;

	leaf->copy = NULL;
	sender->nopen--;
	if (fc_remote_copy_end(copy, &rows, &error))
	{
		fc_send_check_rows(leaf, rows);
		leaf->sent.rows += rows;
	}
	else
	{
		fc_send_refused(sender, leaf, &error);
		leaf->pending = leaf->left = false;
	}
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, leaf->begun);
	leaf->sent.seconds += INSTR_TIME_GET_DOUBLE(now);
	MemoryContextSwitchTo(old);
}

/* Ends the COPY without a record for the longest time, if it had none lately */
static bool
fc_send_make_room(FcSender *sender)
{
	FcSendLeaf *idle = NULL;

	for (int i = 0; i < sender->nleaves; i++)
	{
		FcSendLeaf *leaf = &sender->leaves[i];

		if (leaf->copy && (idle == NULL || leaf->chunk < idle->chunk))
			idle = leaf;
	}
	if (idle == NULL || idle->chunk + 1 >= sender->chunk)
		return false;
	fc_send_end_leaf(sender, idle);
	return true;
}

/*
 * Begins a COPY for the record, unless there is one.  False, and the record is
 * left for another pass, if there can be none now: beside workers none may
 * begin.
 */
static bool
fc_send_reach(FcSender *sender, FcSendLeaf *leaf, const FcRecord *record)
{
	bool		may = sender->ctx->workers == NULL;

	if (leaf->copy && leaf->records > 0 && may)
		fc_send_end_leaf(sender, leaf);
	if (leaf->copy == NULL && may && leaf->pending &&
		(sender->nopen < FC_SEND_STREAMS || fc_send_make_room(sender)))
		fc_send_open_leaf(sender, leaf);
	if (leaf->copy && leaf->records == 0)
	{
		leaf->eol = sender->reader.dialect->eol;
		leaf->first = record->offset;
		return true;
	}
	leaf->left = leaf->pending;
	leaf->left_from = record->offset;
	return false;
}

/* Is it what some versions of COPY take for the end of the data in csv? */
static bool
fc_send_is_marker(const FcSender *sender, const FcRecord *record)
{
	return record->length == 2 && record->data[0] == '\\' && record->data[1] == '.' &&
		sender->ctx->shared->dialects->mode == FC_MODE_CSV;
}

/*
 * Sends the record's bytes with their line end.  The last record of a file may
 * have none, a line end may have a marker before it, and what looks like a
 * marker is put in quotes.
 */
static bool
fc_send_bytes(FcSender *sender, FcSendLeaf *leaf, const FcRecord *record)
{
	StringInfo	other = &sender->other;
	bool		marker = fc_send_is_marker(sender, record);

	if (record->total > record->length && !record->marked && !marker)
		return fc_remote_copy_put(leaf->copy, record->data, record->total);
	resetStringInfo(other);
	if (marker)
		appendStringInfoChar(other, sender->reader.dialect->quote);
	appendBinaryStringInfo(other, record->data, record->length);
	if (marker)
		appendStringInfoChar(other, sender->reader.dialect->quote);
	appendStringInfoString(other, leaf->eol == FC_EOL_CR ? "\r" : leaf->eol == FC_EOL_CRNL ? "\r\n" : "\n");
	return fc_remote_copy_put(leaf->copy, other->data, other->len);
}

static void
fc_send_to(FcSender *sender, FcSendLeaf *leaf, const FcRecord *record)
{
	if (!leaf->pending || leaf->left || record->offset < leaf->resume)
		return;
	if ((leaf->copy == NULL || leaf->records == 0 || leaf->eol != sender->reader.dialect->eol) &&
		!fc_send_reach(sender, leaf, record))
		return;
	leaf->chunk = sender->chunk;
	leaf->records++;
	leaf->sent.bytes += record->total;
	sender->bytes += record->total;
	if (!fc_send_bytes(sender, leaf, record))
		fc_send_end_leaf(sender, leaf);
}

/* A record that no leaf takes is refused, unless others look after it */
static void
fc_send_nowhere(FcSender *sender, const FcRecord *record)
{
	if (!sender->plan.load.whole)
		return;
	if (sender->plan.load.makes)
		sender->missing = sender->ended = true;
	else
		fc_error_keep(sender->ctx->shared, FC_ERROR_ROUTE, record->offset, record->length, NULL);
}

static void
fc_send_record(FcSender *sender, const FcRecord *record)
{
	const FcDispatchLeaf *leaf;
	ErrorData  *edata = fc_dispatch_find(sender->dispatch, record, &leaf);

	if (edata)
		fc_error_keep(sender->ctx->shared, FC_ERROR_DATA, record->offset, record->length, edata);
	else if (leaf == NULL)
		fc_send_nowhere(sender, record);
	else if (leaf->foreign)
		fc_send_to(sender, &sender->leaves[leaf->number], record);
}

/* Goes to the next chunk with records; false at the end of the file */
static bool
fc_send_enter(FcSender *sender)
{
	FcShared   *shared = sender->ctx->shared;

	while (!sender->in_chunk && sender->chunk < shared->source.nchunks)
	{
		CHECK_FOR_INTERRUPTS();
		sender->in_chunk = fc_chunk_reader_enter(&sender->reader, sender->chunk);
		sender->chunk += !sender->in_chunk;
	}
	return sender->in_chunk;
}

/* Leaves the current chunk; the first pass over a whole file counts it */
static void
fc_send_leave(FcSender *sender)
{
	if (sender->reader.unsplit == FC_UNSPLIT_FIND)
		fc_chunk_reader_leave(&sender->reader);
	else
		fc_error_check_count(sender->ctx, sender->chunk, sender->reader.found);
	sender->in_chunk = false;
	sender->chunk++;
}

bool
fc_send_step(void *arg)
{
	FcSender   *sender = arg;
	FcContext  *ctx = sender->ctx;
	MemoryContext old;

	if (sender->ended || !fc_send_enter(sender))
	{
		sender->ended = true;
		return false;
	}
	old = MemoryContextSwitchTo(sender->row_mcxt);
	for (int i = 0; i < FC_SEND_STEP && !sender->ended; i++)
	{
		if (!fc_chunk_reader_next(&sender->reader))
		{
			fc_send_leave(sender);
			break;
		}
		fc_send_record(sender, &sender->reader.record);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(sender->row_mcxt);
	/* where core routes, workers count the bytes of all chunks */
	if (sender->plan.load.whole || !fc_shared_routed(ctx->shared))
		pg_atomic_fetch_add_u64(&ctx->shared->counts.load_bytes, sender->bytes);
	sender->bytes = 0;
	CHECK_FOR_INTERRUPTS();
	fc_context_progress(ctx);
	return true;
}

/* Ends all COPYs: all servers are told before the first one is waited for */
static void
fc_send_end_all(FcSender *sender)
{
	for (int i = 0; i < sender->nleaves && !sender->missing; i++)
		if (sender->leaves[i].copy)
			(void) fc_remote_copy_finish(sender->leaves[i].copy);
	for (int i = 0; i < sender->nleaves; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (sender->leaves[i].copy && sender->missing)
		{
			fc_remote_copy_abandon(sender->leaves[i].copy);
			sender->leaves[i].copy = NULL;
		}
		else if (sender->leaves[i].copy)
			fc_send_end_leaf(sender, &sender->leaves[i]);
	}
}

/* Begins a pass for the leaves that the last one has left; false: none is */
static bool
fc_send_again(FcSender *sender)
{
	uint64		from = PG_UINT64_MAX;

	for (int i = 0; i < sender->nleaves; i++)
	{
		FcSendLeaf *leaf = &sender->leaves[i];

		leaf->pending = leaf->left;
		leaf->left = false;
		leaf->resume = leaf->left_from;
		if (leaf->pending)
			from = Min(from, leaf->resume);
	}
	sender->reader.unsplit = FC_UNSPLIT_NOT;
	sender->in_chunk = false;
	sender->ended = from == PG_UINT64_MAX;
	if (!sender->ended)
		sender->chunk = fc_lines_chunk(sender->ctx->shared, from);
	return !sender->ended;
}

bool
fc_send_finish(FcSender *sender)
{
	do
	{
		while (fc_send_step(sender))
			;
		fc_send_end_all(sender);
	} while (!sender->missing && fc_send_again(sender));
	return !sender->missing;
}

void
fc_send_end(FcSender *sender)
{
	fc_chunk_reader_end(&sender->reader);
	fc_dispatch_end(sender->dispatch);
	fc_parse_end(sender->parser);
	fc_executor_end(sender->estate);
	MemoryContextDelete(sender->mcxt);
}

uint64
fc_send_rows(const FcSender *sender)
{
	uint64		rows = 0;

	for (int i = 0; i < sender->nleaves; i++)
		rows += sender->leaves[i].sent.rows;
	return rows;
}

int
fc_send_count(const FcSender *sender)
{
	return sender->nleaves;
}

FcElsewhereSent
fc_send_sent(const FcSender *sender, int i)
{
	const FcSendLeaf *leaf = &sender->leaves[i];
	const FcShard *shard = leaf->leaf->shard;
	FcElsewhereSent sent = leaf->sent;

	if (sent.rows == 0)
		return sent;
	sent.name = shard ? fc_shard_relname(sent.leaf, shard) : get_rel_name(sent.leaf);
	sent.choice = psprintf("sent to server \"%s\"%s%s", fc_remote_server(sent.leaf, shard),
						   leaf->fast ? " and its fast_copy" : "",
						   leaf->leaf->table ? ", new" : "");
	return sent;
}
