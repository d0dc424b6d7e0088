/*-------------------------------------------------------------------------
 *
 * record.c
 *	  Tests of the record grammar: src/grammar/record.c, field.c and
 *	  quote_run.c.
 *
 * Every literal input is read whole, byte by byte and in every two pieces,
 * and must give the same trace.  Random inputs are read by the grammar and by
 * an automaton written here that looks at one byte at a time.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/field.h"
#include "grammar/mask.h"
#include "grammar/quote_run.h"
#include "grammar/record.h"
#include "tap.h"

static const char *const eol_names[] = {"?", "NL", "CR", "CRNL"};

/*
 * Adds the records of input to the trace, <content> each, with "+n" for n
 * embedded line ends and "!" for a quote that never closes, then how it ended
 * and the style of the line ends.  The first call sees "first" bytes, each
 * further one "step" more.
 */
static void
trace_records(Trace *trace, FcDialect dialect, const char *input, size_t len,
			  size_t first, size_t step)
{
	size_t		start = 0;
	size_t		seen = first;
	bool		eof = false;
	FcScan		scan = {0};

	for (;;)
	{
		char	   *piece = exact_copy(input + start, seen - start);
		FcEnd		end = fc_record_end(&dialect, &scan, piece, seen - start,
										eof);

		free(piece);
		if (end == FC_END_MORE && seen < len)
			seen = seen + step < len ? seen + step : len;
		else if (end == FC_END_MORE && !eof)
			eof = true;
		else if (end == FC_END_FOUND)
		{
			trace_add(trace, "<");
			trace_bytes(trace, input + start, scan.content);
			trace_add(trace, ">");
			if (scan.embedded > 0)
				trace_add(trace, "+%d", (int) scan.embedded);
			if (scan.unterminated)
				trace_add(trace, "!");
			start += scan.total;
			memset(&scan, 0, sizeof(scan));
		}
		else
		{
			if (end == FC_END_NONE)
				trace_add(trace, "end");
			else if (end == FC_END_BARE_CR)
				trace_add(trace, "cr@%d", (int) (start + scan.content));
			else if (end == FC_END_BARE_NL)
				trace_add(trace, "nl@%d", (int) (start + scan.content));
			else
				trace_add(trace, "more");
			trace_add(trace, " %s", eol_names[dialect.eol]);
			return;
		}
	}
}

typedef struct RecordCase
{
	const char *name;
	char		escape;			/* the quote is always '"' */
	FcEol		eol;
	const char *input;
	const char *expected;
} RecordCase;

