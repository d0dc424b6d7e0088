/*-------------------------------------------------------------------------
 *
 * errors/context.h
 *	  What an error's CONTEXT says while something is done.
 *
 * An error takes the callback off by itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONTEXT_H
#define FC_CONTEXT_H

static inline void
fc_error_context_push(ErrorContextCallback *callback, void (*function) (void *arg),
					  void *arg)
{
	callback->callback = function;
	callback->arg = arg;
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

/* The callback that was pushed last is done with */
static inline void
fc_error_context_pop(void)
{
	error_context_stack = error_context_stack->previous;
}

#endif							/* FC_CONTEXT_H */
