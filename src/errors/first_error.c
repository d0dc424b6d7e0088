/*-------------------------------------------------------------------------
 *
 * errors/first_error.c
 *	  The first bad record of the file wins, whoever meets it.
 *
 * COPY stops at the first bad line.  Here many processes meet records in
 * another order, so that a data error does not end the phase: it goes into the
 * one slot in shared memory if no earlier bad record is known, and from then
 * on records after it are skipped while those before it are still parsed,
 * checked and inserted.  Its texts, which may have any length, are in a DSA
 * area whose place is in the leader's segment, and which is released with
 * that.
 *
 * Whether an error is about data is told by where it was raised, not by its
 * SQLSTATE, which a user's function may choose at will: while a record is
 * evaluated (its input functions, defaults, generated columns, constraints,
 * the condition) it is the record's, unless the server ends whatever this
 * transaction does, as a cancel does.  Such an error ends the load at once,
 * and only gets the place of the record.  Where the server works at a record
 * or an index, and a disk may be full, see fc_error_is_of_record.
 *
 * A process that caught an error in code that may be a user's (an input
 * function, a default, a CHECK) stops: such code must not run again where it
 * was interrupted.  Shared->stopped says so, and the leader then looks at the
 * records before the bad one in file order (fc_load_verify) before it
 * throws.  It must find the catalogs and tables as they were before the phase:
 * code that is not parallel safe may have run commands, one of which may be
 * half done.  Where the leader calls such code the phase has a subtransaction,
 * which goes with the first error kept, and in the load at once; so has the
 * look at the records, because core is shown the bad one after that.  Workers
 * run no commands.
 *
 * Catching without a subtransaction is sound where the transaction is certain
 * to abort.  What the error leaves behind until then: user id and settings of
 * a function are restored here, as are the SPI stack (of a worker) and the
 * active snapshots; lightweight locks are released; pins and the like belong
 * to the resource owner that phase/worker.c gives the phase, and are dropped
 * with it.
 *
 * It is also sound where on_error lets the load go on, if the error comes from
 * code of core that changes nothing: an input function of a built-in type, a
 * verification of bytes, core's own search for a partition.  For values of
 * other types there is fc_error_catch_undo (options/plan_code.c tells them
 * apart).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "utils/dsa.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "errors/first_error.h"
#include "errors/lines.h"

/* Texts of an error, as they follow each other in a kept one */
static const size_t fc_error_texts[] = {
	offsetof(ErrorData, message),
	offsetof(ErrorData, detail),
	offsetof(ErrorData, detail_log),
	offsetof(ErrorData, hint),
	offsetof(ErrorData, context),
	offsetof(ErrorData, schema_name),
	offsetof(ErrorData, table_name),
	offsetof(ErrorData, column_name),
	offsetof(ErrorData, datatype_name),
	offsetof(ErrorData, constraint_name),
	offsetof(ErrorData, internalquery),
	offsetof(ErrorData, filename),
	offsetof(ErrorData, funcname)
};

#define fc_error_text(edata, i) \
	(*(const char **) ((char *) (edata) + fc_error_texts[i]))

/*
 * What stands before them; each is a byte, 0 for NULL, and a string if it is 1
 */
typedef struct FcErrorHead
{
	Size		size;			/* with all texts */
	int			sqlerrcode;
	int			cursorpos;
	int			internalpos;
	int			lineno;
} FcErrorHead;

void
fc_error_begin(FcShared *shared, dsm_segment *segment)
{
	dsa_detach(dsa_create_in_place(fc_shared_texts(shared), dsa_minimum_size(),
								   LWTRANCHE_PARALLEL_QUERY_DSA, segment));
}

static void
fc_error_pack(char *dst, const ErrorData *edata, Size size)
{
	FcErrorHead head = {size, edata->sqlerrcode, edata->cursorpos,
	edata->internalpos, edata->lineno};

	memcpy(dst, &head, sizeof(head));
	dst += sizeof(head);
	for (int i = 0; i < lengthof(fc_error_texts); i++)
	{
		const char *text = fc_error_text(edata, i);

		*dst++ = (text != NULL);
		if (text == NULL)
			continue;
		strcpy(dst, text);
		dst += strlen(text) + 1;
	}
}

static Size
fc_error_size(const ErrorData *edata)
{
	Size		size = sizeof(FcErrorHead);

	for (int i = 0; i < lengthof(fc_error_texts); i++)
		size += 1 + (fc_error_text(edata, i) ? strlen(fc_error_text(edata, i)) + 1 : 0);
	return size;
}

