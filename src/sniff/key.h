/*-------------------------------------------------------------------------
 *
 * sniff/key.h
 *	  The key by which a table for the sample is partitioned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_KEY_H
#define FC_SNIFF_KEY_H

#include "sniff/columns.h"

typedef struct FcKeyGuess
{
	int			column;			/* its number, -1: there is none */
	const char *interval;		/* for partition_interval; NULL: the default */
	List	   *notes;			/* of char * */
} FcKeyGuess;

/* Chooses the key, unless the caller has, and the width of partitions */
extern void fc_key_guess(FcTable *table, FcKeyGuess *key);

#endif							/* FC_SNIFF_KEY_H */
