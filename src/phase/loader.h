/*-------------------------------------------------------------------------
 *
 * phase/loader.h
 *	  The state of a process that loads rows, or looks at them again.  For
 *	  phase/ alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOADER_H
#define FC_LOADER_H

#include "executor/execPartition.h"
#include "utils/hsearch.h"

#include "elsewhere/elsewhere.h"
#include "heap/writer.h"
#include "sort/order_by.h"

/* Most writers that are open at once where rows go to any leaf */
#define FC_LEAF_WRITERS	1024

/* A column that an expression reads */
typedef struct FcSeenColumn
{
	int			attr;			/* in the slot, from 0 */
	int			column;			/* of the batch; -1: dropped */
} FcSeenColumn;

/* What expressions read of a row */
typedef struct FcSeen
{
	int			n;
	FcSeenColumn columns[FLEXIBLE_ARRAY_MEMBER];
} FcSeen;

/* A table that rows go to */
typedef struct FcLeaf
{
	ResultRelInfo *rri;			/* hash key if core routes; NULL: not open */
	AttrMap    *map;			/* from the target's type; NULL: the same */
	bool		plain;			/* it takes every row without a NULL in a NOT
								 * NULL column */
	bool		spilled;		/* it takes spilled rows as they are, but that
								 * its CHECKs, if it is not plain, must be
								 * evaluated, perhaps twice */
	bool		refuses;		/* rows come to it by a default partition,
								 * which missing_partitions "error" forbids */
	FcWriter   *writer;			/* or NULL */
	TupleTableSlot *slot;		/* where its rows are built: the writer's; its
								 * own if there is no writer */
	AttrNumber	mark;			/* of a stage, the column that says which rows
								 * are delete marks; else 0 */

	FcTurn	   *turn;			/* if core routes: its entry in ctx->turns;
								 * else NULL */

	/* phase/look.c */
	bool		rows;			/* rows of batches may be written by columns */
	FcSeen	   *seen;			/* what its CHECKs and generated columns read;
								 * NULL: it has none */
	ExprState **generated;		/* by column; NULL: not made yet */
	int			nrequired;
	int		   *required;		/* columns of a batch that must be set */
	FcBatchColumn *columns;		/* a batch's, if there is a map */
	int			nrows;			/* during fc_look_order: its rows in the
								 * batch */
	int			at;

	/* set if core routes and rows are sorted */
	int32		number;
	AttrMap    *to_root;		/* back to the target's row type */

	List	   *indexes;		/* phase/verify.c: IndexInfos of those that a
								 * new partition will have */
} FcLeaf;

/* Core's tuple routing */
typedef struct FcRouter
{
	ModifyTableState *mtstate;
	PartitionTupleRouting *proute;	/* NULL: leaves are known otherwise */
	HTAB	   *leaves;			/* FcLeaf: those found so far */
	FcRoute    *route;			/* the partitions by their keys; NULL: only
								 * core can tell them */
	FcLeaf	  **known;			/* by number in route: the leaf, once core has
								 * routed a row to it */
	int			last;			/* the number in route found last; or -1 */
	FcTree	   *tree;			/* an analysis: of partitions that would be
								 * made; or NULL */
	uint32		nturns;			/* first entries of ctx->turns, which have all
								 * leaves that this process has found */
	Size		pending;		/* about how many bytes the leaves hold */
} FcRouter;

/* The sort before rows are written */
typedef struct FcSorter
{
	FcSort	   *sort;			/* of the leaf, or of all; NULL: none */
	List	   *leaves;			/* FcLeaf by number, if core routes */
	TupleTableSlot *slot;		/* if core routes: a row in the target's row
								 * type */
} FcSorter;

/* The tasks that the process has taken */
typedef struct FcTasks
{
	FcTask	   *last;			/* the one taken last */
	int64		start;			/* of the current one, fc_pace_clock() */
	uint64		bytes;			/* of rows, not yet in
								 * shared->counts.load_bytes */

	/* set if the file is presorted */
	FcTask	   *slice;			/* current one of the chunk's */
	int64		key;			/* of the current record */
	int64		low;			/* the lowest of the chunk so far */
} FcTasks;

/* What became of a row */
typedef enum FcOutcome
{
	FC_ROW_BUILT,
	FC_ROW_FILTERED,			/* the condition is not true */
	FC_ROW_CHANGED,				/* the file has another row there than at the
								 * scan */
	FC_ROW_MARKED,				/* a delete mark, and no partition has a row
								 * like it */
	FC_ROW_REFUSED				/* "bad" says why */
} FcOutcome;

/* The current row */
typedef struct FcRow
{
	const FcRecord *record;
	bool		keyed;			/* the scan found it by "key", which it must
								 * have */
	bool		reread;			/* its bytes were read from the file again */
	bool		key_null;
	int64		key;
	bool		parsed;
	bool		marked;			/* it is a delete mark */
	FcOutcome	outcome;
	FcBad		bad;
} FcRow;

