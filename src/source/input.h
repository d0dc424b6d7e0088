/*-------------------------------------------------------------------------
 *
 * source/input.h
 *	  Bytes that come once, from front to back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_INPUT_H
#define FC_INPUT_H

#include "lib/stringinfo.h"

/* The path of what the client sends */
#define FC_CLIENT_PATH	"stdin"

/* Where bytes come from; each kind has it as the first field of its struct */
typedef struct FcInput
{
	/*
	 * Up to len bytes, and at least one; 0: there are no more.  Processes
	 * interrupts.
	 */
	size_t		(*read) (struct FcInput *input, char *buf, size_t len);
	const char *word;			/* what it is: "file" */
	const char *path;			/* which one it is */
	bool		failed;			/* the sender will not send the rest */
	StringInfo	ahead;			/* read already, from its cursor on; or NULL */
} FcInput;

/* Gives up to len bytes, and at least one; 0: there are no more */
extern size_t fc_input_read(FcInput *input, char *buf, size_t len);

/*
 * Keeps so many of the first bytes for later reads, in the current memory
 * context.  False if there are fewer; then all are kept.  Only
 * fc_input_read_head may have been called before.
 */
extern bool fc_input_look_ahead(FcInput *input, size_t size);

/*
 * As fc_input_read, but the bytes are kept, too: fc_input_rewind makes the next
 * read begin with them again.  No other read may come between the two.
 */
extern size_t fc_input_read_head(FcInput *input, char *buf, size_t len);
extern void fc_input_rewind(FcInput *input);

#endif							/* FC_INPUT_H */
