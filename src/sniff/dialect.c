/*-------------------------------------------------------------------------
 *
 * sniff/dialect.c
 *	  How the fields of a sample are written.
 *
 *	 delimiters x quotes x escapes, and text format ──► candidates
 *	 candidate ──► how many records have as many fields as most, and how much
 *		these look like values ──► score
 *
 * A wrong delimiter gives records of many lengths, or torn fields: halves of
 * dates, or texts with the right delimiter in them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat/compat.h"
#include "sniff/steps.h"

/* Bytes that each candidate looks at, in all and at least of each place */
#define FC_GUESS_BYTES	((size_t) 512 * 1024)
#define FC_GUESS_LEAST	((size_t) 8 * 1024)

/* Fields that are judged for a candidate, and records at a file's start */
#define FC_GUESS_FIELDS	5000
#define FC_GUESS_FIRST	64

/*
 * What fields may be separated by; the first of equals is taken, so that what
 * others are a part of comes before them
 */
static const char *const fc_dialect_delimiters[] = {
	"|~|", "~|~", "|^|", "^|^", "||", "~~", "^^", "::", "##", "@@", "\001\002",
	"\xC2\xA6", "\xC2\xA7", "\xC2\xAC", ",", "\t", ";", "|", "\001", "^", "~", " "
};

/* What fields are worth to the score */
#define FC_WORTH_TYPED	1.0
#define FC_WORTH_EMPTY	0.6
#define FC_WORTH_TEXT	0.6
#define FC_WORTH_TORN	0.25	/* it has another delimiter in it */
#define FC_WORTH_MESSY	0.1		/* it has quotes in wrong places */

/* Blanks stand in texts, and one column has no delimiter to go by */
#define FC_WORTH_BLANKS	0.8
#define FC_WORTH_SINGLE	0.9

/* Records at the file's start have other numbers of fields */
#define FC_WORTH_SKIP	0.9

/* The bytes of the delimiter stand alone, too: of so many, one */
#define FC_WORTH_ALONE	0.9
#define FC_ALONE		10

/* All quotes stand in wrong places */
#define FC_WORTH_NO_QUOTES	0.9

typedef struct FcGuesser
{
	const FcSniffSample *sample;
	const FcOptions *options;
	FcJudge    *judge;
	size_t		limit;
	uint32		counts[FC_SNIFF_FIELDS + 2];	/* by number of fields */
	bool		seen[256];		/* bytes that the sample has */
	bool		alone;			/* those of the delimiter that is tried stand
								 * alone, too */
	char		said;			/* the delimiter that the first line names */
	FcGuess    *best;
} FcGuesser;

/* How a record at a file's start looks */
typedef struct FcFirst
{
	int			nfields;
	bool		padded;			/* a title, filled up with empty fields? */
	bool		full;			/* may be the header after such ones? */
} FcFirst;

bool
fc_dialect_is_typed(FcJudge *judge, const FcField *field)
{
	FcValueNumber number;
	char	   *s = field->data;
	size_t		len = field->len;

	(void) fc_value_marks(&s, &len);
	return (fc_value_judge(judge, s, len, &number) &
			(FC_VALUE_TYPED | FC_VALUE_BIT(FC_VALUE_COMMA))) != 0 ||
		fc_value_patterns(judge, field->data, field->len, NULL) != NIL;
}

char
fc_dialect_said(const char *s, size_t len)
{
	static const char said[] = "sep=";
	bool		quoted;

	if (len >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0)
		s += 3, len -= 3;
	quoted = len > 0 && *s == '"';
	s += quoted;
	len -= quoted;
	if (len < sizeof(said) || pg_strncasecmp(s, said, strlen(said)) != 0)
		return '\0';
	s += strlen(said);
	len -= strlen(said);
	if (quoted)
		return len > 1 && s[1] == '"' ? s[0] : '\0';
	return len == 1 || s[1] == '\n' || s[1] == '\r' ? s[0] : '\0';
}

/*
 * Has the record several fields, of which at most one is not empty?  Programs
 * for tables write titles so: "Report;;", and one that names the delimiter.
 */
