/*-------------------------------------------------------------------------
 *
 * heap/writer.h
 *	  Puts rows into one table, by one writer or the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITER_H
#define FC_WRITER_H

#include "errors/first_error.h"
#include "sort/spill.h"

typedef struct FcWriter FcWriter;

/* The current slice: what a process inserts in one turn */
typedef struct FcSlice
{
	FcTurn	   *turn;			/* NULL: rows do not wait for a turn, or it is
								 * over */
	uint32		number;			/* of the slice */
} FcSlice;

/* The table that a writer's rows go to, and what its writers share */
typedef struct FcDestination
{
	FcStorage	storage;
	FcTurn	   *turn;			/* of the table: counts its rows */
	bool		sliced;			/* writers insert one after another, and each
								 * goes on at turn->spot */
	FcSlice    *slice;			/* the process's current slice, whose turn it
								 * waits for */
	Size		memory;			/* bytes of rows that the process may hold
								 * while it has no turn */
} FcDestination;

typedef struct FcWriterRoutine
{
	Size		size;			/* of the struct that begins with FcWriter */
	bool		patient;		/* "end" can be called long after the last
								 * "put": it only needs the open table */
	void		(*begin) (FcWriter *writer);
	void		(*put) (FcWriter *writer, uint64 offset, uint32 length);
	/* of a batch; returns how many it took.  NULL: rows are put one by one */
	int			(*put_rows) (FcWriter *writer, const FcBatchColumn *columns, int from, int to);
	/* takes spilled tuples */
	void		(*put_spilled) (FcWriter *writer, const FcSpilledRow *rows, int n);
	void		(*flush) (FcWriter *writer);
	void		(*end) (FcWriter *writer);	/* flushes before */
} FcWriterRoutine;

struct FcWriter
{
	const FcWriterRoutine *routine;
	FcContext  *ctx;
	EState	   *estate;
	ResultRelInfo *rri;
	Relation	rel;
	TupleTableSlot *slot;		/* where the next row is built */
	FcDestination to;
	CommandId	cid;
	int			options;		/* HEAP_INSERT_* */
	uint64		inserted;		/* rows; patient: also those that wait */
	Size		held;			/* bytes of rows not inserted yet */
	FcSlice		slice;			/* deferred: its own copy */
	Relation	toast;			/* stays open, see fc_write_open_toast */
	Relation   *toast_indexes;
	int			ntoast_indexes;
};

/*
 * heap/multi_insert.c: the writer that is right for any table; and
 * heap/page_writer.c: one that forms pages itself, for tables without indexes
 */
extern const FcWriterRoutine fc_write_multi;
extern const FcWriterRoutine fc_write_page;

/*
 * heap/writer.c
 */

/*
 * Decides how about "rows" rows get into the table, by what it and
 * fast_copy.writer allow: before the load and by the leader, because all
 * processes must do the same.  The table is held (heap/hold.c), and open once
 * more.  With "frozen" rows are frozen as they are written.  A new file is
 * added to the list, which fc_new_end takes after the load.
 */
extern FcStorage fc_write_storage(Relation rel, uint64 rows, bool frozen, List **files);

/*
 * The same for a leaf that core routes to, by the process that finds it first:
 * a leaf that is "routed" gets no new file.
 */
extern FcStorageKind fc_write_kind(Relation rel, uint64 rows, bool routed);

/*
 * The caller has opened and locked rri's relation, and opened its indexes;
 * they must stay open.  The writer lives in the current memory context.
 */
extern FcWriter *fc_write_begin(FcContext *ctx, EState *estate,
								ResultRelInfo *rri, const FcDestination *to);

/*
 * Takes copies of the rows of a batch from "from" to before "to", none of
 * which is odd; the columns are those of the writer's table
 */
extern void fc_write_put_rows(FcWriter *writer, const FcBatch *batch, const FcBatchColumn *columns,
							  int from, int to);

/* Takes a copy of the row in its slot; offset and length are its record's */
#define fc_write_put(writer, offset, length) ((writer)->routine->put(writer, offset, length))

/* Takes copies of spilled rows */
#define fc_write_put_spilled(writer, rows, n) ((writer)->routine->put_spilled(writer, rows, n))

/* Inserts all rows put so far */
#define fc_write_flush(writer) ((writer)->routine->flush(writer))

/* Flushes and frees the writer; returns how many rows it inserted */
extern uint64 fc_write_end(FcWriter *writer);

/*
 * Calls body(arg), which may insert into the writer's heap and TOAST table.
 * It may insert even in a worker, where core would refuse that; the leader
 * counts the rows.
 */
extern void fc_write_as_leader(FcWriter *writer, void (*body) (void *), void *arg);

/*
 * heap/count.c: rows that workers insert, in the leader's statistics of their
 * tables
 */

