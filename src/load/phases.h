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
#include "partition/index_define.h"

/* What each chunk does to the quote state, for every state it may start in */
extern void fc_split_run(FcContext *ctx);

/*
 * Leader, after the split: true starts, and the end of the data of each file,
 * behind which its chunks are empty; returns the records in all files.
 */
extern uint64 fc_split_resolve(FcContext *ctx);

/*
 * Any process: does the "\." with which a record begins at "offset" end the data
 * of its file?
 */
extern bool fc_split_marker_ends(FcContext *ctx, uint64 offset);

/*
 * Takes the bytes from "end" on out of n chunks of a file, behind each other;
 * those behind it stay, empty.
 */
extern void fc_split_cut(FcContext *ctx, FcChunk *chunks, uint32 n, uint64 end);

/* Behind that: the records in one of the files */
extern uint64 fc_split_records(FcShared *shared, const FcSource *source,
							   uint32 file);

/*
 * Leader, before the scan by so many processes: are rows to be spilled, or
 * offsets?  Looks at some keys of the file; returns the reason, for the report.
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

/* Indexes of new partitions */
extern void fc_index_run(FcContext *ctx);

/*
 * Leader, before that: given tasks in falling order of cost, puts first those
 * that it builds itself, alone or with helpers, and returns their number.
 */
extern int	fc_index_plan(FcIndexTask *tasks, int ntasks, int processes);

/* Leader, outside of parallel mode: builds those */
extern void fc_index_lead(FcContext *ctx, FcIndexTask *tasks, int ntasks);

#endif							/* FC_PHASES_H */