static bool
fc_dialect_is_padded(const FcSniffRecord *record)
{
	int			filled = 0;

	for (int i = 0; i < Min(record->nfields, FC_SNIFF_FIELDS); i++)
		filled += record->fields[i].len > 0;
	return (record->nfields > 2 && filled <= 1) ||
		(record->number == 0 && fc_dialect_said(record->raw, record->len));
}

/* Has the record no empty field, and a word first? */
static bool
fc_dialect_is_full(FcJudge *judge, const FcSniffRecord *record)
{
	for (int i = 0; i < Min(record->nfields, FC_SNIFF_FIELDS); i++)
		if (record->fields[i].len == 0)
			return false;
	return record->nfields > 0 && !fc_dialect_is_typed(judge, &record->fields[0]);
}

/* How many records stand before the first that may be a header or values? */
static int
fc_dialect_before(const FcFirst *first, int nfirst, int nfields)
{
	int			ragged = 0;
	int			all;

	while (ragged < nfirst && first[ragged].nfields != nfields)
		ragged++;
	for (all = ragged; all < nfirst; all++)
		if (first[all].nfields == nfields && !first[all].padded)
			break;
	/* any record may have few values, but only titles stand before names */
	return all < nfirst && first[all].full ? all : ragged;
}

/* Finds how many fields most records of the file's beginning have */
static void
fc_dialect_count(FcGuesser *guesser, FcGuess *guess)
{
	FcCursor	cursor;
	FcSniffRecord *record;
	const FcOptions *options = guesser->options;
	const FcSniffPlace *place = NULL;
	FcFirst		first[FC_GUESS_FIRST];
	int			nfirst = 0;

	/* with one column, they are values of it */
	guess->skips_empty = !options->given[FC_OPTION_skip_empty_lines] || options->skip_empty_lines;
	memset(guesser->counts, 0, sizeof(guesser->counts));
	fc_records_begin(&cursor, guesser->sample, &guess->dialect, 0, guesser->limit * 4);
	while ((record = fc_records_next(&cursor)) != NULL)
	{
		int			n = record->nfields < 0 ? 0 : Min(record->nfields, FC_SNIFF_FIELDS + 1);

		if (place == NULL)
			place = record->place;
		if (record->place != place)
			break;
		guesser->counts[n] += !(guess->skips_empty && record->len == 0);
		if (record->number < FC_GUESS_FIRST)
			first[nfirst++] = (FcFirst) {n, fc_dialect_is_padded(record), fc_dialect_is_full(guesser->judge, record)};
	}
	guess->nfields = 1;
	for (int i = 1; i <= FC_SNIFF_FIELDS + 1; i++)
		if (guesser->counts[i] > 0 && guesser->counts[i] >= guesser->counts[guess->nfields])
			guess->nfields = i;
	guess->skips_empty &= options->given[FC_OPTION_skip_empty_lines] || guess->nfields > 1;
	guess->skip = fc_dialect_before(first, nfirst, guess->nfields);
	/* that is no beginning, but a file without an order */
	if (guess->skip == nfirst || guesser->counts[guess->nfields] < 2)
		guess->skip = 0;
	guess->skip = Max(guess->skip, guesser->said ? 1 : 0);
	if (options->given[FC_OPTION_header])
		guess->skip = Max(options->header_lines - 1, 0);
}

/* Would the field have been cut by another delimiter? */
static bool
fc_dialect_is_torn(const FcGuess *guess, const char *s, size_t len)
{
	for (int i = 0; i < lengthof(fc_dialect_delimiters) - 1; i++)
	{
		const char *other = fc_dialect_delimiters[i];

		/* of several bytes each is told by its first ones alone */
		if (other[1] == '\0' && strcmp(other, guess->delim) != 0 && memchr(s, other[0], len))
			return true;
		/* and one that is a character, but for the paragraph's sign of texts */
		if (IS_HIGHBIT_SET(other[0]) && strcmp(other, "\xC2\xA7") != 0 &&
			strcmp(other, guess->delim) != 0 && strstr(s, other))
			return true;
	}
	return false;
}

