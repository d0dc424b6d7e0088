/*-------------------------------------------------------------------------
 *
 * context/course.h
 *	  What is known about a load, and what follows from that: its course.
 *
 * Knows nothing of the server: test/unit/course.c has a table of cases.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COURSE_H
#define FC_COURSE_H

#include <stdbool.h>

/* In which order which processes take rows from the files */
typedef enum FcWay
{
	FC_WAY_CHUNKS,				/* chunk by chunk, in no order */
	FC_WAY_TURNS,				/* chunks, which insert in the order of the
								 * file */
	FC_WAY_SEND,				/* the leader sends the records, as they are,
								 * to other servers */
	FC_WAY_PRESORTED,			/* chunks of a file that is in key order:
								 * their rows are slices of the leaves */
	FC_WAY_OFFSETS,				/* leaf by leaf, in key order: read where the
								 * scan has found them */
	FC_WAY_ROWS,				/* the same, from what the scan has spilled of
								 * each record */
	FC_WAY_COPY					/* core's CopyFrom, in the leader */
} FcWay;

/* Who finds the records of the chunks, if no split does */
typedef enum FcUnsplit
{
	FC_UNSPLIT_NOT,
	FC_UNSPLIT_FIND,			/* the scan or the load, by the leader alone */
	FC_UNSPLIT_GUESS			/* the scan: each process guesses where the
								 * first record of a chunk begins */
} FcUnsplit;

/*
 * All that is known about a load and may change its course.  Zero stands for a
 * plain table without a key, for one whole file, and for what is not known yet.
 */
typedef struct FcFacts
{
	/* of the plan, see context/plan.h and options/plan.h */
	bool		keyed;			/* there is a key, and it is not dropped */
	bool		key_routes;		/* it tells the partition */
	bool		early;			/* it only finds the missing partitions */
	bool		dropped;		/* it has found them: core routes now */
	bool		routed;			/* core's tuple routing finds the leaves */
	bool		sprouts;		/* ... after a pass over the files for those
								 * that are missing, which are made */
	bool		partitioned;
	bool		plain;			/* the target is a plain table */
	bool		writes;			/* false: an analysis */
	bool		creates;		/* missing partitions are made */
	bool		keeps_default;	/* rows without a partition are refused, though
								 * a default partition would take them */
	bool		frozen;			/* freeze */
	bool		replaces;		/* existing_rows is not "keep" */
	bool		bounded;		/* all keys must be in a range */
	bool		conflicts;		/* on_conflict */
	bool		compares;		/* rows may be equal in some columns */
	bool		whole_keys;		/* rows of one key must come together */
	bool		sorts;			/* rows are sorted after they are built */
	bool		effects;		/* no row may be evaluated twice */
	bool		filtered;		/* there is a condition */
	bool		tolerates;		/* some bad records are left out */
	bool		rejects;		/* the caller has asked for that */
	bool		skips_empty;
	bool		numbered;		/* columns get numbers of sequences, or of
								 * lines or records */
	bool		foreign_keys;	/* the target has some, and no other triggers */
	bool		visible;		/* new partitions must be attached, or have
								 * indexes, before rows come */
	bool		placed;			/* new partitions are made on other servers */
	const char *core;			/* why core loads, or NULL */
	const char *leader;			/* why the leader works alone, or NULL */
	const char *kept;			/* how the rows get to where another extension
								 * keeps them, or NULL: they are not kept */

	/* of the source, and of the machine */
	bool		binary;
	bool		several;		/* files */
	bool		grows;			/* more data are to come than there are now */
	bool		heads;			/* so it was when the load began: who unpacks
								 * or receives them finds their records */
	bool		received;		/* ... from a program or the client, unpacked */
	bool		cut;			/* its sender has given up */
	bool		unsettled;		/* only core can tell how the lines of a file
								 * end */
	bool		look;			/* fast_copy.spill lets the load look whether
								 * the file is in key order */
	int			nworkers;

	/* of the leaves */
	bool		foreign;		/* some are on other servers, or were to be
								 * made there */
	bool		all_foreign;	/* all are, and take records as they are */
	bool		attached;		/* ... but one was attached that does not */
	bool		sends;			/* the leader sends what goes to some of them */
	bool		unique;			/* one that is there has a unique index */
	bool		made;			/* some are missing */
	const char *refusal;		/* why the records of the target, a foreign
								 * table, cannot be sent as they are */
	const char *core_leaf;		/* why core must load because of a leaf */
	const char *leader_leaf;	/* why the leader must, or NULL */

	/* of the passes that were made */
	bool		presorted;		/* the file seems to be in key order */
	bool		guessed_wrong;	/* where records begin, or it is not known
								 * whether: a bad one was met */
	bool		rows;			/* the scan spills rows, not offsets */
	const char *spill;			/* why; NULL: it has not begun */
} FcFacts;

/* What a load does, as far as facts decide it */
typedef struct FcCourse
{
	FcWay		way;

	/* what follows from the way alone */
	bool		core;			/* core's CopyFrom loads, in the leader */
	bool		sends_all;		/* the leader sends all records */
	bool		chunks;			/* the load reads the files from one end to the
								 * other */

	/* which steps it takes, see load/run.c */
	bool		core_alone;		/* core loads, and needs nothing before */
	bool		finds;			/* the scan looks for missing partitions, for
								 * core's routing */
	bool		seeks;			/* there is a key, and the data are all here */
	bool		scans;			/* the scan reads the keys */
	bool		routes;			/* the key tells the partition */
	bool		drops_key;		/* the load begins with a look at what the scan
								 * has counted: see fc_fill_drop_key */
	bool		fills;			/* we load */

	/* and from more */
	bool		spills;			/* the scan spills rows: an analysis reads rows
								 * in file order, and needs none */
	bool		in_turn;		/* chunks insert in turn */
	bool		alone;			/* one process sorts rows that may go to any
								 * leaf, or have no key */
	bool		looks;			/* the leader looks whether the file is in key
								 * order */
	bool		splits;			/* records are found before all else */
	FcUnsplit	unsplit;		/* if not: by whom */
	bool		samples;		/* the scan may spill rows */
	bool		flows;			/* it may go on while files are unpacked */
	bool		waits;			/* nothing may go on until all data are here */
	bool		once;			/* received bytes are read only once: a ring is
								 * enough for them */
	bool		attaches;		/* new partitions are attached before it */

	/* the leader's own, and not for workers */
	const char *reason;			/* why the load goes this way */
	const char *leader;			/* why the leader works alone, or NULL */
} FcCourse;

/* Decides the course; the same facts give the same one at any time */
extern FcCourse fc_course(const FcFacts *facts);

#endif							/* FC_COURSE_H */
