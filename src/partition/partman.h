/*-------------------------------------------------------------------------
 *
 * partition/partman.h
 *	  Partitioned tables that pg_partman manages.
 *
 * Leader only, never in parallel mode.  All of it runs in the caller's
 * transaction: pg_partman's functions as the owner of the table, all else as
 * the caller.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARTMAN_H
#define FC_PARTMAN_H

#include "partition/partition.h"

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

#endif							/* FC_PARTMAN_H */
