/*-------------------------------------------------------------------------
 *
 * agree.h
 *	  Does the record grammar agree with the slow one about some bytes?
 *
 * The bytes are taken for a file.  Record ends are found in pieces cut
 * anywhere, runs are fed in pieces, chunks are cut anywhere and resolved, and
 * every record is cut into fields, also by marks; all is compared with slow.h.
 * The masks' kernel is another one each time.  Whatever the grammar reads is an
 * exact copy, so that a sanitizer sees a byte too far.
 *
 * Used with made-up bytes by the unit tests and with a fuzzer's by test/fuzz.
 *
 *-------------------------------------------------------------------------
 */
#ifndef AGREE_H
#define AGREE_H

#include "grammar/chunk.h"
#include "grammar/field.h"
#include "grammar/marks.h"
#include "grammar/places.h"
#include "slow.h"

#define AGREE_BYTES		4096	/* length of the longest file */
#define AGREE_FIELDS	16		/* room for the fields of a record */

typedef struct Agree
{
	FcDialect	dialect;		/* as the file begins */
	const char *data;
	size_t		len;
	uint64_t	seed;			/* of the cuts */

	/* what the slow grammar finds */
	SlowRecord	records[AGREE_BYTES + 1];	/* the last is what ended it */
	size_t		n;				/* without that */
	FcEnd		end;
	FcEol		eol;			/* at the end */
} Agree;

/* How many bytes to take of those left: mostly few. */
static inline size_t
agree_cut(Agree *agree, size_t left)
{
	size_t		size = 1 + made_up(&agree->seed, 1 << made_up(&agree->seed, left > 1024 ? 13 : 9));

	return size < left ? size : left;
}

static inline void
agree_read_slowly(Agree *agree)
{
	FcDialect	dialect = agree->dialect;
	SlowRecord *rec = agree->records;

	memset(rec, 0, sizeof(*rec));
	agree->n = 0;
	while ((agree->end = slow_record(&dialect, agree->data, agree->len, rec)) == FC_END_FOUND)
	{
		memset(rec + 1, 0, sizeof(*rec));
		rec[1].start = rec->start + rec->total;
		rec[1].line = rec->line + 1 + rec->embedded;
		rec++;
		agree->n++;
	}
	agree->eol = dialect.eol;
}

/* The end of the record at "start", its bytes coming in pieces. */
static inline FcEnd
agree_find_end(Agree *agree, FcDialect *dialect, size_t start, FcScan *scan)
{
	size_t		left = agree->len - start;
	size_t		seen = 0;
	bool		eof = false;

	for (;;)
	{
		char	   *piece = exact_copy(agree->data + start, seen);
		FcEnd		end = fc_record_end(dialect, scan, piece, seen, eof);

		free(piece);
		if (end != FC_END_MORE || eof)
			return end;
		eof = seen == left;
		seen += agree_cut(agree, left - seen + 1);
		if (seen > left)
			seen = left;
	}
}

static inline const char *
agree_about_records(Agree *agree)
{
	FcDialect	dialect = agree->dialect;

	for (size_t i = 0; i <= agree->n; i++)
	{
		SlowRecord *slow = &agree->records[i];
		FcEnd		wanted = i < agree->n ? FC_END_FOUND : agree->end;
		FcScan		scan = {0};

		if (agree_find_end(agree, &dialect, slow->start, &scan) != wanted)
			return "kind of a record's end";
		if (wanted != FC_END_NONE && scan.content != slow->content)
			return "content of a record";
		if (wanted == FC_END_FOUND &&
			(scan.total != slow->total || scan.embedded != slow->embedded ||
			 scan.unterminated != slow->unterminated))
			return "length of a record";
	}
	/* a marker that is not alone tells the style only where it is an error */
	if (dialect.eol != agree->eol && agree->end != FC_END_MARKER_CORRUPT)
		return "style of the line ends";
	return NULL;
}

static inline bool
agree_state_occurs(const FcDialect *dialect, int state)
{
	if (dialect->mode == FC_MODE_TEXT)
		return state == FC_OUTSIDE || (state == FC_ESCAPED && !dialect->raw);
	return state != FC_ESCAPED || dialect->quote != dialect->escape;
}

