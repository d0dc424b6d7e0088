/*-------------------------------------------------------------------------
 *
 * sort/spilled.h
 *	  The forms of a record in a cell: its place, its bytes, or its row.
 *
 *	place	head
 *	record	head, bytes
 *	tuple	header, which begins with the head, and values
 *	bare	the first half of the head, and values: two words less to write and
 *			to read back
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SPILLED_H
#define FC_SPILLED_H

#include "access/heaptoast.h"
#include "executor/tuptable.h"

#include "context/shared.h"

/* Prefetches a line of the processor's cache */
#define fc_prefetch(address) __builtin_prefetch(address)

/* The form in which a record was spilled */
typedef enum FcSpilledKind
{
	FC_SPILLED_PLACE,			/* its offset in the file */
	FC_SPILLED_RECORD,			/* its bytes, too, and one more, to which the
								 * reader may write */
	FC_SPILLED_TUPLE,			/* the tuple of the target's row type that was
								 * made of it, or that the leaf had before */
	FC_SPILLED_BARE				/* such a tuple without its header, as it has
								 * no NULL; its key is one of its values */
} FcSpilledKind;

/* One record of the file, as found by the scan phase. */
typedef struct FcEntry
{
	int64		key;			/* 0 where the key is NULL */
	uint64		offset;			/* of the record's first byte */
	uint32		length;			/* bytes without the line end */
	uint32		info;			/* 1 if the key is NULL, else 0; above that
								 * bit the record's number in its chunk, from
								 * 0, if fc_plan_counts */
	uint32		embedded;		/* and the line ends in quotes, of the chunk's
								 * records up to this one */
} FcEntry;

#define fc_entry_null(entry)	((entry)->info & 1)
#define fc_entry_number(entry)	((entry)->info >> 1)
#define fc_entry_info(null, number)	((uint32) (number) << 1 | (null))

/* Begins a block; the blocks of a cell and a process are a list */
typedef struct FcSpillBlock
{
	uint64		base;			/* offsets of its records are counted from
								 * here */
	uint64		before;			/* where the block before it is in the file */
	uint32		before_size;	/* its bytes; 0: there is none */
	uint32		size;			/* bytes of this one, with this head */
} FcSpillBlock;

/*
 * The head of what was spilled.  It takes FC_SPILL_HEAD bytes, or
 * FC_SPILL_NUMBERED if fc_plan_counts.  A tuple has it
 * instead of its transaction fields and ctid, which an insert sets.  The head
 * of a bare row ends before the key.  Heads are aligned as tuples are.
 */
typedef struct FcSpilled
{
	uint32		after;			/* the offset, counted from the block's base */
	uint32		kind_length;	/* FcSpilledKind in two bits, then the record's
								 * length; of a bare row, before that, the
								 * bytes of its tuple */
	int64		key;			/* 0 where it is NULL */
	union
	{
		uint16		row;		/* of a tuple: its bytes */
		uint32		number;		/* as fc_entry_number */
	}			more;
	uint32		embedded;		/* as in FcEntry */
} FcSpilled;

/*
 * In t_infomask2 of a tuple in a cell: the row is a delete mark.  A tuple that
 * a leaf had before has lost this bit.
 */
#define FC_SPILLED_MARK		HEAP_KEYS_UPDATED
#define fc_spilled_marked(spilled)	((((const HeapTupleHeaderData *) (spilled))->t_infomask2 & FC_SPILLED_MARK) != 0)

#define FC_SPILL_HEAD		16
#define FC_SPILL_NUMBERED	24
#define FC_SPILL_TUPLE_HEAD	18
#define FC_SPILL_BARE_HEAD	8
#define FC_SPILL_LENGTH_BITS	30
#define FC_SPILL_BARE_BITS	17	/* of the length of a bare row's record */

/* The header of a tuple without NULLs, and how much of it a bare head saves */
#define FC_SPILL_HEADER		MAXALIGN(SizeofHeapTupleHeader)
#define FC_SPILL_BARE_SKIP	(FC_SPILL_HEADER - FC_SPILL_BARE_HEAD)

#define fc_spilled_kind(spilled)	((FcSpilledKind) ((spilled)->kind_length >> FC_SPILL_LENGTH_BITS))
#define fc_spilled_is_bare(spilled)	(fc_spilled_kind(spilled) == FC_SPILLED_BARE)
#define fc_spilled_bits(spilled, n)	((spilled)->kind_length & (((uint32) 1 << (n)) - 1))

/* The length of its record */
static inline uint32
fc_spilled_length(const FcSpilled *spilled)
{
	return fc_spilled_bits(spilled, fc_spilled_is_bare(spilled) ? FC_SPILL_BARE_BITS : FC_SPILL_LENGTH_BITS);
}

/* The bytes of its tuple, with the header even if it was spilled without */
static inline uint32
fc_spilled_row(const FcSpilled *spilled)
{
	return fc_spilled_is_bare(spilled) ?
		fc_spilled_bits(spilled, FC_SPILL_LENGTH_BITS) >> FC_SPILL_BARE_BITS : spilled->more.row;
}

