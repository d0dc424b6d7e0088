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

/*
 * Converts all files, one after the other, into a temporary copy in the set
 * and opens that; messages go on to name the source's paths.  A character that
 * cannot be converted becomes a zero byte.
 */
extern FcSource *fc_recode_source(const FcSource *source, int encoding, SharedFileSet *fileset);

/*
 * Where the line that begins at this offset of a file's copy begins in what it
 * was converted from; or the end, of its end.  Reads both up to there.
 */
extern uint64 fc_recode_original(const FcSource *source, const FcSource *copy, uint32 number, uint64 offset);

/* The first character from the offset on that cannot be converted; or "end" */
extern uint64 fc_recode_good(const FcSource *source, int encoding, uint64 offset, uint64 end);

/* ERROR 22021 or 22P05 for this character, which is invalid in the encoding */
extern void fc_recode_refuse(const FcSource *source, int encoding, uint64 offset);

#endif							/* FC_RECODE_H */
