/*-------------------------------------------------------------------------
 *
 * binary.c
 *	  Tests of src/grammar/binary.c: tuples one by one, and a walk over them in
 *	  chunks, which must find the same.
 *
 * Files are made up, of tuples of some fields, and most are damaged.  The walk
 * gets them in chunks of some bytes and pieces of others.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/binary.h"
#include "grammar/chunk.h"
#include "tap.h"

#define MOST	4096

static uint64_t seed = 20130101;

static size_t
add_integer(char *data, size_t at, int64_t n, int size)
{
	for (int i = size - 1; i >= 0; i--)
		data[at++] = (char) (n >> (8 * i));
	return at;
}

/* Makes up a file of tuples; returns its length */
static size_t
make_file(const FcDialect *dialect, char *data)
{
	size_t		at = 0;

	for (unsigned tuples = made_up(&seed, 20); tuples > 0; tuples--)
	{
		at = add_integer(data, at, dialect->nfields, 2);
		for (int i = 0; i < dialect->nfields; i++)
		{
			int			length = (int) made_up(&seed, 12) - 1;

			at = add_integer(data, at, length, 4);
			for (; length > 0; length--)
				data[at++] = (char) made_up(&seed, 256);
		}
	}
	if (made_up(&seed, 2))
		at = add_integer(data, at, -1, 2);
	if (made_up(&seed, 3) == 0 && at > 0)
		data[made_up(&seed, (unsigned) at)] ^= (char) (1 << made_up(&seed, 8));
	if (made_up(&seed, 3) == 0)
		at = made_up(&seed, (unsigned) at + 1);
	if (made_up(&seed, 8) == 0)
		data[at++] = (char) made_up(&seed, 256);
	return at;
}

/* Tells where each tuple begins, on which "line", and how the file ends */
static void
trace_tuples(const FcDialect *dialect, Trace *trace, const char *data, size_t len)
{
	size_t		at = 0;
	FcScan		scan;
	FcEnd		end;

	trace_reset(trace);
	for (;;)
	{
		char	   *rest = exact_copy(data + at, len - at);

		memset(&scan, 0, sizeof(scan));
		end = fc_binary_end(dialect, &scan, rest, len - at, true);
		free(rest);
		if (end == FC_END_FOUND || end == FC_END_MALFORMED)
			trace_add(trace, "%zu ", at);
		if (end != FC_END_FOUND)
			break;
		at += scan.total;
	}
	trace_add(trace, end == FC_END_MALFORMED ? "malformed" : "end at %zu", at);
}

/* Walks over the file in chunks; tells the same from what the chunks say */
static void
trace_walk(const FcDialect *dialect, Trace *trace, const char *data, size_t len,
		   size_t size)
{
	static FcChunk chunks[MOST];
	static FcChunkStart starts[MOST];
	FcChunkPoint at = {.state = FC_OUTSIDE,.starts_record = true,.marker = FC_NOWHERE};
	FcChunkScan scan;
	size_t		n = 0;
	size_t		end = len;

	memset(&scan.walk, 0, sizeof(scan.walk));
	for (size_t begin = 0; begin < len; begin += size)
	{
		size_t		next = begin + size < len ? begin + size : len;

		fc_chunk_begin(dialect, &scan);
		for (size_t p = begin; p < next;)
		{
			size_t		piece = 1 + made_up(&seed, 40);
			char	   *copy;

			piece = piece < next - p ? piece : next - p;
			copy = exact_copy(data + p, piece);
			fc_chunk_feed(dialect, &scan, copy, piece);
			free(copy);
			p += piece;
		}
		chunks[n].start = begin;
		fc_chunk_finish(&scan, &chunks[n++]);
	}
	if (fc_walk_may_end(&scan.walk))
		end = scan.walk.start;
	while (n > 0 && chunks[n - 1].start >= end)
		n--;
	if (n > 0 && end < len)
	{
		chunks[n - 1].length = end - chunks[n - 1].start;
		chunks[n - 1].run[FC_OUTSIDE].ends_record = true;
	}
	if (!fc_chunk_resolve(dialect, chunks, n, &at, starts))
		trace_add(trace, "not joined ");
	trace_reset(trace);
	for (size_t i = 0; i < n; i++)
	{
		size_t		tuple = (size_t) starts[i].first;

		for (uint64_t r = 0; r < starts[i].records; r++)
		{
			FcScan		one = {0};

			trace_add(trace, "%zu ", tuple);
			if (starts[i].first_line + r != starts[i].before + r)
				trace_add(trace, "on line %d ", (int) (starts[i].first_line + r));
			if (fc_binary_end(dialect, &one, data + tuple, len - tuple, true) == FC_END_FOUND)
				tuple += one.total;
		}
	}
	trace_add(trace, fc_walk_may_end(&scan.walk) ? "end at %zu" : "malformed", end);
}

