/*-------------------------------------------------------------------------
 *
 * sniff/sample.c
 *	  Bytes from many places of the source, from which all else is guessed.
 *
 *	 plain files ──► places over all of them ──┐
 *	 packed files, programs ──► their heads ───┴──► FcSniffSample
 *
 * A few megabytes are read, of plain files the middle, too: later rows often
 * differ.  Paths are opened as in a load (load/access.c).  The transaction
 * ends files and pipes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "load/steps.h"
#include "row/origin.h"
#include "sniff/steps.h"

/*
 * How many places of plain files are read, and how many bytes of each; and how
 * many bytes the first places of all files together may have, to have some
 * lines
 */
#define FC_SAMPLE_PLACES	64
#define FC_SAMPLE_LINES		32
#define FC_SAMPLE_MOST		((size_t) 4 * 1024 * 1024)
#define FC_SAMPLE_PLACE		((size_t) 64 * 1024)

/* How many bytes are read of a file whose size only its end tells */
#define FC_SAMPLE_STREAM	((uint64) 16 * 1024 * 1024)

/*
 * How many files are unpacked or programs run; and how many bytes all of them
 * give: all of the first ones, and then a part of each block
 */
#define FC_SAMPLE_HEADS		16
#define FC_SAMPLE_HEAD		((size_t) 2 * 1024 * 1024)
#define FC_SAMPLE_SLICES	64
#define FC_SAMPLE_SLICE		((size_t) 32 * 1024)

/* Bytes that tell UTF-16 without a mark by their zeros */
#define FC_SAMPLE_ZEROS		512

/* A sample that is being taken */
typedef struct FcSniffSampling
{
	FcSniffSample *sample;
	FcUtf16Hint hint;			/* about its text */
	const FcSource *source;		/* NULL: programs */
	double		growth;			/* of packed files: bytes of one, unpacked */
} FcSniffSampling;

/* Keeps bytes; the place takes the memory, which has room for one more byte */
static FcSniffPlace *
fc_sample_add(FcSniffSampling *sampling, uint32 file, char *data, size_t len)
{
	FcSniffSample *sample = sampling->sample;
	FcSniffPlace *place = &sample->places[sample->nplaces++];

	Assert(sample->nplaces <= FC_SAMPLE_PLACES + FC_SAMPLE_HEADS + FC_SAMPLE_SLICES);
	memset(place, 0, sizeof(FcSniffPlace));
	place->file = file;
	place->data = data;
	place->len = len;
	sample->bytes += len;
	return place;
}

/* Are there too few lines to see how records look? */
static bool
fc_sample_is_short(const char *data, size_t len)
{
	int			lines = 0;

	for (size_t i = 0; i < len && lines < FC_SAMPLE_LINES; i++)
		lines += data[i] == '\n' || data[i] == '\r';
	return lines < FC_SAMPLE_LINES;
}

/* Reads a place; the head of a file grows until it has some lines */
static void
fc_sample_read(FcSniffSampling *sampling, uint32 file, uint64 offset, size_t len)
{
	const FcFile *of = &sampling->source->files[file];
	uint64		size = of->identity.size;
	char	   *data = palloc(len + 1);
	FcSniffPlace *place;

	Assert(offset + len <= size);
	CHECK_FOR_INTERRUPTS();
	fc_source_read(sampling->source, of->base + offset, data, len);
	while (offset == 0 && len < size && fc_sample_is_short(data, len) &&
		   sampling->sample->bytes + len < FC_SAMPLE_MOST)
	{
		size_t		more = Min(len, size - len);

		data = repalloc(data, len + more + 1);
		fc_source_read(sampling->source, of->base + len, data + len, more);
		len += more;
	}
	place = fc_sample_add(sampling, file, data, len);
	place->offset = offset;
	place->start = (offset == 0);
	place->end = (offset + len == size && !of->cut);
	sampling->sample->whole &= place->start && place->end;
}

/* Reads n places of a plain file, spread from its start to its end */
static void
fc_sample_spread(FcSniffSampling *sampling, uint32 file, uint64 n)
{
	uint64		size = sampling->source->files[file].identity.size;
	uint64		step;

	if (size <= n * FC_SAMPLE_PLACE)
	{
		fc_sample_read(sampling, file, 0, size);
		return;
	}
	step = n > 1 ? (size - FC_SAMPLE_PLACE) / (n - 1) : 0;
	for (uint64 i = 0; i < n; i++)
		fc_sample_read(sampling, file, n > 1 && i == n - 1 ? size - FC_SAMPLE_PLACE : i * step,
					   FC_SAMPLE_PLACE);
}

