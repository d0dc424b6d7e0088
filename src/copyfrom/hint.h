/*-------------------------------------------------------------------------
 *
 * copyfrom/hint.h
 *	  What may be wrong with the call if core refuses a record.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_HINT_H
#define FC_HINT_H

#include "copyfrom/refused.h"

/*
 * Returns the argument that would probably avoid the error, as a text that says
 * "if" and is allocated in the current memory context; NULL: none is known
 */
extern char *fc_hint_text(const FcRefused *refused);

/*
 * Both are called in an error context callback, for a message about a record.
 * The first says what a hint may be about, by which "what" is set, if the error
 * may get one; the second gives it one.
 */
extern FcRefusedFor fc_hint_about(const FcOptions *options);
extern void fc_hint(const FcRefused *refused);

#endif							/* FC_HINT_H */
