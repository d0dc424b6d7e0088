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

/* ERROR 42501 unless the user may run programs, as COPY has it */
extern void fc_program_check(void);

/*
 * Starts a command of the shell.  The pipe is fd.c's and is closed with the
 * (sub)transaction at the latest.
 */
extern FcInput *fc_program_begin(const char *command);

/* Ends it, and notes in input->failed whether it says that it failed */
extern void fc_program_end(FcInput *input);

/* ERROR 38000 if it did; to be called after fc_program_end */
extern void fc_program_check_end(const FcInput *input);

#endif							/* FC_PROGRAM_H */
