/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Tests of the record grammar's part for COPY's text format.
 *
 * Literal inputs give literal traces: files of records, chunks cut anywhere,
 * and records of fields.  Made-up files of either format must be read as
 * slow.h reads them.
 *
 *-------------------------------------------------------------------------
 */
#include "agree.h"

typedef struct FileCase
{
	const char *name;
	bool		lone_marker;
	FcEol		eol;
	const char *input;
	const char *expected;		/* <content>, then what ended it, then style */
	const char *expected_chunks;	/* offset/line of each record, marker */
} FileCase;

static const FileCase file_cases[] = {
	{"plain records", false, FC_EOL_NL, "a\nb\\n\n\nc", "<a><b\\n><><c>end NL",
	"0/0 2/1 6/2 7/3 x4"},
	{"escaped line ends", false, FC_EOL_NL, "a\\\nb\\\r\nc\\\\\nd\n",
	"<a\\^Jb\\^M><c\\\\><d>end NL", "0/0 7/1 11/2 x3"},
	{"quotes are data", false, FC_EOL_NL, "\"a\n\"\n", "<\"a><\">end NL",
	"0/0 3/1 x2"},
	{"CR decides", false, FC_EOL_UNKNOWN, "a\\\r\r\\\n\r", "<a\\^M><\\^J>end CR",
	NULL},
	{"escaped CR NL", false, FC_EOL_CRNL, "a\r\nb\\\r\nc\r\n", "<a>nl@3 CRNL",
	NULL},
	{"CR in an NL file", false, FC_EOL_NL, "a\nbc\r", "<a>cr@2 NL", NULL},
	{"backslash at the end", false, FC_EOL_NL, "a\nb\\", "<a><b\\>end NL",
	"0/0 2/1 x2"},
	{"only a backslash", false, FC_EOL_UNKNOWN, "\\", "<\\>end ?", NULL},

	{"marker", false, FC_EOL_NL, "a\n\\.\nb\n", "<a>marker NL",
	"0/0 2/1 5/2 x3 marker 2"},
	{"marker first", false, FC_EOL_NL, "\\.\nb\n", "marker NL",
	"0/0 3/1 x2 marker 0"},
	{"marker first, style unknown", false, FC_EOL_UNKNOWN, "\\.\r\nb\n",
	"marker ?", NULL},
	{"marker CRNL", true, FC_EOL_CRNL, "a\r\n\\.\r\nb", "<a>marker CRNL",
	"0/0 3/1 7/2 x3 marker 3"},
	{"marker CR", true, FC_EOL_CR, "a\r\\.\rb", "<a>marker CR",
	"0/0 2/1 5/2 x3 marker 2"},
	{"marker without a line end", false, FC_EOL_NL, "a\n\\.", "<a>corrupt@0 NL",
	"0/0 2/1 x2"},
	{"marker with CR alone", false, FC_EOL_CRNL, "\\.\r", "corrupt@0 CRNL",
	"0/0 x1"},
	{"corrupt marker", false, FC_EOL_NL, "\\..\n", "corrupt@0 NL",
	"0/0 x1"},
	{"marker of another style", false, FC_EOL_NL, "\\.\r\n", "style@0 NL",
	"0/0 x1"},
	{"NL marker, CRNL file", false, FC_EOL_CRNL, "\\.\n", "style@0 CRNL",
	"0/0 x1"},
	{"CR CR marker, CRNL file", false, FC_EOL_CRNL, "\\.\r\r", "style@0 CRNL",
	"0/0 x1"},
	{"escaped marker", false, FC_EOL_NL, "\\\\.\n", "<\\\\.>end NL", "0/0 x1"},
	{"marker behind data", false, FC_EOL_NL, "a\\.\nb\n", "<a><b>end NL",
	"0/0 4/1 x2"},
	{"marker behind data, newest", true, FC_EOL_NL, "a\\.\nb\n", "corrupt@1 NL",
	"0/0 4/1 x2"},
	{"marker behind data, newest, unknown", true, FC_EOL_UNKNOWN, "a\\.\r\n",
	"corrupt@1 CR", NULL},
	{"marker behind data leaves the style open", false, FC_EOL_UNKNOWN,
	"a\\.\nb\r\n", "<a><b>end CRNL", NULL},
	{"corrupt marker behind data", false, FC_EOL_NL, "ab\\.c\n", "corrupt@2 NL",
	"0/0 x1"},
	{"marker behind an escaped line end", false, FC_EOL_NL, "\\\n\\.\nb\n",
	"<\\^J><b>end NL", "0/0 5/1 x2"},
	{"the same, where a chunk of 7 begins with that line end", false, FC_EOL_NL,
		"abcdef\\\n\\.\nb\n", "<abcdef\\^J><b>end NL", "0/0 11/1 x2"},
	{"record that begins with a backslash", false, FC_EOL_NL,
	"\\N\n\\.\n\\N\n", "<\\N>marker NL", "0/0 3/1 6/2 x3 marker 3"},
};

