/*-------------------------------------------------------------------------
 *
 * intake/receive.c
 *	  What programs print, or the client sends, as source of a load.
 *
 *	 programs, client ──► leader ──► temporary copy ──► FcSource
 *								└─► ring ──► processes that load in turn
 *
 * The data come once.  The leader receives them, unpacks what is packed, and
 * puts the bytes where processes read them:
 *
 * 1. In a temporary copy, before all other phases, if the data end soon or
 *    several programs give them, one after the other.
 * 2. In a temporary copy, while workers scan or load what has come.
 * 3. In a ring in shared memory, if they are read once: by a load without a
 *    key, in chunks that insert in turn.  The client waits while the ring is
 *    full (fc_receive_wait_room), and nothing goes to disk.
 *
 * The pipe of a program ends with the (sub)transaction; what a client still
 * sends after an error is core's to skip.  The copy belongs to the area's
 * SharedFileSet.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "errors/first_error.h"
#include "intake/intake.h"
#include "source/client.h"

/*
 * Small data are received before they are loaded, unless the caller wants
 * workers.  Others are taken to have so many bytes.
 */
#define FC_RECEIVE_EXPECTED	((uint64) 1024 * 1024 * 1024)

#define FC_RECEIVE_PIECE	(1024 * 1024)	/* bytes received before the leader
											 * looks for an error again */

/* Chunks that each process may be ahead of the turn, in a ring */
#define FC_RING_CHUNKS		3

#define FC_RING_LEAST		((Size) 4 * 1024 * 1024)

struct FcIncoming
{
	FcUnpacker	unpacker;
	FcInput    *input;			/* the program's or client's; NULL: none is
								 * open */
	bool		led;			/* a phase receives it, in which */
	FcFinder	finder;			/* finds chunks in what comes */
	FcUnpackEnd end;			/* how far it has come */
};

Size
fc_receive_ring_size(int nworkers, uint64 chunk_size)
{
	Size		size = Max(FC_RING_LEAST, (Size) nworkers * FC_RING_CHUNKS * chunk_size);
	Size		most = fc_settings_memory(0) / 4;

	return Min(size, Max(most, FC_RING_LEAST));
}

static FcInput *
fc_receive_from_client(const FcOptions *options, int ncolumns)
{
	FcClientData data = options->compressed || options->utf16 > FC_UTF16_MARKED ? FC_CLIENT_PACKED :
		fc_format_is_binary(&options->format) ? FC_CLIENT_BINARY :
		options->raw || fc_format_is_csv(&options->format) ? FC_CLIENT_CSV : FC_CLIENT_TEXT;

	return fc_client_begin(data, options->file_encoding, ncolumns);
}

/* A client that is not asked for its data may take them for commands */
void
fc_receive_pass_over(const FcOptions *options)
{
	FcInput    *input = fc_receive_from_client(options, Max(list_length(options->columns), 1));
	char	   *buf = palloc(FC_RECEIVE_PIECE);

	while (fc_input_read(input, buf, FC_RECEIVE_PIECE) > 0)
		;
	fc_client_check_whole(input);
	fc_client_end(input);
}

static void
fc_receive_open(FcIntake *intake, FcIncoming *incoming, const char *name)
{
	FcTarget   *target = intake->target;
	bool		utf16;

	if (target->opened.input)
		incoming->input = target->opened.input;
	else if (target->options->program)
		incoming->input = fc_program_begin(name);
	else
	{
		/* before the header has told the columns core counts all of them */
		int			ncolumns = target->plan ? target->plan->nfields :
			list_length(CopyGetAttnums(RelationGetDescr(target->rel), target->rel, NIL));

		incoming->input = fc_receive_from_client(target->options, ncolumns);
	}
	fc_unpack_open(&incoming->unpacker, incoming->input,
				   fc_caller_reads_as_core(target->options->caller) ? FC_CODEC_NONE : FC_CODEC_UNKNOWN);
	incoming->end = FC_UNPACK_MORE;
	utf16 = incoming->unpacker.utf16.is;
	/* a client that takes packed data for text may change them */
	if (target->options->client && !target->options->compressed && target->options->utf16 <= FC_UTF16_MARKED &&
		(utf16 || fc_receive_is_packed(incoming)) && incoming->unpacker.kind < FC_CODEC_REFUSED)
		fc_format_error(errmsg("%s data from the client without the option \"%s\"",
							   fc_codec_name(utf16 ? FC_CODEC_UTF16 : incoming->unpacker.kind),
							   utf16 ? "encoding" : "compressed"),
						errhint("Give COPY the option %s as well, so that the client sends the data as they are.",
								utf16 ? "encoding 'UTF16'" : "\"compressed\""));
}