static const RecordCase record_cases[] = {
	{"empty file", '"', FC_EOL_UNKNOWN, "", "end ?"},
	{"one byte", '"', FC_EOL_UNKNOWN, "a", "<a>end ?"},
	{"NL decides", '"', FC_EOL_UNKNOWN, "a\nb\n", "<a><b>end NL"},
	{"CR decides", '"', FC_EOL_UNKNOWN, "a\rb\r", "<a><b>end CR"},
	{"CRNL decides", '"', FC_EOL_UNKNOWN, "a\r\nb\r\n", "<a><b>end CRNL"},
	{"NL, last record open", '"', FC_EOL_UNKNOWN, "a\nb", "<a><b>end NL"},
	{"CR, last record open", '"', FC_EOL_UNKNOWN, "a\rb", "<a><b>end CR"},
	{"CRNL, last record open", '"', FC_EOL_UNKNOWN, "a\r\nb", "<a><b>end CRNL"},
	{"only NL", '"', FC_EOL_UNKNOWN, "\n", "<>end NL"},
	{"only CR", '"', FC_EOL_UNKNOWN, "\r", "<>end CR"},
	{"only CRNL", '"', FC_EOL_UNKNOWN, "\r\n", "<>end CRNL"},
	{"NL CR", '"', FC_EOL_UNKNOWN, "\n\r", "<>cr@1 NL"},
	{"CR CR NL", '"', FC_EOL_UNKNOWN, "\r\r\n", "<><>nl@2 CR"},
	{"empty records", '"', FC_EOL_UNKNOWN, "\n\na\n\n", "<><><a><>end NL"},
	{"empty CRNL records", '"', FC_EOL_UNKNOWN, "\r\n\r\n", "<><>end CRNL"},
	{"CR at the file's end is a line end", '"', FC_EOL_UNKNOWN, "ab\r",
	"<ab>end CR"},
	{"NL file, CR", '"', FC_EOL_NL, "a\nb\rc\n", "<a>cr@3 NL"},
	{"NL file, CRNL", '"', FC_EOL_NL, "a\r\n", "cr@1 NL"},
	{"NL file, CR at the end", '"', FC_EOL_NL, "a\r", "cr@1 NL"},
	{"CR file, NL", '"', FC_EOL_CR, "a\rb\nc\r", "<a>nl@3 CR"},
	{"CR file, CRNL", '"', FC_EOL_CR, "a\r\nb\r", "<a>nl@2 CR"},
	{"CRNL file, NL", '"', FC_EOL_CRNL, "a\r\nb\nc\r\n", "<a>nl@4 CRNL"},
	{"CRNL file, CR", '"', FC_EOL_CRNL, "a\r\nb\rc\r\n", "<a>cr@4 CRNL"},
	{"CRNL file, CR at the end", '"', FC_EOL_CRNL, "a\r\nb\r",
	"<a>cr@4 CRNL"},
	{"CRNL file, CR CR NL", '"', FC_EOL_CRNL, "a\r\r\n", "cr@1 CRNL"},
	{"backslash point is data", '"', FC_EOL_UNKNOWN, "a\n\\.\nb\n",
	"<a><\\.><b>end NL"},
	{"backslash point at the end is data", '"', FC_EOL_UNKNOWN, "a\n\\.",
	"<a><\\.>end NL"},
	{"lone backslash is data", '"', FC_EOL_UNKNOWN, "\\", "<\\>end ?"},

	{"NL in quotes", '"', FC_EOL_NL, "\"a\nb\",c\nd\n",
	"<\"a^Jb\",c>+1<d>end NL"},
	{"CR in quotes of an NL file is not counted", '"', FC_EOL_NL,
	"\"a\rb\r\nc\"\n", "<\"a^Mb^M^Jc\">+1end NL"},
	{"CR in quotes of a CR file", '"', FC_EOL_CR, "\"a\rb\n\"\r",
	"<\"a^Mb^J\">+1end CR"},
	{"CRNL in quotes of a CRNL file counts once", '"', FC_EOL_CRNL,
	"\"a\r\nb\n\"\r\n", "<\"a^M^Jb^J\">+1end CRNL"},
	{"NL in quotes of the first record is not counted", '"', FC_EOL_UNKNOWN,
	"\"a\nb\"\n\"c\nd\"\n", "<\"a^Jb\"><\"c^Jd\">+1end NL"},
	{"CR in quotes of the first record is counted", '"', FC_EOL_UNKNOWN,
	"\"a\rb\"\n\"c\rd\"\n", "<\"a^Mb\">+1<\"c^Md\">end NL"},
	{"CR in quotes decides nothing", '"', FC_EOL_UNKNOWN, "\"\r\"\r\n",
	"<\"^M\">+1end CRNL"},
	{"quote in mid-field toggles", '"', FC_EOL_NL, "a\"b\nc\"d\ne\n",
	"<a\"b^Jc\"d>+1<e>end NL"},
	{"doubled quote", '"', FC_EOL_NL, "\"a\"\"\nb\"\nc\n",
	"<\"a\"\"^Jb\">+1<c>end NL"},
	{"backslash is no escape unless told", '"', FC_EOL_NL, "\"a\\\"\nb\n",
	"<\"a\\\"><b>end NL"},
	{"quote that never closes", '"', FC_EOL_NL, "a\n\"b\nc\n",
	"<a><\"b^Jc^J>+2!end NL"},
	{"quote as the last byte", '"', FC_EOL_NL, "a\nb\"", "<a><b\">!end NL"},
	{"closed quote at the end", '"', FC_EOL_NL, "\"a\"", "<\"a\">end NL"},

	{"escaped quote", '\\', FC_EOL_NL, "\"a\\\"\nb\"\nc\n",
	"<\"a\\\"^Jb\">+1<c>end NL"},
	{"escaped escape", '\\', FC_EOL_NL, "\"a\\\\\"\nb\n",
	"<\"a\\\\\"><b>end NL"},
	{"three escapes", '\\', FC_EOL_NL, "\"a\\\\\\\"\n\"\nb\n",
	"<\"a\\\\\\\"^J\">+1<b>end NL"},
	{"escape outside quotes is data", '\\', FC_EOL_NL, "a\\\"b\n\"\nc\n",
	"<a\\\"b^J\">+1<c>end NL"},
	{"escape before a quote that opens", '\\', FC_EOL_NL, "\\\"\n\"\n",
	"<\\\"^J\">+1end NL"},
	{"escaped line end is counted", '\\', FC_EOL_NL, "\"a\\\nb\"\n",
	"<\"a\\^Jb\">+1end NL"},
	{"escape of another byte", '\\', FC_EOL_NL, "\"\\a\"\nb\n",
	"<\"\\a\"><b>end NL"},
	{"doubled quote closes and opens", '\\', FC_EOL_NL, "\"\"\"\n\"\nb\n",
	"<\"\"\"^J\">+1<b>end NL"},
	{"escape as the last byte", '\\', FC_EOL_NL, "\"a\\", "<\"a\\>!end NL"},
};

