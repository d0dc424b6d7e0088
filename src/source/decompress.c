/*-------------------------------------------------------------------------
 *
 * source/decompress.c
 *	  Puts what a file, a program or a client gives into a temporary file,
 *	  unpacked if it is packed.
 *
 * A process puts all its inputs into one file: many thousand packed files need
 * no more temporary files than processes.  It belongs to a SharedFileSet.  A
 * callback of a memory context frees the codec, on error too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat/compat.h"
#include "source/advice.h"
#include "source/decompress.h"
#include "source/root.h"

/* Bytes of the other buffer, and of one for text */
#define FC_UNPACK_OUT	((size_t) 256 * 1024)
#define FC_UNPACK_TEXT	8192

/* More skippable frames in a row than this are not taken for a stream */
#define FC_UNPACK_SKIPS	1000

void
fc_budget_init(FcBudget *budget, uint64 size)
{
	SpinLockInit(&budget->mutex);
	ConditionVariableInit(&budget->cv);
	budget->most = budget->size = size;
	budget->used = 0;
}

static bool
fc_budget_try(FcBudget *budget, uint64 size)
{
	bool		taken;

	SpinLockAcquire(&budget->mutex);
	taken = (budget->used == 0 || budget->used + size <= budget->size);
	if (taken)
		budget->used += size;
	SpinLockRelease(&budget->mutex);
	return taken;
}

/*
 * Reserves the decompressor's size, in bytes, beyond FC_CODEC_LEAST; waits
 * until the budget, which all processes share, has that.  Before it waits it
 * gives back what it has, so that processes do not wait for each other.
 */
static void
fc_unpack_reserve(FcUnpacker *unpacker, uint64 size)
{
	FcBudget   *budget = unpacker->budget;

	if (size <= FC_CODEC_LEAST)
		size = 0;
	if (size == unpacker->reserved)
		return;
	if (unpacker->reserved > 0)
	{
		SpinLockAcquire(&budget->mutex);
		budget->used -= unpacker->reserved;
		SpinLockRelease(&budget->mutex);
		ConditionVariableBroadcast(&budget->cv);
	}
	unpacker->reserved = 0;
	if (size == 0)
		return;
	ConditionVariablePrepareToSleep(&budget->cv);
	while (!fc_budget_try(budget, size))
		ConditionVariableSleep(&budget->cv, fc_wait_event(FC_WAIT_UNPACK));
	ConditionVariableCancelSleep();
	unpacker->reserved = size;
}

void
fc_unpack_begin(FcUnpacker *unpacker, SharedFileSet *fileset, int number,
				FcBudget *budget, pg_atomic_uint64 *taken)
{
	memset(unpacker, 0, sizeof(FcUnpacker));
	if (fileset)
		unpacker->file = FileSetCreate(&fileset->fs, psprintf("unpacked.%d", number));
	unpacker->in = palloc(FC_UNPACK_IN);
	unpacker->io.in = unpacker->in;
	unpacker->io.out = palloc(FC_UNPACK_OUT);
	unpacker->io.out_len = FC_UNPACK_OUT;
	unpacker->budget = budget;
	unpacker->taken = taken;
	unpacker->mcxt = CurrentMemoryContext;
}

static void
fc_unpack_drop_codec(FcUnpacker *unpacker)
{
	if (unpacker->codec)
		MemoryContextDelete(unpacker->codec_mcxt);
	unpacker->codec = NULL;
}

void
fc_unpack_end(FcUnpacker *unpacker, char *path)
{
	if (unpacker->file)
	{
		strlcpy(path, FilePathName(unpacker->file), MAXPGPATH);
		FileClose(unpacker->file);
	}
	fc_unpack_drop_codec(unpacker);
	pfree(unpacker->in);
	pfree(unpacker->io.out);
}

static void
fc_unpack_put(FcUnpacker *unpacker, const char *buf, size_t len)
{
	FcUnpackPut put = FC_PUT_NOT;

	if (unpacker->put)
		put = unpacker->put(unpacker->arg, buf, len);
	if (put == FC_PUT_NOT && unpacker->file)
	{
		fc_source_write(unpacker->file, buf, len, unpacker->in_file, fc_wait_event(FC_WAIT_UNPACK));
		unpacker->in_file += len;
	}
	unpacker->enough = (put == FC_PUT_ENOUGH);
	unpacker->written += len;
	if (unpacker->look && put != FC_PUT_DROPPED && put != FC_PUT_ENOUGH)
		unpacker->look(unpacker->arg, buf, len);
}

