/*-------------------------------------------------------------------------
 *
 * options/columns.c
 *	  Which columns the fields of the file are, and what else they need.
 *
 *	 column list, or header of the file ──► attribute number per field (0: the
 *		field is skipped), FORCE_NOT_NULL and FORCE_NULL
 *
 * Everything is allocated in the load's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "nodes/nodeFuncs.h"

#include "options/columns.h"
#include "row/column.h"

/*
 * A header whose names are taken, at most: fields, of which all but 1600 can
 * only be skipped, and bytes
 */
#define FC_HEADER_FIELDS	65536
#define FC_HEADER_BYTES		(16 * 1024 * 1024)

/* ... and of headers that differ, fields of all files in each of them */
#define FC_HEADER_JOINED	1048576

/* The attnum of the column of this name that a file may have, or 0 */
static AttrNumber
fc_columns_attnum(Relation rel, const char *name)
{
	TupleDesc	desc = RelationGetDescr(rel);

	/* a cache of core's would keep each name that is none */
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped && strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return TupleDescAttr(desc, i)->attgenerated ? 0 : i + 1;
	return 0;
}

int
fc_columns_field(const List *fields, AttrNumber attnum)
{
	for (int i = 0; i < list_length(fields); i++)
		if (list_nth_int(fields, i) == attnum)
			return i;
	return -1;
}

List *
fc_columns_names(Relation rel, const List *fields)
{
	List	   *names = NIL;

	foreach_int(attnum, fields)
		if (attnum != 0)
			names = lappend(names, makeString(get_attname(RelationGetRelid(rel), attnum, false)));
	return names;
}

/*
 * Refuses a file that lacks a column that must have a value, and has no
 * default; ERROR 22P04.  Any other column becomes NULL.
 */
static void
fc_fields_missing(Relation rel, const FcOptions *options, const List *fields)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);

		if (att->attisdropped || att->attgenerated || !att->attnotnull ||
			list_member_int(fields, attnum) ||
			fc_transform_makes(options, NameStr(att->attname)) ||
			build_column_default(rel, attnum) != NULL)
			continue;
		fc_format_error(errmsg("column \"%s\" is missing in the header of the file",
							   NameStr(att->attname)),
						errdetail("The column is NOT NULL, and has no default."));
	}
}

/* Is one of the fields of the header this very name? */
static bool
fc_fields_has(const FcField *fields, int n, const char *name)
{
	size_t		len = strlen(name);

	for (int i = 0; i < n; i++)
		if (!fields[i].null && fields[i].len == len &&
			memcmp(fields[i].data, name, len) == 0)
			return true;
	return false;
}

AttrNumber
fc_columns_called(Relation rel, const FcField *fields, int n, const char *name)
{
	TupleDesc	desc = RelationGetDescr(rel);
	AttrNumber	found = fc_columns_attnum(rel, name);

	if (found != 0)
		return found;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped || att->attgenerated ||
			pg_strcasecmp(NameStr(att->attname), name) != 0 ||
			fc_fields_has(fields, n, NameStr(att->attname)))
			continue;
		if (found != 0)
			return 0;
		found = att->attnum;
	}
	return found;
}

/* How many fields of the header are columns? */
static int
fc_fields_known(Relation rel, const FcField *fields, int n)
{
	int			known = 0;

	for (int i = 0; i < n; i++)
		known += !fields[i].null &&
			fc_columns_called(rel, fields, n, pnstrdup(fields[i].data, fields[i].len)) != 0;
	return known;
}

static void
fc_fields_extra(Relation rel, const FcOptions *options, bool none_known, const char *name)
{
	fc_throw(ERRCODE_UNDEFINED_COLUMN, errmsg("column \"%s\" of the file is not a column of relation \"%s\"",
											  name, RelationGetRelationName(rel)),
			 none_known && strpbrk(name, ";\t|,^~") ?
			 errhint("If the names are separated by another byte, give delimiter%s ';', or whatever it is.", fc_caller_arrow(options->caller)) :
			 none_known ?
			 errhint("No name of the header is a column of the table. If the fields are the columns all the same, in their order, use header%s true; if the first line is a record, leave header out.",
					 fc_caller_arrow(options->caller)) :
			 errhint("Add ignore_extra_columns%s to skip it, or transform to make a column of it.",
					 fc_caller_wrote_copy(options->caller) ? "" : " => true"));
}

/*
 * Cuts a header in the server's encoding into fields, of which it keeps so many
 * as a header may have; returns their number as fc_fields_cut
 */
