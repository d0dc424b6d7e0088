/*-------------------------------------------------------------------------
 *
 * row/parser.h
 *	  The parser's insides, for row/parse*.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARSER_H
#define FC_PARSER_H

#include "pgtime.h"
#include "utils/resowner.h"

#include "errors/reject_file.h"
#include "row/column.h"
#include "row/defaults.h"

/* A column as the quick way knows it */
typedef struct FcQuick
{
	FcConverter convert;		/* function NULL: not without a look at
								 * FcColumn */
	int			index;			/* as in FcColumn */
	bool		known;			/* the value is given: no conversion */
	Datum		value;
} FcQuick;

/* The quick way, see row/parse.c */
typedef struct FcQuickWay
{
	FcQuick    *columns;		/* NULL: there is no quick way */
	FcRoom		room;			/* for the values of a row */
	char	   *start;			/* of the room */
} FcQuickWay;

/* The record that is being parsed */
typedef struct FcInHand
{
	char	   *data;
	size_t		len;
	Datum	   *values;
	bool	   *nulls;
	FcField    *fields;
	int			found;			/* fields it has; -1: an open quote */
	int			done;			/* columns that have their value */
	bool		cut;			/* the encoding is right, fields are known */
	bool		ok;
} FcInHand;

/* What is wrong with it, and tolerated */
typedef struct FcFaults
{
	FcBad		bad;
	int			nnulled;
	FcNulled   *nulled;
	ResourceOwner owner;		/* of what a value is tried with, or NULL */
} FcFaults;

/* Its fields as text, for core */
typedef struct FcTexts
{
	FcColumn   *column;			/* being converted here, or NULL */
	FcField    *field;			/* that this is made from */
	bool	   *made;			/* fields whose value core need not make */
} FcTexts;

/* Bytes that are only looked at: a copy, which stays until the next one */
typedef struct FcLook
{
	char	   *data;
	size_t		size;
} FcLook;

/* Times are read in another zone than the session's */
typedef struct FcZones
{
	pg_tz	   *file;			/* NULL: in the session's */
	pg_tz	   *session;		/* that one, while the other is set */
} FcZones;

struct FcParser
{
	FcContext  *ctx;
	FcShared   *shared;
	FcDialect	dialect;
	bool		null_ascii;		/* the null string has the same bytes in every
								 * encoding */
	bool		complete;		/* each column of the row has a field */
	int			natts;
	int			ncolumns;
	FcColumn   *columns;
	FcDefaults	defaults;
	FcZones		zones;
	FcQuickWay	quick;
	FcInHand	record;
	FcFaults	faults;
	FcTexts		texts;
	FcLook		look;
};

/* From row/parse.c, for fields as text and for keys */

/* The record in hand is another one, with room for its values */
extern void fc_parse_take(struct FcParser *parser, char *rec, size_t len,
						  Datum *values, bool *nulls);

/*
 * Makes its fields, in the server's encoding, and looks at what may be wrong
 * with them before any has a value; false if record.ok is.
 */
extern bool fc_parse_fields(struct FcParser *parser);

/* The value of one field; record.ok is false if it is refused and tolerated */
extern void fc_parse_column(struct FcParser *parser, FcColumn *column, FcField *field);

/* The record has no field for this column; or NULL: it has too many */
extern void fc_parse_malformed(struct FcParser *parser, FcColumn *column);

/* Bytes in the server's encoding; verified even if nothing changes */
extern char *fc_parse_encoding(struct FcParser *parser, char *rec, size_t *len);

/* Calls it with times read in the file's zone */
extern void fc_parse_in_zone(struct FcParser *parser, void (*body) (void *arg), void *arg);

#endif							/* FC_PARSER_H */
