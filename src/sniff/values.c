/*-------------------------------------------------------------------------
 *
 * sniff/values.c
 *	  Which types can have a value.
 *
 * Dates, times, uuids and integers are what a load converts (convert/), in
 * forms that mean the same in each session.  Other dates and times are tried
 * by patterns of timestamp_format; the call has to name the one that fits.
 * All is in the caller's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_type.h"
#include "utils/date.h"

#include "compat/compat.h"
#include "convert/convert.h"
#include "sniff/steps.h"

/* Lengths between which the values of patterns lie */
#define FC_PATTERN_SHORTEST	6
#define FC_PATTERN_LONGEST	48

/* A number has fewer digits, before the point and after it, in any type */
#define FC_NUMBER_DIGITS	1000

/* Brackets that may be open in JSON */
#define FC_JSON_DEPTH		200

struct FcJudge
{
	MemoryContext mcxt;			/* of what one value takes */
	FcConverter converters[FC_VALUE_TYPES]; /* of fc_value_typids */
	const FcValuePattern *given;	/* the caller's pattern, or NULL */
	List	   *patterns;		/* FcValuePattern: all */
};

const Oid fc_value_typids[FC_VALUE_TYPES] = {
	BOOLOID, INT8OID, InvalidOid, UUIDOID, DATEOID, TIMEOID, TIMESTAMPOID, TIMESTAMPTZOID
};

/* If two fit the same values the first one is taken */
static const char *const fc_value_dates[] = {
	"MM/DD/YYYY", "DD/MM/YYYY", "YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD",
	"DD.MM.YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "MM/DD/YY", "DD/MM/YY",
	"DD.MM.YY", "DD-Mon-YYYY", "DD-Mon-YY", "DD Mon YYYY", "Mon DD, YYYY",
	"Mon DD YYYY", "DD Month YYYY", "Month DD, YYYY", "DDMonYYYY"
};

static const char *const fc_value_times[] = {
	"", " HH24:MI", " HH24:MI:SS", " HH24:MI:SS.US", " HH12:MI AM",
	" HH12:MI:SS AM", " HH24:MI:SS TZ", " HH24.MI", " HH24.MI.SS", " HH12.MI.SS AM",
	" HH12.MI.SS.US AM"
};

/*
 * What may stand before or behind an amount, as the file has it and in UTF8; of
 * two the longer one first.  The last ones are those of WIN1252, which no valid
 * UTF8 has beside a number.
 */
static const struct
{
	const char *bytes;
	const char *sign;
}			fc_value_signs[] = {
	{"US$", "US$"}, {"$", "$"}, {"USD", "USD"}, {"EUR", "EUR"}, {"GBP", "GBP"}, {"CHF", "CHF"}, {"JPY", "JPY"},
	{"\xE2\x82\xAC", "\xE2\x82\xAC"}, {"\xC2\xA3", "\xC2\xA3"}, {"\xC2\xA5", "\xC2\xA5"},
	{"\x80", "\xE2\x82\xAC"}, {"\xA3", "\xC2\xA3"}, {"\xA5", "\xC2\xA5"}
};

static const char *const fc_value_moments[] = {
	"YYYYMMDDHH24MISS", "YYYYMMDD HH24MISS", "YYYYMMDDHH24MI",
	"YYYY-MM-DD-HH24.MI.SS", "YYYY-MM-DD-HH24.MI.SS.US",
	"DD/Mon/YYYY:HH24:MI:SS TZHTZM", "[DD/Mon/YYYY:HH24:MI:SS TZHTZM]",
	"Dy, DD Mon YYYY HH24:MI:SS TZ", "Dy Mon DD HH24:MI:SS YYYY",
	"Dy Mon DD HH24:MI:SS YYYY TZ", "Dy Mon DD HH24:MI:SS TZ YYYY",
	"MM/DD/YYYY, HH12:MI:SS AM", "DD/MM/YYYY, HH24:MI:SS", "DD.MM.YYYY, HH24:MI:SS"
};

