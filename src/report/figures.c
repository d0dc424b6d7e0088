/*-------------------------------------------------------------------------
 *
 * report/figures.c
 *	  How far a phase has come, for all who show it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "report/figures.h"

double
fc_progress_share(pg_atomic_uint64 *bytes, uint64 total)
{
	if (total == 0)
		return 1.0;
	return Min((double) pg_atomic_read_u64(bytes) / total, 1.0);
}

bool
fc_progress_is_stream(const FcJob *job)
{
	return job->phase == FC_PHASE_UNPACK || job->phase == FC_PHASE_RECEIVE;
}

double
fc_progress_bytes(const FcJob *job)
{
	return fc_progress_is_stream(job) ? (double) job->packed_size :
		(double) job->shared->data_size;
}

bool
fc_progress_reads_file(const FcJob *job)
{
	return job->phase == FC_PHASE_SPLIT || job->phase == FC_PHASE_SCAN ||
		job->phase == FC_PHASE_LOAD || job->phase == FC_PHASE_CHECK ||
		job->phase == FC_PHASE_COPY || fc_progress_is_stream(job);
}

/* Partitions made, as far as they have their numbers */
static int
fc_progress_created(const FcJob *job)
{
	int			made = 0;

	for (int i = 0; i < job->ncreated; i++)
		made += OidIsValid(job->created[i].range.partition);
	return made;
}

const char *
fc_progress_steps(const FcJob *job, int *done, int *total)
{
	switch (job->phase)
	{
		case FC_PHASE_PARTITIONS:
			*done = fc_progress_created(job);
			*total = job->ncreated;
			return "partitions";
		case FC_PHASE_INDEX:
			*done = pg_atomic_read_u32(&job->shared->nbuilt);
			*total = job->nindexes;
			return "indexes";
		case FC_PHASE_ATTACH:
			*done = job->attached;
			*total = job->ncreated;
			return "partitions";
		case FC_PHASE_ANALYZE:
			*done = job->analyzed;
			*total = job->nanalyzed;
			return "tables";
		default:
			*done = *total = 0;
			return NULL;
	}
}

double
fc_progress_of_phase(const FcJob *job)
{
	FcShared   *shared = job->shared;
	uint64		total = (uint64) fc_progress_bytes(job);
	int			done;
	int			steps;

	switch (job->phase)
	{
		case FC_PHASE_UNPACK:
			return fc_progress_share(job->taken, total);
		case FC_PHASE_SPLIT:
			return fc_progress_share(&shared->split_bytes, total);
		case FC_PHASE_SCAN:
			/* what core reads is counted in one place */
			return fc_progress_share(job->shown ? &shared->scan_bytes :
									 &shared->load_bytes, total);
		case FC_PHASE_LOAD:
		case FC_PHASE_CHECK:
		case FC_PHASE_COPY:
			return fc_progress_share(&shared->load_bytes, total);
		case FC_PHASE_INDEX:
			/* one may take longer than all others */
			if (job->index_cost <= 0)
				return -1;
			return Min(pg_atomic_read_u64(&shared->built) / job->index_cost, 1.0);
		default:
			(void) fc_progress_steps(job, &done, &steps);
			return steps > 0 ? (double) done / steps : -1;
	}
}
