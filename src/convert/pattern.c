/*-------------------------------------------------------------------------
 *
 * convert/pattern.c
 *	  Compiles the patterns of the argument timestamp_format.
 *
 * The text alone tells three kinds apart:
 *
 *	epoch_s, epoch_ms, epoch_us, epoch_ns
 *	"YYYY-MM-DD HH24:MI:SS"		upper style, to_timestamp's
 *	"yyyy-MM-dd HH:mm:ss"		lower style, of time-series databases and Java
 *
 * The styles become steps for convert/pattern_match.c, or a pattern for core
 * where to_timestamp has a feature without steps (FcPattern.by_core).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "convert/pattern.h"
#include "errors/first_error.h"

static const char *const months_and_minutes =
"Months and minutes are MM and MI in \"YYYY-MM-DD HH24:MI:SS\", and MM and mm in \"yyyy-MM-dd HH:mm:ss\".";

/* Parts of a moment; each may be in a pattern once */
#define PART_YEAR			(1 << 0)
#define PART_MONTH			(1 << 1)
#define PART_DAY			(1 << 2)
#define PART_YDAY			(1 << 3)
#define PART_JULIAN			(1 << 4)
#define PART_WEEKDAY		(1 << 5)
#define PART_HOUR			(1 << 6)
#define PART_MINUTE			(1 << 7)
#define PART_SECOND			(1 << 8)
#define PART_SSSSS			(1 << 9)
#define PART_MILLI			(1 << 10)
#define PART_MICRO			(1 << 11)
#define PART_NANO			(1 << 12)
#define PART_MERIDIEM		(1 << 13)
#define PART_ZONE			(1 << 14)
#define PART_ZONE_MINUTE	(1 << 15)

#define PART_ANY_DATE \
	(PART_YEAR | PART_MONTH | PART_DAY | PART_YDAY | PART_JULIAN)
#define PART_ANY_TIME \
	(PART_HOUR | PART_MINUTE | PART_SECOND | PART_SSSSS | PART_MERIDIEM)

/* A word of a pattern and what it stands for */
typedef struct FcPatternWord
{
	const char *name;
	uint8		unit;
	uint8		min_digits;
	uint8		max_digits;
	uint8		base;
	int			part;
	bool		twelve_hours;
	uint8		longest;		/* of a run of the last letter; 0: as the name
								 * has it */
} FcPatternWord;

/*
 * to_timestamp's words, longer before shorter where one begins like another.
 * Numbers may be shorter than max_digits unless a digit follows.
 *
 * FC_UNIT_CORE: core reads the values.
 */
