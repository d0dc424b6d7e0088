/*-------------------------------------------------------------------------
 *
 * intake/receive.c
 *	  What programs print, or the client sends, as source of a load.
 *
 *	 programs, client ──► leader ──► temporary copy ──► FcSource
 *
 * The data come once, so that the leader puts them into a temporary copy,
 * unpacked if they are packed.  Workers scan or load what one program or the
 * client gives meanwhile, unless it ends soon; if they read it only once it
 * goes through a ring, and not into the copy (intake/ring.c).  Several programs
 * run one after the other, before all else.
 *
 * The pipe of a program ends with the (sub)transaction, and what a client
 * still sends after an error is core's to skip.  The copy belongs to the
 * area's SharedFileSet.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "errors/context.h"
#include "errors/first_error.h"
#include "intake/chunks.h"
#include "intake/copies.h"
#include "intake/heads.h"
#include "intake/receive.h"
#include "report/progress.h"
#include "source/client.h"
#include "source/program.h"

/*
 * Data of fewer bytes than FC_RECEIVE_HEAD are received before they are loaded,
 * unless the caller wants workers.  Longer data are taken to have
 * FC_RECEIVE_EXPECTED bytes.
 */
#define FC_RECEIVE_HEAD		(4 * 1024 * 1024)
#define FC_RECEIVE_EXPECTED	((uint64) 1024 * 1024 * 1024)

struct FcIncoming
{
	FcUnpacker	unpacker;
	FcInput    *input;			/* the program's or client's; NULL: none is
								 * open */
	FcUnpacking *unpacking;
	FcReceiver *receiver;		/* NULL: no phase receives it yet */
	FcUnpackEnd end;			/* how far it has come */
	FcUnpackFault fault;
};

/* Counts columns as core does, even before the header has told their names */
static int
fc_receive_count_columns(const FcTarget *target)
{
	TupleDesc	desc = RelationGetDescr(target->rel);
	int			n = 0;

	if (target->plan)
		return list_length(target->planned->columns.fields);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped && !column->attgenerated)
			n++;
	}
	return n;
}

static FcInput *
fc_receive_from_client(const FcIntake *intake)
{
	const FcOptions *options = intake->target->options;
	FcClientData data = FC_CLIENT_TEXT;

	if (options->compressed)
		data = FC_CLIENT_PACKED;
	else if (fc_format_is_binary(&options->format))
		data = FC_CLIENT_BINARY;
	else if (fc_format_is_csv(&options->format))
		data = FC_CLIENT_CSV;
	return fc_client_begin(data, options->file_encoding, fc_receive_count_columns(intake->target));
}

/*
 * Refuses packed data without "compressed": a client that takes them for text
 * may change them
 */
static void
fc_receive_refuse_packed(const FcUnpacking *unpacking)
{
	ereport(ERROR,
			(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
			 errmsg("%s data from the client without the option \"%s\"",
					fc_codec_name(fc_unpack_kind(unpacking)), "compressed"),
			 errhint("Give COPY the option \"%s\" as well, so that the client sends the data as they are.",
					 "compressed")));
}

static void
fc_receive_open(FcIntake *intake, FcIncoming *incoming, const char *name)
{
	FcTarget   *target = intake->target;

	incoming->input = target->opened.input ? target->opened.input :
		target->options->program ? fc_program_begin(name) :
		fc_receive_from_client(intake);
	incoming->unpacking = fc_unpack_open(&incoming->unpacker, incoming->input,
										 fc_caller_reads_as_core(target->options->caller) ?
										 FC_CODEC_NONE : FC_CODEC_UNKNOWN);
	incoming->end = FC_UNPACK_MORE;
	if (target->options->client && !target->options->compressed &&
		fc_unpack_is_packed(incoming->unpacking) &&
		fc_unpack_kind(incoming->unpacking) < FC_CODEC_REFUSED)
		fc_receive_refuse_packed(incoming->unpacking);
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
	const char *word = input->word;
	const char *name = input->path;

	fc_unpack_close(incoming->unpacking);
	incoming->input = NULL;
	/* output may be cut because the program failed: its error comes first */
	if (!whole && !incoming->fault.cut)
		fc_unpack_throw(&incoming->fault, word, name);
	if (options->program)
		fc_program_end(input);
	if (input->failed && whole && list_length(options->sources) == 1)
		intake->target->given_up = input;
	else
		fc_receive_check(intake, input);
	if (!options->program && !input->failed)
		fc_client_end(input);
	if (!whole)
		fc_unpack_throw(&incoming->fault, word, name);
}

/* Appends what one program, or the client, gives to the temporary copy */
static void
fc_receive_one(FcIntake *intake, FcIncoming *incoming, const char *name)
{
	if (incoming->input == NULL)
		fc_receive_open(intake, incoming, name);
	if (incoming->end == FC_UNPACK_MORE)
		incoming->end = fc_unpack_some(incoming->unpacking, PG_UINT64_MAX,
									   &incoming->fault);
	fc_receive_close(intake, incoming);
}

