/*-------------------------------------------------------------------------
 *
 * source/program.h
 *	  What a program prints, as input.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PROGRAM_H
#define FC_PROGRAM_H

#include "source/decompress.h"

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

#endif							/* FC_PROGRAM_H */
