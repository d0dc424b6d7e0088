/*-------------------------------------------------------------------------
 *
 * compat/settings.c
 *	  The settings fast_copy.*, with what SHOW and pg_settings say of them.
 *
 * Anybody may set those that guard the owner of a table from partitions that
 * he does not want.  In a SECURITY DEFINER function, whose owner loads, such a
 * value counts only if a role with that owner's privileges has set it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "compat/compat.h"
#include "compat/settings.h"

bool		fc_accelerate_copy = false;
int			fc_accelerate_min_kb = 8192;
int			fc_log_min_duration = -1;
int			fc_progress_width = 80;
int			fc_workers = -1;
int			fc_memory_kb = 262144;
int			fc_io_method = FC_IO_AUTO;
int			fc_io_depth = 64;
int			fc_spill_kind = FC_SPILL_AUTO;
int			fc_chunk_size = 16 * 1024 * 1024;
int			fc_writer = FC_WRITER_AUTO;
char	   *fc_root_directory = NULL;
char	   *fc_history = NULL;
int			fc_max_partitions = 3660;
bool		fc_use_partman = true;
bool		fc_ignore_retention = false;
bool		fc_ignore_premake = false;
int			fc_max_rate_kb = 0;
int			fc_max_replica_lag_kb = 0;

static const struct config_enum_entry io_methods[] = {
	{"auto", FC_IO_AUTO, false},
	{"io_uring", FC_IO_URING, false},
	{"sync", FC_IO_SYNC, false},
	{NULL, 0, false}
};

static const struct config_enum_entry writers[] = {
	{"auto", FC_WRITER_AUTO, false},
	{"multi_insert", FC_WRITER_MULTI_INSERT, false},
	{"page", FC_WRITER_PAGE, false},
	{NULL, 0, false}
};

static const struct config_enum_entry spill_kinds[] = {
	{"auto", FC_SPILL_AUTO, false},
	{"offsets", FC_SPILL_OFFSETS, false},
	{"rows", FC_SPILL_ROWS, false},
	{NULL, 0, false}
};

static void
fc_settings_define_watching(void)
{
	DefineCustomStringVariable("fast_copy.history",
							   "Table that gets a row of each load.",
							   "It is made by fast_copy_create_history_table(), and belongs to who loads or to a superuser. Empty: there is none.",
							   &fc_history, "",
							   PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.log_min_duration",
							"Sets the minimum execution time above which loads are logged.",
							"Loads that fail are logged with the phase they failed in. 0 logs all loads, -1 none.",
							&fc_log_min_duration, -1, -1, INT_MAX,
							PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.progress_width",
							"Width of the terminal that lines about progress are for.",
							"A bar fills what the figures leave of it. 0: no bar is drawn.",
							&fc_progress_width, 80, 0, 1000,
							PGC_USERSET, 0, NULL, NULL, NULL);
}

static void
fc_settings_define_sizes(void)
{
	DefineCustomIntVariable("fast_copy.chunk_size",
							"Largest size of the pieces in which a file is scanned.",
							"A worker takes so much of the file at a time, less where workers would run out of pieces, and more where there would be more than 65536.",
							&fc_chunk_size, 16 * 1024 * 1024, 1, INT_MAX,
							PGC_USERSET, GUC_UNIT_BYTE, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.io_depth",
							"Reads of the source file that each process keeps in flight.",
							"More of them help where a storage device serves many at once; a file that is read in order needs none.",
							&fc_io_depth, 64, 1, 4096,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.memory",
							"Memory that all processes of a load may use together for sorting and reading.",
							"It is a bound whatever the size of the file. With more of it rows are spilled in larger blocks, and fewer cells must be cut and spilled again; indexes are built with maintenance_work_mem, within this.",
							&fc_memory_kb, 262144, 1024, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.workers",
							"Parallel workers of a load that does not say how many.",
							"-1 takes one for each processor that the server may use, and none for a small file. They are bounded by max_parallel_workers and max_worker_processes.",
							&fc_workers, -1, -1, FC_MAX_WORKERS,
							PGC_USERSET, 0, NULL, NULL, NULL);
}

static void
fc_settings_define_copy(void)
{
	DefineCustomBoolVariable("fast_copy.accelerate_copy",
							 "Loads by fast_copy what COPY FROM commands are to load.",
							 "They do all that they do without it; those that are small, or that fast_copy cannot load in parallel, are left to COPY.",
							 &fc_accelerate_copy, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.accelerate_min_size",
							"Size of the data from which a COPY is accelerated.",
							"So much of what a client or a program sends is kept in memory before that is known.",
							&fc_accelerate_min_kb, 8192, 0, 524288,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
}

static void
fc_settings_define_guards(void)
{
	DefineCustomBoolVariable("fast_copy.ignore_premake",
							 "Loads rows that lie beyond the partitions pg_partman makes ahead.",
							 "Its maintenance goes on from the latest partition, and makes none before it.",
							 &fc_ignore_premake, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fast_copy.ignore_retention",
							 "Loads rows that are older than the retention of pg_partman.",
							 "Its next maintenance removes them.",
							 &fc_ignore_retention, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.max_partitions",
							"Most partitions that one load may create.",
							"A wrong date in a file can ask for any number of them.",
							&fc_max_partitions, 3660, 1, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fast_copy.use_partman",
							 "Makes partitions of tables that pg_partman keeps by its configuration.",
							 "If it is off, pg_partman may not be able to work with the partitions that are made.",
							 &fc_use_partman, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

/*
 * ERROR 42501 if the setting has the value of a role without the current one's
 * privileges.
 *
 * Core knows which role has set it by SET, in its client's options or in a
 * function's SET.  A value stored for a role is the session's: a role may
 * ALTER ROLE itself.  All others come from who administers the server or the
 * database.
 */
