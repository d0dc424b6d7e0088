/*-------------------------------------------------------------------------
 *
 * load/header.h
 *	  The headers of the files, and how their lines end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_LOAD_HEADER_H
#define FC_LOAD_HEADER_H

#include "load/job.h"

/*
 * Reads the header lines of each file, and finds out how its lines end, from
 * its first record.  Sets where the data of each file start, and with header
 * "map" options->columns and options->fields.  Throws COPY's errors.
 */
extern void fc_header_read(FcJob *job);

/*
 * Throws COPY's error for the character that cannot be converted, with its
 * line
 */
extern void fc_header_refuse_encoding(FcJob *job);

#endif							/* FC_LOAD_HEADER_H */
