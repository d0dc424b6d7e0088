/*-------------------------------------------------------------------------
 *
 * partition/table.h
 *	  Makes a table without waiting for the disk, and empties it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TABLE_H
#define FC_TABLE_H

#include "utils/relcache.h"

/*
 * Executes one CREATE TABLE, of a table that is not temporary and will be
 * attached (partition/attach.h): its columns are marked as inherited ones.
 * Leader only.  Event triggers and hooks of other extensions do not see the
 * command.
 */
extern void fc_table_create(const char *sql);

/*
 * Makes an empty table with the name, columns, constraints and options of this
 * one, but without indexes and defaults, in another schema.  Attributes have
 * the same numbers.  Returns its OID.
 */
extern Oid	fc_table_create_like(Relation rel, Oid nspid);

/*
 * The same for rows that stay there for a while only: the table is not logged,
 * and the current user's.  "rel" may be partitioned.  Unless "constrained" it
 * has columns alone, none of them generated.
 */
extern Oid	fc_table_create_stage(Relation rel, Oid nspid, bool constrained);

/*
 * Takes all rows out of the table and all entries out of its indexes, built or
 * not, so that rows can be inserted into both.  Leader only.
 */
extern void fc_table_truncate(Oid relid);

#endif							/* FC_TABLE_H */