static void
test_records(void)
{
	static Trace trace;

	for (size_t i = 0; i < lengthof(record_cases); i++)
	{
		const RecordCase *c = &record_cases[i];
		FcDialect	dialect = {',', '"', c->escape, c->eol};
		size_t		len = strlen(c->input);
		bool		same = true;

		trace_reset(&trace);
		trace_records(&trace, dialect, c->input, len, len, 1);
		is(trace.text, c->expected, c->name);

		for (size_t first = 0; first <= len && same; first++)
			for (size_t step = 1; step <= len && same; step++)
			{
				trace_reset(&trace);
				trace_records(&trace, dialect, c->input, len, first, step);
				same = strcmp(trace.text, c->expected) == 0;
			}
		if (same)
			ok(true, "  the same in pieces");
		else
			is(trace.text, c->expected, "  the same in pieces");
	}
}

typedef struct RunCase
{
	const char *name;
	char		escape;
	FcEol		eol;
	FcQuote		start;
	const char *input;
	FcQuoteRun	expected;
} RunCase;

#define NONE FC_NOWHERE

static const RunCase run_cases[] = {
	{"nothing", '"', FC_EOL_NL, FC_OUTSIDE, "",
	{FC_OUTSIDE, 0, 0, 0, NONE, 0, NONE}},
	{"no line end", '"', FC_EOL_NL, FC_OUTSIDE, "abc",
	{FC_OUTSIDE, 3, 0, 0, NONE, 0, NONE}},
	{"two records", '"', FC_EOL_NL, FC_OUTSIDE, "a\nbc\nd",
	{FC_OUTSIDE, 6, 2, 0, 2, 0, 5}},
	{"the same in quotes", '"', FC_EOL_NL, FC_INSIDE, "a\nbc\nd",
	{FC_INSIDE, 6, 0, 2, NONE, 0, NONE}},
	{"quote closes", '"', FC_EOL_NL, FC_INSIDE, "a\nb\"c\nd\n",
	{FC_OUTSIDE, 8, 2, 1, 6, 1, 8}},
	{"embedded before and behind", '"', FC_EOL_NL, FC_OUTSIDE,
		"\"\n\n\"\n\"\n\"\na",
	{FC_OUTSIDE, 10, 2, 3, 5, 2, 9}},
	{"ends in quotes", '"', FC_EOL_NL, FC_OUTSIDE, "a\n\"b",
	{FC_INSIDE, 4, 1, 0, 2, 0, 2}},
	{"CR file", '"', FC_EOL_CR, FC_OUTSIDE, "a\r\n\"\r\n\"\r",
	{FC_OUTSIDE, 8, 2, 1, 2, 0, 8}},
	{"CRNL file", '"', FC_EOL_CRNL, FC_OUTSIDE, "a\r\n\"\r\n\n\"\r\n",
	{FC_OUTSIDE, 10, 2, 1, 3, 0, 10}},
	{"CRNL cut in two", '"', FC_EOL_CRNL, FC_OUTSIDE, "\nb\r",
	{FC_OUTSIDE, 3, 1, 0, 1, 0, 1}},
	{"escape", '\\', FC_EOL_NL, FC_OUTSIDE, "\"\\\"\n\\\\\"\na\\",
	{FC_OUTSIDE, 10, 1, 1, 8, 1, 8}},
	{"escape from inside", '\\', FC_EOL_NL, FC_INSIDE, "\\\"\n\"\n",
	{FC_OUTSIDE, 5, 1, 1, 5, 1, 5}},
	{"escaped quote", '\\', FC_EOL_NL, FC_ESCAPED, "\"\n\"\n",
	{FC_OUTSIDE, 4, 1, 1, 4, 1, 4}},
	{"escaped escape", '\\', FC_EOL_NL, FC_ESCAPED, "\\\"\n",
	{FC_OUTSIDE, 3, 1, 0, 3, 0, 3}},
	{"escaped line end", '\\', FC_EOL_NL, FC_ESCAPED, "\n\\",
	{FC_ESCAPED, 2, 0, 1, NONE, 0, NONE}},
	{"escape as the last byte", '\\', FC_EOL_NL, FC_OUTSIDE, "\"\\\\\\",
	{FC_ESCAPED, 4, 0, 0, NONE, 0, NONE}},
	{"escape as the last byte, outside", '\\', FC_EOL_NL, FC_OUTSIDE, "a\\",
	{FC_OUTSIDE, 2, 0, 0, NONE, 0, NONE}},
};

