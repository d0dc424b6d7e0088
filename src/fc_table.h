/*-------------------------------------------------------------------------
 *
 * fc_table.h
 *	  Makes a table without waiting for the disk.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_TABLE_H
#define FC_TABLE_H

/*
 * Executes one CREATE TABLE, of a table that is not temporary.  Leader only.
 * Event triggers and hooks of other extensions do not see the command.
 */
extern void fc_table_create(const char *sql);

#endif							/* FC_TABLE_H */