Oid
fc_value_pattern_type(const char *text, const char *column)
{
	FcPattern  *pattern = fc_pattern_compile(text, TIMESTAMPTZOID, -1, column);

	if (pattern->epoch_units > 0 || pattern->zoned)
		return TIMESTAMPTZOID;
	for (int i = 0; i < pattern->nsteps; i++)
		if (pattern->steps[i].unit == FC_UNIT_HOUR || pattern->steps[i].unit == FC_UNIT_SSSSS)
			return TIMESTAMPOID;
	return DATEOID;
}

static void
fc_value_add_pattern(FcJudge *judge, const char *text)
{
	FcValuePattern *pattern = palloc(sizeof(FcValuePattern));

	pattern->text = pstrdup(text);
	pattern->typid = fc_value_pattern_type(text, "");
	pattern->compiled = fc_pattern_compile(text, pattern->typid, -1, "");
	judge->patterns = lappend(judge->patterns, pattern);
}

/* Values that core reads are not tried: it throws for those that do not fit */
static void
fc_value_add_given(FcJudge *judge, const char *text)
{
	fc_value_add_pattern(judge, text);
	judge->given = llast(judge->patterns);
	if (!judge->given->compiled->by_core)
		return;
	judge->given = NULL;
	judge->patterns = list_delete_last(judge->patterns);
}

const FcValuePattern *
fc_value_given(const FcJudge *judge)
{
	return judge->given;
}

FcJudge *
fc_value_begin(const char *pattern)
{
	FcJudge    *judge = palloc0(sizeof(FcJudge));

	judge->mcxt = fc_context_memory(CurrentMemoryContext, "value");
	for (int i = 0; i < FC_VALUE_TYPES; i++)
		if (OidIsValid(fc_value_typids[i]))
			fc_convert_init(&judge->converters[i], fc_value_typids[i], -1, false);
	for (int i = 0; i < lengthof(fc_value_dates); i++)
		for (int j = 0; j < lengthof(fc_value_times); j++)
			fc_value_add_pattern(judge, psprintf("%s%s", fc_value_dates[i], fc_value_times[j]));
	for (int i = 0; i < lengthof(fc_value_moments); i++)
		fc_value_add_pattern(judge, fc_value_moments[i]);
	if (pattern)
		fc_value_add_given(judge, pattern);
	return judge;
}

/* Skips digits; returns how many there were */
static int
fc_value_digits(const char **s, const char *end)
{
	const char *p = *s;

	while (*s < end && isdigit((unsigned char) **s))
		(*s)++;
	return (int) (*s - p);
}

/* Is it four numbers up to 255 with points between? */
static bool
fc_value_is_inet(const char *s, size_t len)
{
	const char *end = s + len;

	for (int i = 0; i < 4; i++)
	{
		const char *number = s;
		int			digits = fc_value_digits(&s, end);

		if (digits < 1 || digits > 3 || atoi(number) > 255 || (digits > 1 && *number == '0'))
			return false;
		if (i < 3 && (s == end || *s++ != '.'))
			return false;
	}
	return s == end;
}

/*
 * The kinds of a value that is a number; 0 if it is none: "007" is meant for a
 * text
 */
