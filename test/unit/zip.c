/*-------------------------------------------------------------------------
 *
 * zip.c
 *	  zip files: source/unzip.c against files that are made here.
 *
 * Files are made in the ways that tools make them: stored and deflated, with
 * sizes before and after the data, in zip64's form, with directories, and what
 * macOS adds.  Each is unpacked in steps of many sizes, cut at each byte, and
 * changed: what is unpacked must be what was packed, or nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <zlib.h>

#include "source/codec.h"

#define MOST	(2 * 1024 * 1024)

typedef struct Bytes
{
	size_t		len;
	char		data[MOST];
} Bytes;

static Bytes plain;
static Bytes packed;
static Bytes changed;
static Bytes got;
static Bytes directory;
static unsigned int members;
static char fault[300];			/* why it was refused */

static unsigned int
any(unsigned int limit)
{
	static uint64_t seed = 42;

	return made_up(&seed, limit);
}

static void
number(Bytes *to, uint64_t n, int bytes)
{
	for (; bytes > 0; bytes--, n >>= 8)
		to->data[to->len++] = (char) n;
}

static void
bytes(Bytes *to, const char *from, size_t len)
{
	memcpy(to->data + to->len, from, len);
	to->len += len;
}

/* How a member is made */
typedef struct Way
{
	const char *name;
	bool		stored;
	bool		described;		/* sizes follow the data, */
	bool		marked;			/* after a signature */
	bool		zip64;
	unsigned int flags;			/* others */
	unsigned int method;		/* 0: as it is */
	bool		hidden;			/* the directory lacks it */
} Way;

static size_t
deflated(const char *data, size_t len, char *to, size_t room)
{
	z_stream	z;

	memset(&z, 0, sizeof(z));
	deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
	z.next_in = (Bytef *) data;
	z.avail_in = (uInt) len;
	z.next_out = (Bytef *) to;
	z.avail_out = (uInt) room;
	deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return room - z.avail_out;
}

/* The fields that a header and the directory have in common */
static void
fields(Bytes *to, const Way *way, uint32_t crc, size_t in, size_t out, bool later)
{
	number(to, way->zip64 ? 45 : 20, 2);
	number(to, way->flags | (way->described ? 8 : 0), 2);
	number(to, way->method ? way->method : way->stored ? 0 : 8, 2);
	number(to, 0x12345678, 4);
	number(to, later ? 0 : crc, 4);
	number(to, way->zip64 ? 0xffffffff : later ? 0 : in, 4);
	number(to, way->zip64 ? 0xffffffff : later ? 0 : out, 4);
	number(to, strlen(way->name), 2);
	number(to, way->zip64 ? 4 + 20 : 0, 2);
}

static void
name(Bytes *to, const Way *way, size_t in, size_t out, bool later)
{
	bytes(to, way->name, strlen(way->name));
	if (!way->zip64)
		return;
	bytes(to, "\x99\x99\0\0", 4);
	number(to, 1, 2);
	number(to, 16, 2);
	number(to, later ? 0 : out, 8);
	number(to, later ? 0 : in, 8);
}

static void
add(const Way *way, const char *data, size_t len)
{
	static char body[MOST];
	uint32_t	crc = (uint32_t) crc32(0, (const Bytef *) data, (uInt) len);
	size_t		in = way->stored ? len : deflated(data, len, body, sizeof(body));

	number(&packed, 0x04034b50, 4);
	fields(&packed, way, crc, in, len, way->described);
	name(&packed, way, in, len, way->described);
	bytes(&packed, way->stored ? data : body, in);
	if (way->described && way->marked)
		number(&packed, 0x08074b50, 4);
	if (way->described)
	{
		number(&packed, crc, 4);
		number(&packed, in, way->zip64 ? 8 : 4);
		number(&packed, len, way->zip64 ? 8 : 4);
	}
	if (way->hidden)
		return;
	members++;
	number(&directory, 0x02014b50, 4);
	number(&directory, 45, 2);
	fields(&directory, way, crc, in, len, false);
	number(&directory, 3, 2);	/* a comment */
	number(&directory, 0, 12);
	name(&directory, way, in, len, false);
	bytes(&directory, "PK\5", 3);
}

