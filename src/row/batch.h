/*-------------------------------------------------------------------------
 *
 * row/batch.h
 *	  Rows of many records at once, a column at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_BATCH_H
#define FC_BATCH_H

#include "access/tupdesc.h"

#include "row/parse.h"

/* The most rows of a batch */
#define FC_BATCH_ROWS	256

/* A column of the target's row type; element i is of row i */
typedef struct FcBatchColumn
{
	Datum	   *values;			/* texts: their first byte */
	uint32	   *lengths;		/* of texts, bytes; NULL: values are datums */
	bool	   *nulls;
	bool		any_null;		/* false: no row has a NULL, and nulls is not
								 * set */
	bool		made;			/* its values are made row by row; nulls is
								 * false until then */
	bool		absent;			/* all values are NULL, in arrays that columns
								 * share */
	bool		byval;			/* as in pg_attribute */
	int16		len;
} FcBatchColumn;

typedef struct FcBatch
{
	int			n;				/* rows */
	int			natts;
	FcBatchColumn *columns;		/* natts */
	bool	   *odd;			/* rows without values: their records must be
								 * parsed alone */
	uint64		offset;			/* in the file, of the first record */
	uint64		line;			/* lines and records of the file before it, as
								 * in FcChunkReader */
	uint64		row;
	uint64		bytes;			/* of all records, with line ends */
	uint64		embedded;		/* line ends in quotes that COPY counts */
	bool		unfinished;		/* fc_batch_finish makes some values */
	FcBatchColumn none;			/* a column that is absent */
} FcBatch;

/*
 * For the parser's target; NULL if its columns or dialect require that each
 * record is parsed alone.  Lives in the current memory context.
 */
extern FcBatch *fc_batch_begin(FcParser *parser, TupleDesc desc);

/*
 * Takes the stream's next records that begin before "end", an offset in the
 * file, and makes rows of them; the dialect is that of the file.  Throws
 * nothing about data.  False, with nothing taken, if the next record must be
 * searched for by fc_stream_next, or if there is none.
 *
 * Values are in the stream's buffer and in the batch, until either is used
 * again.
 */
extern bool fc_batch_fill(FcBatch *batch, FcStream *stream, const FcDialect *dialect, uint64 end);

/*
 * Makes those values of row i, which is not odd, that are made row by row, as
 * by an expression; in the current memory context.  Throws COPY's errors.
 * False if something about the row is tolerated: its record must be parsed.
 */
extern bool fc_batch_finish(FcBatch *batch, int i);

/* Lets the caller make the values of an absent column, row by row */
extern void fc_batch_add_column(FcBatch *batch, int column);

/* Sets a value that is made row by row, to a copy of this one */
extern void fc_batch_set(FcBatch *batch, int column, int i, Datum value, bool null);

/*
 * Reorders rows from "from" on: row from + k becomes what row order[k] was,
 * for n rows.  Rows that are not in "order" are lost.
 */
extern void fc_batch_permute(FcBatch *batch, int from, const uint16 *order, int n);

/* Rows with a NULL where "desc" allows none are odd, too */
extern void fc_batch_refuse_nulls(FcBatch *batch, TupleDesc desc);

/* The first odd row from i on, or batch->n */
extern int	fc_batch_next_odd(const FcBatch *batch, int i);

/* Bytes of the records of rows from "from" on, before "to", but of line ends */
extern uint64 fc_batch_bytes(const FcBatch *batch, int from, int to);

/*
 * Sets the offsets in the file and the lengths of these rows' records; element
 * 0 is that of row "from".  Not after fc_batch_permute.
 */
extern void fc_batch_places(const FcBatch *batch, int from, int to, uint64 *offsets,
							uint32 *lengths);

/* Returns the record of row i, as the stream would */
extern void fc_batch_record(const FcBatch *batch, int i, FcRecord *record);

/*
 * A value of row i, which is not odd; texts are palloc'ed.  compact: it may
 * have a short header, which COPY shows to no expression.
 */
extern Datum fc_batch_value(const FcBatchColumn *column, int i, bool compact, bool *null);

/*
 * Shows row i, which is not odd, in a row of the target's type.  True if it is
 * complete; if not, fc_parse_rest goes on from there.
 */
extern bool fc_batch_take(const FcBatch *batch, int i, Datum *values, bool *nulls);

#endif							/* FC_BATCH_H */