/* Adds the run's books, with all positions moved back by shift. */
static void
trace_run(Trace *trace, const FcQuoteRun *run, size_t shift)
{
	trace_add(trace, "state %d fed %d records %d embedded %d before %d",
			  run->state, (int) (run->fed - shift), (int) run->records,
			  (int) run->embedded, (int) run->before);
	if (run->first != FC_NOWHERE)
		trace_add(trace, " first %d", (int) (run->first - shift));
	if (run->last != FC_NOWHERE)
		trace_add(trace, " last %d", (int) (run->last - shift));
}

static void
feed_exact(const FcDialect *dialect, FcQuoteRun *run, const char *data, size_t len)
{
	char	   *piece = exact_copy(data, len);

	fc_quote_run_feed(dialect, run, piece, len);
	free(piece);
}

/*
 * Runs over "shift" dull bytes and the case's input, fed in pieces of "step"
 * bytes; the dull bytes move the input over all places of a block.
 */
static bool
run_gives(const RunCase *c, size_t shift, size_t step, const char *expected,
		  Trace *trace)
{
	FcDialect	dialect = {',', '"', c->escape, c->eol};
	char		bytes[256];
	size_t		len = shift + strlen(c->input);
	FcQuoteRun	run;

	memset(bytes, 'x', shift);
	memcpy(bytes + shift, c->input, len - shift);
	fc_quote_run_init(&run, c->start);
	for (size_t at = 0; at < len; at += step)
		feed_exact(&dialect, &run, bytes + at,
				   step < len - at ? step : len - at);
	trace_reset(trace);
	trace_run(trace, &run, shift);
	return strcmp(trace->text, expected) == 0;
}

static void
test_runs(void)
{
	static Trace expected;
	static Trace trace;

	for (size_t i = 0; i < lengthof(run_cases); i++)
	{
		const RunCase *c = &run_cases[i];

		/* an escaped byte must be the first one */
		size_t		shifts = c->start == FC_ESCAPED ? 0 : 140;
		bool		same = true;

		trace_reset(&expected);
		trace_run(&expected, &c->expected, 0);
		for (size_t shift = 0; shift <= shifts && same; shift++)
			for (size_t step = 1; step < 200 && same; step += step / 8 + 1)
				same = run_gives(c, shift, step, expected.text, &trace);
		if (same)
			ok(true, c->name);
		else
			is(trace.text, expected.text, c->name);
	}
}

typedef struct FieldCase
{
	const char *name;
	char		delim;
	char		quote;
	char		escape;
	const char *null_string;
	const char *input;
	const char *expected;		/* (value) or null, one after another */
} FieldCase;

