/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  How fast the record grammar reads, without a server: see bench/scan.
 *
 * Made-up files of narrow and wide records are read from memory: split
 * (fc_chunk_feed), scanned for the end and the first field of each record,
 * and for the end and all fields (grammar/marks.h).  The best of some rounds
 * counts, in gigabytes per second of processor time.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/chunk.h"
#include "grammar/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FILE_BYTES	((size_t) 32 * 1024 * 1024)
#define PIECE		((size_t) 256 * 1024)	/* as it is read at a time */
#define RECORD_MAX	4096
#define FIELDS_MAX	128
#define ROUNDS		7

typedef struct File
{
	FcDialect	dialect;
	int			columns;
	bool		quoted;
	char	   *data;
	size_t		len;
	size_t		records;
} File;

static uint64_t seed = UINT64_C(42);

static unsigned int
made_up(unsigned int limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int) ((seed >> 20) % limit);
}

/* A time, three numbers of other lengths, then words. */
static int
make_value(char *to, int column)
{
	switch (column)
	{
		case 0:
			return sprintf(to, "2024-01-%02u %02u:%02u:%02u.%03u",
						   1 + made_up(30), made_up(24), made_up(60),
						   made_up(60), made_up(1000));
		case 1:
			return sprintf(to, "%u%05u", made_up(10000000), made_up(100000));
		case 2:
			return sprintf(to, "%u.%013u", made_up(1000), made_up(1000000000));
		case 3:
			return sprintf(to, "%u", made_up(1000000));
		default:
			return sprintf(to, "%.*s", (int) made_up(13), "abcdefghijkl");
	}
}

static size_t
make_record(const File *file, char *to)
{
	char	   *at = to;

	for (int i = 0; i < file->columns; i++)
	{
		if (i > 0)
			*at++ = file->dialect.delim;
		if (file->quoted)
			*at++ = file->dialect.quote;
		at += make_value(at, i);
		if (file->quoted)
			*at++ = file->dialect.quote;
	}
	*at++ = '\n';
	return at - to;
}

static void
make_file(File *file)
{
	file->data = malloc(FILE_BYTES + RECORD_MAX);
	if (file->data == NULL)
		abort();
	file->len = file->records = 0;
	while (file->len < FILE_BYTES)
	{
		file->records++;
		file->len += make_record(file, file->data + file->len);
	}
}

static size_t
split(const File *file, char *data)
{
	FcChunkScan scan;
	FcChunk		chunk;

	fc_chunk_begin(&file->dialect, &scan);
	for (size_t at = 0; at < file->len; at += PIECE)
		fc_chunk_feed(&file->dialect, &scan, data + at,
					  file->len - at < PIECE ? file->len - at : PIECE);
	fc_chunk_finish(&scan, &chunk);
	return chunk.run[FC_OUTSIDE].records;
}

/* Marks the file and finds all records; cuts all their fields, or the first */
static size_t
walk(const File *file, char *data, bool all)
{
	static FcMarks marks;
	FcField		cut[FIELDS_MAX];
	FcBorders	borders;
	size_t		start = 0;
	size_t		pos = 0;
	size_t		n = 0;

	marks.len = 0;
	while (start + pos < file->len)
	{
		FcScan		found;
		char	   *rec = data + start + pos;

		if (!fc_marks_record(&file->dialect, &marks, data + start, pos, &found))
		{
			start += pos;
			pos = 0;
			fc_marks_fill(&file->dialect, &marks, data + start,
						  file->len - start);
			continue;
		}
		if (all)
			n += fc_fields_marked(&file->dialect, &marks, pos, rec, found.content, cut,
								 FIELDS_MAX) == file->columns;
		else if (fc_marks_borders(&marks, pos, found.content, 0, &borders))
		{
			fc_field_cut(&file->dialect, rec, &borders, cut);
			n++;
		}
		pos += found.total;
	}
	return n;
}

static size_t
scan(const File *file, char *data)
{
	return walk(file, data, false);
}

static size_t
fields(const File *file, char *data)
{
	return walk(file, data, true);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Gigabytes per second of the best round; each works on a fresh copy. */
static double
speed(const File *file, char *copy, size_t (*read) (const File *, char *))
{
	double		best = 0;

	for (int i = 0; i < ROUNDS; i++)
	{
		double		start;
		double		took;

		memcpy(copy, file->data, file->len);
		start = now();
		if (read(file, copy) != file->records)
			abort();
		took = now() - start;
		if (i == 0 || took < best)
			best = took;
	}
	return file->len / best / 1e9;
}

static void
measure(const char *name, FcMode mode, int columns, bool quoted)
{
	File		file = {.dialect = {.mode = mode, .eol = FC_EOL_NL,
			.delim = mode == FC_MODE_TEXT ? '\t' : ',', .quote = '"',
	.escape = '"'}, .columns = columns, .quoted = quoted};
	char	   *copy;

	make_file(&file);
	copy = malloc(file.len + 1);
	if (copy == NULL)
		abort();
	printf("  %-24s %6.2f %6.2f %6.2f\n", name, speed(&file, copy, split),
		   speed(&file, copy, scan), speed(&file, copy, fields));
	free(copy);
	free(file.data);
}

int
main(void)
{
	for (int i = 0; i < FC_MASK_KERNELS; i++)
	{
		if (fc_mask_number(i) == NULL)
			continue;
		fc_mask_kernel = fc_mask_number(i);
		printf("%-26s  split   scan fields\n", fc_mask_kernel->name);
		measure("csv, 5 columns", FC_MODE_CSV, 5, false);
		measure("csv, 5 columns, quoted", FC_MODE_CSV, 5, true);
		measure("csv, 105 columns", FC_MODE_CSV, 105, false);
		measure("csv, 105 columns, quoted", FC_MODE_CSV, 105, true);
		measure("text, 5 columns", FC_MODE_TEXT, 5, false);
		measure("text, 105 columns", FC_MODE_TEXT, 105, false);
	}
	return 0;
}
