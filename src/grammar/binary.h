/*-------------------------------------------------------------------------
 *
 * grammar/binary.h
 *	  The binary format: tuples, whose fields tell how long they are.
 *
 * Pure C, like grammar/dialect.h.  After a header, which is the caller's, come
 * the records, which are tuples: the number of fields in two bytes, then for
 * each field its length in four and its bytes; length -1 is a NULL.  A number
 * of fields of -1 is the trailer, after which the file must end; it may also
 * end without one.  Integers have their high byte first.
 *
 * No byte says where a tuple begins, so that tuples are only found from the
 * first one on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_BINARY_H
#define FC_BINARY_H

#include "grammar/field.h"
#include "grammar/record.h"
#include "grammar/quote_run.h"

/* A header that says nothing: no flags, no extension */
#define FC_BINARY_HEADER		"PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"
#define FC_BINARY_HEADER_LEN	19

/*
 * Where a walk over the tuples of a file has come to.  Zero it before the
 * file's first byte after the header; positions are counted from there.
 */
typedef struct FcWalk
{
	uint64_t	fed;			/* bytes so far */
	uint64_t	start;			/* of the tuple in hand */
	uint64_t	left;			/* bytes of a value still to come */
	int			nfields;		/* fields of the tuple still to come */
	int			nhead;			/* bytes of an integer that have come: */
	unsigned char head[4];
	bool		ended;			/* the tuple in hand is the trailer */
	bool		bad;			/* the tuple in hand is malformed: nothing is
								 * known after it */
} FcWalk;

/*
 * Walks over the next len bytes, and counts in run, which was prepared for
 * FC_OUTSIDE, the tuples that end in them.
 */
extern void fc_walk_feed(const FcDialect *dialect, FcWalk *walk, FcQuoteRun *run,
						 const char *buf, size_t len);

/* Does a file that ends here end where COPY takes it to end? */
extern bool fc_walk_may_end(const FcWalk *walk);

/* fc_record_end for this format */
extern FcEnd fc_binary_end(const FcDialect *dialect, FcScan *scan,
						   const char *buf, size_t len, bool eof);

/*
 * fc_fields_cut and fc_field_at for this format.  No byte is changed:
 * the one after a field is not a NUL, and may be another record's.  The first
 * returns -1 if the bytes are no whole tuple.
 */
extern int	fc_binary_fields(char *rec, size_t len, FcField *fields, int max);
extern bool fc_binary_field(char *rec, size_t len, int wanted, FcField *field);

#endif							/* FC_BINARY_H */
