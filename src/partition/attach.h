/*-------------------------------------------------------------------------
 *
 * partition/attach.h
 *	  Attaches many new partitions with one look at the parent.
 *
 * Leader only, never in parallel mode.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ATTACH_H
#define FC_ATTACH_H

#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/rel.h"

/* Do event triggers or other extensions see commands, or what they do? */
extern bool fc_attach_is_watched(void);

/*
 * Tells which hook of ProcessUtility is ours, and which one it calls next.
 * Ours looks at COPY alone, and does not count as one that sees commands.
 */
extern void fc_attach_pass_over(ProcessUtility_hook_type ours,
								ProcessUtility_hook_type before);

/*
 * Returns why tables that this load made like "parent" cannot be attached by
 * fc_attach_table, or NULL if they can: ATTACH would do more than write rows
 * into catalogs, or an extension or event trigger would see that it was not
 * called.
 */
extern const char *fc_attach_reason(Relation parent, Oid default_oid);

/*
 * May ATTACH run code of the table, which could write to the tables that are
 * not attached yet?  Core simplifies expressions of CHECKs and indexes, and
 * calls functions for that; and hooks and event triggers may see the command.
 */
extern bool fc_attach_runs_code(Relation parent);

/* Drops a CHECK that this load has made; no hook need hear of it */
extern void fc_attach_drop_check(Oid constraint);

/*
 * Marks the columns of a table that fc_table_create made as local ones, not
 * inherited ones: the command ATTACH PARTITION refuses to attach others.
 */
extern void fc_attach_localize_columns(Oid child);

/*
 * Attaches "child".  The caller holds the locks of ATTACH and vouches that
 * the child was made like the parent, that its rows fit the bound, and that
 * the bound overlaps no other.  False, with nothing done, if the child is not
 * like the parent: the caller then runs ATTACH, which can deal with that or
 * throws the right error.  "guard" is a CHECK of the child with the condition
 * of the bound, which is dropped; or InvalidOid.
 */
extern bool fc_attach_table(Relation parent, Oid child,
							PartitionBoundSpec *bound, Oid guard);

/*
 * Marks the constraints of an attached table as CREATE TABLE ... PARTITION OF
 * would have marked them.  ATTACH leaves the constraints of adopted indexes
 * marked NO INHERIT, as they are on a stand-alone table.  With "inherited" the
 * table was attached by fc_attach_table: its CHECKs and NOT NULLs are marked
 * as inherited from the parent, too.
 */
extern void fc_attach_constraints(Oid child, bool inherited);

/*
 * Tells all sessions of what fc_attach_table has attached since the last call.
 * The parent's cache entry is out of date until then.
 */
extern void fc_attach_tell(Relation parent, Oid default_oid);

#endif							/* FC_ATTACH_H */
