/*-------------------------------------------------------------------------
 *
 * report/estimate.h
 *	  How long the phases of a load take, and how much of it is done and left.
 *
 * Knows nothing of the server: test/unit/estimate.c takes loads through it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ESTIMATE_H
#define FC_ESTIMATE_H

/* What a load has to do, as far as it is known */
typedef struct FcEffort
{
	double		bytes;			/* of the source, unpacked */
	double		rows;
	double		leaves;			/* that get rows */
	double		partitions;		/* to make and to attach */
	double		tables;			/* whose indexes are built after the load */
	double		indexes;		/* that each leaf has */
	double		processes;		/* that share what is done for each row */
	int			synced;			/* an index is on disk before it is built */
} FcEffort;

/* What the phases do */
typedef enum FcEffortKind
{
	FC_EFFORT_NONE,
	FC_EFFORT_STREAM,
	FC_EFFORT_SPLIT,			/* to pass over the file once */
	FC_EFFORT_SCAN,
	FC_EFFORT_MAKE,
	FC_EFFORT_LOAD,
	FC_EFFORT_COPY,				/* to load by core's code */
	FC_EFFORT_INDEX,
	FC_EFFORT_ATTACH,
	FC_EFFORT_ANALYZE
} FcEffortKind;

/*
 * What a phase takes: seconds on the machine that they were measured on.  Only
 * how they compare matters, because a load's own pace is found out.
 */
extern double fc_estimate_cost(const FcEffort *effort, FcEffortKind kind);

/*
 * The share of the phase index that is done, from the shares that are defined
 * and built
 */
extern double fc_estimate_indexed(const FcEffort *effort, double defined, double built);

/* How far a load has come; all zero, but "left", at its begin */
typedef struct FcEstimate
{
	double		whole;			/* share of the load that is done */
	double		left;			/* seconds of the rest; -1: not known */

	/* of the phases that have ended */
	double		base;			/* share of the load */
	double		done;			/* what they took by the figures above */
	double		seconds;		/* and by the clock */

	/* of this phase, as of the last update */
	double		phase;			/* what it takes, by the same figures */
	double		phase_seconds;
	double		after;			/* what all later ones take */
} FcEstimate;

/* The phase has ended, after "seconds"; another one begins */
extern void fc_estimate_next(FcEstimate *estimate, double seconds);

/*
 * "share" of the phase is done after so many seconds.  The share of the load
 * never falls, and is less than 1.  The time left only falls, unless it was
 * much too short: a load that goes on at its pace shows none that grows.
 */
extern void fc_estimate_update(FcEstimate *estimate, double phase, double after,
							   double share, double seconds);

#endif							/* FC_ESTIMATE_H */
