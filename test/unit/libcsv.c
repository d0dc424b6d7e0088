/*-------------------------------------------------------------------------
 *
 * libcsv.c
 *	  libcsv as a second, independent referee of the record grammar.
 *
 * Both read the same bytes, and their traces must be equal.  Literal inputs
 * come with the trace that both must give; random ones are made within the
 * dialect that the two share.  The dialects differ in this, so that none of it
 * occurs in what is compared:
 *
 *	- libcsv strips spaces and tabs around unquoted fields; here it is told
 *	  that there are no space characters;
 *	- it skips empty lines, which are records of one empty field to COPY;
 *	- it has no ESCAPE but the doubled quote;
 *	- it cannot tell "NA" from NA: it has no null string; it gives NULL for an
 *	  empty field without quotes if told, so the null string is empty here;
 *	- a quote inside an unquoted field, or a byte behind a closing quote, is
 *	  an error when strict and goes other ways than COPY's when not;
 *	- any mix of '\r' and '\n' ends a line, where COPY wants one style.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/field.h"
#include "grammar/record.h"
#include "tap.h"

#include <csv.h>

static void
referee_field(void *data, size_t len, void *trace)
{
	if (data == NULL)
		trace_add(trace, "null");
	else
	{
		trace_add(trace, "(");
		trace_bytes(trace, data, len);
		trace_add(trace, ")");
	}
}

static void
referee_record(int end, void *trace)
{
	(void) end;
	trace_add(trace, ";");
}

static int
no_space(unsigned char c)
{
	(void) c;
	return 0;
}

/* Traces the records of data as libcsv sees them. */
static void
trace_referee(Trace *trace, char delim, char quote, const char *data,
			  size_t len)
{
	struct csv_parser parser;

	if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI |
				 CSV_EMPTY_IS_NULL) != 0)
		abort();
	csv_set_space_func(&parser, no_space);
	csv_set_delim(&parser, delim);
	csv_set_quote(&parser, quote);
	if (csv_parse(&parser, data, len, referee_field, referee_record,
				  trace) != len ||
		csv_fini(&parser, referee_field, referee_record, trace) != 0)
		trace_add(trace, " %s", csv_strerror(csv_error(&parser)));
	csv_free(&parser);
}

/* Traces the records of data as the grammar sees them. */
static void
trace_grammar(Trace *trace, char delim, char quote, const char *data,
			  size_t len)
{
	FcDialect	dialect = {delim, quote, quote, FC_EOL_UNKNOWN};
	FcScan		scan = {0};
	FcEnd		end;

	while ((end = fc_record_end(&dialect, &scan, data, len, true)) ==
		   FC_END_FOUND)
	{
		/* one byte more than the record: the fields' last NUL */
		char	   *rec = malloc(scan.content + 1);
		FcField		fields[64];
		int			n;

		if (rec == NULL)
			abort();
		memcpy(rec, data, scan.content);
		n = fc_fields_cut(&dialect, rec, scan.content, fields,
						  lengthof(fields));
		for (int i = 0; i < n && i < (int) lengthof(fields); i++)
			referee_field(fields[i].null ? NULL : fields[i].data,
						  fields[i].len, trace);
		trace_add(trace, "%s", n < 0 ? " unterminated" : ";");
		free(rec);
		data += scan.total;
		len -= scan.total;
		memset(&scan, 0, sizeof(scan));
	}
	if (end != FC_END_NONE)
		trace_add(trace, " error %d", end);
}

typedef struct SharedCase
{
	const char *name;
	char		delim;
	char		quote;
	const char *input;
	const char *expected;
} SharedCase;

