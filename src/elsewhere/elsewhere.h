/*-------------------------------------------------------------------------
 *
 * elsewhere/elsewhere.h
 *	  All that fast_copy knows of rows that go to other servers.
 *
 * Extension fast_copy_cluster sends them, with a library of its own, whose
 * functions stand in one table.  fast_copy asks for the table when a load meets
 * a foreign table, a table of Citus or an option for other servers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ELSEWHERE_H
#define FC_ELSEWHERE_H

#include "elsewhere/services.h"
#include "options/target.h"

#define FC_ELSEWHERE_EXTENSION	"fast_copy_cluster"

/* What the leader asks to be sent */
typedef struct FcElsewhereLoad
{
	const List *leaves;			/* OIDs of those that have rows; NIL: not
								 * known */
	const FcNewPartition *created;	/* foreign tables that are made by this
									 * load, not attached yet */
	int			ncreated;
	bool		whole;			/* all leaves are elsewhere: there is no other
								 * scan or load */
	bool		makes;			/* whole: a missing partition is made, so that
								 * a record without one ends the pass */
} FcElsewhereLoad;

/* What was sent to a leaf, as the report has it; no texts without rows */
typedef struct FcElsewhereSent
{
	Oid			leaf;
	char	   *name;			/* of the table there that is the leaf, or of
								 * the leaf */
	uint64		rows;
	uint64		bytes;
	double		seconds;
	char	   *choice;			/* where to, and how */
} FcElsewhereSent;

/* A pass over the file that sends records; which leaf a record goes to */
typedef struct FcSender FcSender;
typedef struct FcDispatch FcDispatch;

typedef struct FcElsewhere
{
	/* ERROR 22023 if options for other servers have wrong values */
	void		(*check_options) (const FcOptions *options);

	/*
	 * Returns the OIDs of the servers on which the options ask for missing
	 * partitions; NIL: they do not.  "partman": pg_partman keeps the target.
	 */
	List	   *(*places) (const FcTarget *target, bool partman);

	/*
	 * A table that Citus lists: returns what is known of its rows' places, in
	 * the current memory context, for FcTarget.kept.  NULL, with a sentence or
	 * NULL in *why: rows cannot be sent there.  The second does so once
	 * nothing can move before the transaction ends.
	 */
	struct FcShards *(*keep) (Oid table, const char **why);
	struct FcShards *(*keep_still) (Oid table, const char **why);

	/*
	 * Why records cannot go to where target->kept is, a sentence, or NULL: they
	 * can; and why they go there, for the report
	 */
	const char *(*kept_refusal) (const FcTarget *target);
	const char *kept_choice;

	/*
	 * Why raw records cannot go to this foreign table, so that core must load
	 * it; NULL: they can
	 */
	const char *(*leaf_refusal) (const FcTarget *target, Relation foreign);

	/* ERROR if core must not load the target's foreign tables */
	void		(*check_core) (const FcTarget *target);

	/*
	 * New partitions: sets parts[].remote, by which server each is to lie on;
	 * whether the role may use that server; and the command that makes the
	 * foreign table "name" here.  All in the current memory context.
	 */
	void		(*place) (Relation parent, const FcRoute *route, const List *servers,
						  FcNewPartition *parts, int nparts);
	bool		(*may_place) (const struct FcRemoteTable *remote, Oid role);
	char	   *(*place_sql) (Relation parent, const char *name, struct FcRemoteTable *remote);

	/*
	 * In each process of a load where leaves are here and elsewhere: does the
	 * leader send the record?  It leaves an error about the record to the
	 * process that loads it.
	 */
	FcDispatch *(*dispatch_begin) (FcContext *ctx, FcParser *parser);
	bool		(*dispatch_takes) (FcDispatch *dispatch, const FcRecord *record);
	void		(*dispatch_end) (FcDispatch *dispatch);

	/*
	 * The leader's pass over the file:
	 *
	 *	begin	locks the leaves
	 *	open	begins to send to as many as may be open: nothing may begin
	 *			while workers run
	 *	step	is FcContext.lead
	 *	finish	goes on to the end; then the first error is known.  False if
	 *			load->makes and a partition is missing: the caller's
	 *			subtransaction undoes all
	 *	end		frees all
	 */
	FcSender   *(*begin) (FcTarget *target, const FcElsewhereLoad *load);
	void		(*open) (FcSender *sender);
	bool		(*step) (void *sender);
	bool		(*finish) (FcSender *sender);
	uint64		(*rows) (const FcSender *sender);
	int			(*nleaves) (const FcSender *sender);
	FcElsewhereSent (*sent) (const FcSender *sender, int i);
	void		(*end) (FcSender *sender);

	/* Once new partitions are full: builds their indexes there */
	void		(*complete) (void);

	/*
	 * Has this transaction made tables elsewhere?  Until it commits only the
	 * sessions that have made them see them.
	 */
	bool		(*has_made) (void);
} FcElsewhere;

/*
 * The library's function that hands out the table.  It takes fast_copy's own
 * functions, and numbers that tell whether both libraries are of one version;
 * NULL: they are not.
 *
 * The first number counts up with each change of what both know.  The sizes
 * show most changes that were not counted.
 */
#define FC_ELSEWHERE_ENTRY	"fc_cluster_functions"
#define FC_ELSEWHERE_VERSION { \
	1, sizeof(FcElsewhere), sizeof(FcServices), sizeof(FcTarget), \
	sizeof(FcOptions), sizeof(FcPlan), sizeof(FcShared), sizeof(FcContext), \
	sizeof(FcChunkReader), sizeof(FcRecord), sizeof(FcNewPartition), sizeof(FcRoute) \
}
typedef const FcElsewhere *(*FcElsewhereEntry) (const Size *version, int n, const FcServices *services);

/*
 * Returns the functions, and loads the library for them.  NULL, with the reason
 * in *why: the extension is not there.  ERROR 55000 if the library is of
 * another version.
 */
extern const FcElsewhere *fc_elsewhere(const char **why);

/* How to have them, for a hint: a sentence */
extern const char *fc_elsewhere_hint(void);

/* The functions; ERROR 0A000 without them: the option needs them */
extern const FcElsewhere *fc_elsewhere_need(const char *option);

/* The functions, if this process has the library already; else NULL */
extern const FcElsewhere *fc_elsewhere_get(void);

/*
 * elsewhere/keeper.c
 */

/*
 * ERROR 0A000 if Citus or TimescaleDB keeps rows of the table, of a partition
 * of it or of a table that it inherits from, or if their catalog has an
 * unknown form.  The caller's lock keeps the table from being handed over to
 * them.
 *
 * Returns FcTarget.kept if rows must, and can, be sent to where they are kept;
 * else NULL.
 */
extern void *fc_keeper_check(Oid target);

/* The same once nothing can move any more before the transaction ends */
extern void *fc_keeper_check_still(Oid target);

/*
 * Throws the error of fc_keeper_check() for a table that has FcTarget.kept,
 * with the reason why rows cannot be sent to there: a sentence
 */
extern void fc_keeper_refuse(Oid target, const char *why);

/* Does one of them keep rows of the table? */
extern bool fc_keeper_keeps(Oid target);

/*
 * Does what fc_keeper_check() does, before the table is locked and only if the
 * caller may insert into it: other hooks need not see a command that will be
 * refused.
 */
extern void fc_keeper_foresee(Oid target);

#endif							/* FC_ELSEWHERE_H */
