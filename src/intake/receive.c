/*-------------------------------------------------------------------------
 *
 * intake/receive.c
 *	  What programs print, or the client sends, as source of a load.
 *
 *	 programs, client ──► leader ──► copy ──► FcSource
 *
 * It comes once, so that it is put into a copy, unpacked if it is packed.  What
 * one program or the client gives is scanned by the workers meanwhile, if it is not over
 * soon; several programs run one after the other, before all else.
 *
 * The pipe of a program ends with the (sub)transaction, and what a client still
 * sends after an error is core's to skip.  The copy belongs to the streams'
 * SharedFileSet.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "intake/chunks.h"
#include "intake/copies.h"
#include "intake/heads.h"
#include "intake/receive.h"
#include "report/progress.h"
#include "source/client.h"
#include "source/program.h"

/*
 * What is over before so many bytes is loaded as a file is, unless the caller
 * wants workers.  Other streams are expected to have about as many as that.
 */
#define FC_RECEIVE_HEAD		(4 * 1024 * 1024)
#define FC_RECEIVE_EXPECTED	((uint64) 1024 * 1024 * 1024)

struct FcIncoming
{
	FcUnpacker	unpacker;
	FcInput    *input;			/* that is open; NULL: none */
	FcUnpacking *unpacking;
	FcUnpackEnd end;			/* how far it has come */
	FcUnpackFault fault;
};

/* As core counts them, also where the header is still to say which there are */
static int
fc_receive_count_columns(const FcJob *job)
{
	TupleDesc	desc = RelationGetDescr(job->rel);
	int			n = 0;

	if (job->plan)
		return list_length(job->plan->columns.fields);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped && !column->attgenerated)
			n++;
	}
	return n;
}

static FcInput *
fc_receive_from_client(const FcJob *job)
{
	const FcOptions *options = job->options;
	FcClientData data = FC_CLIENT_TEXT;

	if (options->compressed)
		data = FC_CLIENT_PACKED;
	else if (options->format.binary)
		data = FC_CLIENT_BINARY;
	else if (options->format.csv_mode)
		data = FC_CLIENT_CSV;
	return fc_client_begin(data, fc_receive_count_columns(job));
}

/* Clients spoil what they do not take for bytes */
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
fc_receive_open(FcJob *job, FcIncoming *incoming, const char *name)
{
	incoming->input = job->options->program ? fc_program_begin(name) :
		fc_receive_from_client(job);
	incoming->unpacking = fc_unpack_open(&incoming->unpacker, incoming->input,
										 FC_CODEC_UNKNOWN);
	incoming->end = FC_UNPACK_MORE;
	if (job->options->client && !job->options->compressed &&
		fc_unpack_is_packed(incoming->unpacking) &&
		fc_unpack_kind(incoming->unpacking) < FC_CODEC_REFUSED)
		fc_receive_refuse_packed(incoming->unpacking);
}

/* Behind its end; ERROR if that was not as it should be */
static void
fc_receive_close(FcJob *job, FcIncoming *incoming)
{
	FcInput    *input = incoming->input;
	bool		whole = (incoming->end == FC_UNPACK_END);
	const char *word = input->word;
	const char *name = input->path;

	fc_unpack_close(incoming->unpacking);
	incoming->input = NULL;
	/* output that ends too early, since the program has failed */
	if (!whole && !incoming->fault.cut)
		fc_unpack_throw(&incoming->fault, word, name);
	if (job->options->program)
		fc_program_end(input);
	else
		fc_client_end(input);
	if (!whole)
		fc_unpack_throw(&incoming->fault, word, name);
}

/* Puts what one command prints, or the client sends, behind what there is */
static void
fc_receive_one(FcJob *job, FcIncoming *incoming, const char *name)
{
	if (incoming->input == NULL)
		fc_receive_open(job, incoming, name);
	if (incoming->end == FC_UNPACK_MORE)
		incoming->end = fc_unpack_some(incoming->unpacking, PG_UINT64_MAX,
									   &incoming->fault);
	fc_receive_close(job, incoming);
}

/* The names that messages use, one behind the other, and where each begins */
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

