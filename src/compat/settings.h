/*-------------------------------------------------------------------------
 *
 * compat/settings.h
 *	  The settings fast_copy.*, for every room.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SETTINGS_H
#define FC_SETTINGS_H

/* The most that fast_copy.workers takes */
#define FC_MAX_WORKERS	256

/* fast_copy.io_method */
enum
{
	FC_IO_AUTO,
	FC_IO_URING,
	FC_IO_SYNC
};

/* fast_copy.spill */
enum
{
	FC_SPILL_AUTO,
	FC_SPILL_OFFSETS,
	FC_SPILL_ROWS
};

/* fast_copy.writer */
enum
{
	FC_WRITER_AUTO,
	FC_WRITER_MULTI_INSERT,
	FC_WRITER_PAGE
};

/* Their variables, but for fast_copy.memory; X(type, name, default) */
#define FC_SETTINGS(X) \
	X(bool, fc_accelerate_copy, false) \
	X(int, fc_accelerate_min_kb, 256) \
	X(int, fc_log_min_duration, -1) \
	X(int, fc_progress_width, 80) \
	X(int, fc_workers, -1) \
	X(int, fc_io_method, FC_IO_AUTO) \
	X(int, fc_io_depth, 64) \
	X(int, fc_spill_kind, FC_SPILL_AUTO) \
	X(int, fc_chunk_size, 16 * 1024 * 1024) \
	X(int, fc_writer, FC_WRITER_AUTO) \
	X(char *, fc_root_directory, NULL) \
	X(char *, fc_history, NULL) \
	X(int, fc_max_partitions, 3660) \
	X(bool, fc_use_partman, true) \
	X(bool, fc_ignore_retention, false) \
	X(bool, fc_ignore_premake, false) \
	X(bool, fc_logical_standbys, true) \
	X(int, fc_max_rate_kb, 0) \
	X(int, fc_max_replica_lag_kb, 0)

#define FC_SETTING_DECLARE(type, name, preset) extern type name;
FC_SETTINGS(FC_SETTING_DECLARE)

/* Bytes that all processes of a load with nworkers workers may use together */
extern Size fc_settings_memory(int nworkers);

/* Defines them; called when the library is loaded */
extern void fc_settings_define(void);

/*
 * Before partitions may be made: ERROR 42501 if a SECURITY DEFINER function
 * loads, and a setting that guards the owner has the value of a role without
 * the privileges of the function's owner
 */
extern void fc_settings_check_guards(void);

/*
 * compat/replicas.c
 */

/*
 * Bytes of flushed WAL that the standby which is furthest behind has not
 * replayed yet, as far as it has told; 0 if none is connected.
 */
extern uint64 fc_replica_lag(void);

#endif							/* FC_SETTINGS_H */