/* How much field i of the record looks like one */
static double
fc_dialect_worth(FcGuesser *guesser, const FcGuess *guess, FcSniffRecord *record, int i)
{
	FcField    *field = &record->fields[i];

	if (fc_records_messy(record, &guess->dialect, i))
		return FC_WORTH_MESSY;
	if (fc_records_quoted(record, &guess->dialect, i))
		return FC_WORTH_TYPED;
	if (field->len == 0)
		return FC_WORTH_EMPTY;
	if (fc_hint_null_find(field->data, field->len) >= 0 || fc_dialect_is_typed(guesser->judge, field))
		return FC_WORTH_TYPED;
	return fc_dialect_is_torn(guess, field->data, field->len) ? FC_WORTH_TORN : FC_WORTH_TEXT;
}

/* Gives a score to a guess whose number of fields is known */
static void
fc_dialect_score(FcGuesser *guesser, FcGuess *guess)
{
	FcCursor	cursor;
	FcSniffRecord *record;
	double		worth = 0;
	double		share;
	uint64		judged = 0;
	uint64		full = 0;
	uint64		messy = 0;
	bool		spans = false;

	fc_records_begin(&cursor, guesser->sample, &guess->dialect, guess->nfields, guesser->limit);
	while ((record = fc_records_next(&cursor)) != NULL)
	{
		int			n = record->nfields;

		if (record->place->start && record->number < guess->skip)
			continue;
		if (guess->skips_empty && record->len == 0)
			continue;
		guess->records++;
		guess->others += n != guess->nfields;
		if (n != guess->nfields || n > FC_SNIFF_FIELDS)
			continue;
		/* a line end within a record can only stand in quotes */
		spans |= memchr(record->raw, '\n', record->len) || memchr(record->raw, '\r', record->len);
		full += n > 1 && record->fields[n - 1].len > 0 &&
			!(record->place->start && record->number == guess->skip);
		for (int i = 0; i < n; i++)
		{
			messy += fc_records_messy(record, &guess->dialect, i);
			guess->quoted += fc_records_quoted(record, &guess->dialect, i);
			if (judged++ < FC_GUESS_FIELDS)
				worth += fc_dialect_worth(guesser, guess, record, i);
		}
	}
	guess->faults = cursor.faults;
	guess->trailing = guess->nfields > 1 && guess->records > 1 && full == 0;
	share = (double) (guess->records - guess->others) /
		Max(guess->records + guess->faults.line_ends + guess->faults.quotes, 1);
	judged = Min(judged, FC_GUESS_FIELDS);
	guess->score = judged == 0 ? 0 : share * share * worth / judged;
	if (guess->skip > 0 && !guesser->options->given[FC_OPTION_header])
		guess->score *= FC_WORTH_SKIP;
	/* then they are no quotes, and taking them for such would lose them */
	if (messy > 0 && guess->quoted == 0)
		guess->score *= FC_WORTH_NO_QUOTES;
	/* apostrophes that stand far apart would make one record of several */
	if (spans && guess->dialect.quote == '\'' && !guesser->options->given[FC_OPTION_quote])
		guess->score = 0;
	if (guess->nfields == 1)
		guess->score *= FC_WORTH_SINGLE;
	else if (guess->dialect.delim == ' ')
		guess->score *= FC_WORTH_BLANKS;
	else if (guesser->alone)
		guess->score *= FC_WORTH_ALONE;
}

/*
 * Tries a candidate, and keeps it if it is better than those before.  Returns
 * whether all records have as many fields, and more than one.
 */
