/*-------------------------------------------------------------------------
 *
 * mask.c
 *	  Tests of the masks, src/grammar/mask.c: every kernel this machine runs says
 *	  what a look at one byte after another says.
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/mask.h"
#include "tap.h"

#define MAX_BYTES	(FC_MASK_BLOCK * 20)
#define MAX_BLOCKS	(MAX_BYTES / FC_MASK_BLOCK)

static const FcMaskBytes bytes = {'"', ','};

static const char special[] = "\"\",,\n\r\x8a\x8d\xa2\xac\0\x0b\xff";

/* Is the mask that of what[n] in the block at p, of n bytes? */
static bool
mask_is(uint64_t mask, const char *p, size_t n, char what)
{
	uint64_t	expected = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i] == what)
			expected |= UINT64_C(1) << i;
	return mask == expected;
}

static bool
block_is_right(const FcMask *mask, const char *p, size_t n, bool lines, bool strange)
{
	bool		within = false;

	if (!mask_is(mask->quotes, p, n, bytes.quote) ||
		!mask_is(mask->delims, p, n, bytes.delim))
		return false;
	if (lines && (!mask_is(mask->nl, p, n, '\n') || !mask_is(mask->cr, p, n, '\r')))
		return false;
	for (size_t i = 0; i < FC_MASK_BLOCK && strange; i++)
		if (((mask->strange >> i) & 1) != (i < n && (p[i] == 0 || (p[i] & 0x80))))
			return false;
	for (size_t i = 0; i < FC_MASK_BLOCK; i++)
	{
		if (i < n && p[i] == bytes.quote)
			within = !within;
		if (((mask->within >> i) & 1) != within)
			return false;
	}
	return true;
}

/* Are all masks of data right, read from a copy that begins at "shift"? */
static bool
masks_are_right(const FcMaskKernel *kernel, const char *data, size_t len,
				size_t shift, FcMaskFill fill)
{
	char	   *copy = exact_copy(data - shift, len + shift);
	FcMask		masks[MAX_BLOCKS + 1];
	size_t		blocks = (len + FC_MASK_BLOCK - 1) / FC_MASK_BLOCK;
	bool		right = true;

	memset(masks, 0x55, sizeof(masks));
	fill(bytes, copy + shift, len, masks);
	for (size_t i = 0; i < blocks && right; i++)
	{
		size_t		at = i * FC_MASK_BLOCK;

		right = block_is_right(&masks[i], data + at,
							   len - at < FC_MASK_BLOCK ? len - at : FC_MASK_BLOCK,
							   fill != kernel->fields, fill == kernel->all);
	}
	free(copy);
	return right && masks[blocks].quotes == UINT64_C(0x5555555555555555);
}

/* Are the places of bits those that a look at one bit after another finds? */
static bool
places_are_right(const FcMaskKernel *kernel, const uint64_t *words, const uint64_t *last,
				 size_t pos, size_t len, int most, int gap)
{
	uint16_t	at[MAX_BYTES + FC_MASK_SPARE];
	FcPlaces	places = {.at = at};
	size_t		before = pos;	/* after the last bit, or where it begins */
	int			n = 0;
	int			nlast = 0;
	bool		near = false;

	kernel->places(words, last, pos, len, most, gap, &places);
	for (size_t i = pos; i < len && n < places.n; i++)
	{
		uint64_t	bit = UINT64_C(1) << (i % FC_MASK_BLOCK);

		if (((words[i / FC_MASK_BLOCK] | last[i / FC_MASK_BLOCK]) & bit) == 0)
			continue;
		nlast += (last[i / FC_MASK_BLOCK] & bit) != 0;
		near |= i - before == (size_t) gap;
		before = i + 1;
		if (at[n++] != i + 1)
			return false;
	}
	if (n != places.n || nlast != places.nlast || (near && !places.near))
		return false;
	/* it stops early only when it has enough */
	if (n >= most)
		return n < most + FC_MASK_BLOCK;
	for (size_t i = before; i < len; i++)
		if ((words[i / FC_MASK_BLOCK] | last[i / FC_MASK_BLOCK]) >> (i % FC_MASK_BLOCK) & 1)
			return false;
	return true;
}

