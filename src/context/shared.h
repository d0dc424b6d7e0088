/*-------------------------------------------------------------------------
 *
 * context/shared.h
 *	  What the processes of one load share, and what each has for itself.
 *
 * FcShared lives in a DSM segment of the leader that outlives the parallel
 * context of each phase.  Only the leader writes its first fields, before the
 * first phase or between phases.  The last ones change during a phase, by
 * atomics and under locks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SHARED_H
#define FC_SHARED_H

#include "lib/ilist.h"
#include "nodes/pg_list.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "storage/sharedfileset.h"
#include "utils/dsa.h"
#include "utils/memutils.h"

#include "compat/compat.h"
#include "compat/settings.h"
#include "context/course.h"
#include "context/plan.h"
#include "grammar/chunk.h"
#include "source/stream.h"

/* Bytes that a record is taken to have, as long as there is none to look at */
#define FC_RECORD_GUESS	64

/* Phases, in their order; progress and report use the same numbers */
typedef enum FcPhase
{
	FC_PHASE_SETUP = 0,
	FC_PHASE_SPLIT,
	FC_PHASE_SCAN,
	FC_PHASE_PARTITIONS,
	FC_PHASE_LOAD,
	FC_PHASE_INDEX,
	FC_PHASE_ATTACH,
	FC_PHASE_COPY,				/* core's CopyFrom in the leader */
	FC_PHASE_REJECT,			/* rows of reject_table */
	FC_PHASE_CHECK,				/* rows are looked at, nothing is written */
	FC_PHASE_ANALYZE,			/* statistics, run_analyze */
	FC_PHASE_UNPACK,			/* between setup and split: packed files */
	FC_PHASE_RECEIVE,			/* receives from a program or the client */
	FC_PHASE_REPLACE,			/* existing_rows: deletes rows before the load,
								 * exchanges files after it */
	FC_PHASE_REFERENCES,		/* foreign keys, after attach */
	FC_PHASE_TOTAL				/* none: all of them, for the report */
} FcPhase;

#define FC_NPHASES	(FC_PHASE_TOTAL + 1)

/* What a table's file is to this load, decided before a row comes */
typedef enum FcStorageKind
{
	FC_STORAGE_USED,			/* it may have free space, which rows go to */
	FC_STORAGE_EMPTY,			/* rows go one after another */
	FC_STORAGE_BUFFERS,			/* rows go into pages of heap/page_writer.c,
								 * through shared buffers */
	FC_STORAGE_PAGES			/* rows go into pages of a new file: the table
								 * was made by this transaction */
} FcStorageKind;

typedef struct FcStorage
{
	FcStorageKind kind;
	FcLocator	file;			/* FC_STORAGE_PAGES: see heap/page_new.c */
	bool		frozen;			/* rows are frozen as they are written */
	bool		indexed;		/* most of what a row costs there is its
								 * entries in indexes */
} FcStorage;

/*
 * What the load phase works on: a slice of the rows in key order, bounded by
 * (key, offset) pairs; or, where there is no key, a chunk of the file.
 */
typedef struct FcBound
{
	int64		key;
	uint64		offset;
} FcBound;

typedef struct FcTask
{
	Oid			partition;		/* leaf to load, InvalidOid: core routes */
	bool		null;			/* the rows whose key is NULL */
	FcBound		lo;				/* first bound that belongs */
	FcBound		hi;				/* first that does not */
	bool		hi_max;			/* no upper bound */
	uint64		rows;			/* expected, to sort tasks by */
	uint32		part;			/* number of the partition in the load */
	uint32		slice;			/* of the partition, from 0 */
	uint32		nslices;
	bool		whole;			/* one process takes all slices */
	bool		created;		/* partition was made by this load */
	Oid			replaces;		/* the leaf that the partition is a substitute
								 * of, or InvalidOid */
	FcStorage	storage;		/* of the partition */
	uint32		chunk;			/* of a presorted file, where the slice is */
	int64		upto;			/* ... and its largest key, at most */

	/* results */
	uint64		loaded;
	uint64		bytes;
	uint64		reads;
	int64		usec;
	uint64		old;			/* of the rows loaded: those that the leaf had
								 * before */
	uint64		old_gone;		/* others that it had, and that rows have
								 * taken the place of */
	uint64		gone;			/* rows of the file that equal ones were
								 * preferred to, and delete marks */
} FcTask;

