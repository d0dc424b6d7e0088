/*-------------------------------------------------------------------------
 *
 * partition/partman_trust.h
 *	  Which roles own pg_partman, and can change what it runs.
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
	FcPartman  *partman;		/* what the search has found */
	Relation	parent;
	Oid			extension;
	Oid			schema;
	Oid			owner;			/* of the extension */
	Oid			config;			/* part_config, or InvalidOid */
	Oid			config_sub;
	TupleDesc	desc;			/* of part_config */
	HeapTuple	row;			/* the table's row in part_config */
} FcPartmanSearch;

/* Notes the first reason why fast_copy cannot make pg_partman's partitions */
extern void fc_partman_refuse(FcPartman *partman, int sqlerrcode, char *detail);

/*
 * May the role act as the owner of the table, as whom pg_partman's functions
 * run?
 */
extern bool fc_partman_trusts(const FcPartmanSearch *search, Oid role);

/*
 * Returns false, with a WARNING, if a role that is not trusted owns
 * pg_partman, its schema or its tables: the load then does not read them, and
 * no error is thrown, so that no role can keep others from loading by
 * installing one
 */
extern bool fc_partman_is_trusted(const FcPartmanSearch *search);

/*
 * Refuses a pg_partman whose functions run what they find in its schema, if a
 * role that is not trusted can put something there.  Those of 5.x do so: they
 * have the schema in their search_path, ahead of pg_catalog.
 */
extern void fc_partman_check_schema(FcPartmanSearch *search);

#endif							/* FC_PARTMAN_TRUST_H */
