/*-------------------------------------------------------------------------
 *
 * context/processors.h
 *	  How many workers a load asks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROCESSORS_H
#define FC_PROCESSORS_H

/* Bytes of data below which workers cost more time than they save */
#define FC_PROCESSORS_SMALL	(4 * 1024 * 1024)

/*
 * The number of workers that the option asks for or, where it is -1, the
 * setting fast_copy.workers.  By default there is one for each processor that
 * the server may use, at most max_parallel_workers, and none for what is small.
 * From 0 to FC_MAX_WORKERS.
 */
extern int	fc_processors_workers(int option, bool small);

#endif							/* FC_PROCESSORS_H */