/* Pages of a leaf whose rows are loaded once more */
typedef struct FcPages
{
	Oid			leaf;
	BlockNumber from;
	BlockNumber nblocks;
} FcPages;

/* Where inserts into a table have come to, for the slice that follows */
typedef struct FcSpot
{
	BlockNumber block;			/* of the last row; InvalidBlockNumber: none */
	BlockNumber next_free;		/* 16: first block that core has added and
								 * that has no rows yet */
	BlockNumber last_free;		/* 16: the last such block */
	uint32		added;			/* 16: how many core has added so far */
	Size		space;			/* bytes free in "block", if a slice has
								 * appended it as a page of its own */
} FcSpot;

/*
 * The turn of a leaf's slices, which insert in their order.  It has the leaf's
 * rows as well, which workers hand over to the leader's statistics
 * (heap/count.c).
 *
 * Where core routes, the phase's first FcTurn is the turn for all leaves.
 * Each other one has a leaf, and the place that inserts into it have come to.
 */
typedef struct FcTurn
{
	pg_atomic_uint32 next;		/* slice whose rows may be inserted */
	pg_atomic_uint64 leaf;		/* the leaf's OID; where core routes: once a
								 * row has been routed to it, with its
								 * FcStorageKind from bit 32 on */
	pg_atomic_uint32 counted;	/* 1: the leader has the leaf open */
	pg_atomic_uint64 rows;		/* handed over by workers */
	pg_atomic_uint64 toasted;	/* ... of its TOAST table */
	FcSpot		spot;			/* touched by the slice whose turn it is */
} FcTurn;

/*
 * What can be wrong with a record; a bit mask says which are tolerated.  What
 * has no class always ends the load.
 */
#define FC_CLASS_CONVERSION			0x01	/* a value its type refuses */
#define FC_CLASS_MISSING_COLUMNS	0x02
#define FC_CLASS_EXTRA_COLUMNS		0x04
#define FC_CLASS_ENCODING			0x08
#define FC_CLASS_CHECK				0x10
#define FC_CLASS_NOT_NULL			0x20
#define FC_CLASS_NO_PARTITION		0x40
#define FC_CLASS_UNIQUE				0x80
#define FC_CLASS_REPLACE_INVALID	0x100	/* bytes that are no characters */
#define FC_CLASS_CUT_LONG			0x200	/* too long for varchar or char */

/* Of values that are mended: the record is kept */
#define FC_CLASSES_MENDED	(FC_CLASS_REPLACE_INVALID | FC_CLASS_CUT_LONG)

/* Classes of errors that a look at the record alone finds */
#define FC_CLASSES_CHECKED	(FC_CLASS_CONVERSION | FC_CLASS_MISSING_COLUMNS | \
							 FC_CLASS_EXTRA_COLUMNS | FC_CLASS_ENCODING | \
							 FC_CLASS_CHECK | FC_CLASS_NOT_NULL)

/* What a field of the file needs besides its type's input */
#define FC_FIELD_FORCE_NOT_NULL		0x01
#define FC_FIELD_FORCE_NULL			0x02
#define FC_FIELD_SUBTRANSACTION		0x04	/* its errors need one:
											 * options/plan_code.c */
#define FC_FIELD_VISIBLE			0x08	/* its type's code can show how
											 * often it is called */
#define FC_FIELD_TRIM				0x10	/* without blanks around it, if
											 * it has no quotes */
#define FC_FIELD_TRIM_QUOTED		0x20	/* ... and if it has some */
#define FC_FIELD_TRIMS	(FC_FIELD_TRIM | FC_FIELD_TRIM_QUOTED)
#define FC_FIELD_WORDS				0x40	/* further words stand for NULL */
#define FC_FIELD_NUMBER				0x80	/* a number with the separators of
											 * number_format */
#define FC_FIELD_TRANSFORM			0x100	/* an expression makes the value:
											 * row/transform.c */