/* As COPY reads CSV before PostgreSQL 18 */
static const FileCase csv_cases[] = {
	{"csv: marker", false, FC_EOL_NL, "a\n\\.\nb\n", "<a>marker NL",
	"0/0 2/1 5/2 x3 marker 2"},
	{"csv: marker first", false, FC_EOL_NL, "\\.\nb\n", "marker NL",
	"0/0 3/1 x2 marker 0"},
	{"csv: marker first, style unknown", false, FC_EOL_UNKNOWN, "\\.\r\nb\n",
	"marker ?", NULL},
	{"csv: marker CRNL", false, FC_EOL_CRNL, "a\r\n\\.\r\nb", "<a>marker CRNL",
	"0/0 3/1 7/2 x3 marker 3"},
	{"csv: marker CR", false, FC_EOL_CR, "a\r\\.\rb", "<a>marker CR",
	"0/0 2/1 5/2 x3 marker 2"},
	{"csv: two markers", false, FC_EOL_NL, "a\n\\.\n\\.\n", "<a>marker NL",
	"0/0 2/1 5/2 x3 marker 2"},
	{"csv: a marker without a line end is data", false, FC_EOL_NL, "a\n\\.",
	"<a><\\.>end NL", "0/0 2/1 x2"},
	{"csv: the same, style unknown", false, FC_EOL_UNKNOWN, "\\.",
	"<\\.>end ?", NULL},
	{"csv: backslashes", false, FC_EOL_NL, "\\\n\\\\.\n\\.x\n.\n\\..\n\\",
		"<\\><\\\\.><\\.x><.><\\..><\\>end NL",
	"0/0 2/1 6/2 10/3 12/4 16/5 x6"},
	{"csv: data before a marker, and after others", false, FC_EOL_NL,
		"\\.x\na\\.\n,\\.\n\\.\n\\.y\n", "<\\.x><a\\.><,\\.>marker NL",
	"0/0 4/1 8/2 12/3 15/4 x5 marker 12"},
	{"csv: marker in quotes", false, FC_EOL_NL,
		"\"\n\\.\n\"\n\\.\n", "<\"^J\\.^J\">marker NL",
	"0/0 7/3 x2 marker 7"},
	{"csv: quoted marker", false, FC_EOL_NL, "\"\\.\"\nb\n",
	"<\"\\.\"><b>end NL", "0/0 5/1 x2"},
	{"csv: marker of another style", false, FC_EOL_NL, "a\n\\.\r\n",
	"<a>style@0 NL", "0/0 2/1 x2"},
	{"csv: NL marker, CR file", false, FC_EOL_CR, "a\r\\.\n", "<a>style@0 CR",
	"0/0 2/1 x2"},
	{"csv: NL marker, CRNL file", false, FC_EOL_CRNL, "\\.\n", "nl@2 CRNL",
	"0/0 x1"},
	{"csv: CR CR marker, CRNL file", false, FC_EOL_CRNL, "\\.\r\r",
	"style@0 CRNL", "0/0 x1"},
	{"csv: marker with CR alone, CRNL file", false, FC_EOL_CRNL, "\\.\r",
	"cr@2 CRNL", "0/0 x1"},
};

