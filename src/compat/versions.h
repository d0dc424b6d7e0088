/*-------------------------------------------------------------------------
 *
 * compat/versions.h
 *	  Chooses between what versions of PostgreSQL have, for compat/compat.h and
 *	  its parts.
 *
 *	FC_17(new, old)			"new" from 17 on, and "old" before
 *	FC_17_ADDS(, more)		arguments that a function takes from 17 on
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COMPAT_VERSIONS_H
#define FC_COMPAT_VERSIONS_H

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "fast_copy supports PostgreSQL 15 to 19"
#endif

#define FC_HAS(new, old)	new
#define FC_LACKS(new, old)	old
#define FC_ADDS(...)		__VA_ARGS__
#define FC_OMITS(...)

#if PG_VERSION_NUM >= 160000
#define FC_16		FC_HAS
#define FC_16_ADDS	FC_ADDS
#else
#define FC_16		FC_LACKS
#define FC_16_ADDS	FC_OMITS
#endif

#if PG_VERSION_NUM >= 170000
#define FC_17		FC_HAS
#define FC_17_ADDS	FC_ADDS
#else
#define FC_17		FC_LACKS
#define FC_17_ADDS	FC_OMITS
#endif

#if PG_VERSION_NUM >= 180000
#define FC_18		FC_HAS
#define FC_18_ADDS	FC_ADDS
#else
#define FC_18		FC_LACKS
#define FC_18_ADDS	FC_OMITS
#endif

#if PG_VERSION_NUM >= 190000
#define FC_19		FC_HAS
#define FC_19_ADDS	FC_ADDS
#else
#define FC_19		FC_LACKS
#define FC_19_ADDS	FC_OMITS
#endif

#endif							/* FC_COMPAT_VERSIONS_H */
