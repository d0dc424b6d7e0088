/*-------------------------------------------------------------------------
 *
 * remote/remote.h
 *	  COPY of raw records into tables on other servers.
 *
 * The leader sends records, as the file has them, into COPY ... FROM STDIN for
 * a foreign table of postgres_fdw, or for a shard of Citus.  A stream has a
 * connection to itself while it lasts.  Connections end with the transaction,
 * and with them what they did there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REMOTE_H
#define FC_REMOTE_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "citus/shards.h"
#include "key/range.h"
#include "remote/member.h"

/* What a server says of a COPY that has failed; strings may be NULL */
typedef struct FcRemoteError
{
	int			sqlerrcode;
	char	   *message;
	char	   *detail;
	char	   *hint;
	char	   *context;		/* without what it says of the stream */
	uint64		line;			/* of the stream, from 1; 0: it named none */
	char	   *field;			/* column and value, in its words */
} FcRemoteError;

/* A table on another server */
typedef struct FcRemotePlace
{
	Relation	rel;			/* the foreign table, or the table of Citus */
	const FcShard *shard;		/* of it; NULL: rel is a foreign table */
} FcRemotePlace;

typedef struct FcRemoteCopy FcRemoteCopy;

/* The name of the server that has the foreign table, or the shard */
extern char *fc_remote_server(Oid table, const FcShard *shard);

/* Options of a COPY there, as its list has them */
typedef struct FcRemoteOptions
{
	char	   *copy;			/* with the encoding */
	char	   *fast;			/* those beside, if the node's fast_copy loads:
								 * into a table that is partitioned there */
} FcRemoteOptions;

/* A table that the load makes on a server, for a new foreign table */
typedef struct FcRemoteTable
{
	Oid			server;
	char	   *schema;			/* there */
	char	   *name;			/* that no other load gives */
	char	   *create;			/* the command that makes it */
	char	   *indexes;		/* those for its indexes; empty: it has none */
} FcRemoteTable;

/*
 * Why raw records of a file cannot go to this foreign table, so that core must
 * load it; NULL: they can.  Looks at catalogs only.
 */
extern const char *fc_remote_refusal(Relation foreign);

/*
 * Says how the caller wants the rows of this transaction to be committed on
 * other servers, before its first fc_remote_copy_begin.  The strictest wish of
 * a transaction counts.  ERROR if a server that has rows already cannot do it.
 */
extern void fc_remote_commit_by(FcRemoteCommit commit);

/*
 * Starts COPY FROM STDIN at the place, as "userid" (the user to check as), on
 * a connection of this transaction, with this session's DateStyle and other
 * settings of that kind.  "attnums": the table's columns that the file has, in
 * its order.  "table" is made first, unless this transaction has made it;
 * NULL: it exists.
 *
 * Returns NULL if another COPY has the connection that has made the table.
 * ERROR if the server cannot be reached, may not be used by the user, cannot
 * commit as the transaction wants to, has a table of other types or with
 * rules, or refuses the COPY.
 */
extern FcRemoteCopy *fc_remote_copy_begin(const FcRemotePlace *place, Oid userid,
										  const List *attnums,
										  const FcRemoteOptions *options,
										  const FcRemoteTable *table);

/*
 * Builds the indexes of the tables that this transaction has made, on all
 * servers side by side.  No COPY runs.  ERROR if a server does not do so.
 */
extern void fc_remote_build_indexes(void);

/*
 * Has this transaction made tables on servers?  Until it commits nobody sees
 * them but the sessions that have made them.
 */
extern bool fc_remote_has_made(void);

/* Is it the node's fast_copy that loads? */
extern bool fc_remote_copy_is_fast(const FcRemoteCopy *copy);

/*
 * Appends whole records with their line ends.  Waits for the server only if a
 * buffer is full.  False: the server has failed already, as fc_remote_copy_end
 * tells.
 */
extern bool fc_remote_copy_put(FcRemoteCopy *copy, const char *bytes, Size len);

/*
 * Tells the server that the stream ends, without waiting for its answer: for
 * all streams before the first fc_remote_copy_end, so that the servers end side
 * by side.  False as fc_remote_copy_put.
 */
extern bool fc_remote_copy_finish(FcRemoteCopy *copy);

/*
 * Ends the stream and frees it; true and *rows of the command tag, or false and
 * *error, in the current memory context
 */
extern bool fc_remote_copy_end(FcRemoteCopy *copy, uint64 *rows, FcRemoteError *error);

/*
 * Cancels the COPY and frees the stream, without throwing.  What the
 * transaction did on that connection is lost, so that it must fail; a
 * subtransaction that is rolled back takes back what was done in it, and
 * needs no call.
 */
extern void fc_remote_copy_abandon(FcRemoteCopy *copy);

/* The table's name without its schema, not quoted */
extern char *fc_remote_relname(const FcRemotePlace *place);

/* The name of its schema there, not quoted */
extern char *fc_remote_schema(Relation foreign);

/* The table's name with its schema, quoted */
extern char *fc_remote_table(const FcRemotePlace *place);

/* The column's name, not quoted */
extern char *fc_remote_column(const FcRemotePlace *place, AttrNumber attnum);

/*
 * ERROR 42804 if the table there has other types for these columns than the
 * foreign table, or rules, which COPY would pass by.  COPY itself throws for a
 * table or a column that is not there.  Returns whether the table is
 * partitioned there.
 */
extern bool fc_agree_check(FcNode *node, const FcRemotePlace *place, const List *attnums);

/* Makes the table; ERROR if the node does not */
extern void fc_make_table(FcMember *member, const FcRemoteTable *table);

/*
 * Chooses the server of each new partition among "servers" (OIDs): the one with
 * the fewest partitions of the table, of several the first one.
 */
extern void fc_place_choose(Relation parent, const FcRoute *route, const List *servers,
							FcNewPartition *parts, int nparts);

/*
 * Returns the command that makes the foreign table "name", and sets what is to
 * be made on its server.  All is in the current memory context.
 */
extern char *fc_place_sql(Relation parent, const char *name, FcRemoteTable *table);

#endif							/* FC_REMOTE_H */