/* The field is edited before its type reads it: row/edit.c */
#define FC_FIELD_EDITS	(FC_FIELD_TRIMS | FC_FIELD_WORDS | FC_FIELD_NUMBER)

/* Its value is another one than core would read from it */
#define FC_FIELD_OURS	(FC_FIELD_EDITS | FC_FIELD_TRANSFORM)

/* Up to FC_ERROR_BATCH the text of the error is kept */
typedef enum FcErrorKind
{
	FC_ERROR_DATA,				/* a value, or a default */
	FC_ERROR_ROW,				/* the row, whose values are all converted:
								 * core must not convert them again */
	FC_ERROR_ENTRY,				/* an index refuses the row: core shows no
								 * record then, as it has read others */
	FC_ERROR_BATCH,				/* the row fits on no page: core meets that
								 * when it inserts a batch */
	FC_ERROR_GRAMMAR,			/* the record itself is malformed */
	FC_ERROR_ROUTE,				/* no partition takes the row */
	FC_ERROR_LIMIT,				/* here at the latest more records are
								 * rejected than reject_limit allows */
	FC_ERROR_INDEX				/* an index cannot be built: some record, at
								 * FC_SOMEWHERE */
} FcErrorKind;

/* After all records, but known: where an index could not be built */
#define FC_SOMEWHERE	(PG_UINT64_MAX - 1)

/* The first bad record of the file, as far as known */
typedef struct FcErrorSlot
{
	uint64		offset;			/* of the record */
	uint64		length;			/* of it, line end not included */
	FcErrorKind kind;
	dsa_pointer text;			/* what fc_error_kept returns, or invalid */
} FcErrorSlot;

/* A column that gets a number of a sequence, see row/serial.h */
typedef struct FcNumber
{
	AttrNumber	attnum;
	bool		identity;		/* nextval() asks for no privilege */
	Oid			sequence;

	/* what the leader took */
	int64		increment;
	uint64		nspans;			/* stretches without a gap */
} FcNumber;

/* A file that is scanned while it is unpacked: intake/finder.c */
typedef struct FcInflow
{
	pg_atomic_uint32 published; /* so many of its chunks, from the first on,
								 * may be taken */
	pg_atomic_uint32 whole;		/* 1: no other chunks follow */
	bool		uneven;			/* a chunk before the last may be shorter than
								 * those before it */
} FcInflow;

/* The files of a load, as all its processes see them */
typedef struct FcSharedSource
{
	uint64		size;			/* of all; a guess as long as room is not 0 */
	uint32		nfiles;
	bool		programs;		/* they are the output of commands */
	uint32		ncopies;
	uint32		nextents;		/* there is room for */
	uint64		data_size;		/* bytes after the headers of all files */
	uint32		nchunks;
	uint64		chunk_size;		/* of each chunk but a file's last ones; 0:
								 * chunks of other sizes occur */
	uint32		room;			/* chunks that each file has room for, as long
								 * as files are unpacked; 0: all chunks are
								 * there */
	uint32		ahead;			/* so many of these are for chunks of pieces
								 * that are unpacked ahead of their turn */
	uint32		places;			/* for chunks of a ring, one after the other,
								 * again and again; 0: each has its own */
	FcUnsplit	unsplit;
	dsm_handle	area;			/* if room is not 0: the segment through which
								 * workers unpack; DSM_HANDLE_INVALID: the
								 * leader receives the data */
} FcSharedSource;

/* How rows are read in key order */
typedef struct FcSharedIo
{
	bool		uring;			/* false: fc_io_sync */
	int			depth;			/* requests in flight */
	pg_atomic_uint32 uring_errno;	/* with which the kernel has refused
								 * io_uring to a process; 0: to none */
} FcSharedIo;

/* The first bad record that ends the load */
typedef struct FcSharedErrors
{
	pg_atomic_uint32 stopped;	/* a process stopped: see fc_error_take */
	pg_atomic_uint64 offset;	/* of the first; UINT64_MAX: no bad record
								 * known */
	slock_t		mutex;
	FcErrorSlot first;
} FcSharedErrors;

