/*-------------------------------------------------------------------------
 *
 * tap.h
 *	  What the unit tests share: results for "prove", traces, made-up input.
 *
 * A trace is a text that tells what the grammar did.  Tests compare it with a
 * literal, so that a failure shows both at a glance.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define lengthof(array)		(sizeof(array) / sizeof((array)[0]))

typedef struct Trace
{
	char		text[65536];
	size_t		len;
} Trace;

static int	tap_tests = 0;
static int	tap_failures = 0;

static inline bool
ok(bool passed, const char *name)
{
	tap_tests++;
	if (!passed)
		tap_failures++;
	printf("%sok %d - %s\n", passed ? "" : "not ", tap_tests, name);
	return passed;
}

/* Passes if the two texts are equal. */
static inline bool
is(const char *got, const char *expected, const char *name)
{
	bool		passed = ok(strcmp(got, expected) == 0, name);

	if (!passed)
		printf("#      got: %s\n# expected: %s\n", got, expected);
	return passed;
}

/* Writes the plan; main returns what this returns. */
static inline int
done_testing(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures > 0;
}

__attribute__((format(printf, 2, 3)))
static inline void
trace_add(Trace *trace, const char *format, ...)
{
	size_t		room = sizeof(trace->text) - trace->len;
	va_list		args;
	int			n;

	va_start(args, format);
	n = vsnprintf(trace->text + trace->len, room, format, args);
	va_end(args);
	if (n < 0 || (size_t) n >= room)
	{
		printf("Bail out! trace too long\n");
		exit(1);
	}
	trace->len += n;
}

static inline void
trace_reset(Trace *trace)
{
	trace->len = 0;
	trace->text[0] = '\0';
}

/* Adds bytes, with line ends shown as ^J and ^M. */
static inline void
trace_bytes(Trace *trace, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		if (data[i] == '\n')
			trace_add(trace, "^J");
		else if (data[i] == '\r')
			trace_add(trace, "^M");
		else
			trace_add(trace, "%c", data[i]);
	}
}

/*
 * A copy of exactly len bytes, so that a sanitizer sees a read beyond them.
 * The caller frees it.
 */
static inline char *
exact_copy(const char *data, size_t len)
{
	char	   *copy = malloc(len > 0 ? len : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, data, len);
	return copy;
}

/* The next number below limit of a fixed sequence (Marsaglia's xorshift). */
static inline unsigned int
made_up(uint64_t *seed, unsigned int limit)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (unsigned int) ((*seed >> 20) % limit);
}

/* Fills data with the n special bytes, the more seldom the larger dull is. */
static inline void
make_bytes(uint64_t *seed, char *data, size_t len, const char *special,
		   unsigned int n, unsigned int dull)
{
	for (size_t i = 0; i < len; i++)
	{
		unsigned int pick = made_up(seed, n + dull);

		data[i] = pick < n ? special[pick] : 'a';
	}
}

#endif							/* TAP_H */