/* Rows of a batch that are looked at */
typedef struct FcLooked
{
	FcSeen	   *where;			/* what the condition reads; or NULL */
	FcLeaf		out;			/* of rows that the condition is not true for */
	bool		each;			/* a plain leaf may refuse some rows */
	FcLeaf	   *leaves[FC_BATCH_ROWS];	/* of rows before "at" */
	uint64		offsets[FC_BATCH_ROWS]; /* of records of rows that are looked
										 * at */
	uint32		lengths[FC_BATCH_ROWS];
	int			at;				/* the current row */
	int			to;
	FcErrorKind kind;			/* of an error that it throws now */
} FcLooked;

typedef struct FcLoader
{
	FcContext  *ctx;
	EState	   *estate;
	ResultRelInfo *root;		/* the target */
	TupleTableSlot *root_slot;
	FcParser   *parser;
	FcBatch    *batch;			/* NULL: records are taken one by one */
	FcLooked	   *look;			/* NULL: so are rows of the batch */
	uint64		number;			/* in the file, of the batch's first record */
	FcRecord	batched;		/* of the row that is taken from it */
	const FcElsewhere *elsewhere;	/* of dispatch */
	FcDispatch *dispatch;		/* finds the records that go to other servers,
								 * which are passed over; NULL: there are
								 * none */
	ExprState  *where;			/* the condition; NULL if the scan evaluates
								 * it */
	ExprState  *where_again;	/* the scan's condition, for rows that are
								 * read again; or NULL */
	ExprState  *mark;			/* delete_where, or NULL */
	const FcRange *bounds;		/* keys that rows may have; NULL: the scan has
								 * checked them, or all are allowed */
	MemoryContext row_mcxt;		/* reset for each row */
	bool		dry;			/* nothing is written */
	uint64		rows;			/* looked at so far, to show progress */
	uint64		by_columns;		/* of these, written by columns */
	FcTasks		tasks;
	FcSlice		slice;			/* of the task or chunk, if it inserts in
								 * turn */
	FcRow		row;

	/* where rows go */
	FcLeaf		only;			/* the leaf of all rows of a task or chunk */
	FcLeaf	   *leaf;			/* of the current row: "only", or the one that
								 * it was routed to; NULL: none takes it */
	TupleTableSlot *slot;		/* where rows are parsed: the leaf's, if it is
								 * known before the row and has the target's
								 * row type; else root_slot */
	FcRouter	router;
	FcSorter	sorter;
	struct FcDedup *dedup;		/* of rows before the sort; NULL: all stay */
} FcLoader;

/* phase/load.c: makes all ready but leaves and writers */
extern void fc_load_begin(FcLoader *loader, FcContext *ctx);

/* Does the record go to another server, so that it is passed over here? */
extern bool fc_load_is_sent(FcLoader *loader, const FcRecord *record);

/* Counts rows that were looked at, and shows progress now and then */
static inline void
fc_load_count(FcLoader *loader, int n)
{
	uint64		before = loader->rows;

	loader->rows += n;
	if (before / 1024 != loader->rows / 1024)
		fc_context_progress(loader->ctx);
}

/*
 * phase/row.c: makes a row of a record, and gives it to the writer or the sort;
 * does nothing if the process has stopped, or an error about an earlier record
 * is known
 */
extern void fc_row_load(FcLoader *loader, const FcRecord *record);

/* The same for row i of the batch, which is not odd */
extern void fc_row_load_batched(FcLoader *loader, int i);

/*
 * The same in two steps: if the first returns true, row_mcxt is current, and
 * the caller puts the values of the record into loader->slot, which is empty
 */
extern bool fc_row_take(FcLoader *loader, const FcRecord *record);
extern void fc_row_load_taken(FcLoader *loader);

/* The key of a row of the target's row type; 0 if it is NULL */
static inline int64
fc_row_key(const FcPlan *plan, const TupleTableSlot *slot, bool *null)
{
	int			i = plan->key.attnum - 1;

	Assert(i >= 0 && i < slot->tts_tupleDescriptor->natts);
	*null = slot->tts_isnull[i];
	return *null ? 0 : fc_key_from_datum(plan->key.type, slot->tts_values[i]);
}

/*
 * Parses the current row into an empty slot, in the current memory context, as
 * far as no error about data can come up
 */
static inline void
fc_row_parse_quickly(FcLoader *loader, TupleTableSlot *slot)
{
	FcRow	   *row = &loader->row;

	row->parsed = fc_parse_quickly(loader->parser, row->record, slot->tts_values,
								   slot->tts_isnull);
}

/* Parses the rest of the current row, and sets its outcome; is it built? */
extern bool fc_row_parse(FcLoader *loader, TupleTableSlot *slot);

/*
 * Finds the leaf of a built row, where core routes; converts the row from the
 * target's row type into the leaf's slot; and checks it
 */
extern void fc_row_place(FcLoader *loader, TupleTableSlot *slot);

/* Gives the row in the leaf's slot to phase/dedup.c, the sort or the writer */
extern void fc_row_put(FcLoader *loader);

static inline bool
fc_row_tolerates(const FcLoader *loader, uint32 class)
{
	return (loader->ctx->shared->plan.tolerated & class) != 0;
}

/* Which CHECK is false for the row in the leaf's slot?  -1: none. */
extern int	fc_row_failed_check(FcLoader *loader, const FcLeaf *leaf);