/* Where number i of n files is that stand for all, the last one included */
static int
fc_sample_choose(uint32 i, uint32 n, const List *all)
{
	Assert(i < n && n <= list_length(all));
	return n == 1 ? 0 : (int) ((uint64) i * (list_length(all) - 1) / (n - 1));
}

/* Reads the plain ones among the files: their numbers */
static void
fc_sample_plain(FcSniffSampling *sampling, const List *plain)
{
	uint32		n = Min(list_length(plain), FC_SAMPLE_PLACES);
	uint64		total = 0;

	for (uint32 i = 0; i < n; i++)
		total += sampling->source->files[list_nth_int(plain, fc_sample_choose(i, n, plain))].identity.size;
	for (uint32 i = 0; i < n; i++)
	{
		uint32		file = list_nth_int(plain, fc_sample_choose(i, n, plain));
		double		share = (double) sampling->source->files[file].identity.size / Max(total, 1);

		fc_sample_spread(sampling, file, 1 + (uint64) (share * (FC_SAMPLE_PLACES - n)));
	}
	sampling->sample->nsampled += n;
	sampling->sample->whole &= (n == list_length(plain));
}

/* What is kept of an input that comes once */
typedef struct FcHead
{
	FcSniffSampling *sampling;
	uint32		file;
	StringInfoData data;		/* its beginning */
	size_t		most;			/* bytes of that */
	int			slices;			/* that may come after it */
	uint64		seen;			/* bytes so far */
} FcHead;

/* FcUnpacker.put: keeps the beginning, and a part of each block after it */
static FcUnpackPut
fc_sample_put(void *arg, const char *buf, size_t len)
{
	FcHead	   *head = arg;
	FcSniffPlace *place;

	if (head->data.len < head->most)
		appendBinaryStringInfo(&head->data, buf, (int) len);
	else if (head->slices-- > 0)
	{
		size_t		kept = Min(len, FC_SAMPLE_SLICE);
		char	   *data = palloc(kept + 1);

		place = fc_sample_add(head->sampling, head->file, memcpy(data, buf, kept), kept);
		place->offset = head->seen;
		head->sampling->sample->whole = false;
	}
	head->seen += len;
	return head->slices > 0 ? FC_PUT_ELSEWHERE : FC_PUT_ENOUGH;
}

/*
 * Unpacks, if it is packed, the first bytes of one of n inputs, and keeps some
 * of them.  Then a program is stopped, by the end of its pipe.  Returns the
 * bytes of the input, and in *unpacked what they gave.
 */
static uint64
fc_sample_head(FcSniffSampling *sampling, uint32 file, FcInput *input, FcCodecKind kind,
			   uint32 n, uint64 *unpacked)
{
	FcUnpacker	unpacker;
	FcUnpackEnd end;
	FcBudget	budget;
	pg_atomic_uint64 read;
	FcHead		head = {sampling, file};
	FcSniffPlace *place;
	uint64		taken;

	initStringInfo(&head.data);
	head.most = FC_SAMPLE_HEAD / n;
	head.slices = FC_SAMPLE_SLICES / n;
	pg_atomic_init_u64(&read, 0);
	fc_budget_init(&budget, fc_settings_memory(0));
	fc_unpack_begin(&unpacker, NULL, 0, &budget, &read);
	unpacker.hint = sampling->hint;
	unpacker.put = fc_sample_put;
	unpacker.arg = &head;
	fc_unpack_open(&unpacker, input, kind);
	do
	{
		end = fc_unpack_some(&unpacker, unpacker.written + 1);
	} while (end == FC_UNPACK_MORE && head.slices > 0);
	/* a program that has failed may have been cut, and its error comes first */
	if (end == FC_UNPACK_FAULT && sampling->source &&
		!(unpacker.fault.cut && sampling->source->files[file].cut))
		fc_unpack_throw(&unpacker);
	taken = fc_unpack_taken(&unpacker);
	if (unpacker.kind != FC_CODEC_NONE)
		sampling->sample->codec = fc_codec_name(unpacker.kind);
	sampling->sample->utf16 |= unpacker.utf16.is;
	fc_unpack_close(&unpacker);
	fc_unpack_end(&unpacker, NULL);
	if (!sampling->source)
	{
		fc_program_end(input);
		if (end != FC_UNPACK_MORE)
			fc_program_check_end(input, fc_program_hint());
		if (end == FC_UNPACK_FAULT)
			fc_unpack_throw(&unpacker);
	}
	place = fc_sample_add(sampling, file, head.data.data, head.data.len);
	place->start = true;
	place->end = (end == FC_UNPACK_END && head.seen == head.data.len);
	sampling->sample->whole &= place->end;
	*unpacked += head.seen;
	return taken;
}

