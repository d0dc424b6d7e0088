/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  A harness of test/fuzz/libfuzzer without libFuzzer: its kept corpus, and
 *	  made-up changes of that, for processors and compilers that have none.
 *
 * REPLAY names the file of the corpus: an input in each line, as it is, or in
 * hexadecimal digits if the file's name ends so.  A harness that finds something
 * ends the program.
 *
 *-------------------------------------------------------------------------
 */
#include "tap.h"

#define MOST	2048			/* bytes of an input */
#define CHANGED	50000			/* in all, at least */

int			LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static size_t
from_hex(char *line)
{
	unsigned int byte;
	size_t		n = 0;

	for (; sscanf(line + 2 * n, "%2x", &byte) == 1; n++)
		line[n] = (char) byte;
	return n;
}

/* Sets, takes out, puts in or repeats some bytes */
static size_t
change(uint64_t *seed, char *bytes, size_t n)
{
	static const char special[] = "\"\",\n\r\t\\.N0\xff\x80";

	for (int i = made_up(seed, 4); i >= 0 && n > 0; i--)
	{
		size_t		at = made_up(seed, n);
		size_t		some = 1 + made_up(seed, n - at < 80 ? n - at : 80);

		switch (made_up(seed, 4))
		{
			case 0:
				bytes[at] = special[made_up(seed, sizeof(special) - 1)];
				break;
			case 1:
				bytes[at] ^= 1 << made_up(seed, 8);
				break;
			case 2:
				memmove(bytes + at, bytes + at + some, n - at - some);
				n -= some;
				break;
			default:
				if (n + some > MOST)
					break;
				memmove(bytes + at + some, bytes + at, n - at);
				n += some;
		}
	}
	return n;
}

int
main(int argc, char **argv)
{
	static char line[2 * MOST + 2];
	char		changed[MOST];
	FILE	   *file = fopen(REPLAY, "r");
	bool		hex = strstr(REPLAY, ".hex") != NULL;
	uint64_t	seed = UINT64_C(314159);
	long		inputs = 0;
	long		each;

	if (file == NULL)
	{
		printf("Bail out! cannot open %s\n", REPLAY);
		return 1;
	}
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	while (fgets(line, sizeof(line), file))
		inputs++;
	each = 1 + CHANGED / (inputs + 1);
	rewind(file);
	while (fgets(line, sizeof(line), file))
	{
		size_t		n = hex ? from_hex(line) : strlen(line);

		LLVMFuzzerTestOneInput((const uint8_t *) line, n);
		for (int i = 0; i < each && n <= MOST; i++)
		{
			memcpy(changed, line, n);
			LLVMFuzzerTestOneInput((const uint8_t *) changed, change(&seed, changed, n));
		}
	}
	fclose(file);
	ok(inputs > 10, "the harness takes its corpus, and what is made of that");
	printf("# %ld inputs, %ld changes of each\n", inputs, each);
	return done_testing();
}
