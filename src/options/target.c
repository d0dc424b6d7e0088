/*-------------------------------------------------------------------------
 *
 * options/target.c
 *	  What is loaded, where to and how, as the leader knows it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/progress.h"

#include "options/target.h"

char *
fc_target_place(const FcTarget *target, uint32 file)
{
	if (fc_caller_errors_as_core(target->options->caller))
		return psprintf("COPY %s", target->relname);
	return psprintf("fast_copy %s, %s \"%s\"", target->relname,
					fc_source_word(target->source), fc_source_path(target->source, file));
}

int64
fc_target_progress_type(const FcTarget *target)
{
	return target->options->client ? PROGRESS_COPY_TYPE_PIPE :
		target->options->program ? PROGRESS_COPY_TYPE_PROGRAM : PROGRESS_COPY_TYPE_FILE;
}
