/*-------------------------------------------------------------------------
 *
 * source/advice.h
 *	  What hints say of the server's machine, and of commands for it.
 *
 * For errors about what the server cannot open or run.  All texts are allocated
 * in the current memory context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ADVICE_H
#define FC_ADVICE_H

/* The machine's name, and that of the user that the server runs as */
extern char *fc_advice_host(void);
extern char *fc_advice_user(void);

/* The current role, as a GRANT has it */
extern const char *fc_advice_role(void);

/*
 * The path, if it can stand as it is in a command of the shell, within a
 * literal of SQL; else the word in its place
 */
extern const char *fc_advice_path(const char *path, const char *word);

#endif							/* FC_ADVICE_H */