static const FcPatternWord upper_words[] = {
	{"YYYY", FC_UNIT_YEAR, 4, 6, 0, PART_YEAR},
	{"YYY", FC_UNIT_YEAR_SHORT, 3, 3, 0, PART_YEAR},
	{"YY", FC_UNIT_YEAR_SHORT, 2, 2, 0, PART_YEAR},
	{"Y,YYY", FC_UNIT_CORE},
	{"Y", FC_UNIT_YEAR_SHORT, 1, 1, 0, PART_YEAR},
	{"MONTH", FC_UNIT_MONTH_FULL,.part = PART_MONTH},
	{"MON", FC_UNIT_MONTH_ABBREV,.part = PART_MONTH},
	{"MM", FC_UNIT_MONTH, 1, 2, 0, PART_MONTH},
	{"MI", FC_UNIT_MINUTE, 1, 2, 0, PART_MINUTE},
	{"MS", FC_UNIT_FRACTION, 1, 3, 9, PART_MILLI},
	{"DAY", FC_UNIT_WEEKDAY_FULL,.part = PART_WEEKDAY},
	{"DDD", FC_UNIT_YDAY, 1, 3, 0, PART_YDAY},
	{"DD", FC_UNIT_DAY, 1, 2, 0, PART_DAY},
	{"DY", FC_UNIT_WEEKDAY_ABBREV,.part = PART_WEEKDAY},
	{"HH24", FC_UNIT_HOUR, 1, 2, 0, PART_HOUR},
	{"HH12", FC_UNIT_HOUR, 1, 2, 0, PART_HOUR, true},
	{"HH", FC_UNIT_HOUR, 1, 2, 0, PART_HOUR, true},
	{"SSSSS", FC_UNIT_SSSSS, 1, 5, 0, PART_SSSSS},
	{"SSSS", FC_UNIT_SSSSS, 1, 5, 4, PART_SSSSS},
	{"SS", FC_UNIT_SECOND, 1, 2, 0, PART_SECOND},
	{"US", FC_UNIT_FRACTION, 1, 6, 9, PART_MICRO},
	{"FF1", FC_UNIT_FRACTION, 1, 1, 9, PART_MICRO},
	{"FF2", FC_UNIT_FRACTION, 1, 2, 9, PART_MICRO},
	{"FF3", FC_UNIT_FRACTION, 1, 3, 9, PART_MICRO},
	{"FF4", FC_UNIT_FRACTION, 1, 4, 9, PART_MICRO},
	{"FF5", FC_UNIT_FRACTION, 1, 5, 9, PART_MICRO},
	{"FF6", FC_UNIT_FRACTION, 1, 6, 9, PART_MICRO},
	{"AM", FC_UNIT_MERIDIEM,.part = PART_MERIDIEM,.twelve_hours = true},
	{"PM", FC_UNIT_MERIDIEM,.part = PART_MERIDIEM,.twelve_hours = true},
	{"J", FC_UNIT_JULIAN, 1, 7, 1, PART_JULIAN},
	{"TZH", FC_UNIT_ZONE_HOUR,.part = PART_ZONE},
	{"TZM", FC_UNIT_ZONE_MINUTE, 2, 2, 0, PART_ZONE_MINUTE},
	{"TZ", FC_UNIT_ZONE,.part = PART_ZONE},
	{"OF", FC_UNIT_ZONE_OFFSET,.part = PART_ZONE},
	{"A.D.", FC_UNIT_CORE}, {"A.M.", FC_UNIT_CORE}, {"AD", FC_UNIT_CORE},
	{"B.C.", FC_UNIT_CORE}, {"BC", FC_UNIT_CORE}, {"CC", FC_UNIT_CORE},
	{"D", FC_UNIT_CORE}, {"FX", FC_UNIT_CORE}, {"I", FC_UNIT_CORE},
	{"P.M.", FC_UNIT_CORE}, {"Q", FC_UNIT_CORE}, {"RM", FC_UNIT_CORE},
	{"W", FC_UNIT_CORE},
	{NULL}
};

/*
 * The other style's: runs of one letter, which are taken whole.  A number
 * without digits here has as many as the run has letters.
 */
static const FcPatternWord lower_words[] = {
	{"yyyy", FC_UNIT_YEAR, 4, 4, 0, PART_YEAR},
	{"yy", FC_UNIT_YEAR_SHORT, 2, 2, 0, PART_YEAR},
	{"y", FC_UNIT_YEAR, 1, 6, 0, PART_YEAR},
	{"MMM", FC_UNIT_MONTH_NAME,.part = PART_MONTH,.longest = 4},
	{"MM", FC_UNIT_MONTH, 2, 2, 0, PART_MONTH},
	{"M", FC_UNIT_MONTH, 1, 2, 0, PART_MONTH},
	{"dd", FC_UNIT_DAY, 2, 2, 0, PART_DAY},
	{"d", FC_UNIT_DAY, 1, 2, 0, PART_DAY},
	{"EEE", FC_UNIT_WEEKDAY_NAME,.part = PART_WEEKDAY,.longest = 4},
	{"E", FC_UNIT_WEEKDAY_NAME,.part = PART_WEEKDAY},
	{"HH", FC_UNIT_HOUR, 2, 2, 0, PART_HOUR},
	{"H", FC_UNIT_HOUR, 1, 2, 0, PART_HOUR},
	{"hh", FC_UNIT_HOUR, 2, 2, 0, PART_HOUR, true},
	{"h", FC_UNIT_HOUR, 1, 2, 0, PART_HOUR, true},
	{"mm", FC_UNIT_MINUTE, 2, 2, 0, PART_MINUTE},
	{"m", FC_UNIT_MINUTE, 1, 2, 0, PART_MINUTE},
	{"ss", FC_UNIT_SECOND, 2, 2, 0, PART_SECOND},
	{"s", FC_UNIT_SECOND, 1, 2, 0, PART_SECOND},
	{"SS", FC_UNIT_FRACTION,.base = 9,.part = PART_MILLI,.longest = 9},
	{"S", FC_UNIT_FRACTION, 1, 3, 9, PART_MILLI},
	{"UUU", FC_UNIT_FRACTION, 3, 3, 6, PART_MICRO},
	{"U+", FC_UNIT_FRACTION, 1, 6, 9, PART_MILLI | PART_MICRO},
	{"U", FC_UNIT_FRACTION, 1, 3, 6, PART_MICRO},
	{"NNN", FC_UNIT_FRACTION, 3, 3, 3, PART_NANO},
	{"N+", FC_UNIT_FRACTION, 1, 9, 9, PART_MILLI | PART_MICRO | PART_NANO},
	{"N", FC_UNIT_FRACTION, 1, 3, 3, PART_NANO},
	{"a", FC_UNIT_MERIDIEM,.part = PART_MERIDIEM,.twelve_hours = true},
	{"z", FC_UNIT_ZONE,.part = PART_ZONE},
	{"Z", FC_UNIT_ZONE,.part = PART_ZONE},
	{"X", FC_UNIT_ZONE_OFFSET,.part = PART_ZONE,.longest = 3},
	{"x", FC_UNIT_ZONE_OFFSET,.part = PART_ZONE,.longest = 3},
	{NULL}
};

