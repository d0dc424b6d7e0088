/*-------------------------------------------------------------------------
 *
 * partition/exchange.h
 *	  Gives a table the rows of another one, by an exchange of their files.
 *
 * Leader only, never in parallel mode.  The table keeps its OID and all that is
 * not storage.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_EXCHANGE_H
#define FC_EXCHANGE_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* An index of a table, and the one of its substitute that is like it */
typedef struct FcIndexPair
{
	Oid			index;
	Oid			like;
} FcIndexPair;

/* Would a row that is inserted or deleted run code, or be checked by it? */
extern bool fc_exchange_fires(Relation rel);

/* Does a constraint or a generated column see of which table a row is? */
extern bool fc_exchange_constraints_see_table(Relation rel);

/*
 * Returns why other sessions, or code of the table's, could tell an exchange
 * from a DELETE and a COPY; NULL if they could not.  The table is locked.
 */
extern const char *fc_exchange_refusal(Relation rel);

/*
 * Makes the schema for substitutes, which fc_table_create_like makes, and whose
 * rows are frozen as they are written.  Returns its OID.
 */
extern Oid	fc_exchange_begin(void);

/*
 * Locks the tables, and all that belongs to them, against everybody.  It takes
 * all locks or none, and lets others go on while it waits for one of them: at
 * most lock_timeout in all, then ERROR 55P03.  The caller has locked them in
 * SHARE UPDATE EXCLUSIVE mode, and closed them.
 */
extern void fc_exchange_lock(List *tables);

/*
 * Exchanges the files of a locked table and of its substitute, and those of
 * their indexes, a list of FcIndexPair.  Until the next
 * CommandCounterIncrement the old ones are seen.
 */
extern void fc_exchange_files(Oid table, Oid substitute, const List *indexes);

/* Drops the substitute of a table, which has the old files now */
extern void fc_exchange_drop(Oid table, Oid substitute);

/* Is this the name of such a schema? */
extern bool fc_exchange_is_schema(const char *name);

/* Drops the schemas, and what is left in them */
extern void fc_exchange_end(const List *schemas);

#endif							/* FC_EXCHANGE_H */
