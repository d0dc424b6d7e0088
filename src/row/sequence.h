/*-------------------------------------------------------------------------
 *
 * row/sequence.h
 *	  Takes many numbers of a sequence at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SEQUENCE_H
#define FC_SEQUENCE_H

/* Nobody can alter the sequence of which we have had a number */
extern int64 fc_sequence_increment(Oid sequence);

/*
 * Takes up to "wanted" consecutive numbers, as that many calls of nextval()
 * would with nobody in between; the session must have called it in this
 * transaction, and does again afterwards, for currval().  Returns how many
 * were taken, and sets *first.  0 where nextval() has more to do than to
 * count: at the sequence's limits, or if the session keeps numbers for later.
 */
extern uint64 fc_sequence_take(Oid sequence, uint64 wanted, int64 *first);

#endif							/* FC_SEQUENCE_H */