static const char *const eol_names[] = {"?", "NL", "CR", "CRNL"};

static void
trace_end(Trace *trace, FcEnd end, size_t at)
{
	if (end == FC_END_NONE)
		trace_add(trace, "end");
	else if (end == FC_END_MARKER)
		trace_add(trace, "marker");
	else
		trace_add(trace, "%s@%d",
				  end == FC_END_BARE_CR ? "cr" : end == FC_END_BARE_NL ? "nl" :
				  end == FC_END_MARKER_STYLE ? "style" :
				  end == FC_END_MARKER_CORRUPT ? "corrupt" : "more", (int) at);
}

/* Reads the file, at first "seen" bytes of each record, then one more. */
static void
trace_file(Trace *trace, FcDialect dialect, const char *input, size_t len,
		   size_t seen)
{
	size_t		start = 0;
	size_t		known = seen < len ? seen : len;
	bool		eof = false;
	FcScan		scan = {0};

	for (;;)
	{
		char	   *piece = exact_copy(input + start, known);
		FcEnd		end = fc_record_end(&dialect, &scan, piece, known, eof);

		free(piece);
		if (end == FC_END_MORE && !eof)
		{
			eof = start + known == len;
			known += !eof;
			continue;
		}
		if (end != FC_END_FOUND)
		{
			trace_end(trace, end, scan.content);
			break;
		}
		trace_add(trace, "<");
		trace_bytes(trace, input + start, scan.content);
		trace_add(trace, ">");
		start += scan.total;
		known = seen < len - start ? seen : len - start;
		eof = false;
		memset(&scan, 0, sizeof(scan));
	}
	trace_add(trace, " %s", eol_names[dialect.eol]);
}

/* The same by chunks of "size" bytes: where the records of each begin. */
static void
trace_chunks(Trace *trace, const FcDialect *dialect, const char *input,
			 size_t len, size_t size)
{
	static FcChunk chunks[64];
	static FcChunkStart starts[64];
	FcChunkPoint at = {FC_OUTSIDE, true, 0, 0, 0, FC_NOWHERE};
	size_t		n = 0;

	for (size_t from = 0; from < len; from += size)
	{
		FcChunkScan scan;
		size_t		some = size < len - from ? size : len - from;
		char	   *piece = exact_copy(input + from, some);

		fc_chunk_begin(dialect, &scan);
		fc_chunk_feed(dialect, &scan, piece, some);
		free(piece);
		chunks[n].start = from;
		fc_chunk_finish(&scan, &chunks[n++]);
	}
	if (!fc_chunk_resolve(dialect, chunks, n, &at, starts))
		trace_add(trace, "gap");

	/* with one byte to a chunk every record is the first of its chunk */
	for (size_t i = 0; i < n && size == 1; i++)
		if (starts[i].records > 0)
			trace_add(trace, "%d/%d ", (int) starts[i].first,
					  (int) starts[i].first_line);
	trace_add(trace, "x%d", (int) at.records);
	if (at.marker != FC_NOWHERE)
		trace_add(trace, " marker %d", (int) at.marker);
}

