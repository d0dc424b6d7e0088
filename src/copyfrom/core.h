/*-------------------------------------------------------------------------
 *
 * copyfrom/core.h
 *	  Core's own COPY: for targets only it can load, and for its errors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COPYFROM_RUN_H
#define FC_COPYFROM_RUN_H

#include "options/target.h"

/* Refuses options that cannot be had where core loads; ERROR 0A000 */
extern void fc_core_check(FcTarget *target);

/* Loads all files with CopyFrom; returns the rows it counts */
extern uint64 fc_core_copy(FcTarget *target);

/* Makes core read the header of a binary file, and notes where it ends */
extern void fc_core_binary_header(FcTarget *target, uint32 file);

/* Compares a file's header line with the column names; throws COPY's errors */
extern void fc_core_match_header(FcTarget *target, uint32 file, const FcRecord *header);

/*
 * Throws the first bad record's error: COPY's, if COPY refuses the record, or
 * else the one that a process kept.
 */
extern void fc_core_throw(FcTarget *target);

/*
 * copyfrom/hint.c
 */

typedef enum FcRefusedFor
{
	FC_REFUSED_NOTHING,			/* nothing that a hint may be given about */
	FC_REFUSED_VALUE,			/* a value that its type refuses */
	FC_REFUSED_MISSING,			/* too few fields */
	FC_REFUSED_EXTRA,			/* too many */
	FC_REFUSED_QUOTE,			/* a quote that does not end */
	FC_REFUSED_HEADER,			/* a header that does not match */
	FC_REFUSED_BYTES,			/* bytes that are no characters */
	FC_REFUSED_COMMAND			/* what a worker may not do */
} FcRefusedFor;

/* A record that core refuses */
typedef struct FcRefused
{
	const FcTarget *target;
	FcRefusedFor what;
	uint32		file;
	bool		first;			/* it is the first record of the file */
	uint64		line;			/* on which it begins; 0: not known */
	uint64		offset;			/* where it is */
	uint64		length;
	const char *column;			/* NULL: the error is not about a field */
	const char *value;			/* of the field as text, or NULL */
	const char *text;			/* of the record, at least its beginning; NULL:
								 * not known */
} FcRefused;

/*
 * Returns the argument that would probably avoid the error, as a text that says
 * "if" and is allocated in the current memory context; NULL: none is known
 */
extern char *fc_hint_text(const FcRefused *refused);

/*
 * For an error context callback, in a message about a record.  The first says
 * what a hint may be about, for "what"; the second gives the error a hint.
 */
extern FcRefusedFor fc_hint_about(const FcOptions *options);
extern void fc_hint(const FcRefused *refused);

/* What people write for NULL: the numbers of some of the words */
#define FC_NULL_EMPTY	0		/* the empty string */
#define FC_NULL_ESCAPE	1		/* "\N" */
#define FC_NULL_NAN		2		/* "NaN"; "nan" follows: numbers, too */
#define FC_NULL_WORDS	22

/* Word number n */
extern const char *fc_hint_null_word(int n);

/* The number of the word that s[0..len) is, -1 if it is none */
extern int	fc_hint_null_find(const char *s, size_t len);

/* copyfrom/access_hint.c */

/* What is being opened */
typedef struct FcAccessed
{
	const FcTarget *target;
	const char *path;			/* or pattern, as the caller gave it */
} FcAccessed;

/*
 * Error context callbacks, for a load that is not accelerated.  They give the
 * error a hint if it has none and is about a path (the argument is an
 * FcAccessed), or about a privilege on the target (the FcTarget).
 */
extern void fc_access_hint_path(void *arg);
extern void fc_access_hint_grant(void *arg);

#endif							/* FC_COPYFROM_RUN_H */
