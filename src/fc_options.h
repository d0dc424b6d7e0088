/*-------------------------------------------------------------------------
 *
 * fc_options.h
 *	  What the caller asked for, checked by COPY's own rules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OPTIONS_H
#define FC_OPTIONS_H

#include "commands/copy.h"

#include "fc_shared.h"

typedef struct FcOptions
{
	Oid			target;
	char	   *path;
	char	   *key_column;		/* or NULL */
	List	   *columns;		/* of String; NIL: all */
	List	   *copy_options;	/* DefElems as COPY's grammar makes them, without
								 * HEADER and FREEZE */
	CopyFormatOptions format;	/* what ProcessCopyOptions made of them */
	int			header_lines;
	bool		header_match;	/* the last header line names the columns */
	char	   *interval;		/* or NULL */
	FcMissing	missing;
	bool		freeze;
	int			workers;		/* -1: choose */
	int			file_encoding;
} FcOptions;

/* Settings */
extern int	fc_workers;
extern int	fc_memory_kb;
extern int	fc_io_method;
extern int	fc_io_depth;
extern int	fc_chunk_size;
extern char *fc_root_directory;

enum
{
	FC_IO_AUTO,
	FC_IO_URING,
	FC_IO_SYNC
};

/*
 * Text arguments as fast_copy() has them, NULL where the caller gave none.
 * COPY's errors for COPY's options; ERROR 22023 for what is ours.
 */
typedef struct FcArguments
{
	Oid			target;
	char	   *source;
	char	   *timestamp_column;
	List	   *columns;
	char	   *format;
	char	   *header;
	char	   *delimiter;
	char	   *null_string;
	char	   *quote;
	char	   *escape;
	char	   *encoding;
	char	   *partition_interval;
	char	   *missing_partitions;
	bool		freeze;
	int			workers;		/* -1 where NULL */
} FcArguments;

extern FcOptions *fc_options_make(const FcArguments *args);

/* The file is (now) in this encoding */
extern void fc_options_set_encoding(FcOptions *options, int encoding);

/* Settings are defined when the library is loaded */
extern void fc_options_define_settings(void);

#endif							/* FC_OPTIONS_H */
