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
 * Connects SPI and pins search_path.  Returns the level of settings that
 * fc_partman_sql_end ends; on error the end of the transaction ends both.
 */
extern int	fc_partman_sql_begin(void);
extern void fc_partman_sql_end(int level);

/* Runs a query; returns its number of rows, of which only one is fetched */
extern uint64 fc_partman_sql_query(const char *sql);

/* Returns a column of the row in the SPI procedure's context, or NULL */
extern char *fc_partman_sql_value(int column);

#endif							/* FC_PARTMAN_SQL_H */
