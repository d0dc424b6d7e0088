/*-------------------------------------------------------------------------
 *
 * codec.c
 *	  gzip data: source/codec.c against zlib itself.
 *
 * Files of one or more members, made by zlib in all its ways, are unpacked in
 * steps of many sizes.  Then they are cut, and bytes of them changed: what is
 * unpacked, and what is refused, must be what a loop around inflate() says.
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <zlib.h>

#include "source/codec.h"

#define MOST	(4 * 1024 * 1024)	/* bytes of a file, packed or not */

typedef struct Bytes
{
	size_t		len;
	char		data[MOST];
} Bytes;

static Bytes plain;				/* what was packed */
static Bytes packed;
static Bytes changed;			/* the packed bytes with a fault */
static Bytes wanted;			/* unpacked by zlib */
static Bytes got;
static char window[256 * 1024]; /* what a step writes to */

static unsigned int
any(unsigned int limit)
{
	static uint64_t seed = 42;

	return made_up(&seed, limit);
}

/* Appends text, with some repetition, that differs from call to call */
static void
make_plain(size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		bool		repeat = plain.len > 50000 && any(8) > 0;

		plain.data[plain.len] = repeat ? plain.data[plain.len - 1 - any(50000)] :
			(char) ('a' + any(26));
		plain.len++;
	}
}

/* Appends a member with the plain bytes from "start" on */
static void
pack(size_t start, int level, int strategy, bool header)
{
	z_stream	z;
	gz_header	head;

	memset(&z, 0, sizeof(z));
	memset(&head, 0, sizeof(head));
	deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, strategy);
	head.name = (Bytef *) "a name";
	head.comment = (Bytef *) "a comment";
	head.extra = (Bytef *) "EX\4\0more";
	head.extra_len = 4 * any(3);
	head.hcrc = 1;
	if (header)
		deflateSetHeader(&z, &head);
	z.next_in = (Bytef *) plain.data + start;
	z.avail_in = (uInt) (plain.len - start);
	z.next_out = (Bytef *) packed.data + packed.len;
	z.avail_out = (uInt) (MOST - packed.len);
	deflate(&z, Z_FINISH);
	packed.len = MOST - z.avail_out;
	deflateEnd(&z);
}

/* Unpacks into "wanted" as zlib does; false if it refuses */
static bool
unpack_by_zlib(const Bytes *from)
{
	z_stream	z;
	int			rc = Z_OK;
	bool		sound = from->len > 0;

	memset(&z, 0, sizeof(z));
	inflateInit2(&z, 15 + 16);
	z.next_in = (Bytef *) from->data;
	z.avail_in = (uInt) from->len;
	z.next_out = (Bytef *) wanted.data;
	z.avail_out = MOST;
	while (sound && z.avail_in > 0)
	{
		/* zeros may follow the last member */
		if (rc == Z_STREAM_END && *z.next_in == 0)
		{
			while (z.avail_in > 0 && *z.next_in == 0)
			{
				z.next_in++;
				z.avail_in--;
			}
			sound = z.avail_in == 0;
			break;
		}
		if (rc == Z_STREAM_END)
			inflateReset(&z);
		rc = inflate(&z, Z_NO_FLUSH);
		sound = rc == Z_STREAM_END;
	}
	wanted.len = MOST - z.avail_out;
	inflateEnd(&z);
	return sound;
}

/* Unpacks into "got", so many bytes at a time; false if that is refused */
static bool
unpack(const Bytes *from, size_t in, size_t out)
{
	FcCodec    *codec = fc_codec_begin(FC_CODEC_GZIP, FC_CODEC_LEAST);
	FcCodecIo	io = {from->data, 0, 0, window, out, 0};
	FcCodecResult result = FC_CODEC_OK;
	bool		moved = true;

	got.len = 0;
	while (result == FC_CODEC_OK && (moved || io.in_len < from->len))
	{
		size_t		before = io.in_pos;

		if (!moved)
			io.in_len = io.in_len + in < from->len ? io.in_len + in : from->len;
		io.out_pos = 0;
		result = fc_codec_step(codec, &io);
		moved = io.in_pos != before || io.out_pos > 0;
		if (got.len + io.out_pos > MOST)
			break;
		memcpy(got.data + got.len, window, io.out_pos);
		got.len += io.out_pos;
	}
	if (result == FC_CODEC_OK)
		result = fc_codec_finish(codec);
	fc_codec_end(codec);
	return result == FC_CODEC_OK;
}

