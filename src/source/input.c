/*-------------------------------------------------------------------------
 *
 * source/input.c
 *	  Bytes that come once, from front to back.
 *
 * Whether a load is worth its workers shows only after enough bytes have come.
 * What has been read until then is kept, and the first reads give it, whether
 * core reads or the load.
 *
 * The bytes are in the memory context that was current when they were read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "source/input.h"

/* Bytes asked for at a time: a client's message is often as long */
#define FC_INPUT_BLOCK	65536

size_t
fc_input_read(FcInput *input, char *buf, size_t len)
{
	StringInfo	ahead = input->ahead;
	size_t		n;

	if (ahead == NULL)
		return input->read(input, buf, len);
	n = Min(len, (size_t) (ahead->len - ahead->cursor));
	memcpy(buf, ahead->data + ahead->cursor, n);
	ahead->cursor += n;
	if (n > 0)
		return n;
	pfree(ahead->data);
	pfree(ahead);
	input->ahead = NULL;
	return input->read(input, buf, len);
}

bool
fc_input_look_ahead(FcInput *input, size_t size)
{
	StringInfo	ahead = input->ahead ? input->ahead : makeStringInfo();
	size_t		n = 1;

	while ((size_t) ahead->len < size && n > 0)
	{
		enlargeStringInfo(ahead, FC_INPUT_BLOCK);
		n = input->read(input, ahead->data + ahead->len, FC_INPUT_BLOCK);
		ahead->len += n;
	}
	input->ahead = ahead;
	return n > 0;
}

size_t
fc_input_read_head(FcInput *input, char *buf, size_t len)
{
	size_t		n;

	if (input->ahead == NULL)
		input->ahead = makeStringInfo();
	n = input->read(input, buf, len);
	appendBinaryStringInfo(input->ahead, buf, n);
	input->ahead->cursor = input->ahead->len;
	return n;
}

void
fc_input_rewind(FcInput *input)
{
	if (input->ahead)
		input->ahead->cursor = 0;
}
