/*-------------------------------------------------------------------------
 *
 * grammar/quote_run.h
 *	  Counts the records of bytes that begin in a given quote state.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_QUOTE_RUN_H
#define FC_QUOTE_RUN_H

#include "grammar/dialect.h"

#define FC_NOWHERE	UINT64_MAX	/* FcQuoteRun.first: no record starts here */

/*
 * What a run over bytes found when it began in one quote state.  The bytes are
 * fed piece by piece; positions are counted from the first.
 *
 * The file's line end style is known.  A record ends at '\n' for FC_EOL_NL and
 * FC_EOL_CRNL, at '\r' for FC_EOL_CR, outside quotes and not escaped.
 * fc_record_end finds wrong line ends later.
 */
typedef struct FcQuoteRun
{
	FcQuote		state;			/* state after the last byte */
	uint64_t	fed;			/* bytes fed so far */
	uint64_t	records;		/* record ends met */
	uint64_t	embedded;		/* line ends in quotes that COPY counts: '\n'
								 * for FC_EOL_NL, else '\r'; text has none */
	uint64_t	first;			/* position just after the first record end,
								 * or FC_NOWHERE */
	uint64_t	before;			/* the part of embedded before first */
	uint64_t	last;			/* position just after the last record end,
								 * or FC_NOWHERE */
	uint64_t	marker;			/* position of the first marker just after a
								 * record end, or FC_NOWHERE */
	uint8_t		opened;			/* so many bytes at the end, just after a
								 * record end, are the beginning of a marker */
} FcQuoteRun;

extern void fc_quote_run_init(FcQuoteRun *run, FcQuote start);

/* Feeds the next len bytes to the run.  dialect->eol must be known. */
extern void fc_quote_run_feed(const FcDialect *dialect, FcQuoteRun *run,
							  const char *buf, size_t len);

/*
 * fc_quote_run_feed for both runs of csv whose escape is the quote: one of them
 * began in quotes, the other not, and both were fed the same bytes so far.
 */
extern void fc_quote_run_feed_pair(const FcDialect *dialect, FcQuoteRun *one,
								   FcQuoteRun *other, const char *buf, size_t len);

#endif							/* FC_QUOTE_RUN_H */