/* ERROR if the program failed, or the client gave up */
static void
fc_receive_check(const FcIntake *intake, FcInput *input)
{
	const FcOptions *options = intake->target->options;

	if (options->program)
		fc_program_check_end(input, fc_caller_errors_as_core(options->caller) ? NULL : fc_program_hint());
	else
		fc_client_check_whole(input);
}

/*
 * Ends an input; ERROR if it could not be unpacked.  If its sender has failed
 * the load first loads what came before (target->given_up); with several
 * programs it ends here, by that error.
 */
static void
fc_receive_close(FcIntake *intake, FcIncoming *incoming)
{
	const FcOptions *options = intake->target->options;
	FcInput    *input = incoming->input;
	bool		whole = (incoming->end == FC_UNPACK_END);

	fc_unpack_close(&incoming->unpacker);
	incoming->input = NULL;
	/* output may be cut because the program failed: its error comes first */
	if (!whole && !incoming->unpacker.fault.cut)
		fc_unpack_throw(&incoming->unpacker);
	if (options->program)
		fc_program_end(input);
	if (input->failed && whole && list_length(options->sources) == 1)
		intake->target->given_up = input;
	else
		fc_receive_check(intake, input);
	if (!options->program && !input->failed)
		fc_client_end(input);
	if (!whole)
		fc_unpack_throw(&incoming->unpacker);
}

/* Joins the names that messages use, and notes where each begins */
static char *
fc_receive_join_names(const List *sources, FcFile *files)
{
	StringInfo	names = makeStringInfo();

	foreach_node(String, string, sources)
	{
		const char *name = strVal(string);

		files[foreach_current_index(string)].path = names->len;
		appendBinaryStringInfo(names, name, (int) strlen(name) + 1);
	}
	return names->data;
}

/* Receives all there is into one temporary copy, and makes it the source */
static void
fc_receive_all(FcIntake *intake, FcIncoming *incoming)
{
	FcTarget   *target = intake->target;
	List	   *sources = target->options->sources;
	FcFile	   *files = palloc0(sizeof(FcFile) * list_length(sources));
	FcUnpacker *unpacker = &incoming->unpacker;
	char		path[MAXPGPATH];

	foreach_node(String, string, sources)
	{
		uint32		i = foreach_current_index(string);

		files[i].base = i == 0 ? 0 : unpacker->written;
		if (incoming->input == NULL)
			fc_receive_open(intake, incoming, strVal(string));
		if (incoming->end == FC_UNPACK_MORE)
			incoming->end = fc_unpack_some(unpacker, PG_UINT64_MAX);
		fc_receive_close(intake, incoming);
		files[i].identity.size = unpacker->written - files[i].base;
		files[i].utf16 = unpacker->utf16.is;
	}
	fc_unpack_end(unpacker, path);
	target->source = fc_source_of_copy(path, files, list_length(sources),
										 fc_receive_join_names(sources, files), target->options->program);
	intake->received.source = target->source;
	fc_intake_end(intake, 1);
}

/* Makes a source of the first bytes received; false if they are not enough */
static bool
fc_receive_head(FcIntake *intake, FcIncoming *incoming)
{
	FcTarget   *target = intake->target;
	FcUnpacker *unpacker = &incoming->unpacker;
	FcFile	   *file = palloc0(sizeof(FcFile));
	bool		wanted = target->options->workers > 0 || fc_workers > 0;
	FcSource   *head;

	fc_receive_open(intake, incoming, strVal(linitial(target->options->sources)));
	incoming->end = fc_unpack_some(unpacker, wanted ? 1 : FC_PROCESSORS_SMALL);
	if (incoming->end != FC_UNPACK_MORE ||
		unpacker->reserved > unpacker->budget->size)
		return false;
	file->identity.size = unpacker->written;
	file->utf16 = unpacker->utf16.is;
	head = fc_source_of_copy(FilePathName(unpacker->file), file, 1,
							 fc_receive_join_names(target->options->sources, file),
							 target->options->program);
	if (!fc_intake_suffices(intake, head, NULL))
	{
		fc_source_close(head);
		return false;
	}
	head->grows = true;
	head->size = FC_RECEIVE_EXPECTED;
	target->source = head;
	return true;
}