/* Unpacks the heads of the packed ones among the files: their numbers */
static void
fc_sample_packed(FcSniffSampling *sampling, const List *packed)
{
	uint32		n = Min(list_length(packed), FC_SAMPLE_HEADS);
	uint64		unpacked = 0;
	uint64		taken = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		file = list_nth_int(packed, fc_sample_choose(i, n, packed));
		FcFileInput from;

		CHECK_FOR_INTERRUPTS();
		fc_piece_input(&from, sampling->source, file, 0);
		taken += fc_sample_head(sampling, file, &from.input,
								(FcCodecKind) sampling->source->files[file].kind, n, &unpacked);
	}
	sampling->growth = (double) unpacked / Max(taken, 1);
	sampling->sample->nsampled += n;
	sampling->sample->whole &= (n == list_length(packed));
}

/* Finds columns that the folders of all files name */
static void
fc_sample_folders(FcSniffSample *sample, const FcSource *source)
{
	const char *path = strVal(linitial(sample->names));

	for (const char *end; (end = strchr(path, '/')) != NULL; path = end + 1)
	{
		size_t		len = strcspn(path, "=/");
		FcFolder   *folder;
		char	   *value;

		if (len == 0 || path[len] != '=' || len >= NAMEDATALEN)
			continue;
		folder = palloc0(sizeof(FcFolder));
		folder->name = pnstrdup(path, len);
		for (uint32 i = 0; i < source->nfiles && fc_origin_path(source, i, folder->name, &value); i++)
		{
			CHECK_FOR_INTERRUPTS();
			folder->values = lappend(folder->values, value);
		}
		if (list_length(folder->values) == source->nfiles)
			sample->folders = lappend(sample->folders, folder);
	}
}

/* Is it a pattern or list of files, of which folders tell more than one? */
static bool
fc_sample_is_many(const FcOptions *options)
{
	return list_length(options->sources) > 1 || strpbrk(strVal(linitial(options->sources)), "*?[") != NULL;
}

/* Samples files; tells what they have in all */
static void
fc_sample_files(FcSniffSampling *sampling, const FcOptions *options)
{
	FcTarget	target = {.options = unconstify(FcOptions *, options), .sources = options->sources};
	FcSource   *source = fc_access_open(&target, FC_SAMPLE_STREAM);
	FcSniffSample *sample = sampling->sample;
	List	   *plain = NIL;
	List	   *packed = NIL;
	uint64		packed_size = 0;

	sampling->source = source;
	for (uint32 i = 0; i < source->nfiles; i++)
	{
		const FcFile *file = &source->files[i];

		CHECK_FOR_INTERRUPTS();
		sample->names = lappend(sample->names, makeString(pstrdup(fc_source_path(source, i))));
		sample->size += file->identity.size;
		if (file->kind >= FC_CODEC_REFUSED)
			fc_unpack_refuse((FcCodecKind) file->kind, "file", fc_source_path(source, i));
		if (file->kind == FC_CODEC_NONE)
			plain = lappend_int(plain, i);
		else
		{
			packed = lappend_int(packed, i);
			packed_size += file->identity.size;
		}
	}
	fc_sample_plain(sampling, plain);
	fc_sample_packed(sampling, packed);
	sample->unpacked = sample->size - packed_size + (uint64) (packed_size * sampling->growth);
	if (fc_sample_is_many(options) && !options->given[FC_OPTION_transform])
		fc_sample_folders(sample, source);
	fc_source_close(source);
}