static bool
fc_dialect_try(FcGuesser *guesser, FcMode mode, const char *delim, char quote, char escape)
{
	FcGuess    *guess = palloc0(sizeof(FcGuess));
	FcGuess    *best = guesser->best;
	bool		even;

	CHECK_FOR_INTERRUPTS();
	guess->text = mode == FC_MODE_TEXT;
	guess->dialect.raw = guess->text ? escape == FC_NO_ESCAPE : quote == FC_NO_QUOTE;
	guess->dialect.mode = guess->dialect.raw ? FC_MODE_TEXT : mode;
	guess->delim = delim;
	guess->dialect.delim = delim[0];
	guess->dialect.delim_more = strlen(delim) - 1;
	memcpy(guess->dialect.delim_rest, delim + 1, guess->dialect.delim_more);
	guess->dialect.quote = quote;
	guess->dialect.escape = escape;
	guess->dialect.null_string = mode == FC_MODE_TEXT ? "\\N" : "";
	guess->dialect.null_len = strlen(guess->dialect.null_string);
	guess->dialect.lone_marker = FC_CORE_LONE_MARKER;
	fc_dialect_count(guesser, guess);
	fc_dialect_score(guesser, guess);
	even = guess->others == 0 && guess->nfields > 1;
	/* what counts no field by a delimiter says nothing for it */
	if (best && guess->score <= best->score)
	{
		if (strcmp(delim, best->delim) != 0 && guess->nfields > 1 && guess->score > best->next_score)
		{
			best->next_score = guess->score;
			best->next_delim = delim;
		}
		return even;
	}
	if (best && best->nfields > 1)
	{
		bool		other = strcmp(best->delim, delim) != 0;

		guess->next_score = other ? best->score : best->next_score;
		guess->next_delim = other ? best->delim : best->next_delim;
	}
	guesser->best = guess;
	return even;
}

bool
fc_dialect_has_pair(const FcSniffSample *sample, char first, char second)
{
	for (int i = 0; i < sample->nplaces; i++)
	{
		const FcSniffPlace *place = &sample->places[i];
		const char *end = place->data + place->len;

		for (const char *s = place->data; s < end - 1 && (s = memchr(s, first, end - s)) != NULL; s++)
			if (s + 1 < end && s[1] == second)
				return true;
	}
	return false;
}

/*
 * Tries the quotes and escapes that csv may have with a delimiter.  Returns
 * whether with some of them all records have as many fields.
 */
static bool
fc_dialect_csv(FcGuesser *guesser, const char *delim)
{
	const FcOptions *options = guesser->options;
	const char	quotes[] = {'"', '\'', FC_NO_QUOTE};
	bool		even = false;

	for (int i = 0; i < lengthof(quotes); i++)
	{
		char		quote = options->given[FC_OPTION_quote] ? options->format.quote[0] : quotes[i];

		if ((i > 0 && options->given[FC_OPTION_quote]) || strchr(delim, quote) ||
			(quotes[i] == '\'' && !fc_dialect_has_pair(guesser->sample, '\'', delim[0]) &&
			 !fc_dialect_has_pair(guesser->sample, delim[strlen(delim) - 1], '\'')) ||
			(quote == FC_NO_QUOTE && !guesser->seen['"'] && !options->given[FC_OPTION_quote]))
			continue;
		even |= fc_dialect_try(guesser, FC_MODE_CSV, delim, quote,
							   options->given[FC_OPTION_escape] ? options->format.escape[0] : quote);
		if (!options->given[FC_OPTION_escape] && quote != FC_NO_QUOTE &&
			fc_dialect_has_pair(guesser->sample, '\\', quote))
			even |= fc_dialect_try(guesser, FC_MODE_CSV, delim, quote, '\\');
	}
	return even;
}

/*
 * Does a backslash stand before each kind of byte that COPY TO would write
 * after one, and before no other?  *lines: one stands before a line end.
 */
static bool
fc_dialect_is_escaped(const FcSniffSample *sample, char delim, bool *lines)
{
	char		after[] = {'N', 't', 'n', 'r', 'b', 'f', 'v', '\\', '\'', '\n', delim};
	bool		any = false;

	*lines = false;

	for (int i = 0; i < sample->nplaces; i++)
	{
		const FcSniffPlace *place = &sample->places[i];
		const char *end = place->data + place->len;

		for (const char *s = place->data; s < end - 1 && (s = memchr(s, '\\', end - s)) != NULL; s += 2)
		{
			if (s + 1 >= end)
				break;
			/* a marker ends the data */
			if (s[1] == '.' && (s == place->data || s[-1] == '\n'))
				continue;
			if (memchr(after, s[1], sizeof(after)) == NULL)
				return false;
			any = true;
			*lines |= s[1] == '\n';
		}
	}
	return any;
}

