/*-------------------------------------------------------------------------
 *
 * options/options.h
 *	  What the caller asked for, checked by COPY's own rules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_OPTIONS_H
#define FC_OPTIONS_H

#include "commands/copy.h"

#include "context/shared.h"

/* on_error */
typedef enum FcOnError
{
	FC_ON_ERROR_STOP,
	FC_ON_ERROR_IGNORE,			/* the record is rejected */
	FC_ON_ERROR_SET_NULL		/* the value becomes NULL */
} FcOnError;

typedef enum FcVerbosity
{
	FC_LOG_SILENT,
	FC_LOG_DEFAULT,
	FC_LOG_VERBOSE
} FcVerbosity;

typedef struct FcOptions
{
	bool		statement;		/* the caller wrote COPY */
	Oid			target;
	List	   *sources;		/* of String: paths and patterns, or commands */
	bool		program;		/* they are commands */
	bool		client;			/* there is one, which the client sends */
	bool		compressed;		/* ... packed */
	char	   *key_column;		/* or NULL */
	List	   *columns;		/* of String; NIL: all */
	List	   *copy_options;	/* DefElems as COPY's grammar makes them, without
								 * HEADER, FREEZE and what core may not know */
	CopyFormatOptions format;	/* what ProcessCopyOptions made of them */
	int			header_lines;
	bool		header_match;	/* the last header line names the columns */
	bool		header_map;		/* ... and says which is which */
	bool		ignore_extra_columns;
	List	   *fields;			/* with header_map: the column of each field of
								 * the file, a String, or NULL to skip it */
	List	   *force_not_null; /* of String, "*" for all; NIL: none */
	List	   *force_null;
	char	   *default_string; /* or NULL */
	char	   *where_clause;	/* or NULL */
	char	   *timestamp_format;	/* or NULL */
	char	   *time_zone;		/* or NULL: the session's */
	char	   *interval;		/* or NULL */
	List	   *order_by;		/* of String; NIL: by the key */
	FcMissing	missing;
	bool		freeze;
	FcOnError	on_error;
	uint32		tolerated;		/* FC_CLASS_* that on_error is about; 0: stop */
	int64		reject_limit;	/* records; -1: no limit */
	Oid			reject_table;	/* or InvalidOid */
	FcVerbosity log_verbosity;
	bool		analyze;		/* write nothing, tell what would be done */
	bool		run_analyze;	/* statistics after the load */
	int64		progress_us;	/* between lines about progress; 0: none */
	int			workers;		/* -1: choose */
	int			file_encoding;
} FcOptions;

/*
 * Text arguments as fast_copy() has them, NULL where the caller gave none.
 * COPY's errors for COPY's options; ERROR 22023 for what is ours.
 */
typedef struct FcArguments
{
	bool		statement;		/* the caller wrote COPY */
	Oid			target;
	List	   *sources;		/* of String */
	bool		program;
	bool		client;
	bool		compressed;
	char	   *timestamp_column;
	List	   *columns;
	char	   *format;
	char	   *header;
	bool		ignore_extra_columns;
	char	   *delimiter;
	char	   *null_string;
	char	   *quote;
	char	   *escape;
	List	   *force_not_null;
	List	   *force_null;
	char	   *default_string;
	char	   *encoding;
	char	   *where_clause;
	char	   *timestamp_format;
	char	   *time_zone;
	char	   *partition_interval;
	char	   *missing_partitions;
	List	   *order_by;
	bool		freeze;
	char	   *on_error;
	List	   *on_error_classes;
	bool		reject_limited;
	int64		reject_limit;
	Oid			reject_table;	/* InvalidOid where NULL */
	char	   *log_verbosity;
	bool		run_analyze;
	char	   *progress;
	int			workers;		/* -1 where NULL */
} FcArguments;

extern FcOptions *fc_options_make(const FcArguments *args);

/* The name of one FC_CLASS_*, as on_error_classes has it */
extern const char *fc_options_class_name(uint32 class);

/* The file is (now) in this encoding */
extern void fc_options_set_encoding(FcOptions *options, int encoding);

#endif							/* FC_OPTIONS_H */
