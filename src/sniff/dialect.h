/*-------------------------------------------------------------------------
 *
 * sniff/dialect.h
 *	  How the fields of a sample are written.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_DIALECT_H
#define FC_SNIFF_DIALECT_H

#include "sniff/records.h"
#include "sniff/values.h"

/* A quote or delimiter that stands for "there is none" */
#define FC_NO_QUOTE		'\001'
#define FC_NO_DELIMITER	'\002'

typedef struct FcGuess
{
	FcDialect	dialect;
	int			nfields;		/* that most records have */
	int			skip;			/* records before those, at the file's start */
	uint64		records;		/* looked at, without those */
	uint64		others;			/* of these, with another number of fields */
	bool		skips_empty;	/* lines without a byte are no records */
	uint64		empty;			/* such lines */
	FcCursorFaults faults;
	double		score;
	double		next_score;		/* of the best guess with another delimiter, */
	char		next_delim;		/* which is this */
	uint64		quoted;			/* fields in quotes */
	bool		trailing;		/* the last field of all records is empty */
} FcGuess;

/*
 * Guesses the dialect; what the caller has given is taken as it is.  Where the
 * fields fit none well the best one is returned, and its numbers tell.
 */
extern FcGuess *fc_dialect_guess(const FcSniffSample *sample, const FcOptions *options,
								 FcJudge *judge);

#endif							/* FC_SNIFF_DIALECT_H */