/*
 * Tries all that may be with a delimiter.  COPY TO writes no backslash before a
 * line end, but MySQL does (SELECT ... INTO OUTFILE).  One that is no escape
 * would make one record of two, so that it is taken for one only where lines by
 * themselves do not have as many fields each.
 */
static void
fc_dialect_delimiter(FcGuesser *guesser, const char *delim)
{
	const FcOptions *options = guesser->options;
	bool		given = options->given[FC_OPTION_format];
	bool		text = given && !fc_format_is_csv(&options->format);
	bool		lines = false;
	bool		even = false;
	bool		said = options->given[FC_OPTION_quote] || options->given[FC_OPTION_escape];
	bool		escaped = !said && (!given || text) && fc_dialect_is_escaped(guesser->sample, delim[0], &lines);
	bool		raw = text && (options->raw || (!said && !escaped && guesser->seen['\\'] &&
										 !fc_dialect_has_pair(guesser->sample, '\\', '.')));

	/* of two that are equal the first one is taken: "\N" is COPY's own */
	if (text || (escaped && delim[0] == '\t' && !lines))
		fc_dialect_try(guesser, FC_MODE_TEXT, delim, FC_NO_QUOTE, raw ? FC_NO_ESCAPE : FC_NO_QUOTE);
	if (!text)
		even = fc_dialect_csv(guesser, delim);
	if (escaped && !text && (lines ? !even : delim[0] != '\t' && fc_dialect_has_pair(guesser->sample, '\\', delim[0])))
		fc_dialect_try(guesser, FC_MODE_TEXT, delim, FC_NO_QUOTE, FC_NO_QUOTE);
}

/* Each line an object of JSON: then nothing separates and nothing quotes */
static void
fc_dialect_json_lines(FcGuesser *guesser)
{
	const FcOptions *options = guesser->options;
	const FcSniffPlace *place = &guesser->sample->places[0];

	if (place->len == 0 || place->data[0] != '{' || options->given[FC_OPTION_delimiter] ||
		options->given[FC_OPTION_quote] || options->given[FC_OPTION_format])
		return;
	fc_dialect_try(guesser, FC_MODE_CSV, FC_NO_DELIMITER, FC_NO_QUOTE, FC_NO_QUOTE);
}

/*
 * Tries all that may be with the best delimiter on the whole sample, because a
 * single quote in a wrong place may be all there is to see.  All candidates
 * were tried on a part of each place.
 */
static void
fc_dialect_again(FcGuesser *guesser)
{
	FcGuess    *first = guesser->best;

	if (guesser->sample->bytes <= guesser->limit || first->dialect.quote == FC_NO_QUOTE ||
		(!guesser->seen['"'] && !guesser->seen['\\']))
		return;
	guesser->limit = SIZE_MAX / 4;
	guesser->best = NULL;
	fc_dialect_delimiter(guesser, first->delim);
	guesser->best->next_score = first->next_score;
	guesser->best->next_delim = first->next_delim;
}

void
fc_dialect_append(const FcDialect *dialect, StringInfo out)
{
	appendStringInfoChar(out, dialect->delim);
	appendBinaryStringInfo(out, dialect->delim_rest, dialect->delim_more);
}

/* Which bytes does the sample have?  A delimiter must be one of them */
static void
fc_dialect_look(FcGuesser *guesser)
{
	for (int i = 0; i < guesser->sample->nplaces; i++)
	{
		const FcSniffPlace *place = &guesser->sample->places[i];

		for (size_t at = 0; at < place->len; at++)
			guesser->seen[(unsigned char) place->data[at]] = true;
	}
}