static int
fc_fields_cut_header(const FcDialect *dialect, char *text,
					 FcField **fields)
{
	size_t		len;

	/* a byte order mark is no part of the first name */
	if (GetDatabaseEncoding() == PG_UTF8 && strncmp(text, FC_MARK, strlen(FC_MARK)) == 0)
		text += strlen(FC_MARK);
	len = strlen(text);
	*fields = palloc(sizeof(FcField) * Min(len + 1, FC_HEADER_FIELDS));
	return fc_fields_cut(dialect, text, len, *fields, FC_HEADER_FIELDS);
}

int
fc_columns_known(Relation rel, const FcOptions *options, const FcDialect *dialect,
				 const char *header, int *nfields)
{
	FcField    *fields;

	*nfields = fc_fields_cut_header(dialect, pstrdup(header), &fields);
	return fc_fields_known(rel, fields, Min(*nfields, FC_HEADER_FIELDS));
}

int
fc_columns_of_record(const FcDialect *dialect, const char *rec, size_t len)
{
	FcField    *fields;
	int			n = fc_fields_cut_header(dialect, pnstrdup(rec, Min(len, FC_HEADER_BYTES)), &fields);

	return Min(n, FC_HEADER_FIELDS);
}

/* Cuts the header record rec[0..len) into its names; returns how many */
static int
fc_fields_header(const FcDialect *dialect, int encoding,
				 char *rec, size_t len, FcField **fields)
{
	char	   *text = pg_any_to_server(pnstrdup(rec, len), len, encoding);
	int			n = fc_fields_cut_header(dialect, text, fields);

	if (n < 0)
		fc_format_error(errmsg("unterminated CSV quoted field"));
	return n;
}

/*
 * Returns the column that a field of the header names, or 0; one with blanks
 * around it, of which *word is rid, if no column has that very name
 */
static AttrNumber
fc_fields_column(Relation rel, const FcField *fields, int n, char **word)
{
	char	   *start = *word + strspn(*word, " \t");
	size_t		len = strlen(start);
	AttrNumber	attnum = fc_columns_called(rel, fields, n, *word);

	while (len > 0 && strchr(" \t", start[len - 1]))
		len--;
	if (attnum != 0 || len == strlen(*word))
		return attnum;
	*word = pnstrdup(start, len);
	return fc_columns_called(rel, fields, n, *word);
}

void
fc_columns_map(Relation rel, const FcOptions *options, const FcDialect *dialect,
			   char *rec, size_t len, FcFileForm *form)
{
	FcField    *fields;
	int			n = len > FC_HEADER_BYTES ? PG_INT32_MAX :
		fc_fields_header(dialect, form->encoding, rec, len, &fields);
	bool		blanks = false;

	/*
	 * Each field takes many times the bytes that it may have in the file: what
	 * can be no header, such as a file without line ends, is refused.
	 */
	if (n > FC_HEADER_FIELDS)
		fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg("header is too long for header \"map\""),
				 errdetail("A header whose names are looked up may have at most %d fields, and %d bytes.",
						   FC_HEADER_FIELDS, FC_HEADER_BYTES),
				 errhint("Look for line ends that the file lacks, or for a quote that is never closed."));
	for (int i = 0; i < n; i++)
	{
		char	   *word = pnstrdup(fields[i].data, fields[i].len);
		AttrNumber	attnum;

		CHECK_FOR_INTERRUPTS();
		if (fields[i].verify)
			pg_verifymbstr(fields[i].data, fields[i].len, false);
		attnum = fields[i].null ? 0 : fc_fields_column(rel, fields, n, &word);
		form->names = lappend(form->names, makeString(word));
		blanks |= attnum != 0 && strlen(word) != fields[i].len;
		if (attnum != 0 && list_member_int(form->fields, attnum))
			fc_throw(ERRCODE_DUPLICATE_COLUMN, errmsg("column \"%s\" specified more than once",
													  get_attname(RelationGetRelid(rel), attnum, false)));
		if (attnum == 0 && !options->ignore_extra_columns && options->transforms == NIL)
			fc_fields_extra(rel, options, fc_fields_known(rel, fields, n) == 0, word);
		form->fields = lappend_int(form->fields, attnum);
	}
	form->columns = fc_columns_names(rel, form->fields);
	if (blanks && options->log_verbosity != FC_LOG_SILENT)
		ereport(NOTICE, errmsg("blanks around names of the header are left out"));
	if (form->columns == NIL && form->names != NIL && options->transforms == NIL)
		fc_fields_extra(rel, options, true, strVal(linitial(form->names)));
	fc_fields_missing(rel, options, form->fields);
}

