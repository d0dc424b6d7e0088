/*-------------------------------------------------------------------------
 *
 * sniff/join.c
 *	  Files with other columns than the first one, and columns that their
 *	  folders name.
 *
 *	 headers of all files ──► columns of any ──► records with all of these
 *	 .../day=2024-01-01/... ──► one column more
 *
 * The sample is written anew, with the same columns in each file: so the steps
 * after this one see one table.  All is allocated in the caller's memory
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat/compat.h"
#include "sniff/steps.h"

/* One file's header and places */
typedef struct FcJoinFile
{
	FcSniffSample places;		/* the sample's, of this file alone */
	int			nfields;
	char	  **names;			/* trimmed, */
	FcValueText *raw;			/* and as they stand in the file */
	int		   *fields;			/* by number of the column; -1: it has none */
} FcJoinFile;

typedef struct FcJoin
{
	FcSniffSample *sample;
	FcDialect	dialect;
	int			header;			/* number of the record that is one, or -1 */
	int			nfiles;
	FcJoinFile *files;
	List	   *names;			/* of char *: all columns, */
	List	   *raw;			/* and FcValueText: these as a file has them */
} FcJoin;

/* Splits the sample by files */
static void
fc_join_split(FcJoin *join)
{
	FcSniffSample *sample = join->sample;

	join->files = palloc0(sizeof(FcJoinFile) * sample->nplaces);
	for (int i = 0; i < sample->nplaces; i++)
	{
		if (i == 0 || sample->places[i].file != sample->places[i - 1].file)
		{
			/* an empty one has no header */
			join->nfiles += join->nfiles == 0 || join->files[join->nfiles - 1].places.places->len > 0;
			join->files[join->nfiles - 1].places = *sample;
			join->files[join->nfiles - 1].places.places = &sample->places[i];
			join->files[join->nfiles - 1].places.nplaces = 0;
		}
		join->files[join->nfiles - 1].places.nplaces++;
	}
	join->nfiles -= join->files[join->nfiles - 1].places.places->len == 0;
}

/* The number of the name among those, or -1; as header => 'map' finds it */
static int
fc_join_find(const List *names, const char *name)
{
	foreach_ptr(const char, other, names)
		if (pg_strcasecmp(other, name) == 0)
			return foreach_current_index(other);
	return -1;
}

/* Reads the header of a file; false if its record there cannot be one */
static bool
fc_join_header(const FcJoin *join, FcJoinFile *file)
{
	FcCursor	cursor;
	FcSniffRecord *record;
	List	   *names = NIL;

	fc_records_begin(&cursor, &file->places, &join->dialect, 0, SIZE_MAX);
	while ((record = fc_records_next(&cursor)) != NULL && record->number < join->header)
		continue;
	if (record == NULL || !record->place->start || record->nfields < 1 || record->nfields > FC_SNIFF_FIELDS)
		return false;
	file->nfields = record->nfields;
	file->names = palloc(sizeof(char *) * file->nfields);
	file->raw = palloc(sizeof(FcValueText) * file->nfields);
	for (int i = 0; i < file->nfields; i++)
	{
		size_t		mark = i == 0 ? fc_columns_mark(record, record->fields[i].data, record->fields[i].len) : 0;
		FcValueText text = fc_value_trim(record->fields[i].data + mark, record->fields[i].len - mark);
		char	   *name = file->names[i] = pnstrdup(text.s, text.len);

		file->raw[i] = fc_records_raw(record, &join->dialect, i);
		mark = i == 0 ? fc_columns_mark(record, file->raw[i].s, file->raw[i].len) : 0;
		file->raw[i].s = pnstrdup(file->raw[i].s + mark, file->raw[i].len - mark);
		file->raw[i].len -= mark;
		if (!fc_evidence_is_plain(name) || fc_join_find(names, name) >= 0)
			return false;
		names = lappend(names, name);
	}
	return true;
}

/*
 * Reads the headers of all files; false if these are no headers, or do not
 * have a name in common with those before.  *differ: some are other ones
 */
static bool
fc_join_headers(FcJoin *join, bool *differ)
{
	*differ = false;
	for (int i = 0; i < join->nfiles; i++)
	{
		FcJoinFile *file = &join->files[i];
		int			common = 0;

		CHECK_FOR_INTERRUPTS();
		if (!fc_join_header(join, file))
			return false;
		for (int j = 0; j < file->nfields; j++)
		{
			int			number = fc_join_find(join->names, file->names[j]);

			common += number >= 0;
			*differ |= i > 0 && number != j;
			if (number >= 0)
				continue;
			join->names = lappend(join->names, file->names[j]);
			join->raw = lappend(join->raw, &file->raw[j]);
		}
		if (i > 0 && common == 0)
			return false;
		*differ |= i > 0 && file->nfields < list_length(join->names);
	}
	return true;
}

/* Finds for each column where a file has it */
static void
fc_join_map(const FcJoin *join, FcJoinFile *file)
{
	file->fields = palloc(sizeof(int) * list_length(join->names));
	for (int i = 0; i < list_length(join->names); i++)
	{
		file->fields[i] = -1;
		for (int j = 0; j < file->nfields; j++)
			if (pg_strcasecmp(file->names[j], list_nth(join->names, i)) == 0)
				file->fields[i] = j;
	}
}