static inline const char *
agree_about_runs(Agree *agree)
{
	for (int state = 0; state < FC_NQUOTES; state++)
	{
		FcQuoteRun	run;
		FcQuoteRun	slow;

		if (!agree_state_occurs(&agree->dialect, state))
			continue;
		fc_quote_run_init(&run, (FcQuote) state);
		slow = run;
		slow_run(&agree->dialect, &slow, agree->data, agree->len);
		for (size_t at = 0; at < agree->len;)
		{
			size_t		size = agree_cut(agree, agree->len - at);
			char	   *piece = exact_copy(agree->data + at, size);

			fc_quote_run_feed(&agree->dialect, &run, piece, size);
			free(piece);
			at += size;
		}
		if (run.state != slow.state || run.fed != slow.fed ||
			run.records != slow.records || run.embedded != slow.embedded ||
			run.first != slow.first || run.before != slow.before ||
			run.last != slow.last || run.marker != slow.marker)
			return "a run";
	}
	return NULL;
}

/* Cuts the file into chunks, each fed in pieces.  Returns their number. */
static inline size_t
agree_make_chunks(Agree *agree, FcChunk *chunks)
{
	size_t		n = 0;

	for (size_t at = 0; at < agree->len; n++)
	{
		size_t		end = at + agree_cut(agree, agree->len - at);
		FcChunkScan scan;

		fc_chunk_begin(&agree->dialect, &scan);
		chunks[n].start = at;
		while (at < end)
		{
			size_t		size = agree_cut(agree, end - at);
			char	   *piece = exact_copy(agree->data + at, size);

			fc_chunk_feed(&agree->dialect, &scan, piece, size);
			free(piece);
			at += size;
		}
		fc_chunk_finish(&scan, &chunks[n]);
	}
	return n;
}

/* The marker that the chunks found: the one that stopped the slow reading. */
static inline bool
agree_marker(const Agree *agree, uint64_t marker)
{
	const SlowRecord *last = &agree->records[agree->n];

	if (agree->end == FC_END_MARKER)
		return marker == last->start;
	/* behind an error anything may be found */
	return marker == FC_NOWHERE ||
		(agree->end != FC_END_NONE && marker > last->start);
}

static inline const char *
agree_about_chunks(Agree *agree)
{
	static FcChunk chunks[AGREE_BYTES];
	static FcChunkStart starts[AGREE_BYTES];
	FcChunkPoint at = {FC_OUTSIDE, true, 0, 0, 0, FC_NOWHERE};
	size_t		n = agree_make_chunks(agree, chunks);
	size_t		record = 0;

	if (!fc_chunk_resolve(&agree->dialect, chunks, n, &at, starts))
		return "whether the chunks join";
	for (size_t i = 0; i < n && record < agree->n; i++)
	{
		SlowRecord *slow = &agree->records[record];

		if (starts[i].records == 0)
			continue;
		if (starts[i].first != slow->start || starts[i].first_line != slow->line)
			return "the first record of a chunk";
		record += starts[i].records;
		if (record < agree->n &&
			agree->records[record].start < chunks[i].start + chunks[i].length)
			return "the number of a chunk's records";
	}
	if (agree->end == FC_END_NONE && at.records != agree->n)
		return "the number of records";
	if (record < agree->n)
		return "records no chunk has";
	return agree_marker(agree, at.marker) ? NULL : "the marker";
}

/* One field, as cut by the grammar, against the slow one. */
static inline bool
agree_field(const FcField *field, const SlowField *slow, const char *rec)
{
	if (field->data < rec + slow->start || field->data > rec + slow->behind ||
		field->null != slow->null || field->marker != slow->marker)
		return false;
	/* what a null or default string stands for is nobody's business */
	if (field->null || field->marker)
		return true;
	return field->len == slow->len && field->data[field->len] == '\0' &&
		field->verify == slow->verify &&
		memcmp(field->data, slow->value, slow->len) == 0;
}

/*
 * The field alone, and that nothing but it and the byte behind are written; by
 * the record's marks where there are some.
 */
static inline bool
agree_single_field(const Agree *agree, const char *rec, size_t len, int number,
				   const SlowField *slow, const FcMarks *marks, size_t pos)
{
	char	   *copy = exact_copy(rec, len + 1);
	FcField		field;
	FcBorders	borders;
	bool		same;

	if (marks)
	{
		same = fc_marks_borders(marks, pos, len, number, &borders);
		if (same)
			fc_field_cut(&agree->dialect, copy, &borders, &field);
	}
	else
		same = fc_field_at(&agree->dialect, copy, len, number, &field);
	same = same && agree_field(&field, slow, copy) &&
		memcmp(copy, rec, slow->start) == 0 &&
		(slow->behind == len ||
		 memcmp(copy + slow->behind + 1, rec + slow->behind + 1,
				len - slow->behind) == 0);
	free(copy);
	return same;
}

