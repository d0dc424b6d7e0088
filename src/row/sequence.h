/*-------------------------------------------------------------------------
 *
 * row/sequence.h
 *	  Takes many numbers of a sequence at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SEQUENCE_H
#define FC_SEQUENCE_H

/* The caller's call of nextval() keeps others from altering the sequence */
extern int64 fc_sequence_increment(Oid sequence);

/*
 * Takes up to "wanted" consecutive numbers, as that many calls of nextval()
 * would with no other session in between.  The caller has called nextval() in
 * this transaction, and does so again afterwards, for currval().  Returns how
 * many it took, and sets *first.  Takes none where nextval() has more to do
 * than to count: at the sequence's limits, or if the session keeps numbers for
 * later.
 */
extern uint64 fc_sequence_take(Oid sequence, uint64 wanted, int64 *first);

#endif							/* FC_SEQUENCE_H */
