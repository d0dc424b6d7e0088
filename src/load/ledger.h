/*-------------------------------------------------------------------------
 *
 * load/ledger.h
 *	  The table of the files that are loaded already: the option "ledger".
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LEDGER_H
#define FC_LEDGER_H

#include "load/job.h"

/* Makes such a table, named as to_regclass reads names; returns its OID */
extern Oid	fc_ledger_create(const char *name);

/*
 * Locks the table, until the transaction ends, against whoever would change
 * what it is.  ERROR 42501 or 55000 if it cannot be trusted, or is the target.
 */
extern void fc_ledger_lock(Oid table, Oid target);

/* The name of the table, qualified and quoted */
extern const char *fc_ledger_name(Oid table);

/*
 * Where a file lies, without links, in the current memory context; "root" as in
 * fc_root_open().  ERROR 55000 if that is not the file with this device and
 * inode.
 */
extern char *fc_ledger_path(const char *root, const char *path, dev_t dev, ino_t ino);

/* Why the ledger cannot have such a path; NULL: it can */
extern const char *fc_ledger_refusal(const char *path);

/*
 * Before a load: locks the ledger, and puts the files into it that are to be
 * loaded; others wait for their rows until the transaction ends.  NULL if the
 * options name no ledger.  ERROR 55000 for a file that has changed since it was
 * loaded.
 */
extern struct FcLedger *fc_ledger_claim(const FcOptions *options);

/* For an analysis, but on a standby: how many of the files the ledger has */
extern uint32 fc_ledger_count(const FcJob *job);

/* Has the ledger all of the source, so that there is nothing to load? */
extern bool fc_ledger_has_all(const struct FcLedger *ledger);

/* The sources without what the ledger has: List of String */
extern const List *fc_ledger_sources(const struct FcLedger *ledger);

/* ERROR 55000 unless the files that were opened are those that were claimed */
extern void fc_ledger_check_opened(const FcJob *job);

/* FcContext.idle: goes on with the checksums of the files; arg is the job */
extern bool fc_ledger_sum(void *arg);

/*
 * After the load: records the files as loaded.  ERROR 55000 for a file that
 * somebody has written to since it was claimed.
 */
extern void fc_ledger_put(FcJob *job);

#endif							/* FC_LEDGER_H */
