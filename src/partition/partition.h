/*-------------------------------------------------------------------------
 *
 * partition/partition.h
 *	  Makes, names and attaches the partitions of a load, and exchanges files of
 *	  tables.
 *
 * Leader only, never in parallel mode.  All of it runs as the caller, in the
 * caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARTITION_PARTITION_H
#define FC_PARTITION_PARTITION_H

#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/snapshot.h"

#include "context/shared.h"

/*
 * partition/ddl.c: faults
 */

/*
 * A reason why partitions must not, or should not, be made.  A load throws the
 * first one that it finds; an analysis shows all.
 */
typedef struct FcFault
{
	const char *name;			/* of the warning in an analysis */
	int			sqlerrcode;
	char	   *message;
	char	   *detail;
	char	   *hint;
} FcFault;

/* Returns a fault in the current memory context, with pointers to the texts */
extern FcFault *fc_fault(const char *name, int sqlerrcode, char *message,
						 char *detail, char *hint);

/* Returns the list with the fault, unless that is NULL */
extern List *fc_faults_add(List *faults, FcFault *fault);

/* Throws the fault as an ERROR, or gives it as a WARNING; NULL: does nothing */
extern void fc_fault_report(int elevel, const FcFault *fault);

/*
 * partition/create.c
 */

/*
 * ERROR 42501 if the caller may not act as the parent's owner, who has to make
 * so many partitions; "first" tells which the first is.  The second returns
 * that for a range.
 */
extern void fc_partition_check_owner(Relation parent, Oid default_oid, int nparts,
									 const char *first);
extern char *fc_partition_text(const FcRoute *route, const FcNewPartition *part);

/* ERROR 42501 if the owner may not make tables in the parent's schema */
extern void fc_partition_check_schema(Relation parent, const struct FcPartman *partman);

/* Returns the CREATE TABLE, with "by" for PARTITION BY, or "" */
extern char *fc_create_sql(Relation parent, const struct FcPartman *partman,
						   const char *name, const char *by);

/*
 * Makes a table that the parent's owner owns, with its indexes and statistics;
 * plain: by fc_table_create(), if it can be so made
 */
extern Oid	fc_create_owned(Relation parent, const char *name, const char *sql,
							const struct FcRemoteTable *remote, bool plain);

/*
 * Checks what can be checked before any row is loaded: ownership of the
 * parent (42501), its owner's CREATE on its schema (42501), and that the
 * default partition, if any and unless it is drained, has no row that belongs
 * to one of the ranges (23514).
 */
extern void fc_partition_precheck(Relation parent, const FcRoute *route,
								  FcNewPartition *parts, int nparts, bool drained);

/*
 * Makes the new partitions of the target, and sets their OIDs and names:
 * stand-alone tables like those of CREATE TABLE ... PARTITION OF but for
 * indexes, or foreign tables (FcElsewhere.place).  They belong to the target's
 * owner.  Their schema keeps its name until the transaction ends.
 */
extern void fc_partition_create(FcContext *ctx, const FcRoute *route,
								FcNewPartition *parts, int nparts);

/*
 * Drops a created partition without rows, before any are attached.  The
 * caller has closed it.
 */
extern void fc_partition_drop(Oid partition);

/*
 * partition/sprout.c
 */

/* Its bound in SQL, "FOR VALUES ..." */
extern char *fc_sprout_bound(const FcSprout *sprout);

/* Returns a name that it could get, below a table of that name */
extern char *fc_sprout_name(const FcSprout *sprout, const char *above, Oid nspid);

/* The table that it, or what it is below, is attached to */
extern Oid	fc_sprout_parent(const FcSprout *sprout);

/*
 * Makes these partitions, and attaches them, as they are listed in a tree.  The
 * caller has locked the tables that they are attached to, and those that they
 * are like, in SHARE UPDATE EXCLUSIVE mode, and has none of them open.
 */
extern void fc_sprouts_make(const List *sprouts);

/* partition/name.c */

/* Returns the name that a partition for this range would get */
extern char *fc_partition_name(Relation parent, const FcRoute *route,
							   const FcRange *range);

