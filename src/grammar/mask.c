/*-------------------------------------------------------------------------
 *
 * grammar/mask.c
 *	  Where the bytes that matter stand: one bit for each byte.
 *
 *	avx512		where the processor has it, with VBMI2
 *	avx2		where the processor has it, and carry-less multiplication
 *	sse2		every x86-64
 *	neon		every aarch64
 *	words		all others, 64 bits at a time
 *
 *-------------------------------------------------------------------------
 */
#include "grammar/mask.h"

#include <string.h>

#if defined(__x86_64__) && defined(__SSE2__)
#define FC_MASK_X86
#if defined(__clang__) || __GNUC__ >= 8
#define FC_MASK_AVX512
#endif
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define FC_MASK_NEON
#include <arm_neon.h>
#endif

/*
 * FC_MASK_INLINE: the bytes that a kernel's loops look for must be constants
 * to the compiler.  FC_MASK_KEEP keeps a mask in a register: a compiler would
 * gather masks in a vector only to store them together, which takes longer
 * than all the rest.
 */
#define FC_MASK_INLINE	static inline __attribute__((always_inline))
#define FC_MASK_KEEP(w)	__asm__("" : "+r" (w))

FC_MASK_INLINE unsigned int
word_piece(const char *p, char c, bool strange)
{
	const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
	uint64_t	w;
	uint64_t	other;

	memcpy(&w, p, sizeof(w));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	w ^= UINT64_C(0x0101010101010101) * (unsigned char) c;
	/* the top bit of each byte that is not zero */
	other = ((w & low7) + low7) | w;
	/* leave the top bits of the others, then gather them */
	w = (strange ? w | ~other : ~other) & ~low7;
	return (unsigned int) (((w >> 7) * UINT64_C(0x0102040810204080)) >> 56);
}

/* Writes the place of the first of the bits, and takes that away */
#define PLACE(to) \
	((to) = (uint16_t) (base + FIRST(bits)), bits &= bits - 1)

#define KERNEL(name)	word_##name
#define TARGET
#define PIECE			8
#include "grammar/mask_kernel.h"

#ifdef FC_MASK_X86
FC_MASK_INLINE unsigned int
sse2_piece(const char *p, char c, bool strange)
{
	__m128i		v = _mm_loadu_si128((const __m128i *) p);
	__m128i		equal = _mm_cmpeq_epi8(v, _mm_set1_epi8(c));

	return (unsigned int) _mm_movemask_epi8(strange ? _mm_or_si128(v, equal) : equal);
}

#define KERNEL(name)	sse2_##name
#define TARGET
#define PIECE			16
#include "grammar/mask_kernel.h"

#define AVX2	__attribute__((target("avx2,bmi,pclmul")))

AVX2 FC_MASK_INLINE unsigned int
avx2_piece(const char *p, char c, bool strange)
{
	__m256i		v = _mm256_loadu_si256((const __m256i *) p);
	__m256i		equal = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(c));

	return (unsigned int) _mm256_movemask_epi8(strange ? _mm256_or_si256(v, equal) : equal);
}

/* Multiplied by ones without carries, each bit adds itself to all above it. */
AVX2 static inline uint64_t
avx2_prefix_xor(uint64_t w)
{
	__m128i		product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long) w),
											   _mm_set1_epi8(-1), 0);

	return (uint64_t) _mm_cvtsi128_si64(product);
}

#define KERNEL(name)	avx2_##name
#define TARGET			AVX2
#define PIECE			32
#define PREFIX(w)		avx2_prefix_xor(w)
#define COUNT(w)		__builtin_popcountll(w)
#define FIRST(w)		_tzcnt_u64(w)
#include "grammar/mask_kernel.h"
#endif							/* FC_MASK_X86 */

#ifdef FC_MASK_AVX512
#define AVX512	__attribute__((target("avx2,avx512f,avx512bw,avx512vbmi2,bmi,pclmul,popcnt")))