static void
begin(void)
{
	packed.len = directory.len = members = 0;
}

static void
end(bool zip64, const char *comment)
{
	size_t		at = packed.len;

	bytes(&packed, directory.data, directory.len);
	if (zip64)
	{
		number(&packed, 0x06064b50, 4);
		number(&packed, 44, 8);
		number(&packed, 0, 44);
		number(&packed, 0x07064b50, 4);
		number(&packed, 0, 16);
	}
	number(&packed, 0x06054b50, 4);
	number(&packed, 0, 4);
	number(&packed, members, 2);
	number(&packed, members, 2);
	number(&packed, directory.len, 4);
	number(&packed, at, 4);
	number(&packed, strlen(comment), 2);
	bytes(&packed, comment, strlen(comment));
}

/* Unpacks into "got", so many bytes at a time; false if that is refused */
static bool
unpack(const Bytes *from, size_t in, size_t out)
{
	static char window[65536];
	FcCodec    *codec = fc_codec_begin(FC_CODEC_ZIP, FC_CODEC_LEAST);
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
		bytes(&got, window, io.out_pos);
	}
	snprintf(fault, sizeof(fault), "%s%s", result == FC_CODEC_REFUSES ? "refused: " :
			 result == FC_CODEC_GARBAGE ? "garbage" : "", fc_codec_reason(codec));
	if (result == FC_CODEC_OK)
		result = fc_codec_finish(codec);
	fc_codec_end(codec);
	return result == FC_CODEC_OK;
}

static bool
same(void)
{
	return got.len == plain.len && memcmp(got.data, plain.data, plain.len) == 0;
}

static bool
in_steps(void)
{
	static const size_t ins[] = {1, 2, 3, 7, 64, 4096, MOST};
	static const size_t outs[] = {1, 3, 258, 65536};

	for (size_t i = 0; i < lengthof(ins); i++)
		for (size_t o = 0; o < lengthof(outs); o++)
		{
			if (plain.len > 10000 && (ins[i] < 7 || outs[o] < 258))
				continue;
			if (!unpack(&packed, ins[i], outs[o]) || !same())
			{
				printf("# steps of %zu and %zu bytes: %s\n", ins[i], outs[o], fault);
				return false;
			}
		}
	return true;
}

static bool
refused_where_cut(void)
{
	size_t		step = packed.len > 2000 ? packed.len / 50 : 1;

	for (size_t len = 0; len < packed.len; len += len < 60 || len + 120 > packed.len ? 1 : step)
	{
		changed.len = len;
		memcpy(changed.data, packed.data, len);
		if (unpack(&changed, 1 + any(900), 1 + any(65536)))
		{
			printf("# cut at %zu of %zu bytes\n", len, packed.len);
			return false;
		}
	}
	return true;
}

/* Names and times may change; what is unpacked may not */
static bool
sound_where_changed(void)
{
	memcpy(changed.data, packed.data, packed.len);
	changed.len = packed.len;
	for (int i = 0; i < (plain.len > 10000 ? 100 : 500); i++)
	{
		size_t		at = any((unsigned int) (i % 2 == 0 || packed.len < 300 ? packed.len : 300));
		char		was = changed.data[at];

		changed.data[at] = (char) (was ^ 1 << any(8));
		if (unpack(&changed, 1 + any(900), 1 + any(65536)) && !same())
		{
			printf("# byte %zu of %zu is %d and not %d\n", at, packed.len, changed.data[at], was);
			return false;
		}
		changed.data[at] = was;
	}
	return true;
}

static void
check(const char *what)
{
	char		text[128];

	snprintf(text, sizeof(text), "%s, %zu bytes: in steps of any size", what, plain.len);
	ok(in_steps(), text);
	snprintf(text, sizeof(text), "%s, %zu bytes: refused where it is cut", what, plain.len);
	ok(refused_where_cut(), text);
	snprintf(text, sizeof(text), "%s, %zu bytes: sound where it is changed", what, plain.len);
	ok(sound_where_changed(), text);
}