/*
 * Does the sample have the delimiter, in an encoding in which it can be one?
 * If it has several bytes, guesser->alone says if many of the first ones stand
 * without the others.  A comma is tried in any case.
 */
static bool
fc_dialect_occurs(FcGuesser *guesser, const char *delim)
{
	const FcSniffSample *sample = guesser->sample;
	size_t		len = strlen(delim);
	uint64		whole = 0;
	uint64		alone = 0;

	guesser->alone = false;
	if (len == 1)
		return delim[0] == ',' || guesser->seen[(unsigned char) delim[0]];
	for (int i = 0; i < sample->nplaces; i++)
	{
		const char *s = sample->places[i].data;
		const char *end = s + sample->places[i].len;

		while (end - s >= len && (s = memchr(s, delim[0], end - s)) != NULL)
		{
			bool		is = end - s >= len && memcmp(s, delim, len) == 0;

			whole += is;
			alone += !is;
			s += is ? len : 1;
		}
	}
	guesser->alone = alone > whole / FC_ALONE;
	return whole > 0 && (!IS_HIGHBIT_SET(delim[0]) || GetDatabaseEncoding() == PG_UTF8);
}

/* Takes nothing for lines before the first record that a file does not have */
static void
fc_dialect_settle_skip(FcGuesser *guesser)
{
	FcGuess    *guess = guesser->best;
	FcCursor	cursor;
	FcSniffRecord *record;

	if (guess->skip == 0 || guesser->options->given[FC_OPTION_header])
		return;
	fc_records_begin(&cursor, guesser->sample, &guess->dialect, guess->nfields, SIZE_MAX);
	while (guess->skip > 0 && (record = fc_records_next(&cursor)) != NULL)
	{
		if (record->place->start && record->number < guess->skip &&
			record->nfields == guess->nfields && !fc_dialect_is_padded(record))
			guess->skip = 0;
	}
}

FcGuess *
fc_dialect_guess(const FcSniffSample *sample, const FcOptions *options, FcJudge *judge)
{
	FcGuesser	guesser = {.sample = sample,.options = options,.judge = judge};
	FcGuess    *guess;

	guesser.limit = Max(FC_GUESS_BYTES / Max(sample->nplaces, 1), FC_GUESS_LEAST);
	fc_dialect_look(&guesser);
	if (sample->keys != NIL)
	{
		fc_dialect_try(&guesser, FC_MODE_CSV, ",", '"', '"');
		return guesser.best;
	}
	guesser.said = sample->places[0].start ? fc_dialect_said(sample->places[0].data, sample->places[0].len) : '\0';
	if (options->given[FC_OPTION_delimiter] || guesser.said)
		fc_dialect_delimiter(&guesser, options->given[FC_OPTION_delimiter] ? options->delimiter : psprintf("%c", guesser.said));
	else
	{
		fc_dialect_json_lines(&guesser);
		for (int i = 0; i < lengthof(fc_dialect_delimiters); i++)
			if (fc_dialect_occurs(&guesser, fc_dialect_delimiters[i]))
				fc_dialect_delimiter(&guesser, fc_dialect_delimiters[i]);
		guesser.alone = false;
		/* one column of texts may have any delimiter in it, here and there */
		if (guesser.best->others > 0)
			fc_dialect_delimiter(&guesser, FC_NO_DELIMITER);
	}
	fc_dialect_again(&guesser);
	guess = guesser.best;

	/*
	 * What is separated by tabs mostly has no quotes.  If there are none in
	 * the sample, those that come later are likely to be inches.
	 */
	if (guess->dialect.mode == FC_MODE_CSV && guess->dialect.delim == '\t' && guess->quoted == 0 &&
		!sample->whole && !options->given[FC_OPTION_quote] && !options->given[FC_OPTION_escape])
	{
		guess->dialect.quote = guess->dialect.escape = FC_NO_QUOTE;
		guess->dialect.mode = FC_MODE_TEXT;
		guess->dialect.raw = true;
	}
	fc_dialect_settle_skip(&guesser);
	return guesser.best;
}
