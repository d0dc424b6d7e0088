/*-------------------------------------------------------------------------
 *
 * heap/writer.h
 *	  Rows into one table, whichever writer puts them there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WRITER_H
#define FC_WRITER_H

#include "access/htup.h"
#include "nodes/execnodes.h"

#include "context/shared.h"
#include "heap/page_new.h"

typedef struct FcWriter FcWriter;

/* fast_copy.writer */
typedef enum FcWriterChoice
{
	FC_WRITER_AUTO,
	FC_WRITER_MULTI_INSERT,
	FC_WRITER_PAGE
} FcWriterChoice;

/* Where a writer's rows belong */
typedef struct FcPlace
{
	FcStorage	storage;
	FcTurn	   *turn;			/* NULL: no other slice of this table */
	uint32		slice;			/* which one of them */
	Size		memory;			/* bytes to keep while it is not our turn */
} FcPlace;

/*
 * What the table and fast_copy.writer allow, for about so many rows.  To be
 * asked by the leader before the load, with a table that is held and open once
 * more: all processes must go the same way.  A
 * new file for the table, if it gets one, is added to the list of FcNewFile;
 * after the load it is handed to fc_new_end.
 */
extern FcStorage fc_write_storage(Relation rel, uint64 rows, List **files);

/*
 * rri's relation is open and locked, its indexes are open
 */
extern FcWriter *fc_write_begin(FcContext *ctx, EState *estate,
								ResultRelInfo *rri, const FcPlace *place);

/* The slot, in the table's row type, to build the next row in */
extern TupleTableSlot *fc_write_slot(FcWriter *writer);

/*
 * Takes the row in that slot, whose values may go then; offset and length are
 * its record's
 */
extern void fc_write_put(FcWriter *writer, uint64 offset, uint32 length);

/* All rows put so far are in the table then, or on their way to its file */
extern void fc_write_flush(FcWriter *writer);

/* Flushes, lets the next slice write, and returns the rows inserted */
extern uint64 fc_write_end(FcWriter *writer);

/*
 * At the end of the phase, in each process: returns when what its writers have
 * left on its way is there
 */
extern void fc_write_finish(FcContext *ctx);

/*
 * For the writers themselves.
 */
typedef struct FcWriterRoutine
{
	Size		size;			/* of the struct that begins with FcWriter */
	void		(*begin) (FcWriter *writer);
	void		(*put) (FcWriter *writer, uint64 offset, uint32 length);
	void		(*flush) (FcWriter *writer);
	void		(*end) (FcWriter *writer);
} FcWriterRoutine;

struct FcWriter
{
	const FcWriterRoutine *routine;
	FcContext  *ctx;
	EState	   *estate;
	ResultRelInfo *rri;
	Relation	rel;
	TupleTableSlot *slot;		/* where the next row is built */
	FcPlace		place;
	bool		my_turn;
	CommandId	cid;
	int			options;		/* HEAP_INSERT_* */
	uint64		inserted;
	Relation	toast;			/* kept open, see fc_write_open_toast */
	Relation   *toast_indexes;
	int			ntoast_indexes;
};

/* Sleeps until the slice before has written all its rows */
extern void fc_write_wait_turn(FcWriter *writer);

/* Is it our turn, as far as can be told without sleeping? */
extern bool fc_write_has_turn(FcWriter *writer);

/* Counts rows that are in the table now */
extern void fc_write_count(FcWriter *writer, int n);

/*
 * Calls body(arg), which may insert into the heap or its TOAST table, in a
 * worker too: see there
 */
extern void fc_write_as_leader(Relation rel, void (*body) (void *), void *arg);

#endif							/* FC_WRITER_H */