static const FieldCase field_cases[] = {
	{"plain", ',', '"', '"', "", "a,bc,d", "(a)(bc)(d)"},
	{"empty record, empty null string", ',', '"', '"', "", "", "null"},
	{"empty record, other null string", ',', '"', '"', "NA", "", "()"},
	{"delimiter last", ',', '"', '"', "NA", "a,", "(a)()"},
	{"only delimiters", ',', '"', '"', "", ",,", "nullnullnull"},
	{"spaces stay", ',', '"', '"', "", " a , \" b \" ", "( a )(  b  )"},
	{"quoted empty is not null", ',', '"', '"', "", "\"\",,\"\"",
	"()null()"},
	{"null string", ',', '"', '"', "NA", "NA,\"NA\",NAN,N,na",
	"null(NA)(NAN)(N)(na)"},
	{"null string partly quoted", ',', '"', '"', "NA", "N\"A\",NA\"\"",
	"(NA)(NA)"},
	{"null string with a blank", ',', '"', '"', "NA", " NA,NA ,NA",
	"( NA)(NA )null"},
	{"quoted field that looks like the null string", ',', '"', '"', "\"a\"",
	"\"a\",a", "(a)(a)"},
	{"backslash N as null", ',', '"', '"', "\\N", "\\N,\\\\N", "null(\\\\N)"},
	{"quoted delimiter", ',', '"', '"', "", "\"a,b\",c", "(a,b)(c)"},
	{"doubled quote", ',', '"', '"', "", "\"a\"\"b\",\"\"\"\"",
	"(a\"b)(\")"},
	{"quote in mid-field", ',', '"', '"', "", "a\"b,c\"d,e", "(ab,cd)(e)"},
	{"two quoted parts", ',', '"', '"', "", "\"a,\"b\",c\",d", "(a,b,c)(d)"},
	{"doubled quote outside", ',', '"', '"', "", "a\"\"b,\"\"\"\"\"\"",
	"(ab)(\"\")"},
	{"line ends in quotes", ',', '"', '"', "", "\"a\nb\r\",c", "(a^Jb^M)(c)"},
	{"backslashes are data", ',', '"', '"', "", "\\,\"\\\",\\.",
	"(\\)(\\)(\\.)"},
	{"never closes", ',', '"', '"', "", "a,\"b", "unterminated"},
	{"never closes, last byte", ',', '"', '"', "", "a,b\"", "unterminated"},
	{"never closes, doubled", ',', '"', '"', "", "\"a\"\"", "unterminated"},

	{"escaped quote", ',', '"', '\\', "", "\"a\\\"b\",c", "(a\"b)(c)"},
	{"escaped escape", ',', '"', '\\', "", "\"a\\\\\",c", "(a\\)(c)"},
	{"escape of another byte stays", ',', '"', '\\', "", "\"\\n\\,\",c",
	"(\\n\\,)(c)"},
	{"escape outside quotes is data", ',', '"', '\\', "", "\\\\,\\\"a,\"b,c",
	"(\\\\)(\\a,b)(c)"},
	{"doubled quote closes and opens", ',', '"', '\\', "",
	"\"a\"\"b\",\"\"", "(ab)()"},
	{"escape before the end", ',', '"', '\\', "", "\"a\\", "unterminated"},
	{"escaped quote at the end", ',', '"', '\\', "", "\"a\\\"",
	"unterminated"},
	{"escapes before a closing quote", ',', '"', '\\', "",
	"\"\\\\\\\\\",\"\\\\\\\"\"", "(\\\\)(\\\")"},

	{"other delimiter and quote", ';', '\'', '\'', "", "a,b;'c;''d';\"e",
	"(a,b)(c;'d)(\"e)"},
	{"tab", '\t', '"', '"', "", "a\t\"b\tc\"\t", "(a)(b\tc)null"},
	{"escape equal to the delimiter", ',', '"', ',', "", "a,\"b,\"c\",d",
	"(a)(b\"c)(d)"},
	{"high bytes", ',', '"', '"', "", "\xc3\xa9,\"\xff\"", "(\xc3\xa9)(\xff)"},
	{"longer than a register", ',', '"', '"', "NULL",
		"0123456789abcdef0123456789abcdef,\"0123456789abcdef,\"\"012345678\""
		",NULL,0123456789abcde,0123456789abcdef",
		"(0123456789abcdef0123456789abcdef)(0123456789abcdef,\"012345678)"
	"null(0123456789abcde)(0123456789abcdef)"},
};