/* Its key; a bare row has it at key_place, in "width" bytes */
static inline int64
fc_spilled_key(const FcSpilled *spilled, Size key_place, int width)
{
	const char *place = (const char *) spilled + key_place;

	if (!fc_spilled_is_bare(spilled))
		return spilled->key;
	switch (width)
	{
		case sizeof(int64):
			return *(const int64 *) place;
		case sizeof(int32):
			return *(const int32 *) place;
		default:
			return *(const int16 *) place;
	}
}

/* Is it a row that the toaster need not see? */
static inline bool
fc_spilled_is_short(const FcSpilled *spilled)
{
	return fc_spilled_is_bare(spilled) ||
		(fc_spilled_kind(spilled) == FC_SPILLED_TUPLE &&
		 spilled->more.row <= TOAST_TUPLE_THRESHOLD &&
		 (((const HeapTupleHeaderData *) spilled)->t_infomask & HEAP_HASEXTERNAL) == 0);
}

/* A spilled row, for its reader */
typedef struct FcSpilledRow
{
	FcSpilled  *spilled;
	int64		key;
	uint64		base;			/* of its block */
} FcSpilledRow;

/* The offset of its record, or fc_offset_of_tuple */
#define fc_spilled_offset(row)	((row)->base + (row)->spilled->after)

/*
 * Readers that visit rows out of order prefetch them: the first two lines of
 * row i + FC_SPILL_AHEAD while they are at row i.  The function that returns
 * an array of rows has prefetched its first ones.
 */
#define FC_SPILL_AHEAD		16

static inline void
fc_spilled_ask(const FcSpilled *spilled)
{
	fc_prefetch((const char *) spilled);
	fc_prefetch((const char *) spilled + 64);
}

static inline void
fc_spilled_ask_ahead(const FcSpilledRow *rows, int i, int n)
{
	if (i + FC_SPILL_AHEAD < n)
		fc_spilled_ask(rows[i + FC_SPILL_AHEAD].spilled);
}

/* Its bytes in its block */
static inline Size
fc_spilled_size(const FcSpilled *spilled, Size head)
{
	switch (fc_spilled_kind(spilled))
	{
		case FC_SPILLED_BARE:
			return MAXALIGN(fc_spilled_row(spilled)) - FC_SPILL_BARE_SKIP;
		case FC_SPILLED_TUPLE:
			return MAXALIGN(spilled->more.row);
		case FC_SPILLED_RECORD:
			return MAXALIGN(head + fc_spilled_length(spilled) + 1);
		default:
			return head;
	}
}

/*
 * Sets the header that bare rows of this type lack; the fields that an insert
 * sets are 0
 */
extern void fc_spilled_header(TupleDesc desc, HeapTupleHeader header);

/*
 * Makes the tuple of a spilled row: with this header if it is bare, else with
 * the fields of this one that an insert sets
 */
static inline void
fc_spilled_copy(const FcSpilled *spilled, const HeapTupleHeaderData *header, HeapTupleHeader to)
{
	bool		bare = fc_spilled_is_bare(spilled);
	Size		head = bare ? FC_SPILL_HEADER : FC_SPILL_TUPLE_HEAD;

	Assert(fc_spilled_row(spilled) >= head);
	memcpy(to, header, head);
	memcpy((char *) to + head,
		   (const char *) spilled + (bare ? FC_SPILL_BARE_HEAD : FC_SPILL_TUPLE_HEAD),
		   fc_spilled_row(spilled) - head);
}

/*
 * Makes the values of a row of the target's type in a slot that is empty; they
 * lie in the row, or in the current memory context
 */
extern void fc_spilled_deform(FcSpilled *spilled, TupleTableSlot *slot);

/*
 * sort/fetch.c: bytes of records, read by their offsets
 */

/* Counters for the report */
typedef struct FcReadStats
{
	uint64		bytes;			/* bytes read, gaps included */
	uint64		reads;			/* reads issued */
	int			refused;		/* errno with which the kernel refused the
								 * method's queue, so that fc_io_sync is used;
								 * or 0 */
} FcReadStats;

typedef struct FcFetch FcFetch;

/*
 * head: bytes before a record's.  memory: bytes of staging buffers, for reads
 * with gaps.  Everything lives in the current memory context; its reset ends
 * the reads in flight, as fc_fetch_end does.  Adds the reads to *stats.
 */
extern FcFetch *fc_fetch_begin(const FcSource *source, const FcShared *shared, Size head,
							   Size memory, FcReadStats *stats);

/*
 * Reads the bytes of a block's FC_SPILLED_RECORDs, which are in file order, to
 * behind their heads
 */
extern void fc_fetch_block(FcFetch *fetch, FcSpillBlock *block);
extern void fc_fetch_end(FcFetch *fetch);

/*
 * Two records are read together if no more than this lies between them.  For a
 * cached file a request costs about 0.7 microseconds, in which some 4 kB are
 * copied from the cache.  For a file on disk the gap is at most one more page
 * of a read that costs 10 microseconds or more.
 */
#define FC_FETCH_GAP		4096

#endif							/* FC_SPILLED_H */