/* Joins the names that messages use, and notes where each begins */
static char *
fc_receive_join_names(const List *sources, FcFile *files)
{
	StringInfoData names;
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, sources)
	{
		const char *name = strVal(lfirst(lc));

		files[foreach_current_index(lc)].path = names.len;
		appendBinaryStringInfo(&names, name, (int) strlen(name) + 1);
	}
	return names.data;
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
	ListCell   *lc;

	foreach(lc, sources)
	{
		uint32		i = foreach_current_index(lc);

		files[i].base = i == 0 ? 0 : unpacker->written;
		fc_receive_one(intake, incoming, strVal(lfirst(lc)));
		files[i].identity.size = unpacker->written - files[i].base;
	}
	fc_unpack_end(unpacker, path, MAXPGPATH);
	target->source = fc_source_of_copy(path, files, list_length(sources),
										 fc_receive_join_names(sources, files));
	target->source->programs = target->options->program;
	intake->received = target->source;
	fc_intake_end(intake, 1, fc_receive_choice(intake));
}

/* Makes a source of the first bytes received; false if they are not enough */
static bool
fc_receive_head(FcIntake *intake, FcIncoming *incoming)
{
	FcTarget   *target = intake->target;
	FcUnpacker *unpacker = &incoming->unpacker;
	FcFile	   *file = palloc0(sizeof(FcFile));
	FcCopy	   *copy = palloc(sizeof(FcCopy));
	bool		wanted = target->options->workers > 0 || fc_workers > 0;
	FcSource   *head;

	fc_receive_open(intake, incoming, strVal(linitial(target->options->sources)));
	incoming->end = fc_unpack_some(incoming->unpacking, wanted ? 1 : FC_RECEIVE_HEAD,
								   &incoming->fault);
	if (incoming->end != FC_UNPACK_MORE ||
		fc_unpack_window(incoming->unpacking) > unpacker->budget->size)
		return false;
	file->identity.size = unpacker->written;
	file->nextents = 1;
	strlcpy(copy->path, FilePathName(unpacker->file), MAXPGPATH);
	head = fc_source_attach(file, 1, fc_receive_join_names(target->options->sources, file),
							copy, 1, palloc0(sizeof(FcExtent)));
	head->programs = target->options->program;
	if (!fc_heads_suffice(intake, head, NULL))
	{
		fc_source_close(head);
		return false;
	}
	target->source = head;
	return true;
}

/* Takes the source that the load had received before it gave way */
static void
fc_receive_take_over(FcIntake *intake)
{
	FcTarget   *target = intake->target;

	target->source = fc_source_of_copy(intake->received->copies->path,
									   intake->received->files, intake->received->nfiles,
									   intake->received->paths);
	target->source->programs = intake->received->programs;
	intake->received = target->source;
}

/* The phase begins before the first byte: a program may be slow to begin */
void
fc_receive(FcIntake *intake)
{
	FcTarget   *target = intake->target;
	FcUnpackArea *area;
	FcIncoming *incoming;

	if (intake->received)
	{
		fc_receive_take_over(intake);
		return;
	}
	area = fc_area_share(intake, NULL, 0, 1, false);
	/* a scan beside it leaves this part of its memory */
	area->budget.size = area->budget.most / 8;
	fc_intake_begin(intake, FC_PHASE_RECEIVE, 0);
	incoming = palloc0(sizeof(FcIncoming));
	fc_unpack_begin(&incoming->unpacker, &area->fileset, 0, &area->budget,
					&area->taken);
	incoming->unpacker.progress = fc_progress_update;
	incoming->unpacker.progress_arg = intake->progress;
	if (list_length(target->options->sources) > 1 || !fc_intake_may_flow(intake, 0) ||
		!fc_receive_head(intake, incoming))
	{
		fc_receive_all(intake, incoming);
		return;
	}
	intake->incoming = incoming;
	target->expected = FC_RECEIVE_EXPECTED;
	target->inflow = true;
}

void
fc_receive_rest(FcIntake *intake)
{
	FcIncoming *incoming = intake->incoming;

	fc_source_close(intake->target->source);
	intake->incoming = NULL;
	fc_receive_all(intake, incoming);
}

bool
fc_receive_lead(void *arg)
{
	FcIntake   *intake = arg;
	const FcOptions *options = intake->target->options;
	FcIncoming *incoming = intake->incoming;
	FcUnpackArea *area = dsm_segment_address(intake->unpacked);
	char		path[MAXPGPATH];

	/* the first step only finds the chunks of what was received before */
	if (incoming->receiver == NULL)
	{
		incoming->receiver = fc_inflow_begin_receiving(&intake->target->ctx,
													   &incoming->unpacker, incoming->unpacking,
													   fc_caller_reads_as_core(options->caller) && options->program);
		return true;
	}
	if (fc_inflow_receive(incoming->receiver, &incoming->end, &incoming->fault))
		return true;
	/* the end of the transaction, which must fail, ends an input that is cut */
	intake->cut = (incoming->end == FC_UNPACK_MORE);
	if (!intake->cut)
		fc_receive_close(intake, incoming);
	fc_unpack_end(&incoming->unpacker, path, MAXPGPATH);
	INSTR_TIME_SET_CURRENT(area->ended);
	intake->incoming = NULL;
	return false;
}

bool
fc_receive_is_packed(const FcIncoming *incoming)
{
	return fc_unpack_is_packed(incoming->unpacking);
}

/*
 * The line that core is in when the client gives up.  After a marker that has
 * ended the data that is the marker's line; and after a carriage return at the
 * end of all data it is the line that the carriage return ends.
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

char *
fc_receive_choice(const FcIntake *intake)
{
	int			n = list_length(intake->target->options->sources);

	return !intake->target->options->program ? pstrdup("from the client") :
		psprintf(n == 1 ? "%d program" : "%d programs", n);
}
