/*-------------------------------------------------------------------------
 *
 * intake/heads.c
 *	  The first bytes of packed files, for what must be known of them before
 *	  they are unpacked.
 *
 *	 packed files ──► some 256 kB of each ──► temporary copy ──► FcSource
 *
 * The headers and the line ends must be known before a record can be looked
 * for.  What is unpacked here is unpacked again with the rest of its file.
 *
 * The files get offsets so far from each other that the rest of each has room:
 * an offset means the same before the rest is unpacked and after.
 *
 * Faults of a file are not thrown here, but when all of it is unpacked.
 *
 * The temporary copy belongs to the area's SharedFileSet.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bswap.h"

#include "intake/heads.h"

/* Bits of an offset within its file: no file is larger */
#define FC_HEADS_BITS	48

/* Bytes after the first record that a head must have, for messages */
#define FC_HEADS_MARGIN	16

#define FC_HEADS_READ	65536	/* bytes at a time */

/* What is found out about the files */
typedef struct FcHeads
{
	const FcSource *packed;
	FcFile	   *files;			/* as the heads have them */
	FcExtent   *extents;		/* one of each */
	bool	   *cut;			/* there is more than the head */
	uint64		expected;		/* bytes in all, roughly */
	bool		wide;			/* windows take memory of the budget */
} FcHeads;

/* Unpacks one head; false if it is faulty or needs too much memory */
static bool
fc_heads_unpack(FcHeads *heads, FcUnpacker *unpacker, uint32 number)
{
	const FcFile *packed = &heads->packed->files[number];
	FcFile	   *file = &heads->files[number];
	FcFileInput input;
	FcUnpacking *unpacking;
	FcUnpackFault fault;
	FcUnpackEnd end;
	uint64		taken;
	bool		fits;

	fc_piece_input(&input, heads->packed, number, 0);
	file->nextents = 1;
	file->extent = number;
	file->base = (uint64) number << FC_HEADS_BITS;
	heads->extents[number] = (FcExtent)
	{
		file->base, unpacker->written, 0
	};
	unpacking = fc_unpack_open(unpacker, &input.input, (FcCodecKind) packed->kind);
	end = fc_unpack_some(unpacking, unpacker->written + 1, &fault);
	taken = fc_unpack_taken(unpacking);
	fits = fc_unpack_window(unpacking) <= unpacker->budget->size;
	heads->wide |= fc_unpack_window(unpacking) > 0;
	fc_unpack_close(unpacking);
	file->identity.size = unpacker->written - heads->extents[number].at;
	heads->cut[number] = (end == FC_UNPACK_MORE);
	heads->expected += end == FC_UNPACK_END ? file->identity.size :
		(uint64) ((double) packed->identity.size / Max(taken, 1) * file->identity.size);
	return end != FC_UNPACK_FAULT && fits;
}

/* Unpacks all heads into a temporary copy; NULL if one cannot be */
static FcCopy *
fc_heads_copy(FcHeads *heads, FcUnpackArea *area)
{
	FcCopy	   *copy = palloc(sizeof(FcCopy));
	FcUnpacker	unpacker;
	bool		fit = true;

	fc_unpack_begin(&unpacker, &area->fileset, area->ncopies,
					&area->budget, &area->taken);
	for (uint32 i = 0; i < heads->packed->nfiles && fit; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fit = fc_heads_unpack(heads, &unpacker, i);
	}
	fc_unpack_end(&unpacker, copy->path, MAXPGPATH);
	pg_atomic_write_u64(&area->taken, 0);
	if (!heads->wide)
		area->budget.size = 0;
	return fit ? copy : NULL;
}

/* Does a binary header end in the head?  Core refuses one that is malformed */
static bool
fc_heads_has_binary(const FcSource *source, uint32 number)
{
	char		header[FC_BINARY_HEADER_LEN];
	uint64		size = fc_source_end(source, number) - source->files[number].base;
	uint32		extension;

	if (size < sizeof(header))
		return false;
	fc_source_read(source, source->files[number].base, header, sizeof(header));
	memcpy(&extension, header + sizeof(header) - sizeof(extension), sizeof(extension));
	return size - sizeof(header) >= pg_ntoh32(extension);
}

/*
 * Do header and first record end in the head, and is nothing special about
 * them?
 */
static bool
fc_heads_is_enough(const FcIntake *intake, const FcSource *source, FcStream *stream,
				   uint32 number)
{
	FcDialect	dialect = intake->target->dialect;
	FcRecord	record;

	if (dialect.mode == FC_MODE_BINARY)
		return fc_heads_has_binary(source, number);
	fc_stream_seek_file(stream, number, source->files[number].base);
	for (int line = 0; line <= intake->target->options->header_lines; line++)
	{
		CHECK_FOR_INTERRUPTS();
		if (fc_stream_next(stream, &dialect, &record) != FC_END_FOUND ||
			record.unterminated || record.marked ||
			record.offset + record.total + FC_HEADS_MARGIN > fc_source_end(source, number))
			return false;
	}
	return true;
}

bool
fc_heads_suffice(const FcIntake *intake, const FcSource *source, const bool *cut)
{
	FcStream   *stream = fc_stream_begin(source, FC_HEADS_READ);
	bool		suffice = true;

	for (uint32 i = 0; i < source->nfiles && suffice; i++)
		suffice = (cut && !cut[i]) || fc_heads_is_enough(intake, source, stream, i);
	fc_stream_end(stream);
	return suffice;
}

FcSource *
fc_heads_source(FcIntake *intake, FcUnpackArea *area, uint64 *expected)
{
	const FcSource *packed = intake->target->source;
	Size		size = sizeof(FcFile) * packed->nfiles;
	FcHeads		heads = {packed};
	FcCopy	   *copy;
	FcSource   *source;

	heads.files = memcpy(palloc(size), packed->files, size);
	heads.extents = palloc(sizeof(FcExtent) * packed->nfiles);
	heads.cut = palloc0(sizeof(bool) * packed->nfiles);
	copy = fc_heads_copy(&heads, area);
	if (copy == NULL)
		return NULL;
	*expected = heads.expected;
	source = fc_source_attach(heads.files, packed->nfiles, packed->paths, copy, 1, heads.extents);
	if (fc_heads_suffice(intake, source, heads.cut))
		return source;
	fc_source_close(source);
	return NULL;
}
