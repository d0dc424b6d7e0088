/*-------------------------------------------------------------------------
 *
 * compat/replicas.h
 *	  How far standbys are behind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_REPLICAS_H
#define FC_REPLICAS_H

/*
 * Bytes of flushed WAL that the standby which is furthest behind has not
 * replayed yet, as far as it has told; 0 if none is connected.
 */
extern uint64 fc_replica_lag(void);

#endif							/* FC_REPLICAS_H */