static dsa_pointer
fc_error_add_texts(dsa_area *area, const ErrorData *edata)
{
	Size		size = fc_error_size(edata);
	dsa_pointer texts = dsa_allocate_extended(area, size, DSA_ALLOC_HUGE);

	fc_error_pack(dsa_get_address(area, texts), edata, size);
	return texts;
}

/*
 * The area is attached for as long as it is used: what it maps belongs to the
 * current resource owner.
 */
static dsa_pointer
fc_error_put_texts(FcShared *shared, const ErrorData *edata)
{
	dsa_area   *area = dsa_attach_in_place(fc_shared_texts(shared), NULL);
	volatile dsa_pointer texts = InvalidDsaPointer;

	PG_TRY();
	{
		texts = fc_error_add_texts(area, edata);
	}
	PG_CATCH();
	{
		/* the area has no room for the error, so it is thrown at once */
		LWLockReleaseAll();
		dsa_release_in_place(fc_shared_texts(shared));
		FlushErrorState();
		ThrowErrorData(unconstify(ErrorData *, edata));
	}
	PG_END_TRY();
	dsa_detach(area);
	dsa_release_in_place(fc_shared_texts(shared));
	return texts;
}

static void
fc_error_free_texts(FcShared *shared, dsa_pointer texts)
{
	dsa_area   *area;

	if (!DsaPointerIsValid(texts))
		return;
	area = dsa_attach_in_place(fc_shared_texts(shared), NULL);
	dsa_free(area, texts);
	dsa_detach(area);
	dsa_release_in_place(fc_shared_texts(shared));
}

/* The packed error, in the current memory context */
static char *
fc_error_get_texts(FcShared *shared)
{
	dsa_area   *area = dsa_attach_in_place(fc_shared_texts(shared), NULL);
	const char *packed = dsa_get_address(area, shared->errors.first.text);
	FcErrorHead head;
	char	   *copy;

	memcpy(&head, packed, sizeof(head));
	copy = MemoryContextAllocHuge(CurrentMemoryContext, head.size);
	memcpy(copy, packed, head.size);
	dsa_detach(area);
	dsa_release_in_place(fc_shared_texts(shared));
	return copy;
}

ErrorData *
fc_error_kept(FcShared *shared)
{
	ErrorData  *edata = palloc0(sizeof(ErrorData));
	char	   *packed = fc_error_get_texts(shared);
	FcErrorHead head;

	memcpy(&head, packed, sizeof(head));
	packed += sizeof(head);
	edata->elevel = ERROR;
	edata->sqlerrcode = head.sqlerrcode;
	edata->cursorpos = head.cursorpos;
	edata->internalpos = head.internalpos;
	edata->lineno = head.lineno;
	edata->assoc_context = CurrentMemoryContext;
	for (int i = 0; i < lengthof(fc_error_texts); i++)
	{
		if (*packed++ == 0)
			continue;
		fc_error_text(edata, i) = packed;
		packed += strlen(packed) + 1;
	}
	return edata;
}

static void
fc_error_store(FcShared *shared, uint64 offset, uint64 length,
			   FcErrorKind kind, const ErrorData *edata)
{
	FcErrorSlot slot = {offset, length, kind, InvalidDsaPointer};

	if (fc_error_beyond(shared, offset))
		return;
	/* outside the lock: a spinlock must be held briefly */
	if (edata)
		slot.text = fc_error_put_texts(shared, edata);
	SpinLockAcquire(&shared->errors.mutex);
	if (offset < pg_atomic_read_u64(&shared->errors.offset))
	{
		FcErrorSlot old = shared->errors.first;

		shared->errors.first = slot;
		slot = old;
		pg_atomic_write_u64(&shared->errors.offset, offset);
	}
	SpinLockRelease(&shared->errors.mutex);
	/* the texts of the error that lost its place, or never got one */
	fc_error_free_texts(shared, slot.text);
}

void
fc_error_keep(FcShared *shared, uint64 offset, uint64 length,
			  const ErrorData *edata)
{
	fc_error_store(shared, offset, length, FC_ERROR_DATA, edata);
}

void
fc_error_keep_grammar(FcShared *shared, uint64 offset, uint64 length)
{
	fc_error_store(shared, offset, length, FC_ERROR_GRAMMAR, NULL);
}

void
fc_error_keep_route(FcShared *shared, uint64 offset, uint64 length)
{
	fc_error_store(shared, offset, length, FC_ERROR_ROUTE, NULL);
}

void
fc_error_keep_index(FcShared *shared, const ErrorData *edata)
{
	fc_error_store(shared, FC_SOMEWHERE, 0, FC_ERROR_INDEX, edata);
}

void
fc_error_keep_limit(FcShared *shared, uint64 offset)
{
	fc_error_store(shared, offset, 0, FC_ERROR_LIMIT, NULL);
}

