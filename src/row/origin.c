/*-------------------------------------------------------------------------
 *
 * row/origin.c
 *	  Where a row came from, as expressions call it.
 *
 *	 $file ──► _file, for the grammar ──► its place shows what it was ──► Var of
 *			the row of texts (options/plan_transform.c) ──► row/transform.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/keywords.h"
#include "parser/scanner.h"

#include "compat/compat.h"
#include "row/origin.h"

#define FC_ORIGIN_NULL	"__HIVE_DEFAULT_PARTITION__"

char *
fc_origin_grammar(const char *statement)
{
	char	   *copy = pstrdup(statement);
	core_yy_extra_type extra;
	core_yyscan_t scanner;
	core_YYSTYPE value;
	YYLTYPE		at;
	int			token;

	if (strchr(statement, '$') == NULL)
		return copy;
	scanner = scanner_init(statement, &extra, &ScanKeywords, ScanKeywordTokens);
	while ((token = core_yylex(&value, &at, scanner)) != 0)
		if (token == '$' && (isalpha((unsigned char) statement[at + 1]) || statement[at + 1] == '_'))
			copy[at] = '_';
	scanner_finish(scanner);
	return copy;
}

/* Undoes %XX in a part of a path, behind which stands a slash */
static char *
fc_origin_decode(const char *text, size_t len)
{
	char	   *value = palloc(len + 1);
	char	   *to = value;

	for (const char *c = text; c < text + len; c++)
	{
		if (*c == '%' && isxdigit((unsigned char) c[1]) && isxdigit((unsigned char) c[2]))
		{
			*to++ = (char) strtol((char[]) {c[1], c[2], '\0'}, NULL, 16);
			c += 2;
		}
		else
			*to++ = *c;
	}
	*to = '\0';
	if (!pg_verifymbstr(value, to - value, true))
		fc_throw(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, errmsg("\"%s\" in the path of a file is no text in encoding \"%s\"",
															 pnstrdup(text, len), GetDatabaseEncodingName()));
	return value;
}

bool
fc_origin_path(const FcSource *source, uint32 file, const char *name, char **value)
{
	size_t		len = strlen(name);
	bool		found = false;

	for (const char *part = fc_source_path(source, file), *end; (end = strchr(part, '/')) != NULL; part = end + 1)
	{
		if (end - part <= len || part[len] != '=' || pg_strncasecmp(part, name, len) != 0)
			continue;
		found = true;
		*value = fc_origin_decode(part + len + 1, end - part - len - 1);
		if (strcmp(*value, FC_ORIGIN_NULL) == 0)
			*value = NULL;
	}
	return found;
}
