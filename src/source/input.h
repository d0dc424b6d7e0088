/*-------------------------------------------------------------------------
 *
 * source/input.h
 *	  Bytes that come once, from front to back; those that a program prints.
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

/* ERROR 42501, as COPY's, unless the user may run programs */
extern void fc_program_check(void);

/*
 * Starts a command of the shell.  The pipe is fd.c's and is closed with the
 * (sub)transaction at the latest.
 */
extern FcInput *fc_program_begin(const char *command);

/* Waits for its end, and notes in input->failed whether it has failed */
extern void fc_program_end(FcInput *input);

/* ERROR 38000 if it has; after fc_program_end.  The hint may be NULL */
extern void fc_program_check_end(const FcInput *input, const char *hint);

/* Says, for that hint, where programs run; COPY's error has none */
extern char *fc_program_hint(void);

#endif							/* FC_INPUT_H */