/* What an interrupted function may have changed */
typedef struct FcErrorState
{
	Oid			userid;
	int			sec_context;
	int			guc_level;
	Snapshot	snapshot;
} FcErrorState;

static void
fc_error_state_save(FcErrorState *state)
{
	GetUserIdAndSecContext(&state->userid, &state->sec_context);
	state->guc_level = NewGUCNestLevel();
	state->snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
}

/* As AbortSubTransaction does, in its order */
static void
fc_error_state_restore(FcContext *ctx, FcErrorState *state)
{
	LWLockReleaseAll();
	pgstat_report_wait_end();
	UnlockBuffers();
	SetUserIdAndSecContext(state->userid, state->sec_context);
	AtEOXact_GUC(false, state->guc_level);
	/* in the leader, SPI levels below this one belong to its caller */
	if (ctx->in_worker)
		AtEOSubXact_SPI(false, GetCurrentSubTransactionId());
	while (ActiveSnapshotSet() && GetActiveSnapshot() != state->snapshot)
		PopActiveSnapshot();
}

/*
 * Raised by the server to end whatever this transaction does: cancels,
 * timeouts, deadlocks, serialization failures.  A function that raises such an
 * SQLSTATE by itself has said so of a record.
 */
bool
fc_error_is_of_transaction(const ErrorData *edata)
{
	if (edata->funcname == NULL || edata->filename == NULL)
		return false;
	return strcmp(edata->funcname, "ProcessInterrupts") == 0 ||
		strcmp(edata->funcname, "DeadLockReport") == 0 ||
		strcmp(edata->filename, "predicate.c") == 0;
}

bool
fc_error_is_of_server(const ErrorData *edata)
{
	switch (ERRCODE_TO_CATEGORY(edata->sqlerrcode))
	{
		case ERRCODE_CONNECTION_EXCEPTION:
		case ERRCODE_INVALID_TRANSACTION_STATE:
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
			return true;
		default:
			return edata->sqlerrcode == ERRCODE_DATA_CORRUPTED ||
				edata->sqlerrcode == ERRCODE_INDEX_CORRUPTED;
	}
}

/* A procedure has a context; core has none for what it does at an index */
static bool
fc_error_is_of_procedure(const ErrorData *edata)
{
	return edata->context != NULL &&
		strcmp(edata->context, _("parallel worker")) != 0;
}

/*
 * Is the error about the record in hand?  Where records are only evaluated it
 * is.  Elsewhere the server also reads, writes and sorts, and what it says of
 * itself then is not.
 */
static bool
fc_error_is_of_record(const FcContext *ctx, const ErrorData *edata)
{
	if (fc_error_is_of_transaction(edata))
		return false;
	return ctx->evaluating || fc_error_is_of_procedure(edata) ||
		!fc_error_is_of_server(edata);
}

char *
fc_error_clip(const char *s, int len)
{
	const int	max = 100;

	if (len <= max)
		return pnstrdup(s, len);
	return psprintf("%.*s...", pg_mbcliplen(s, len, max), s);
}

char *
fc_error_record_text(const FcSource *source, uint64 offset, uint64 length,
					 int encoding, bool convert)
{
	const int	most = 512;
	int			len = Min(length, most);
	char	   *bytes = palloc(len + 1);
	char	   *text = bytes;

	fc_source_read(source, offset, bytes, len);
	bytes[len] = '\0';
	if (convert)
	{
		len = pg_encoding_mbcliplen(encoding, bytes, len, len);
		if (pg_encoding_verifymbstr(encoding, bytes, len) != len)
			return NULL;
		bytes[len] = '\0';
		text = pg_any_to_server(bytes, len, encoding);
		len = strlen(text);
	}
	else if (pg_encoding_verifymbstr(encoding, bytes, len) <
			 (length > most ? len - MAX_MULTIBYTE_CHAR_LEN : len))
		return NULL;
	return fc_error_clip(text, len);
}

/* The record in hand, as a line of the context */
static char *
fc_error_place(FcContext *ctx)
{
	uint64		offset = ctx->at_offset;
	uint64		line = fc_error_line(ctx, offset, ctx->at_length);
	char	   *text = fc_error_record_text(ctx->source, offset, ctx->at_length,
											ctx->shared->source.encoding,
											ctx->shared->source.need_transcoding);

	return psprintf(text ? "fast_copy %s, %s \"%s\", line " UINT64_FORMAT ": \"%s\"" :
					"fast_copy %s, %s \"%s\", line " UINT64_FORMAT,
					RelationGetRelationName(ctx->target), fc_source_word(ctx->source),
					fc_source_path_at(ctx->source, offset), line, text);
}

