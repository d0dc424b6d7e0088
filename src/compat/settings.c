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

#include "compat/compat.h"
#include "compat/settings.h"

/* fast_copy.memory: by default in all, and for each worker; at least */
#define FC_MEMORY_KB		((Size) 256 * 1024)
#define FC_MEMORY_KB_EACH	((Size) 16 * 1024)
#define FC_MEMORY_KB_LEAST	1024

#define FC_SETTING_DEFINE(type, name, preset) type name = preset;
FC_SETTINGS(FC_SETTING_DEFINE)

static int	fc_memory_kb = -1;

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

/* Those that are numbers; what the variable has at first is the default */
static const struct
{
	const char *name;
	const char *brief;
	const char *more;
	int		   *value;
	int			least;
	int			most;
	GucContext	context;
	int			unit;			/* GUC_UNIT_*, or 0 */
}			numbers[] = {
	{"fast_copy.accelerate_min_size",
		"Smallest size of the data for which a COPY is accelerated.",
		"Up to this much of what a client or a program sends, or 4 MB if that is more, is kept in memory until it is known whether there is more.",
	&fc_accelerate_min_kb, 0, 524288, PGC_USERSET, GUC_UNIT_KB},
	{"fast_copy.chunk_size",
		"Largest size of the pieces in which a file is scanned.",
		"A worker takes one piece of the file at a time. Pieces are smaller if workers would run out of them, and larger if there would be more than 65536.",
	&fc_chunk_size, 1, INT_MAX, PGC_USERSET, GUC_UNIT_BYTE},
	{"fast_copy.io_depth",
		"Number of reads of the source file that each process keeps in flight.",
		"A higher number helps if a storage device serves many reads at once; a file that is read in order needs none.",
	&fc_io_depth, 1, 4096, PGC_USERSET, 0},
	{"fast_copy.log_min_duration",
		"Sets the minimum execution time above which loads are logged.",
		"Loads that fail are logged with the phase they failed in. 0 logs all loads, -1 none.",
	&fc_log_min_duration, -1, INT_MAX, PGC_SUSET, GUC_UNIT_MS},
	{"fast_copy.max_partitions",
		"Largest number of partitions that one load may create.",
		"A wrong date in a file can ask for any number of them.",
	&fc_max_partitions, 1, INT_MAX, PGC_USERSET, 0},
	{"fast_copy.max_rate",
		"Most that a load may read from its source in a second, and most WAL that it may write.",
		"All processes of the load share this rate. Data that are read more than once count each time. 0 means no limit.",
	&fc_max_rate_kb, 0, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB},
	{"fast_copy.max_replica_lag",
		"Amount of WAL by which a standby may lag behind before loads wait for it.",
		"A load waits while a standby that streams is further behind than this. 0 means that it does not wait.",
	&fc_max_replica_lag_kb, 0, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB},
	{"fast_copy.memory",
		"Memory that all processes of a load may use together for sorting and reading.",
		"-1 means 256 MB, or 16 MB for each worker if that is more. Less than 1 MB counts as 1 MB. The limit holds for files of any size. With more memory, rows are spilled in larger blocks, and fewer cells must be cut and spilled again. Indexes are built with maintenance_work_mem, within this limit.",
	&fc_memory_kb, -1, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB},
	{"fast_copy.progress_width",
		"Width of the terminal that shows progress.",
		"A bar fills what the figures leave of each line. 0 means no bar.",
	&fc_progress_width, 0, 1000, PGC_USERSET, 0},
	{"fast_copy.workers",
		"Number of parallel workers, for loads that do not set it.",
		"-1 means one for each processor that the server may use, and none for a small file. max_parallel_workers and max_worker_processes limit the number.",
	&fc_workers, -1, FC_MAX_WORKERS, PGC_USERSET, 0},
};

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
	fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg("parameter \"%s\" is not the caller's to set where role \"%s\" loads",
													name, GetUserNameFromId(GetUserId(), false)),
			 errdetail("It protects the owner of the table, and has the value of role \"%s\".",
					   GetUserNameFromId(role, false)),
			 errhint("Let the function set it, as by ALTER FUNCTION ... SET %s TO ...; or RESET what the session, ALTER ROLE or the client's options have set.",
					 name));
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