/*
 * Worker: hands the rows that core has counted in this process over to the
 * leader, if the leader has the tables open; with "last", in any case.
 * "toast" is NULL if there is none.  Does nothing in the leader.  Does not
 * throw.
 */
extern void fc_count_hand_over(FcTurn *turn, Relation heap, Relation toast, bool last);

/*
 * Leader: opens the table of a turn, which it has locked, to count rows of
 * workers until fc_count_take closes it
 */
extern void fc_count_open(FcContext *ctx, uint32 turn);

/*
 * Leader: counts the rows that workers have handed over so far; opens nothing.
 * With "last", when all workers have ended, closes the tables.
 */
extern void fc_count_take(FcContext *ctx, bool last);

/*
 * heap/turn.c: whose turn it is to insert into a table
 */

/*
 * Sleeps until the turn of the slice before is over; ends deferred writers
 * meanwhile, as their turns come.
 */
extern void fc_turn_wait(FcContext *ctx, const FcSlice *slice);

/* Has the slice's turn come?  Does not sleep. */
extern bool fc_turn_has_come(const FcSlice *slice);

/* Waits for the slice's own turn, and lets the next slice insert */
extern void fc_turn_pass(FcContext *ctx, FcSlice *slice);

/*
 * Ends the only writer of a slice, which has all its rows, and lets the next
 * slice insert; or leaves both to a later call of these functions, when the
 * slice's turn has come.  Returns how many rows the writer inserts.
 */
extern uint64 fc_turn_end_slice(FcWriter *writer);

/* Ends a deferred writer whose turn has come; false if there is none */
extern bool fc_turn_take_deferred(FcContext *ctx);

/* Waits for the turns of all deferred writers */
extern void fc_turn_finish(FcContext *ctx);

/*
 * heap/tuple.c: tuples of rows, many at a time
 */

typedef struct FcForm FcForm;

/*
 * For tuples of this row type of at most "max" bytes; bare: fc_form_rows
 * leaves out the headers of rows without NULLs.  Lives in the current memory
 * context.
 */
extern FcForm *fc_form_begin(TupleDesc desc, Size max, bool bare);

/*
 * Returns the header of all tuples; the caller sets the fields that an insert
 * sets
 */
extern HeapTupleHeader fc_form_head(FcForm *form);

/* Is one of the n true?  Looks at eight at a time. */
static inline bool
fc_form_any_null(const bool *nulls, int n)
{
	uint64		any = 0;
	uint64		word;
	uint32		half;

	for (; n >= (int) sizeof(word); n -= sizeof(word), nulls += sizeof(word))
	{
		memcpy(&word, nulls, sizeof(word));
		any |= word;
	}
	if (n >= (int) sizeof(half))
	{
		memcpy(&half, nulls, sizeof(half));
		any |= half;
		n -= sizeof(half);
		nulls += sizeof(half);
	}
	while (n-- > 0)
		any |= *nulls++;
	return any != 0;
}

/*
 * For the rows of a batch from "from" to before "to", none of which is odd, by
 * its columns in the order of the tuples': sets the lengths of their tuples,
 * and 0 for one that is too long.  None has an external or expanded value.
 * Element 0 is of row "from".
 */
extern void fc_form_lengths(FcForm *form, const FcBatchColumn *columns, int from, int to,
							uint32 *lengths);

/* Which of the rows of the last fc_form_lengths have a NULL; NULL: none */
extern const bool *fc_form_has_null(const FcForm *form);

/*
 * Forms these rows at the addresses in "rows", in bytes that are zero; none
 * has the length 0
 */
extern void fc_form_rows(FcForm *form, const FcBatchColumn *columns, int from, int to,
						 char **rows);

/*
 * heap/entries.c: entries of indexes that were there
 */

/* One row of a batch, and its record */
typedef struct FcMultiRow
{
	HeapTuple	tuple;
	TupleTableSlot *slot;		/* has the tuple while it is inserted */
	uint64		offset;
	uint32		length;
} FcMultiRow;

/* Rows that get their entries together, at most */
#define FC_ENTRIES_ROWS	1000

typedef struct FcEntries FcEntries;

/*
 * For a table whose indexes are open; in the parent of a memory context that is
 * reset after each batch
 */
extern FcEntries *fc_entries_begin(FcContext *ctx, EState *estate, ResultRelInfo *rri,
								   MemoryContext mcxt);

/*
 * Inserts the entries of rows that are in the table.  Errors are kept, each for
 * its row; a row after a known bad one gets none.
 */
extern void fc_entries_insert(FcEntries *entries, const FcMultiRow *rows, int n);

/*
 * What the index has of a row, as core forms it; false if the predicate leaves
 * the row out
 */
extern bool fc_entries_values(IndexInfo *info, TupleTableSlot *slot, EState *estate,
							  Datum *values, bool *isnull);

#endif							/* FC_WRITER_H */