/*
 * Returns a name that is not taken: "base", and "end", which may be cut to half
 * a name.  The first two return such an end: that of the partition that starts
 * at a key, and that of a value of a list, without what would need quotes.
 */
extern char *fc_name_suffix(const FcRoute *route, int64 key);
extern char *fc_name_of_value(const char *value);
extern char *fc_name_free(const char *base, const char *end, Oid nspid);

/*
 * Returns the name for a partition that is about to be made.  "before" is the
 * name of the one made before it, or NULL.  ERROR 42P07 if the name that
 * pg_partman gives is taken.
 */
extern char *fc_name_choose(Relation parent, const FcRoute *route,
							const FcRange *range, const char *before);

/*
 * partition/attach.c
 */

/* Do event triggers or other extensions see commands, or their effects? */
extern bool fc_attach_is_watched(void);

/*
 * Sets our hook of ProcessUtility, and the one that it calls next.  Ours looks
 * at COPY alone, and does not count as one that sees commands.
 */
extern void fc_attach_pass_over(ProcessUtility_hook_type ours,
								ProcessUtility_hook_type before);

/* State from fc_partition_attach_begin to fc_partition_attach_end */
typedef struct FcAttach
{
	Oid			parent;
	const FcRoute *route;
	const FcNewPartition *parts;
	Oid		   *guards;			/* a CHECK for each of "parts", or NULL */
	Oid			spared;			/* the default partition's CHECK, or
								 * InvalidOid */
	const char *reason;			/* why ATTACH is needed after the first */
	bool		vouched;		/* are all rows known to fit the bounds? */
	bool		first;			/* is none attached yet? */
	bool		untold;			/* must sessions still be told of attached
								 * ones? */
	MemoryContext mcxt;			/* for the work on one partition */
} FcAttach;

/*
 * Returns the first of the new partitions whose range overlaps that of an
 * existing one, which *other is set to; NULL if there is none.  A partition
 * that is pending DETACH exists, though no row goes to it.
 */
extern const FcNewPartition *fc_partition_overlap(Relation parent,
												  const FcNewPartition *parts,
												  int nparts, Oid *other);

/*
 * The caller attaches "parts" between these two, and does not look at the
 * parent's partitions meanwhile.  "vouched": only the load has written to
 * them, and it has compared all keys.  "drained": it has moved their rows out
 * of the default.
 *
 * As ATTACH would, the first locks the parent (SHARE UPDATE EXCLUSIVE) and the
 * default (ACCESS EXCLUSIVE) until commit.  It reads the latter once, unless it
 * is drained: ERROR 23514 for a row of "parts".
 */
extern void fc_partition_attach_begin(FcAttach *attach, Oid parentid,
									  const FcRoute *route,
									  FcNewPartition *parts, int nparts,
									  bool vouched, bool drained);
extern void fc_partition_attach_end(FcAttach *attach);

/*
 * Attaches one created partition.  Its rows are not read if the load vouches
 * for them; else a row in the wrong partition is core's ERROR 23514.
 *
 * The caller has closed both tables and kept its locks: ALTER TABLE refuses
 * (55006) a table that this session holds open.
 */
extern void fc_partition_attach(FcAttach *attach, const FcNewPartition *part);

/*
 * partition/vouch.c
 */

/*
 * ERROR 23514 if the default partition has a row that belongs to one of
 * "parts", which is not looked for if it is "known" that it has none.  True if
 * it has rows, but none of these; false if it has none, or is foreign or
 * partitioned: ATTACH handles that itself.
 */
extern bool fc_vouch_check_default(Relation defrel, Relation parent, const FcRoute *route,
								   const FcNewPartition *parts, int nparts, bool known);

/* Returns FOR VALUES as the parser makes it */
extern PartitionBoundSpec *fc_vouch_bound(Relation parent, FcKeyType type,
										  const FcRange *range);

/* Vouches for the rows of a new partition; returns the OID of its CHECK */
extern Oid	fc_vouch_for_part(Oid parentid, const FcRoute *route,
							  const FcNewPartition *part);

/*
 * Vouches that no row of the default partition belongs to "parts"; returns the
 * OID of its CHECK
 */