static void
fc_settings_check_guard(const char *name)
{
	const struct config_generic *setting = fc_find_setting(name);
	Oid			role = setting->source == PGC_S_USER || setting->source == PGC_S_DATABASE_USER ?
		GetSessionUserId() : setting->srole;

	if (has_privs_of_role(role, GetUserId()))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("parameter \"%s\" is not the caller's to set where role \"%s\" loads",
					name, GetUserNameFromId(GetUserId(), false)),
			 errdetail("It protects the owner of the table, and has the value of role \"%s\".",
					   GetUserNameFromId(role, false)),
			 errhint("Let the function set it, as by ALTER FUNCTION ... SET %s TO ...; or RESET what the session, ALTER ROLE or the client's options have set.",
					 name)));
}

void
fc_settings_check_guards(void)
{
	if (GetUserId() == GetOuterUserId())
		return;
	fc_settings_check_guard("fast_copy.max_partitions");
	if (!fc_use_partman)
		fc_settings_check_guard("fast_copy.use_partman");
	if (fc_ignore_retention)
		fc_settings_check_guard("fast_copy.ignore_retention");
	if (fc_ignore_premake)
		fc_settings_check_guard("fast_copy.ignore_premake");
}

static void
fc_settings_define_pace(void)
{
	DefineCustomIntVariable("fast_copy.max_rate",
							"Most that a load reads of its source in a second, and most WAL that it writes.",
							"All processes of the load have this together. What is read more than once counts each time. 0: no limit.",
							&fc_max_rate_kb, 0, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("fast_copy.max_replica_lag",
							"WAL by which a standby may be behind without holding a load back.",
							"The load waits while a standby that streams is further behind than this. 0: it does not wait.",
							&fc_max_replica_lag_kb, 0, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
}

void
fc_settings_define(void)
{
	fc_settings_define_copy();
	fc_settings_define_sizes();
	fc_settings_define_guards();
	fc_settings_define_pace();
	DefineCustomEnumVariable("fast_copy.io_method",
							 "How records are read in key order.",
							 "io_uring reads with io_uring, and sync with preadv. auto takes io_uring where the kernel grants it, or else preadv. Rows that were spilled are read from temporary files.",
							 &fc_io_method, FC_IO_AUTO, io_methods,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("fast_copy.root_directory",
							   "Directory whose files may be loaded without the privileges of pg_read_server_files.",
							   "Empty: there is no such directory. A path must begin with that of the directory; links are followed as long as they stay below it.",
							   &fc_root_directory, "",
							   PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("fast_copy.writer",
							 "How rows are written to tables without indexes.",
							 "page forms pages aside, multi_insert inserts rows as COPY does. auto takes pages, except for few rows, or where more than a tenth of an existing table is free space, which pages leave as it is.",
							 &fc_writer, FC_WRITER_AUTO, writers,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("fast_copy.spill",
							 "What goes to temporary files: rows, or the places of their records in the file.",
							 "rows are written there as the scan makes them; of offsets the load reads each record from the file again. auto takes rows, unless there is too little room for them, or the file is large and nearly in key order.",
							 &fc_spill_kind, FC_SPILL_AUTO, spill_kinds,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	fc_settings_define_watching();
	MarkGUCPrefixReserved("fast_copy");
}
