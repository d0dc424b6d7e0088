/*-------------------------------------------------------------------------
 *
 * errors/first_error.c
 *	  Errors about records are caught, and the first one in the file is kept.
 *
 * COPY stops at the first bad line.  Here processes meet records in another
 * order, so that an error about data does not end the phase:
 *
 * 1. fc_error_catch catches the error that a body throws.
 * 2. fc_error_keep puts it into the one slot in shared memory, if no bad
 *    record before it is known.
 * 3. From then on all processes skip the records after that one, and still
 *    parse, check and insert those before it.
 * 4. A process that caught an error in code that may be a user's stops
 *    (fc_error_take).  Unless processes take chunks in the order of the file,
 *    records before the bad one may then be unread, and the leader looks at
 *    them in that order (fc_verify_load).
 * 5. The leader shows the first bad record to core, which throws COPY's error,
 *    or throws the error that was kept (copyfrom/core.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"

#include "errors/first_error.h"

#define FC_ERROR_AT(member) offsetof(ErrorData, member)

/* The texts of an ErrorData that are kept, in the order they are packed in */
static const size_t fc_error_texts[] = {
	FC_ERROR_AT(message), FC_ERROR_AT(detail), FC_ERROR_AT(detail_log), FC_ERROR_AT(hint),
	FC_ERROR_AT(context), FC_ERROR_AT(schema_name), FC_ERROR_AT(table_name),
	FC_ERROR_AT(column_name), FC_ERROR_AT(datatype_name), FC_ERROR_AT(constraint_name),
	FC_ERROR_AT(internalquery), FC_ERROR_AT(filename), FC_ERROR_AT(funcname)
};

#define fc_error_text(edata, i) \
	(*(const char **) ((char *) (edata) + fc_error_texts[i]))

/* Numbers of an ErrorData that are kept, before the texts */
static const size_t fc_error_numbers[] = {
	FC_ERROR_AT(sqlerrcode), FC_ERROR_AT(cursorpos), FC_ERROR_AT(internalpos), FC_ERROR_AT(lineno)
};

#define fc_error_number(edata, i) \
	(*(int *) ((char *) (edata) + fc_error_numbers[i]))

void
fc_error_begin(FcShared *shared, dsm_segment *segment)
{
	dsa_detach(dsa_create_in_place(fc_shared_texts(shared), dsa_minimum_size(),
								   LWTRANCHE_PARALLEL_QUERY_DSA, segment));
}

/* Returns the error as the text of a list */
static char *
fc_error_pack(const ErrorData *edata)
{
	List	   *list = NIL;

	for (int i = 0; i < lengthof(fc_error_numbers); i++)
		list = lappend(list, makeInteger(fc_error_number(edata, i)));
	for (int i = 0; i < lengthof(fc_error_texts); i++)
		list = lappend(list, !fc_error_text(edata, i) ? NULL :
					   makeString(unconstify(char *, fc_error_text(edata, i))));
	return nodeToString(list);
}

/*
 * Packs the error into the area, which goes with the leader's segment.  It is
 * attached for this call only: the mappings belong to the current resource
 * owner.
 */
