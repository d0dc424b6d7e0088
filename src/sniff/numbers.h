/*-------------------------------------------------------------------------
 *
 * sniff/numbers.h
 *	  How numbers are written that PostgreSQL does not read as they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_NUMBERS_H
#define FC_SNIFF_NUMBERS_H

/* The decimal separators, by number */
#define FC_DECIMAL_POINT	0
#define FC_DECIMAL_COMMA	1
#define FC_DECIMALS			2

/* A format of numbers */
typedef struct FcNumberWay
{
	const char *group;			/* between thousands, or "" */
	int			decimal;		/* FC_DECIMAL_* */
	const char *example;		/* for number_format */
} FcNumberWay;

/* All of them; of those that fit the first one is taken */
#define FC_NUMBER_WAYS		13
#define FC_NUMBER_BIT(n)	((uint32) 1 << (n))
#define FC_NUMBER_ALL		(FC_NUMBER_BIT(FC_NUMBER_WAYS) - 1)
extern const FcNumberWay fc_number_ways[FC_NUMBER_WAYS];

/* How one number may be written */
typedef struct FcNumberShape
{
	uint32		formats;		/* those that it fits, as bits */
	int			digits;			/* all of them, without an exponent's */
	int			decimals[FC_DECIMALS];	/* digits after a separator */
	bool		exponent;
} FcNumberShape;

/* The same of all values of a column */
typedef struct FcNumbersSeen
{
	uint64		values;			/* that fit any format */
	uint32		formats;		/* that all of these fit */
	int			digits[2];		/* the fewest and the most */
	int			decimals[FC_DECIMALS][2];
	bool		exponent;		/* one has an exponent */
	char	   *example;		/* the first with a separator, or NULL */
} FcNumbersSeen;

/*
 * Is there nothing, or an exponent that any type of numbers takes?  *exponent
 * tells which.
 */
extern bool fc_numbers_exponent(const char *s, const char *end, bool *exponent);

/*
 * Reads a number without a sign; false if it fits no format.  There is a NUL at
 * its end.
 */
extern bool fc_numbers_shape(const char *s, const char *end, FcNumberShape *shape);

/* Adds the value s[0..len), which has this shape */
extern void fc_numbers_add(FcNumbersSeen *seen, const FcNumberShape *shape,
						   const char *s, size_t len);

#endif							/* FC_SNIFF_NUMBERS_H */
