/*-------------------------------------------------------------------------
 *
 * row/object.h
 *	  Records that are objects of JSON: the values of their keys as fields.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OBJECT_H
#define FC_OBJECT_H

#include "row/column.h"

/* What cuts such records */
typedef struct FcObjects FcObjects;

/*
 * Prepares to cut records into n fields; names are those of their keys, String.
 * Columns and names must outlive it.
 */
extern FcObjects *fc_objects_begin(const FcDialect *dialect, const List *names,
								   FcColumn *columns, int n);

/*
 * Sets all fields to the values of a record in the server's encoding: strings
 * without quotes and escapes, other values as they are written, in the current
 * memory context.  A key that is missing makes a NULL, as null does, or stands
 * for a default.  Throws core's errors, whose FC_CLASS_* is in *class then; the
 * record stays as it is.
 */
extern void fc_object_cut(FcObjects *objects, const char *rec, size_t len, FcField *fields,
						  uint32 *class);

/*
 * Sets the field of one key alone, if key and value are written without
 * escapes, and the value is a string or a number; else false: the whole record
 * must be looked at.  Nothing is found of what is wrong elsewhere, and no error
 * thrown.
 */
extern bool fc_object_field(FcObjects *objects, const char *rec, size_t len, int wanted,
							FcField *field);

#endif							/* FC_OBJECT_H */