static int
fc_value_number(FcJudge *judge, char *s, size_t len, FcValueNumber *number)
{
	const char *p = s;
	const char *end = s + len;
	bool		leading_zero;
	bool		exponent;
	bool		point;
	int			formats = 0;
	Datum		value;
	int			before;

	memset(&number->shape, 0, sizeof(FcNumberShape));
	if (*p == '-' || *p == '+')
		p++;
	if (pg_strcasecmp(p, "inf") == 0 || pg_strcasecmp(p, "infinity") == 0)
		return FC_VALUE_BIT(FC_VALUE_NUMBER) | FC_VALUE_BIT(FC_VALUE_EXPONENT);
	leading_zero = p + 1 < end && p[0] == '0' && isdigit((unsigned char) p[1]);
	if (!leading_zero && len <= FC_NUMBER_DIGITS && !fc_value_is_inet(s, len) &&
		fc_numbers_shape(p, end, &number->shape))
		formats = FC_VALUE_BIT(FC_VALUE_COMMA);
	before = fc_value_digits(&p, end);
	point = p < end && *p == '.';
	p += point;
	number->decimals = point ? fc_value_digits(&p, end) : 0;
	number->digits = before + number->decimals;
	number->integer = strtoll(s, NULL, 10);
	if (leading_zero || number->digits == 0 || number->digits > FC_NUMBER_DIGITS ||
		!fc_numbers_exponent(p, end, &exponent))
		return formats;
	formats |= FC_VALUE_BIT(FC_VALUE_NUMBER);
	if (exponent)
		return formats | FC_VALUE_BIT(FC_VALUE_EXPONENT);
	if (point || !fc_convert(&judge->converters[FC_VALUE_INTEGER], *s == '+' ? s + 1 : s, len - (*s == '+'), &value))
		return formats;
	number->integer = DatumGetInt64(value);
	return formats | FC_VALUE_BIT(FC_VALUE_INTEGER);
}

/* Does it end with a zone: "Z", "+01", "-0100", "UTC"? */
static bool
fc_value_is_zoned(const char *s, size_t len)
{
	for (size_t i = 11; i < len; i++)
		if (s[i] == '+' || s[i] == '-' || isalpha((unsigned char) s[i]))
			return true;
	return false;
}

/*
 * Is it a date and a time of ISO 8601 that core reads and no converter does,
 * such as 24:00:00?  Core throws for names of zones that it does not know, so
 * that it gets no other forms.
 */
static bool
fc_value_is_odd_moment(const char *s, size_t len)
{
	const char *zone;

	if (len < 16 || len >= MAXDATELEN || strspn(s, "0123456789-") != 10 ||
		s[4] != '-' || s[7] != '-' || (s[10] != ' ' && s[10] != 'T') || s[13] != ':')
		return false;
	zone = s + 11 + strspn(s + 11, "0123456789:.");
	if (*zone == '+' || *zone == '-')
		zone += 1 + strspn(zone + 1, "0123456789:");
	else if (*zone == 'Z')
		zone++;
	return *zone == '\0' && fc_core_is_moment(s);
}

/* The kinds of a value that is a date or a time in a form of ISO 8601 */
static int
fc_value_time(FcJudge *judge, char *s, size_t len)
{
	int			kinds = 0;
	Datum		value;

	if (fc_convert(&judge->converters[FC_VALUE_TIME], s, len, &value))
		return FC_VALUE_BIT(FC_VALUE_TIME);
	if (len < 8)
		return 0;
	if (fc_convert(&judge->converters[FC_VALUE_DATE], s, len, &value))
		kinds |= FC_VALUE_BIT(FC_VALUE_DATE);
	/* core takes these as zones in any session */
	if (len > 12 && (memcmp(s + len - 3, "UTC", 3) == 0 || memcmp(s + len - 3, "GMT", 3) == 0))
	{
		size_t		rest = len - 3 - (s[len - 4] == ' ');

		return fc_convert(&judge->converters[FC_VALUE_TIMESTAMP], s, rest, &value) && !fc_value_is_zoned(s, rest) ?
			FC_VALUE_BIT(FC_VALUE_TIMESTAMPTZ) | FC_VALUE_BIT(FC_VALUE_ZONED) : 0;
	}
	if (!fc_convert(&judge->converters[FC_VALUE_TIMESTAMPTZ], s, len, &value) && !fc_value_is_odd_moment(s, len))
		return kinds;
	kinds |= FC_VALUE_BIT(FC_VALUE_TIMESTAMPTZ);
	return kinds | FC_VALUE_BIT(fc_value_is_zoned(s, len) ? FC_VALUE_ZONED : FC_VALUE_TIMESTAMP);
}