static void
test_files(FcMode mode, const FileCase *cases, size_t n)
{
	static Trace trace;

	for (size_t i = 0; i < n; i++)
	{
		const FileCase *c = &cases[i];
		FcDialect	dialect = {.delim = '\t', .quote = '"', .escape = '"',
			.eol = c->eol, .mode = mode, .lone_marker = c->lone_marker,
		.csv_marker = true};
		size_t		len = strlen(c->input);
		const char *total;

		for (size_t seen = 0; seen <= len; seen++)
		{
			trace_reset(&trace);
			trace_file(&trace, dialect, c->input, len, seen);
			if (strcmp(trace.text, c->expected) != 0)
				break;
		}
		is(trace.text, c->expected, c->name);
		if (c->expected_chunks == NULL)
			continue;
		trace_reset(&trace);
		trace_chunks(&trace, &dialect, c->input, len, 1);
		is(trace.text, c->expected_chunks, "  chunks of one byte");
		total = strchr(c->expected_chunks, 'x');
		for (size_t size = 2; size <= len; size++)
		{
			trace_reset(&trace);
			trace_chunks(&trace, &dialect, c->input, len, size);
			if (strcmp(trace.text, total) != 0)
				break;
		}
		is(trace.text, total, "  larger chunks");
	}
}

typedef struct FieldCase
{
	const char *name;
	const char *null_string;
	const char *input;
	const char *expected;		/* (value), with "!" if it is to be verified */
} FieldCase;

static const FieldCase field_cases[] = {
	{"plain", "\\N", "a\tb c\t", "(a)(b c)()"},
	{"empty record", "\\N", "", "()"},
	{"null", "\\N", "\\N\t\\\\N\t\\NN\tN", "null(\\N)(NN)(N)"},
	{"null is compared before escapes", "NA", "NA\tN\\A\t\\NA\t\\x4eA",
	"null(NA)(NA)(NA)"},
	{"null string with an escape", "\\x41", "\\x41\tA", "null(A)"},
	{"letters", "\\N", "\\b\\f\\n\\r\\t\\v", "(\b\f^J^M\t\v)"},
	{"other letters", "\\N", "\\a\\c\\B\\\\\\\"\\ \\X41", "(acB\\\" X41)"},
	{"escaped delimiter", "\\N", "a\\\tb\tc", "(a\tb)(c)"},
	{"escaped line ends", "\\N", "\\\n\\\r", "(^J^M)"},
	{"octal", "\\N", "\\101\\60\\7\\1011\\18\\8\\9", "(A0\a" "A1\001" "889)"},
	{"octal wraps", "\\N", "\\501\\777", "(A\377)!"},
	{"hexadecimal", "\\N", "\\x41\\x4\\x4g\\xg\\x7e7\\xaB\\xff\\x",
	"(A\004\004gxg~7\253\377x)!"},
	{"digits end with the field", "\\N", "\\1\t\\x\t\\x4\t\\12", "(\001)(x)(\004)(^J)"},
	{"high bytes of the file are not looked at", "\\N", "\xc3\xa9\\\xff",
	"(\xc3\xa9\xff)"},
	{"backslash at the end", "\\N", "a\\", "(a)"},
	{"null before a backslash at the end", "\\N", "\\N\\", "null"},
	{"empty null string, backslash", "", "\t\\", "nullnull"},
	{"escaped backslash at the end", "\\N", "a\\\\", "(a\\)"},
	{"longer than a register", "\\N",
		"0123456789abcdef0123456789abcdef\t0123456789abcdef\\t0123456789abcd\\"
		"x410123456789abcdefg\t0123456789abcdef",
		"(0123456789abcdef0123456789abcdef)(0123456789abcdef\t0123456789abcdA"
	"0123456789abcdefg)(0123456789abcdef)"},
};

static void
trace_field(Trace *trace, const FcField *field)
{
	if (field->null)
	{
		trace_add(trace, "null");
		return;
	}
	trace_add(trace, "(");
	trace_bytes(trace, field->data, field->len);
	trace_add(trace, "%s%s", field->data[field->len] == '\0' ? ")" : "?",
			  field->verify ? "!" : "");
}

