/*-------------------------------------------------------------------------
 *
 * context/plan.h
 *	  What all processes of a load know about it before it begins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CONTEXT_PLAN_H
#define FC_CONTEXT_PLAN_H

/* Who called */
typedef enum FcCaller
{
	FC_CALLER_FUNCTION,			/* fast_copy() */
	FC_CALLER_ANALYSIS,			/* fast_copy_analyze() */
	FC_CALLER_OPTION,			/* COPY ... WITH (fast_copy, ...) */
	FC_CALLER_PLAIN				/* a COPY without our option, which must do
								 * what core does, only faster */
} FcCaller;

/* Did the caller write COPY, and not call a function? */
static inline bool
fc_caller_wrote_copy(FcCaller caller)
{
	return caller == FC_CALLER_OPTION || caller == FC_CALLER_PLAIN;
}

/* What the caller writes between an option's name and its value, for hints */
static inline const char *
fc_caller_arrow(FcCaller caller)
{
	return fc_caller_wrote_copy(caller) ? "" : " =>";
}

/* Are rows loaded?  An analysis only looks at them. */
static inline bool
fc_caller_writes(FcCaller caller)
{
	return caller != FC_CALLER_ANALYSIS;
}

/*
 * Must nothing but the time tell the load from core's COPY?  The predicates
 * below say what follows from that.
 */
static inline bool
fc_caller_is_plain(FcCaller caller)
{
	return caller == FC_CALLER_PLAIN;
}

/* Errors have core's context, and no hint of ours */
static inline bool
fc_caller_errors_as_core(FcCaller caller)
{
	return fc_caller_is_plain(caller);
}

/* Rows go where core routes them, in the order of the file, and no other way */
static inline bool
fc_caller_routes_as_core(FcCaller caller)
{
	return fc_caller_is_plain(caller);
}

/* Bytes are read as core reads them: not unpacked, and up to a marker */
static inline bool
fc_caller_reads_as_core(FcCaller caller)
{
	return fc_caller_is_plain(caller);
}

/* Core has checked privileges, parsed the condition and opened the source */
static inline bool
fc_caller_opened_by_core(FcCaller caller)
{
	return fc_caller_is_plain(caller);
}

/* Does the load say what it did, by a NOTICE or a row of the history? */
static inline bool
fc_caller_is_told(FcCaller caller)
{
	return caller == FC_CALLER_FUNCTION || caller == FC_CALLER_OPTION;
}

#endif							/* FC_CONTEXT_PLAN_H */