/* The name of a field that is no column; NULL of one that is */
static const char *
fc_columns_extra(const FcFileForm *form, int field)
{
	return list_nth_int(form->fields, field) == 0 ? strVal(list_nth(form->names, field)) : NULL;
}

/* The place of a field that is no column: the nth of its name, from 0 */
static int
fc_columns_place_extra(const FcFileForm *form, const char *name, int nth)
{
	int			alike = -1;
	int			nalike = 0;
	bool		exact = false;

	for (int i = 0; i < list_length(form->fields); i++)
	{
		const char *other = fc_columns_extra(form, i);

		CHECK_FOR_INTERRUPTS();
		if (other == NULL || pg_strcasecmp(other, name) != 0)
			continue;
		if (strcmp(other, name) != 0)
		{
			alike = i;
			nalike++;
			continue;
		}
		exact = true;
		if (nth-- == 0)
			return i;
	}
	return exact || nth > 0 || nalike != 1 ? -1 : alike;
}

int
fc_columns_place(const FcFileForm *form, const FcFileForm *other, int field)
{
	const char *name = fc_columns_extra(other, field);
	int			nth = 0;
	int			place;

	if (name == NULL)
		return fc_columns_field(form->fields, list_nth_int(other->fields, field));
	if (!other->extra)
		return field < list_length(form->fields) && list_nth_int(form->fields, field) == 0 ? field : -1;
	for (int i = 0; i < field; i++)
	{
		const char *before = fc_columns_extra(other, i);

		nth += before && strcmp(before, name) == 0;
	}
	place = fc_columns_place_extra(form, name, nth);
	/* a name that is written otherwise may have its own field there */
	for (int i = 0; place >= 0 && i < list_length(other->fields); i++)
	{
		const char *own = i == field ? NULL : fc_columns_extra(other, i);

		if (own && strcmp(own, name) != 0 && strcmp(own, fc_columns_extra(form, place)) == 0)
			place = -1;
	}
	return place;
}

static FcFileForm *
fc_columns_header(const FcFileForm *form)
{
	FcFileForm *header = palloc0(sizeof(FcFileForm));

	header->extra = form->extra;
	header->fields = list_copy(form->fields);
	header->names = copyObject(form->names);
	return header;
}

uint32
fc_columns_join(FcFileForm *form, const FcFileForm *other)
{
	Bitmapset  *places = NULL;

	if (form->headers == NIL)
		form->headers = list_make1(fc_columns_header(form));
	foreach_ptr(FcFileForm, header, form->headers)
		if (equal(header->fields, other->fields) && (!form->extra || equal(header->names, other->names)))
			return foreach_current_index(header);
	if ((Size) list_length(form->headers) * Max(list_length(form->fields), list_length(other->fields)) > FC_HEADER_JOINED)
		fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg("files have too many different headers"),
				 errdetail("There are %d up to here, and %d fields in all.", list_length(form->headers), list_length(form->fields)),
				 errhint("Load some of the files by a call of their own."));
	form->headers = lappend(form->headers, fc_columns_header(other));
	foreach_int(attnum, other->fields)
	{
		int			number = foreach_current_index(attnum);
		int			place = fc_columns_place(form, other, number);
		Node	   *name = list_nth(other->names, number);

		CHECK_FOR_INTERRUPTS();
		if (attnum == 0 && !form->extra)
			continue;
		if (place >= 0 && bms_is_member(place, places))
			fc_throw(ERRCODE_AMBIGUOUS_COLUMN,
					 errmsg("several fields of a header have the name \"%s\" of another file's but for the case", strVal(name)),
					 errhint("Load files with such headers by calls of their own."));
		places = bms_add_member(places, place >= 0 ? place : list_length(form->fields));
		if (place >= 0)
			continue;
		form->fields = lappend_int(form->fields, attnum);
		form->names = lappend(form->names, copyObject(name));
	}
	return list_length(form->headers) - 1;
}

bool
fc_columns_any_default(Relation rel, const FcOptions *options, const FcFileForm *form)
{
	foreach_int(attnum, form->fields)
	{
		bool		lacks = false;

		foreach_ptr(FcFileForm, header, form->headers)
			lacks |= attnum != 0 && !list_member_int(header->fields, attnum);
		if (lacks && !fc_transform_option(options, NameStr(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attname)) &&
			build_column_default(rel, attnum) != NULL)
			return true;
	}
	return false;
}

