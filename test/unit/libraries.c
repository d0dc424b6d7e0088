/*-------------------------------------------------------------------------
 *
 * libraries.c
 *	  source/codec.c built without any library, and with two of them.
 *
 * Whatever it is built with, it tells all formats, and names the packages for
 * those that it could unpack.
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#include "source/codec.h"

#ifdef HAVE_ZSTD
#define SOME "some "
static const bool some = true;
#else
#define SOME "no "
static const bool some = false;
#endif

typedef struct Sample
{
	FcCodecKind kind;
	bool		built;			/* where there are some libraries */
	const char *package;		/* NULL: no build unpacks it */
	size_t		len;
	const char *packed;			/* "x\n" */
} Sample;

static const Sample samples[] = {
	{FC_CODEC_GZIP, true, "zlib1g-dev", 22,
		"\037\213\010\000\000\000\000\000\002\003\253\340\002\000\037\010\352\106\002\000\000\000"},
	{FC_CODEC_ZSTD, true, "libzstd-dev", 11,
		"\x28\xb5\x2f\xfd\x20\x02\x11\0\0x\n"},
	{FC_CODEC_LZ4, false, "liblz4-dev", 11,
		"\x04\x22\x4d\x18\x64\x40\xa7\x02\0\0\x80"},
	{FC_CODEC_BZIP2, false, "libbz2-dev", 10, "BZh91AY&SY"},
	{FC_CODEC_XZ, false, "liblzma-dev", 6, "\xfd" "7zXZ\0"},
	{FC_CODEC_ZIP, true, "zlib1g-dev", 110,
		"PK\3\4\n\0\0\0\0\0\0\0!\0\037\010\352F\2\0\0\0\2\0\0\0\1\0\0\0" "ax\n"
		"PK\1\2\24\3\n\0\0\0\0\0\0\0!\0\037\010\352F\2\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "a"
		"PK\5\6\0\0\0\0\1\0\1\0/\0\0\0!\0\0\0\0\0"},
	{FC_CODEC_SEVENZIP, false, NULL, 6, "7z\xbc\xaf\x27\x1c"},
	{FC_CODEC_PARQUET, false, NULL, 5, "PAR1\x15"},
	{FC_CODEC_ORC, false, NULL, 8, "ORC\n\x03\0\0\x12"}
};

/* What the sample unpacks to; "" if that fails */
static const char *
unpacked(const Sample *sample)
{
	static char got[16];
	FcCodec    *codec = fc_codec_begin(sample->kind, FC_CODEC_LEAST);
	FcCodecIo	io = {sample->packed, sample->len, 0, got, sizeof(got), 0};

	memset(got, 0, sizeof(got));
	if (codec == NULL || fc_codec_step(codec, &io) != FC_CODEC_OK ||
		fc_codec_finish(codec) != FC_CODEC_OK)
		got[0] = '\0';
	if (codec)
		fc_codec_end(codec);
	return got;
}

int
main(void)
{
	ok(!fc_codec_unpacks(FC_CODEC_NONE), "plain data need no library");
	ok(!fc_codec_unpacks(FC_CODEC_UNKNOWN), "nor do unknown ones");
	for (size_t i = 0; i < lengthof(samples); i++)
	{
		const Sample *sample = &samples[i];
		const char *name = fc_codec_name(sample->kind);
		const char *packages = fc_codec_lacks(sample->kind);
		char		text[100];

		snprintf(text, sizeof(text), SOME "libraries: %s is told", name);
		ok(fc_codec_detect(sample->packed, sample->len, NULL) == sample->kind, text);
		snprintf(text, sizeof(text), SOME "libraries: %s is%s unpacked", name,
				 some && sample->built ? "" : " not");
		ok(fc_codec_unpacks(sample->kind) == (some && sample->built), text);
		snprintf(text, sizeof(text), SOME "libraries: the packages for %s", name);
		ok(sample->package ? packages && strstr(packages, sample->package) == packages :
		   packages == NULL, text);
		if (fc_codec_unpacks(sample->kind))
			is(unpacked(sample), "x\n", "and it is unpacked");
	}
	return done_testing();
}