/* As autovacuum_work_mem, which has a default of its own and the same least */
Size
fc_settings_memory(int nworkers)
{
	Size		kb = fc_memory_kb < 0 ? Max(FC_MEMORY_KB, (Size) nworkers * FC_MEMORY_KB_EACH) :
		Max(fc_memory_kb, FC_MEMORY_KB_LEAST);

	return kb * 1024;
}

void
fc_settings_define(void)
{
	for (int i = 0; i < lengthof(numbers); i++)
		DefineCustomIntVariable(numbers[i].name, numbers[i].brief, numbers[i].more,
								numbers[i].value, *numbers[i].value, numbers[i].least, numbers[i].most,
								numbers[i].context, numbers[i].unit, NULL, NULL, NULL);
	DefineCustomBoolVariable("fast_copy.accelerate_copy",
							 "Lets fast_copy load the data of COPY FROM commands.",
							 "The commands have the same effect as without it. Small ones, and those that fast_copy cannot load in parallel, are left to COPY.",
							 &fc_accelerate_copy, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fast_copy.ignore_premake",
							 "Loads rows beyond the partitions that pg_partman creates in advance.",
							 "Its maintenance then continues after the latest partition, and creates none before it.",
							 &fc_ignore_premake, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fast_copy.ignore_retention",
							 "Loads rows that are older than the retention of pg_partman.",
							 "Its next maintenance removes them.",
							 &fc_ignore_retention, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fast_copy.logical_standbys",
							 "Replaces rows so that logical replication slots of standbys show each of them.",
							 "If wal_level is logical, standbys of PostgreSQL 16 and later may have such slots, of which their primary does not know. Rows are then deleted and inserted, and loads that merge are refused. Turn it off if no standby has one: subscribers to it would miss these rows.",
							 &fc_logical_standbys, true,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("fast_copy.use_partman",
							 "Uses pg_partman's configuration to create partitions of tables that it manages.",
							 "If it is off, pg_partman may not be able to work with the new partitions.",
							 &fc_use_partman, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("fast_copy.history",
							   "Table that gets a row for each load.",
							   "fast_copy_create_history_table() creates it. It must belong to the role that loads or to a superuser. Empty means no table.",
							   &fc_history, "",
							   PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("fast_copy.io_method",
							 "How records are read in key order.",
							 "io_uring reads with io_uring, and sync with preadv. auto uses io_uring if the kernel permits it, and preadv otherwise. Spilled rows are read from temporary files.",
							 &fc_io_method, FC_IO_AUTO, io_methods,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("fast_copy.root_directory",
							   "Directory whose files may be loaded without the privileges of pg_read_server_files.",
							   "A path must begin with that of the directory; links are followed as long as they stay below it. Empty means no directory.",
							   &fc_root_directory, "",
							   PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("fast_copy.writer",
							 "How rows are written to tables without indexes, and to empty ones.",
							 "page writes whole pages, and multi_insert inserts rows as COPY does. auto uses page, except for few rows, or if more than a tenth of an existing table is free space, which page leaves unused. An empty table with indexes gets new files with page, and from 10,000 rows on with auto.",
							 &fc_writer, FC_WRITER_AUTO, writers,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("fast_copy.spill",
							 "What goes to temporary files: rows, or the offsets of their records in the file.",
							 "With rows, the scan writes the rows it has parsed; with offsets, the load reads each record from the file again. auto uses rows, unless there is too little space for them, or the file is large and nearly in key order.",
							 &fc_spill_kind, FC_SPILL_AUTO, spill_kinds,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("fast_copy");
}
