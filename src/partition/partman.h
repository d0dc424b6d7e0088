/*-------------------------------------------------------------------------
 *
 * partition/partman.h
 *	  Partitioned tables that pg_partman keeps.
 *
 * Leader only, never in parallel mode.  All of it runs as the caller, in the
 * caller's transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARTMAN_H
#define FC_PARTMAN_H

#include "catalog/pg_class.h"
#include "nodes/pg_list.h"

#include "key/range.h"

/* Why partitions must not be made, or had better not be */
typedef struct FcFault
{
	const char *name;			/* of the warning in an analysis */
	int			sqlerrcode;
	char	   *message;
	char	   *detail;
	char	   *hint;
} FcFault;

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

/* What pg_partman says of one table, in the context of fc_partman_find */
typedef struct FcPartman
{
	int			version;		/* 100 * major + minor */
	Oid			user;			/* as whom its functions run */
	Oid			functions[FC_PARTMAN_NFUNCTIONS];	/* InvalidOid: not there */
	char	   *table;			/* as part_config calls it */
	char	   *name;			/* without the schema */
	char	   *control;
	char	   *type;			/* partition_type */
	char	   *interval;
	char	   *datetime_string;	/* or NULL */
	int64		epoch;			/* of FcInterval */
	char	   *retention;		/* or NULL */
	int			premake;
	char	   *zone;			/* partition_timezone, or NULL */
	char	   *template;		/* or NULL */
	Oid			template_oid;	/* or InvalidOid, if there is none either */
	Oid			template_owner;
	bool		early;			/* what partitions get must be there before
								 * rows */
	bool		privileges;		/* inherit_privileges */
	bool		publications;
	FcFault    *refusal;		/* not NULL: make no partitions, because ... */
} FcPartman;

extern FcFault *fc_partman_fault(const char *name, int sqlerrcode,
								 char *message, char *detail, char *hint);

/*
 * NULL if pg_partman does not keep the table, or fast_copy.use_partman is off,
 * or with a WARNING if it belongs to somebody who could not run code in this
 * load without it.  What it does not say, for want of privileges too, is left
 * NULL or zero, and refusal is set.
 */
extern FcPartman *fc_partman_find(Relation parent);

/*
 * The interval of new partitions.  ERROR 22023 if it is none, and 55000 if the
 * existing partitions tell of no time zone that it could be in.
 */
extern FcInterval fc_partman_interval(const FcPartman *partman,
									  const FcRoute *route);

/* The name pg_partman would give the partition that starts at "key" */
extern char *fc_partman_name(const FcPartman *partman, const FcRoute *route,
							 int64 key);

/* The table of the name that "template" is, or InvalidOid */
extern Oid	fc_partman_template(const FcPartman *partman);

/*
 * ERROR 55000 if the table, or its schema, is called otherwise by now, or the
 * template is another.  Locks that until the transaction ends.
 */
extern void fc_partman_check_names(const FcPartman *partman, Relation parent);

/*
 * Keeps maintenance away until the transaction ends; it does not wait but
 * leaves.  Other loads share the lock.  False if maintenance is at work: then
 * whoever has a lock on the table must not wait for it here, because it may
 * want the whole table, to drop a partition.
 */
extern bool fc_partman_try_lock(void);

/* The same, once maintenance has ended; without a lock on the table */
extern void fc_partman_lock(void);

/*
 * What speaks against loading rows of the range "lowest" (NULL: none) to the
 * key "high", for which "parts" (ascending) are to be made, and that no
 * setting tells to be ignored: a list of FcFault.
 */
extern List *fc_partman_faults(const FcPartman *partman, const FcRoute *route,
							   const FcRange *lowest, int64 high,
							   const FcNewPartition *parts, int nparts);

/* ERROR */
extern void fc_partman_throw(const FcFault *fault);

/* What an empty table of this name gets before it is filled */
extern void fc_partman_prepare(const FcPartman *partman, Oid nspid,
							   const char *name);

/*
 * What partitions get once they are attached.  Rows were compared with their
 * bounds.  The caller has closed all of them.
 */
extern void fc_partman_finish(const FcRoute *route, Oid nspid,
							  const FcNewPartition *parts, int nparts);

/* From here on for partition/partman*.c */

/* A text as an argument */
extern Node *fc_partman_argument(const char *text);

/*
 * Calls one of pg_partman's functions as SQL would, but by its OID and as the
 * role that may be trusted with it.  Its result, if that is a text and not
 * NULL.
 */
extern char *fc_partman_call(const FcPartman *partman, FcPartmanFunction function,
							 List *args);

/* The highest partition with two finite bounds, or NULL */
extern const FcRange *fc_partman_newest(const FcRoute *route);

/* The fixed part of a row of pg_class; zeroes if there is none */
extern FormData_pg_class fc_partman_class(Oid relid);

#endif							/* FC_PARTMAN_H */
