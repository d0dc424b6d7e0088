/*-------------------------------------------------------------------------
 *
 * partition/partman_sql.h
 *	  Statements for tables that pg_partman keeps.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARTMAN_SQL_H
#define FC_PARTMAN_SQL_H

/*
 * Connects SPI and pins search_path.  Returns the level that settings are put
 * back to by the end; an error ends both with the transaction.
 */
extern int	fc_partman_sql_begin(void);
extern void fc_partman_sql_end(int level);

/* Runs what gives rows; returns how many, but no more than one is fetched */
extern uint64 fc_partman_sql_query(const char *sql);

/* A column of the row fetched, in the SPI procedure's context; or NULL */
extern char *fc_partman_sql_value(int column);

#endif							/* FC_PARTMAN_SQL_H */