static bool
same(const Bytes *a, const Bytes *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* In steps of any size the file gives what was packed */
static bool
unpacks_in_steps(void)
{
	static const size_t ins[] = {1, 2, 7, 64, 4096, 131072};
	static const size_t outs[] = {1, 3, 258, 32768, 65537, sizeof(window)};

	for (size_t i = 0; i < lengthof(ins); i++)
		for (size_t o = 0; o < lengthof(outs); o++)
		{
			/* many small steps take long */
			if (plain.len > 10000 && (ins[i] < 64 || outs[o] < 258))
				continue;
			if (!unpack(&packed, ins[i], outs[o]) || !same(&got, &plain))
			{
				printf("# steps of %zu and %zu bytes\n", ins[i], outs[o]);
				return false;
			}
		}
	return true;
}

/*
 * Is "changed" unpacked, or refused, as by zlib?  ISA-L passes over a fault in
 * a code that no data use: then all bytes must be there.
 */
static bool
agrees(size_t in, size_t out)
{
	bool		sound = unpack_by_zlib(&changed);
	bool		taken = unpack(&changed, in, out);

#ifdef HAVE_ISAL
	if (taken && !sound)
		return same(&got, &plain);
#endif
	return taken == sound && (!sound || same(&got, &wanted));
}

/* Cuts the file at each byte near its ends, and at others */
static bool
agrees_where_cut(void)
{
	size_t		step = packed.len > 2000 ? packed.len / 50 : 1;

	for (size_t len = 0; len < packed.len;
		 len += len < 60 || len + 20 > packed.len ? 1 : step)
	{
		changed.len = len;
		memcpy(changed.data, packed.data, len);
		if (!agrees(1 + any(9000), 1 + any(70000)))
		{
			printf("# cut at %zu of %zu bytes\n", len, packed.len);
			return false;
		}
	}
	return true;
}

/* Changes one byte, of the header, of a block or of the sums */
static bool
agrees_where_changed(int times)
{
	changed.len = packed.len;
	for (int i = 0; i < times; i++)
	{
		size_t		at = any(3) == 0 ? any((unsigned int) packed.len) :
			any(2) == 0 ? any(packed.len < 60 ? (unsigned int) packed.len : 60) :
			packed.len - 1 - any(packed.len < 20 ? (unsigned int) packed.len : 20);
		char		byte = packed.data[at] ^ (char) (1 << any(8));

		memcpy(changed.data, packed.data, packed.len);
		changed.data[at] = byte;
		if (!agrees(1 + any(5000), 1 + any(70000)))
		{
			printf("# byte %zu of %zu is %d and not %d\n", at, packed.len, byte, packed.data[at]);
			return false;
		}
	}
	return true;
}

static void
check_file(const char *name, int times)
{
	char		text[128];

	snprintf(text, sizeof(text), "%s: in steps of any size", name);
	ok(unpacks_in_steps(), text);
	snprintf(text, sizeof(text), "%s: cut as zlib has it", name);
	ok(agrees_where_cut(), text);
	snprintf(text, sizeof(text), "%s: changed as zlib has it", name);
	ok(agrees_where_changed(times), text);
	plain.len = packed.len = 0;
}

int
main(void)
{
	static const int levels[] = {0, 1, 6, 9};
	static const int strategies[] = {Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
	static const size_t sizes[] = {0, 1, 300, 70000, 700000};
	char		name[128];

	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		for (size_t l = 0; l < lengthof(levels); l++)
		{
			make_plain(sizes[i]);
			pack(0, levels[l], Z_DEFAULT_STRATEGY, l % 2 == 1);
			snprintf(name, sizeof(name), "%zu bytes, level %d", sizes[i], levels[l]);
			check_file(name, sizes[i] > 100000 ? 30 : 300);
		}
		for (size_t s = 0; s < lengthof(strategies); s++)
		{
			make_plain(sizes[i]);
			pack(0, 6, strategies[s], true);
			snprintf(name, sizeof(name), "%zu bytes, strategy %d", sizes[i], strategies[s]);
			check_file(name, sizes[i] > 100000 ? 30 : 300);
		}
	}
	for (int members = 2; members < 40; members += 12)
	{
		for (int i = 0; i < members; i++)
		{
			size_t		start = plain.len;

			make_plain(any(2000));
			pack(start, 1 + i % 9, Z_DEFAULT_STRATEGY, i % 3 == 0);
		}
		snprintf(name, sizeof(name), "%d members", members);
		check_file(name, 300);
	}
	make_plain(500);
	pack(0, 6, Z_DEFAULT_STRATEGY, false);
	memset(packed.data + packed.len, 0, 700);
	packed.len += 700;
	check_file("zeros at the end", 400);
	return done_testing();
}