static void
test_places(const FcMaskKernel *kernel)
{
	uint64_t	seed = UINT64_C(141421);
	bool		right = true;

	for (int round = 0; round < 20000 && right; round++)
	{
		uint64_t	words[MAX_BLOCKS] = {0};
		uint64_t	last[MAX_BLOCKS] = {0};
		size_t		len = 1 + made_up(&seed, MAX_BYTES);
		size_t		pos = made_up(&seed, len);
		unsigned int dull = 1 + made_up(&seed, round % 3 == 0 ? 2 : 80);

		for (size_t i = 0; i < len; i++)
			if (made_up(&seed, dull) == 0)
				(made_up(&seed, 4) == 0 ? last : words)[i / FC_MASK_BLOCK] |=
					UINT64_C(1) << (i % FC_MASK_BLOCK);
		right = places_are_right(kernel, words, last, pos, len,
								 1 + made_up(&seed, round % 2 == 0 ? 2000 : 60),
								 made_up(&seed, round % 5 == 0 ? FC_MASK_BLOCK - 1 : 4));
	}
	ok(right, "places of bits");
}

static void
test_kernel(const FcMaskKernel *kernel)
{
	uint64_t	seed = UINT64_C(271828);
	char		data[64 + MAX_BYTES];
	bool		right = true;
	size_t		len;

	for (len = 1; len <= 200 && right; len++)
		for (size_t shift = 0; shift < 64 && right; shift++)
		{
			make_bytes(&seed, data, sizeof(data), special, lengthof(special) - 1,
					   (shift % 3) * 20);
			right = masks_are_right(kernel, data + 64, len, shift, kernel->all) &&
				masks_are_right(kernel, data + 64, len, shift, kernel->lines) &&
				masks_are_right(kernel, data + 64, len, shift, kernel->fields);
		}
	for (; len <= MAX_BYTES && right; len += 61)
	{
		make_bytes(&seed, data, sizeof(data), special, lengthof(special) - 1,
				   20);
		right = masks_are_right(kernel, data + 64, len, len % 64, kernel->all) &&
			masks_are_right(kernel, data + 64, len, len % 64, kernel->lines) &&
			masks_are_right(kernel, data + 64, len, len % 64, kernel->fields);
	}
	if (!ok(right, kernel->name))
		printf("# at length %d\n", (int) len - 1);
}

/* What stands behind an odd number of backslashes, across blocks. */
static void
test_escaped(void)
{
	uint64_t	seed = UINT64_C(1414);
	bool		right = true;

	for (int round = 0; round < 20000 && right; round++)
	{
		size_t		n = 1 + made_up(&seed, FC_MASK_BLOCK);
		uint64_t	valid = ~UINT64_C(0) >> (FC_MASK_BLOCK - n);
		uint64_t	backslashes = 0;
		bool		before = made_up(&seed, 2);
		bool		slow = before;
		uint64_t	escaped;

		for (int i = made_up(&seed, 8); i >= 0; i--)
			backslashes |= UINT64_C(1) << made_up(&seed, FC_MASK_BLOCK);
		backslashes |= backslashes << made_up(&seed, 3);
		backslashes |= backslashes << made_up(&seed, 4);
		backslashes &= valid;
		escaped = fc_mask_escaped(&before, backslashes, n);
		for (size_t i = 0; i < n; i++)
		{
			bool		backslash = (backslashes >> i) & 1;

			/* an escaped backslash is of no interest, but for the first byte */
			if (!(backslash && i > 0) && ((escaped >> i) & 1) != slow)
				right = false;
			slow = backslash && !slow;
		}
		right = right && before == slow;
	}
	ok(right, "20000 made-up blocks of backslashes");
}

int
main(void)
{
	const FcMaskKernel *best = NULL;
	int			n = 0;

	ok(masks_are_right(fc_mask_kernel, "a,\"b\"", 5, 0, fc_mask_kernel->all),
	   "a kernel is chosen before anything uses one");
	for (int i = 0; i < FC_MASK_KERNELS; i++)
	{
		const FcMaskKernel *kernel = fc_mask_number(i);

		if (kernel == NULL)
			continue;
		if (n++ == 0)
			best = kernel;
		test_kernel(kernel);
		test_places(kernel);
	}
	ok(n > 0 && fc_mask_kernel == best, "the one chosen is the best");
	ok(fc_mask_number(FC_MASK_KERNELS) == NULL, "there are no more");
	test_escaped();
	return done_testing();
}
