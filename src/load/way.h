/*-------------------------------------------------------------------------
 *
 * load/way.h
 *	  Which way a load goes: it is taken here, and told to the report.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_WAY_H
#define FC_LOAD_WAY_H

#include "load/job.h"

/* Takes the way that the plan says, before anything is known of the files */
extern void fc_way_begin(FcTarget *target);

/*
 * Takes a way, which fc_lead_run() tells the processes of each phase; the
 * reason is for the report.  Does nothing once the way is FC_WAY_COPY: nothing
 * that is found out later lets the load go another way.
 */
extern void fc_way_take(FcTarget *target, FcWay way, const char *reason);

/*
 * The way as the processes of a phase need to know it: an analysis needs no
 * rows in the spill, because it reads them in file order
 */
extern FcWay fc_way_of_phase(const FcTarget *target);

/* Takes FC_WAY_COPY; the reason is for the report */
extern void fc_way_to_core(FcTarget *target, const char *reason);

/*
 * Must one process load alone, because it sorts rows that may go to any leaf,
 * or that have no key?
 */
extern bool fc_way_sorts_alone(const FcTarget *target);

/* Must new partitions be attached, or have their indexes, before rows come? */
extern bool fc_way_needs_attached(FcJob *job);

/* For the report: how a load went */
extern char *fc_way_choice(const FcTarget *target);
extern char *fc_way_of_leaf(const FcTarget *target, const FcTask *task);
extern char *fc_way_io_method(FcShared *shared);

#endif							/* FC_LOAD_WAY_H */
