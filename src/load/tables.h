/*-------------------------------------------------------------------------
 *
 * load/tables.h
 *	  The tables that take rows: locked, looked at and kept as they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_TABLES_H
#define FC_LOAD_TABLES_H

#include "load/job.h"

/*
 * Locks the leaves that take rows; and the target, if partitions are to be
 * made, so that no other session makes one in their place.  Or sets gives_way,
 * if pg_partman is making or dropping partitions.
 */
extern void fc_tables_lock(FcJob *job);

/* The number of the target's partitions at all levels, plus one for itself */
extern uint32 fc_tables_count(Oid target);

/* Have partitions come or gone since the scan looked at them? */
extern bool fc_tables_bounds_changed(const FcTarget *target);

/* OIDs of the locked leaves that were there before the load */
extern List *fc_tables_existing(FcJob *job);

/*
 * Looks at the leaves that were there before the load, and takes the way that
 * their triggers and indexes ask for.  Throws COPY's errors for FREEZE.
 */
extern void fc_tables_check(FcJob *job);

/* Between the two target and leaves stay as they are: see heap/hold.h */
extern void fc_tables_hold(FcJob *job);
extern void fc_tables_let_go(FcJob *job);

#endif							/* FC_LOAD_TABLES_H */
