/*-------------------------------------------------------------------------
 *
 * citus/citus.h
 *	  Tables of Citus: what it says of them, their shards, its servers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CITUS_H
#define FC_CITUS_H

#include "access/attnum.h"
#include "fmgr.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

/*
 * citus/catalog.c
 */

/* A column that is wanted */
typedef struct FcCitusColumn
{
	const char *name;
	Oid			type;			/* InvalidOid: any type, read as text */
} FcCitusColumn;

/* As many are read of a table */
#define FC_CITUS_COLUMNS	7

/* Goes over a table's rows */
typedef struct FcCitusScan
{
	Relation	rel;
	struct SysScanDescData *scan;
	int			n;
	const FcCitusColumn *columns;
	AttrNumber	attnums[FC_CITUS_COLUMNS];
	Datum		values[FC_CITUS_COLUMNS];	/* of the current row */
	bool		nulls[FC_CITUS_COLUMNS];
} FcCitusScan;

/*
 * Is Citus created in this database, and loaded, in a version that lets others
 * write to shards?
 */
extern bool fc_citus_is_here(void);

/*
 * Begins to read the table of Citus' of this name, as it is now, whatever the
 * caller may read and however old the transaction's snapshot is.  ERROR 0A000
 * if it is not there or lacks one of n columns: an unknown version.  The
 * columns are not copied.
 */
extern FcCitusScan fc_citus_scan(const char *name, const FcCitusColumn *columns, int n);

/*
 * Sets values and nulls to those of the columns of the next row; a column of
 * any type to a C string.  False after the last row, which ends the scan.
 */
extern bool fc_citus_next(FcCitusScan *scan);

/* Locks the table of this name until the transaction ends */
extern void fc_citus_lock(const char *name, LOCKMODE lock);

/*
 * citus/nodes.c
 */

/* The primary of a group, which takes the group's writes */
typedef struct FcCitusNode
{
	int32		id;
	int32		group;
	char	   *host;
	int32		port;
	bool		active;
} FcCitusNode;

/* Returns the primaries of all groups, active or not: FcCitusNode */
extern List *fc_citus_nodes(void);

/* Finds the primary of a group in such a list; or NULL */
extern const FcCitusNode *fc_citus_node_of(const List *nodes, int32 group);

/* Is the node to be reached by a pooler instead? */
extern bool fc_citus_node_is_pooled(const FcCitusNode *node);

/*
 * Returns the connection string that Citus would connect with, but for host,
 * port, user and database.  It may have a password.
 */
extern char *fc_citus_node_conninfo(const FcCitusNode *node, const char *role);

/* Seconds that Citus gives a connection to be made */
extern int	fc_citus_node_timeout(void);

/*
 * citus/shards.c
 */

/*
 * Groups with numbers below this one are served: remote/conninfo.h turns these
 * into numbers that no user's object has as its OID
 */
#define FC_CITUS_GROUPS	16383

typedef struct FcShard
{
	int64		id;
	int32		low;			/* of hashes, both included */
	int32		high;
	int			nplaces;		/* that have it */
	int32		group;			/* of the nodes: the only one */
} FcShard;

typedef struct FcShards
{
	AttrNumber	attnum;			/* of the column that is hashed; 0: there is
								 * one shard, for all rows */
	FmgrInfo	hash;
	FunctionCallInfo call;		/* of it */
	int			n;
	FcShard    *list;			/* by their hashes, without a gap */
} FcShards;

/*
 * Reads the shards of a table that Citus lists, in the current memory context.
 * NULL, with the reason in *why, a sentence: its rows cannot be sent to them.
 */
extern FcShards *fc_shards_read(Oid table, const char **why);

/*
 * Locks the shards, as Citus' own COPY does, so that none is moved or split
 * before the transaction ends; then reads them again.
 */
extern FcShards *fc_shards_lock(Oid table, const char **why);

/* Finds the shard of a value of the column, which is not null */
extern const FcShard *fc_shards_find(FcShards *shards, Datum value);

/* The name of the shard's own table, without its schema, not quoted */
extern char *fc_shard_relname(Oid table, const FcShard *shard);

#endif							/* FC_CITUS_H */