static void
test_made_up(int nfields)
{
	static Trace expected;
	static Trace got;
	FcDialect	dialect = {.mode = FC_MODE_BINARY,.nfields = nfields};
	char		name[64];
	bool		passed = true;

	for (int round = 0; round < 3000 && passed; round++)
	{
		char		data[MOST];
		size_t		len = make_file(&dialect, data);

		trace_tuples(&dialect, &expected, data, len);
		trace_walk(&dialect, &got, data, len, 1 + made_up(&seed, 30));
		passed = strcmp(got.text, expected.text) == 0;
	}
	snprintf(name, sizeof(name), "made-up files of %d fields", nfields);
	is(got.text, expected.text, name);
}

/* The fields of a tuple, in all and one by one, from all bytes and from fewer */
static void
test_fields(void)
{
	char		data[] = "\0\3\0\0\0\2ab\377\377\377\377\0\0\0\0";
	const size_t len = sizeof(data) - 1;
	FcField		fields[3];
	FcField		one;
	static Trace trace;
	bool		cut = true;

	trace_reset(&trace);
	trace_add(&trace, "%d:", fc_binary_fields(data, len, fields, 3));
	for (int i = 0; i < 3; i++)
	{
		trace_add(&trace, fields[i].null ? " null" : " %.*s.", (int) fields[i].len, fields[i].data);
		cut &= fc_binary_field(data, len, i, &one) && one.data == fields[i].data &&
			one.len == fields[i].len && one.null == fields[i].null;
	}
	is(trace.text, "3: ab. null .", "fields of a tuple");
	ok(cut, "each field alone");
	ok(!fc_binary_field(data, len, 3, &one), "a field that is not there");
	ok(fc_binary_fields(data, len, fields, 2) == 3, "more fields than are wanted");
	cut = true;
	for (size_t i = 0; i < len; i++)
	{
		char	   *copy = exact_copy(data, i);

		cut &= fc_binary_fields(copy, i, fields, 3) == -1 && !fc_binary_field(copy, i, 2, &one);
		free(copy);
	}
	ok(cut, "a tuple that is cut");
	data[5] = 1;
	ok(fc_binary_fields(data, len, fields, 3) == -1, "a tuple that has changed");
	data[5] = 2;
	data[2] = 1;
	ok(fc_binary_fields(data, len, fields, 3) == -1, "a field of more bytes than there are");
}

/* What comes next if there are these bytes, at the end of the file and before */
static const char *
next_is(const FcDialect *dialect, const char *data, size_t len, bool eof)
{
	static const char *const names[] = {[FC_END_FOUND] = "tuple",[FC_END_MORE] = "more",[FC_END_NONE] = "none",
	[FC_END_MARKER] = "trailer",[FC_END_MALFORMED] = "malformed"};
	FcScan		scan = {0};
	char	   *copy = exact_copy(data, len);
	FcEnd		end = fc_binary_end(dialect, &scan, copy, len, eof);

	free(copy);
	return names[end];
}

/* A file that arrives byte by byte: a tuple of one field, then the trailer */
static void
test_arrives(void)
{
	FcDialect	dialect = {.mode = FC_MODE_BINARY,.nfields = 1};
	const char	tuple[] = "\0\1\0\0\0\1a";
	FcWalk		walk = {0};
	FcQuoteRun	run = {.first = FC_NOWHERE};
	static Trace trace;

	for (int eof = 0; eof < 2; eof++)
	{
		trace_reset(&trace);
		for (size_t len = 0; len < sizeof(tuple); len++)
			trace_add(&trace, "%s ", next_is(&dialect, tuple, len, eof));
		is(trace.text, eof ? "none none malformed malformed malformed malformed malformed tuple " :
		   "more more more more more more more tuple ", eof ? "a tuple that the file's end cuts" : "a tuple that arrives");
		is(next_is(&dialect, "\377\377", 2, eof), eof ? "trailer" : "more", "a trailer");
		is(next_is(&dialect, "\377\377\0", 3, eof), "malformed", "a byte after the trailer");
	}
	fc_walk_feed(&dialect, &walk, &run, tuple, sizeof(tuple) - 1);
	fc_walk_feed(&dialect, &walk, &run, "\377\377", 2);
	fc_walk_feed(&dialect, &walk, &run, "", 0);
	ok(run.records == 1 && fc_walk_may_end(&walk), "nothing after the trailer");
	fc_walk_feed(&dialect, &walk, &run, "\0", 1);
	ok(!fc_walk_may_end(&walk), "something after the trailer");
}

int
main(void)
{
	for (int nfields = 0; nfields < 5; nfields++)
		test_made_up(nfields);
	test_fields();
	test_arrives();
	return done_testing();
}
