/*-------------------------------------------------------------------------
 *
 * grammar/binary.h
 *	  The binary format: tuples, whose fields tell how long they are.
 *
 *	tuple	int16 number of fields, then the fields
 *	field	int32 length, then so many bytes; -1 is a NULL
 *	trailer	int16 -1: the file must end after it, and may end without it
 *
 * Integers have their high byte first.  No byte tells where a tuple begins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_BINARY_H
#define FC_BINARY_H

#include "grammar/field.h"
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
	uint64_t	start;			/* of the current tuple */
	uint64_t	left;			/* bytes of a value still to come */
	int			nfields;		/* fields of the tuple still to come */
	int			nhead;			/* bytes of an integer that have come: */
	unsigned char head[4];
	bool		ended;			/* the current tuple is the trailer */
	bool		bad;			/* the current tuple is malformed: nothing is
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
 * fc_fields_cut and fc_field_at for this format; the first returns -1 if the
 * bytes are no whole tuple.  No byte is changed: after a field stands no NUL,
 * but perhaps another record.
 */
extern int	fc_binary_fields(char *rec, size_t len, FcField *fields, int max);
extern bool fc_binary_field(char *rec, size_t len, int wanted, FcField *field);

#endif							/* FC_BINARY_H */