/* Is any byte that is marked 0, or not ASCII? */
static inline bool
agree_is_strange(const FcMarks *marks, const char *buf)
{
	for (size_t i = 0; i < marks->len; i++)
		if (buf[i] == 0 || (buf[i] & 0x80))
			return true;
	return false;
}

/* All fields of a record, by its marks and without, are the same. */
static inline bool
agree_all_fields(const Agree *agree, const FcMarks *marks, size_t pos,
				 const char *rec, size_t len)
{
	char	   *one = exact_copy(rec, len + 1);
	char	   *other = exact_copy(rec, len + 1);
	FcField		fields[AGREE_FIELDS];
	FcField		marked[AGREE_FIELDS];
	int			n = fc_fields_cut(&agree->dialect, one, len, fields, AGREE_FIELDS);
	bool		same = n == fc_fields_marked(&agree->dialect, marks, pos, other, len,
											marked, AGREE_FIELDS);

	for (int i = 0; i < n && i < AGREE_FIELDS && same; i++)
		same = fields[i].len == marked[i].len &&
			memcmp(fields[i].data, marked[i].data, fields[i].len + 1) == 0 &&
			fields[i].null == marked[i].null && fields[i].marker == marked[i].marker &&
			fields[i].verify == marked[i].verify;
	free(one);
	free(other);
	return same;
}

/* The same, for marks of this record alone. */
static inline bool
agree_marked_alone(const Agree *agree, const char *rec, size_t len, bool closed)
{
	static FcMarks marks;

	if (len == 0 || !fc_marks_serve(&agree->dialect))
		return true;
	fc_marks_fill(&agree->dialect, &marks, rec, len);
	if (marks.len < len)
		return true;
	if (agree->dialect.mode == FC_MODE_CSV && fc_marks_closed(&marks, len) != closed)
		return false;
	return !closed || agree_all_fields(agree, &marks, 0, rec, len);
}

/* The fields of one record, whose bytes are rec[0..len). */
static inline const char *
agree_about_fields(const Agree *agree, const char *rec, size_t len)
{
	const char *wrong = NULL;
	char	   *copy = exact_copy(rec, len + 1);
	SlowField	slow = {0};
	FcField		fields[AGREE_FIELDS];
	bool		more = true;
	int			n = 0;
	int			found = fc_fields_cut(&agree->dialect, copy, len,
									  fields, AGREE_FIELDS);

	while (more && wrong == NULL)
	{
		bool		closed = slow_field(&agree->dialect, rec, len,
										agree->dialect.null_string,
										agree->dialect.null_len, &slow);

		if (closed && n < AGREE_FIELDS && found >= 0 &&
			!agree_field(&fields[n], &slow, copy))
			wrong = "a field";
		if (closed && n < AGREE_FIELDS &&
			!agree_single_field(agree, rec, len, n, &slow, NULL, 0))
			wrong = "a single field";
		n = closed ? n + 1 : -1;
		more = closed && slow.behind < len;
		free(slow.value);
		slow = (SlowField) {.start = slow.behind + 1 + agree->dialect.delim_more};
	}
	if (wrong == NULL && found != n)
		wrong = "the number of fields";
	if (wrong == NULL && !agree_marked_alone(agree, rec, len, found >= 0))
		wrong = "the fields of a record marked alone";
	free(copy);
	return wrong;
}

/* The fields of a record by its marks, and that there are no more. */
static inline const char *
agree_about_marked_fields(const Agree *agree, const FcMarks *marks,
						  size_t pos, const char *rec, size_t len)
{
	const char *wrong = NULL;
	SlowField	slow = {0};
	FcBorders	borders;
	int			n = 0;
	bool		more;

	do
	{
		slow_field(&agree->dialect, rec, len, agree->dialect.null_string,
				   agree->dialect.null_len, &slow);
		if (!agree_single_field(agree, rec, len, n++, &slow, marks, pos))
			wrong = "a marked field";
		more = slow.behind < len;
		free(slow.value);
		slow = (SlowField) {.start = slow.behind + 1 + agree->dialect.delim_more};
	} while (more && wrong == NULL);
	if (wrong == NULL && fc_marks_borders(marks, pos, len, n, &borders))
		wrong = "the number of marked fields";
	if (wrong == NULL && !agree_all_fields(agree, marks, pos, rec, len))
		wrong = "all marked fields";
	if (wrong == NULL && marks->has_strange != agree_is_strange(marks, rec - pos))
		wrong = "strange bytes";
	return wrong;
}

/*
 * Record number i, marked at pos of what was copied to buf.  *found says
 * whether marks tell where it ends.
 */