/* What they give is put into one copy, as a source of its own */
static void
fc_receive_all(FcJob *job, FcIncoming *incoming)
{
	List	   *sources = job->options->sources;
	FcFile	   *files = palloc0(sizeof(FcFile) * list_length(sources));
	FcUnpacker *unpacker = &incoming->unpacker;
	char		path[MAXPGPATH];
	ListCell   *lc;

	foreach(lc, sources)
	{
		uint32		i = foreach_current_index(lc);

		files[i].base = i == 0 ? 0 : unpacker->written;
		fc_receive_one(job, incoming, strVal(lfirst(lc)));
		files[i].identity.size = unpacker->written - files[i].base;
	}
	fc_unpack_end(unpacker, path, MAXPGPATH);
	job->source = fc_streams_open_copy(path, files, list_length(sources),
									   fc_receive_join_names(sources, files));
	job->source->programs = job->options->program;
	job->received = job->source;
	fc_streams_end(job, 1, fc_receive_choice(job));
}

/* The first bytes of what will be the copy; false if they are not enough */
static bool
fc_receive_head(FcJob *job, FcIncoming *incoming)
{
	FcUnpacker *unpacker = &incoming->unpacker;
	FcFile	   *file = palloc0(sizeof(FcFile));
	FcCopy	   *copy = palloc(sizeof(FcCopy));
	bool		wanted = job->options->workers > 0 || fc_workers > 0;
	FcSource   *head;

	fc_receive_open(job, incoming, strVal(linitial(job->options->sources)));
	incoming->end = fc_unpack_some(incoming->unpacking, wanted ? 1 : FC_RECEIVE_HEAD,
								   &incoming->fault);
	if (incoming->end != FC_UNPACK_MORE ||
		fc_unpack_window(incoming->unpacking) > unpacker->budget->size)
		return false;
	file->identity.size = unpacker->written;
	file->copy = 1;
	strlcpy(copy->path, FilePathName(unpacker->file), MAXPGPATH);
	head = fc_source_attach(file, 1, fc_receive_join_names(job->options->sources, file),
							copy, 1);
	head->programs = job->options->program;
	if (!fc_heads_suffice(job, head, NULL))
	{
		fc_source_close(head);
		return false;
	}
	job->source = head;
	return true;
}

/* A job before this one has received all there was */
static void
fc_receive_take_over(FcJob *job)
{
	job->source = fc_streams_open_copy(job->received->open_path,
									   job->received->files, job->received->nfiles,
									   job->received->paths);
	job->source->programs = job->received->programs;
	job->received = job->source;
}

/* The wait before the first byte counts: a program may be slow to begin */
void
fc_receive(FcJob *job)
{
	FcStreams  *streams;
	FcIncoming *incoming;

	if (job->received)
	{
		fc_receive_take_over(job);
		return;
	}
	streams = fc_streams_share(job, NULL, 0, 1);
	/* a scan beside it leaves this part of its memory */
	streams->budget.size = streams->budget.most / 8;
	fc_streams_begin(job, FC_PHASE_RECEIVE, 0);
	incoming = palloc0(sizeof(FcIncoming));
	fc_unpack_begin(&incoming->unpacker, &streams->fileset, 0, &streams->budget,
					&streams->taken);
	incoming->unpacker.progress = fc_progress_update;
	incoming->unpacker.progress_arg = job;
	if (list_length(job->options->sources) > 1 || !fc_streams_may_flow(job, 1) ||
		!fc_receive_head(job, incoming))
	{
		fc_receive_all(job, incoming);
		return;
	}
	job->incoming = incoming;
	job->expected = FC_RECEIVE_EXPECTED;
	job->inflow = true;
}

void
fc_receive_rest(FcJob *job)
{
	FcIncoming *incoming = job->incoming;

	fc_source_close(job->source);
	job->incoming = NULL;
	fc_receive_all(job, incoming);
}

void
fc_receive_lead(void *arg)
{
	FcJob	   *job = arg;
	FcIncoming *incoming = job->incoming;
	FcStreams  *streams = dsm_segment_address(job->unpacked);
	char		path[MAXPGPATH];

	incoming->end = fc_inflow_receive(&job->ctx, &incoming->unpacker,
									  incoming->unpacking, &incoming->fault);
	/* the end of the transaction ends what has more to give */
	job->cut = (incoming->end == FC_UNPACK_MORE);
	if (!job->cut)
		fc_receive_close(job, incoming);
	fc_unpack_end(&incoming->unpacker, path, MAXPGPATH);
	INSTR_TIME_SET_CURRENT(streams->ended);
	job->incoming = NULL;
}

char *
fc_receive_choice(const FcJob *job)
{
	int			n = list_length(job->options->sources);

	return !job->options->program ? pstrdup("from the client") :
		psprintf(n == 1 ? "%d program" : "%d programs", n);
}