/* Appends the text as a field; one of a path is quoted as need be */
static void
fc_join_text(const FcJoin *join, StringInfo out, const char *text)
{
	const FcDialect *dialect = &join->dialect;

	if (text == NULL)
		appendStringInfoString(out, dialect->null_string);
	else if (dialect->mode != FC_MODE_CSV)
		appendStringInfoString(out, text);
	else
	{
		appendStringInfoChar(out, dialect->quote);
		for (; *text; text++)
		{
			if (*text == dialect->quote || *text == dialect->escape)
				appendStringInfoChar(out, dialect->escape);
			appendStringInfoChar(out, *text);
		}
		appendStringInfoChar(out, dialect->quote);
	}
}

/* Appends the record with the fields of all columns; a header, with names */
static void
fc_join_record(const FcJoin *join, const FcJoinFile *file, const FcSniffRecord *record, StringInfo out)
{
	bool		header = record->place->start && record->number == join->header;

	for (int i = 0; i < list_length(join->names); i++)
	{
		FcValueText text = {join->dialect.null_string, join->dialect.null_len};

		if (header)
			text = *(FcValueText *) list_nth(join->raw, i);
		else if (file->fields[i] >= 0)
			text = fc_records_raw(record, &join->dialect, file->fields[i]);
		if (i > 0)
			fc_dialect_append(&join->dialect, out);
		appendBinaryStringInfo(out, text.s, (int) text.len);
	}
	if (join->names == NIL)
		appendBinaryStringInfo(out, record->raw, (int) record->len);
	foreach_ptr(const FcFolder, folder, join->sample->folders)
	{
		fc_dialect_append(&join->dialect, out);
		fc_join_text(join, out, header ? folder->name : list_nth(folder->values, record->place->file));
	}
}

/* Writes the places of a file anew */
static void
fc_join_write(const FcJoin *join, FcJoinFile *file)
{
	static const char *const ends[] = {[FC_EOL_NL] = "\n",[FC_EOL_CR] = "\r",[FC_EOL_CRNL] = "\r\n"};
	StringInfoData *outs = palloc(sizeof(StringInfoData) * file->places.nplaces);
	FcCursor	cursor;
	FcSniffRecord *record;

	for (int i = 0; i < file->places.nplaces; i++)
		initStringInfo(&outs[i]);
	fc_records_begin(&cursor, &file->places, &join->dialect, file->nfields, SIZE_MAX);
	while ((record = fc_records_next(&cursor)) != NULL)
	{
		StringInfo	out = &outs[record->place - file->places.places];
		const char *end = ends[cursor.dialect.eol];

		/* a place that is no start begins somewhere in a record */
		if (out->len == 0 && !record->place->start)
			appendStringInfoString(out, end);
		if (record->nfields == file->nfields)
			fc_join_record(join, file, record, out);
		else
			appendBinaryStringInfo(out, record->raw, (int) record->len);
		appendStringInfoString(out, end);
	}
	for (int i = 0; i < file->places.nplaces; i++)
	{
		FcSniffPlace *place = &file->places.places[i];

		place->data = outs[i].data;
		place->len = outs[i].len;
	}
}

/* Leaves out the folders that name a column which the files have */
static List *
fc_join_folders(const FcJoin *join)
{
	List	   *folders = NIL;

	foreach_ptr(FcFolder, folder, join->sample->folders)
		if (fc_join_find(join->names, folder->name) < 0)
			folders = lappend(folders, folder);
	return folders;
}

/* Which record of the first file is a header, by the evidence of all; or -1 */
static int
fc_join_find_header(const FcJoin *join, const FcOptions *options, FcJudge *judge, FcGuess *guess)
{
	FcTable		table = {.sample = &join->files[0].places,.options = options,.judge = judge,.guess = guess};

	if (join->sample->keys != NIL)
		return 0;
	if (options->given[FC_OPTION_header])
		return options->header_lines - 1;
	fc_columns_look(&table);
	return table.heads != NIL && fc_evidence_of_header(&table, linitial(table.heads)) ? guess->skip : -1;
}

bool
fc_join_files(FcSniffSample *sample, const FcOptions *options, FcJudge *judge)
{
	FcJoin		join = {.sample = sample};
	FcGuess    *guess;
	bool		differ = false;

	if (list_length(sample->names) == 1 && sample->folders == NIL)
		return false;
	fc_join_split(&join);
	guess = fc_dialect_guess(&join.files[0].places, options, judge);
	join.dialect = guess->dialect;
	join.header = fc_join_find_header(&join, options, judge, guess);
	if (join.header == 0 && options->columns == NIL && (!options->given[FC_OPTION_header] || options->header_map))
		sample->joined = fc_join_headers(&join, &differ) && differ;
	sample->folders = fc_join_folders(&join);
	if (!sample->joined && sample->folders == NIL)
		return false;
	if (!sample->joined)
		join.names = NIL;
	for (int i = 0; i < join.nfiles; i++)
	{
		if (!sample->joined)
			join.files[i].nfields = guess->nfields;
		fc_join_map(&join, &join.files[i]);
		fc_join_write(&join, &join.files[i]);
	}
	fc_sample_make_room(sample);
	return true;
}
