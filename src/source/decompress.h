/*-------------------------------------------------------------------------
 *
 * source/decompress.h
 *	  Puts what a file, a program or a client gives into a temporary file,
 *	  unpacked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_DECOMPRESS_H
#define FC_DECOMPRESS_H

#include "storage/condition_variable.h"
#include "storage/sharedfileset.h"

#include "source/codec.h"
#include "source/input.h"
#include "source/source.h"
#include "source/utf16.h"

/*
 * Memory that the processes which unpack at the same time share, beyond
 * FC_CODEC_LEAST for each.  A process that is the only one to have any of it
 * may have more than all of it.
 */
typedef struct FcBudget
{
	slock_t		mutex;
	uint64		most;			/* that one process may have */
	uint64		size;
	uint64		used;
	ConditionVariable cv;
} FcBudget;

extern void fc_budget_init(FcBudget *budget, uint64 size);

/* Bytes of the buffer for packed data; it has room for FC_CODEC_HEAD */
#define FC_UNPACK_IN	((size_t) 128 * 1024)

/* What has been done with bytes that were to be written */
typedef enum FcUnpackPut
{
	FC_PUT_NOT,					/* nothing: they go to the file */
	FC_PUT_ELSEWHERE,
	FC_PUT_DROPPED,				/* they are not wanted any more */
	FC_PUT_ENOUGH				/* nor is whether what follows is sound */
} FcUnpackPut;

/* Packed data that cannot be unpacked */
typedef struct FcUnpackFault
{
	FcCodecKind kind;
	FcCodecKind within;			/* in data of which these were; or NONE */
	FcCodecResult result;
	bool		cut;			/* corrupt because the input ends */
	uint64		offset;			/* in the packed data */
	char		reason[256];	/* the library's word for it, or "" */
} FcUnpackFault;

/* One process's temporary file, and what it unpacks with */
typedef struct FcUnpacker
{
	File		file;			/* 0: there is none */
	uint64		written;		/* bytes unpacked */
	uint64		in_file;		/* of these, bytes in the file */
	char	   *in;				/* FC_UNPACK_IN bytes */
	FcBudget   *budget;
	uint64		reserved;		/* bytes of the budget that it holds */
	pg_atomic_uint64 *taken;	/* counts bytes of the inputs */
	void		(*progress) (void *arg);	/* or NULL */
	void	   *progress_arg;

	/*
	 * Each is NULL, or called with what is unpacked: the first before it is
	 * written, as it may take the bytes to another place, the second after it
	 */
	FcUnpackPut (*put) (void *arg, const char *buf, size_t len);
	void		(*look) (void *arg, const char *buf, size_t len);
	void	   *arg;
	bool		enough;			/* "put" has said so: the input is given up */
	FcUtf16Hint hint;			/* about the text */

	/*
	 * The decompressor of the input, kept for the next one of its kind: fresh
	 * memory would cost more than small members do
	 */
	FcCodec    *codec;			/* or NULL */
	FcCodecKind codec_kind;
	MemoryContext codec_mcxt;	/* frees it */
	MemoryContext mcxt;			/* of the unpacker */

	/* the current input */
	FcInput    *input;
	FcCodecKind kind;			/* never FC_CODEC_UTF16 */
	FcUtf16		utf16;			/* what is unpacked, or not packed */
	FcCodecIo	io;
	uint64		before;			/* bytes of the input before io.in */
	bool		eof;
	bool		begun;			/* some of the output has been written */
	bool		failed;
	FcUnpackFault fault;		/* if it has */
	uint64		border;			/* bytes of the input after which it may stop
								 * between members */
} FcUnpacker;

/*
 * Makes the temporary file in the set.  It counts against temp_file_limit while
 * it is written, and is deleted with the set.  NULL for the set: there is no
 * file, and what "put" does not take is dropped.
 */
extern void fc_unpack_begin(FcUnpacker *unpacker, SharedFileSet *fileset,
							int number, FcBudget *budget,
							pg_atomic_uint64 *taken);

/*
 * Closes the file, and gives its path (MAXPGPATH), which is good as long as the
 * set is; without a file the path is not touched
 */
extern void fc_unpack_end(FcUnpacker *unpacker, char *path);

typedef enum FcUnpackEnd
{
	FC_UNPACK_MORE,				/* the input has more */
	FC_UNPACK_END,				/* of the input */
	FC_UNPACK_FAULT				/* what has been appended means nothing, and
								 * the input may have more */
} FcUnpackEnd;

/*
 * Appends to the file what the input gives, unpacked, and stops at the end of
 * the first member that ends at byte "border" of the input or later.  *taken
 * becomes the number of bytes used up to there.  With "follows" the input
 * begins after a member.
 */
extern FcUnpackEnd fc_unpack_members(FcUnpacker *unpacker, FcInput *input, FcCodecKind kind,
									 bool follows, uint64 border, uint64 *taken);

/*
 * Appends all that the input gives to the file, unpacked if it is packed.  If
 * the kind is FC_CODEC_UNKNOWN, the first bytes tell.  Each call goes on until
 * the unpacker has unpacked "upto" bytes or some more.  It has one input at a
 * time.
 */
extern void fc_unpack_open(FcUnpacker *unpacker, FcInput *input, FcCodecKind kind);
extern FcUnpackEnd fc_unpack_some(FcUnpacker *unpacker, uint64 upto);
extern void fc_unpack_close(FcUnpacker *unpacker);

/* Bytes of the input that have been used */
static inline uint64
fc_unpack_taken(const FcUnpacker *unpacker)
{
	return unpacker->before + unpacker->io.in_pos;
}

/*
 * After a fault of the input: ERROR 22P04, or 54000 or 53200 if it is about
 * memory; see fc_unpack_refuse
 */
extern void fc_unpack_throw(const FcUnpacker *unpacker);

/* How one of the files is packed, or FC_CODEC_UTF16 */
extern FcCodecKind fc_unpack_detect(const FcSource *source, uint32 number, FcUtf16Hint hint);

/* ERROR 0A000, for a kind that cannot be loaded at all */
extern void fc_unpack_refuse(FcCodecKind kind, const char *word, const char *path);

#endif							/* FC_DECOMPRESS_H */