/* The same, of bytes that may be UTF-16 */
static void
fc_unpack_write(FcUnpacker *unpacker, const char *buf, size_t len)
{
	const char *end = buf + len;
	char		text[FC_UNPACK_TEXT];

	if (len > 0 && !unpacker->utf16.is)
		fc_unpack_put(unpacker, buf, len);
	while (unpacker->utf16.is && buf < end && !unpacker->enough)
	{
		size_t		n = fc_utf16_convert(&unpacker->utf16, &buf, end, text, sizeof(text));

		if (n > 0)
			fc_unpack_put(unpacker, text, n);
	}
}

/*
 * Fills the whole buffer anew, because a pipe or a client may give single
 * bytes
 */
static void
fc_unpack_fill(FcUnpacker *unpacker)
{
	FcCodecIo  *io = &unpacker->io;

	unpacker->before += io->in_len;
	io->in_len = io->in_pos = 0;
	while (io->in_len < FC_UNPACK_IN && !unpacker->eof)
	{
		size_t		n;

		CHECK_FOR_INTERRUPTS();
		n = fc_input_read(unpacker->input, unpacker->in + io->in_len, FC_UNPACK_IN - io->in_len);
		unpacker->eof = (n == 0);
		io->in_len += n;
		pg_atomic_fetch_add_u64(unpacker->taken, n);
		if (unpacker->progress)
			unpacker->progress(unpacker->progress_arg);
	}
}

static FcUnpackEnd
fc_unpack_fails(FcUnpacker *unpacker, FcCodecKind kind, FcCodecResult result)
{
	unpacker->failed = true;
	unpacker->fault = (FcUnpackFault)
	{
		.kind = kind,.result = result,.offset = fc_unpack_taken(unpacker)
	};
	if (fc_codec_unpacks(unpacker->kind))
		strlcpy(unpacker->fault.reason, fc_codec_reason(unpacker->codec),
				sizeof(unpacker->fault.reason));
	return FC_UNPACK_FAULT;
}

/*
 * Writes the unpacked bytes so far; false if the first of them show that they
 * are no text: an archive, or packed once more
 */
static bool
fc_unpack_flush(FcUnpacker *unpacker)
{
	FcCodecIo  *io = &unpacker->io;

	if (!unpacker->begun && io->out_pos > 0)
	{
		FcCodecKind kind = fc_codec_detect(io->out, io->out_pos, NULL);

		if (kind != FC_CODEC_NONE)
		{
			(void) fc_unpack_fails(unpacker, kind, FC_CODEC_OK);
			unpacker->fault.within = unpacker->kind;
			return false;
		}
		fc_utf16_begin(&unpacker->utf16, unpacker->hint, io->out, io->out_pos);
	}
	unpacker->begun = true;
	fc_unpack_write(unpacker, io->out, io->out_pos);
	io->out_pos = 0;
	return true;
}

/* Writes what is left at the end; false if half a character of UTF-16 is */
static FcUnpackEnd
fc_unpack_finish(FcUnpacker *unpacker)
{
	char		text[FC_UTF16_LEAST];
	size_t		n = fc_utf16_end(&unpacker->utf16, text);

	if (n > 0)
		fc_unpack_put(unpacker, text, n);
	if (!unpacker->utf16.odd)
		return FC_UNPACK_END;
	(void) fc_unpack_fails(unpacker, FC_CODEC_UTF16, FC_CODEC_CORRUPT);
	unpacker->fault.cut = true;
	return FC_UNPACK_FAULT;
}