static void
trace_field(Trace *trace, const FcField *field)
{
	if (field->null)
		trace_add(trace, "null");
	else
	{
		trace_add(trace, "(");
		trace_bytes(trace, field->data, field->len);
		trace_add(trace, "%s", field->data[field->len] == '\0' ? ")" : "?");
	}
}

/* Cuts a copy of rec with room for max fields and traces them. */
static int
trace_fields(Trace *trace, const FcDialect *dialect, const char *rec,
			 size_t len, int max)
{
	char	   *copy = exact_copy(rec, len + 1);
	FcField		fields[64];
	int			n = fc_fields_cut(dialect, copy, len, fields, max);

	if (n < 0)
		trace_add(trace, "unterminated");
	for (int i = 0; i < n && i < max; i++)
		trace_field(trace, &fields[i]);
	free(copy);
	return n;
}

/*
 * Cuts the fields one at a time, each from a fresh copy, and traces them.
 * Adds "(touched)" if a byte changed that is not the field's.
 */
static void
trace_single_fields(Trace *trace, const FcDialect *dialect, const char *rec,
					size_t len)
{
	for (int i = 0;; i++)
	{
		char	   *copy = exact_copy(rec, len + 1);
		char	   *other = exact_copy(rec, len + 1);
		FcField		field;
		FcField		next;
		bool		found = fc_field_at(dialect, copy, len, i, &field);

		if (found)
		{
			size_t		start = field.data - copy;
			size_t		behind = len + 1;

			if (fc_field_at(dialect, other, len, i + 1, &next))
				behind = next.data - other;
			trace_field(trace, &field);
			if (memcmp(copy, rec, start) != 0 ||
				memcmp(copy + behind, rec + behind, len + 1 - behind) != 0)
				trace_add(trace, "(touched)");
		}
		free(copy);
		free(other);
		if (!found)
			return;
	}
}

static void
test_fields(void)
{
	static Trace trace;

	for (size_t i = 0; i < lengthof(field_cases); i++)
	{
		const FieldCase *c = &field_cases[i];
		FcDialect	dialect = {c->delim, c->quote, c->escape, FC_EOL_NL,
		c->null_string, strlen(c->null_string)};
		size_t		len = strlen(c->input);

		trace_reset(&trace);
		trace_fields(&trace, &dialect, c->input, len, 64);
		is(trace.text, c->expected, c->name);

		if (strcmp(c->expected, "unterminated") != 0)
		{
			trace_reset(&trace);
			trace_single_fields(&trace, &dialect, c->input, len);
			is(trace.text, c->expected, "  the same one by one");
		}
	}
}

static void
test_field_limits(void)
{
	static Trace trace;
	FcDialect	dialect = {',', '"', '"', FC_EOL_NL};
	FcField		field;
	char		rec[] = "a,b,\"c";
	char		four[] = "a,\"b\",c,d";
	FcField		fields[3] = {{NULL}};

	trace_reset(&trace);
	ok(trace_fields(&trace, &dialect, "a,\"b\",c,d", 9, 2) == 4,
	   "four fields are counted where two have room");
	is(trace.text, "(a)(b)", "two of four fields are stored");
	fc_fields_cut(&dialect, four, strlen(four), fields, 2);
	ok(fields[1].data != NULL && fields[2].data == NULL,
	   "no field is stored beyond the room");
	ok(trace_fields(&trace, &dialect, "a,b", 3, 0) == 2,
	   "fields are counted without any room");
	ok(trace_fields(&trace, &dialect, "a,b,\"c", 6, 1) == -1,
	   "a quote that never closes is found beyond the room");

	ok(fc_field_at(&dialect, rec, 6, 1, &field),
	   "a field before a quote that never closes is found");
	ok(!fc_field_at(&dialect, rec, 6, 2, &field),
	   "the field of a quote that never closes is not");
	ok(!fc_field_at(&dialect, rec, 6, 3, &field),
	   "nor is one behind it");
}

/*
 * The grammar one byte at a time: what a run over data[0..len) must find.
 */