static inline const char *
agree_about_marked(const Agree *agree, const FcMarks *marks, const char *buf,
				   size_t pos, size_t i, bool *found)
{
	const SlowRecord *slow = &agree->records[i];
	FcScan		scan;
	bool		plain = i < agree->n && slow->total > slow->content &&
		pos + slow->total <= marks->len && buf[pos + slow->content] != '\\';

	if (plain && agree->dialect.csv_marker && slow->content >= 2 &&
		memcmp(buf + pos, "\\.", 2) == 0)
		plain = false;
	*found = fc_marks_record(&agree->dialect, marks, buf, pos, &scan);
	if (*found != plain)
		return "whether marks tell a record's end";
	if (!*found)
		return NULL;
	if (scan.content != slow->content || scan.total != slow->total ||
		scan.embedded != slow->embedded)
		return "a marked record";
	return agree_about_marked_fields(agree, marks, pos, buf + pos, scan.content);
}

/*
 * Are the places of one record those of its fields, one by one?  "at" has them,
 * and is where the record begins.
 */
static inline bool
agree_record_places(const Agree *agree, const FcMarks *marks, const char *buf,
					int nfields, const uint16_t *at)
{
	const FcDialect *dialect = &agree->dialect;
	FcScan		scan = {0};
	FcBorders	borders;

	if (!fc_marks_record(dialect, marks, buf, at[0], &scan) ||
		fc_marks_borders(marks, at[0], scan.content, nfields, &borders) ||
		at[fc_places_width(dialect, nfields)] != at[0] + scan.total)
		return false;
	for (int i = 0; i < nfields; i++)
		if (!fc_marks_borders(marks, at[0], scan.content, i, &borders) ||
			at[0] + borders.start != at[i] ||
			at[0] + borders.end != at[i + 1] - 1u - (i < nfields - 1 ? dialect->delim_more : 0))
			return false;
	return true;
}

/*
 * Places of fields of several records at once, from pos on: as the records are
 * cut one by one, and as many as there are with so many fields.
 */
static inline const char *
agree_about_places(Agree *agree, const FcMarks *marks, const char *buf, size_t pos)
{
	static uint16_t at[FC_PLACES_MOST];
	const FcDialect *dialect = &agree->dialect;
	int			nfields = 1 + made_up(&agree->seed, 3);
	int			most = 1 + made_up(&agree->seed, 9);
	int			width = fc_places_width(dialect, nfields);
	FcPlaces	places = {.at = at};
	int			n;
	FcScan		scan = {0};
	FcBorders	borders;

	if (pos >= marks->len)
		return NULL;
	n = fc_places_find(dialect, marks, buf, pos, nfields, most, &places);
	for (int i = 0; i < n; i++)
	{
		if (!agree_record_places(agree, marks, buf, nfields, at + i * width))
			return "the places of a record's fields";
		for (int j = 0; j < nfields && !places.near; j++)
			if (at[i * width + j + 1] - 1u - at[i * width + j] == dialect->null_len)
				return "whether a field is as long as the null string";
	}
	/* the next one must have a reason not to be among them */
	pos = at[n * width];
	if (n < most && fc_marks_record(dialect, marks, buf, pos, &scan) &&
		fc_marks_borders(marks, pos, scan.content, nfields - 1, &borders) &&
		!fc_marks_borders(marks, pos, scan.content, nfields, &borders))
		return "how many records have so many fields";
	return NULL;
}

/* Is a byte that is marked a quote inside of its field?  One begins at pos. */
static inline bool
agree_is_inner(const Agree *agree, const FcMarks *marks, const char *buf, size_t pos, size_t i)
{
	size_t		after = i + 1 + agree->dialect.delim_more;

	return buf[i] == agree->dialect.quote && i != pos &&
		fc_marks_next(marks->delims, i - 1, i) >= i &&
		fc_marks_next(marks->ends, i - 1, i) >= i &&
		(after >= marks->len || fc_marks_next(marks->delims, i + 1, marks->len) != after) &&
		fc_marks_next(marks->ends, i + 1, marks->len) != i + 1;
}

/* The quotes inside fields from pos on, before "end", one after the other. */
static inline bool
agree_inner_quotes(const Agree *agree, const FcMarks *marks, const char *buf, size_t pos,
				   size_t end)
{
	size_t		i = pos;

	/* each search must begin where a field does */
	while (i < end && !agree_is_inner(agree, marks, buf, pos, i))
		i++;
	return i >= end ? fc_marks_inner(marks, pos, end) >= end :
		fc_marks_inner(marks, pos, end) == i;
}