/* A pattern while it is compiled */
typedef struct FcPatternCompiler
{
	FcPattern  *pattern;
	const char *at;
	bool		upper;			/* to_timestamp's style */
	bool		fill;			/* FM stands before the next word */
	bool		odd_text;		/* text that core wants in quotes */
	int			parts;
} FcPatternCompiler;

/* ERROR 22023: tells what is wrong with the pattern, and what would be right */
static void
refuse(const FcPattern *pattern, const char *detail, const char *hint)
{
	fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("pattern \"%s\" for column \"%s\" is not valid",
													 pattern->shown, pattern->column),
			 errdetail("%s", detail),
			 hint ? errhint("%s", hint) : 0);
}

/*
 * The length of the quoted text at s, with both quotes; 0 if there is none.  A
 * quote inside is doubled, or has a backslash in to_timestamp's patterns.
 */
static size_t
quoted_length(const char *s, bool upper)
{
	const char *p = s;

	if (*s != '"' && (upper || *s != '\''))
		return 0;
	for (p++; *p; p++)
	{
		if (upper && *p == '\\' && p[1])
			p++;
		else if (*p == *s && !upper && p[1] == *s && p > s + 1)
			p++;
		else if (*p == *s)
			break;
	}
	return p - s + (*p != '\0');
}

static bool
starts_with(const char *s, const char *word)
{
	return pg_strncasecmp(s, word, strlen(word)) == 0;
}

/*
 * Does the pattern have one of the letters outside quotes and names?  Or, if
 * these are NULL, a word that only the upper style has?
 */
static bool
has_letter(const char *s, const char *letters)
{
	static const char *const names[] = {"Month", "Mon", "Day", "Dy"};

	while (*s)
	{
		size_t		skip = quoted_length(s, false);

		for (int i = 0; skip == 0 && i < lengthof(names); i++)
			skip = strncmp(s, names[i], strlen(names[i])) == 0 ? strlen(names[i]) : 0;
		if (skip == 0 && (letters ? strchr(letters, *s) != NULL :
						  starts_with(s, "HH24") || starts_with(s, "HH12") || starts_with(s, "MI")))
			return true;
		s += Max(skip, 1);
	}
	return false;
}

/* Units of strftime, by the letter after "%" */
static const char *
find_strftime_word(char letter)
{
	static const struct
	{
		char		letter;
		const char *upper;
	}			words[] = {
		{'Y', "YYYY"}, {'y', "YY"}, {'m', "MM"}, {'d', "DD"}, {'e', "DD"},
		{'b', "MON"}, {'h', "MON"}, {'B', "MONTH"}, {'j', "DDD"},
		{'a', "DY"}, {'A', "DAY"}, {'H', "HH24"}, {'k', "HH24"}, {'I', "HH12"}, {'l', "HH12"},
		{'M', "MI"}, {'S', "SS"}, {'f', "US"}, {'p', "AM"}, {'P', "AM"}, {'z', "OF"}, {'Z', "TZ"},
		{'F', "YYYY-MM-DD"}, {'D', "MM/DD/YY"}, {'T', "HH24:MI:SS"}, {'R', "HH24:MI"},
		{'s', "epoch_s"}, {'%', "%"}
	};

	for (int i = 0; i < lengthof(words); i++)
		if (words[i].letter == letter)
			return words[i].upper;
	return NULL;
}

