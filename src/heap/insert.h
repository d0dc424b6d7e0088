/*-------------------------------------------------------------------------
 *
 * heap/insert.h
 *	  What all writers have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INSERT_H
#define FC_INSERT_H

#include "access/htup.h"
#include "nodes/execnodes.h"

#include "context/shared.h"

typedef struct FcWriter FcWriter;

/* Where a writer's rows belong */
typedef struct FcPlace
{
	FcStorage	storage;
	FcTurn	   *turn;			/* NULL: the table has no other slice */
	uint32		slice;			/* number of the slice */
	Size		memory;			/* bytes of rows to keep before the turn */
} FcPlace;

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

/* Sleeps until the slice before has inserted all its rows */
extern void fc_write_wait_turn(FcWriter *writer);

/* Has the writer's turn come?  Does not sleep. */
extern bool fc_write_has_turn(FcWriter *writer);

/* Waits for the writer's own turn, and lets the next slice write */
extern void fc_write_pass_turn(FcWriter *writer);

/* Counts n rows as inserted */
extern void fc_write_count(FcWriter *writer, int n);

/*
 * Calls body(arg), which may insert into rel's heap or TOAST table, also in a
 * worker
 */
extern void fc_write_as_leader(Relation rel, void (*body) (void *), void *arg);

#endif							/* FC_INSERT_H */
