/*-------------------------------------------------------------------------
 *
 * partition/partman_sql.c
 *	  Statements for tables that pg_partman keeps.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "utils/guc.h"

#include "partition/ddl.h"
#include "partition/partman_sql.h"

int
fc_partman_sql_begin(void)
{
	int			level = fc_ddl_pin();

	SPI_connect();
	return level;
}

void
fc_partman_sql_end(int level)
{
	SPI_finish();
	AtEOXact_GUC(false, level);
}

uint64
fc_partman_sql_query(const char *sql)
{
	int			rc = SPI_execute(sql, XactReadOnly, 1);

	if (rc != SPI_OK_SELECT)
		elog(ERROR, "unexpected result of \"%s\": %s", sql,
			 SPI_result_code_string(rc));
	return SPI_processed;
}

char *
fc_partman_sql_value(int column)
{
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
}