/*
 * The same as a pattern of strftime in the upper style; NULL if it has a unit
 * that is not known.  Letters that are text stand in quotes.
 */
static char *
from_strftime(const char *s)
{
	StringInfo	upper = makeStringInfo();

	while (*s)
	{
		if (*s == '%')
		{
			const char *word = find_strftime_word(s[s[1] == '-' ? 2 : 1]);

			if (word == NULL)
				return NULL;
			appendStringInfoString(upper, word);
			s += s[1] == '-' ? 3 : 2;
		}
		else if (isalpha((unsigned char) *s))
			appendStringInfo(upper, "\"%c\"", *s++);
		else
			appendStringInfoChar(upper, *s++);
	}
	return upper->data;
}

/* Refuses what others write for moments, with what is written here */
static void
refuse_foreign(const FcPattern *pattern)
{
	const char *rr = strstr(pattern->text, "RR");
	char	   *upper;

	if (pattern->text[0] == '%')
	{
		upper = from_strftime(pattern->text);
		refuse(pattern, "It is one of strftime.",
			   psprintf("Write \"%s\".", upper ? upper : "YYYY-MM-DD HH24:MI:SS"));
	}
	if (rr && !has_letter(pattern->text, "Yy"))
	{
		upper = pstrdup(pattern->text);
		memset(upper + (rr - pattern->text), 'Y', strspn(rr, "R"));
		refuse(pattern, "PostgreSQL does not know Oracle's RR.",
			   psprintf("Write \"%s\": two digits are the year nearest to 2020, so that 70 is 1970, and 69 is 2069.", upper));
	}
}

/*
 * Which of the two styles.  They share letters that mean different things: mm
 * is the month in one and the minute in the other.
 *
 * HH24, HH12 and MI, in either case, exist only in the upper style.  Without
 * them the year and the day decide: Y and D, or y and d.  A pattern with both
 * or neither is refused.
 */
static bool
is_upper_style(const FcPattern *pattern)
{
	bool		upper = has_letter(pattern->text, "YDJIC");
	bool		lower = has_letter(pattern->text, "yd");

	if (has_letter(pattern->text, NULL))
		return true;
	if (upper && lower)
		refuse(pattern, "It mixes the letters of two kinds of patterns.",
			   "Write \"YYYY-MM-DD HH24:MI:SS\" or \"yyyy-MM-dd HH:mm:ss\".");
	if (!upper && !lower)
		refuse(pattern, "It has no year.",
			   "Write \"YYYY-MM-DD HH24:MI:SS\", \"yyyy-MM-dd HH:mm:ss\" or epoch_s, epoch_ms, epoch_us or epoch_ns.");
	return upper;
}

static FcPatternStep *
add_step(FcPatternCompiler *compiler, FcPatternUnit unit)
{
	FcPatternStep *step = &compiler->pattern->steps[compiler->pattern->nsteps++];

	memset(step, 0, sizeof(*step));
	step->unit = unit;
	return step;
}

static void
add_word(FcPatternCompiler *compiler, const FcPatternWord *word, size_t len)
{
	FcPattern  *pattern = compiler->pattern;
	FcPatternStep *step;

	compiler->at += len;
	if (word->unit == FC_UNIT_CORE)
	{
		pattern->by_core = true;
		return;
	}
	if (compiler->parts & word->part)
		refuse(pattern, psprintf("\"%s\" says again what another part says.", pnstrdup(compiler->at - len, len)),
			   pg_tolower(word->name[0]) == 'm' ? months_and_minutes : NULL);
	compiler->parts |= word->part;
	pattern->short_year |= word->unit == FC_UNIT_YEAR_SHORT;
	pattern->twelve_hours |= word->twelve_hours;
	step = add_step(compiler, word->unit);
	step->min_digits = word->max_digits > 0 ? word->min_digits : len;
	step->max_digits = word->max_digits > 0 ? word->max_digits : len;
	step->base = word->base;
	step->fill = compiler->fill;
}