/*
 * Not about data: goes on, with the record's place and the context that was
 * kept from it.  The error state was flushed.  A source that cannot be read
 * any more must not hide the error.
 */
static void
fc_error_pass(FcContext *ctx, ErrorData *edata, ErrorContextCallback *context_stack)
{
	MemoryContext mcxt = CurrentMemoryContext;

	if (ctx->at_record)
	{
		ctx->at_record = false;
		PG_TRY();
		{
			char	   *place = fc_error_place(ctx);

			edata->context = edata->context ?
				psprintf("%s\n%s", edata->context, place) : place;
		}
		PG_CATCH();
		{
			MemoryContextSwitchTo(mcxt);
			FlushErrorState();
		}
		PG_END_TRY();
	}
	error_context_stack = context_stack;
	if (context_stack == NULL)
		ReThrowError(edata);
	ThrowErrorData(edata);
}

ErrorData *
fc_error_catch(FcContext *ctx, FcErrorBody body, void *arg)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ErrorContextCallback *context_stack = error_context_stack;
	bool		evaluating = ctx->evaluating;
	FcErrorState state;
	ErrorData  *volatile edata = NULL;

	fc_error_state_save(&state);
	/* the outer context is added when the kept error is thrown */
	error_context_stack = NULL;
	PG_TRY();
	{
		body(arg);
		AtEOXact_GUC(true, state.guc_level);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		FlushErrorState();
		if (!fc_error_is_of_record(ctx, edata))
			fc_error_pass(ctx, edata, context_stack);
		fc_error_state_restore(ctx, &state);
		ctx->evaluating = evaluating;
		ctx->failed = true;
	}
	PG_END_TRY();
	error_context_stack = context_stack;
	return edata;
}

ErrorData *
fc_error_catch_at(FcContext *ctx, uint64 offset, uint64 length,
				  FcErrorBody body, void *arg)
{
	ErrorData  *edata;

	fc_error_at(ctx, offset, length);
	edata = fc_error_catch(ctx, body, arg);
	ctx->at_record = false;
	return edata;
}

ErrorData *
fc_error_evaluate(FcContext *ctx, uint64 offset, uint64 length,
				  FcErrorBody body, void *arg)
{
	ErrorData  *edata;

	ctx->evaluating = true;
	edata = fc_error_catch_at(ctx, offset, length, body, arg);
	ctx->evaluating = false;
	return edata;
}

struct ResourceOwnerData *
fc_error_owner_begin(void)
{
	ResourceOwner outer = CurrentResourceOwner;

	CurrentResourceOwner = ResourceOwnerCreate(outer, "fast_copy phase");
	return outer;
}

void
fc_error_owner_end(FcContext *ctx, struct ResourceOwnerData *outer)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = outer;
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, !ctx->failed, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, true, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, !ctx->failed, false);
	ResourceOwnerDelete(owner);
}

ErrorData *
fc_error_catch_undo(FcContext *ctx, FcErrorBody body, void *arg)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorContextCallback *context_stack = error_context_stack;
	ErrorData  *volatile edata = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(mcxt);
	error_context_stack = NULL;
	PG_TRY();
	{
		body(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		FlushErrorState();

		/*
		 * whatever the error is: only this function knows of the
		 * subtransaction
		 */
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(mcxt);
	CurrentResourceOwner = owner;
	error_context_stack = context_stack;
	if (edata && !fc_error_is_of_record(ctx, edata))
		fc_error_pass(ctx, edata, context_stack);
	return edata;
}

bool
fc_error_is_from(const ErrorData *edata, const char *function)
{
	/* code called from there, in whatever language, has a context */
	return edata->context == NULL && edata->funcname != NULL &&
		strcmp(edata->funcname, function) == 0;
}

void
fc_error_check_count(FcContext *ctx, uint32 chunk, uint64 found)
{
	const FcChunk *bytes = &fc_shared_chunks(ctx->shared)[chunk];
	uint64		expected = fc_shared_starts(ctx->shared)[chunk].records;

	if (found == expected || ctx->stopped ||
		fc_error_beyond(ctx->shared, bytes->start + bytes->length - 1))
		return;
	fc_source_differs(ctx->source, bytes->start,
					  psprintf("a part with " UINT64_FORMAT " records instead of "
							   UINT64_FORMAT, found, expected));
}

uint64
fc_error_line(FcContext *ctx, uint64 offset, uint64 length)
{
	FcLines    *lines = fc_lines_begin(ctx);
	uint64		line = fc_lines_at(lines, offset, length);

	fc_lines_end(lines);
	return line;
}