/* fc_unpack_some for packed input */
static FcUnpackEnd
fc_unpack_packed(FcUnpacker *unpacker, uint64 upto)
{
	FcCodecIo  *io = &unpacker->io;
	FcCodecResult result;

	while (unpacker->written < upto && !unpacker->enough)
	{
		size_t		in = io->in_pos;
		size_t		out = io->out_pos;
		bool		moved;

		CHECK_FOR_INTERRUPTS();
		result = fc_codec_step(unpacker->codec, io);
		fc_unpack_reserve(unpacker, fc_codec_memory(unpacker->codec));
		if (result != FC_CODEC_OK)
			return fc_unpack_fails(unpacker, unpacker->kind, result);
		moved = io->in_pos != in || io->out_pos != out;
		if ((io->out_pos == io->out_len || (!unpacker->begun && io->out_pos >= FC_CODEC_HEAD)) &&
			!fc_unpack_flush(unpacker))
			return FC_UNPACK_FAULT;

		/*
		 * It may stop where a member has ended; but not before the first
		 * bytes have shown what they are, nor in UTF-16, whose order only
		 * those before it tell.
		 */
		if (fc_unpack_taken(unpacker) >= unpacker->border && !unpacker->utf16.is &&
			fc_codec_is_between(unpacker->codec) && unpacker->begun)
			return fc_unpack_flush(unpacker) ? FC_UNPACK_MORE : FC_UNPACK_FAULT;
		if (moved)
			continue;
		if (!unpacker->eof)
		{
			fc_unpack_fill(unpacker);
			continue;
		}
		if (!fc_unpack_flush(unpacker))
			return FC_UNPACK_FAULT;
		result = fc_codec_finish(unpacker->codec);
		if (result == FC_CODEC_OK)
			return fc_unpack_finish(unpacker);
		(void) fc_unpack_fails(unpacker, unpacker->kind, result);
		unpacker->fault.cut = true;
		return FC_UNPACK_FAULT;
	}
	return FC_UNPACK_MORE;
}

FcUnpackEnd
fc_unpack_some(FcUnpacker *unpacker, uint64 upto)
{
	if (fc_codec_unpacks(unpacker->kind))
		return fc_unpack_packed(unpacker, upto);
	if (unpacker->kind != FC_CODEC_NONE)
		return fc_unpack_fails(unpacker, unpacker->kind, FC_CODEC_OK);
	while (unpacker->written < upto)
	{
		if (unpacker->io.in_len == 0)
			return fc_unpack_finish(unpacker);
		fc_unpack_write(unpacker, unpacker->in, unpacker->io.in_len);
		fc_unpack_fill(unpacker);
	}
	return FC_UNPACK_MORE;
}

static void
fc_unpack_free(void *codec)
{
	fc_codec_end(codec);
}

/*
 * Takes the decompressor of an earlier input, or begins one, which ends with a
 * memory context of its own
 */
static void
fc_unpack_take_codec(FcUnpacker *unpacker)
{
	MemoryContextCallback *callback;

	if (unpacker->codec && unpacker->codec_kind == unpacker->kind)
	{
		fc_codec_go_on(unpacker->codec, false);
		return;
	}
	fc_unpack_drop_codec(unpacker);
	unpacker->codec_kind = unpacker->kind;
	unpacker->codec_mcxt = AllocSetContextCreate(unpacker->mcxt, "fast_copy codec",
												 ALLOCSET_SMALL_SIZES);
	callback = MemoryContextAllocZero(unpacker->codec_mcxt, sizeof(MemoryContextCallback));
	unpacker->codec = fc_codec_begin(unpacker->kind, unpacker->budget->most);
	if (unpacker->codec == NULL)
	{
		unpacker->fault = (FcUnpackFault) {.kind = unpacker->kind,.result = FC_CODEC_OUT_OF_MEMORY};
		fc_unpack_throw(unpacker);
	}
	callback->func = fc_unpack_free;
	callback->arg = unpacker->codec;
	MemoryContextRegisterResetCallback(unpacker->codec_mcxt, callback);
}

/*
 * Looks at a frame, the first one if *at is 0.  Skippable ones may come before
 * the one that tells zstd from lz4: true if this is one.
 */
static bool
fc_unpack_skip(const char *head, size_t len, FcCodecKind *kind, uint64 *at)
{
	uint64		skip;
	FcCodecKind next = fc_codec_detect(head, len, &skip);

	if (*at == 0 || next == FC_CODEC_LZ4)
		*kind = next;
	*at += skip;
	return skip > 0;
}

void
fc_unpack_open(FcUnpacker *unpacker, FcInput *input, FcCodecKind kind)
{
	uint64		at = 0;

	unpacker->input = input;
	unpacker->kind = kind;
	unpacker->border = PG_UINT64_MAX;
	unpacker->before = unpacker->io.in_len = unpacker->io.out_pos = 0;
	unpacker->eof = unpacker->begun = unpacker->failed = false;
	fc_unpack_fill(unpacker);
	if (kind == FC_CODEC_UNKNOWN)
		while (fc_unpack_skip(unpacker->in + at, unpacker->io.in_len - at, &unpacker->kind, &at) &&
			   at < unpacker->io.in_len)
			;
	memset(&unpacker->utf16, 0, sizeof(FcUtf16));
	if (kind == FC_CODEC_UTF16)
		unpacker->kind = FC_CODEC_NONE;
	if (unpacker->kind == FC_CODEC_NONE)
		fc_utf16_begin(&unpacker->utf16, unpacker->hint, unpacker->in, unpacker->io.in_len);
	if (fc_codec_unpacks(unpacker->kind))
		fc_unpack_take_codec(unpacker);
}

