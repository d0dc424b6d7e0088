/*-------------------------------------------------------------------------
 *
 * files.h
 *	  fast_copy_files(): many files, some at a time, each time committed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FILES_H
#define FC_FILES_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/jsonb.h"

/* What the caller asks for */
typedef struct FcFilesCall
{
	Oid			target;
	List	   *sources;		/* of String: paths and patterns */
	Oid			ledger;
	int			batch_files;	/* a load has at most so many files */
	int64		batch_bytes;	/* ... of so many bytes, or one file */
	bool		skip;			/* goes on after a file that fails */
	Interval   *min_age;		/* files that are younger are left for later */
	Jsonb	   *options;		/* of each load; or NULL */
} FcFilesCall;

/*
 * Loads the files that the ledger does not have yet.  It begins and ends
 * transactions, so that the caller is a procedure, called outside of any.
 * After an error the files before it are loaded, and the ledger tells which one
 * has failed.
 */
extern void fc_files_run(const FcFilesCall *call);

#endif							/* FC_FILES_H */