/* The kinds of a value that is a word for true or false */
static int
fc_value_boolean(FcJudge *judge, char *s, size_t len)
{
	static const char *const words[] = {
		"false", "true", "f", "t", "no", "yes", "n", "y", "off", "on"
	};
	Datum		value;

	for (int i = 0; i < lengthof(words); i++)
		if (len == strlen(words[i]) && pg_strncasecmp(s, words[i], len) == 0 &&
			fc_convert(&judge->converters[FC_VALUE_BOOLEAN], s, len, &value))
			return FC_VALUE_BIT(FC_VALUE_BOOLEAN) |
				(DatumGetBool(value) ? FC_VALUE_BIT(FC_VALUE_TRUE) : 0) |
				(i > 1 ? FC_VALUE_BIT(FC_VALUE_LETTER) : 0);
	return 0;
}

bool
fc_value_is_deep(const char *s, size_t len)
{
	int			open = 0;

	for (size_t i = 0; i < len && open <= FC_JSON_DEPTH; i++)
	{
		open += s[i] == '{' || s[i] == '[';
		open -= s[i] == '}' || s[i] == ']';
	}
	return open > FC_JSON_DEPTH;
}

/*
 * Is it an object or a list of JSON, which a jsonb can have?  Unless the
 * encoding is UTF8, its parser may throw for characters that are written as
 * numbers.
 */
static bool
fc_value_is_json(char *s, size_t len)
{
	if (!((s[0] == '{' && s[len - 1] == '}') || (s[0] == '[' && s[len - 1] == ']')) ||
		!pg_verify_mbstr(GetDatabaseEncoding(), s, (int) len, true) ||
		strstr(s, "\\u0000") || fc_value_is_deep(s, len) ||
		(GetDatabaseEncoding() != PG_UTF8 && strstr(s, "\\u")))
		return false;
	return pg_parse_json(fc_json_lex(s, len, true), &nullSemAction) == JSON_SUCCESS;
}

/*
 * The number of the sign of a currency that stands there, or -1.  Those that
 * are not ASCII can be named in a database in UTF8.
 */
static int
fc_value_sign_at(const char *s, size_t len, bool ends)
{
	for (int i = 0; i < lengthof(fc_value_signs); i++)
	{
		const char *sign = fc_value_signs[i].bytes;
		size_t		n = strlen(sign);

		if (len > n && memcmp(ends ? s + len - n : s, sign, n) == 0 &&
			(!IS_HIGHBIT_SET(*sign) || GetDatabaseEncoding() == PG_UTF8))
			return i;
	}
	return -1;
}

/*
 * Takes off brackets that stand around all of it; there must be something
 * within, and no blank beside them
 */
static bool
fc_value_brackets(FcValueText *text)
{
	if (text->len < 3 || text->s[0] != '(' || text->s[text->len - 1] != ')' ||
		isspace((unsigned char) text->s[1]) || isspace((unsigned char) text->s[text->len - 2]))
		return false;
	text->s++;
	text->len -= 2;
	return true;
}

/* Takes off the sign of a currency, and the blank between it and the number */
static void
fc_value_sign(FcValueText *text, FcValueMarks *marks)
{
	size_t		minus = text->len > 0 && text->s[0] == '-';
	int			sign = fc_value_sign_at(text->s + minus, text->len - minus, false);
	const char *blank;
	size_t		cut;

	marks->before = sign >= 0;
	if (sign < 0 && (sign = fc_value_sign_at(text->s, text->len, true)) < 0)
		return;
	cut = strlen(fc_value_signs[sign].bytes);
	if (marks->before)
		text->s += minus + cut;
	text->len -= cut + (marks->before ? minus : 0);
	blank = fc_numbers_blank(text->s, text->len, !marks->before);
	/* USD123 is rather the name of a thing */
	if (marks->before && isalpha((unsigned char) fc_value_signs[sign].bytes[cut - 1]) && text->s[0] != ' ' && !blank[0])
		return;
	text->s += marks->before ? strlen(blank) : 0;
	text->len -= strlen(blank);
	*text = fc_value_trim(text->s, text->len);
	marks->sign = fc_value_signs[sign].sign;
	marks->blank = blank[0] ? blank : NULL;
}

