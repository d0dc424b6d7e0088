/*-------------------------------------------------------------------------
 *
 * errors/context.h
 *	  Adds to the CONTEXT of errors that are thrown while something is done.
 *
 * Push a callback before, pop it after.  If an error is thrown in between, the
 * PG_CATCH that catches it has put the stack back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONTEXT_H
#define FC_CONTEXT_H

#include "utils/memutils.h"

static inline void
fc_error_context_push(ErrorContextCallback *callback, void (*function) (void *arg),
					  void *arg)
{
	callback->callback = function;
	callback->arg = arg;
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

/*
 * In a callback: a copy of the error as it is so far, which the caller frees
 * by FreeErrorData
 */
static inline ErrorData *
fc_error_so_far(void)
{
	MemoryContext error_context = MemoryContextSwitchTo(TopTransactionContext);
	ErrorData  *edata = CopyErrorData();

	MemoryContextSwitchTo(error_context);
	return edata;
}

/* Takes off the callback that was pushed last */
static inline void
fc_error_context_pop(void)
{
	error_context_stack = error_context_stack->previous;
}

#endif							/* FC_CONTEXT_H */
