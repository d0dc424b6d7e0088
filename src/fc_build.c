/*-------------------------------------------------------------------------
 *
 * fc_build.c
 *	  The index phase: processes take indexes, largest table first.
 *
 * maintenance_work_mem is lowered to the process's part of fast_copy.memory;
 * core restores it with the GUC nest level, on error too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/guc.h"

#include "fc_index.h"
#include "fc_phases.h"

static void
fc_build_limit_memory(const FcShared *shared)
{
	char		value[32];
	int			limit = Max(shared->memory / 1024, 1024);

	snprintf(value, sizeof(value), "%d", Min(maintenance_work_mem, limit));
	(void) set_config_option("maintenance_work_mem", value, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

void
fc_index_run(FcContext *ctx)
{
	FcIndexTask *tasks = ctx->tasks;
	int			nest = NewGUCNestLevel();
	uint32		i;

	fc_build_limit_memory(ctx->shared);
	while (fc_context_take(ctx, ctx->shared->ntasks, &i))
	{
		fc_index_build(&tasks[i]);
		fc_context_progress(ctx);
	}
	AtEOXact_GUC(true, nest);
}
