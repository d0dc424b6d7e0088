/*-------------------------------------------------------------------------
 *
 * remote/remote.h
 *	  COPY of raw records into tables on other servers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REMOTE_H
#define FC_REMOTE_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* What a server says of a COPY that has failed; strings may be NULL */
typedef struct FcRemoteError
{
	int			sqlerrcode;
	char	   *message;
	char	   *detail;
	char	   *hint;
	char	   *context;
	uint64		line;			/* of the stream, from 1; 0: it named none */
} FcRemoteError;

/*
 * Why raw records of a file cannot go to this foreign table, so that core must
 * load it; NULL: they can.  Looks at catalogs only.
 */
extern const char *fc_remote_refusal(Relation foreign);

typedef struct FcRemoteCopy FcRemoteCopy;

/*
 * Opens or reuses a connection of this transaction to the table's server, and
 * starts COPY FROM STDIN WITH (with) there.  "attnums": the foreign table's
 * columns that the file has, in the file's order.
 */
extern FcRemoteCopy *fc_remote_copy_begin(Relation foreign, Oid userid,
										  const List *attnums, const char *with);

/*
 * Appends whole records, which begin at "offset" of the source.  False: the
 * server has failed already, see fc_remote_copy_end.
 */
extern bool fc_remote_copy_put(FcRemoteCopy *copy, uint64 offset, const char *bytes,
							   Size len, uint32 records);

/* Ends the stream; true and *rows of the command tag, or false and *error */
extern bool fc_remote_copy_end(FcRemoteCopy *copy, uint64 *rows, FcRemoteError *error);

/* Cancels the COPY and drains it, without throwing */
extern void fc_remote_copy_abandon(FcRemoteCopy *copy);

#endif							/* FC_REMOTE_H */