extern Oid	fc_vouch_for_default(Relation defrel, Relation parent, FcKeyType type,
								 const FcNewPartition *parts, int nparts);

/*
 * partition/table.c
 */

/*
 * Executes one CREATE TABLE, of a table that is not temporary and will be
 * attached (partition/attach.c): its columns are marked as inherited.  Leader
 * only.  Event triggers and hooks of other extensions do not see the command.
 */
extern void fc_table_create(const char *sql);

/*
 * Makes an empty table with the name, columns, constraints and options of this
 * one, but without indexes and defaults, in another schema.  Attributes have
 * the same numbers.  Returns its OID.
 */
extern Oid	fc_table_create_like(Relation rel, Oid nspid);

/*
 * The same for a stage: the table is not logged, and the current user's.
 * "rel" may be partitioned.  Unless "constrained" it only has columns, none of
 * them generated.  "marks", only then: its last column is one more, a boolean.
 */
extern Oid	fc_table_create_stage(Relation rel, Oid nspid, bool constrained, bool marks);

/*
 * Empties the table and its indexes, built or not; rows can then be inserted
 * into both.  Leader only.
 */
extern void fc_table_truncate(Oid relid);

/*
 * partition/lock.c
 */

/*
 * Locks the tables, and all that belongs to them, against all sessions.  It
 * takes all locks or none, and lets others go on while it waits for one of
 * them: at most lock_timeout in all, then ERROR 55P03.  The caller has locked
 * them in SHARE UPDATE EXCLUSIVE mode.
 */
extern void fc_lock_all(List *tables);

/*
 * Locks the tables likewise, if they are empty and no other session uses them
 * for so many milliseconds, or lock_timeout.  Returns InvalidOid; or one of the
 * tables that has rows or is in use, and has locked none.
 */
extern Oid	fc_lock_all_empty(List *tables, int most);

/*
 * Locks a table while other sessions may wait for the end of this transaction.
 * ERROR 40P01 if the lock's holder does; 55P03 after lock_timeout.
 */
extern void fc_lock_patiently(Oid relid, LOCKMODE mode);

/* The same, but false if the lock's holder waits for this transaction */
extern bool fc_lock_or_yield(Oid relid, LOCKMODE mode);

/*
 * partition/exchange.c
 */

/*
 * Returns a trigger that would fire for a row that is inserted or deleted, or
 * NULL.  That of a foreign key does not count if rows are moved and what it
 * says of them does not change.
 */
extern const Trigger *fc_exchange_fires(Relation rel, FcMove move);

/* Does a constraint or a generated column see which table a row is in? */
extern bool fc_exchange_constraints_see_table(Relation rel);

/*
 * Returns why other sessions, or the table's code, could tell an exchange from
 * a DELETE and a COPY; NULL if they could not.  The table is locked, and has
 * no access method but core's.
 */
extern const char *fc_exchange_refusal(Relation rel, FcMove move);

/*
 * Makes the schema for substitutes, which fc_table_create_like makes, and
 * whose rows are frozen as they are written.  Returns its OID.  Its owner can
 * name the tables in it.
 */
extern Oid	fc_exchange_begin(Oid owner);

/* May the index's expressions call functions of users? */
extern bool fc_attach_index_runs_code(Relation index);

/* Has the table, which is locked, no page, but an index? */
extern bool fc_exchange_is_empty(Oid table);

/*
 * Exchanges the files of a locked table and of its substitute, and those of
 * their indexes, a list of FcIndexTask.  The table keeps its OID and all that
 * is not storage.  The change is visible after CommandCounterIncrement.
 */
extern void fc_exchange_files(Oid table, Oid substitute, const List *indexes);

/* Drops the substitute of a table, which has the old files now */
extern void fc_exchange_drop(Oid table, Oid substitute);

/* Is this the name of such a schema? */
extern bool fc_exchange_is_schema(const char *name);

/* Drops the schemas, and what is left in them */
extern void fc_exchange_end(const List *schemas);

/*
 * partition/ddl.c: runs commands and queries that are made as text.  Leader
 * only, never in parallel mode.  On error the end of the transaction finishes
 * SPI and restores search_path.
 */

