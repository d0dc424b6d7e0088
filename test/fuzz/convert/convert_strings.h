/*
 * convert_strings.h
 *	  Strings that may or may not be values of a type.
 */
#ifndef CONVERT_STRINGS_H
#define CONVERT_STRINGS_H

#include "common/pg_prng.h"
#include "lib/stringinfo.h"

/*
 * Puts one string for the type into buf: an instance of one of the type's
 * patterns, mutated now and then; valid in the database's encoding and without
 * a zero byte.  The same state of the generator gives the same string.
 */
extern void convert_string(pg_prng_state *prng, Oid typid, StringInfo buf);

#endif