static void
check_ways(size_t len)
{
	char		what[100];

	plain.len = 0;
	for (size_t i = 0; i < len; i++)
		plain.data[plain.len++] = (char) (any(4) > 0 && i > 40 ? plain.data[i - 1 - any(40)] : 'a' + (int) any(26));
	for (int i = 0; i < 16; i++)
	{
		Way			way = {"data/x.csv",.stored = i & 1,.described = i & 2,.marked = i & 4,.zip64 = i & 8};

		if (way.stored && way.described && !way.zip64)
			continue;
		if (way.stored && way.described)
			way.described = false;
		begin();
		add(&way, plain.data, plain.len);
		end(way.zip64, i % 3 == 0 ? "a comment" : "");
		snprintf(what, sizeof(what), "%s%s%s%s", way.stored ? "stored" : "deflated", way.described ? ", described" : "",
				 way.marked ? ", marked" : "", way.zip64 ? ", zip64" : "");
		check(what);
	}
}

static void
check_refused(const Way *way, const char *expected)
{
	begin();
	add(way, "x\n", 2);
	end(false, "");
	ok(!unpack(&packed, 1 + any(100), 100), expected);
	is(fault, expected, "and why");
}

int
main(void)
{
	static const size_t sizes[] = {0, 1, 300, 70000};
	Way			way = {"a.csv"};

	for (size_t i = 0; i < lengthof(sizes); i++)
		check_ways(sizes[i]);

	plain.len = 0;
	bytes(&plain, "1,2\n", 4);
	begin();
	add(&(Way) {"dir/",.stored = true}, "", 0);
	add(&(Way) {"dir/inner/",.stored = true,.described = true,.marked = true}, "", 0);
	add(&(Way) {"dir/inner/x.csv"}, plain.data, plain.len);
	add(&(Way) {"__MACOSX/dir/inner/._x.csv"}, "resources", 9);
	end(false, "");
	check("with directories");

	begin();
	add(&way, plain.data, plain.len);
	add(&(Way) {"b\n\x1b.csv",.described = true}, packed.data, 30);
	add(&(Way) {"dir/c.csv",.stored = true}, "", 0);
	end(false, "");
	ok(!unpack(&packed, 7, 100), "several members");
	is(fault, "refused: it has several members: \"a.csv\", \"b??.csv\", \"dir/c.csv\"", "and their names");
	begin();
	for (int i = 0; i < 1000; i++)
		add(&(Way) {"abcdefghijklmnop.csv"}, "x\n", 2);
	end(false, "");
	ok(!unpack(&packed, 4096, 100), "many members");
	ok(strstr(fault, "\", ...") && strlen(fault) < 256, "of which a few are named");

	begin();
	end(false, "");
	ok(!unpack(&packed, 7, 100), "an empty archive");
	is(fault, "refused: it has no member", "and why");
	begin();
	add(&(Way) {"deleted.csv",.hidden = true}, "x\n", 2);
	end(false, "");
	ok(!unpack(&packed, 7, 100), "a member that the directory lacks");
	is(fault, "members that the directory lacks", "and why");
	begin();
	add(&(Way) {"dir/",.stored = true}, "x\n", 2);
	add(&way, "x\n", 2);
	end(false, "");
	ok(!unpack(&packed, 7, 100), "a directory with data");
	begin();
	add(&way, "x\n", 2);
	end(false, "");
	memcpy(changed.data, packed.data, packed.len);
	bytes(&packed, changed.data, packed.len);
	ok(!unpack(&packed, 4096, 100), "another zip file after it");
	is(fault, "garbage", "and why");

	way.flags = 1;
	check_refused(&way, "refused: its data are encrypted");
	way.flags = 1 << 13;
	check_refused(&way, "refused: its data are encrypted");
	way = (Way) {"a.csv",.method = 9};
	check_refused(&way, "refused: its data are packed by a method other than deflate");
	way = (Way) {"a.csv",.stored = true,.described = true};
	check_refused(&way, "refused: its data are stored without their size before them");
	return done_testing();
}