FcValueMarks
fc_value_marks(char **s, size_t *len)
{
	FcValueMarks marks = {0};
	FcValueText rest = {*s, *len};

	marks.brackets = fc_value_brackets(&rest);
	fc_value_sign(&rest, &marks);
	marks.brackets = marks.brackets || fc_value_brackets(&rest);
	if ((!marks.sign && !marks.brackets) || rest.len == 0 ||
		strchr(marks.brackets ? ".,0123456789" : "-+.,0123456789", rest.s[0]) == NULL ||
		!isdigit((unsigned char) rest.s[rest.len - 1]))
		return (FcValueMarks) {0};
	*s += rest.s - *s;
	*len = rest.len;
	return marks;
}

/* The kinds of a value that is followed by a NUL, apart from blanks */
static int
fc_value_kinds(FcJudge *judge, char *s, size_t len, FcValueNumber *number)
{
	int			kinds = fc_value_number(judge, s, len, number);
	Datum		value;

	if (isdigit((unsigned char) *s))
		kinds |= fc_value_time(judge, s, len);
	if (kinds == 0)
		kinds = fc_value_boolean(judge, s, len);
	if (kinds == 0 && fc_convert(&judge->converters[FC_VALUE_UUID], s, len, &value))
		kinds = FC_VALUE_BIT(FC_VALUE_UUID);
	if (kinds == 0 && fc_value_is_inet(s, len))
		kinds = FC_VALUE_BIT(FC_VALUE_INET);
	if (kinds == 0 && fc_value_is_json(s, len))
		kinds = FC_VALUE_BIT(FC_VALUE_JSON);
	return kinds;
}

int
fc_value_judge(FcJudge *judge, char *s, size_t len, FcValueNumber *number)
{
	int			blank = 0;
	int			kinds;
	char		after;
	MemoryContext old;

	Assert(len > 0);
	while (len > 0 && isspace((unsigned char) s[len - 1]))
		len--, blank = FC_VALUE_BIT(FC_VALUE_BLANK);
	while (len > 0 && isspace((unsigned char) *s))
		s++, len--, blank = FC_VALUE_BIT(FC_VALUE_BLANK);
	if (len == 0)
		return blank;
	after = s[len];
	s[len] = '\0';
	old = MemoryContextSwitchTo(judge->mcxt);
	kinds = fc_value_kinds(judge, s, len, number);
	MemoryContextSwitchTo(old);
	MemoryContextReset(judge->mcxt);
	s[len] = after;
	return kinds | blank;
}

FcValueText
fc_value_trim(const char *s, size_t len)
{
	while (len > 0 && (*s == ' ' || *s == '\t'))
		s++, len--;
	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return (FcValueText) {s, len};
}

List *
fc_value_patterns(FcJudge *judge, const char *value, size_t value_len, const List *among)
{
	FcValueText text = fc_value_trim(value, value_len);
	const char *s = text.s;
	size_t		len = text.len;
	List	   *matching = NIL;
	Datum		parsed;

	if (len < FC_PATTERN_SHORTEST || len > FC_PATTERN_LONGEST ||
		strcspn(s, "0123456789") >= len)
		return NIL;
	foreach_ptr(FcValuePattern, pattern, among ? among : judge->patterns)
		if (fc_pattern_parse(pattern->compiled, s, len, &parsed))
			matching = lappend(matching, pattern);
	return matching;
}

bool
fc_value_moment(FcJudge *judge, Oid typid, FcPattern *pattern, char *s, size_t len, int64 *key)
{
	FcConverter *converter = typid == DATEOID ? &judge->converters[FC_VALUE_DATE] :
		typid == TIMESTAMPOID ? &judge->converters[FC_VALUE_TIMESTAMP] : &judge->converters[FC_VALUE_TIMESTAMPTZ];
	FcValueText text = fc_value_trim(s, len);
	Datum		value;

	s += text.s - s;
	if (pattern ? !fc_pattern_parse(pattern, s, text.len, &value) :
		!fc_convert(converter, s, text.len, &value))
		return false;
	*key = typid == DATEOID ? DatumGetDateADT(value) : DatumGetInt64(value);
	return true;
}