static void
test_fields(void)
{
	static Trace trace;
	FcDialect	dialect = {.delim = '\t', .eol = FC_EOL_NL,
	.mode = FC_MODE_TEXT};

	for (size_t i = 0; i < lengthof(field_cases); i++)
	{
		const FieldCase *c = &field_cases[i];
		size_t		len = strlen(c->input);
		char	   *copy = exact_copy(c->input, len + 1);
		FcField		fields[8];
		int			n;

		dialect.null_string = c->null_string;
		dialect.null_len = strlen(c->null_string);
		n = fc_fields_cut(&dialect, copy, len, fields, 8);
		trace_reset(&trace);
		for (int f = 0; f < n; f++)
			trace_field(&trace, &fields[f]);
		is(trace.text, c->expected, c->name);
		free(copy);
	}
}

static void
test_verify(void)
{
	const FcDialect dialect = {.delim = '\t', .eol = FC_EOL_NL,
	.null_string = "\\N", .null_len = 2, .mode = FC_MODE_TEXT};
	char		nul[] = "a\\0b";
	char		literal[] = "a\\\0b";
	FcField		field;

	ok(fc_field_at(&dialect, nul, 4, 0, &field) &&
	   field.len == 3 && memcmp(field.data, "a\0b", 4) == 0 && field.verify,
	   "an escape that makes a NUL is to be verified");
	ok(fc_field_at(&dialect, literal, 4, 0, &field) &&
	   field.len == 3 && memcmp(field.data, "a\0b", 4) == 0 && !field.verify,
	   "an escaped NUL of the file is not");
}

static void
test_default_string(void)
{
	static Trace trace;
	const FcDialect dialect = {.delim = '\t', .eol = FC_EOL_NL,
	.null_string = "\\N", .null_len = 2, .default_string = "\\D",
	.default_len = 2, .mode = FC_MODE_TEXT};
	char		rec[] = "\\D\t\\\\D\tD";
	FcField		fields[3];

	ok(fc_fields_cut(&dialect, rec, strlen(rec), fields, 3) == 3 &&
	   fields[0].marker && !fields[1].marker && !fields[2].marker,
	   "the default string is compared before escapes");
	trace_reset(&trace);
	trace_field(&trace, &fields[1]);
	is(trace.text, "(\\D)", "an escaped one is data");
}

/* With any line ends a file is soon wrong: most are given those they need. */
static void
make_line_ends(const FcDialect *dialect, char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		if (data[i] != '\r' && data[i] != '\n')
			continue;
		data[i] = dialect->eol == FC_EOL_CR ? '\r' : '\n';
		if (dialect->eol == FC_EOL_CRNL && i > 0)
			data[i - 1] = '\r';
	}
}

/* Makes some records "\.", which made-up bytes seldom are. */
static void
make_markers(uint64_t *seed, char *data, size_t len)
{
	for (size_t i = 0; i + 3 < len; i++)
		if ((data[i] == '\r' || data[i] == '\n') && made_up(seed, 10) == 0)
			memcpy(data + i + 1, "\\.", 2);
}

/* Gives the dialect a delimiter of several bytes, which stands here and there. */
static void
make_delimiters(uint64_t *seed, FcDialect *dialect, char *data, size_t len)
{
	static const char *const rests[] = {"", "", "", ",", "a", ",,", "\t", ".", "\t\t", "x,\ta\xc2\xa6."};
	const char *rest = rests[made_up(seed, lengthof(rests))];
	int			rarity = 2 + made_up(seed, 30);

	dialect->delim_more = strchr(rest, dialect->quote) ? 0 : strlen(rest);
	memcpy(dialect->delim_rest, rest, dialect->delim_more);
	for (size_t i = 0; dialect->delim_more > 0 && i + dialect->delim_more < len; i++)
		if (made_up(seed, rarity) == 0)
		{
			data[i] = dialect->delim;
			memcpy(data + i + 1, rest, dialect->delim_more);
			i += made_up(seed, dialect->delim_more + 1);
		}
}

