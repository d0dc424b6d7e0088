/*-------------------------------------------------------------------------
 *
 * help.c
 *	  fast_copy_help(): the options of a load, and what goes by a name.
 *
 *	 options/help.c ──────► all options, a row each
 *	 options/help.c ──┐
 *	 pg_settings ─────┼──► all that is said of one option, setting, function
 *	 pg_description ──┘	   or view, a row for each line
 *
 * The catalogs are read as the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/formatting.h"

#include "fast_copy.h"
#include "options/help.h"
#include "options/options.h"

PG_FUNCTION_INFO_V1(fast_copy_help);
PG_FUNCTION_INFO_V1(fast_copy_help_one);

/* Columns that the table of all options leaves for the meaning, of 80 */
#define FC_MEANING_WIDTH	24

/* What is looked for, and what has been found of it */
typedef struct FcSearch
{
	const char *word;			/* in lower case */
	FcNearest	nearest;
	StringInfoData found;		/* lines */
} FcSearch;

/* The extension's settings */
static const char settings_query[] =
"SELECT name, vartype, unit, boot_val, min_val, max_val,"
" pg_catalog.array_to_string(enumvals, ', '),"
" CASE WHEN context OPERATOR(pg_catalog.=) 'user' THEN 'anybody' ELSE 'superusers' END,"
" pg_catalog.concat_ws(' ', short_desc, extra_desc)"
" FROM pg_catalog.pg_settings"
" WHERE name OPERATOR(pg_catalog.~) '^fast_copy\\.' ORDER BY name";

/* Numbers of its columns */
enum
{
	SETTING_NAME = 1,
	SETTING_TYPE,
	SETTING_UNIT,
	SETTING_DEFAULT,
	SETTING_LEAST,
	SETTING_MOST,
	SETTING_WORDS,
	SETTING_WHO,
	SETTING_TEXT
};

/* Functions of both extensions, but for those of the type, and relations */
static const char objects_query[] =
"SELECT CASE WHEN d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"
"  THEN CASE WHEN p.prokind OPERATOR(pg_catalog.=) 'p' THEN 'procedure' ELSE 'function' END"
"  WHEN c.relkind OPERATOR(pg_catalog.=) 'v' THEN 'view' ELSE 'table' END,"
" coalesce(p.proname, c.relname),"
" coalesce(pg_catalog.regexp_replace(pg_catalog.pg_get_function_arguments(p.oid),"
"   '::[a-z_.]+(\\[\\])?|\\mIN ', '', 'g'),"
"  (SELECT pg_catalog.string_agg(pg_catalog.concat(a.attname, ' (',"
"    pg_catalog.format_type(a.atttypid, a.atttypmod), '): ',"
"    pg_catalog.col_description(a.attrelid, a.attnum)), E'\\n' ORDER BY a.attnum)"
"   FROM pg_catalog.pg_attribute AS a WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid"
"    AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped)),"
" pg_catalog.pg_get_function_result(p.oid), t.description"
" FROM pg_catalog.pg_extension AS e"
"  JOIN pg_catalog.pg_depend AS d ON d.refobjid OPERATOR(pg_catalog.=) e.oid"
"   AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass"
"  JOIN pg_catalog.pg_description AS t ON t.objoid OPERATOR(pg_catalog.=) d.objid"
"   AND t.classoid OPERATOR(pg_catalog.=) d.classid AND t.objsubid OPERATOR(pg_catalog.=) 0"
"  LEFT JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) d.objid"
"   AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"
"  LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.objid"
"   AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
" WHERE e.extname OPERATOR(pg_catalog.=) ANY ('{fast_copy,fast_copy_cluster}'::pg_catalog.name[])"
"  AND coalesce(p.proname, c.relname) OPERATOR(pg_catalog.!~) '^fast_copy_value_' ORDER BY 1, 2, 3";

enum
{
	OBJECT_KIND = 1,
	OBJECT_NAME,
	OBJECT_FIELDS,				/* arguments; or columns, in lines */
	OBJECT_RESULT,				/* of a function */
	OBJECT_TEXT
};

/* An option's default without its quotes, or NULL */
static char *
fc_help_preset(const FcHelp *help)
{
	int			len = strlen(help->preset);

	if (len == 0 || strcmp(help->preset, "NULL") == 0)
		return NULL;
	if (help->preset[0] == '\'')
		return pnstrdup(help->preset + 1, len - 2);
	return pstrdup(help->preset);
}

/*
 * Returns a row for each option, so narrow that psql shows it within 80
 * columns: values of the extension's own type are written as texts
 */
