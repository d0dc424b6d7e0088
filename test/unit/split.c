/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Tests of the resolution of chunks, src/grammar/chunk.c.
 *
 * Small files are cut into chunks of 1, 2, 3 and 7 bytes.  What is known of
 * each chunk is written down literally:
 *
 *	O2:6/2x1	begins outside quotes (I: inside, E: escaped) behind 2 lines;
 *				its first record starts at byte 6, behind 2 lines; 1 record
 *				starts in it
 *	I2			no record starts in it
 *	end O3 x3	the file ends outside quotes behind 3 lines and has 3 records
 *
 * Then random files, and those of the differential suite, are cut into chunks of
 * many sizes.  Records must be those that are read serially.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/chunk.h"
#include "grammar/mask.h"
#include "tap.h"

#include "fixtures.h"

#define MAX_CHUNKS	512
#define MAX_FIXTURE_CHUNKS	5000

static const size_t chunk_sizes[] = {1, 2, 3, 7};

typedef struct SplitCase
{
	const char *name;
	char		escape;			/* the quote is always '"' */
	FcEol		eol;
	const char *input;
	const char *expected[lengthof(chunk_sizes)];
} SplitCase;

static const SplitCase split_cases[] = {
	{"plain records", '"', FC_EOL_NL,
		"a\nbc\nd\n",
		{"O0:0/0x1 O0 O1:2/1x1 O1 O1 O2:5/2x1 O2 end O3 x3",
		"O0:0/0x1 O1:2/1x1 O1:5/2x1 O2 end O3 x3",
		"O0:0/0x2 O1:5/2x1 O2 end O3 x3",
		"O0:0/0x3 end O3 x3"}},
	{"no line end at the end", '"', FC_EOL_NL,
		"a\n\nbc",
		{"O0:0/0x1 O0 O1:2/1x1 O2:3/2x1 O2 end O2 x3",
		"O0:0/0x1 O1:2/1x2 O2 end O2 x3",
		"O0:0/0x2 O2:3/2x1 end O2 x3",
		"O0:0/0x3 end O2 x3"}},
	{"line ends in quotes", '"', FC_EOL_NL,
		"a,\"\n\"\n\"b\n\n\"\nc\n",
		{"O0:0/0x1 O0 O0 I0 I1 O1 O2:6/2x1 I2 I2 I3 I4 O4 O5:12/5x1 O5 "
		"end O6 x3",
		"O0:0/0x1 O0 I1 O2:6/2x1 I2 I4 O5:12/5x1 end O6 x3",
		"O0:0/0x1 I0 O2:6/2x1 I3 O5:12/5x1 end O6 x3",
		"O0:0/0x2 I2:12/5x1 end O6 x3"}},
	{"quote that never closes", '"', FC_EOL_NL,
		"a\n\"b\nc\n",
		{"O0:0/0x1 O0 O1:2/1x1 I1 I1 I2 I2 end I3 x2",
		"O0:0/0x1 O1:2/1x1 I1 I2 end I3 x2",
		"O0:0/0x2 I1 I2 end I3 x2",
		"O0:0/0x2 end I3 x2"}},
	{"CR file", '"', FC_EOL_CR,
		"a\r\"\r\n\"\rb\r",
		{"O0:0/0x1 O0 O1:2/1x1 I1 I2 I2 O2 O3:7/3x1 O3 end O4 x3",
		"O0:0/0x1 O1:2/1x1 I2 O2:7/3x1 O3 end O4 x3",
		"O0:0/0x2 I1 O2:7/3x1 end O4 x3",
		"O0:0/0x2 O3:7/3x1 end O4 x3"}},
	{"CRNL, cut between CR and NL", '"', FC_EOL_CRNL,
		"a\r\n\"\r\n\"\r\n\r\nb",
		{"O0:0/0x1 O0 O0 O1:3/1x1 I1 I2 I2 O2 O2 O3:9/3x1 O3 O4:11/4x1 "
		"end O4 x4",
		"O0:0/0x1 O0:3/1x1 I1 I2 O2:9/3x1 O3:11/4x1 end O4 x4",
		"O0:0/0x1 O1:3/1x1 I2 O3:9/3x2 end O4 x4",
		"O0:0/0x2 O2:9/3x2 end O4 x4"}},
	{"escape other than the quote", '\\', FC_EOL_NL,
		"\"\\\"\n\"\n\\\"\\\\\\\"\n\"\nb\n",
		{"O0:0/0x1 I0 E0 I0 I1 O1 O2:6/2x1 O2 I2 E2 I2 E2 I2 I3 O3 "
		"O4:15/4x1 O4 end O5 x3",
		"O0:0/0x1 E0 I1 O2:6/2x1 I2 I2 I2 O3:15/4x1 O4 end O5 x3",
		"O0:0/0x1 I0 O2:6/2x1 E2 I2 O4:15/4x1 end O5 x3",
		"O0:0/0x2 O2 O3:15/4x1 end O5 x3"}},
};

