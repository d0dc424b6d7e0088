/*-------------------------------------------------------------------------
 *
 * sniff/sample.h
 *	  Bytes from many places of the source, from which all else is guessed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SAMPLE_H
#define FC_SAMPLE_H

#include "options/options.h"

/* Bytes of one place of one file */
typedef struct FcSniffPlace
{
	uint32		file;			/* its number among those that the caller
								 * named */
	uint64		offset;			/* of the first byte, in the unpacked file */
	char	   *data;
	size_t		len;
	bool		start;			/* the file starts here, */
	bool		end;			/* or ends */
} FcSniffPlace;

typedef struct FcSniffSample
{
	const char *word;			/* what the source is: "file" or "program" */
	List	   *names;			/* of all files, String */
	uint32		nsampled;		/* files that were looked into */
	uint64		size;			/* bytes of all files as they are; 0: unknown */
	uint64		unpacked;		/* about how many these are unpacked; 0:
								 * unknown */
	const char *codec;			/* what a file is packed by, or NULL */
	bool		whole;			/* all bytes were looked at */
	uint64		bytes;			/* bytes looked at */
	int			nplaces;
	FcSniffPlace *places;			/* by file and offset; the first one of each
								 * file is at its start */
} FcSniffSample;

/*
 * Opens what the caller may read, as a load does, takes the sample into the
 * current memory context, and closes all.  The options are checked.  Throws the
 * errors of a load for files that cannot be opened or unpacked and programs
 * that fail, and ERROR 22P04 for what is no text.
 */
extern FcSniffSample *fc_sample_take(const FcOptions *options);

#endif							/* FC_SAMPLE_H */
