/*-------------------------------------------------------------------------
 *
 * fc_recode.h
 *	  A copy of the source file in the server's encoding.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_RECODE_H
#define FC_RECODE_H

#include "storage/sharedfileset.h"

#include "fc_source.h"

/* Must the file be converted before bytes such as quotes can be looked for? */
extern bool fc_recode_needed(int encoding, const FcDialect *dialect);

/*
 * Converts the whole file into a temporary file of the set and opens that,
 * under the source's path as far as messages go.  NULL if a character of the
 * file cannot be converted.
 */
extern FcSource *fc_recode_source(const FcSource *source, int encoding,
								  SharedFileSet *fileset);

#endif							/* FC_RECODE_H */