/* What holds a load back, see context/pace.c */
typedef struct FcSharedPace
{
	uint64		rate;			/* bytes a second; 0: as many as it can */
	uint64		lag;			/* of a standby, bytes; 0: whatever it is */
	pg_atomic_uint64 read;		/* moment up to which bytes read are paid for */
	pg_atomic_uint64 logged;	/* ... and bytes of WAL */
} FcSharedPace;

/*
 * What has been done so far, by all processes.  All are pg_atomic_uint64, so
 * that fc_counts_begin() needs no list of them; those from split_bytes on
 * outlast what is forgotten.
 */
typedef struct FcCounts
{
	/* of the files */
	pg_atomic_uint64 scan_bytes;
	pg_atomic_uint64 scanned;	/* records found by the scan */
	pg_atomic_uint64 spilled;	/* bytes of spill written */
	pg_atomic_uint64 filtered;	/* rows the condition is not true for */
	pg_atomic_uint64 skipped;	/* of these, lines that are no records */
	pg_atomic_uint64 rejected;	/* records that on_error left out */
	pg_atomic_uint64 last_rejected; /* the largest offset of such a record */
	pg_atomic_uint64 nulled;	/* records with a value that became NULL */
	pg_atomic_uint64 mended;	/* ... with one that was mended */
	pg_atomic_uint64 duplicates;	/* records that equal rows were preferred
									 * to */
	pg_atomic_uint64 marks;		/* delete marks, but for those */
	pg_atomic_uint64 unmatched; /* of these, marks that deleted nothing */

	/* of the rows */
	pg_atomic_uint64 load_bytes;
	pg_atomic_uint64 loaded;	/* rows inserted */
	pg_atomic_uint64 existing;	/* rows of leaves that are loaded once more */
	pg_atomic_uint64 updated;	/* of these, rows that equal ones were
								 * preferred to */
	pg_atomic_uint64 deleted;	/* ... rows that delete marks took out */
	pg_atomic_uint64 paged;		/* of those inserted, rows that
								 * heap/page_writer.c inserted */
	pg_atomic_uint64 heap_bytes;	/* fast_copy_analyze(): what rows would
									 * take */
	pg_atomic_uint64 reads;
	pg_atomic_uint64 read_bytes;
	pg_atomic_uint64 sorts;		/* for order_by */
	pg_atomic_uint64 disk_sorts;	/* of these, sorts in temporary files */
	pg_atomic_uint64 sort_bytes;	/* size of these files */
	pg_atomic_uint64 parts_done;

	/* of the whole load */
	pg_atomic_uint64 split_bytes;
	pg_atomic_uint64 built;		/* cost of the indexes that are built */
	pg_atomic_uint64 nbuilt;	/* how many these are */
} FcCounts;

StaticAssertDecl(sizeof(FcCounts) % sizeof(pg_atomic_uint64) == 0, "counts are numbers");

#define FC_NCOUNTS			(sizeof(FcCounts) / sizeof(pg_atomic_uint64))
#define FC_NCOUNTS_FORGOTTEN	(offsetof(FcCounts, split_bytes) / sizeof(pg_atomic_uint64))

/*
 * What was left out of one file, and between which keys its records are; kept
 * for a ledger only.  Keys are counted from the lowest that there could be,
 * "lowest" downwards from the highest: so all begin at 0, and 0 for both means
 * that no key is known.
 */
typedef struct FcFileCounts
{
	pg_atomic_uint64 filtered;
	pg_atomic_uint64 skipped;
	pg_atomic_uint64 rejected;
	pg_atomic_uint64 duplicates;
	pg_atomic_uint64 marks;
	pg_atomic_uint64 lowest;
	pg_atomic_uint64 highest;
} FcFileCounts;

/*
 * What has no fixed size, and lies after the struct in this order: see "at".
 * Each has a function fc_shared_ with its name, which returns where it is, or
 * NULL if there is none.
 *
 * X(NUMBER, name, type of its elements)
 */
