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
 * its first record.  Sets where the data of each file begin, and with header
 * "map" target.form.  Throws COPY's errors.
 */
extern void fc_header_read(FcJob *job);

/*
 * Throws COPY's error, with the line, for the character because of which a
 * file cannot be converted (job->fault)
 */
extern void fc_header_refuse_encoding(FcJob *job);

#endif							/* FC_LOAD_HEADER_H */
