/*-------------------------------------------------------------------------
 *
 * options/target.h
 *	  What is loaded, where to and how, as the leader knows it.
 *
 * The leader alone has it, for as long as the load lasts; what workers need
 * of it is in FcShared.  load/ fills it in, and passes it to the rooms above it
 * in src/README's list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TARGET_H
#define FC_TARGET_H

#include "options/plan.h"
#include "source/input.h"

/* What the caller of a load has opened already */
typedef struct FcOpened
{
	FcInput    *input;			/* what the program or the client sends, if it
								 * was asked for; or NULL */
	FcSource   *file;			/* the file that core has opened; or NULL */
	dsm_segment *segment;		/* for the load's shared memory; or NULL.  The
								 * load makes another one if it needs more */
	List	   *where;			/* a plain COPY's condition, as core has it */
} FcOpened;

/*
 * A leaf that the load does not write to: its rows go to a table like it, whose
 * files then change places with the leaf's
 */
typedef struct FcSubstitute
{
	FcRange		range;			/* of the leaf, range.partition */
	Oid			table;			/* that gets the rows */
	char	   *schema;			/* of the leaf */
	char	   *own_schema;		/* of the substitute: that of all whose leaves
								 * are in the same one */
	uint64		carried;		/* rows that others have inserted meanwhile */
	double		old_rows;		/* of the leaf, if they are replaced */
	bool		old_guessed;
} FcSubstitute;

typedef struct FcTarget
{
	const FcOptions *options;
	FcOpened	opened;
	FcPlanned  *planned;		/* NULL until it is made */
	const FcPlan *plan;			/* planned->plan and, as soon as there is
								 * shared memory, that of shared */
	FcFacts		facts;			/* set by the code that learns them */
	FcCourse	course;			/* what follows: load/way.c */
	int			nworkers;		/* workers asked for */

	/* where to */
	Oid			oid;
	char	   *relname;		/* for error contexts */
	Relation	rel;			/* open and locked; closed while DDL runs */
	void	   *kept;			/* where another extension keeps the rows: they
								 * go there, and nowhere else; NULL: here */
	FcRoute    *route;			/* as of the scan, if plan->key.routes */
	int			ncreated;		/* partitions that the load makes */
	FcNewPartition *created;	/* by key */
	int			nsprouts;		/* partitions made for core's routing */
	int			nsubstitutes;	/* until their files are exchanged */
	FcSubstitute *substitutes;	/* by key; of a plain table the only one */
	Oid			stage;			/* gets the rows that may be in conflict with
								 * others; or InvalidOid */
	int			nreplaced;		/* leaves all of whose rows were replaced */
	int			ngroups;		/* leaves with rows */
	int			nindexes;		/* indexes that the load builds */
	Relation	history;		/* table for a row about the load, and that of
								 * the rejects, both locked: open while the
								 * load may call code, so that core refuses
								 * to drop or alter them; or NULL */
	Relation	rejects;

	/* what */
	const List *sources;		/* options->sources, but for files that are
								 * passed over */
	bool		literal;		/* they are paths, and none is a pattern */
	FcSource   *source;			/* the files, or temporary copies of them */
	FcSource   *original;		/* what source is converted from, or NULL */
	FcInput    *given_up;		/* NULL, or the input whose sender has failed:
								 * the load fails, too, once the rows that
								 * came before are loaded */
	FcFileForm	form;			/* of source */
	FcDialect	dialect;
	uint64		data_size;		/* bytes after the headers */
	uint64		found;			/* records in the files; 0: not counted yet */
	bool		counted;		/* the split has counted them */
	uint64		loaded;			/* rows */
	uint64		updated;		/* of these, by on_conflict */
	uint64		deleted;		/* rows of the table, by on_conflict */
	double		old_rows;		/* that were replaced */
	bool		old_guessed;	/* ... by a sample */

	/* how far it has come */
	TimestampTz start;			/* when the load began */
	FcShared   *shared;			/* NULL until it is made */
	FcContext	ctx;			/* what each process has, here the leader */
} FcTarget;

/* Are there more data to come than the source has now? */
static inline bool
fc_target_grows(const FcTarget *target)
{
	return target->source && target->source->grows;
}

/* The files, or temporary copies of them, before they were converted */
static inline const FcSource *
fc_target_unconverted(const FcTarget *target)
{
	return target->original ? target->original : target->source;
}

/*
 * Returns what is loaded, for error contexts: "COPY table" in a plain COPY,
 * else ours, which names the file as well
 */
static inline char *
fc_target_place(const FcTarget *target, uint32 file)
{
	if (fc_caller_errors_as_core(target->options->caller))
		return psprintf("COPY %s", target->relname);
	return psprintf("fast_copy %s, %s \"%s\"", target->relname,
					fc_source_word(target->source), fc_source_path(target->source, file));
}

/* Where the data come from, as the progress view of COPY numbers it */
static inline int64
fc_target_progress_type(const FcTarget *target)
{
	return target->options->client ? PROGRESS_COPY_TYPE_PIPE :
		target->options->program ? PROGRESS_COPY_TYPE_PROGRAM : PROGRESS_COPY_TYPE_FILE;
}

#endif							/* FC_TARGET_H */