AVX512 FC_MASK_INLINE uint64_t
avx512_piece(const char *p, char c, bool strange)
{
	__m512i		v = _mm512_loadu_si512(p);

	return strange ? _mm512_cmple_epi8_mask(v, _mm512_setzero_si512()) :
		_mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(c));
}

/* Numbers of bytes, of which those stay whose bits are set, moved together */
AVX512 static inline void
avx512_write(uint16_t *at, uint64_t bits, uint16_t base)
{
	static const uint8_t numbers[FC_MASK_BLOCK] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
		48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
	};
	__m512i		v = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(numbers));
	__m512i		first = _mm512_set1_epi16((short) base);

	_mm512_storeu_si512(at, _mm512_add_epi16(first, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(v))));
	if (__builtin_popcountll(bits) > FC_MASK_BLOCK / 2)
		_mm512_storeu_si512(at + FC_MASK_BLOCK / 2,
							_mm512_add_epi16(first, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(v, 1))));
}

#define KERNEL(name)	avx512_##name
#define TARGET			AVX512
#define PIECE			64
#define PREFIX(w)		avx2_prefix_xor(w)
#define COUNT(w)		__builtin_popcountll(w)
#define WRITE(at, w, base)	avx512_write(at, w, base)
#include "grammar/mask_kernel.h"
#endif							/* FC_MASK_AVX512 */

#ifdef FC_MASK_NEON
/* Each byte keeps the bit of its place in its half; adding gathers them. */
static inline unsigned int
neon_gather(uint8x16_t v)
{
	static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128,
	1, 2, 4, 8, 16, 32, 64, 128};

	v = vandq_u8(v, vld1q_u8(places));
	return vaddv_u8(vget_low_u8(v)) |
		(unsigned int) vaddv_u8(vget_high_u8(v)) << 8;
}

FC_MASK_INLINE unsigned int
neon_piece(const char *p, char c, bool strange)
{
	return neon_gather(strange ? vcleq_s8(vld1q_s8((const int8_t *) p), vdupq_n_s8(0)) :
					   vceqq_u8(vld1q_u8((const uint8_t *) p), vdupq_n_u8((uint8_t) c)));
}

#define KERNEL(name)	neon_##name
#define TARGET
#define PIECE			16
#include "grammar/mask_kernel.h"
#endif							/* FC_MASK_NEON */

static const FcMaskKernel kernels[] = {
#ifdef FC_MASK_AVX512
	{"avx512", avx512_all, avx512_lines, avx512_fields, avx512_places},
#endif
#ifdef FC_MASK_X86
	{"avx2", avx2_all, avx2_lines, avx2_fields, avx2_places},
	{"sse2", sse2_all, sse2_lines, sse2_fields, sse2_places},
#endif
#ifdef FC_MASK_NEON
	{"neon", neon_all, neon_lines, neon_fields, neon_places},
#endif
	{"words", word_all, word_lines, word_fields, word_places}
};

const FcMaskKernel *
fc_mask_number(int n)
{
	if (n < 0 || (size_t) n >= sizeof(kernels) / sizeof(kernels[0]))
		return NULL;
#ifdef FC_MASK_AVX512
	if (kernels[n].all == avx512_all &&
		!(__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2") &&
		  __builtin_cpu_supports("pclmul")))
		return NULL;
#endif
#ifdef FC_MASK_X86
	if (kernels[n].all == avx2_all &&
		!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		  __builtin_cpu_supports("pclmul")))
		return NULL;
#endif
	return &kernels[n];
}

const FcMaskKernel *fc_mask_kernel;

/* Chooses the kernel when the code is loaded, before anything uses it */
__attribute__((constructor)) static void
choose(void)
{
	int			n = 0;

#ifdef FC_MASK_X86
	/* other constructors, which do this, may come later */
	__builtin_cpu_init();
#endif
	while ((fc_mask_kernel = fc_mask_number(n)) == NULL)
		n++;
}
