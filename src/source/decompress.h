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

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/fd.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"

#include "source/codec.h"
#include "source/input.h"
#include "source/source.h"

/*
 * Memory that processes share which unpack at the same time, beyond
 * FC_CODEC_LEAST each.  One that is alone may have more than all of it.
 */
typedef struct FcBudget
{
	slock_t		mutex;
	uint64		most;			/* that one may have */
	uint64		size;
	uint64		used;
	ConditionVariable cv;
} FcBudget;

extern void fc_budget_init(FcBudget *budget, uint64 size);

/* Packed data that cannot be unpacked */
typedef struct FcUnpackFault
{
	FcCodecKind kind;
	FcCodecResult result;
	bool		cut;			/* corrupt because the input ends */
	uint64		offset;			/* in the packed data */
	char		reason[128];	/* the library's word for it, or "" */
} FcUnpackFault;

/* What has been done with bytes that were to be written */
typedef enum FcUnpackPut
{
	FC_PUT_NOT,					/* nothing: they go to the file */
	FC_PUT_ELSEWHERE,
	FC_PUT_DROPPED				/* they are not wanted any more */
} FcUnpackPut;

/* One process's temporary file, and what it unpacks with */
typedef struct FcUnpacker
{
	File		file;
	uint64		written;		/* bytes unpacked */
	uint64		in_file;		/* of these, in the file */
	char	   *in;				/* FC_UNPACK_IN bytes */
	char	   *out;			/* FC_UNPACK_OUT bytes */
	FcBudget   *budget;
	uint64		reserved;		/* of that */
	pg_atomic_uint64 *taken;	/* counts bytes of the input */
	void		(*progress) (void *arg);	/* or NULL */
	void	   *progress_arg;

	/*
	 * NULL, or called first with what is to be written: it may have another
	 * place for it
	 */
	FcUnpackPut (*put) (void *arg, const char *buf, size_t len);
	void	   *put_arg;

	/* NULL, or called with what has just been written */
	void		(*look) (void *arg, const char *buf, size_t len);
	void	   *look_arg;
} FcUnpacker;

/*
 * The file is made in the set, counts against temp_file_limit while it is
 * written, and goes with the set.
 */
extern void fc_unpack_begin(FcUnpacker *unpacker, SharedFileSet *fileset,
							int number, FcBudget *budget,
							pg_atomic_uint64 *taken);

/* Closes it, and gives its path, which stays good until the set goes */
extern void fc_unpack_end(FcUnpacker *unpacker, char *path, size_t path_size);

/*
 * Appends all that the input gives to the file, unpacked if it is packed; the
 * first bytes tell if the codec is not known.  False: it cannot be unpacked,
 * as *fault says; then what has been appended means nothing, and the input may
 * have more.
 */
extern bool fc_unpack(FcUnpacker *unpacker, FcInput *input, FcCodecKind kind,
					  FcUnpackFault *fault);

/*
 * fc_unpack piece by piece: each goes on until "upto" bytes or some more are
 * in the file.  One at a time with an unpacker, of which it keeps the buffers.
 */
typedef struct FcUnpacking FcUnpacking;

typedef enum FcUnpackEnd
{
	FC_UNPACK_MORE,
	FC_UNPACK_END,				/* of the input */
	FC_UNPACK_FAULT
} FcUnpackEnd;

extern FcUnpacking *fc_unpack_open(FcUnpacker *unpacker, FcInput *input,
								   FcCodecKind kind);
extern FcUnpackEnd fc_unpack_some(FcUnpacking *unpacking, uint64 upto,
								  FcUnpackFault *fault);
extern void fc_unpack_close(FcUnpacking *unpacking);

extern FcCodecKind fc_unpack_kind(const FcUnpacking *unpacking);

/* Is the input packed at all? */
extern bool fc_unpack_is_packed(const FcUnpacking *unpacking);

/* Bytes of the budget that it holds, and of the input that it has used */
extern uint64 fc_unpack_window(const FcUnpacking *unpacking);
extern uint64 fc_unpack_taken(const FcUnpacking *unpacking);

/* ERROR 22P04 or 54000 */
extern void fc_unpack_throw(const FcUnpackFault *fault, const char *word,
							const char *path);

/* How one of the files is packed; ERROR 0A000 if it cannot be loaded at all */
extern FcCodecKind fc_unpack_detect(const FcSource *source, uint32 number);
extern void fc_unpack_refuse(FcCodecKind kind, const char *word, const char *path);

/* "FastCopyUnpack" */
extern uint32 fc_unpack_wait_event(void);

#endif							/* FC_DECOMPRESS_H */