bool
fc_columns_match(const FcOptions *options, const FcColumns *columns, const FcDialect *dialect,
				 int encoding, char *rec, size_t len)
{
	FcField    *fields;
	int			n;

	if (options->transforms == NIL && !options->own_grammar)
		return false;
	n = fc_fields_header(dialect, encoding, rec, len, &fields);
	if (n != list_length(columns->names))
		fc_format_error(errmsg("wrong number of fields in header line: got %d, expected %d",
							   n, list_length(columns->names)));
	for (int i = 0; i < n; i++)
	{
		const char *name = strVal(list_nth(columns->names, i));
		char	   *word = pnstrdup(fields[i].data, fields[i].len);

		if (fields[i].verify)
			pg_verifymbstr(fields[i].data, fields[i].len, false);
		if (fields[i].null || strcmp(word, name) != 0)
			fc_format_error(fields[i].null ?
							errmsg("column name mismatch in header line field %d: got null value (\"%s\"), expected \"%s\"",
								   i + 1, options->format.null_print, name) :
							errmsg("column name mismatch in header line field %d: got \"%s\", expected \"%s\"",
								   i + 1, word, name));
	}
	return true;
}

Node *
fc_columns_transform(const FcColumns *columns, AttrNumber attnum)
{
	int			field = columns->transforms == NIL ? -1 : fc_columns_field(columns->fields, attnum);

	return field < 0 ? NULL : list_nth(columns->transforms, field);
}

void
fc_columns_check_others(Relation rel, const FcOptions *options, const FcColumns *columns)
{
	int			most = MaxAttrNumber - 1 - FC_ORIGIN_PATH - list_length(columns->paths);

	if ((columns->transforms || columns->origins) && list_length(columns->names) > most)
		fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg("expressions can see at most %d fields of a file", most),
				 errdetail("There are %d, by name those of all files.", list_length(columns->names)),
				 errhint("Let a program, such as cut, leave out fields that are not needed."));
	for (int i = 0; options->transforms && !options->ignore_extra_columns && i < list_length(columns->names); i++)
	{
		const char *name = strVal(list_nth(columns->names, i));

		/* that of a column has none if the column gets its default */
		if (list_nth_int(columns->fields, i) != 0 || fc_columns_attnum(rel, name) != 0 ||
			fc_transform_uses(options, name, i))
			continue;
		if (options->header_map)
			fc_fields_extra(rel, options, false, name);
		fc_throw(ERRCODE_UNDEFINED_COLUMN, errmsg("column \"%s\" of relation \"%s\" does not exist",
												  name, RelationGetRelationName(rel)),
				 errhint("The file may have other fields, too, if a transform or delete_where names them."));
	}
}

List *
fc_columns_force(List *names, Relation rel, List *attnums)
{
	if (list_length(names) != 1 || strcmp(strVal(linitial(names)), "*") != 0)
		return names;
	return fc_columns_names(rel, attnums);
}

/*
 * Sets the flag of the fields of the columns that the option names; "*" means
 * also fields that only a transform wants
 */
static void
fc_fields_force(Relation rel, FcColumns *columns, List *given, uint16 flag, const char *option)
{
	List	   *names = fc_columns_force(given, rel, columns->attnums);

	for (int i = 0; names != given && i < list_length(columns->names); i++)
		columns->flags[i] |= flag;
	foreach_int(attnum, names == NIL ? NIL : CopyGetAttnums(RelationGetDescr(rel), rel, names))
	{
		int			field = fc_columns_field(columns->fields, attnum);

		if (field < 0)
			fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("%s column \"%s\" not referenced by COPY", option,
															  get_attname(RelationGetRelid(rel), attnum, false)));
		columns->flags[field] |= flag;
	}
}

List *
fc_columns_given_patterns(char *timestamp_format, char *key_column)
{
	Jsonb	   *json = fc_json_read(timestamp_format, "{");
	JsonbIterator *members = json ? JsonbIteratorInit(&json->root) : NULL;
	JsonbValue	value;
	char	   *column = key_column;
	List	   *list = NIL;

	if (json == NULL && key_column == NULL)
		fc_option_error(errmsg("timestamp_format needs a column to apply to"),
						errhint("Name the key in timestamp_column, or give a JSON object of columns and patterns."));
	if (json == NULL)
		return list_make1(makeDefElem(key_column, (Node *) makeString(timestamp_format), -1));
	while (fc_json_next(&members, &column, &value))
	{
		if (value.type != jbvString)
			fc_option_error(errmsg("the pattern of column \"%s\" in timestamp_format must be a string",
								   column));
		list = lappend(list, makeDefElem(column, (Node *) makeString(fc_json_text(&value)), -1));
	}
	return list;
}

