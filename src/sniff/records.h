/*-------------------------------------------------------------------------
 *
 * sniff/records.h
 *	  The records of a sample, as a dialect cuts them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECORDS_H
#define FC_RECORDS_H

#include "grammar/field.h"
#include "sniff/sample.h"

/* As many fields are cut; a record with more has them counted */
#define FC_SNIFF_FIELDS		1664

/* A record in hand; its bytes are good until the next one is asked for */
typedef struct FcSniffRecord
{
	const FcSniffPlace *place;
	int64		number;			/* among those of its place, from 0 */
	const char *raw;			/* as it stands in the file */
	size_t		len;
	char	   *cut;			/* the same, in which the fields stand */
	int			nfields;		/* -1: a quote never closes */
	FcField    *fields;
} FcSniffRecord;

/* What a cursor has met that COPY would refuse, or leave out */
typedef struct FcCursorFaults
{
	uint64		line_ends;		/* of another style than the first one's */
	uint64		quotes;			/* that never close */
	uint64		markers;		/* that are malformed */
	uint64		lost;			/* places in which no record was found */
	uint64		ended;			/* places with bytes after a marker that ends
								 * the data */
} FcCursorFaults;

/* Goes through the records, place after place */
typedef struct FcCursor
{
	const FcSniffSample *sample;
	FcDialect	dialect;
	int			wanted;			/* fields that a record should have, 0: not
								 * known; by this it is told how a place begins
								 * that is not at a record's start */
	size_t		limit;			/* bytes of each place that are looked at */
	FcCursorFaults faults;

	int			next;			/* place that comes next */
	const FcSniffPlace *place;		/* the one in hand, or NULL */
	size_t		pos;			/* next record in it */
	size_t		end;			/* bytes of it that are looked at */
	bool		whole;			/* the place's end is the file's */
	FcSniffRecord record;
	size_t		room;			/* bytes of record.cut */
} FcCursor;

extern void fc_records_begin(FcCursor *cursor, const FcSniffSample *sample,
							 const FcDialect *dialect, int wanted, size_t limit);

/* The next record, or NULL after the last one */
extern FcSniffRecord *fc_records_next(FcCursor *cursor);
extern void fc_records_end(FcCursor *cursor);

/* Does field i of the record begin with a quote, and close it at its end? */
extern bool fc_records_quoted(const FcSniffRecord *record, const FcDialect *dialect, int i);

/* Has it quotes in other places? */
extern bool fc_records_messy(const FcSniffRecord *record, const FcDialect *dialect, int i);

#endif							/* FC_RECORDS_H */