/*
 * Cuts data, which lies at offset "base" of its file, into chunks of size
 * bytes, in pieces of 1 to 3 bytes.  Returns the number of chunks.
 */
static size_t
make_chunks(const FcDialect *dialect, uint64_t base, const char *data,
			size_t len, size_t size, FcChunk *chunks)
{
	size_t		n = 0;

	for (size_t at = 0; at < len; at += size)
	{
		size_t		end = at + size < len ? at + size : len;
		FcChunkScan scan;

		fc_chunk_begin(dialect, &scan);
		for (size_t p = at, piece = 1; p < end; p += piece, piece = p % 3 + 1)
			fc_chunk_feed(dialect, &scan, data + p,
						  piece < end - p ? piece : end - p);
		chunks[n].start = base + at;
		fc_chunk_finish(&scan, &chunks[n++]);
	}
	return n;
}

static void
trace_starts(Trace *trace, const FcChunkStart *starts, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		trace_add(trace, "%c%d", "OIE"[starts[i].state], (int) starts[i].line);
		if (starts[i].first != FC_NOWHERE)
			trace_add(trace, ":%d/%dx%d", (int) starts[i].first,
					  (int) starts[i].first_line, (int) starts[i].records);
		else if (starts[i].records != 0)
			trace_add(trace, "?%d", (int) starts[i].records);
		trace_add(trace, " ");
	}
}

static void
trace_end(Trace *trace, const FcChunkPoint *at)
{
	trace_add(trace, "end %c%d x%d", "OIE"[at->state], (int) at->line,
			  (int) at->records);
}

static void
test_literal(void)
{
	static Trace trace;
	static FcChunk chunks[MAX_CHUNKS];
	static FcChunkStart starts[MAX_CHUNKS];

	for (size_t i = 0; i < lengthof(split_cases); i++)
		for (size_t s = 0; s < lengthof(chunk_sizes); s++)
		{
			const SplitCase *c = &split_cases[i];
			FcDialect	dialect = {',', '"', c->escape, c->eol};
			FcChunkPoint at = {FC_OUTSIDE, true, 0, 0};
			size_t		n = make_chunks(&dialect, 0, c->input,
										strlen(c->input), chunk_sizes[s],
										chunks);
			char		name[100];

			snprintf(name, sizeof(name), "%s, chunks of %d", c->name,
					 (int) chunk_sizes[s]);
			trace_reset(&trace);
			if (!fc_chunk_resolve(&dialect, chunks, n, &at, starts))
				trace_add(&trace, "gap");
			trace_starts(&trace, starts, n);
			trace_end(&trace, &at);
			is(trace.text, c->expected[s], name);
		}
}

