/*-------------------------------------------------------------------------
 *
 * report/figures.h
 *	  How far a phase has come, for report, log, progress and NOTICEs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIGURES_H
#define FC_FIGURES_H

#include "datatype/timestamp.h"
#include "portability/instr_time.h"

#include "options/target.h"
#include "report/estimate.h"

/* How far a load has come: for its report, other sessions and the client */
typedef struct FcProgress
{
	FcTarget   *target;
	FcPhase		phase;
	TimestampTz start;			/* of the load */
	instr_time	phase_start;
	instr_time	stream_start;	/* of unpacking or receiving */
	uint64		phase_wal;		/* this backend's bytes of WAL before it */
	int			launched;		/* workers of the phase with the most */
	double		alone;			/* of the phase's workers, see FcWork */

	/* phases that go from one thing to the next */
	int			steps;			/* tables to analyze */
	int			steps_done;		/* partitions attached, tables analyzed */
	double		index_cost;		/* of all indexes, see shared->counts.built */

	/* unpacking and receiving */
	uint64		packed_size;	/* bytes to be unpacked; 0: not known */
	pg_atomic_uint64 *taken;	/* bytes unpacked or received so far */

	int			nindexes;		/* that each new partition gets */
	int			foreseen;		/* partitions to be made, as a sample tells;
								 * 0 once the rows have been looked at */
	bool		early;			/* new partitions have their indexes before
								 * the load, and are attached or elsewhere */
	FcEstimate	estimate;
	bool		shown;			/* the progress slot is ours, not core's */
	TimestampTz told;			/* when the last line of progress was sent */
} FcProgress;

/* The share that the counter is of "total", from 0 to 1 */
extern double fc_figures_share(pg_atomic_uint64 *counter, double total);

/* Is it a phase that unpacks or receives? */
extern bool fc_figures_is_stream(const FcProgress *progress);

/* The share of the phase that is done, from 0 to 1; -1 if it is not known */
extern double fc_figures_of_phase(const FcProgress *progress);

/* Seconds of the phase; one that unpacks as well began when unpacking did */
extern double fc_figures_phase_seconds(const FcProgress *progress);

/*
 * The share of the whole load that is done, in all phases: never less than the
 * last time, and less than 1 until it has ended; -1 if it is not known.  *left
 * is how many seconds the rest will take, -1 if that cannot be told.
 */
extern double fc_figures_whole(FcProgress *progress, double *left);

/*
 * For a phase that goes from one thing to the next: what those are, how many
 * there are and how many are done.  NULL for one that goes through bytes.
 */
extern const char *fc_figures_steps(const FcProgress *progress, int *done, int *total);

/* Does the leader still define the indexes that are to be built? */
extern bool fc_figures_defines(const FcProgress *progress);

/* The bytes of the phase's source: packed ones, if the phase unpacks them */
extern double fc_figures_bytes(const FcProgress *progress);

/* Does the phase go through these bytes? */
extern bool fc_figures_reads_file(const FcProgress *progress);

#endif							/* FC_FIGURES_H */