/* The phase begins before the first byte: a program may be slow to begin */
void
fc_receive(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcReceived *received = &intake->received;
	const FcSource *source = received->source;
	FcUnpackArea *area;
	FcIncoming *incoming;

	/* the load gave way to pg_partman, and what it had received comes once */
	if (source)
	{
		intake->unpacked = received->copies;
		target->given_up = received->given_up;
		target->source = received->source =
			fc_source_of_copy(source->copies->path, source->files, source->nfiles,
							  source->paths, source->programs);
		return;
	}
	intake->choice = !target->options->program ? "from the client" :
		psprintf(list_length(target->options->sources) == 1 ? "%d program" : "%d programs",
				 list_length(target->options->sources));
	area = fc_intake_share(intake, NULL, 0, 1, false);
	/* a scan beside it leaves this part of its memory */
	area->budget.size = area->budget.most / 8;
	fc_intake_begin(intake, FC_PHASE_RECEIVE);
	incoming = palloc0(sizeof(FcIncoming));
	fc_unpack_begin(&incoming->unpacker, &area->fileset, 0, &area->budget,
					&area->taken);
	incoming->unpacker.hint = target->options->utf16;
	incoming->unpacker.progress = fc_progress_update;
	incoming->unpacker.progress_arg = intake->progress;
	if (list_length(target->options->sources) > 1 || !fc_intake_may_flow(intake, 0) ||
		!fc_receive_head(intake, incoming))
	{
		fc_receive_all(intake, incoming);
		return;
	}
	intake->incoming = incoming;
}

/*
 * The first byte that a process may still read:
 *
 *	  from            tail                 head
 *	 ..|.. done ......|-- chunks --|-- ? --|
 *					  '---- at most the ring's size ----'
 *
 * A process notes its error before the turn of its chunk ends, and once one is
 * known nothing is put into the ring any more.  So the chunk of the first bad
 * record, and those before it whose turn has not ended, stay until the error is
 * thrown: their records may be looked at again.
 */
static uint64
fc_receive_tail(const FcFinder *finder, uint32 done)
{
	if (done < finder->found.n || finder->left > 0)
		return fc_shared_chunk(finder->ctx->shared, Min(done, finder->found.n))->start;
	return finder->found.offset;
}

/*
 * Waits until the ring has room for len bytes; chunks make room when their
 * turn is over.  The leader leaves the ring for the temporary copy if no
 * published chunk is left (a record is longer than the ring), or if it loads
 * alone.  It reads the turn before the error: a process notes its error before
 * its turn ends.
 */
static FcUnpackPut
fc_receive_wait_room(const FcFinder *finder, FcRing *ring, size_t len)
{
	FcShared   *shared = finder->ctx->shared;
	FcUnpackPut put = FC_PUT_NOT;

	ConditionVariablePrepareToSleep(&shared->turn_cv);
	while (finder->found.offset < pg_atomic_read_u64(&ring->upto))
	{
		uint32		done = pg_atomic_read_u32(&finder->ctx->turns[0].next);

		pg_read_barrier();
		put = FC_PUT_DROPPED;
		if (fc_error_beyond(shared, finder->found.offset))
			break;
		put = FC_PUT_ELSEWHERE;
		if (finder->found.offset + len <= fc_receive_tail(finder, done) + ring->size)
			break;
		put = FC_PUT_NOT;
		if (done >= pg_atomic_read_u32(&finder->inflow->published) ||
			finder->ctx->workers == NULL)
			pg_atomic_write_u64(&ring->upto, finder->found.offset);
		else
			ConditionVariableSleep(&shared->turn_cv, fc_wait_event(FC_WAIT_RING));
	}
	ConditionVariableCancelSleep();
	Assert(put != FC_PUT_ELSEWHERE || len <= ring->size);
	return put;
}

/*
 * FcUnpacker.put: puts bytes into the ring.  They overwrite the bytes that came
 * one ring's size before them, which no process may need any more.
 */
static FcUnpackPut
fc_receive_put(void *arg, const char *buf, size_t len)
{
	FcFinder   *finder = arg;
	FcRing	   *ring = fc_shared_ring(finder->ctx->shared);
	FcUnpackPut put = fc_receive_wait_room(finder, ring, len);

	if (put == FC_PUT_ELSEWHERE)
	{
		size_t		at = (finder->found.offset - ring->from) % ring->size;
		size_t		n = Min(len, ring->size - at);

		Assert(finder->found.offset >= ring->from);
		memcpy(ring->data + at, buf, n);
		memcpy(ring->data, buf + n, len - n);
	}
	return put;
}

