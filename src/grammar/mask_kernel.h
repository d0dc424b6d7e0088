/*-------------------------------------------------------------------------
 *
 * grammar/mask_kernel.h
 *	  The body of a kernel of grammar/mask.c, which includes this for each one.
 *
 *	KERNEL(name)	the kernel's name for a function
 *	TARGET			attributes of its functions
 *	PIECE			bytes compared at once
 *
 *	KERNEL(piece)(p, c, strange)
 *		the mask of p[0..PIECE): where c stands; for "strange" c is 0, and a
 *		byte that is not ASCII counts, too
 *
 * and, where the processor has something better than what stands below:
 *
 *	PREFIX(w)		as fc_mask_prefix_xor
 *	COUNT(w)		as fc_mask_count
 *	FIRST(w)		the number of the first bit that is set, any for 0
 *	WRITE(at, w, base)	writes base and the number of each bit that is set
 *
 *-------------------------------------------------------------------------
 */

#ifndef COUNT
#define PREFIX(w)		fc_mask_prefix_xor(w)
#define COUNT(w)		fc_mask_count(w)
#define FIRST(w)		__builtin_ctzll((w) | ~(~UINT64_C(0) >> 1))
#endif

#ifndef WRITE
/*
 * Writes eight places, and more where there are more bits: how many there are
 * is hard to predict
 */
TARGET static inline void
KERNEL(write)(uint16_t *at, uint64_t bits, uint16_t base)
{
	do
	{
		PLACE(at[0]);
		PLACE(at[1]);
		PLACE(at[2]);
		PLACE(at[3]);
		PLACE(at[4]);
		PLACE(at[5]);
		PLACE(at[6]);
		PLACE(at[7]);
		at += 8;
	} while (bits != 0);
}
#define WRITE(at, w, base)	KERNEL(write)(at, w, base)
#endif

/* The mask of the block at p */
TARGET FC_MASK_INLINE uint64_t
KERNEL(whole)(const char *p, char c, bool strange)
{
	uint64_t	mask = 0;

	for (size_t at = 0; at < FC_MASK_BLOCK; at += PIECE)
		mask |= (uint64_t) KERNEL(piece)(p + at, c, strange) << at;
	return mask;
}

/* The masks of the block at p without the bytes that are "known" already */
TARGET FC_MASK_INLINE void
KERNEL(block)(FcMaskBytes bytes, const char *p, size_t known,
			  bool lines, bool strange, FcMask *out)
{
	uint64_t	quotes = KERNEL(whole)(p, bytes.quote, false) >> known;
	uint64_t	delims = KERNEL(whole)(p, bytes.delim, false) >> known;
	uint64_t	nl = lines ? KERNEL(whole)(p, '\n', false) >> known : 0;
	uint64_t	cr = lines ? KERNEL(whole)(p, '\r', false) >> known : 0;

	FC_MASK_KEEP(quotes);
	FC_MASK_KEEP(delims);
	FC_MASK_KEEP(nl);
	out->quotes = quotes;
	out->delims = delims;
	if (lines)
	{
		out->nl = nl;
		out->cr = cr;
	}
	if (strange)
		out->strange = KERNEL(whole)(p, '\0', true) >> known;
	out->within = quotes == 0 ? 0 : PREFIX(quotes);
}

TARGET FC_MASK_INLINE void
KERNEL(fill)(FcMaskBytes bytes, const char *p, size_t len, bool lines,
			 bool strange, FcMask *masks)
{
	size_t		left = len;

	Assert(len > 0);
	for (; left >= FC_MASK_BLOCK; left -= FC_MASK_BLOCK, p += FC_MASK_BLOCK)
		KERNEL(block)(bytes, p, 0, lines, strange, masks++);
	if (left > 0)
	{
		const size_t known = FC_MASK_BLOCK - left;
		char		alone[FC_MASK_BLOCK] = {0};

		/* no byte before p or after p[len] is ours to read */
		if (len == left)
			p = (char *) memcpy(alone + known, p, left);
		KERNEL(block)(bytes, p - known, known, lines, strange, masks);
	}
}

TARGET static void
KERNEL(all)(FcMaskBytes bytes, const char *p, size_t len, FcMask *masks)
{
	KERNEL(fill)(bytes, p, len, true, true, masks);
}

TARGET static void
KERNEL(lines)(FcMaskBytes bytes, const char *p, size_t len, FcMask *masks)
{
	KERNEL(fill)(bytes, p, len, true, false, masks);
}

TARGET static void
KERNEL(fields)(FcMaskBytes bytes, const char *p, size_t len, FcMask *masks)
{
	KERNEL(fill)(bytes, p, len, false, false, masks);
}

/* Places written beyond those of a word do not count */
TARGET static void
KERNEL(places)(const uint64_t *words, const uint64_t *last, size_t pos, size_t len,
			   int most, int gap, FcPlaces *places)
{
	const int	first = pos % FC_MASK_BLOCK;
	uint64_t	from = ~UINT64_C(0) << first;
	uint64_t	before = first == 0 ? ~(~UINT64_C(0) >> 1) : 0;
	uint64_t	own = first == 0 ? 0 : UINT64_C(1) << (first - 1);
	uint64_t	near = 0;
	uint16_t   *start = places->at;
	uint16_t   *next = start;
	int			nlast = 0;

	Assert(gap >= 0 && gap < FC_MASK_BLOCK - 1);
	for (size_t w = pos / FC_MASK_BLOCK; w * FC_MASK_BLOCK < len && next - start < most; w++)
	{
		uint64_t	ends = last[w] & from;
		uint64_t	bits = (words[w] & from) | ends;

		WRITE(next, bits, (uint16_t) (w * FC_MASK_BLOCK + 1));
		next += COUNT(bits);
		nlast += COUNT(ends);
		own |= bits;
		near |= bits & (own << (gap + 1) | before >> (FC_MASK_BLOCK - gap - 1));
		before = own;
		own = 0;
		from = ~UINT64_C(0);
	}
	places->n = next - start;
	places->nlast = nlast;
	places->near = near != 0;
}

#undef KERNEL
#undef TARGET
#undef PIECE
#undef PREFIX
#undef COUNT
#undef FIRST
#undef WRITE
