/*-------------------------------------------------------------------------
 *
 * remote/remote.h
 *	  COPY of raw records into tables on other servers, and how these commit.
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

#include "citus/citus.h"
#include "options/options.h"
#include "remote/member.h"

/* What a server says of a COPY that has failed */
typedef struct FcRemoteError
{
	ErrorData  *edata;			/* its context without what it says of the
								 * stream */
	uint64		line;			/* of the stream, from 1; 0: it named none */
	char	   *field;			/* column and value, in its words; or NULL */
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
 * NULL: it exists.  *fast is set if the server's fast_copy loads.
 *
 * Returns NULL if another COPY has the connection that has made the table.
 * ERROR if the server cannot be reached, may not be used by the user, cannot
 * commit as the transaction wants to, has a table of other types or with
 * rules, or refuses the COPY.
 */
extern FcRemoteCopy *fc_remote_copy_begin(const FcRemotePlace *place, Oid userid,
										  const List *attnums,
										  const FcRemoteOptions *options,
										  const FcRemoteTable *table, bool *fast);

/*
 * Builds the indexes of the tables that this transaction has made, on all
 * servers side by side.  No COPY runs.  ERROR if a server does not do so.
 */
extern void fc_remote_build_indexes(void);

/*
 * Has this transaction made tables on servers?  Until it commits only the
 * sessions that have made them see them.
 */
extern bool fc_remote_has_made(void);

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
 * *error, as by fc_node_error
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

/*
 * remote/transaction.c: the sessions of this transaction with nodes
 */

/* Of FcMember */
extern dlist_head *fc_transaction_members(void);

/* Has core tell of the end of transactions from now on */
extern void fc_transaction_watch(void);

/*
 * Returns a member that runs no COPY, at the subtransaction level of this
 * session.  It stays until the transaction ends, or the subtransaction in
 * which it began is rolled back.  "makes": one that has made tables, or a new
 * one.  ERROR if the server cannot be reached, or cannot commit as the
 * transaction wants to.
 */
extern FcMember *fc_transaction_join(Oid server, Oid userid, bool makes);

/* Does the same with a member that exists: only the node can fail */
extern void fc_transaction_rejoin(FcMember *member);

/* Finds the member that has made the table of this quoted name; or NULL */
extern FcMember *fc_transaction_maker(Oid server, Oid userid, const char *table);

/*
 * remote/commit.c: how nodes commit with this transaction, in one phase or in
 * two
 */

/* What the option asks for; ERROR 22023 if it is none of its words */
extern FcRemoteCommit fc_commit_of(const FcOptions *options);

/*
 * May rows be sent to the node by so many members if the transaction is to be
 * committed so?  ERROR 55000 if it cannot; for FC_COMMIT_AUTO a NOTICE.
 */
extern void fc_commit_foresee(FcRemoteCommit commit, const FcNode *node, int n);

/*
 * Before the transaction commits: has all members prepare to commit, or in one
 * phase commit, one after the other.  ERROR if one of them does not.
 */
extern void fc_commit_members(dlist_head *members, FcRemoteCommit commit);

/*
 * It is committed: has those commit that are prepared, and those that were not
 * asked to prepare.  Or it has failed: has those roll back that are prepared.
 * Never throws.
 */
extern void fc_commit_finish(dlist_head *members, bool commit);

/*
 * remote/resolve.c: what crashes have left prepared on nodes
 */

/* A transaction that a node has prepared, or a node that cannot be asked */
typedef struct FcLeft
{
	char	   *server;
	char	   *gid;			/* NULL: of a node that cannot be asked */
	TimestampTz prepared;		/* when; of a gid */
	bool		ours;			/* our user there may end it */
	const char *outcome;
	char	   *detail;			/* or NULL */
} FcLeft;

/*
 * Before a load, on a session outside of a transaction: ends the transactions
 * that are left on the node, as far as its user may, and removes the rows of
 * the log that are no longer needed.  ERROR if the node does not answer in ten
 * seconds.
 */
extern void fc_resolve_before(FcNode *node);

/*
 * Finds a server; ERROR if there is none, or if it is not one of postgres_fdw
 */
extern Oid	fc_resolve_server_named(const char *name);

/*
 * Does the same for the foreign server; or for all (InvalidOid) that are the
 * caller's or a superuser's, and nodes of Citus.  A superuser does it with the
 * mappings of all users, others with their own.  Without "act" tells what
 * would be done.  Returns FcLeft.  Each server has ten seconds.
 */
extern List *fc_resolve_servers(Oid server, bool act);

/*
 * remote/log.c: the table that has decided, fast_copy_transactions
 */

/* A row of the table */
typedef struct FcDecision
{
	char	   *gid;
	int64		system;			/* the database that has prepared it */
} FcDecision;

/* Is the extension created in this database, and with it the table? */
extern bool fc_log_is_there(void);

/*
 * Takes the lock that says that this transaction is under way, until it ends
 * in any way; to be called before the first row is added
 */
extern void fc_log_hold(uint64 nonce);

/* Locks the table to be read or changed until this transaction ends */
extern void fc_log_lock(bool change);

/*
 * Has the transaction with this nonce ended?  With "keep" others who ask are
 * told no from then on, until this transaction ends or lets it go.
 */
extern bool fc_log_has_ended(uint64 nonce, bool keep);
extern void fc_log_let_go(uint64 nonce);

/* Adds a row: once this transaction is committed, the node's must be */
extern void fc_log_add(const char *gid, Oid server, int64 system, Oid userid);

/*
 * With this begin the names of all transactions that the server prepares for
 * this database (remote/gid.c)
 */
extern char *fc_log_prefix(Oid server);

/* All rows of the server that can be seen now */
extern List *fc_log_list(Oid server);

/*
 * Is there a row, as far as can be seen now?  With "remove" it is removed,
 * wherever it is by now: the table may have been rewritten, and another session
 * may have removed it.
 */
extern bool fc_log_has(const char *gid, bool remove);

/*
 * remote/gid.c: names of the transactions that nodes prepare for this server
 */

/*
 * Returns the beginning of the names of all transactions that the foreign
 * server prepares for this database; "identity" tells this from its copies
 */
extern char *fc_gid_prefix(const char *identity, Oid server);

/* Returns a number for this transaction that cannot be guessed; never 0 */
extern uint64 fc_gid_nonce(void);

/*
 * Returns the name of the n-th member's transaction.  The transaction gets an
 * XID if it has none.
 */
extern char *fc_gid_make(const char *prefix, uint64 nonce, int n);

/* Reads the nonce of a name; 0: it does not begin so, or is none of ours */
extern uint64 fc_gid_read(const char *gid, const char *prefix);

#endif							/* FC_REMOTE_H */