/* Text between quotes, which the value has without them */
static void
add_quoted(FcPatternCompiler *compiler, size_t len)
{
	const char *p = compiler->at;
	const char *end = p + len;
	char		quote = *p++;
	bool		open = (end == p || end[-1] != quote);

	if (len == 2 && quote == '\'')
		add_step(compiler, FC_UNIT_LITERAL)->literal = quote;
	for (; p < end - 1 && !open; p++)
	{
		/* the last quote may be one of the text */
		if (*p == (compiler->upper ? '\\' : quote))
			open = (++p == end - 1);
		add_step(compiler, FC_UNIT_LITERAL)->literal = *p;
	}
	if (open)
		refuse(compiler->pattern, "A quoted text does not end.",
			   "Text that is not part of a date or time stands in quotes, as in \"YYYY-MM-DD\\\"T\\\"HH24:MI\".");
	compiler->at = end;
}

/*
 * to_timestamp's words are all in upper or all in lower case; names may be
 * capitalized.
 */
static bool
is_upper_word(const char *s, const FcPatternWord *word)
{
	size_t		len = strlen(word->name);
	int			lower = 0;
	int			upper = 0;

	if (!starts_with(s, word->name))
		return false;
	for (size_t i = 0; i < len; i++)
	{
		lower += (s[i] >= 'a' && s[i] <= 'z');
		upper += (s[i] >= 'A' && s[i] <= 'Z');
	}
	if (lower > 0 && upper == 1 && s[0] < 'a')
		return word->unit >= FC_UNIT_MONTH_ABBREV && word->unit <= FC_UNIT_WEEKDAY_NAME;
	return lower == 0 || upper == 0;
}

/* What may stand before a word: no padding, or the locale's language */
static void
read_prefix(FcPatternCompiler *compiler)
{
	const char *s = compiler->at;

	compiler->fill = strncmp(s, "FM", 2) == 0 || strncmp(s, "fm", 2) == 0;
	if (strncmp(s, "TM", 2) == 0 || strncmp(s, "tm", 2) == 0)
		compiler->pattern->by_core = true;
	else if (!compiler->fill)
		return;
	compiler->at += 2;
}

/* After a part of a pattern: the ending of an ordinal number */
static void
read_suffix(FcPatternCompiler *compiler)
{
	const char *s = compiler->at;

	if (strncmp(s, "TH", 2) && strncmp(s, "th", 2) && strncmp(s, "SP", 2))
		return;
	if (starts_with(s, "THH"))
		refuse(compiler->pattern,
			   "to_timestamp reads TH as the ending of an ordinal number, and not the hour after it.",
			   "Put the letter T in quotes: \"YYYY-MM-DD\\\"T\\\"HH24:MI:SS\".");
	compiler->pattern->by_core = true;
	compiler->pattern->ordinals += (*s != 'S');
	compiler->at += 2;
}

static void
compile_upper(FcPatternCompiler *compiler)
{
	while (*compiler->at)
	{
		size_t		quoted = quoted_length(compiler->at, true);
		const FcPatternWord *word = upper_words;

		if (quoted > 0)
		{
			add_quoted(compiler, quoted);
			continue;
		}
		read_prefix(compiler);
		while (word->name && !is_upper_word(compiler->at, word))
			word++;
		if (word->name)
		{
			add_word(compiler, word, strlen(word->name));
			read_suffix(compiler);
			continue;
		}
		if (*compiler->at == '\0')
			break;
		if (compiler->at[0] == '\\' && compiler->at[1] == '"')
			compiler->at++;
		if (strchr("-./,':; ", *compiler->at) == NULL)
			compiler->odd_text = true;
		if (*compiler->at == ' ')
			add_step(compiler, FC_UNIT_BLANKS);
		else
			add_step(compiler, FC_UNIT_LITERAL)->literal = *compiler->at;
		compiler->at++;
	}
}

static const FcPatternWord *
find_lower_word(const char *s, size_t *len)
{
	for (const FcPatternWord *word = lower_words; word->name; word++)
	{
		size_t		n = *len = strlen(word->name);

		if (strncmp(s, word->name, n) != 0)
			continue;
		while (s[*len] == s[0] && word->name[n - 1] != '+')
			(*len)++;
		if (*len <= Max(n, word->longest))
			return word;
	}
	return NULL;
}

