/*-------------------------------------------------------------------------
 *
 * kernels.c
 *	  The same bytes through every kernel of src/grammar/mask.c that the machine
 *	  runs: each finds what the last one does, which needs no vector unit.
 *
 *	 first six bytes: quote, delimiter, where the bytes begin in a vector, gap,
 *					  the most places, where they are searched from
 *	 the others:      the bytes
 *
 * They stand in memory of just their size, so that the sanitizer sees a byte
 * too far.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/mask.h"

int			LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define HEAD		6
#define MOST		2048
#define BLOCKS		(MOST / FC_MASK_BLOCK)

/* All that a kernel says of the bytes; what it need not set is 0 */
typedef struct Said
{
	FcMask		all[BLOCKS];
	FcMask		lines[BLOCKS];
	FcMask		fields[BLOCKS];
	int			n;
	int			nlast;
	bool		near;
	uint16_t	at[MOST + FC_MASK_SPARE];
} Said;

static void
say_masks(const FcMaskKernel *kernel, FcMaskBytes look, const char *p, size_t len, Said *said)
{
	kernel->all(look, p, len, said->all);
	kernel->lines(look, p, len, said->lines);
	kernel->fields(look, p, len, said->fields);
	for (int i = 0; i < BLOCKS; i++)
	{
		said->lines[i].strange = said->fields[i].strange = 0;
		said->fields[i].nl = said->fields[i].cr = 0;
	}
}

static void
say(const FcMaskKernel *kernel, const uint8_t *head, const char *p, size_t len, Said *said)
{
	const FcMaskBytes look = {(char) head[0], (char) head[1]};
	uint64_t	words[BLOCKS];
	uint64_t	last[BLOCKS];
	FcPlaces	places = {.at = said->at};

	memset(said, 0, sizeof(Said));
	say_masks(kernel, look, p, len, said);
	for (int i = 0; i < BLOCKS; i++)
	{
		words[i] = said->all[i].delims;
		last[i] = said->all[i].nl;
	}
	kernel->places(words, last, head[5] % len, len, 1 + head[4] * 8, head[3] % (FC_MASK_BLOCK - 1), &places);
	said->n = places.n;
	said->nlast = places.nlast;
	said->near = places.near;
	/* what is written beyond the last place does not count */
	memset(said->at + places.n, 0, sizeof(said->at) - sizeof(uint16_t) * places.n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static Said expected;
	static Said said;
	size_t		shift = size < HEAD ? 0 : bytes[2] % FC_MASK_BLOCK;
	size_t		len = size - HEAD;
	char	   *data;

	if (size <= HEAD || len > MOST)
		return 0;
	data = malloc(shift + len);
	if (data == NULL)
		abort();
	memcpy(data + shift, bytes + HEAD, len);
	/* the kernels from the last one on, which all others are compared with */
	for (int i = FC_MASK_KERNELS - 1, compared = 0; i >= 0; i--)
	{
		const FcMaskKernel *kernel = fc_mask_number(i);

		if (kernel == NULL)
			continue;
		say(kernel, bytes, data + shift, len, compared++ == 0 ? &expected : &said);
		if (compared == 1 || memcmp(&said, &expected, sizeof(Said)) == 0)
			continue;
		fprintf(stderr, "kernel %s disagrees\n", kernel->name);
		abort();
	}
	free(data);
	return 0;
}
