/*-------------------------------------------------------------------------
 *
 * phase/phases.h
 *	  The phases that run in parallel workers, or in the leader alone.
 *
 * Each takes chunks or tasks until none is left.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PHASES_H
#define FC_PHASES_H

#include "context/shared.h"

/* What the leader learns before the scan */
typedef struct FcSampled
{
	bool		rows;			/* the scan is to spill rows, not offsets */
	bool		embedded;		/* there are line ends in quotes */
	int			missing;		/* partitions that rows of the sample need
								 * made */
} FcSampled;

/*
 * Leader, before a scan by nworkers: looks at some records of the file, and
 * sets the bounds of cells.  *sampled is set to what is known without a look;
 * route NULL: the key tells no partition.  Returns the reason, for the report.
 */
extern const char *fc_sample_spill(FcContext *ctx, const FcRoute *route, int nworkers,
								   FcSampled *sampled);

/* Leader: the same while data are still to come */
extern const char *fc_sample_spill_unseen(const FcShared *shared, bool *rows);

/*
 * Leader, before the scan: are some records of the file in key order?  If so,
 * keys[i] is the first key of chunk i, or of the next chunk in which a record
 * starts; keys[nchunks] is the last key of the file.
 */
extern bool fc_presorted_look(FcContext *ctx, int64 *keys);

/* Where scanned keys go, in the current context; NULL: core routes */
extern FcRoute *fc_scan_route(FcContext *ctx);

/* Scan: spills the key of each record, and what the load needs of the record */
extern void fc_scan_run(FcContext *ctx);

/*
 * Leader, after a scan that looked for missing partitions: finds them in the
 * tree, by the rows that the processes have noted
 */
extern void fc_scan_noted(FcContext *ctx, int nprocesses, FcTree *tree);

/*
 * After the scan, as FC_PHASE_REPLACE: spills the rows of leaves that the
 * active snapshot sees.  Tasks are FcPages; the caller has locked the leaves,
 * and adds the processes to shared->nscanners.
 */
extern void fc_existing_run(FcContext *ctx);

/*
 * Load: puts rows into leaves; as FC_PHASE_CHECK only parses and checks them as
 * for a load
 */
extern void fc_load_run(FcContext *ctx);

/* Leader, while workers load: locks the leaves that they have found */
extern void fc_leaf_lock_found(FcContext *ctx);

/*
 * Leader, after a load in which a process stopped (errors/stop.c): looks again
 * at the records before the bad one, and notes the first error of the file.
 * Writes nothing.
 *
 * "insert": an index of a new partition could not be built, and these
 * partitions were emptied.  Inserts their rows one by one, in the order of the
 * file, until an index refuses one.  Takes as long as COPY.  If no row is
 * refused this time, because a default has another value, the build's error
 * stays.
 */
extern void fc_verify_load(FcContext *ctx, int nleaves, bool insert);

/*
 * Leader, after a load: core has refused this row of the target's row type;
 * notes the error for the first record with its values in the files' columns.
 * Notes nothing if there is none, because an expression does not always have
 * the same value.
 */
extern void fc_verify_find(FcContext *ctx, HeapTuple row, const ErrorData *refused);

/* What a phase works on besides the file; copied to and from the workers */
typedef struct FcWork
{
	void	   *tasks;
	Size		task_size;
	uint32		ntasks;
	FcTurn	   *turns;
	uint32		nturns;

	/* results */
	bool		parallel;		/* workers did the work */
	double		alone;			/* share of the phase, at its end, in which
								 * only one of several workers ran */
} FcWork;

/*
 * Runs the phase in up to nworkers workers and waits for all of them; or in
 * the leader alone, through ctx, if nworkers is 0 or none could start.
 * Returns the number of processes that worked.  Not in parallel mode; the
 * caller holds every lock that the workers need.
 */
extern int	fc_worker_run(FcContext *ctx, dsm_segment *segment, FcPhase phase,
						  int nworkers, FcWork *work);

/*
 * Between these two the process has a context for phases.  In a worker the
 * first opens source and target; in the leader the caller sets them.
 */
extern void fc_worker_context_begin(FcContext *ctx, FcShared *shared);
extern void fc_worker_context_end(FcContext *ctx);

#endif							/* FC_PHASES_H */