void
fc_unpack_close(FcUnpacker *unpacker)
{
	/* it is kept if it can go on and has no more memory than it may */
	if (fc_codec_unpacks(unpacker->kind) &&
		(unpacker->failed || !fc_codec_is_between(unpacker->codec) || unpacker->reserved > 0))
		fc_unpack_drop_codec(unpacker);
	fc_unpack_reserve(unpacker, 0);
}

FcUnpackEnd
fc_unpack_members(FcUnpacker *unpacker, FcInput *input, FcCodecKind kind, bool follows,
				  uint64 border, uint64 *taken)
{
	FcUnpackEnd end;

	fc_unpack_open(unpacker, input, kind);
	unpacker->border = border;
	unpacker->begun = follows;
	if (follows)
		fc_codec_go_on(unpacker->codec, true);
	end = fc_unpack_some(unpacker, PG_UINT64_MAX);
	*taken = fc_unpack_taken(unpacker);
	/* what is left in the buffer is read again */
	pg_atomic_fetch_sub_u64(unpacker->taken, unpacker->before + unpacker->io.in_len - *taken);
	fc_unpack_close(unpacker);
	return end;
}

static void
fc_unpack_throw_format(const FcUnpackFault *fault, const char *word,
					   const char *path)
{
	const char *name = fc_codec_name(fault->kind);
	bool		garbage = (fault->result == FC_CODEC_GARBAGE);

	fc_throw(ERRCODE_BAD_COPY_FILE_FORMAT, garbage ? errmsg("something else follows the %s data of %s \"%s\"", name, word, path) :
			 fault->cut ? errmsg("unexpected end of the %s data of %s \"%s\"", name, word, path) :
			 errmsg("corrupt %s data in %s \"%s\"", name, word, path),
			 garbage ? errdetail("At byte " UINT64_FORMAT ", after their end.", fault->offset) :
			 fault->cut ? errdetail("They end at byte " UINT64_FORMAT ".", fault->offset) :
			 fault->reason[0] ? errdetail("At about byte " UINT64_FORMAT ": %s.", fault->offset, fault->reason) :
			 errdetail("At about byte " UINT64_FORMAT ".", fault->offset));
}

/*
 * Advises a program that makes of the file what can be loaded; none for what is
 * no file.  The program has %s for the path.
 */
static char *
fc_unpack_advise(const char *first, const char *program, const char *word, const char *path)
{
	if (program == NULL || strcmp(word, "file") != 0 || strcmp(path, FC_CLIENT_PATH) == 0)
		return psprintf("%s.", first);
	return psprintf("%s, or load what a program prints, by program => true or COPY ... FROM PROGRAM: '%s'.",
					first, psprintf(program, fc_advice_path(path, "FILE")));
}

void
fc_unpack_throw(const FcUnpacker *unpacker)
{
	const FcUnpackFault *fault = &unpacker->fault;
	const char *word = unpacker->input->word;
	const char *path = unpacker->input->path;
	const char *within = fc_codec_name(fault->within);

	/* tools for archives unpack what is packed in a packed file, too */
	if (fault->kind != FC_CODEC_TAR && fault->within != FC_CODEC_NONE)
		fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("cannot load %s \"%s\": its %s data unpack to data in %s format",
													   word, path, within, fc_codec_name(fault->kind)),
				 errhint("%s", fc_unpack_advise("Unpack it once", fault->within == FC_CODEC_ZIP ? "unzip -p %s" : psprintf("%s -dc %%s", within), word, path)));
	if (!fc_codec_unpacks(fault->kind))
		fc_unpack_refuse(fault->kind, word, path);
	if (fault->result == FC_CODEC_REFUSES)
		fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("cannot load %s \"%s\": %s", word, path, fc_root_text(fault->reason)),
				 errhint("%s", fc_unpack_advise("Pack one file alone, without a password, by deflate", "unzip -p %s MEMBER", word, path)));
	if (fault->result == FC_CODEC_DICTIONARY)
		fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("cannot load %s \"%s\": its %s data were packed with a dictionary",
													   word, path, fc_codec_name(fault->kind)),
				 errhint("%s", fc_unpack_advise("Unpack it first", "zstd -dc -D DICTIONARY %s", word, path)));
	if (fault->result == FC_CODEC_TOO_BIG)
		fc_throw(ERRCODE_PROGRAM_LIMIT_EXCEEDED, errmsg("%s data of %s \"%s\" need more memory than fast_copy.memory",
														fc_codec_name(fault->kind), word, path),
				 errdetail("A window that is kept while they are unpacked is too large."),
				 errhint("Increase fast_copy.memory, or pack the data with a smaller window."));
	if (fault->result == FC_CODEC_OUT_OF_MEMORY)
		fc_throw(ERRCODE_OUT_OF_MEMORY, errmsg("out of memory"),
				 errdetail("Failed while unpacking %s \"%s\".", word, path));
	fc_unpack_throw_format(fault, word, path);
}