static void
slow_run(const FcDialect *dialect, FcQuoteRun *run, const char *data, size_t len)
{
	char		ends = dialect->eol == FC_EOL_CR ? '\r' : '\n';
	char		counted = dialect->eol == FC_EOL_NL ? '\n' : '\r';
	bool		in_quotes = run->state != FC_OUTSIDE;
	bool		escaped = run->state == FC_ESCAPED;

	for (size_t i = 0; i < len; i++)
	{
		char		c = data[i];

		if (escaped)
			escaped = false;
		else if (in_quotes && c == dialect->escape && c != dialect->quote)
			escaped = true;
		else if (c == dialect->quote)
			in_quotes = !in_quotes;

		run->fed++;
		if (in_quotes && c == counted)
			run->embedded++;
		if (!in_quotes && c == ends)
		{
			if (run->records++ == 0)
			{
				run->first = run->fed;
				run->before = run->embedded;
			}
			run->last = run->fed;
		}
	}
	run->state = escaped ? FC_ESCAPED : in_quotes ? FC_INSIDE : FC_OUTSIDE;
}

static const char special[] = "\"\"\"\\\\\n\r,";

static void
test_random_runs(void)
{
	static Trace got;
	static Trace expected;
	uint64_t	seed = UINT64_C(20240229);
	char		data[300];

	trace_reset(&got);
	trace_reset(&expected);
	for (int round = 0; round < 20000; round++)
	{
		bool		escape = made_up(&seed, 2) == 1;
		FcDialect	dialect = {',', '"', escape ? '\\' : '"',
		(FcEol) (FC_EOL_NL + made_up(&seed, 3))};
		FcQuote		start = (FcQuote) made_up(&seed, escape ? 3 : 2);
		size_t		len = made_up(&seed, sizeof(data));
		size_t		cut = made_up(&seed, (unsigned int) len + 1);
		FcQuoteRun	run;
		FcQuoteRun	slow;

		make_bytes(&seed, data, len, special, lengthof(special) - 1,
				   made_up(&seed, 3) * 40);
		fc_quote_run_init(&run, start);
		feed_exact(&dialect, &run, data, cut);
		feed_exact(&dialect, &run, data + cut, len - cut);
		fc_quote_run_init(&slow, start);
		slow_run(&dialect, &slow, data, len);

		trace_reset(&got);
		trace_run(&got, &run, 0);
		trace_reset(&expected);
		trace_run(&expected, &slow, 0);
		if (strcmp(got.text, expected.text) != 0)
			break;
	}
	is(got.text, expected.text, "20000 random runs, as byte by byte");
}

/*
 * The fields of a record one byte at a time, traced as trace_fields does.
 */
static void
slow_fields(Trace *trace, const FcDialect *dialect, const char *rec,
			size_t len, const char *null_string)
{
	size_t		i = 0;
	bool		more = true;

	while (more)
	{
		size_t		start = i;
		bool		in_quotes = false;
		bool		quoted = false;
		size_t		n = 0;
		char		value[512];

		for (; i < len && (in_quotes || rec[i] != dialect->delim); i++)
		{
			char		c = rec[i];
			bool		pair = in_quotes && c == dialect->escape &&
				i + 1 < len &&
				(rec[i + 1] == dialect->quote || rec[i + 1] == dialect->escape);

			if (pair)
				value[n++] = rec[++i];
			else if (c == dialect->quote)
			{
				in_quotes = !in_quotes;
				quoted = true;
			}
			else
				value[n++] = c;
		}
		if (in_quotes)
		{
			trace_reset(trace);
			trace_add(trace, "unterminated");
			return;
		}
		if (!quoted && n == strlen(null_string) &&
			memcmp(rec + start, null_string, n) == 0)
			trace_add(trace, "null");
		else
		{
			trace_add(trace, "(");
			trace_bytes(trace, value, n);
			trace_add(trace, ")");
		}
		more = i < len;
		i++;
	}
}