static void
compile_lower(FcPatternCompiler *compiler)
{
	while (*compiler->at)
	{
		size_t		quoted = quoted_length(compiler->at, false);
		size_t		len;
		const FcPatternWord *word = find_lower_word(compiler->at, &len);
		char		c = *compiler->at;

		if (quoted > 0)
			add_quoted(compiler, quoted);
		else if (word != NULL)
			add_word(compiler, word, len);
		else if (c != 'T' && isalpha((unsigned char) c) && !IS_HIGHBIT_SET(c))
			refuse(compiler->pattern,
				   psprintf("There is no unit that begins at \"%s\".", compiler->at),
				   "Units are y yy yyyy M MM MMM d dd E H HH h hh a m mm s ss S to SSSSSSSSS UUU U+ NNN N+ z Z X x; other text stands in single quotes.");
		else
		{
			add_step(compiler, FC_UNIT_LITERAL)->literal = c;
			compiler->at++;
		}
	}
}

static bool
is_number(const FcPatternStep *step)
{
	return step->unit < FC_UNIT_NUMBERS ||
		(step->unit == FC_UNIT_LITERAL && isdigit((unsigned char) step->literal));
}

/*
 * A number before a digit must have all its digits, to tell where it ends;
 * with FM core reads it, and takes all there are.  The last of to_timestamp's
 * numbers in a row must have all, too, or a value that was cut off would be
 * taken for another.
 *
 * Core finds no text after more blanks than the pattern has.
 */
static void
fix_widths(FcPattern *pattern, bool upper)
{
	for (int i = 0; i < pattern->nsteps; i++)
	{
		FcPatternStep *step = &pattern->steps[i];
		const FcPatternStep *next = i + 1 < pattern->nsteps ? step + 1 : NULL;
		bool		first = (next != NULL && is_number(next));
		bool		last = (upper && i > 0 && is_number(step - 1) &&
							step->unit != FC_UNIT_FRACTION);

		if (step->unit == FC_UNIT_BLANKS && next && next->unit == FC_UNIT_LITERAL)
		{
			step->unit = FC_UNIT_LITERAL;
			step->literal = ' ';
		}
		if (step->unit >= FC_UNIT_NUMBERS || (!first && !last))
			continue;
		if (step->fill)
			pattern->by_core = true;
		if (step->unit == FC_UNIT_YEAR)
			step->max_digits = 4;
		else if (first && step->unit != FC_UNIT_FRACTION && step->base > 0)
			step->max_digits = step->base;
		step->min_digits = step->max_digits;
	}
}

/*
 * The signs of a value: those of the pattern's text, and those of a zone.
 * Core takes a sign for part of any number, and any two characters for the
 * ending of an ordinal, strict or not.  So both are counted in the pattern,
 * and in each value by has_marks.
 */
static void
count_signs(FcPattern *pattern)
{
	for (int i = 0; i < pattern->nsteps; i++)
	{
		const FcPatternStep *step = &pattern->steps[i];

		if (step->unit == FC_UNIT_ZONE || step->unit == FC_UNIT_ZONE_OFFSET)
			pattern->zone_signs++;
		else if (step->unit == FC_UNIT_ZONE_HOUR || step->literal == '-' ||
				 step->literal == '+')
			pattern->signs++;
	}
}

/*
 * Each part needs the larger one it belongs to, and add_word() allows each
 * once.  A pattern that breaks this may be of the other style, and would load
 * wrong times without a word.
 */
static void
check_parts(const FcPatternCompiler *compiler)
{
	static const struct
	{
		int			part;
		int			needs;
		const char *detail;
	}			rules[] = {
		{PART_DAY, PART_MONTH, "It has the day but not the month."},
		{PART_MINUTE, PART_HOUR, "It has the minute but not the hour."},
		{PART_SECOND, PART_MINUTE, "It has the second but not the minute."},
		{PART_MILLI | PART_MICRO | PART_NANO, PART_SECOND | PART_SSSSS,
		"It has a part of the second but not the second."},
		{PART_MERIDIEM, PART_HOUR, "It has AM or PM but not the hour."},
		{PART_ZONE_MINUTE, PART_ZONE,
		"It has the minutes of the time zone but not its hours."}
	};

	if (!(compiler->parts & (PART_YEAR | PART_JULIAN)))
		refuse(compiler->pattern, "It has no year.",
			   "Write \"YYYY-MM-DD HH24:MI:SS\" or \"yyyy-MM-dd HH:mm:ss\".");
	for (int i = 0; i < lengthof(rules); i++)
	{
		if ((compiler->parts & rules[i].part) && !(compiler->parts & rules[i].needs))
			refuse(compiler->pattern, rules[i].detail,
				   rules[i].part <= PART_SECOND ? months_and_minutes : NULL);
	}
}