/* Is a byte strange, and none of a delimiter of several bytes? */
static inline bool
agree_byte_is_strange(const FcMarks *marks, const char *buf, size_t i)
{
	size_t		last = fc_marks_next(marks->delims, i, marks->len);

	return (signed char) buf[i] <= 0 &&
		(marks->delim_more == 0 || last >= marks->len || last - i > (size_t) marks->delim_more);
}

/* Strange bytes from pos on, before "end": all are found, and none is cut off. */
static inline bool
agree_strange_bytes(const FcMarks *marks, const char *buf, size_t pos, size_t end)
{
	size_t		i = pos;
	size_t		last;

	while ((last = fc_marks_strange(marks, &pos, end)) > 0)
	{
		if (pos < i || last <= pos || last > end)
			return false;
		for (; i < pos; i++)
			if (agree_byte_is_strange(marks, buf, i))
				return false;
		if (!agree_byte_is_strange(marks, buf, pos) || !agree_byte_is_strange(marks, buf, last - 1) ||
			(last < end && agree_byte_is_strange(marks, buf, last)))
			return false;
		pos = i = last;
	}
	for (; i < end; i++)
		if (agree_byte_is_strange(marks, buf, i))
			return false;
	return true;
}

/* Bits of the records marked from pos on, as a loop over their bytes finds them. */
static inline const char *
agree_about_bits(Agree *agree, const FcMarks *marks, const char *buf, size_t pos)
{
	size_t		end = pos;
	FcScan		scan;

	for (int n = made_up(&agree->seed, 9);
		 n >= 0 && fc_marks_record(&agree->dialect, marks, buf, end, &scan); n--)
		end += scan.total;
	if (!agree_strange_bytes(marks, buf, pos, end))
		return "where strange bytes are";
	if (agree->dialect.mode == FC_MODE_CSV && !agree_inner_quotes(agree, marks, buf, pos, end))
		return "which quotes are inside fields";
	return NULL;
}

/* Marks stretches of any length, each from the first record not told yet. */
static inline const char *
agree_about_marks(Agree *agree)
{
	static FcMarks marks;
	const char *wrong = NULL;
	size_t		i = 0;

	while (i <= agree->n && wrong == NULL)
	{
		size_t		start = agree->records[i].start;
		size_t		size = agree->len - start;
		char	   *buf;
		size_t		first = i;
		bool		found = true;

		if (size == 0)
			break;
		if (made_up(&agree->seed, 2) == 1)
			size = agree_cut(agree, size);
		buf = exact_copy(agree->data + start, size);
		fc_marks_fill(&agree->dialect, &marks, buf, size);
		wrong = agree_about_places(agree, &marks, buf, 0);
		if (wrong == NULL)
			wrong = agree_about_bits(agree, &marks, buf, 0);
		while (i <= agree->n && found && wrong == NULL)
		{
			wrong = agree_about_marked(agree, &marks, buf,
									   agree->records[i].start - start, i,
									   &found);
			i += found;
			if (wrong == NULL && found && i <= agree->n)
				wrong = agree_about_places(agree, &marks, buf, agree->records[i].start - start);
			if (wrong == NULL && found && i <= agree->n)
				wrong = agree_about_bits(agree, &marks, buf, agree->records[i].start - start);
		}
		free(buf);
		i += i == first;
	}
	return wrong;
}

/* The kernel of the masks that a number stands for. */
static inline void
agree_use_kernel(uint64_t number)
{
	do
		fc_mask_kernel = fc_mask_number(number++ % FC_MASK_KERNELS);
	while (fc_mask_kernel == NULL);
}

/*
 * What the two grammars disagree about, or NULL.  The caller fills the first
 * part of agree; data[len] must be readable.
 */
static inline const char *
agree_check(Agree *agree)
{
	const char *wrong;

	agree_use_kernel(agree->seed >> 16);
	agree_read_slowly(agree);
	wrong = agree_about_records(agree);
	if (wrong == NULL && agree->dialect.eol != FC_EOL_UNKNOWN)
		wrong = agree_about_runs(agree);
	if (wrong == NULL && agree->dialect.eol != FC_EOL_UNKNOWN)
		wrong = agree_about_chunks(agree);
	if (wrong == NULL && fc_marks_serve(&agree->dialect))
		wrong = agree_about_marks(agree);
	for (size_t i = 0; i < agree->n && wrong == NULL; i++)
	{
		size_t		len = agree->records[i].content;
		char	   *rec = exact_copy(agree->data + agree->records[i].start,
									 len + 1);

		wrong = agree_about_fields(agree, rec, len);
		free(rec);
	}
	return wrong;
}

#endif							/* AGREE_H */
