/*-------------------------------------------------------------------------
 *
 * source/input.c
 *	  Bytes that come once, from front to back; those that a program prints.
 *
 * Programs run as in COPY FROM PROGRAM: by the shell, in the data directory,
 * with the server's user and stderr.  Their output is read to the end, lest
 * they die of SIGPIPE.  Only a plain COPY stops at a marker, as core does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "catalog/pg_authid.h"

#include "compat/compat.h"
#include "source/advice.h"
#include "source/input.h"
#include "source/source.h"

/* Bytes asked for at a time: a client's message is often as long */
#define FC_INPUT_BLOCK	65536

typedef struct FcProgram
{
	FcInput		input;
	FILE	   *pipe;
	bool		ended;			/* its output was read to the end */
	int			status;			/* with which it ended */
} FcProgram;

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

/*
 * Whether a load is worth its workers shows only after enough bytes have come
 */
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

void
fc_program_check(void)
{
	if (has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM))
		return;
	fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg("permission denied to COPY to or from an external program"),
			 errdetail("Only roles with privileges of the \"%s\" role may COPY to or from an external program.",
					   "pg_execute_server_program"),
			 errhint("Anyone can COPY to stdout or from stdin. "
					 "psql's \\copy command also works for anyone, with FROM PROGRAM and WITH (fast_copy) as well. "
					 "A superuser may let the server run programs for you: GRANT pg_execute_server_program TO %s.",
					 fc_advice_role()));
}

static size_t
fc_program_read(FcInput *input, char *buf, size_t len)
{
	FcProgram  *program = (FcProgram *) input;
	int			fd = fileno(program->pipe);
	int			events;
	ssize_t		n = 0;

	do
	{
		/* a cancel must not wait for the program */
		events = WaitLatchOrSocket(MyLatch,
								   WL_LATCH_SET | WL_SOCKET_READABLE | WL_EXIT_ON_PM_DEATH,
								   fd, -1, fc_wait_event(FC_WAIT_PROGRAM));
		if (events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (events & WL_SOCKET_READABLE)
			n = read(fd, buf, len);
	} while ((events & WL_SOCKET_READABLE) == 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		fc_file_error(errmsg("could not read from COPY file: %m"));
	program->ended = (n == 0);
	return (size_t) n;
}

FcInput *
fc_program_begin(const char *command)
{
	FcProgram  *program = palloc0(sizeof(FcProgram));

	program->input.read = fc_program_read;
	program->input.word = "program";
	program->input.path = command;
	program->pipe = OpenPipeStream(command, PG_BINARY_R);
	if (program->pipe == NULL)
		fc_file_error(errmsg("could not execute command \"%s\": %m", command));
	return &program->input;
}

void
fc_program_end(FcInput *input)
{
	FcProgram  *program = (FcProgram *) input;

	program->status = ClosePipeStream(program->pipe);
	if (program->status == -1)
		fc_file_error(errmsg("could not close pipe to external command: %m"));
	input->failed = program->status != 0 &&
		(program->ended || !wait_result_is_signal(program->status, SIGPIPE));
}

char *
fc_program_hint(void)
{
	return psprintf("The server runs it on host \"%s\" as user \"%s\" of the operating system, in its data directory; what it writes to stderr is in the server's log.",
					fc_advice_host(), fc_advice_user());
}

void
fc_program_check_end(const FcInput *input, const char *hint)
{
	const FcProgram *program = (const FcProgram *) input;

	if (input->failed)
		fc_throw(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION, errmsg("program \"%s\" failed", input->path),
				 errdetail_internal("%s", wait_result_to_str(program->status)),
				 hint ? errhint("%s", hint) : 0);
}
