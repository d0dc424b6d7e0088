/*-------------------------------------------------------------------------
 *
 * sniff/edges.c
 *	  Lines that are no records: comments between them, and a footer.
 *
 *	 records, as a first guess cuts them ──► those with another form than the
 *		ones before ──► a byte that begins comments; the last lines
 *
 * A wrong guess would lose rows: so a byte begins comments only if no record
 * with all fields begins with it, and a footer has words that footers have, or
 * stands below values of a type.  All is allocated in the caller's memory
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "compat/compat.h"
#include "sniff/steps.h"

/* What comments begin with */
static const char fc_edges_comments[] = "#%!";

/* Lines of a footer, at most, and the records above that are looked at, too */
#define FC_EDGES_FOOTER	8
#define FC_EDGES_ABOVE	2
#define FC_EDGES_LAST	(FC_EDGES_FOOTER + FC_EDGES_ABOVE)

/* One of the last records of a file */
typedef struct FcEdge
{
	int			nfields;
	FcValueText raw;
	FcValueText first;			/* its first field */
} FcEdge;

typedef struct FcEdges
{
	FcSniffSample *sample;
	const FcOptions *options;
	FcJudge    *judge;
	const FcGuess *guess;
	FcEdge		last[FC_EDGES_LAST];	/* a ring */
	int			n;				/* records of the place so far */
	int			agreed;			/* lines of the footers so far; -1: none yet */
	const char **footers;		/* where they begin, by place; or NULL */
} FcEdges;

/* Does a footer often begin so, or say how many rows there are? */
static bool
fc_edges_is_word(const FcEdge *edge)
{
	static const char *const words[] = {
		"total", "sum", "subtotal", "grand", "summe", "gesamt", "somme", "suma", "totale",
		"end", "eof", "trailer", "trl", "footer", "rows", "records", "record count", "count"
	};
	char	   *line = pnstrdup(edge->raw.s, Min(edge->raw.len, NAMEDATALEN));
	const char *s = line;

	while (*s && !isalnum((unsigned char) *s))
		s++;
	for (int i = 0; i < lengthof(words); i++)
	{
		size_t		len = strlen(words[i]);

		if (pg_strncasecmp(s, words[i], len) == 0 && !isalpha((unsigned char) s[len]) && s[len] != '_')
			return true;
	}
	s += strspn(s, "0123456789.,");
	return s > line && isdigit((unsigned char) s[-1]) &&
		(pg_strncasecmp(s, " row", 4) == 0 || pg_strncasecmp(s, " record", 7) == 0);
}

/* Takes note of a record */
static void
fc_edges_add(FcEdges *edges, FcSniffRecord *record)
{
	FcEdge	   *edge = &edges->last[edges->n++ % FC_EDGES_LAST];

	edge->nfields = record->nfields;
	edge->raw = (FcValueText) {record->raw, record->len};
	edge->first = record->nfields > 0 ? fc_records_raw(record, &edges->guess->dialect, 0) : edge->raw;
}

/* Is the first field of a type?  "y" may be a word. */
static bool
fc_edges_is_typed(const FcEdges *edges, const FcEdge *edge)
{
	FcField		field = {0};
	char	   *copy = palloc0(edge->first.len + FC_SNIFF_SLACK);
	FcValueNumber number;
	bool		quoted = edge->first.len > 1 && edge->first.s[0] == edges->guess->dialect.quote;

	field.len = edge->first.len - 2 * quoted;
	field.data = memcpy(copy, edge->first.s + quoted, field.len);
	return field.len > 0 && fc_dialect_is_typed(edges->judge, &field) &&
		!(fc_value_judge(edges->judge, field.data, field.len, &number) & FC_VALUE_BIT(FC_VALUE_BOOLEAN));
}

/* The record that is so many before the last one; NULL if there is none */
static const FcEdge *
fc_edges_back(const FcEdges *edges, int back)
{
	int			n = edges->n - 1 - back;

	return n < 0 || back >= FC_EDGES_LAST ? NULL : &edges->last[n % FC_EDGES_LAST];
}

/* How many last lines the caller takes for a footer, of those at hand */
static int
fc_edges_said(const FcEdges *edges)
{
	const FcOptions *options = edges->options;
	const FcEdge *edge;
	int			n = 0;

	if (options->footer == NULL)
		return Min(options->footer_lines, Min(edges->n, FC_EDGES_FOOTER));
	while (n < FC_EDGES_FOOTER && (edge = fc_edges_back(edges, n)) != NULL &&
		   fc_edits_footer(options, unconstify(char *, edge->raw.s), (int) Min(edge->raw.len, INT_MAX)))
		n++;
	return n;
}

/* How many fields most of the records at hand have */
static int
fc_edges_usual(const FcEdges *edges)
{
	int			n = Min(edges->n, FC_EDGES_LAST);
	int			most = 0;
	int			usual = 0;

	for (int i = 0; i < n; i++)
	{
		int			times = 0;

		for (int j = 0; j < n; j++)
			times += edges->last[j].nfields == edges->last[i].nfields;
		if (times > most)
		{
			most = times;
			usual = edges->last[i].nfields;
		}
	}
	return usual;
}