/*
 * Pins search_path, so that it cannot change what a command's text means.
 * Returns the level for AtEOXact_GUC().
 */
extern int	fc_ddl_pin(void);

/* Sets a setting until that level ends */
extern void fc_ddl_set(const char *name, const char *value);

/*
 * fc_ddl_begin pins search_path and connects SPI, fc_ddl_end undoes both.
 * With "keep" other settings stay as the commands have SET them.
 */
extern int	fc_ddl_begin(void);
extern void fc_ddl_end(int level, bool keep);

/* Runs a command that gives no rows; SPI is connected */
extern void fc_ddl_run(const char *sql);

/*
 * Runs a query, with search_path pinned, on what is committed or done by now;
 * returns its first row's only column as a text, or NULL: it is that, or there
 * is no row
 */
extern char *fc_ddl_value(const char *sql);

/*
 * The same, whatever the caller may read, as core's own code reads catalogs.
 * Only for queries of objects in pg_catalog, with nothing but numbers put in:
 * planning one of a user's table may run that user's code.
 */
extern char *fc_ddl_of_catalogs(const char *sql);

/*
 * Runs a command or a query with parameters, by its plan if there is one;
 * returns its number of rows, all of which are in SPI_tuptable.  nulls as SPI
 * has them, or NULL.  The context of an error does not show the text.
 */
extern uint64 fc_ddl_execute(SPIPlanPtr plan, const char *sql, int nargs, const Oid *types,
							 Datum *values, const char *nulls);

/*
 * Runs an INSERT, UPDATE or DELETE of rows of users as the caller's command
 * would run, without SPI, which shows the text in the context of errors and
 * notices.  Returns the number of rows.  Its text must not depend on
 * search_path: triggers run with the caller's.  With a snapshot it sees what
 * that sees of other transactions, else the latest.  If an error about a row
 * of an INSERT ends it, *row is set to the row as the SELECT returned it, in
 * the target's row type; "row" may be NULL.  *met is set to how many rows of an
 * INSERT met equal ones and were not refused by the action's condition, unless
 * it is NULL.
 */
extern uint64 fc_ddl_change(const char *sql, Snapshot snapshot, HeapTuple *row, uint64 *met);

/*
 * Return the name of a relation with its schema's, both quoted.  The second
 * looks up the name that a table has now; ERROR 42P01 if it was dropped.
 */
extern char *fc_ddl_name(Oid nspid, const char *relname);
extern char *fc_ddl_table(Oid table);

/* Would CREATE TABLE find the name in use, by a relation or by a type? */
extern bool fc_ddl_name_is_taken(const char *name, Oid nspid);

/* Returns a copy of a row of pg_class; ERROR XX000 if there is none */
extern HeapTuple fc_ddl_class_copy(Oid relid);

/* Sets columns of a row of pg_class */
extern void fc_ddl_class_change(Oid relid, int n, int *columns, Datum *values, bool *nulls);

/* Returns the fixed part of a row of pg_class; zeroes if there is none */
extern FormData_pg_class fc_ddl_class(Oid relid);

/*
 * Keeps the schema's name until the transaction ends: no session can rename
 * it, and commands that name the schema find the right tables.  Waits for a
 * session that is changing the schema.  Leader only.
 */
extern void fc_ddl_keep_schema(Oid nspid);

/*
 * partition/partman.c: partitioned tables that pg_partman manages
 *
 * Leader only, never in parallel mode.  All of it runs in the caller's
 * transaction: pg_partman's functions as the owner of the table, all else as
 * the caller.
 */

/* pg_partman's functions that are called here */
typedef enum FcPartmanFunction
{
	FC_PARTMAN_CHECK_NAME,
	FC_PARTMAN_PARENT,
	FC_PARTMAN_TEMPLATE,
	FC_PARTMAN_PRIVILEGES,
	FC_PARTMAN_REPLICA_IDENTITY,
	FC_PARTMAN_PUBLICATIONS,
	FC_PARTMAN_NFUNCTIONS
} FcPartmanFunction;