/* Resolves the chunks of data behind a point and compares with a literal. */
static void
check_from(FcChunkPoint at, uint64_t base, const char *data, size_t size,
		   const char *expected, const char *name)
{
	static Trace trace;
	FcDialect	dialect = {',', '"', '"', FC_EOL_NL};
	FcChunk		chunks[16];
	FcChunkStart starts[16];
	size_t		n = make_chunks(&dialect, base, data, strlen(data), size,
								chunks);

	trace_reset(&trace);
	if (!fc_chunk_resolve(&dialect, chunks, n, &at, starts))
		trace_add(&trace, "gap");
	trace_starts(&trace, starts, n);
	trace_end(&trace, &at);
	is(trace.text, expected, name);
}

static void
test_points(void)
{
	FcChunkPoint header = {FC_OUTSIDE, true, 2, 0};
	FcChunkPoint middle = {FC_OUTSIDE, false, 5, 9};
	FcChunkPoint quoted = {FC_INSIDE, false, 5, 9};

	check_from(header, 10, "a\nb\n", 3, "O2:10/2x2 O3 end O4 x2",
			   "behind a header of two lines");
	check_from(header, 10, "", 3, "end O2 x0", "nothing behind a header");
	check_from(middle, 100, "a\nb\n", 2, "O5 O6:102/6x1 end O7 x10",
			   "from the middle of a record");
	check_from(middle, 100, "a\nb\n", 3, "O5:102/6x1 O6 end O7 x10",
			   "from the middle of a record, another size");
	check_from(middle, 100, "a", 3, "O5 end O5 x9",
			   "no end of the record begun before");
	check_from(quoted, 100, "a\n\"\nb", 16, "I5:104/7x1 end O7 x10",
			   "from the middle of a quoted field");
	check_from(quoted, 100, "\n\n", 1, "I5 I6 end I7 x9",
			   "nothing but a quoted field");
}

static void
test_shape(void)
{
	static Trace trace;
	FcDialect	dialect = {',', '"', '"', FC_EOL_NL};
	FcChunk		chunks[4];
	FcChunkStart starts[4];
	FcChunkPoint at = {FC_OUTSIDE, true, 0, 0};
	FcChunkScan scan;

	/* a\n | nothing | b\n | nothing */
	make_chunks(&dialect, 0, "a\nb\n", 4, 2, chunks);
	chunks[2] = chunks[1];
	fc_chunk_begin(&dialect, &scan);
	fc_chunk_finish(&scan, &chunks[1]);
	fc_chunk_finish(&scan, &chunks[3]);
	chunks[1].start = 2;
	chunks[3].start = 4;
	trace_reset(&trace);
	ok(fc_chunk_resolve(&dialect, chunks, 4, &at, starts), "empty chunks are no gap");
	trace_starts(&trace, starts, 4);
	trace_end(&trace, &at);
	is(trace.text, "O0:0/0x1 O1 O1:2/1x1 O2 end O2 x2",
	   "no record starts in empty chunks");
	ok(at.starts_record, "the file ends where a record would start");

	chunks[2].start = 3;
	ok(!fc_chunk_resolve(&dialect, chunks, 4, &at, starts), "a gap is found");
	chunks[2].start = 1;
	ok(!fc_chunk_resolve(&dialect, chunks, 4, &at, starts), "an overlap is found");
}

/* Adds "offset/line " for each record of the file, read serially. */
static uint64_t
trace_serially(Trace *trace, FcDialect dialect, const char *data, size_t len)
{
	size_t		start = 0;
	uint64_t	line = 0;
	FcScan		scan = {0};

	while (fc_record_end(&dialect, &scan, data + start, len - start, true) ==
		   FC_END_FOUND)
	{
		trace_add(trace, "%d/%d ", (int) start, (int) line);
		line += scan.embedded + (scan.total > scan.content);
		start += scan.total;
		memset(&scan, 0, sizeof(scan));
	}
	return line;
}

