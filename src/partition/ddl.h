/*-------------------------------------------------------------------------
 *
 * partition/ddl.h
 *	  Runs commands that are made as text.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DDL_H
#define FC_DDL_H

/*
 * Pins search_path, by which the text of a command could be misread.  Returns
 * the level for AtEOXact_GUC(); on error the end of the transaction restores
 * it.
 */
extern int	fc_ddl_pin(void);

/* Runs a command that gives no rows; SPI is connected */
extern void fc_ddl_run(const char *sql);

/* Returns the name of a relation with its schema's, both quoted */
extern char *fc_ddl_name(Oid nspid, const char *relname);

#endif							/* FC_DDL_H */