#define FC_UNPACK_ANEW	"Unpack it first, or pack it by gzip, zip, zstd, lz4, bzip2 or xz"

#define FC_UNPACK_BY_PYARROW(module, table) \
	"python3 -c \"import sys; from pyarrow import csv, " module "; csv.write_csv(" table ", sys.stdout.buffer)\""

/* What becomes of files that no build loads, and by which program */
static const struct
{
	const char *first;
	const char *program;		/* with %s for the path; NULL: none */
}			fc_unpack_advices[FC_CODEC_KINDS] = {
	[FC_CODEC_SEVENZIP] = {FC_UNPACK_ANEW, "7z x -so %s"},
	[FC_CODEC_COMPRESS] = {FC_UNPACK_ANEW, "gzip -dc %s"},
	[FC_CODEC_OLD_LZ4] = {FC_UNPACK_ANEW, "lz4 -dc %s"},
	[FC_CODEC_LZMA] = {FC_UNPACK_ANEW, "xz -dc %s"},
	[FC_CODEC_TAR] = {"Unpack it first", "tar -xOf %s"},
	[FC_CODEC_WORKBOOK] = {"Save the sheet as a CSV file first", NULL},
	[FC_CODEC_PARQUET] = {"Make it CSV first", "duckdb -c \"COPY (FROM read_parquet(''%s'')) TO ''/dev/stdout'' (FORMAT csv)\""},
	[FC_CODEC_ORC] = {"Make it CSV first", FC_UNPACK_BY_PYARROW("orc", "orc.read_table(''%s'')")},
	[FC_CODEC_AVRO] = {"Make it CSV first", "duckdb -c \"COPY (FROM read_avro(''%s'')) TO ''/dev/stdout'' (FORMAT csv)\""},
	[FC_CODEC_ARROW] = {"Make it CSV first", FC_UNPACK_BY_PYARROW("feather", "feather.read_table(''%s'')")},
	[FC_CODEC_SQLITE] = {"Make it CSV first", "sqlite3 -csv -header %s \"SELECT * FROM name\""},
	[FC_CODEC_DUMP] = {"Restore it by pg_restore, which fast_copy.accelerate_copy makes faster", NULL}
};

void
fc_unpack_refuse(FcCodecKind kind, const char *word, const char *path)
{
	const char *name = fc_codec_name(kind);
	const char *packages = fc_codec_lacks(kind);

	fc_throw(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("cannot load %s \"%s\": it is in %s format", word, path, name),
			 packages ? errdetail("This fast_copy was built without the library that unpacks it.") : 0,
			 packages ? errhint("Install %s and build fast_copy again, or unpack it first.", packages) :
			 errhint("%s", fc_unpack_advise(fc_unpack_advices[kind].first,
											fc_unpack_advices[kind].program, word, path)));
}

FcCodecKind
fc_unpack_detect(const FcSource *source, uint32 number, FcUtf16Hint hint)
{
	const FcFile *file = &source->files[number];
	char		head[FC_CODEC_HEAD];
	uint64		at = 0;
	FcCodecKind kind = FC_CODEC_NONE;
	FcUtf16		utf16 = {false};

	for (int i = 0; i < FC_UNPACK_SKIPS && at < file->identity.size; i++)
	{
		size_t		len = Min(file->identity.size - at, sizeof(head));

		fc_source_read(source, file->base + at, head, len);
		if (!fc_unpack_skip(head, len, &kind, &at))
		{
			fc_utf16_begin(&utf16, hint, head, len);
			break;
		}
	}
	return kind == FC_CODEC_NONE && utf16.is ? FC_CODEC_UTF16 : kind;
}
