/*-------------------------------------------------------------------------
 *
 * key/fit.h
 *	  Which width of partitions fits the keys and the size of a source.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIT_H
#define FC_FIT_H

#include "key/interval.h"

typedef struct FcFit
{
	const char *interval;		/* as partition_interval */
	bool		usual;			/* it is what partitions get without that */
	double		partitions;		/* that there would be, about */
} FcFit;

/*
 * The width for keys from low to high, of a source of so many bytes (0: not
 * known).  Days, unless these are too many or too large; for integers a power
 * of ten.
 */
extern FcFit fc_fit_width(FcKeyType type, int64 low, int64 high, uint64 bytes);

/* Are so many partitions too many for the bytes that they get? */
extern bool fc_fit_is_small(int partitions, uint64 bytes);

#endif							/* FC_FIT_H */