/* The same, chunk by chunk, each from its first record as a worker would. */
static void
trace_by_chunks(Trace *trace, FcDialect dialect, const char *data, size_t len,
				const FcChunk *chunks, const FcChunkStart *starts, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	start = starts[i].first;
		uint64_t	line = starts[i].first_line;

		for (uint64_t r = 0; r < starts[i].records; r++)
		{
			FcScan		scan = {0};

			if (start >= chunks[i].start + chunks[i].length ||
				fc_record_end(&dialect, &scan, data + start, len - start,
							  true) != FC_END_FOUND)
			{
				trace_add(trace, "nothing at %d ", (int) start);
				break;
			}
			trace_add(trace, "%d/%d ", (int) start, (int) line);
			line += scan.embedded + 1;
			start += scan.total;
		}
	}
}

/* Makes a random file without wrong line ends.  Returns its length. */
static size_t
make_file(uint64_t *seed, const FcDialect *dialect, char *data, size_t room)
{
	static const char *const ends[] = {NULL, "\n", "\r", "\r\n"};
	static const char *const parts[] = {"a", ",", "\"\"", "\"\n\"", "\"\r\"",
	"\"\r\n\"", "\"a\\\\\"", "\"\\\\\\\\\n\"", "bcdefgh"};
	size_t		len = 0;
	size_t		wanted = made_up(seed, (unsigned int) room - 16);

	while (len < wanted)
	{
		unsigned int pick = made_up(seed, lengthof(parts) + 3);
		const char *part = pick < lengthof(parts) ? parts[pick] :
			ends[dialect->eol];

		memcpy(data + len, part, strlen(part));
		len += strlen(part);
	}
	return len;
}

static void
test_random_files(void)
{
	static Trace serial;
	static Trace by_chunks;
	static FcChunk chunks[MAX_CHUNKS];
	static FcChunkStart starts[MAX_CHUNKS];
	uint64_t	seed = UINT64_C(8128);
	char		data[MAX_CHUNKS];

	for (int round = 0; round < 5000; round++)
	{
		FcDialect	dialect = {',', '"', made_up(&seed, 2) ? '\\' : '"',
		(FcEol) (FC_EOL_NL + made_up(&seed, 3))};
		size_t		len = make_file(&seed, &dialect, data, sizeof(data));
		size_t		size = 1 + made_up(&seed, 100);
		size_t		n = make_chunks(&dialect, 0, data, len, size, chunks);
		FcChunkPoint at = {FC_OUTSIDE, true, 0, 0};
		uint64_t	lines;

		trace_reset(&serial);
		lines = trace_serially(&serial, dialect, data, len);
		trace_add(&serial, "%d lines", (int) lines);

		trace_reset(&by_chunks);
		if (!fc_chunk_resolve(&dialect, chunks, n, &at, starts))
			trace_add(&by_chunks, "gap");
		trace_by_chunks(&by_chunks, dialect, data, len, chunks, starts, n);
		trace_add(&by_chunks, "%d lines", (int) at.line);
		if (strcmp(serial.text, by_chunks.text) != 0)
			break;
	}
	is(by_chunks.text, serial.text,
	   "5000 random files, by chunks as read serially");
}

/* The style of line ends that the file begins with */
static FcEol
eol_of(FcDialect dialect, const char *data, size_t len)
{
	size_t		start = 0;
	FcScan		scan = {0};

	dialect.eol = FC_EOL_UNKNOWN;
	while (dialect.eol == FC_EOL_UNKNOWN &&
		   fc_record_end(&dialect, &scan, data + start, len - start, true) == FC_END_FOUND)
	{
		start += scan.total;
		memset(&scan, 0, sizeof(scan));
	}
	return dialect.eol == FC_EOL_UNKNOWN ? FC_EOL_NL : dialect.eol;
}

/*
 * Adds the records of the file as they are read serially, up to one that is an error
 * or ends the data; returns where that begins, or len.
 */