/* Sets the pattern of one column, compiled so that mistakes show at once */
static void
fc_fields_pattern(Relation rel, FcColumns *columns, const DefElem *option)
{
	AttrNumber	attnum = fc_column_named(rel, option->defname);
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	int			field = fc_columns_field(columns->fields, attnum);
	Node	   *made = fc_columns_transform(columns, attnum);

	if (field < 0)
		fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("timestamp_format column \"%s\" is not a column of the file",
														  option->defname));
	if (made && exprType(made) != TEXTOID)
		fc_throw(ERRCODE_INVALID_COLUMN_REFERENCE, errmsg("timestamp_format cannot be used for column \"%s\"", option->defname),
				 errdetail("Its transform makes a value of type %s.", format_type_be(exprType(made))),
				 errhint("Let the transform make a text, or leave the pattern out."));
	(void) fc_pattern_compile(strVal(option->arg), att->atttypid, att->atttypmod,
							  option->defname);
	columns->patterns[field] = strVal(option->arg);
}

void
fc_columns_make_patterns(Relation rel, const FcOptions *options, AttrNumber key_attnum,
						 FcColumns *columns)
{
	char	   *key = NULL;

	columns->patterns = palloc0(sizeof(char *) * Max(list_length(columns->fields), 1));
	if (options->timestamp_format == NULL)
		return;
	if (key_attnum != 0)
		key = get_attname(RelationGetRelid(rel), key_attnum, false);
	foreach_node(DefElem, option, fc_columns_given_patterns(options->timestamp_format, key))
		fc_fields_pattern(rel, columns, option);
}

/* Error context callback: how a field of a generated column is left out */
static void
fc_fields_hint_generated(void *arg)
{
	const FcOptions *options = arg;

	if (fc_error_wants_hint("column \"%s\" is a generated column"))
		errhint(fc_caller_wrote_copy(options->caller) ?
				"Leave it out of the columns; or, if the file has it and a header, leave out the columns, and use header 'map' and ignore_extra_columns." :
				"Leave it out of columns; or, if the file has it and a header, leave columns out, and use header => 'map' and ignore_extra_columns => true.");
}

/*
 * The fields that the caller names: the table's columns, and others that only a
 * transform wants
 */
static void
fc_fields_named(Relation rel, const FcOptions *options, const FcFileForm *form,
				FcColumns *columns)
{
	ErrorContextCallback callback;
	List	   *known = NIL;
	List	   *attnums = NIL;

	columns->names = form->columns;
	foreach_node(String, name, form->columns)
	{
		bool		other = options->transforms != NIL &&
			get_attnum(RelationGetRelid(rel), strVal(name)) == InvalidAttrNumber;

		columns->fields = lappend_int(columns->fields, other ? 0 : fc_columns_attnum(rel, strVal(name)));
		if (!other)
			known = lappend(known, name);
	}
	fc_error_context_push(&callback, fc_fields_hint_generated, unconstify(FcOptions *, options));
	/* an empty list would mean all columns */
	if (known != NIL || form->columns == NIL)
		attnums = CopyGetAttnums(RelationGetDescr(rel), rel, known);
	fc_error_context_pop();
	if (form->columns != NIL)
		return;
	columns->fields = attnums;
	columns->names = fc_columns_names(rel, attnums);
}

void
fc_columns_make(Relation rel, const FcOptions *options, const FcFileForm *form,
				FcColumns *columns)
{
	columns->names = form->names;
	columns->fields = form->fields;
	if (!options->header_map)
		fc_fields_named(rel, options, form, columns);
	columns->nwanted = list_length(columns->fields);
	columns->names = list_copy(columns->names);
	for (int i = columns->nwanted; i < form->nfields; i++)
	{
		columns->names = lappend(columns->names, makeString(psprintf("field %d", i + 1)));
		columns->fields = lappend_int(columns->fields, 0);
	}
	/* takes in columns that a transform makes, leaves out what it leaves out */
	columns->fields = fc_transform_fields(rel, options, columns->fields);
	foreach_int(attnum, columns->fields)
		if (attnum != 0)
			columns->attnums = lappend_int(columns->attnums, attnum);
	columns->flags = palloc0(sizeof(uint16) * Max(list_length(columns->fields), 1));
	fc_fields_force(rel, columns, options->force_not_null, FC_FIELD_FORCE_NOT_NULL, "FORCE_NOT_NULL");
	fc_fields_force(rel, columns, options->force_null, FC_FIELD_FORCE_NULL, "FORCE_NULL");
}
