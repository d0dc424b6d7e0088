/*-------------------------------------------------------------------------
 *
 * sniff/values.h
 *	  Which types can have a value.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_VALUES_H
#define FC_VALUES_H

#include "nodes/pg_list.h"

#include "convert/pattern.h"
#include "copyfrom/hint.h"
#include "sniff/numbers.h"

/* Types of columns, and what is told apart among their values */
typedef enum FcValueType
{
	FC_VALUE_BOOLEAN,			/* as a word; 0 and 1 are integers */
	FC_VALUE_INTEGER,			/* as a bigint */
	FC_VALUE_NUMBER,
	FC_VALUE_UUID,
	FC_VALUE_DATE,
	FC_VALUE_TIME,
	FC_VALUE_TIMESTAMP,			/* without a zone; a date is one, too */
	FC_VALUE_TIMESTAMPTZ,		/* with a zone or without */
	FC_VALUE_JSON,				/* an object or a list */
	FC_VALUE_INET,				/* an address of version 4 */
	FC_VALUE_TYPES,				/* how many types there are */

	/* what else is counted of a value */
	FC_VALUE_ZONED = FC_VALUE_TYPES,	/* a timestamptz with a zone */
	FC_VALUE_TRUE,				/* a boolean that is true */
	FC_VALUE_LETTER,			/* a boolean that is no "true" or "false" */
	FC_VALUE_EXPONENT,			/* a number with an exponent, or infinite */
	FC_VALUE_COMMA,				/* a number of any of the formats */
	FC_VALUE_BLANK,				/* it begins or ends with a blank */
	FC_VALUE_KINDS
} FcValueType;

#define FC_VALUE_BIT(type)	(1 << (type))
#define FC_VALUE_TYPED		(FC_VALUE_BIT(FC_VALUE_TYPES) - 1)

/* What a value is made of, for those that are numbers */
typedef struct FcValueNumber
{
	int64		integer;		/* what stands before the point */
	int			decimals;		/* digits after the point */
	int			digits;			/* all digits */
	FcNumberShape shape;		/* FC_VALUE_COMMA: how it may be written */
} FcValueNumber;

/* A part of a text */
typedef struct FcValueText
{
	const char *s;
	size_t		len;
} FcValueText;

/* s[0..len) without the blanks around it that trim takes off */
extern FcValueText fc_value_trim(const char *s, size_t len);

/*
 * Takes the sign of a currency off an amount, and a minus before the sign with
 * it.  Returns the sign, or NULL if the value is no such thing.
 */
extern const char *fc_value_sign(char **s, size_t *len);

/* What values are judged by; made once */
typedef struct FcJudge FcJudge;

/* With a pattern that the caller has given for the key, or NULL */
extern FcJudge *fc_value_begin(const char *pattern);

/* The number of that pattern, -1 if there is none that can be tried */
extern int	fc_value_given(const FcJudge *judge);

/*
 * The kinds of a value, as bits.  s[0..len) is followed by bytes that may be
 * read; len is not 0.
 */
extern int	fc_value_judge(FcJudge *judge, char *s, size_t len, FcValueNumber *number);

/*
 * The patterns of timestamp_format, by number, that the value matches without
 * blanks around it; those among "among", or, if that is NULL, all.  A new list.
 */
extern List *fc_value_patterns(FcJudge *judge, const char *s, size_t len, const List *among);

/* Pattern number n: its text, and the type of its values */
extern const char *fc_value_pattern(const FcJudge *judge, int n, Oid *typid);

/*
 * The type that values of a pattern have, whoever chose it: timestamptz, if
 * they are instants, or timestamp or date
 */
extern Oid	fc_value_pattern_type(const char *pattern, const char *column);

/*
 * The moment of a value as a key (microseconds or days).  The pattern may be
 * NULL.  False if it is none.
 */
extern bool fc_value_moment(FcJudge *judge, Oid typid, FcPattern *pattern,
							char *s, size_t len, int64 *key);

#endif							/* FC_VALUES_H */
