/*-------------------------------------------------------------------------
 *
 * row/origin.h
 *	  Where a row came from, as expressions call it: $file, $line, $byte_offset,
 *	  $row and $path.NAME.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ORIGIN_H
#define FC_ORIGIN_H

#include "source/source.h"

/*
 * The statement as the grammar can read it: each $name outside of quotes is
 * _name, and stands where it stood.  Throws the grammar's errors about tokens.
 */
extern char *fc_origin_grammar(const char *statement);

/*
 * The value of the last folder "name=value" in the file's path, in the current
 * memory context: Hive's escapes are undone, and what it writes for NULL is
 * one.  False if there is no such folder.
 */
extern bool fc_origin_path(const FcSource *source, uint32 file, const char *name, char **value);

#endif							/* FC_ORIGIN_H */
