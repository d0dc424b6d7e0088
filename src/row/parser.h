/*-------------------------------------------------------------------------
 *
 * row/parser.h
 *	  The parser's insides, for row/parse*.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_PARSER_H
#define FC_PARSER_H

#include "row/mend.h"
#include "row/object.h"
#include "row/transform.h"

/* A column for the quick way */
typedef struct FcQuick
{
	FcConverter convert;		/* function NULL: takes FcColumn to convert */
	int			index;			/* as in FcColumn */
	const FcEdit *edit;			/* only a batch does it; or NULL */
} FcQuick;

/* The record that is being parsed */
typedef struct FcInHand
{
	FcRecord	from;			/* its bytes, which are converted to the
								 * server's encoding, and where it came from */
	Datum	   *values;
	bool	   *nulls;
	const int32 *map;			/* fc_shared_map */
	int			lacks;			/* with it: the first field of the file that it
								 * lacks; -1: none */
	FcField    *fields;
	int			found;			/* its fields; -1: a quote is open */
	int			done;			/* columns that have their value */
	const int  *left;			/* of a row of a batch: columns without a
								 * value; "done" counts these.  Else NULL */
	int			nleft;
	bool		cut;			/* its encoding is valid, fields are known */
	bool		ok;
	FcColumn   *column;			/* the one that is being converted, or NULL */
	FcField		was;			/* its field, as the file has it */
} FcInHand;

struct FcParser
{
	FcContext  *ctx;
	FcShared   *shared;
	FcDialect	dialect;
	bool		null_clear;		/* the null string has the same bytes in the
								 * file's encoding and the server's */
	bool		complete;		/* each column of the row has a field */
	int			natts;
	int			nfields;		/* of a record */
	int			ncolumns;		/* nfields, and columns that transforms alone
								 * make */
	FcColumn   *columns;
	FcTransforms *transforms;	/* or NULL */
	FcDefaults	defaults;
	pg_tz	   *file_zone;		/* NULL: times are in the session's */
	pg_tz	   *session_zone;	/* while file_zone is set */
	struct						/* what fc_parse_quickly needs */
	{
		FcQuick    *columns;
		FcConverter *key;		/* of the key, if it may be read from its
								 * field alone; or NULL */
		FcRoom		room;		/* for the values of a row */
		char	   *start;		/* its beginning */
	}			quick;
	FcInHand	record;
	FcMarks    *marks;			/* of a record that came without */
	FcObjects  *objects;		/* NULL: records are no JSON */
	FcFaults	faults;
	StringInfoData copy;		/* of bytes that must stay as they are */
};

/* As fc_shared_map, of the record at this offset */
static inline const int32 *
fc_parse_map(const struct FcParser *parser, uint64 offset)
{
	return parser->shared->at[FC_TAIL_MAPS] == 0 ? NULL :
		fc_shared_map(parser->shared, fc_source_file(parser->ctx->source, offset));
}

/* Makes a record the current one; its row goes into values and nulls */
static inline void
fc_parse_take(struct FcParser *parser, const FcRecord *taken, Datum *values, bool *nulls)
{
	FcInHand   *record = &parser->record;

	record->from = *taken;
	record->map = fc_parse_map(parser, taken->offset);
	record->lacks = -1;
	record->values = values;
	record->nulls = nulls;
	record->ok = true;
	record->cut = false;
	record->left = NULL;
	record->done = 0;
	parser->faults.nkept = 0;
	parser->quick.room.next = parser->quick.start;
	if (parser->complete)
		return;
	memset(values, 0, parser->natts * sizeof(Datum));
	memset(nulls, true, parser->natts * sizeof(bool));
}

/* Are all bytes ASCII, and none 0?  Eight are looked at together. */
static inline bool
fc_parse_is_ascii(const char *bytes, size_t len)
{
	const uint64 ones = UINT64CONST(0x0101010101010101);
	uint64		all = 0;
	uint64		word = ones;

	for (size_t i = 0; i < len; i += sizeof(word))
	{
		/* the last ones overlap those before, if there are as many */
		if (len >= sizeof(word))
			memcpy(&word, bytes + Min(i, len - sizeof(word)), sizeof(word));
		else
			memcpy(&word, bytes, len);
		all |= word | (word - ones);
	}
	return (all & (ones << 7)) == 0;
}

/* From row/parse.c, for keys and for batches */

/*
 * Refuses a record without a field for the column, or, if column is NULL, with
 * too many fields; ERROR 22P04 unless that is tolerated
 */
extern void fc_parse_malformed(struct FcParser *parser, FcColumn *column);

/* Converts bytes to the server's encoding; verifies them if they are in it */
extern char *fc_parse_encoding(struct FcParser *parser, char *rec, size_t *len);

/* Calls body(arg) with the file's time zone set, if it has one */
extern void fc_parse_in_zone(struct FcParser *parser, void (*body) (void *arg), void *arg);

#endif							/* FC_PARSER_H */
