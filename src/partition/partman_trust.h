/*-------------------------------------------------------------------------
 *
 * partition/partman_trust.h
 *	  Whose pg_partman it is, and who has a hand in what it runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARTMAN_TRUST_H
#define FC_PARTMAN_TRUST_H

#include "access/htup.h"

#include "partition/partman.h"

/* A search for the pg_partman of one table */
typedef struct FcPartmanSearch
{
	FcPartman  *partman;		/* what is found */
	Relation	parent;
	Oid			extension;
	Oid			schema;
	Oid			owner;			/* of the extension */
	Oid			config;			/* part_config, or InvalidOid */
	Oid			config_sub;
	TupleDesc	desc;			/* of part_config ... */
	HeapTuple	row;			/* ... and the row of the table */
} FcPartmanSearch;

/* Notes why pg_partman makes no partitions that we could imitate */
extern void fc_partman_refuse(FcPartman *partman, int sqlerrcode, char *detail);

/*
 * Could the role run code in this load anyway?  So could who loads, and who
 * owns the table or may act as its owner, by a constraint for instance.
 */
extern bool fc_partman_trusts(const FcPartmanSearch *search, Oid role);

/* Warns if it is another's, whose table and functions are not looked at */
extern bool fc_partman_is_trusted(const FcPartmanSearch *search);

/*
 * A function that has the schema of pg_partman in its search_path, as those
 * of 5.x do, ahead of pg_catalog, runs whatever it finds there.  A refusal if
 * somebody not trusted has a hand in that.
 */
extern void fc_partman_check_schema(FcPartmanSearch *search);

#endif							/* FC_PARTMAN_TRUST_H */
