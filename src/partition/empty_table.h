/*-------------------------------------------------------------------------
 *
 * partition/empty_table.h
 *	  Makes a table without waiting for the disk; keeps a schema's name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_EMPTY_TABLE_H
#define FC_EMPTY_TABLE_H

#include "utils/relcache.h"

/*
 * Executes one CREATE TABLE, of a table that is not temporary and will be
 * attached (partition/attach.h): its columns are marked as inherited ones.
 * Leader only.  Event triggers and hooks of other extensions do not see the
 * command.
 */
extern void fc_table_create(const char *sql);

/*
 * Writes the one page that a B-tree has before its first row, without a wait
 * for the disk.  The index is new, and its file empty.
 */
extern void fc_index_begin_btree(Relation index);

/*
 * Keeps the schema's name until the transaction ends: no session can rename
 * it, so that commands which name the schema meet the tables that they should.
 * Waits for a session that is changing the schema.  Leader only.
 */
extern void fc_table_keep_schema(Oid nspid);

#endif							/* FC_EMPTY_TABLE_H */
