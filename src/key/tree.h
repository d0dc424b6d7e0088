/*-------------------------------------------------------------------------
 *
 * key/tree.h
 *	  A partitioned table with all that is partitioned below it, and the
 *	  partitions that rows lack.
 *
 * For tables whose rows core routes.  New partitions are like the newest one
 * beside them (FcBranch.newest): of a list they have one value each, of ranges
 * one interval, and if it is partitioned they are, too, with the same bounds.
 *
 * Each process has its own, in the memory context in which it was begun.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TREE_H
#define FC_TREE_H

#include "nodes/execnodes.h"
#include "utils/partcache.h"

#include "key/range.h"

/* A partition that is to be made */
typedef struct FcSprout
{
	struct FcBranch *above;		/* the table that it is a partition of */
	struct FcBranch *branch;	/* itself; NULL: it is not partitioned */
	Oid			copied;			/* the partition whose bound it gets, in the
								 * table that "above" is like; InvalidOid: it
								 * gets a bound of its own */
	Datum		value;			/* of that: by list */
	FcRange		range;			/* ... or by range */
	char	   *name;			/* once it is made */
} FcSprout;

/* A partitioned table: there, or to be made like one that is there */
typedef struct FcBranch
{
	FcSprout   *sprout;			/* NULL: it is there */
	Oid			oid;			/* itself, or the table that it is like */
	PartitionKey key;			/* this and desc: until fc_tree_end() */
	Oid			type;			/* of the key's first column */
	PartitionDesc desc;
	List	   *exprs;			/* ExprState: its key, of a row of the target */
	FcRoute    *route;			/* if it makes partitions by range; else NULL */
	int			newest;			/* of desc; -1: there is none */
	const char *fault;			/* why it makes no partitions; NULL: it does */
	struct FcBranch **children; /* as in desc; NULL: a leaf */
	List	   *sprouts;		/* of bounds of their own, by these */
} FcBranch;

typedef struct FcTree
{
	Relation	target;
	EState	   *estate;
	MemoryContext mcxt;
	FcBranch   *root;
	List	   *opened;			/* Relation: all but the target */
	Bitmapset  *columns;		/* of the target, which tell the leaf, offset
								 * as by pull_varattnos() */
	bool		grows;			/* some table makes partitions */
	bool		zoned;			/* by a zone that only the leader may know */
	const char *fault;			/* where, and why, none are made, or NULL */
	List	   *sprouts;		/* FcSprout, in the order in which they can be
								 * made; from fast_copy.max_partitions on no
								 * more are added */
} FcTree;

/*
 * Opens the tables below the target that are partitioned, and locks them as
 * COPY does
 */
extern FcTree *fc_tree_begin(Relation target);

/*
 * Closes and unlocks them, so that the load sees what others attach; what was
 * found stays
 */
extern void fc_tree_end(FcTree *tree);

/*
 * Does the row go to a partition that is to be made?  Adds that one to the
 * tree.  Evaluates partition keys and compares values, by functions that may be
 * users', as core's routing does.
 */
extern bool fc_tree_find(FcTree *tree, TupleTableSlot *slot);

#endif							/* FC_TREE_H */
