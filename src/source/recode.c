/*-------------------------------------------------------------------------
 *
 * source/recode.c
 *	  A temporary copy of the source file in the server's encoding.
 *
 * In SJIS, BIG5, GBK, GB18030, UHC and JOHAB a byte within a character may
 * look like a quote; only reading from the front tells.  So the leader
 * converts all files into one copy.  It counts against temp_file_limit, and
 * goes with the segment of its SharedFileSet.
 *
 * What is no character becomes a zero byte, which no server encoding takes, so
 * that the record with it is refused where it is read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat/compat.h"
#include "source/recode.h"

#define FC_RECODE_NAME	"converted"
#define FC_RECODE_BLOCK	65536

/* Bytes that a block may become */
#define FC_RECODE_ROOM	(FC_RECODE_BLOCK * MAX_CONVERSION_GROWTH + 1)

typedef struct FcRecode
{
	const FcSource *source;
	Oid			proc;
	int			encoding;
	File		file;
	off_t		written;
	uint64		pos;			/* next byte to read */
	unsigned char *in;
	int			inlen;			/* bytes in "in" */
	unsigned char *out;
} FcRecode;

/*
 * Encodings that only clients have need it; so do a delimiter and a quote that
 * are not ASCII, because they are given in the server's encoding
 */
bool
fc_recode_needed(int encoding, const FcDialect *dialect)
{
	int			server = GetDatabaseEncoding();

	if (encoding == server || encoding == PG_SQL_ASCII || server == PG_SQL_ASCII)
		return false;
	for (int i = 0; i < dialect->delim_more; i++)
		if (IS_HIGHBIT_SET(dialect->delim_rest[i]))
			return true;
	return PG_ENCODING_IS_CLIENT_ONLY(encoding) ||
		IS_HIGHBIT_SET(dialect->delim) || IS_HIGHBIT_SET(dialect->quote) ||
		IS_HIGHBIT_SET(dialect->escape);
}

/*
 * Converts the buffer from "at" on, into "out" from there on, up to its end or
 * the first bad character; returns how many bytes it has converted
 */
static int
fc_recode_characters(const FcRecode *recode, int at, int out)
{
	return pg_do_encoding_conversion_buf(recode->proc, recode->encoding, GetDatabaseEncoding(),
										 recode->in + at, recode->inlen - at,
										 recode->out + out, FC_RECODE_ROOM - out, true);
}

/*
 * The length of a bad character.  One that only lacks a counterpart is passed
 * over as a whole, because its last byte may look like a delimiter.  No
 * character goes on with a byte below "0", such as the end of a line, though
 * some encodings' verifiers take any.
 */
static int
fc_recode_bad(const FcRecode *recode, int at)
{
	int			len = pg_encoding_verifymbchar(recode->encoding, (char *) recode->in + at, recode->inlen - at);

	for (int i = 1; i < len; i++)
		if (recode->in[at + i] < '0')
			return 1;
	return Max(len, 1);
}

/* Converts what is in the buffer, but for a character that its end cuts */
static void
fc_recode_block(FcRecode *recode, bool eof)
{
	int			at = 0;
	int			len = 0;

	while (at < recode->inlen)
	{
		int			used = fc_recode_characters(recode, at, len);

		if (used == 0 && !eof && recode->inlen - at < MAX_CONVERSION_INPUT_LENGTH)
			break;
		if (used == 0)
		{
			recode->out[len++] = '\0';
			at += fc_recode_bad(recode, at);
			continue;
		}
		at += used;
		len += strlen((char *) recode->out + len);
	}
	fc_source_write(recode->file, (char *) recode->out, len, recode->written, WAIT_EVENT_BUFFILE_WRITE);
	recode->written += len;
	recode->inlen -= at;
	memmove(recode->in, recode->in + at, recode->inlen);
}

/* Adds to the buffer what follows in the source, up to "end" */
static void
fc_recode_read(FcRecode *recode, uint64 end)
{
	int			len = Min(end - recode->pos, (uint64) (FC_RECODE_BLOCK - recode->inlen));

	CHECK_FOR_INTERRUPTS();
	fc_source_read(recode->source, recode->pos, (char *) recode->in + recode->inlen, len);
	recode->pos += len;
	recode->inlen += len;
}

/*
 * Converts all files, in each of which its characters end, and sets in "files"
 * where each of them stands in the copy
 */
