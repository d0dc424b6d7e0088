/*-------------------------------------------------------------------------
 *
 * row/batch_maker.h
 *	  What row/batch.c and row/batch_odd.c share.  Needs row/batch.h before it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_BATCH_MAKER_H
#define FC_BATCH_MAKER_H

#include "grammar/places.h"
#include "row/parser.h"

/* A field of the file, and the column that it is for */
typedef struct FcBatchField
{
	FcConverter convert;
	int			index;			/* of the column; -1: skipped */
	int			behind;			/* bytes of the border after it */
	bool		apart;			/* row/parse.c makes its values, row by row */
	bool		text;			/* of a column of texts */
	bool		wrapped;		/* starts and ends have its borders */
	const FcEdit *edit;			/* or NULL */
	uint16		edits;			/* FC_FIELD_EDITS */
	int			max;			/* characters of a text; -1: not bounded */
} FcBatchField;

/* Makes batches; begins with what the caller sees */
typedef struct FcBatchMaker
{
	FcBatch		batch;
	FcParser   *parser;
	int			nfields;
	FcBatchField *fields;		/* of the parser's columns: those behind the
								 * file's are apart */
	int			nleft;			/* columns that row/parse.c sets */
	int		   *left;			/* their numbers in parser->columns */
	int			nshown;			/* fields that row/parse.c must see for that */
	int		   *shown;
	Datum	   *values;			/* of a row that it has taken */
	bool	   *nulls;
	uint16	   *records;		/* by row: the number of its record */
	int			most;			/* rows that there is room for */
	size_t		bytes;			/* that are cut at once */
	FcRoom		room;
	char	   *start;			/* of the room */
	MemoryContext mcxt;			/* of what the room does not hold */
	int			width;			/* see fc_places_width */
	FcMarkedBytes stretch;
	FcPlaces	places;
	uint16	   *starts;			/* as places.at, without quotes and blanks */
	uint16	   *ends;
	bool		quoted;			/* of csv, with quotes */
	int			ndoubled;		/* texts in quotes with doubled quotes */
	uint16		doubled[FC_BATCH_ROWS]; /* numbers of these fields */
	int			inner;			/* quotes that are doubled in them */
	Oid			recode;			/* converts to the server's encoding */
	int			nstrange;		/* texts to be converted */
	uint16		strange[FC_BATCH_ROWS]; /* numbers of these fields */
	int			alone;			/* records to be taken alone from now on */
} FcBatchMaker;

/* Finds odd records, and texts that fc_batch_mend_texts changes */
extern void fc_batch_find_odd(FcBatchMaker *maker);

/*
 * Undoubles quotes, and converts to the server's encoding, where the columns of
 * texts have them as they are in the file.  In the current memory context.
 */
extern void fc_batch_mend_texts(FcBatchMaker *maker);

#endif							/* FC_BATCH_MAKER_H */