/* What pg_partman says of a table, in memory of fc_partman_find's caller */
typedef struct FcPartman
{
	int			version;		/* 100 * major + minor */
	Oid			user;			/* the table's owner: its functions run as it */
	Oid			config;			/* part_config, or InvalidOid */
	Oid			functions[FC_PARTMAN_NFUNCTIONS];	/* or InvalidOid */
	char	   *table;			/* as part_config calls it */
	char	   *name;			/* table without the schema */
	char	   *control;
	char	   *type;			/* partition_type */
	char	   *interval;
	char	   *datetime_string;	/* or NULL */
	int64		epoch;			/* of FcInterval */
	char	   *retention;		/* or NULL */
	int			premake;
	char	   *zone;			/* partition_timezone, or NULL */
	char	   *template;		/* or NULL */
	Oid			template_oid;	/* InvalidOid: none, or it does not exist */
	Oid			template_owner;
	bool		indexes;		/* has the template indexes? */
	bool		early;			/* pg_partman's functions must see partitions
								 * before these have rows */
	bool		privileges;		/* inherit_privileges */
	bool		publications;
	FcFault    *refusal;		/* why no partitions can be made, or NULL */
} FcPartman;

/*
 * Returns what pg_partman says of the table.  NULL if pg_partman does not
 * manage it, if fast_copy.use_partman is off, or, with a WARNING, if
 * pg_partman belongs to a role that may not act as the table's owner.  Fields
 * that cannot be known, perhaps for want of privileges, stay NULL or zero, and
 * refusal is set.
 */
extern FcPartman *fc_partman_find(Relation parent);

/* ERROR 0A000 if it manages the table, whose tree is to get partitions */
extern void fc_partman_forbid(Relation parent);

/*
 * ERROR 42501 if the owner of the table lacks a privilege that pg_partman's
 * functions need to make partitions
 */
extern void fc_partman_check_owner(const FcPartman *partman);

/*
 * Returns the interval of new partitions.  ERROR 22023 if its text is no
 * interval, and 55000 if the existing partitions fit no time zone that it
 * could be in.
 */
extern FcInterval fc_partman_interval(const FcPartman *partman,
									  const FcRoute *route);

/* Returns the name pg_partman would give a partition that starts at "key" */
extern char *fc_partman_name(const FcPartman *partman, const FcRoute *route,
							 int64 key);

/*
 * ERROR 55000 if the table or its schema was renamed meanwhile, or the name
 * of the template means another table.  Locks the template until the
 * transaction ends.
 */
extern void fc_partman_check_names(const FcPartman *partman, Relation parent);

/*
 * Locks maintenance out until the transaction ends; maintenance does not wait
 * but ends.  Other loads share the lock.  False if maintenance is running: a
 * load that holds a lock on the table must not wait, because maintenance may
 * wait for that lock to drop a partition.
 */
extern bool fc_partman_try_lock(void);

/* Waits for maintenance, then locks it out; without a lock on the table */
extern void fc_partman_lock(void);

/*
 * Narrows a range of keys to partitions that maintenance neither removes nor
 * goes on from too far ahead, unless a setting ignores that.  "high" is the
 * highest key of new rows, or PG_INT64_MIN.
 */
extern void fc_partman_narrow(const FcPartman *partman, const FcRoute *route,
							  int64 high, FcRange *bounds);

/*
 * Returns, as a list of FcFault, why rows from the range "lowest" (NULL: there
 * are none) up to the key "high" cannot be loaded, or "parts" (ascending)
 * cannot be made for them.  Leaves out faults that a setting ignores; "leave":
 * by what rows can be left out.
 */
extern List *fc_partman_faults(const FcPartman *partman, const FcRoute *route,
							   const FcRange *lowest, int64 high,
							   const FcNewPartition *parts, int nparts,
							   const char *leave);

/* Gives an empty table of this name what it needs before it is filled */
extern void fc_partman_prepare(const FcPartman *partman, Oid nspid,
							   const char *name);

/*
 * Gives partitions what they need after they are attached.  The load has
 * compared their rows with the bounds.  pg_partman manages the table, and the
 * caller has closed all of them.
 */
extern void fc_partman_finish(const FcRoute *route, Oid nspid,
							  const FcNewPartition *parts, int nparts);

#endif							/* FC_PARTITION_PARTITION_H */
