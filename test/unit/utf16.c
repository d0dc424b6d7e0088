/*-------------------------------------------------------------------------
 *
 * utf16.c
 *	  source/utf16.c against iconv of the C library.
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include <iconv.h>

#include "source/utf16.h"

#define MOST	4000

static char text[MOST];			/* UTF-16 */
static size_t len;
static char got[2 * MOST];
static size_t n;

static unsigned int
any(unsigned int limit)
{
	static uint64_t seed = 7;

	return made_up(&seed, limit);
}

static void
unit(unsigned int c, bool big)
{
	text[len++] = (char) (big ? c >> 8 : c);
	text[len++] = (char) (big ? c : c >> 8);
}

static void
make(bool big, int units)
{
	len = 0;
	while (units-- > 0)
	{
		unsigned int c = any(4) == 0 ? any(0x10000) : any(3) == 0 ? any(0x800) : any(128);

		if (any(10) == 0)
		{
			unit(0xd800 + any(0x400), big);
			c = 0xdc00 + any(0x400);
		}
		else if (c >= 0xd800 && c < 0xe000)
			c = 'x';
		/* iconv takes it for a mark at the start, and so do we */
		unit(c == 0xfeff || c == 0xfffe ? 'y' : c, big);
	}
}

static void
convert(FcUtf16Hint hint)
{
	FcUtf16		utf16;
	const char *at = text;

	fc_utf16_begin(&utf16, hint, text, len);
	n = 0;
	while (utf16.is && at < text + len)
	{
		const char *end = at + 1 + any((unsigned int) (text + len - at));

		while (at < end)
			n += fc_utf16_convert(&utf16, &at, end, got + n, FC_UTF16_LEAST + any(50));
	}
	n += fc_utf16_end(&utf16, got + n);
	if (utf16.odd)
		got[n++] = '!';
	if (!utf16.is)
		got[n++] = '?';
	got[n] = '\0';
}

static bool
agrees(bool big)
{
	static char wanted[2 * MOST];
	iconv_t		cd = iconv_open("UTF-8", big ? "UTF-16BE" : "UTF-16LE");
	char	   *in = text;
	char	   *out = wanted;
	size_t		left = len;
	size_t		room = sizeof(wanted);
	bool		sound = iconv(cd, &in, &left, &out, &room) != (size_t) -1;

	iconv_close(cd);
	convert(big ? FC_UTF16_BE : FC_UTF16_LE);
	return sound && n == sizeof(wanted) - room && memcmp(got, wanted, n) == 0;
}

static void
check(FcUtf16Hint hint, const char *bytes, size_t size, const char *expected, const char *name)
{
	memcpy(text, bytes, size);
	len = size;
	convert(hint);
	is(got, expected, name);
}

int
main(void)
{
	bool		all = true;

	for (int i = 0; i < 4000; i++)
	{
		make(i % 2 == 1, (int) any(300));
		all &= agrees(i % 2 == 1);
	}
	ok(all, "as iconv has it");
	check(FC_UTF16_MARKED, "\xff\xfe" "a\0", 4, "a", "a mark, low bytes first");
	check(FC_UTF16_MARKED, "\xfe\xff\0a", 4, "a", "a mark, high bytes first");
	check(FC_UTF16_MARKED, "\xff\xfe", 2, "", "a mark alone");
	ok(n == 0, "is no text");
	check(FC_UTF16_BE, "\xff\xfe" "a\0", 4, "a", "the mark says more than the order");
	check(FC_UTF16_LE, "\xfe\xff\0a", 4, "a", "either way");
	check(FC_UTF16_ANY, "a\0,\0", 4, "a,", "no mark: zeros tell");
	check(FC_UTF16_ANY, "\0a\0,", 4, "a,", "in either order");
	check(FC_UTF16_ANY, "", 0, "", "no text");
	check(FC_UTF16_LE, "\xff\xfe\xff\xfe" "a\0", 6, "\xef\xbb\xbf" "a", "a second mark is a character");
	check(FC_UTF16_LE, "a", 1, "!", "half a unit");
	check(FC_UTF16_LE, "a\0b", 3, "a!", "at the end");
	check(FC_UTF16_LE, "\x3d\xd8" "a\0", 4, "\xed\xa0\xbd" "a", "the first half of a pair alone is not valid");
	check(FC_UTF16_LE, "\x3d\xd8\x3d\xd8\0\xde", 6, "\xed\xa0\xbd\xf0\x9f\x98\x80", "before a pair");
	check(FC_UTF16_LE, "\0\xde" "a\0", 4, "\xed\xb8\x80" "a", "nor is the second half");
	check(FC_UTF16_LE, "a\0\x3d\xd8", 4, "a\xed\xa0\xbd", "nor is one at the end");
	check(FC_UTF16_NEVER, "\xff\xfe", 2, "?", "not asked for");
	check(FC_UTF16_MARKED, "ab", 2, "?", "without a mark");
	check(FC_UTF16_MARKED, "\xff", 1, "?", "too short for a mark");
	return done_testing();
}