static void
check_lower_parts(const FcPatternCompiler *compiler)
{
	const FcPattern *pattern = compiler->pattern;
	int			parts = compiler->parts;

	if (pattern->twelve_hours && !(parts & PART_MERIDIEM))
		refuse(pattern, "It has the hours of a twelve-hour clock, but neither AM nor PM.",
			   "Write HH for hours from 00 to 23, or add the unit a.");
	if (pattern->twelve_hours && has_letter(pattern->text, "H"))
		refuse(pattern, "It has the hours of a day, and AM or PM.",
			   "Write hh for the hours of a twelve-hour clock.");
	if (((parts & PART_MICRO) && !(parts & PART_MILLI)) ||
		((parts & PART_NANO) && !(parts & PART_MICRO)))
		refuse(pattern, "A part of the second is missing before UUU or NNN.",
			   "Write .SSSUUU, .SSSUUUNNN, .U+ or .N+.");
}

const FcEpoch fc_epochs[FC_EPOCHS] = {
	{"epoch_s", 1, "seconds", 10},
	{"epoch_ms", 1000, "milliseconds", 13},
	{"epoch_us", USECS_PER_SEC, "microseconds", 16},
	{"epoch_ns", INT64CONST(1000000000), "nanoseconds", 19},
};

static void
compile_steps(FcPattern *pattern)
{
	FcPatternCompiler compiler = {.pattern = pattern,.at = pattern->text};

	refuse_foreign(pattern);
	compiler.upper = is_upper_style(pattern);
	pattern->steps = palloc(sizeof(FcPatternStep) * (strlen(pattern->text) + 1));
	if (compiler.upper)
		compile_upper(&compiler);
	else
		compile_lower(&compiler);
	/* to_timestamp has rules for parts that contradict each other */
	if (((compiler.parts & PART_JULIAN) && (compiler.parts & PART_ANY_DATE) != PART_JULIAN) ||
		((compiler.parts & PART_YDAY) && (compiler.parts & (PART_MONTH | PART_DAY))) ||
		((compiler.parts & PART_SSSSS) && (compiler.parts & PART_ANY_TIME) != PART_SSSSS))
		pattern->by_core = true;
	pattern->zoned = (compiler.parts & PART_ZONE) != 0;
	pattern->core_format = cstring_to_text(pattern->text);
	fix_widths(pattern, compiler.upper);
	count_signs(pattern);
	if (!pattern->by_core)
		check_parts(&compiler);
	else if (compiler.odd_text)
		refuse(pattern, "It has a part that only to_timestamp reads, and text that is not in quotes.",
			   "Put text other than the separators -./,':; and blanks in double quotes.");
	if (!compiler.upper)
		check_lower_parts(&compiler);
}

FcPattern *
fc_pattern_compile(const char *text, Oid typid, int32 typmod, const char *column)
{
	FcPattern  *pattern = palloc0(sizeof(FcPattern));
	size_t		len;

	/* values come without blanks at their ends */
	text += strspn(text, " ");
	for (len = strlen(text); len > 0 && text[len - 1] == ' '; len--)
		;
	pattern->text = pnstrdup(text, len);
	pattern->shown = fc_error_clip(pattern->text, strlen(pattern->text));
	pattern->column = pstrdup(column);
	pattern->typid = typid;
	pattern->typmod = typmod;
	if (typid != TIMESTAMPOID && typid != TIMESTAMPTZOID && typid != DATEOID)
		fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("column \"%s\" of type %s cannot have a pattern",
														 column, format_type_with_typemod(typid, typmod)),
				 errhint("Columns of type timestamp, timestamp with time zone and date can."));
	for (int i = 0; i < FC_EPOCHS; i++)
		if (pg_strcasecmp(pattern->text, fc_epochs[i].pattern) == 0)
			pattern->epoch_units = fc_epochs[i].units;
	if (pattern->epoch_units == 0)
		compile_steps(pattern);
	return pattern;
}
