/*-------------------------------------------------------------------------
 *
 * copyfrom/feed.h
 *	  What core's COPY reads, and how its errors say where they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FEED_H
#define FC_FEED_H

#include "options/target.h"
#include "row/parse.h"

/* One COPY by core; feeds nest, because a trigger may load, too */
typedef struct FcFeed
{
	FcTarget   *target;
	bool		counts;			/* what core reads is progress of the load */
	uint64		rows;			/* that core has loaded */
	ErrorContextCallback context;	/* tells of it, and makes it current */
	CopyFromState cstate;		/* NULL: core reads nothing */
	uint32		file;			/* number of the file, for errors, too */

	/* bytes that are fed as they are, or of one record */
	const char *bytes;			/* NULL: from the file */
	const FcSource *source;		/* ... of these, which were not converted */
	uint64		position;		/* next byte of the file */
	uint64		left;			/* bytes that core has not asked for */
	bool		middle;			/* there are lines before the first byte, or,
								 * of a binary file, its header */

	/* records made canonical; NULL: bytes are fed as they are */
	FcParser   *parser;
	FcStream   *stream;
	FcDialect  *dialect;		/* of the file */
	EState	   *estate;
	MemoryContext mcxt;			/* of one record */
	Datum	   *values;			/* of its row */
	bool	   *nulls;
	StringInfoData row;			/* one record for core */
	uint64		found;			/* records */
	uint64		fed;			/* records that core got */
	uint64		skipped;		/* empty lines */

	/* for error contexts */
	bool		follow;			/* core counts the line, else it is "line" */
	bool		parsing;		/* the parser works, not core */
	bool		unseen;			/* only the line is told, not the record */
	bool		silent;			/* the error has its context already */
	uint64		first;			/* line on which the record begins */
	uint64		line;			/* line on which it ends */
	uint64		number;			/* of the record in its file, from 1 */
	uint64		offset;			/* of the record */
	uint64		length;
} FcFeed;

/*
 * Makes the feed current, with one of the callbacks below.  Its end, or an
 * error, makes the one current that was before.
 */
extern void fc_feed_begin(FcFeed *feed, FcTarget *target, void (*context) (void *arg));
extern void fc_feed_end(FcFeed *feed);

/* Must core be given canonical records, because it does not know an option? */
extern bool fc_feed_is_canonical(const FcTarget *target);

/* Say what is fed: bytes, or the records of files, made canonical */
extern void fc_feed_bytes(FcFeed *feed, const char *bytes, size_t len);
extern void fc_feed_records(FcFeed *feed);
extern void fc_feed_records_end(FcFeed *feed);

/* Calls the function for each file, in memory that goes after it */
extern void fc_feed_files(FcFeed *feed, void (*each) (FcFeed *feed, uint32 file));

/*
 * Feeds one of the files, whole and, unless records are fed, as it is; returns
 * core's option for its header.  Of several header lines core is shown none.
 */
extern const char *fc_feed_whole(FcFeed *feed, uint32 file);

/* Says which record errors name, and the lines where it begins and ends */
extern void fc_feed_name(FcFeed *feed, uint64 offset, uint64 length, uint64 first,
						 uint64 line);

/*
 * Feed the record that errors name: as it is, with the rest of the file; or
 * made canonical.  False if on_error rejects the record.
 */
extern void fc_feed_raw_record(FcFeed *feed);
extern bool fc_feed_record(FcFeed *feed);

/*
 * ERROR 22021 or 22P05 for the first character from this line of a converted
 * file on that could not be converted, of which there must be one
 */
extern void fc_feed_refuse_original(const FcTarget *target, uint64 offset);

/* Begins core's COPY on what is fed; "header" as COPY has it, or NULL */
extern CopyFromState fc_feed_copy(FcFeed *feed, List *where,
								  const char *header, bool freeze);

/* ERROR 0A000: only core can tell how the lines of the file end */
extern void fc_feed_refuse_unsettled(void);

/*
 * Throws ERROR 22P04 with COPY's text, if that is what the end of a record
 * means, or that it is unterminated
 */
extern void fc_feed_refuse_grammar(const FcDialect *dialect, FcEnd end, bool unterminated);

/*
 * Makes core read one row into a virtual slot, with values in the memory of one
 * tuple; false if there is none
 */
extern bool fc_feed_next_row(FcFeed *feed, EState *estate, TupleTableSlot *row);

/*
 * Error context callbacks: the first tells file, line, and column or record,
 * the second the file alone, unless core has begun to count lines
 */
extern void fc_feed_context(void *arg);
extern void fc_feed_file_context(void *arg);

#endif							/* FC_FEED_H */
