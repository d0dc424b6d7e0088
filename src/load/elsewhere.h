/*-------------------------------------------------------------------------
 *
 * load/elsewhere.h
 *	  Tables whose rows another extension keeps elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ELSEWHERE_H
#define FC_ELSEWHERE_H

/*
 * ERROR 0A000 if rows of the table, of one of its partitions or of a table it
 * inherits from belong to Citus or TimescaleDB; or if that cannot be found out,
 * because the extension's catalog is of a form that is not known here.  The
 * table is locked against being handed over to them.
 */
extern void fc_elsewhere_check(Oid target);

/*
 * The same before the table is locked, and for who may insert into it: other
 * hooks need not see what will be refused.
 */
extern void fc_elsewhere_foresee(Oid target);

#endif							/* FC_ELSEWHERE_H */
