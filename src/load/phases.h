/*-------------------------------------------------------------------------
 *
 * load/phases.h
 *	  The phases that run in parallel workers, or in the leader alone.
 *
 * Each takes chunks or tasks until none is left.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PHASES_H
#define FC_PHASES_H

#include "context/shared.h"

/*
 * Leader, before the scan by so many processes: are rows to be spilled, or
 * offsets?  Looks at some keys of the file; returns the reason, for the
 * report.
 */
extern const char *fc_sample_spill(FcContext *ctx, int nprocesses, bool *rows);

/* The same before there is a file to look at */
extern const char *fc_sample_spill_unseen(const FcShared *shared, bool *rows);

/*
 * Leader, before the scan: is the file in key order, as far as a look at some
 * records tells?  keys[i] is then the first key of chunk i or, if no record
 * starts there, of the next, and keys[nchunks] the file's last.
 */
extern bool fc_order_look(FcContext *ctx, int64 *keys);

/* The key of each record into sorted spill runs */
extern void fc_scan_run(FcContext *ctx);

/* Rows into partitions */
extern void fc_load_run(FcContext *ctx);

/* Rows are parsed and checked as for a load, and not written */
extern void fc_load_check_run(FcContext *ctx);

/* Leader, after a load in which a process stopped: see load/load.c */
extern void fc_load_verify(FcContext *ctx, int nleaves);

/* ... and after one whose indexes could not be built */
extern void fc_load_verify_indexes(FcContext *ctx, int nleaves);

#endif							/* FC_PHASES_H */
