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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat/compat.h"
#include "source/recode.h"

#define FC_RECODE_NAME	"converted"
#define FC_RECODE_BLOCK	65536

typedef struct FcRecode
{
	const FcSource *source;
	Oid			proc;
	int			encoding;
	File		file;
	off_t		written;
	unsigned char *in;
	int			inlen;			/* bytes in "in" */
	uint32		number;			/* of the file that is read */
	uint64		pos;			/* next byte to read */
	unsigned char *out;
	uint64		newlines;		/* written */
	uint64		returns;
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

/* Converts what is in the buffer; false if its first character is bad */
static bool
fc_recode_block(FcRecode *recode, bool eof)
{
	const char *out = (const char *) recode->out;
	int			used = pg_do_encoding_conversion_buf(recode->proc, recode->encoding,
													 GetDatabaseEncoding(),
													 recode->in, recode->inlen,
													 recode->out,
													 FC_RECODE_BLOCK * MAX_CONVERSION_GROWTH + 1,
													 true);

	/* a character cut by the block's end is completed by the next block */
	if (used == 0)
		return !eof && recode->inlen < MAX_CONVERSION_INPUT_LENGTH;
	fc_source_write(recode->file, out, strlen(out), recode->written, WAIT_EVENT_BUFFILE_WRITE);
	recode->written += strlen(out);
	for (; *out != '\0'; out++)
	{
		recode->newlines += (*out == '\n');
		recode->returns += (*out == '\r');
	}
	recode->inlen -= used;
	memmove(recode->in, recode->in + used, recode->inlen);
	return true;
}

/*
 * Converts all files, in each of which its characters end, and sets in "files"
 * where each of them stands in the copy; false at a bad character
 */
static bool
fc_recode_all(FcRecode *recode, FcFile *files)
{
	for (uint32 i = 0; i < recode->source->nfiles; i++)
	{
		uint64		end = fc_source_end(recode->source, i);

		recode->number = i;
		recode->newlines = recode->returns = 0;
		files[i].base = recode->written;
		while (recode->pos < end || recode->inlen > 0)
		{
			int			len = Min(end - recode->pos, (uint64) (FC_RECODE_BLOCK - recode->inlen));

			CHECK_FOR_INTERRUPTS();
			fc_source_read(recode->source, recode->pos, (char *) recode->in + recode->inlen, len);
			recode->pos += len;
			recode->inlen += len;
			if (!fc_recode_block(recode, recode->pos == end))
				return false;
		}
		files[i].identity.size = recode->written - files[i].base;
	}
	return true;
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

FcSource *
fc_recode_source(const FcSource *source, int encoding, SharedFileSet *fileset,
				 FcRecodeFault *fault)
{
	FcRecode	recode = {0};
	FcSource   *copy = NULL;
	Size		size = sizeof(FcFile) * source->nfiles;
	FcFile	   *files = MemoryContextAllocHuge(CurrentMemoryContext, size);

	recode.source = source;
	recode.encoding = encoding;
	recode.proc = fc_recode_proc(encoding);
	recode.in = palloc(FC_RECODE_BLOCK);
	recode.out = palloc(FC_RECODE_BLOCK * MAX_CONVERSION_GROWTH + 1);
	recode.file = FileSetCreate(&fileset->fs, FC_RECODE_NAME);
	memcpy(files, source->files, size);
	if (fc_recode_all(&recode, files))
		copy = fc_source_of_copy(FilePathName(recode.file), files, source->nfiles, source->paths,
								 source->programs);
	else
	{
		/* the character that stopped the conversion is first in the buffer */
		fault->len = Min(recode.inlen, MAX_CONVERSION_INPUT_LENGTH);
		memcpy(fault->bytes, recode.in, fault->len);
		fault->file = recode.number;
		fault->line = 1 + (recode.newlines > 0 ? recode.newlines : recode.returns);
	}
	FileClose(recode.file);
	pfree(recode.in);
	pfree(recode.out);
	return copy;
}

void
fc_recode_refuse(int encoding, FcRecodeFault *fault)
{
	unsigned char out[MAX_CONVERSION_INPUT_LENGTH * MAX_CONVERSION_GROWTH + 1];

	(void) pg_do_encoding_conversion_buf(fc_recode_proc(encoding), encoding,
										 GetDatabaseEncoding(),
										 fault->bytes,
										 fault->len, out, sizeof(out), false);
	elog(ERROR, "a character that could not be converted has been converted");
}
