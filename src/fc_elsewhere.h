/*-------------------------------------------------------------------------
 *
 * fc_elsewhere.h
 *	  Tables whose rows another extension keeps elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ELSEWHERE_H
#define FC_ELSEWHERE_H

#include "utils/relcache.h"

/*
 * ERROR 0A000 if rows of the table, of one of its partitions or of a table it
 * inherits from belong to Citus or TimescaleDB; or if that cannot be found out,
 * because the extension's catalog is of a form that is not known here.  The
 * table is locked against being handed over to them.
 */
extern void fc_elsewhere_check(Relation target);

#endif							/* FC_ELSEWHERE_H */
