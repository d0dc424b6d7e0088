/*-------------------------------------------------------------------------
 *
 * partition/ddl.h
 *	  Commands that are made as text.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DDL_H
#define FC_DDL_H

/*
 * Pins what the text of a command could be misread by.  Returns the level for
 * AtEOXact_GUC(); an error ends it with the transaction.
 */
extern int	fc_ddl_pin(void);

/* Runs a command; SPI is connected */
extern void fc_ddl_run(const char *sql);

/* The name of a relation with its schema's */
extern char *fc_ddl_name(Oid nspid, const char *relname);

#endif							/* FC_DDL_H */
