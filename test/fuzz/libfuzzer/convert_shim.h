/*
 * convert_shim.h
 *	  What the harnesses of the conversions share.
 *
 * A line is a letter that chooses the type, a digit for its modifier, and the
 * string.
 */
#ifndef CONVERT_SHIM_H
#define CONVERT_SHIM_H

#include "postgres.h"

#include "compat/compat.h"
#include "convert/convert.h"
#include "convert/types.h"

/* the C library's, not PostgreSQL's */
#undef printf
#undef fprintf
#undef snprintf
#undef sprintf

/* In the harness: one string; true if the converter took it */
extern bool one_string(char type, int modifier, char *s, size_t len);

/* Ends the process, which libFuzzer reports with its input, unless it holds */
#define EXPECT(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "not true: %s\n", #condition); \
			abort(); \
		} \
	} while (0)

/* Days since 1970-01-01 in the Gregorian calendar */
extern int64 days_of(int year, int month, int day);

/* The zone's offset east of Greenwich in seconds at a local time */
extern int64 shim_offset(int64 local);

#endif
