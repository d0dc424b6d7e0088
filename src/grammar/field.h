/*-------------------------------------------------------------------------
 *
 * grammar/field.h
 *	  Cuts a record into fields: finds their ends, and takes away quotes and
 *	  escapes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_FIELD_H
#define FC_FIELD_H

#include "grammar/marks.h"

/* One field of a record, unquoted or de-escaped in place */
typedef struct FcField
{
	char	   *data;			/* NUL-terminated; somewhere in the field */
	size_t		len;			/* without the NUL */
	bool		null;			/* is the null string, without quotes; text: as
								 * it stood in the file */
	bool		marker;			/* is the default string, likewise */
	bool		verify;			/* escapes made bytes that may be wrong in the
								 * encoding: NUL or with the high bit */
	bool		quoted;			/* had a quote; csv only */
	bool		bad;			/* row/edit.c: its column refuses it; set where
								 * the column has FC_FIELD_NUMBER */
} FcField;

/*
 * Cuts the record rec[0..len) into fields, unquoting or de-escaping in place:
 * rec is overwritten and rec[len] must be writable.  Returns the number of
 * fields in the record, which may exceed max (only max are stored), or -1 for
 * a quote that never closes ("unterminated CSV quoted field").
 */
extern int	fc_fields_cut(const FcDialect *dialect, char *rec, size_t len,
						  FcField *fields, int max);

/*
 * The same for a record that is marked from pos on, in which each quote closes
 */
extern int	fc_fields_marked(const FcDialect *dialect, const FcMarks *marks,
							 size_t pos, char *rec, size_t len,
							 FcField *fields, int max);

/*
 * Cuts out field number "wanted" (from 0) alone, overwriting only that
 * field's bytes and the one after it.  False if the record has fewer fields
 * or a quote never closes.
 */
extern bool fc_field_at(const FcDialect *dialect, char *rec, size_t len,
						int wanted, FcField *field);

/*
 * Makes the field whose borders are known; the byte after the record must be
 * writable.
 */
extern void fc_field_cut(const FcDialect *dialect, char *rec,
						 const FcBorders *at, FcField *field);

#endif							/* FC_FIELD_H */