Datum
fast_copy_help(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, fc_help_options())
	{
		FcHelp	   *help = lfirst(lc);
		StringInfoData meaning;
		Datum		values[5];
		bool		nulls[5];

		initStringInfo(&meaning);
		fc_help_wrap(&meaning, help->meaning, FC_MEANING_WIDTH, "");
		fast_copy_text(help->name, &values[0], &nulls[0]);
		fast_copy_text(strlen(help->type) <= strlen("regclass") ? help->type : "text",
					 &values[1], &nulls[1]);
		fast_copy_text(fc_help_preset(help), &values[2], &nulls[2]);
		fast_copy_text(help->copy && pg_strcasecmp(help->copy, help->name) == 0 ? "same" : help->copy,
					 &values[3], &nulls[3]);
		fast_copy_text(meaning.data, &values[4], &nulls[4]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * Is it this name, in full or without what all names of the kind begin with?
 * If not, it may be like it.  The name outlives the search.
 */
static bool
fc_help_is(FcSearch *search, const char *name, const char *prefix)
{
	int			len = strlen(prefix);

	if (strcmp(search->word, name) == 0 ||
		(strncmp(name, prefix, len) == 0 && strcmp(search->word, name + len) == 0))
		return true;
	fc_nearest_try(&search->nearest, name);
	if (len > 0 && strncmp(name, prefix, len) == 0)
		fc_nearest_try(&search->nearest, name + len);
	return false;
}

/* Looks among the options, by their own names and by COPY's */
static void
fc_help_find_option(FcSearch *search)
{
	ListCell   *lc;

	foreach(lc, fc_help_options())
	{
		FcHelp	   *help = lfirst(lc);

		if (fc_help_is(search, help->name, "") ||
			(help->copy && pg_strcasecmp(search->word, help->copy) == 0))
			fc_help_option(&search->found, help);
	}
}

/* A field of a row of SPI, in memory of SPI's, or NULL */
static char *
fc_help_field(uint64 row, int field)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, field);
}

/* A number with its unit, as SHOW has them */
static char *
fc_help_amount(const char *number, const char *unit)
{
	long		n = strtol(number, NULL, 10);

	if (unit == NULL || n <= 0)
		return pstrdup(number);
	if (strcmp(unit, "kB") == 0 && n % 1024 == 0)
		return psprintf("%ldMB", n / 1024);
	if (strcmp(unit, "B") == 0 && n % (1024 * 1024) == 0)
		return psprintf("%ldMB", n / (1024 * 1024));
	return psprintf("%s%s", number, unit);
}

static void
fc_help_setting(StringInfo out, uint64 row)
{
	char	   *type = fc_help_field(row, SETTING_TYPE);
	char	   *unit = fc_help_field(row, SETTING_UNIT);
	char	   *preset = fc_help_field(row, SETTING_DEFAULT);
	char	   *least = fc_help_field(row, SETTING_LEAST);
	char	   *values = least == NULL ? fc_help_field(row, SETTING_WORDS) :
		psprintf("%s to %s", fc_help_amount(least, unit),
				 fc_help_amount(fc_help_field(row, SETTING_MOST), unit));

	fc_help_title(out, "setting", fc_help_field(row, SETTING_NAME));
	fc_help_line(out, "Type", type);
	fc_help_line(out, "Default", preset && *preset ? fc_help_amount(preset, unit) : "''");
	if (values)
		fc_help_line(out, "Values", values);
	fc_help_line(out, "Set by", fc_help_field(row, SETTING_WHO));
	fc_help_paragraph(out, fc_help_field(row, SETTING_TEXT));
}

static void
fc_help_object(StringInfo out, uint64 row)
{
	char	   *fields = fc_help_field(row, OBJECT_FIELDS);
	char	   *result = fc_help_field(row, OBJECT_RESULT);
	const char *kind = fc_help_field(row, OBJECT_KIND);
	bool		columns = strcmp(kind, "function") != 0 && strcmp(kind, "procedure") != 0;

	fc_help_title(out, kind, fc_help_field(row, OBJECT_NAME));
	if (fields && *fields && !columns)
		fc_help_line(out, "Arguments", fields);
	if (result)
		fc_help_line(out, "Returns", result);
	fc_help_paragraph(out, fc_help_field(row, OBJECT_TEXT));
	if (fields && columns)
		fc_help_columns(out, fields);
}

/* Looks among the names of a query's rows */
static void
fc_help_find(FcSearch *search, const char *query, int name, const char *prefix,
			 void (*tell) (StringInfo out, uint64 row))
{
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read what the extension has");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_help_is(search, fc_help_field(row, name), prefix))
			tell(&search->found, row);
	}
}

/* Returns the lines about all that goes by a name; ERROR 42704: nothing does */
Datum
fast_copy_help_one(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	text	   *given = PG_GETARG_TEXT_PP(0);
	FcSearch	search;
	char	   *line;
	char	   *next;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	search.word = asc_tolower(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given));
	fc_nearest_begin(&search.nearest, search.word);
	initStringInfo(&search.found);
	fc_help_find_option(&search);
	SPI_connect();
	fc_help_find(&search, settings_query, SETTING_NAME, "fast_copy.", fc_help_setting);
	fc_help_find(&search, objects_query, OBJECT_NAME, "fast_copy_", fc_help_object);
	if (search.found.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no option, setting or function \"%s\"", search.word),
				 search.nearest.name ? errhint("Perhaps you meant \"%s\".", search.nearest.name) :
				 errhint("SELECT * FROM fast_copy_help() lists the options.")));
	SPI_finish();
	for (line = search.found.data; *line; line = next)
	{
		Datum		value;
		bool		null = false;

		next = line + strcspn(line, "\n");
		value = PointerGetDatum(cstring_to_text_with_len(line, next - line));
		next += (*next == '\n');
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value, &null);
	}
	return (Datum) 0;
}
