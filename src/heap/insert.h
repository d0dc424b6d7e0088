/*-------------------------------------------------------------------------
 *
 * heap/insert.h
 *	  What all writers have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INSERT_H
#define FC_INSERT_H

#include "nodes/execnodes.h"

#include "context/shared.h"
#include "sort/spill.h"

typedef struct FcWriter FcWriter;

/* The current slice: what a process inserts in one turn */
typedef struct FcSlice
{
	FcTurn	   *turn;			/* NULL: rows do not wait for a turn */
	uint32		number;			/* of the slice */
	bool		mine;			/* its turn has come, and is not over */
} FcSlice;

/* The table that a writer's rows go to, and what its writers share */
typedef struct FcDestination
{
	FcStorage	storage;
	FcTurn	   *turn;			/* of the table: counts its rows */
	bool		sliced;			/* writers insert one after another, and each
								 * goes on at turn->spot */
	FcSlice    *slice;			/* the process's current slice, whose turn it
								 * waits for; NULL: none */
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
	Size		held;			/* patient: bytes of rows not inserted yet */
	FcSlice		slice;			/* deferred: its own copy */
	ResourceOwner owner;		/* deferred: of the reference to rel */
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

/* May the table be written in pages? */
extern bool fc_write_page_can(Relation rel);

/* Flushes and frees the writer; returns how many rows it inserted */
extern uint64 fc_write_end(FcWriter *writer);

/*
 * Calls body(arg), which may insert into the writer's heap and TOAST table.
 * It may insert even in a worker, where core would refuse that; the leader
 * counts the rows.
 */
extern void fc_write_as_leader(FcWriter *writer, void (*body) (void *), void *arg);

/* Lets core insert the rows in n slots */
extern void fc_write_insert(FcWriter *writer, TupleTableSlot **slots, int n,
							struct BulkInsertStateData *bistate);

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
 * workers until fc_count_end
 */
extern void fc_count_open(FcContext *ctx, uint32 turn);

/*
 * Leader: counts the rows that workers have handed over so far; opens nothing
 */
extern void fc_count_take(FcContext *ctx);

/* Leader: counts them for the last time, and closes the tables */
extern void fc_count_end(FcContext *ctx);

#endif							/* FC_INSERT_H */
