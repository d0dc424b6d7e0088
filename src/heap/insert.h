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
	FcTurn	   *turn;			/* NULL: no other slice of this table */
	uint32		slice;			/* which one of them */
	Size		memory;			/* bytes to keep while it is not our turn */
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

/* Sleeps until the slice before has written all its rows */
extern void fc_write_wait_turn(FcWriter *writer);

/* Is it our turn, as far as can be told without sleeping? */
extern bool fc_write_has_turn(FcWriter *writer);

/* Lets the next slice write, after all before it */
extern void fc_write_pass_turn(FcWriter *writer);

/* Counts rows that are in the table now */
extern void fc_write_count(FcWriter *writer, int n);

/*
 * Calls body(arg), which may insert into the heap or its TOAST table, in a
 * worker too: see there
 */
extern void fc_write_as_leader(Relation rel, void (*body) (void *), void *arg);

#endif							/* FC_INSERT_H */