static size_t
trace_until_wrong(Trace *trace, FcDialect dialect, const char *data, size_t len)
{
	size_t		start = 0;
	uint64_t	line = 0;
	FcScan		scan = {0};
	FcEnd		end;

	while ((end = fc_record_end(&dialect, &scan, data + start, len - start, true)) == FC_END_FOUND)
	{
		trace_add(trace, "%d/%d ", (int) start, (int) line);
		line += scan.embedded + (scan.total > scan.content);
		start += scan.total;
		memset(&scan, 0, sizeof(scan));
	}
	if (end == FC_END_NONE)
		trace_add(trace, "%d lines", (int) line);
	return end == FC_END_NONE ? len : start;
}

/* The same by chunks of "size" bytes, up to "until" */
static void
trace_fixture(Trace *trace, FcDialect dialect, const char *data, size_t len,
			  size_t size, size_t until)
{
	static FcChunk chunks[MAX_FIXTURE_CHUNKS];
	static FcChunkStart starts[MAX_FIXTURE_CHUNKS];
	FcChunkPoint at = {FC_OUTSIDE, true, 0, 0, 0, FC_NOWHERE};
	size_t		n = make_chunks(&dialect, 0, data, len, size, chunks);

	if (!fc_chunk_resolve(&dialect, chunks, n, &at, starts))
		trace_add(trace, "gap");
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	start = starts[i].first;
		uint64_t	line = starts[i].first_line;

		for (uint64_t r = 0; r < starts[i].records && (until == len || start < until); r++)
		{
			FcScan		scan = {0};

			if (start < chunks[i].start || start >= chunks[i].start + chunks[i].length ||
				fc_record_end(&dialect, &scan, data + start, len - start, true) != FC_END_FOUND)
			{
				trace_add(trace, "nothing at %d ", (int) start);
				break;
			}
			trace_add(trace, "%d/%d ", (int) start, (int) line);
			line += scan.embedded + 1;
			start += scan.total;
		}
	}
	if (until == len)
		trace_add(trace, "%d lines", (int) at.line);
}

/*
 * Files that a server need not load with each of these sizes.  A CSV file may have
 * markers, before 18.
 */
static void
test_fixture(const Fixture *f, bool markers)
{
	static const size_t sizes[] = {1, 2, 3, 7, 64, 1000};
	static Trace serial;
	static Trace by_chunks;
	FcDialect	dialect = {.delim = ',', .quote = f->quote, .escape = f->escape,
		.mode = f->mode, .lone_marker = !markers, .csv_marker = markers};
	char		name[200];
	size_t		until;

	dialect.eol = eol_of(dialect, f->data, f->len);
	trace_reset(&serial);
	until = trace_until_wrong(&serial, dialect, f->data, f->len);
	snprintf(name, sizeof(name), "fixture %s%s", f->name, markers ? ", as before 18" : "");
	trace_reset(&by_chunks);
	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		if (f->len / sizes[s] >= MAX_FIXTURE_CHUNKS)
			continue;
		trace_reset(&by_chunks);
		trace_fixture(&by_chunks, dialect, f->data, f->len, sizes[s], until);
		if (strcmp(by_chunks.text, serial.text) != 0)
		{
			snprintf(name + strlen(name), 40, ", chunks of %d", (int) sizes[s]);
			break;
		}
	}
	is(by_chunks.text, serial.text, name);
}

int
main(void)
{
	for (int i = 0; i < FC_MASK_KERNELS; i++)
	{
		if (fc_mask_number(i) == NULL)
			continue;
		fc_mask_kernel = fc_mask_number(i);
		printf("# kernel %s\n", fc_mask_kernel->name);
		test_literal();
		test_points();
		test_shape();
		test_random_files();
		for (size_t f = 0; f < lengthof(fixtures); f++)
			for (int markers = 0; markers < 2; markers++)
				test_fixture(&fixtures[f], markers == 1);
	}
	return done_testing();
}