static void
test_random_fields(void)
{
	static Trace got;
	static Trace expected;
	uint64_t	seed = UINT64_C(19960708);
	char		data[121];

	for (int round = 0; round < 20000; round++)
	{
		FcDialect	dialect = {',', '"', made_up(&seed, 2) ? '\\' : '"',
		FC_EOL_NL};
		size_t		len = made_up(&seed, 60 * (1 + made_up(&seed, 2)));
		const char *null_string = made_up(&seed, 2) ? "" : "a";

		dialect.null_string = null_string;
		dialect.null_len = strlen(null_string);
		make_bytes(&seed, data, len, special, lengthof(special) - 1,
				   made_up(&seed, 3) * 10);
		data[len] = 'z';
		trace_reset(&expected);
		slow_fields(&expected, &dialect, data, len, null_string);

		/* at most 120 delimiters, so a record may exceed the room of 64 */
		trace_reset(&got);
		if (trace_fields(&got, &dialect, data, len, 64) > 64)
			continue;
		if (strcmp(got.text, expected.text) != 0)
			break;
		if (strcmp(expected.text, "unterminated") == 0)
			continue;
		trace_reset(&got);
		trace_single_fields(&got, &dialect, data, len);
		if (strcmp(got.text, expected.text) != 0)
			break;
	}
	is(got.text, expected.text, "20000 random records, as byte by byte");
}

/*
 * Record ends and runs must agree about every file that has no wrong line end.
 */
static void
test_ends_agree_with_runs(void)
{
	uint64_t	seed = UINT64_C(5771);
	char		data[200];
	int			compared = 0;
	int			differ = 0;

	for (int round = 0; round < 20000; round++)
	{
		FcDialect	dialect = {',', '"', made_up(&seed, 2) ? '\\' : '"',
		(FcEol) (FC_EOL_NL + made_up(&seed, 3))};
		size_t		len = made_up(&seed, sizeof(data));
		size_t		start = 0;
		uint64_t	records = 0;
		uint64_t	embedded = 0;
		FcEnd		end;
		FcQuoteRun	run;

		make_bytes(&seed, data, len, special, lengthof(special) - 1,
				   30);
		for (;;)
		{
			FcScan		scan = {0};

			end = fc_record_end(&dialect, &scan, data + start, len - start,
								true);
			if (end != FC_END_FOUND)
				break;
			embedded += scan.embedded;
			start += scan.total;
			if (scan.total > scan.content)
				records++;
		}
		if (end != FC_END_NONE)
			continue;
		compared++;
		fc_quote_run_init(&run, FC_OUTSIDE);
		fc_quote_run_feed(&dialect, &run, data, len);
		if (run.records != records || run.embedded != embedded)
			differ++;
	}
	ok(compared > 1000, "more than a thousand random files are valid");
	ok(differ == 0, "record ends and runs agree about them");
}

/* What a record is as a whole depends on no byte around it. */
static void
test_whole_records(void)
{
	static const char bytes[] = "a \t\r\n";
	const FcDialect csv = {','};
	const FcDialect json = {.json = true};
	bool		right = true;

	for (int number = 0; number < 5 * 5 * 5 * 5 * 5 && right; number++)
		for (size_t len = 0; len <= 3 && right; len++)
		{
			char		around[5];
			const char *rec = around + 1;
			bool		open = false;
			bool		blank = true;

			for (int i = 0, rest = number; i < 5; i++, rest /= 5)
				around[i] = bytes[rest % 5];
			for (size_t i = 0; i < len; i++)
			{
				open |= rec[i] == '\n' || (rec[i] == '\r' && i + 1 < len);
				blank &= rec[i] != 'a' && rec[i] != '\n';
			}
			right = fc_record_is_open(rec, len) == open &&
				fc_record_is_empty(&json, rec, len) == blank &&
				fc_record_is_empty(&csv, rec, len) == (len == 0);
		}
	ok(right, "records with line ends, and empty ones");
}

int
main(void)
{
	test_whole_records();
	for (int i = 0; i < FC_MASK_KERNELS; i++)
	{
		if (fc_mask_number(i) == NULL)
			continue;
		fc_mask_kernel = fc_mask_number(i);
		printf("# kernel %s\n", fc_mask_kernel->name);
		test_records();
		test_runs();
		test_fields();
		test_field_limits();
		test_random_runs();
		test_random_fields();
		test_ends_agree_with_runs();
	}
	return done_testing();
}
