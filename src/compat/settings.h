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

extern bool fc_accelerate_copy;
extern int	fc_accelerate_min_kb;
extern int	fc_workers;
extern int	fc_io_method;
extern int	fc_io_depth;
extern int	fc_chunk_size;
extern int	fc_writer;
extern char *fc_root_directory;
extern char *fc_history;
extern int	fc_spill_kind;
extern int	fc_max_partitions;
extern bool fc_use_partman;
extern bool fc_ignore_retention;
extern bool fc_ignore_premake;
extern bool fc_logical_standbys;
extern int	fc_log_min_duration;
extern int	fc_progress_width;
extern int	fc_max_rate_kb;
extern int	fc_max_replica_lag_kb;

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
