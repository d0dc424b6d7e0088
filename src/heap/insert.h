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

/* A part of what several processes insert in turn */
typedef struct FcSlice
{
	FcTurn	   *turn;			/* NULL: there is no other slice */
	uint32		number;			/* of the slice */
	bool		mine;			/* its turn has come */
} FcSlice;

/* Where a writer's rows belong */
typedef struct FcPlace
{
	FcStorage	storage;
	FcSlice    *slice;			/* the process's slice in hand; NULL: none */
	FcSpot	   *spot;			/* of the table, if it has several slices */
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
	CommandId	cid;
	int			options;		/* HEAP_INSERT_* */
	uint64		inserted;
	Relation	toast;			/* kept open, see fc_write_open_toast */
	Relation   *toast_indexes;
	int			ntoast_indexes;
};

/* Sleeps until the slice before has inserted all its rows */
extern void fc_turn_wait(FcContext *ctx, FcSlice *slice);

/* Has the slice's turn come?  Does not sleep. */
extern bool fc_turn_has_come(const FcSlice *slice);

/* Waits for the slice's own turn, and lets the next slice insert */
extern void fc_turn_pass(FcContext *ctx, FcSlice *slice);

/* Counts n rows as inserted */
extern void fc_write_count(FcWriter *writer, int n);

/*
 * Calls body(arg), which may insert into rel's heap or TOAST table, also in a
 * worker
 */
extern void fc_write_as_leader(Relation rel, void (*body) (void *), void *arg);

#endif							/* FC_INSERT_H */
