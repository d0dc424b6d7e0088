/*-------------------------------------------------------------------------
 *
 * remote/names.h
 *	  What a foreign table, or a shard, and its columns are called on their
 *	  server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_NAMES_REMOTE_H
#define FC_NAMES_REMOTE_H

#include "remote/remote.h"

/* The table's name without its schema, not quoted */
extern char *fc_remote_relname(const FcRemotePlace *place);

/* The name of its schema there, not quoted */
extern char *fc_remote_schema(Relation foreign);

/* The table's name with its schema, quoted */
extern char *fc_remote_table(const FcRemotePlace *place);

/* The column's name, not quoted */
extern char *fc_remote_column(const FcRemotePlace *place, AttrNumber attnum);

#endif							/* FC_NAMES_REMOTE_H */