/* Samples what the programs print first */
static void
fc_sample_programs(FcSniffSampling *sampling, const List *commands)
{
	FcSniffSample *sample = sampling->sample;
	uint32		n = Min(list_length(commands), FC_SAMPLE_HEADS);
	uint64		unpacked = 0;

	fc_program_check();
	sample->word = "program";
	sample->names = list_copy(commands);
	for (uint32 i = 0; i < n; i++)
	{
		int			number = fc_sample_choose(i, n, commands);
		FcInput    *input = fc_program_begin(strVal(list_nth(commands, number)));

		(void) fc_sample_head(sampling, number, input, FC_CODEC_UNKNOWN, n, &unpacked);
	}
	sample->nsampled = n;
	sample->whole &= (n == list_length(commands));
	sample->unpacked = sample->whole ? sample->bytes : 0;
}

/*
 * Skips what may stand before the first command of SQL: blanks and comments, a
 * semicolon after them, as mysqldump has it
 */
static const char *
fc_sample_skip_comments(const char *s, const char *end)
{
	while (s < end)
	{
		bool		line = end - s >= 2 && s[0] == '-' && s[1] == '-';
		bool		block = end - s >= 2 && s[0] == '/' && s[1] == '*';

		if (!line && !block && !isspace((unsigned char) *s) && *s != ';')
			break;
		if (line || block)
			for (s += 2; s < end && !(line ? *s == '\n' : *s == '/' && s[-1] == '*');)
				s++;
		if (s < end)
			s++;
	}
	return s;
}

/*
 * Is the place the beginning of a script of SQL, as pg_dump and mysqldump write
 * one?  It has a command first, apart from comments, and a line that ends with
 * a semicolon.
 */
static bool
fc_sample_is_script(const FcSniffPlace *place)
{
	static const char *const commands[] = {
		"insert into ", "replace into ", "create table ", "create database ", "create schema ", "create extension ",
		"create type ", "create sequence ", "create view ", "create function ", "create or replace ", "create role ",
		"drop table ", "drop database ", "drop schema ", "alter table ", "lock tables ", "begin;\n", "begin;\r\n",
		"begin transaction;", "start transaction;", "set names ", "set statement_timeout ", "set client_encoding ",
		"set default_transaction_read_only ", "set sql_mode ", "set foreign_key_checks", "set define off",
		"pragma foreign_keys", "select pg_catalog.set_config(", "\\restrict ", "\\connect "
	};
	const char *end = place->data + place->len;
	const char *s = place->data;
	bool		ends = false;

	if (place->len >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0)
		s += 3;
	s = fc_sample_skip_comments(s, end);
	for (const char *c = s; !ends && c < end && (c = memchr(c, ';', end - c)) != NULL; c++)
		ends = c + 1 == end || c[1] == '\n' || c[1] == '\r';
	for (int i = 0; i < lengthof(commands) && ends; i++)
	{
		size_t		len = strlen(commands[i]);

		if (end - s >= len && pg_strncasecmp(s, commands[i], len) == 0)
			return true;
	}
	return false;
}

/* ERROR 22P04 for a script of SQL, unless the caller says how it has values */
static void
fc_sample_check_script(const FcSniffSample *sample, const FcSniffPlace *place, const FcOptions *options)
{
	if (options->given[FC_OPTION_format] || options->given[FC_OPTION_delimiter] || !fc_sample_is_script(place))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("%s \"%s\" is a script of SQL commands", sample->word,
					strVal(list_nth(sample->names, place->file))),
			 errhint("Run it by psql -f; one of another system, by the program that it is for.  If it is a file of values all the same, give its delimiter.")));
}

/* ERROR for what COPY cannot read as text, and for scripts */
static void
fc_sample_check(const FcSniffSample *sample, const FcOptions *options)
{
	for (int i = 0; i < sample->nplaces; i++)
	{
		const FcSniffPlace *place = &sample->places[i];
		const char *name = strVal(list_nth(sample->names, place->file));

		if (place->start && place->len >= 11 && memcmp(place->data, FC_BINARY_HEADER, 11) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("%s \"%s\" is in the binary format of COPY", sample->word, name),
					 errdetail("It does not say which types its columns have."),
					 errhint("Create a table like the one that it was copied from, and load it with format => 'binary'.")));
		if (place->start)
			fc_sample_check_script(sample, place, options);
		if (memchr(place->data, '\0', place->len))
			ereport(ERROR,
					(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
					 errmsg("%s \"%s\" is no text: it has bytes that are zero", sample->word, name),
					 errhint("Files of text, csv and packed ones can be loaded. If it is in UTF-16, add encoding => 'UTF16'.")));
	}
}

