/*-------------------------------------------------------------------------
 *
 * report/figures.c
 *	  How far a phase has come, for report, log, progress and NOTICEs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "report/figures.h"

double
fc_progress_share(pg_atomic_uint64 *counter, double total)
{
	double		done = (double) pg_atomic_read_u64(counter);

	return done < total ? done / total : 1.0;
}

bool
fc_progress_is_stream(const FcProgress *progress)
{
	return progress->phase == FC_PHASE_UNPACK || progress->phase == FC_PHASE_RECEIVE;
}

double
fc_progress_bytes(const FcProgress *progress)
{
	return fc_progress_is_stream(progress) ? (double) progress->packed_size :
		(double) progress->target->shared->source.data_size;
}

bool
fc_progress_reads_file(const FcProgress *progress)
{
	return progress->phase == FC_PHASE_SPLIT || progress->phase == FC_PHASE_SCAN ||
		progress->phase == FC_PHASE_LOAD || progress->phase == FC_PHASE_CHECK ||
		progress->phase == FC_PHASE_COPY || fc_progress_is_stream(progress);
}

/* The number of new partitions that have an OID already */
static int
fc_progress_created(const FcProgress *progress)
{
	int			made = 0;

	for (int i = 0; i < progress->target->ncreated; i++)
		made += OidIsValid(progress->target->created[i].range.partition);
	return made;
}

const char *
fc_progress_steps(const FcProgress *progress, int *done, int *total)
{
	FcTarget   *target = progress->target;

	switch (progress->phase)
	{
		case FC_PHASE_PARTITIONS:
			*done = fc_progress_created(progress);
			*total = target->ncreated;
			return "partitions";
		case FC_PHASE_INDEX:
			*done = pg_atomic_read_u32(&target->shared->counts.nbuilt);
			*total = target->nindexes;
			return "indexes";
		case FC_PHASE_ATTACH:
			*done = progress->steps_done;
			*total = target->ncreated;
			return "partitions";
		case FC_PHASE_ANALYZE:
			*done = progress->steps_done;
			*total = progress->steps;
			return "tables";
		default:
			*done = *total = 0;
			return NULL;
	}
}

double
fc_progress_of_phase(const FcProgress *progress)
{
	FcShared   *shared = progress->target->shared;
	uint64		total = (uint64) fc_progress_bytes(progress);
	int			done;
	int			steps;

	switch (progress->phase)
	{
		case FC_PHASE_UNPACK:
			return fc_progress_share(progress->taken, total);
		case FC_PHASE_SPLIT:
			return fc_progress_share(&shared->counts.split_bytes, total);
		case FC_PHASE_SCAN:
			/* core shows its own progress while it scans, in load_bytes */
			return fc_progress_share(progress->shown ? &shared->counts.scan_bytes :
									 &shared->counts.load_bytes, total);
		case FC_PHASE_LOAD:
		case FC_PHASE_CHECK:
		case FC_PHASE_COPY:
			return fc_progress_share(&shared->counts.load_bytes, total);
		case FC_PHASE_INDEX:
			/* by cost, because one index may take longer than all others */
			if (progress->index_cost <= 0)
				return -1;
			return fc_progress_share(&shared->counts.built, progress->index_cost);
		default:
			(void) fc_progress_steps(progress, &done, &steps);
			return steps > 0 ? (double) done / steps : -1;
	}
}