#define FC_SHARED_TAILS(X) \
	X(COLUMNS, columns, AttrNumber) /* [ncolumns]; 0: a field that is \
								 * skipped */ \
	X(FLAGS, flags, uint16)		/* [ncolumns], FC_FIELD_* */ \
	X(NULL, null, char)			/* the null string */ \
	X(DEFAULT, default, char)	/* the default string */ \
	X(FIELDS, fields, char)		/* a list of lists: json: the names of fields; \
								 * patterns, or ""; lists of words that stand \
								 * for NULL; and both separators of numbers */ \
	X(TRANSFORMS, transforms, char) /* FcColumns' paths and transforms, a \
								 * list as a node tree; "": none, and no \
								 * origins */ \
	X(ZONE, zone, char)			/* the time zone, "": session's */ \
	X(WHERE, where, char)		/* the condition as a node tree, "" if there \
								 * is none */ \
	X(MAPS, maps, int32)		/* where a file has the fields, if headers \
								 * differ: see fc_shared_map */ \
	X(NAMES, names, char)		/* paths of files, to show */ \
	X(COPIES, copies, FcCopy)	/* [source.ncopies] */ \
	X(EXTENTS, extents, FcExtent)	/* [source.nextents] */ \
	X(FILES, files, FcFile)		/* [source.nfiles] */ \
	X(FILE_COUNTS, file_counts, FcFileCounts)	/* [source.nfiles], if they \
								 * are kept */ \
	X(NUMBERS, numbers, FcNumber)	/* [plan.nnumbers] */ \
	X(ORDER, order, struct FcSortKey)	/* [plan.order.nkeys] */ \
	X(DEDUP, dedup, struct FcSortKey)	/* [plan.dedup.nkeys + norder] */ \
	X(INFLOW, inflow, FcInflow) /* [source.nfiles], if source.room is not 0 */ \
	X(TEXTS, texts, char)		/* a DSA area for errors' texts */ \
	X(CHUNKS, chunks, FcChunk)	/* [source.nchunks] */ \
	X(STARTS, starts, FcChunkStart) /* [source.nchunks] */ \
	X(RING, ring, FcRing)		/* to the end of the segment */

#define FC_TAIL_NUMBER(number, name, type) FC_TAIL_##number,

typedef enum FcSharedTail
{
	FC_SHARED_TAILS(FC_TAIL_NUMBER)
	FC_NTAILS
} FcSharedTail;

/*
 * Who writes | who reads during a phase without a lock, and by what order.
 * What the leader writes before a phase its workers see, and he what they have
 * written once they have ended.  "w", "r", "f": a write, read, full barrier.
 *
 * FcTurn.next	a slice's process: rows, spot, f, next | the next slice's: next,
 *		r, spot, rows | leader: next, r, errors.offset; behind a branch on next
 *		he puts other bytes into the ring, and other chunks into places
 * FcInflow	finder: bytes, extents, w, size, chunks, w, published, w, whole
 *		| fc_chunks_wait: published, whole, r, published, r, chunks
 *		| fc_lines_chunk: published, r, chunks
 * FcFile	finder: copy's path, extent, w, nextents, bytes, w, size
 *		| fc_source_stretch: size, r, nextents, r, extents; a stream reads ahead
 *		up to the size, but takes records from bytes that are published
 * FcRing	leader: "from", "upto", bytes, before published | as published
 * errors	with the mutex: first, w, offset; before the slice's turn ends
 *		| fc_error_beyond: offset | fc_multi_some: offset, r, the kind of first
 * rejected	each: last_rejected, f, rejected | one too many: the same, the last
 * FcUnpackArea	who ends a file: size or faulty, inflow_failed, f, done
 *		| leader: done, r, inflow_failed, sizes | fc_piece_put: faulty and
 *		FcChain.head, hints to give up: fc_piece_meet_turn takes the lock
 * Alone, nothing else is read by it: FcTurn.leaf, nheld, next, working, counts.
 * Hints: counted, stopped, mistaken, FcChunkStart.next, source.data_size.
 * One writer and no other reader: FcTask, ended, chunks that are taken.
 */