static const SharedCase shared_cases[] = {
	{"empty file", ',', '"', "", ""},
	{"NL", ',', '"', "a,b\nc,d\n", "(a)(b);(c)(d);"},
	{"CR", ',', '"', "a,b\rc,d\r", "(a)(b);(c)(d);"},
	{"CRNL", ',', '"', "a,b\r\nc,d\r\n", "(a)(b);(c)(d);"},
	{"no line end at the end", ',', '"', "a,b\nc,d", "(a)(b);(c)(d);"},
	{"delimiter at the end", ',', '"', "a,b\nc,", "(a)(b);(c)null;"},
	{"empty fields", ',', '"', ",,\n\"\",,\"\"\n", "nullnullnull;()null();"},
	{"spaces stay", ',', '"', " a ,\" b \"\n", "( a )( b );"},
	{"delimiter in quotes", ',', '"', "\"a,b\",c\n", "(a,b)(c);"},
	{"quote in quotes", ',', '"', "\"a\"\"b\",\"\"\"\"\n", "(a\"b)(\");"},
	{"line ends in quotes", ',', '"', "\"a\nb\",\"\r\n\"\n\"\r\",c\n",
	"(a^Jb)(^M^J);(^M)(c);"},
	{"backslashes", ',', '"', "\\,\"\\\"\n\\.\n", "(\\)(\\);(\\.);"},
	{"other delimiter and quote", ';', '\'', "a,b;'c;''d'\n\"e;\n",
	"(a,b)(c;'d);(\"e)null;"},
};

static void
test_literal(void)
{
	static Trace trace;

	for (size_t i = 0; i < lengthof(shared_cases); i++)
	{
		const SharedCase *c = &shared_cases[i];
		size_t		len = strlen(c->input);

		trace_reset(&trace);
		trace_grammar(&trace, c->delim, c->quote, c->input, len);
		is(trace.text, c->expected, c->name);
		trace_reset(&trace);
		trace_referee(&trace, c->delim, c->quote, c->input, len);
		is(trace.text, c->expected, "  and so says libcsv");
	}
}

/* Appends a field of the shared dialect.  Returns its end. */
static char *
make_field(uint64_t *seed, char *out)
{
	static const char plain[] = "abcxyz019 \t'\\.;-";
	static const char any[] = "abc ,,\n\r'\\.\"\"";
	unsigned int len = made_up(seed, made_up(seed, 8) == 0 ? 100 : 10);

	if (made_up(seed, 2) == 0)
	{
		for (; len > 0; len--)
			*out++ = plain[made_up(seed, sizeof(plain) - 1)];
		return out;
	}
	*out++ = '"';
	for (; len > 0; len--)
	{
		char		c = any[made_up(seed, sizeof(any) - 1)];

		if (c == '"')
			*out++ = '"';
		*out++ = c;
	}
	*out++ = '"';
	return out;
}

/*
 * Writes a random file of up to 6 records of 2 to 6 fields; two, so that no
 * line is empty.  Returns its length.
 */
static size_t
make_file(uint64_t *seed, char *data)
{
	static const char *const ends[] = {"\n", "\r", "\r\n"};
	const char *end = ends[made_up(seed, lengthof(ends))];
	char	   *out = data;

	for (unsigned int records = made_up(seed, 7); records > 0; records--)
	{
		unsigned int fields = 2 + made_up(seed, 5);

		while (fields-- > 0)
		{
			out = make_field(seed, out);
			if (fields > 0)
				*out++ = ',';
		}
		if (records == 1 && made_up(seed, 4) == 0)
			break;				/* the last line end may be missing */
		memcpy(out, end, strlen(end));
		out += strlen(end);
	}
	return out - data;
}

static void
test_random(void)
{
	static Trace grammar;
	static Trace referee;
	static char file[6 * 6 * 210];
	uint64_t	seed = UINT64_C(19700101);

	for (int round = 0; round < 20000; round++)
	{
		size_t		len = make_file(&seed, file);
		char	   *data = exact_copy(file, len);

		trace_reset(&grammar);
		trace_grammar(&grammar, ',', '"', data, len);
		trace_reset(&referee);
		trace_referee(&referee, ',', '"', data, len);
		free(data);
		if (strcmp(grammar.text, referee.text) != 0)
			break;
	}
	is(grammar.text, referee.text, "20000 random files, as libcsv reads them");
}

int
main(void)
{
	test_literal();
	test_random();
	return done_testing();
}
