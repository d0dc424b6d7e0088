/*-------------------------------------------------------------------------
 *
 * sniff/names.h
 *	  Whether the files have a header, and the names of the columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_NAMES_H
#define FC_SNIFF_NAMES_H

#include "sniff/columns.h"

/*
 * Decides on the header, counts the first records if there is none, and names
 * the columns.  All records must have been looked at.
 */
extern void fc_names_choose(FcTable *table);

/* The name of a table for what the source has, in the server's encoding */
extern char *fc_names_table(const FcSample *sample, const FcOptions *options);

#endif							/* FC_SNIFF_NAMES_H */
