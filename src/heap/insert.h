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
	Size		memory;			/* bytes that the process may keep before
								 * turns */
} FcPlace;

typedef struct FcWriterRoutine
{
	Size		size;			/* of the struct that begins with FcWriter */
	bool		patient;		/* "end" needs the open table and no more */
	void		(*begin) (FcWriter *writer);
	void		(*put) (FcWriter *writer, uint64 offset, uint32 length);
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
	FcPlace		place;
	CommandId	cid;
	int			options;		/* HEAP_INSERT_* */
	uint64		inserted;		/* with those that are put and will be */
	Size		held;			/* patient: bytes of rows not inserted yet */
	FcSlice		slice;			/* deferred: its own copy */
	ResourceOwner owner;		/* deferred: of the reference to rel */
	Relation	toast;			/* kept open, see fc_write_open_toast */
	Relation   *toast_indexes;
	int			ntoast_indexes;
};

/*
 * Sleeps until the slice before has inserted all its rows; ends deferred
 * writers meanwhile, as their turns come.
 */
extern void fc_turn_wait(FcContext *ctx, FcSlice *slice);

/* Has the slice's turn come?  Does not sleep. */
extern bool fc_turn_has_come(const FcSlice *slice);

/* Waits for the slice's own turn, and lets the next slice insert */
extern void fc_turn_pass(FcContext *ctx, FcSlice *slice);

/*
 * Lets the writer, which has all rows of its slice, end when its turn comes,
 * and takes the slice over; ctx has the writer then.  False, and nothing was
 * done, if it must end now: its turn has come, there is no memory to wait, or
 * it is not patient.
 */
extern bool fc_turn_defer(FcContext *ctx, FcWriter *writer);

/* Ends a deferred writer whose turn has come; false if there is none */
extern bool fc_turn_take_deferred(FcContext *ctx);

/* Waits for the turns of all deferred writers */
extern void fc_turn_finish(FcContext *ctx);

/* Flushes, gives all back, and returns how many rows the writer inserted */
extern uint64 fc_write_end(FcWriter *writer);

/* Counts n rows as inserted */
extern void fc_write_count(FcContext *ctx, int n);

/* Keeps a relation open beyond its user, until the owner's reference is gone */
extern ResourceOwner fc_relation_hold(Relation rel);
extern void fc_relation_release(Relation rel, ResourceOwner owner);

/*
 * Calls body(arg), which may insert into rel's heap or TOAST table, also in a
 * worker
 */
extern void fc_write_as_leader(Relation rel, void (*body) (void *), void *arg);

#endif							/* FC_INSERT_H */