typedef struct FcShared
{
	/* Written by the leader before the first phase */
	FcPlan		plan;
	Oid			target;
	FcDialect	dialects[FC_EOL_CRNL + 1];	/* one, for each end of lines that a
										 * file may have; its strings are the
										 * leader's */
	FcSharedSource source;
	Size		at[FC_NTAILS];	/* where each FcSharedTail is, from the start
								 * of the segment */

	/* Written by the leader before each phase */
	FcPhase		phase;
	FcCourse	course;			/* but for its texts, which are the leader's */
	Size		memory;			/* bytes per process in the current phase */
	FcInterval	interval;		/* of partitions to be made; without the zone */
	char		interval_zone[TZ_STRLEN_MAX + 1];	/* "": the session's */
	bool		key_dropped;	/* the key has found the partitions, and core
								 * routes from here on: see fc_shared_keyed */
	bool		finds;			/* the scan looks for partitions that are
								 * missing, and for nothing else */
	bool		sends;			/* the leader sends the records of leaves on
								 * other servers: workers pass over them */
	int			nbounds;		/* of cells, beside those of partitions; they
								 * are in a file of the set */
	int			nscanners;		/* processes that left spill files */
	bool		alone;			/* the leader takes all tasks of the load */
	int			nprocesses;		/* that the leader asked for, in this phase */
	Oid			leaf;			/* if there is no key: the target, or the table
								 * that gets its rows */
	FcStorage	storage;		/* of this leaf */
	Oid			stage;			/* of a load with on_conflict, or InvalidOid */
	uint32		ntasks;
	int64		started;		/* microseconds of a clock that all share */

	/* Written by one worker each */
	int64		ended[FC_MAX_WORKERS];	/* when the worker found nothing more
										 * to do */

	/* Shared by all during a phase */
	pg_atomic_uint32 next;		/* chunk or task to be taken */
	pg_atomic_uint32 working;	/* processes that could open the source */
	FcCounts	counts;
	FcSharedErrors errors;
	FcSharedIo	io;
	FcSharedPace pace;
	pg_atomic_uint32 mistaken;	/* 1: what the phase has gone by is not so:
								 * that the file is in key order, or where
								 * records begin */
	LWLock		logical_lock;	/* one inserter at a time for logically logged
								 * tables */
	ConditionVariable turn_cv;
	uint32		nturns;			/* the turns that there is room for */
	uint32		done;			/* the first turn of the phase that was not
								 * passed on, after workers have ended */
	pg_atomic_uint32 nheld;		/* leaves that core routes to, and that the
								 * leader has locked as well */
	ConditionVariable inflow_cv;	/* chunks have been published */
	pg_atomic_uint32 inflow_failed; /* 1: a file cannot be unpacked */
	SharedFileSet fileset;
	char		data[FLEXIBLE_ARRAY_MEMBER];
} FcShared;