static void
fc_recode_all(FcRecode *recode, FcFile *files)
{
	for (uint32 i = 0; i < recode->source->nfiles; i++)
	{
		uint64		end = fc_source_end(recode->source, i);

		files[i].base = recode->written;
		while (recode->pos < end || recode->inlen > 0)
		{
			fc_recode_read(recode, end);
			fc_recode_block(recode, recode->pos == end);
		}
		files[i].identity.size = recode->written - files[i].base;
	}
}

Oid
fc_recode_proc(int encoding)
{
	Oid			proc = FindDefaultConversionProc(encoding, GetDatabaseEncoding());

	if (!OidIsValid(proc))
		fc_throw(ERRCODE_UNDEFINED_FUNCTION, errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
													pg_encoding_to_char(encoding),
													GetDatabaseEncodingName()));
	return proc;
}

static void
fc_recode_begin(FcRecode *recode, const FcSource *source, int encoding)
{
	memset(recode, 0, sizeof(FcRecode));
	recode->source = source;
	recode->encoding = encoding;
	recode->proc = fc_recode_proc(encoding);
	recode->in = palloc(FC_RECODE_BLOCK);
	recode->out = palloc(FC_RECODE_ROOM);
}

FcSource *
fc_recode_source(const FcSource *source, int encoding, SharedFileSet *fileset)
{
	FcRecode	recode;
	FcSource   *copy;
	Size		size = sizeof(FcFile) * source->nfiles;
	FcFile	   *files = MemoryContextAllocHuge(CurrentMemoryContext, size);

	fc_recode_begin(&recode, source, encoding);
	recode.file = FileSetCreate(&fileset->fs, FC_RECODE_NAME);
	memcpy(files, source->files, size);
	fc_recode_all(&recode, files);
	copy = fc_source_of_copy(FilePathName(recode.file), files, source->nfiles, source->paths,
							 source->programs);
	FileClose(recode.file);
	pfree(recode.in);
	pfree(recode.out);
	return copy;
}

uint64
fc_recode_good(const FcSource *source, int encoding, uint64 offset, uint64 end)
{
	FcRecode	recode;
	int			used = 1;

	fc_recode_begin(&recode, source, encoding);
	for (; offset < end && used > 0; offset += used)
	{
		recode.pos = offset;
		recode.inlen = 0;
		fc_recode_read(&recode, end);
		used = fc_recode_characters(&recode, 0, 0);
	}
	pfree(recode.in);
	pfree(recode.out);
	return offset;
}

void
fc_recode_refuse(const FcSource *source, int encoding, uint64 offset)
{
	char		bytes[MAX_CONVERSION_INPUT_LENGTH];
	uint64		left = fc_source_end_at(source, offset) - offset;
	int			len = Min(sizeof(bytes), left);

	/* the message may have bytes of the next line */
	fc_source_read(source, offset, bytes, len);
	if (pg_encoding_verifymbstr(encoding, bytes, len) == 0)
		report_invalid_encoding(encoding, bytes, len);
	(void) pg_any_to_server(bytes, len, encoding);
	elog(ERROR, "a character that could not be converted has been converted");
}

/*
 * Passes over line ends, up to *n of them, or to "end"; returns where, and in
 * *n how many were lacking
 */
static uint64
fc_recode_pass(const FcSource *source, uint64 at, uint64 end, uint64 *n)
{
	char	   *buf = palloc(FC_RECODE_BLOCK);

	while (at < end && *n > 0)
	{
		size_t		len = Min(end - at, FC_RECODE_BLOCK);

		CHECK_FOR_INTERRUPTS();
		fc_source_read(source, at, buf, len);
		for (size_t i = 0; i < len && *n > 0; i++, at++)
			*n -= (buf[i] == '\n' || buf[i] == '\r');
	}
	pfree(buf);
	return at;
}

/* In no encoding is a byte of a longer character a line end */
uint64
fc_recode_original(const FcSource *source, const FcSource *copy, uint32 number, uint64 offset)
{
	const FcFile *file = &copy->files[number];
	uint64		end = fc_source_end(source, number);
	uint64		left = PG_UINT64_MAX;

	if (offset == file->base + file->identity.size)
		return end;
	(void) fc_recode_pass(copy, file->base, offset, &left);
	left = PG_UINT64_MAX - left;
	return fc_recode_pass(source, source->files[number].base, end, &left);
}