/*
 * Converts a place to the server's encoding, from one in which a byte of a
 * character can look like a delimiter.  Line ends stand alone in all of them.
 */
static void
fc_sample_recode_place(FcSniffPlace *place, int encoding, Oid proc)
{
	char	   *from = place->data;
	size_t		len = place->len;
	char	   *to;

	if (!place->start)
	{
		char	   *line = memchr(from, '\n', len);

		len -= line ? line + 1 - from : 0;
		from = line ? line + 1 : from;
	}
	to = palloc(len * MAX_CONVERSION_GROWTH + 1);
	(void) pg_do_encoding_conversion_buf(proc, encoding, GetDatabaseEncoding(),
										 (unsigned char *) from, (int) len,
										 (unsigned char *) to,
										 (int) (len * MAX_CONVERSION_GROWTH + 1), true);
	pfree(place->data);
	place->data = to;
	place->len = strlen(to);
}

static void
fc_sample_recode(FcSniffSample *sample, int encoding)
{
	if (!PG_ENCODING_IS_CLIENT_ONLY(encoding) || GetDatabaseEncoding() == PG_SQL_ASCII)
		return;
	for (int i = 0; i < sample->nplaces; i++)
		fc_sample_recode_place(&sample->places[i], encoding, fc_recode_proc(encoding));
}

static int
fc_sample_compare(const void *a, const void *b)
{
	const FcSniffPlace *pa = a;
	const FcSniffPlace *pb = b;

	if (pa->file != pb->file)
		return pa->file < pb->file ? -1 : 1;
	return pa->offset < pb->offset ? -1 : pa->offset > pb->offset;
}

void
fc_sample_make_room(FcSniffSample *sample)
{
	size_t		longest = 0;

	for (int i = 0; i < sample->nplaces; i++)
		longest = Max(longest, sample->places[i].len);
	sample->cut = palloc(longest + FC_SNIFF_SLACK);
}

/*
 * Has every other byte of a file's first ones the value zero, and no other one,
 * as letters of ASCII have in UTF-16?
 */
static bool
fc_sample_looks_utf16(const FcSniffSample *sample)
{
	const FcSniffPlace *place = sample->places;
	size_t		len = Min(place->len, FC_SAMPLE_ZEROS);
	int			zeros[2] = {0, 0};

	for (size_t i = 0; i < len; i++)
		zeros[i % 2] += place->data[i] == '\0';
	return place->start && Min(zeros[0], zeros[1]) == 0 && Max(zeros[0], zeros[1]) > len / 4;
}

/* Takes the places alone */
static FcSniffSample *
fc_sample_take_places(const FcOptions *options)
{
	FcSniffSampling sampling = {0};
	FcSniffSample *sample = palloc0(sizeof(FcSniffSample));

	sampling.sample = sample;
	sampling.hint = options->utf16;
	sample->word = "file";
	sample->whole = true;
	sample->places = palloc(sizeof(FcSniffPlace) *
							(FC_SAMPLE_PLACES + FC_SAMPLE_HEADS + FC_SAMPLE_SLICES));
	if (options->program)
		fc_sample_programs(&sampling, options->sources);
	else
		fc_sample_files(&sampling, options);
	if (sample->bytes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("%s \"%s\" is empty", sample->word, strVal(linitial(sample->names))),
				 errdetail("There is nothing to guess from.")));
	return sample;
}

FcSniffSample *
fc_sample_take(const FcOptions *options)
{
	FcSniffSample *sample = fc_sample_take_places(options);

	if (!options->given[FC_OPTION_encoding] && !sample->utf16 && fc_sample_looks_utf16(sample))
	{
		FcOptions	unmarked = *options;

		unmarked.utf16 = FC_UTF16_ANY;
		sample = fc_sample_take_places(&unmarked);
		sample->unmarked = sample->utf16;
	}
	fc_sample_check(sample, options);
	if (options->given[FC_OPTION_encoding])
		fc_sample_recode(sample, options->file_encoding);
	qsort(sample->places, sample->nplaces, sizeof(FcSniffPlace), fc_sample_compare);
	sample->fields = palloc(sizeof(FcField) * FC_SNIFF_FIELDS);
	fc_sample_make_room(sample);
	if (options->comment)
		sample->comment = options->comment[0];
	return sample;
}