/*
 * phase/look.c: looks at the rows from "from" to before "to" of the batch,
 * none of which is odd, and writes those that may be written by columns.
 * Returns the first row that it has not written; *alone: that one must be
 * taken alone.  Notes an error about a row.
 */
extern int	fc_look(FcLoader *loader, int from, int to, bool *alone);

/* Once the loader is made */
extern void fc_look_begin(FcLoader *loader);

/*
 * Returns how many of the spilled rows, from the first one on, the current
 * leaf, which is not plain, takes as they are.  The next one must go alone.
 */
extern int	fc_look_spilled(FcLoader *loader, const FcSpilledRow *rows, int n);

/*
 * phase/seen.c: finds the columns of a batch that an expression over rows of
 * this type reads; map: from the batch's type, or NULL
 */
extern FcSeen *fc_seen_begin(TupleDesc desc, const AttrMap *map, Node *expr);

/* Puts row i of the batch into the slot, the columns that are read */
extern void fc_seen_show(const FcBatch *batch, const FcSeen *seen, int i, TupleTableSlot *slot, Relation rel);

/*
 * Makes the values of a spilled row in a slot that is empty.  Expressions may
 * read the size of a value, and COPY shows them none with a short header: none
 * is in the columns that are read.  NULL: all are.
 */
extern void fc_seen_deform(const FcSeen *seen, FcSpilled *spilled, TupleTableSlot *slot);

/* The batch's column for a column, from 0; -1: dropped */
extern int	fc_seen_column(const AttrMap *map, int attr);

/* For each leaf, once it is known whether it is plain */
extern void fc_seen_open(FcLoader *loader, FcLeaf *leaf);
extern void fc_seen_close(FcLeaf *leaf);

/* phase/leaf.c: opens the leaf, unless it is open, with its indexes */
extern void fc_leaf_open(FcLoader *loader, FcLeaf *leaf, Oid oid);
extern void fc_leaf_close(FcLoader *loader, FcLeaf *leaf);

/* Begins a writer for an open leaf, one of several with writers */
extern void fc_leaf_begin_writer(FcLoader *loader, FcLeaf *leaf);

/*
 * Between the two all rows go to this table.  fc_leaf_end() returns the number
 * of rows written.
 */
extern void fc_leaf_begin(FcLoader *loader, Oid oid, const FcDestination *to);
extern uint64 fc_leaf_end(FcLoader *loader);

/*
 * From here to fc_leaf_end_routing() core finds the leaf of each row; or, where
 * keys tell the partition, of the first row of each partition
 */
extern void fc_leaf_begin_routing(FcLoader *loader);

/* Begins the sort of a leaf's rows; NULL: of all rows that core routes */
extern void fc_leaf_begin_sort(FcLoader *loader, const FcLeaf *leaf);
extern void fc_leaf_end_routing(FcLoader *loader);

/* Writes what the leaves hold of a slice, and lets the next slice insert */
extern void fc_leaf_end_slice(FcLoader *loader);

/*
 * Returns the leaf of the parsed row in root_slot, or, where keys tell the
 * partition, of a row with this key, if core has routed another row of the same
 * partition to it; else NULL, and fc_leaf_route() finds it
 */
extern FcLeaf *fc_leaf_find_known(FcLoader *loader);
extern FcLeaf *fc_leaf_known(FcLoader *loader, Datum value, bool null);

/* Converts a row of the target's row type into the leaf's slot */
extern void fc_leaf_take(const FcLeaf *leaf, TupleTableSlot *slot);

/*
 * Finds the leaf of the row in root_slot.  If there is none, returns false if
 * that is tolerated; else throws ERROR 23514.
 */
extern bool fc_leaf_route(FcLoader *loader);

/*
 * After n routed rows, of records with "bytes" bytes: writes what the leaves
 * hold, once that is much
 */
extern void fc_leaf_limit(FcLoader *loader, int n, uint64 bytes);

/* Gives the row in the leaf's slot to the sort, or to the writer */
extern void fc_leaf_write(FcLoader *loader);

/*
 * phase/dedup.c: for the load; NULL if no rows are compared.  Lives in the
 * current memory context.
 */
typedef struct FcDedup FcDedup;

extern FcDedup *fc_dedup_begin(const FcContext *ctx);

/* The next rows are of a task of this leaf; "null": their key is NULL */
extern void fc_dedup_begin_task(FcDedup *dedup, const FcLeaf *leaf, bool null);

/* Takes the row in the leaf's slot, with the key loader->row.key */
extern void fc_dedup_put(FcLoader *loader);

/*
 * Takes spilled rows, with their keys, which the leaf takes as they are;
 * copies those that are needed later
 */
extern void fc_dedup_put_spilled(FcLoader *loader, const FcSpilledRow *rows, int n);

/* Counts a delete mark that has taken so many rows out of the leaf */
extern void fc_dedup_count_mark(FcLoader *loader, uint64 offset, uint32 nold);

/* Lets the rows of the last key pass, at the end of a task */
extern void fc_dedup_finish(FcLoader *loader);

#endif							/* FC_LOADER_H */