/* Has it fewer fields than records, or words that footers have? */
static bool
fc_edges_is_footer(const FcEdge *edge, int nfields)
{
	return edge->nfields > 0 && (edge->nfields < nfields || fc_edges_is_word(edge));
}

/*
 * How many of the last lines look like a footer: below values of a type none
 * of them has one, and they have fewer fields or words; below texts, other
 * fields and words
 */
static int
fc_edges_footer(const FcEdges *edges)
{
	const FcEdge *edge;
	const FcEdge *above;
	int			nfields = fc_edges_usual(edges);
	int			n = 0;
	bool		typed;

	if (edges->options->given[FC_OPTION_skip_footer])
		return fc_edges_said(edges);
	while (n < FC_EDGES_FOOTER && (edge = fc_edges_back(edges, n)) != NULL && !fc_edges_is_typed(edges, edge) &&
		   fc_edges_is_footer(edge, nfields))
		n++;
	above = fc_edges_back(edges, n);
	edge = fc_edges_back(edges, n + 1);
	if (n == 0 || above == NULL || edge == NULL || above->nfields != nfields || edge->nfields != nfields)
		return 0;
	typed = fc_edges_is_typed(edges, above);
	for (int i = 0; i < n; i++)
	{
		edge = fc_edges_back(edges, i);
		if (!typed && !(edge->nfields != nfields && fc_edges_is_word(edge)))
			return 0;
	}
	return n;
}

/* Looks at the last records of a place that ends its file */
static void
fc_edges_end(FcEdges *edges, const FcSniffPlace *place)
{
	int			n;

	if (place == NULL || !place->end)
		return;
	n = fc_edges_footer(edges);
	edges->agreed = edges->agreed < 0 || edges->agreed == n ? n : 0;
	if (n > 0)
		edges->footers[place - edges->sample->places] = fc_edges_back(edges, n - 1)->raw.s;
}

/*
 * Finds footers, and ends the files before them; they are none unless all files
 * whose ends are known have as many lines
 */
static void
fc_edges_footers(FcEdges *edges)
{
	FcSniffSample *sample = edges->sample;
	const FcSniffPlace *place = NULL;
	FcCursor	cursor;
	FcSniffRecord *record;

	edges->agreed = -1;
	edges->footers = palloc0(sizeof(char *) * sample->nplaces);
	fc_records_begin(&cursor, sample, &edges->guess->dialect, edges->guess->nfields, SIZE_MAX);
	while ((record = fc_records_next(&cursor)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (record->place != place)
		{
			fc_edges_end(edges, place);
			edges->n = 0;
		}
		place = record->place;
		if (record->len > 0)
			fc_edges_add(edges, record);
	}
	fc_edges_end(edges, place);
	for (int i = 0; i < sample->nplaces && edges->agreed > 0; i++)
	{
		if (edges->footers[i] == NULL)
			continue;
		sample->footer_line = pnstrdup(edges->footers[i], Min(sample->places[i].data + sample->places[i].len - edges->footers[i], NAMEDATALEN));
		sample->places[i].len = edges->footers[i] - sample->places[i].data;
	}
	sample->footer = Max(edges->agreed, 0);
}

/* Is it the byte that comments begin with, by all records of the sample? */
static bool
fc_edges_is_comment(const FcEdges *edges, char c)
{
	FcCursor	cursor;
	FcSniffRecord *record;
	const FcSniffPlace *place = NULL;
	int			before = 0;		/* fields of the record before */
	int			n = 0;

	fc_records_begin(&cursor, edges->sample, &edges->guess->dialect, edges->guess->nfields, SIZE_MAX);
	while ((record = fc_records_next(&cursor)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (record->place != place)
			before = 0;
		place = record->place;
		if (record->len == 0 || record->raw[0] != c)
			before = record->len == 0 ? before : record->nfields;
		else if (record->nfields == edges->guess->nfields)
			return false;
		else
			n += before == edges->guess->nfields;
	}
	return n > 0 && edges->guess->nfields > 1;
}

/* Looks for the byte, by a guess without the lines that begin with it */
static void
fc_edges_comment(FcEdges *edges)
{
	FcSniffSample *sample = edges->sample;
	const FcGuess *guess = edges->guess;

	for (const char *c = fc_edges_comments; *c && !sample->comment; c++)
	{
		if (!fc_dialect_has_pair(sample, '\n', *c) && !fc_dialect_has_pair(sample, '\r', *c))
			continue;
		sample->comment = *c;
		edges->guess = fc_dialect_guess(sample, edges->options, edges->judge);
		sample->comment = '\0';
		if (edges->guess->score >= guess->score && fc_edges_is_comment(edges, *c))
			sample->comment = *c;
		else
			edges->guess = guess;
	}
}

bool
fc_edges_find(FcSniffSample *sample, const FcOptions *options, FcJudge *judge, const FcGuess *guess)
{
	FcEdges		edges = {.sample = sample,.options = options,.judge = judge,.guess = guess};

	if (!options->given[FC_OPTION_comment])
		fc_edges_comment(&edges);
	fc_edges_footers(&edges);
	return (sample->comment && !options->given[FC_OPTION_comment]) || sample->footer > 0;
}
