/*-------------------------------------------------------------------------
 *
 * row/parse_begin.c
 *	  Sets up a parser: its columns, its zone, the quick way.
 *
 * The parser lives in the caller's memory context, which frees it on error,
 * too.  fc_parse_end closes the files with numbers of sequences.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/string.h"
#include "utils/rel.h"

#include "row/parse.h"
#include "row/parser.h"

/* Bytes for the values of a row that the quick way makes */
#define FC_PARSE_ROOM	8192

/* Bytes that FcLook has room for at first */
#define FC_PARSE_COPY	4096

static bool
fc_parse_is_complete(FcShared *shared, int natts)
{
	for (AttrNumber attnum = 1; attnum <= natts; attnum++)
		if (!fc_defaults_in_file(shared, attnum))
			return false;
	return true;
}

/* ERROR 22023 for a zone that SET TIME ZONE would refuse */
static pg_tz *
fc_parse_init_zone(const char *name)
{
	pg_tz	   *zone;

	if (name[0] == '\0')
		return NULL;
	zone = pg_tzset(name);
	if (zone == NULL || !pg_tz_acceptable(zone))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", name),
				 errhint("The view pg_timezone_names has the names, such as 'Europe/Rome'.")));
	return zone;
}

/*
 * Lets the quick way's converters make values in the room.  A text may also
 * stay in the record.  Its header then takes the place of the byte that ended
 * the field before, which must not be needed again, as set_null may need it.
 */
static void
fc_parse_init_quick(FcParser *parser, TupleDesc desc)
{
	parser->quick.start = palloc(FC_PARSE_ROOM);
	parser->quick.room.end = parser->quick.start + FC_PARSE_ROOM;
	parser->quick.columns = palloc0(sizeof(FcQuick) * Max(parser->ncolumns, 1));
	for (int i = 0; i < parser->ncolumns; i++)
	{
		FcColumn   *column = &parser->columns[i];
		FcQuick    *quick = &parser->quick.columns[i];

		quick->index = column->index;
		if (!fc_column_is_plain(column))
			continue;
		quick->convert = column->convert;
		/* a text with storage PLAIN gets no short header in a tuple */
		if (TupleDescAttr(desc, column->index)->attlen == -1 &&
			TupleDescAttr(desc, column->index)->attstorage == TYPSTORAGE_PLAIN)
			continue;
		quick->convert.room = &parser->quick.room;
		quick->convert.in_place = i > 0 && !parser->shared->errors.set_null;
	}
}

/*
 * May keys be read from their fields alone?  Not if NULL can be told in the
 * server's encoding only, nor if fields may stand for a default.
 */
static void
fc_parse_init_key(FcParser *parser)
{
	FcShared   *shared = parser->shared;
	FcConverter *key;

	if (shared->key.type == FC_KEY_NONE || shared->key.field < 0 || parser->quick.columns == NULL ||
		parser->dialect.default_string != NULL ||
		(shared->source.need_transcoding && !parser->null_ascii))
		return;
	key = &parser->quick.columns[shared->key.field].convert;
	parser->quick.key = key->function != NULL ? key : NULL;
}

static void
fc_parse_init_columns(FcParser *parser, Relation target)
{
	FcShared   *shared = parser->shared;
	const char *pattern = fc_shared_patterns(shared);

	parser->columns = palloc0(sizeof(FcColumn) * Max(shared->ncolumns, 1));
	for (int i = 0; i < shared->ncolumns; i++)
	{
		FcColumn   *column = &parser->columns[i];

		column->flags = fc_shared_flags(shared)[i];
		fc_column_init(column, RelationGetDescr(target), fc_shared_columns(shared)[i],
					   pattern, parser->zones.file != NULL,
					   parser->dialect.mode == FC_MODE_BINARY);
		if (shared->default_len >= 0 && column->index >= 0)
			column->def = fc_defaults_expr(shared, target, column->index + 1);
		pattern += strlen(pattern) + 1;
	}
}

FcParser *
fc_parse_begin(FcContext *ctx, EState *estate)
{
	FcParser   *parser = palloc0(sizeof(FcParser));
	TupleDesc	desc = RelationGetDescr(ctx->target);
	FcShared   *shared = ctx->shared;
	int			n = Max(shared->ncolumns, 1);

	parser->ctx = ctx;
	parser->shared = shared;
	parser->dialect = ctx->dialect;
	parser->dialect.null_string = fc_shared_null(shared);
	parser->dialect.null_len = shared->null_len;
	parser->null_ascii = pg_is_ascii(parser->dialect.null_string);
	parser->natts = desc->natts;
	parser->ncolumns = shared->ncolumns;
	parser->complete = fc_parse_is_complete(shared, desc->natts);
	parser->record.fields = palloc(sizeof(FcField) * n);
	parser->marks = palloc(sizeof(FcMarks));
	parser->faults.nulled = palloc(sizeof(FcNulled) * n);
	parser->texts.made = palloc0(sizeof(bool) * n);
	parser->look.size = FC_PARSE_COPY;
	parser->look.data = palloc(FC_PARSE_COPY);
	parser->zones.file = fc_parse_init_zone(fc_shared_zone(shared));
	fc_parse_init_columns(parser, ctx->target);
	fc_defaults_begin(&parser->defaults, shared, ctx->target, estate);
	if (parser->zones.file == NULL)
		fc_parse_init_quick(parser, desc);
	fc_parse_init_key(parser);
	return parser;
}

void
fc_parse_end(FcParser *parser)
{
	fc_defaults_end(&parser->defaults);
}

void
fc_parse_compact(FcParser *parser, bool compact)
{
	parser->quick.room.compact = compact;
}

void
fc_parse_number(FcParser *parser, uint64 number)
{
	if (parser->defaults.numbers)
		fc_numbers_set(parser->defaults.numbers, number);
}

void
fc_parse_known_key(FcParser *parser, int64 key, bool known)
{
	FcQuick    *quick;

	if (parser->quick.columns == NULL)
		return;
	quick = &parser->quick.columns[parser->shared->key.field];
	quick->known = known;
	quick->value = fc_key_datum(parser->shared->key.type, key);
}
