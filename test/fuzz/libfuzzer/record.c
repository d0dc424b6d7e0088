/*-------------------------------------------------------------------------
 *
 * record.c
 *	  libFuzzer's view of the record grammar, csv and text.
 *
 *	 first five bytes: format, line ends, escape, marker, null string, cuts
 *	 the others:       the file
 *
 * agree.h reads the file by src/grammar/record.c and src/grammar/chunk.c, in pieces and
 * chunks cut anywhere, and by a grammar that looks at one byte at a time.  Any
 * disagreement aborts; the sanitizers see to the rest.
 *
 *-------------------------------------------------------------------------
 */
#include "agree.h"

int			LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define HEAD	5

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static Agree agree;
	const char *wrong;
	char	   *data;

	if (size < HEAD || size - HEAD > AGREE_BYTES)
		return 0;
	agree.dialect = (FcDialect)
	{
		.mode = bytes[0] & 1 ? FC_MODE_TEXT : FC_MODE_CSV,
			.delim = bytes[0] & 1 ? '\t' : ',',
			.quote = '"',
			.escape = bytes[0] & 2 ? '\\' : '"',
			.raw = (bytes[0] & 65) == 65,
			.lone_marker = bytes[0] & 4,
			.csv_marker = bytes[0] & 32,
			.eol = (FcEol) (bytes[1] % 4),
			.default_string = bytes[0] & 8 ? "\\D" : NULL,
			.default_len = 2
	};
	/* the first bytes of the file after a delimiter's first one, if they may */
	if (bytes[0] & 128 && size >= HEAD + 2)
	{
		agree.dialect.delim_more = 1 + bytes[1] / 4 % 2;
		memcpy(agree.dialect.delim_rest, bytes + HEAD, agree.dialect.delim_more);
		for (int i = 0; i < agree.dialect.delim_more; i++)
			if (strchr("\r\n\"\\", agree.dialect.delim_rest[i]))
				agree.dialect.delim_more = 0;
	}
	agree.dialect.null_string = bytes[0] & 16 ? "\\N" : "";
	agree.dialect.null_len = strlen(agree.dialect.null_string);
	agree.seed = 1 + bytes[2] + ((uint64_t) bytes[3] << 20) +
		((uint64_t) bytes[4] << 40);

	data = malloc(size - HEAD + 1);
	if (data == NULL)
		abort();
	memcpy(data, bytes + HEAD, size - HEAD);
	data[size - HEAD] = 'z';
	agree.data = data;
	agree.len = size - HEAD;
	wrong = agree_check(&agree);
	free(data);
	if (wrong)
	{
		fprintf(stderr, "disagree about %s\n", wrong);
		abort();
	}
	return 0;
}
