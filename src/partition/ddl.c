/*-------------------------------------------------------------------------
 *
 * partition/ddl.c
 *	  Runs commands that are made as text.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "partition/ddl.h"

int
fc_ddl_pin(void)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	return level;
}

void
fc_ddl_run(const char *sql)
{
	int			rc = SPI_execute(sql, false, 0);

	if (rc != SPI_OK_UTILITY)
		elog(ERROR, "unexpected result of \"%s\": %s", sql,
			 SPI_result_code_string(rc));
}

char *
fc_ddl_name(Oid nspid, const char *relname)
{
	return quote_qualified_identifier(get_namespace_name(nspid), relname);
}