#define FC_TAIL_ACCESSOR(number, name, type) \
static inline type * \
fc_shared_##name(const FcShared *shared) \
{ \
	return shared->at[FC_TAIL_##number] == 0 ? NULL : (type *) ((char *) shared + shared->at[FC_TAIL_##number]); \
}

FC_SHARED_TAILS(FC_TAIL_ACCESSOR)

/* Chunk number i, and where its records begin */
static inline FcChunk *
fc_shared_chunk(FcShared *shared, uint32 i)
{
	Assert(shared->at[FC_TAIL_CHUNKS] > 0);
	return &fc_shared_chunks(shared)[shared->source.places ? i % shared->source.places : i];
}

static inline FcChunkStart *
fc_shared_start(FcShared *shared, uint32 i)
{
	Assert(shared->at[FC_TAIL_STARTS] > 0);
	return &fc_shared_starts(shared)[shared->source.places ? i % shared->source.places : i];
}

/*
 * Where a file of a header of its own has the fields: how many it has, and then
 * the number of each field of the plan among these, or -1.  NULL: as the plan.
 */
static inline const int32 *
fc_shared_map(FcShared *shared, const FcFile *file)
{
	const int32 *map = fc_shared_maps(shared);

	map += map ? (shared->plan.nfields + 1) * file->header : 0;
	return map == NULL || map[0] < 0 ? NULL : map;
}

/* Memory for what the name tells, in a parent's */
#define fc_context_memory(parent, name) \
	AllocSetContextCreate(parent, "fast_copy " name, ALLOCSET_DEFAULT_SIZES)

/* One process's side of a phase */
typedef struct FcContext
{
	FcShared   *shared;
	FcSource   *source;
	Relation	target;			/* opened, locked by the leader */
	int			worker;			/* number among the phase's processes */
	bool		in_worker;		/* not the leader */
	CommandId	command;		/* worker: the leader's, of all rows */
	struct ParallelContext *workers;	/* the leader, while these do the phase;
										 * else NULL */
	void	   *tasks;			/* the phase's tasks in shared memory */
	FcTurn	   *turns;			/* of the load phase, one per partition */
	struct FcCounted *counted;	/* leader, while workers load: the tables of
								 * these turns that are open; or NULL */
	MemoryContext mcxt;			/* dies with the phase */
	MemoryContext keep;			/* leader of a load without workers: for what
								 * the next phase needs; else NULL */
	struct FcBound *bounds;		/* shared->nbounds, for the scan */
	struct FcSpillKept *kept;	/* in "keep": what the scan found, if that is
								 * in no file */
	bool		failed;			/* caught an error: see fc_error_catch */
	bool		evaluating;		/* an error that is raised is of the current
								 * record */
	bool		at_record;		/* that record is known: at_offset, at_length */
	uint64		at_offset;
	uint64		at_length;
	bool		stopped;		/* see fc_error_take */
	bool		ended;			/* fc_error_take has thrown */
	slist_head	free_batches;	/* memory for pages, to be used again in this
								 * phase */
	struct FcHand *hand;		/* takes part in unpacking in this phase;
								 * NULL: no file is unpacked */
	List	   *deferred;		/* FcWriters that have all rows of a slice
								 * whose turn has not come */
	Size		deferred_bytes; /* that these writers take */
	struct BufFile *rejects;	/* of this phase; NULL: none so far */
	bool		verifying;		/* see fc_verify_load */
	bool		apart;			/* leader: code that it calls may run
								 * commands, which are undone if a record is
								 * bad */
	bool		disturbed;		/* leader: code that it called ran commands
								 * while it loaded rows or built indexes */

	struct
	{
		uint64		bytes;		/* read since the last look at the limits */
		uint64		wal;		/* written until then */
	}			pace;

	/*
	 * What the leader does, step by step, while workers do a phase, or when
	 * it lacks a chunk while it does the phase itself; false once all is
	 * done. NULL: nothing.
	 */
	bool		(*lead) (void *arg);
	void	   *lead_arg;

	/*
	 * What the leader does, step by step, while it has nothing else to do but
	 * to wait for workers; false once all is done.  NULL: nothing.
	 */
	bool		(*idle) (void *arg);
	void	   *idle_arg;

	/* Shows progress, in a leader that does a phase itself */
	void		(*progress) (void *arg);
	void	   *progress_arg;
} FcContext;

/* Are rows read in the order of a key, in this phase? */
static inline bool
fc_shared_keyed(const FcShared *shared)
{
	return shared->plan.key.type != FC_KEY_NONE && !shared->key_dropped;
}

/* Does the key tell the partition, in this phase? */
static inline bool
fc_shared_key_routes(const FcShared *shared)
{
	return shared->plan.key.routes && !shared->key_dropped;
}

/* Does core's tuple routing find the leaves, in this phase? */
static inline bool
fc_shared_routed(const FcShared *shared)
{
	return shared->plan.routed || shared->key_dropped;
}

/*
 * Bytes that a process may use to find and read rows in key order; the other
 * half is for the sort, and for rows that are compared.
 */
static inline Size
fc_shared_read_memory(const FcShared *shared)
{
	return shared->plan.order.nkeys > 0 || shared->plan.dedup.nkeys > 0 ?
		shared->memory / 2 : shared->memory;
}

/* Are the rows of a leaf sorted by order_by only once all have come? */
static inline bool
fc_shared_sorts_leaves(const FcShared *shared)
{
	return shared->plan.order.nkeys > 0 && !shared->plan.order.sliced;
}

/*
 * Takes the next chunk or task number; false when none is left.  Processes
 * interrupts.
 */
static inline bool
fc_context_take(FcContext *ctx, uint32 ntasks, uint32 *task)
{
	CHECK_FOR_INTERRUPTS();
	*task = pg_atomic_fetch_add_u32(&ctx->shared->next, 1);
	return *task < ntasks;
}

/* The dialect of the file at an offset: files end lines in ways of their own */
static inline FcDialect *
fc_context_dialect(const FcContext *ctx, uint64 offset)
{
	return &ctx->shared->dialects[fc_source_file(ctx->source, offset)->eol];
}

/*
 * Forgets the first n of what is counted: FC_NCOUNTS, or FC_NCOUNTS_FORGOTTEN
 * where scan and load begin again
 */
static inline void
fc_counts_begin(FcShared *shared, size_t n)
{
	FcFileCounts *files = fc_shared_file_counts(shared);
	size_t		nfiles = files ? shared->source.nfiles : 0;

	Assert(n == FC_NCOUNTS || n == FC_NCOUNTS_FORGOTTEN);
	for (size_t i = 0; i < n; i++)
		pg_atomic_init_u64((pg_atomic_uint64 *) &shared->counts + i, 0);
	for (size_t i = 0; i < nfiles * sizeof(FcFileCounts) / sizeof(pg_atomic_uint64); i++)
		pg_atomic_init_u64((pg_atomic_uint64 *) files + i, 0);
}

/* The rows loaded that leaves had before, once all are */
static inline uint64
fc_shared_rewritten(FcShared *shared)
{
	uint64		gone = pg_atomic_read_u64(&shared->counts.updated) + pg_atomic_read_u64(&shared->counts.deleted);

	Assert(pg_atomic_read_u64(&shared->counts.existing) >= gone);
	return pg_atomic_read_u64(&shared->counts.existing) - gone;
}

/*
 * Counts n records of a file that are left out, the first at "offset", also for
 * the file; returns how many there are now
 */
static inline uint64
fc_context_count(FcContext *ctx, pg_atomic_uint64 *all, size_t of_file, uint64 offset, int n)
{
	FcFileCounts *files = fc_shared_file_counts(ctx->shared);

	if (files)
		pg_atomic_fetch_add_u64((pg_atomic_uint64 *) ((char *) &files[fc_source_number(ctx->source, offset)] + of_file), n);
	return pg_atomic_fetch_add_u64(all, n) + n;
}

/*
 * "what": filtered, skipped, rejected, marks, or duplicates of rows that stay
 */
#define fc_context_count_out(ctx, what, offset, n) \
	fc_context_count(ctx, &(ctx)->shared->counts.what, offsetof(FcFileCounts, what), offset, n)

/* Turns a key into its distance from the lowest there could be, and back */
static inline uint64
fc_context_distance(int64 key)
{
	return (uint64) key ^ ((uint64) 1 << 63);
}

static inline void
fc_context_raise(pg_atomic_uint64 *at, uint64 to)
{
	uint64		now = pg_atomic_read_u64(at);

	while (now < to && !pg_atomic_compare_exchange_u64(at, &now, to))
		;
}

/* Notes that records of a chunk have keys from lo to hi; lo > hi: none has */
static inline void
fc_context_note_keys(FcContext *ctx, uint32 chunk, int64 lo, int64 hi)
{
	FcFileCounts *file = fc_shared_file_counts(ctx->shared);

	if (file == NULL || lo > hi)
		return;
	file += fc_source_number(ctx->source, fc_shared_chunk(ctx->shared, chunk)->start);
	fc_context_raise(&file->lowest, ~fc_context_distance(lo));
	fc_context_raise(&file->highest, fc_context_distance(hi));
}

/* Leader: does a step of ctx->lead, if there is one; false: no other follows */
static inline bool
fc_context_lead(FcContext *ctx)
{
	MemoryContext old;

	if (ctx->lead == NULL)
		return false;
	Assert(!ctx->in_worker);
	old = MemoryContextSwitchTo(ctx->mcxt);
	if (!ctx->lead(ctx->lead_arg))
		ctx->lead = NULL;
	MemoryContextSwitchTo(old);
	return ctx->lead != NULL;
}

/* To be called every few thousand rows */
static inline void
fc_context_progress(FcContext *ctx)
{
	if (ctx->progress)
		ctx->progress(ctx->progress_arg);
}

#endif							/* FC_SHARED_H */
