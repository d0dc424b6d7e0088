/*-------------------------------------------------------------------------
 *
 * segment.c
 *	  Tests of where pages are cut at the borders of files, src/heap/file_run.h.
 *
 * A trace shows the runs of pages from a block on: 6+2 are two from block 6.
 *
 *-------------------------------------------------------------------------
 */
#include "heap/file_run.h"
#include "tap.h"

typedef struct SegmentCase
{
	const char *name;
	uint32_t	block;
	uint32_t	n;
	uint32_t	segment_size;
	const char *expected;
} SegmentCase;

static const SegmentCase segment_cases[] = {
	{"in one segment", 3, 4, 8, "3+4"},
	{"up to the border", 4, 4, 8, "4+4"},
	{"from the border", 8, 4, 8, "8+4"},
	{"one page behind the border", 6, 3, 8, "6+2 8+1"},
	{"one page before the border", 7, 4, 8, "7+1 8+3"},
	{"a whole segment", 8, 8, 8, "8+8"},
	{"more than a segment", 7, 18, 8, "7+1 8+8 16+8 24+1"},
	{"segments of a page", 5, 3, 1, "5+1 6+1 7+1"},
	{"segments of 1 GB", 131060, 32, 131072, "131060+12 131072+20"},
	{"the last blocks there can be", UINT32_MAX - 2, 2, 131072, "4294967293+2"},
};

static void
trace_runs(Trace *trace, const SegmentCase *c)
{
	uint32_t	block = c->block;
	uint32_t	left = c->n;

	trace_reset(trace);
	while (left > 0)
	{
		uint32_t	run = fc_file_run(block, left, c->segment_size);

		trace_add(trace, "%s%u+%u", trace->len > 0 ? " " : "", block, run);
		if (run == 0 || run > left)
			break;
		block += run;
		left -= run;
	}
}

int
main(void)
{
	static Trace trace;

	for (size_t i = 0; i < lengthof(segment_cases); i++)
	{
		trace_runs(&trace, &segment_cases[i]);
		is(trace.text, segment_cases[i].expected, segment_cases[i].name);
	}
	return done_testing();
}
