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

/* Callbacks, whose argument is the text that they add: of context, or a hint */
static inline void
fc_error_context_add(void *arg)
{
	errcontext("%s", (const char *) arg);
}

static inline void
fc_error_hint_add(void *arg)
{
	errhint("%s", (const char *) arg);
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

/*
 * In a callback: has the error no hint yet, and does its message, or the format
 * of that, begin so?  An error that comes from another process or was caught
 * before has its message only, translated; the format of one whose message was
 * made before is none.
 */
static inline bool
fc_error_wants_hint(const char *start)
{
	ErrorData  *edata = fc_error_so_far();
	const char *message = edata->message_id && strcmp(edata->message_id, "%s") != 0 ?
		edata->message_id : edata->message;
	bool		wants = edata->hint == NULL && message && strncmp(message, start, strlen(start)) == 0;

	FreeErrorData(edata);
	return wants;
}

/* A statement for PostgreSQL's grammar: some words, and the caller's text */
typedef struct FcWithin
{
	const char *text;
	int			before;			/* characters that stand before it */
} FcWithin;

/*
 * A callback, whose argument is an FcWithin: turns an error's place in the
 * statement into one in the caller's text
 */
static inline void
fc_error_within(void *arg)
{
	const FcWithin *within = arg;
	int			position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(Max(position - within->before, 1));
	internalerrquery(within->text);
}

/* Takes off the callback that was pushed last */
static inline void
fc_error_context_pop(void)
{
	error_context_stack = error_context_stack->previous;
}

#endif							/* FC_CONTEXT_H */