/*
 * Begins to find chunks in what is received, and in what has been before.
 * Bytes that are read only once go into the ring, if there is one.
 */
static void
fc_receive_begin_lead(FcIncoming *incoming, FcContext *ctx)
{
	FcUnpacker *unpacker = &incoming->unpacker;
	FcRing	   *ring = fc_shared_ring(ctx->shared);

	incoming->led = true;
	fc_finder_begin(&incoming->finder, ctx, 0, NULL);
	fc_finder_look_back(&incoming->finder, 0, 0, unpacker->written);
	unpacker->look = fc_finder_look;
	if (ring && ctx->shared->phase == FC_PHASE_LOAD)
	{
		ring->from = unpacker->written;
		unpacker->put = fc_receive_put;
	}
	unpacker->arg = &incoming->finder;
}

/*
 * Receives some more; false once nothing is left that is wanted: at the end, at
 * a marker where core stops there, or after a record that ends the load
 */
static bool
fc_receive_some(const FcIntake *intake, FcIncoming *incoming)
{
	FcUnpacker *unpacker = &incoming->unpacker;
	const FcFinder *finder = &incoming->finder;
	const FcOptions *options = intake->target->options;

	incoming->end = fc_unpack_some(unpacker, unpacker->written + FC_RECEIVE_PIECE);
	if (fc_caller_reads_as_core(options->caller) && options->program && incoming->end == FC_UNPACK_MORE &&
		finder->found.at.marker != FC_NOWHERE)
		incoming->end = FC_UNPACK_END;
	if (incoming->end == FC_UNPACK_MORE)
	{
		/* only the end of packed data says whether they are sound */
		if (fc_receive_is_packed(incoming) ||
			!fc_error_beyond(finder->ctx->shared, finder->found.offset))
			return true;
		pg_atomic_write_u32(&finder->inflow->whole, 1);
		ConditionVariableBroadcast(&finder->ctx->shared->inflow_cv);
	}
	unpacker->look = NULL;
	unpacker->put = NULL;
	if (incoming->end == FC_UNPACK_END)
		fc_finder_end(&incoming->finder);
	return false;
}

bool
fc_receive_lead(void *arg)
{
	FcIntake   *intake = arg;
	FcIncoming *incoming = intake->incoming;
	FcUnpackArea *area = dsm_segment_address(intake->unpacked);
	char		path[MAXPGPATH];

	/* the first step only finds the chunks of what was received before */
	if (!incoming->led)
	{
		fc_receive_begin_lead(incoming, &intake->target->ctx);
		return true;
	}
	if (fc_receive_some(intake, incoming))
		return true;
	/* the end of the transaction, which must fail, ends an input that is cut */
	intake->received.cut = (incoming->end == FC_UNPACK_MORE);
	if (!intake->received.cut)
		fc_receive_close(intake, incoming);
	fc_unpack_end(&incoming->unpacker, path);
	INSTR_TIME_SET_CURRENT(area->ended);
	intake->incoming = NULL;
	return false;
}

bool
fc_receive_is_packed(const FcIncoming *incoming)
{
	return incoming->unpacker.kind != FC_CODEC_NONE;
}

/*
 * The line that core is in when the client gives up: after a marker that has
 * ended the data that of the marker; after a carriage return at the end of all
 * data the line that this ends.
 */
static uint64
fc_receive_line(FcTarget *target)
{
	const FcFile *file = target->source->files;
	uint32		n = target->shared->source.nchunks;
	const FcChunk *last;
	uint64		end;

	if (n == 0)
		return file->lines_before + 1;
	last = fc_shared_chunk(target->shared, n - 1);
	end = last->start + last->length;
	if (end == fc_source_end(target->source, 0) &&
		target->dialect.mode == FC_MODE_CSV && fc_client_ends_in_return(target->given_up))
		end--;
	return fc_error_line(&target->ctx, end, 0);
}

static void
fc_receive_context(void *arg)
{
	FcTarget   *target = arg;

	/* core asks for a program's status after it has left the data */
	if (!target->options->program)
		errcontext("%s, line " UINT64_FORMAT, fc_target_place(target, 0),
				   fc_receive_line(target));
}

void
fc_receive_check_whole(const FcIntake *intake)
{
	ErrorContextCallback callback;

	if (intake->target->given_up == NULL)
		return;
	fc_error_context_push(&callback, fc_receive_context, intake->target);
	fc_receive_check(intake, intake->target->given_up);
	fc_error_context_pop();
}
