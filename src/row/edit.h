/*-------------------------------------------------------------------------
 *
 * row/edit.h
 *	  Fields that are written otherwise than PostgreSQL reads them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_EDIT_H
#define FC_EDIT_H

#include "context/shared.h"

/* How the fields of a column are edited */
typedef struct FcEdit
{
	uint16		flags;			/* FC_FIELD_EDITS among them; FORCE_NULL */
	const List *words;			/* of String: that stand for NULL */
	const char *group;			/* between thousands, or "" */
	char		decimal;
	Oid			typid;			/* of numbers, no domain */
} FcEdit;

/* Are the bytes s[0..n) one of these words? */
extern bool fc_edit_is_word(const List *words, const char *s, size_t n);

/*
 * Replaces the file's separators by PostgreSQL's, in a copy that is palloc'ed.
 * A field without any, such as NaN, is left to the type as it is.
 */
extern void fc_edit_number(const FcEdit *edit, FcField *field);

/* Is it a type whose values number_format is about? */
extern bool fc_edit_is_number(Oid typid);

/*
 * Edits a field that is not NULL and stands for no default.  Its bytes stay:
 * what has to change is copied into the current memory context.
 */
extern void fc_edit_field(const FcEdit *edit, FcField *field);

/*
 * Leaves out the blanks around the bytes from s on, before *end, if the flags
 * ask for that; returns where the rest begins
 */
static inline const char *
fc_edit_trim(uint16 flags, bool quoted, const char *s, const char **end)
{
	if (likely((flags & (quoted ? FC_FIELD_TRIM_QUOTED : FC_FIELD_TRIM)) == 0))
		return s;
	while (s < *end && (*s == ' ' || *s == '\t'))
		s++;
	while (s < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
		(*end)--;
	return s;
}

#endif							/* FC_EDIT_H */