static dsa_pointer
fc_error_put_texts(FcShared *shared, const ErrorData *edata)
{
	dsa_area   *area = dsa_attach_in_place(fc_shared_texts(shared), NULL);
	volatile dsa_pointer texts = InvalidDsaPointer;

	PG_TRY();
	{
		const char *packed = fc_error_pack(edata);

		texts = dsa_allocate_extended(area, strlen(packed) + 1, DSA_ALLOC_HUGE);
		strcpy(dsa_get_address(area, texts), packed);
	}
	PG_CATCH();
	{
		/* the area has no room for the error, so that it is thrown at once */
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

ErrorData *
fc_error_made(int sqlerrcode, char *message)
{
	ErrorData  *edata = palloc0(sizeof(ErrorData));

	edata->elevel = ERROR;
	edata->sqlerrcode = sqlerrcode;
	edata->message = message;
	edata->assoc_context = CurrentMemoryContext;
	return edata;
}

ErrorData *
fc_error_kept(FcShared *shared)
{
	dsa_area   *area = dsa_attach_in_place(fc_shared_texts(shared), NULL);
	ErrorData  *edata = fc_error_made(0, NULL);
	List	   *list;

	Assert(!IsParallelWorker() && DsaPointerIsValid(shared->errors.first.text));
	list = stringToNode(dsa_get_address(area, shared->errors.first.text));
	dsa_detach(area);
	dsa_release_in_place(fc_shared_texts(shared));
	for (int i = 0; i < lengthof(fc_error_numbers); i++)
		fc_error_number(edata, i) = intVal(list_nth(list, i));
	for (int i = 0; i < lengthof(fc_error_texts); i++)
		if (list_nth(list, lengthof(fc_error_numbers) + i))
			fc_error_text(edata, i) = strVal(list_nth(list, lengthof(fc_error_numbers) + i));
	return edata;
}

void
fc_error_keep(FcShared *shared, FcErrorKind kind, uint64 offset, uint64 length,
			  const ErrorData *edata)
{
	FcErrorSlot slot = {offset, length, kind, InvalidDsaPointer};

	Assert(edata != NULL || kind == FC_ERROR_GRAMMAR || kind == FC_ERROR_ROUTE ||
		   kind == FC_ERROR_LIMIT);
	Assert(CritSectionCount == 0);
	if (fc_error_beyond(shared, offset))
		return;
	/* packed before the lock is taken: a spinlock must be held briefly */
	if (edata)
		slot.text = fc_error_put_texts(shared, edata);
	SpinLockAcquire(&shared->errors.mutex);
	if (offset < pg_atomic_read_u64(&shared->errors.offset))
	{
		FcErrorSlot old = shared->errors.first;

		shared->errors.first = slot;
		slot = old;
		pg_write_barrier();
		pg_atomic_write_u64(&shared->errors.offset, offset);
	}
	SpinLockRelease(&shared->errors.mutex);
	/* the texts of an error that lost the slot, or that did not get it */
	fc_error_free_texts(shared, slot.text);
}

/*
 * The server throws such errors in these places only.  The same SQLSTATE from a
 * user's function is about the record that the function was called for.
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

/*
 * Is the error about the current record?  Where it was raised decides, not its
 * SQLSTATE, which a user's function may choose at will.
 *
 * Except in evaluating a record the server may report a trouble of its own,
 * such as a full disk.  It adds no context, but that of an index build's
 * helper; a procedural language adds one.
 */
static bool
fc_error_is_of_record(const FcContext *ctx, const ErrorData *edata)
{
	if (fc_error_is_of_transaction(edata))
		return false;
	return ctx->evaluating || !fc_error_is_of_server(edata) ||
		(edata->context != NULL && strcmp(edata->context, _("parallel worker")) != 0);
}

char *
fc_error_record_text(const FcSource *source, const FcPlan *plan, uint64 offset, uint64 length)
{
	const int	most = 512;
	int			encoding = plan->encoding;
	int			len = Min(length, most);
	char	   *bytes = palloc(len + 1);
	char	   *text = bytes;

	fc_source_read(source, offset, bytes, len);
	bytes[len] = '\0';
	if (plan->need_transcoding)
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

/* The line of context that says where the current record stands */
static char *
fc_error_place(FcContext *ctx)
{
	uint64		offset = ctx->at_offset;
	uint64		line = fc_error_line(ctx, offset, ctx->at_length);
	char	   *text;

	if (fc_caller_errors_as_core(ctx->shared->plan.caller))
		return psprintf("COPY %s, line " UINT64_FORMAT,
						RelationGetRelationName(ctx->target), line);
	text = fc_error_record_text(ctx->source, &ctx->shared->plan, offset, ctx->at_length);
	return psprintf(text ? "fast_copy %s, %s \"%s\", line " UINT64_FORMAT ": \"%s\"" :
					"fast_copy %s, %s \"%s\", line " UINT64_FORMAT,
					RelationGetRelationName(ctx->target), fc_source_word(ctx->source),
					fc_source_path_at(ctx->source, offset), line, text);
}

/*
 * Throws on an error that is not about data, whose error state was flushed.
 * Adds the place of the current record, unless the source cannot be read any
 * more, and the context of the callers, which fc_error_catch had kept from it.
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

/*
 * To catch the error without a subtransaction is sound where the transaction is
 * certain to abort: until then this restores what a function may have left
 * changed when the error interrupted it.  Pins and the like belong to the
 * phase's resource owner (phase/worker.c), and are released with it.
 *
 * Without a subtransaction this is sound, too, where on_error lets the load go
 * on, if the code of core that threw changes nothing: an input function of a
 * built-in type, a verification of bytes, the search for a partition.  Values
 * of other types are converted under fc_error_catch_undo (options/plan_code.c
 * tells which).
 */
ErrorData *
fc_error_catch(FcContext *ctx, FcErrorBody body, void *arg)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ErrorContextCallback *context_stack = error_context_stack;
	bool		evaluating = ctx->evaluating;
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;
	int			guc_level = NewGUCNestLevel();
	Oid			userid;
	int			sec_context;
	ErrorData  *volatile edata = NULL;

	GetUserIdAndSecContext(&userid, &sec_context);
	Assert(CritSectionCount == 0);
	/* the leader adds the callers' context when it throws a kept error */
	error_context_stack = NULL;
	PG_TRY();
	{
		body(arg);
		AtEOXact_GUC(true, guc_level);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		FlushErrorState();
		/* what AbortSubTransaction does, in its order */
		LWLockReleaseAll();
		pgstat_report_wait_end();
		UnlockBuffers();
		/* it reads the source: others may want the page that was locked */
		if (!fc_error_is_of_record(ctx, edata))
			fc_error_pass(ctx, edata, context_stack);
		SetUserIdAndSecContext(userid, sec_context);
		AtEOXact_GUC(false, guc_level);
		/* in the leader this would end the levels of the load's caller, too */
		if (ctx->in_worker)
			AtEOSubXact_SPI(false, GetCurrentSubTransactionId());
		while (ActiveSnapshotSet() && GetActiveSnapshot() != snapshot)
			PopActiveSnapshot();
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

	Assert(outer != NULL);
	CurrentResourceOwner = ResourceOwnerCreate(outer, "fast_copy phase");
	return outer;
}

void
fc_error_owner_release(struct ResourceOwnerData *owner, bool commit)
{
	Assert(owner != CurrentResourceOwner);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, commit, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, true, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, commit, false);
	ResourceOwnerDelete(owner);
}

void
fc_error_owner_end(FcContext *ctx, struct ResourceOwnerData *outer)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = outer;
	fc_error_owner_release(owner, !ctx->failed);
}

ErrorData *
fc_error_try(FcTryBody body, void *arg)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool stays = false;
	ErrorData  *volatile edata = NULL;

	Assert(!IsInParallelMode());
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(mcxt);
	PG_TRY();
	{
		stays = body(arg);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (stays)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(mcxt);
	CurrentResourceOwner = owner;
	return edata;
}

/* The arguments of fc_error_undone */
typedef struct FcErrorUndone
{
	FcErrorBody body;
	void	   *arg;
} FcErrorUndone;

/* Body of fc_error_try: only an error undoes it */
static bool
fc_error_undone(void *arg)
{
	FcErrorUndone *undone = arg;

	undone->body(undone->arg);
	return true;
}

ErrorData *
fc_error_catch_undo(FcContext *ctx, FcErrorBody body, void *arg)
{
	ErrorContextCallback *context_stack = error_context_stack;
	FcErrorUndone undone = {body, arg};
	ErrorData  *edata;

	Assert(!ctx->in_worker);
	error_context_stack = NULL;
	edata = fc_error_try(fc_error_undone, &undone);
	error_context_stack = context_stack;
	if (edata && !fc_error_is_of_record(ctx, edata))
		fc_error_pass(ctx, edata, context_stack);
	return edata;
}

bool
fc_error_is_from(const ErrorData *edata, const char *function)
{
	/* code that the function called, in whatever language, adds a context */
	return edata->context == NULL && edata->funcname != NULL &&
		strcmp(edata->funcname, function) == 0;
}

void
fc_error_check_count(FcContext *ctx, uint32 chunk, uint64 found)
{
	const FcChunk *bytes = fc_shared_chunk(ctx->shared, chunk);
	uint64		expected = fc_shared_start(ctx->shared, chunk)->records;

	Assert(bytes->length > 0 || found == 0);
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

	pfree(lines);
	return line;
}