static void
test_made_up(FcMode mode, int rounds, const char *name)
{
	static Agree agree;
	const char *special = mode == FC_MODE_TEXT ?
		"\\\\\\\\..\n\n\r\t\tx0417fNn\377" : "\"\"\"\\\\\n\n\r,,.";
	uint64_t	seed = UINT64_C(28980711);
	char		data[401];
	const char *wrong = NULL;
	int			round;

	for (round = 0; round < rounds && wrong == NULL; round++)
	{
		FcDialect	dialect = {.delim = mode == FC_MODE_TEXT ? '\t' : ',',
			.quote = "\"\"\"\"\".\\\""[made_up(&seed, 8)],
			.eol = (FcEol) made_up(&seed, 4), .mode = mode,
			.lone_marker = made_up(&seed, 2),
			.csv_marker = made_up(&seed, 2), .default_string = "a",
		.default_len = 1};

		dialect.escape = made_up(&seed, 2) ? '\\' : dialect.quote;
		dialect.raw = mode == FC_MODE_TEXT && made_up(&seed, 4) == 0;
		agree.dialect = dialect;
		agree.dialect.null_string = mode == FC_MODE_TEXT ? "\\N" : "";
		agree.dialect.null_len = strlen(agree.dialect.null_string);
		agree.len = made_up(&seed, sizeof(data));
		agree.seed = seed;
		make_bytes(&seed, data, agree.len, special, strlen(special),
				   made_up(&seed, 3) * 40);
		make_delimiters(&seed, &agree.dialect, data, agree.len);
		make_markers(&seed, data, agree.len);
		if (made_up(&seed, 4) > 0)
			make_line_ends(&dialect, data, agree.len);
		data[agree.len] = 'z';
		agree.data = data;
		wrong = agree_check(&agree);
	}
	if (!ok(wrong == NULL, name))
		printf("# round %d: disagree about %s\n", round, wrong);
}

/* Fields of some thousand bytes: what ends them stands mostly in quotes. */
static void
make_long_fields(uint64_t *seed, char *data, size_t len)
{
	int			rarity = made_up(seed, 2) ? 12 : 400;
	bool		inside = false;

	for (size_t i = 0; i < len; i++)
	{
		bool		special = made_up(seed, inside ? 20 : 1500) == 0;

		data[i] = special ? ",\n,\r"[made_up(seed, inside ? 4 : 2)] :
			made_up(seed, rarity) == 0 ? '"' : 'a';
		inside ^= data[i] == '"';
	}
}

static void
test_long_fields(void)
{
	static Agree agree;
	static char data[AGREE_BYTES + 1];
	uint64_t	seed = UINT64_C(5772156649);
	const char *wrong = NULL;
	int			round;

	for (round = 0; round < 1500 && wrong == NULL; round++)
	{
		agree.dialect = (FcDialect) {.delim = ',',.quote = '"',.escape = '"',
			.eol = made_up(&seed, 2) ? FC_EOL_NL : FC_EOL_UNKNOWN,.null_string = ""};
		agree.len = made_up(&seed, sizeof(data));
		agree.seed = seed;
		make_long_fields(&seed, data, agree.len);
		make_delimiters(&seed, &agree.dialect, data, agree.len);
		data[agree.len] = 'z';
		agree.data = data;
		wrong = agree_check(&agree);
	}
	if (!ok(wrong == NULL, "1500 made-up csv files of long fields"))
		printf("# round %d: disagree about %s\n", round, wrong);
}

int
main(void)
{
	test_files(FC_MODE_TEXT, file_cases, lengthof(file_cases));
	test_files(FC_MODE_CSV, csv_cases, lengthof(csv_cases));
	test_fields();
	test_verify();
	test_default_string();
	test_made_up(FC_MODE_TEXT, 30000, "30000 made-up text files");
	test_made_up(FC_MODE_CSV, 30000, "30000 made-up csv files");
	test_long_fields();
	return done_testing();
}
