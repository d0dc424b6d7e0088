/*-------------------------------------------------------------------------
 *
 * source/recode.h
 *	  A temporary copy of the source file in the server's encoding.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECODE_H
#define FC_RECODE_H

#include "mb/pg_wchar.h"
#include "storage/sharedfileset.h"

#include "source/source.h"

/* Must the file be converted before bytes such as quotes can be looked for? */
extern bool fc_recode_needed(int encoding, const FcDialect *dialect);

/* The function that converts to the server's encoding; ERROR 42883: none */
extern Oid	fc_recode_proc(int encoding);

/* A character that cannot be converted */
typedef struct FcRecodeFault
{
	unsigned char bytes[MAX_CONVERSION_INPUT_LENGTH];	/* it, and what
														 * follows */
	int			len;
	uint32		file;			/* number of the file it is in */
	uint64		line;			/* of the file, header included */
} FcRecodeFault;

/*
 * Converts all files, one after the other, into a temporary copy in the set
 * and opens that; messages go on to name the source's paths.  NULL if a
 * character cannot be converted: then *fault is the first one.
 */
extern FcSource *fc_recode_source(const FcSource *source, int encoding,
								  SharedFileSet *fileset, FcRecodeFault *fault);

/* ERROR 22021 or 22P05, without a context */
extern void fc_recode_refuse(int encoding, FcRecodeFault *fault);

#endif							/* FC_RECODE_H */
