/*-------------------------------------------------------------------------
 *
 * row/edit.h
 *	  Fields that are written otherwise than PostgreSQL reads them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_EDIT_H
#define FC_EDIT_H

#include "grammar/field.h"

/* How the fields of a column are edited */
typedef struct FcEdit
{
	uint16		flags;			/* FC_FIELD_EDITS among them; FORCE_NULL */
	const char *words;			/* that stand for NULL, each after a '+'; the
								 * list ends with an empty string */
	const char *group;			/* between thousands, or "" */
	size_t		group_len;
	char		decimal;
	Oid			typid;			/* of numbers, no domain */
} FcEdit;

/* Do the bytes s[0..n) stand for NULL, if they have no quotes? */
extern bool fc_edit_is_word(const FcEdit *edit, const char *s, size_t n);

/*
 * Replaces the file's separators by PostgreSQL's, in a copy that is palloc'ed.
 * A field without any, such as NaN, is left to the type as it is.
 */
extern void fc_edit_number(const FcEdit *edit, FcField *field);

/*
 * Fills in the edits of each field from FC_TAIL_EDITS: the two separators, and
 * a list of words for each field, all strings with a NUL.  typid is the
 * column's type.  Returns where the words of the next field begin.
 */
extern const char *fc_edit_init(FcEdit *edit, uint16 flags, const char *tail,
								const char *words, Oid typid);

/* Returns where the words of the first field begin */
extern const char *fc_edit_words(const char *tail);

/* Is it a type whose values number_format is about? */
extern bool fc_edit_is_number(Oid typid);

/*
 * Edits a field that is not NULL and stands for no default.  Its bytes stay:
 * what has to change is copied into the current memory context.
 */
extern void fc_edit_field(const FcEdit *edit, FcField *field);

static inline bool
fc_edit_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* ERROR 22P02 for a field that is bad, as its type refuses a value */
extern void fc_edit_refuse(const FcEdit *edit, const FcField *field);

#endif							/* FC_EDIT_H */
