/*-------------------------------------------------------------------------
 *
 * grammar/binary.c
 *	  The binary format: tuples, whose fields tell how long they are.
 *
 * A walk takes a whole file in pieces of any size and counts its tuples as
 * grammar/quote_run.c counts records, for grammar/chunk.c.  The other
 * functions are about one tuple.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/binary.h"

#include <string.h>

/* COPY's limit of a field: what a StringInfo can hold */
#define MAX_FIELD	0x3ffffffe

#define TRAILER		(-1)

static inline int
read_int16(const void *buf)
{
	const unsigned char *p = buf;

	return (int16_t) (p[0] << 8 | p[1]);
}

static inline int32_t
read_int32(const void *buf)
{
	const unsigned char *p = buf;

	return (int32_t) ((uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 |
					  (uint32_t) p[2] << 8 | p[3]);
}

/* Is it the length of a field that COPY would read? */
static inline bool
is_length(int32_t length)
{
	return length >= -1 && length <= MAX_FIELD;
}

/*
 * The length of the tuple that begins at buf, if all of it is there.  Else 0,
 * and *end tells why: FC_END_MORE or FC_END_MALFORMED.
 *
 * Values are not looked at: COPY may refuse a malformed tuple for a value that
 * stands before its fault.
 */
static size_t
tuple_length(const FcDialect *dialect, const char *buf, size_t len, FcEnd *end)
{
	size_t		at = 2;

	*end = FC_END_MORE;
	if (len < 2)
		return 0;
	*end = FC_END_MALFORMED;
	if (read_int16(buf) != dialect->nfields)
		return 0;
	for (int i = 0; i < dialect->nfields; i++)
	{
		int32_t		length;

		*end = FC_END_MORE;
		if (len - at < 4)
			return 0;
		length = read_int32(buf + at);
		at += 4;
		if (!is_length(length))
			*end = FC_END_MALFORMED;
		if (!is_length(length) || (length > 0 && (size_t) length > len - at))
			return 0;
		at += length > 0 ? (size_t) length : 0;
	}
	return at;
}

/*
 * Passes one piece of the tuple, of which up to n bytes are at p: a value or
 * an integer, or a part of one.  Returns the piece's bytes.  *ends tells
 * whether the tuple ends there.
 */
static inline size_t
walk_piece(const FcDialect *dialect, FcWalk *walk, const char *p, size_t n, bool *ends)
{
	/* the integer that stands there */
	int			size = walk->fed <= walk->start + 1 ? 2 : 4;
	size_t		want = walk->left > 0 ? walk->left : (size_t) (size - walk->nhead);
	size_t		take = want < n ? want : n;

	*ends = false;
	if (walk->left > 0)
	{
		walk->left -= take;
		*ends = walk->left == 0 && walk->nfields == 0;
		return take;
	}
	memcpy(walk->head + walk->nhead, p, take);
	walk->nhead += (int) take;
	if (walk->nhead < size)
		return take;
	walk->nhead = 0;
	if (size == 2)
	{
		int			count = read_int16(walk->head);

		walk->ended = count == TRAILER;
		walk->bad = !walk->ended && count != dialect->nfields;
		walk->nfields = walk->ended ? 0 : count;
	}
	else
	{
		int32_t		length = read_int32(walk->head);

		walk->bad = !is_length(length);
		walk->nfields--;
		walk->left = length < 0 ? 0 : (uint64_t) length;
	}
	*ends = walk->nfields == 0 && walk->left == 0 && !walk->ended && !walk->bad;
	return take;
}

/* See grammar/binary.h.  After the trailer each byte is one too many. */
void
fc_walk_feed(const FcDialect *dialect, FcWalk *walk, FcQuoteRun *run,
			 const char *buf, size_t len)
{
	size_t		at = 0;

	walk->bad |= walk->ended && len > 0;
	while (at < len && !walk->bad)
	{
		FcEnd		end;
		size_t		take = walk->fed > walk->start ? 0 :
			tuple_length(dialect, buf + at, len - at, &end);
		bool		ends = take > 0;

		if (!ends)
			take = walk_piece(dialect, walk, buf + at, len - at, &ends);
		at += take;
		walk->fed += take;
		walk->bad |= walk->ended && at < len;
		if (!ends)
			continue;
		walk->start = walk->fed;
		run->records++;
		run->last = run->fed + at;
		if (run->first == FC_NOWHERE)
			run->first = run->last;
	}
	walk->fed += len - at;
	run->fed += len;
}

/* COPY takes a single byte where a tuple would begin for the end, too. */
bool
fc_walk_may_end(const FcWalk *walk)
{
	return !walk->bad && (walk->ended || walk->fed <= walk->start + 1);
}

/* See grammar/binary.h.  A tuple that is not whole is looked at anew. */
FcEnd
fc_binary_end(const FcDialect *dialect, FcScan *scan, const char *buf,
			  size_t len, bool eof)
{
	FcEnd		end;

	scan->content = 0;
	if (len < 2 && eof)
		return FC_END_NONE;
	if (len >= 2 && read_int16(buf) == TRAILER)
		return len > 2 ? FC_END_MALFORMED : eof ? FC_END_MARKER : FC_END_MORE;
	scan->total = tuple_length(dialect, buf, len, &end);
	if (scan->total == 0)
		return eof ? FC_END_MALFORMED : end;
	scan->pos = scan->content = scan->total;
	return FC_END_FOUND;
}

/*
 * Makes the field whose length stands at rec[at]; false if rec[at..len) does
 * not hold all of it.
 */
static inline bool
field_at(char *rec, size_t at, size_t len, FcField *field)
{
	int32_t		length;

	if (len - at < 4)
		return false;
	length = read_int32(rec + at);
	if (!is_length(length) || (length > 0 && (size_t) length > len - at - 4))
		return false;
	*field = (FcField) {
		.data = rec + at + 4,.len = length < 0 ? 0 : (size_t) length,.null = length < 0
	};
	return true;
}

int
fc_binary_fields(char *rec, size_t len, FcField *fields, int max)
{
	int			n = len < 2 ? -1 : read_int16(rec);
	size_t		at = 2;

	for (int i = 0; i < n && i < max; i++)
	{
		if (!field_at(rec, at, len, &fields[i]))
			return -1;
		at += 4 + fields[i].len;
	}
	return n <= max && at != len ? -1 : n;
}

bool
fc_binary_field(char *rec, size_t len, int wanted, FcField *field)
{
	size_t		at = 2;

	if (len < 2 || read_int16(rec) <= wanted)
		return false;
	for (int i = 0; i <= wanted; i++)
	{
		if (!field_at(rec, at, len, field))
			return false;
		at += 4 + field->len;
	}
	return true;
}
