/*-------------------------------------------------------------------------
 *
 * fc_error.c
 *	  The first bad record of the file wins, whoever meets it.
 *
 * COPY stops at the first bad line.  Here many processes meet records in
 * another order, so that a data error does not end the phase: its text goes
 * into the one slot in shared memory if no earlier bad record is known, and
 * from then on records behind it are skipped while those before it are still
 * parsed, checked and inserted.
 *
 * A process that caught an error in code that may be a user's (an input
 * function, a default, a CHECK) stops: such code must not run again where it
 * was interrupted.  Shared->stopped says so, and the leader then looks at the
 * records before the bad one in file order (fc_load_verify) before it throws.
 *
 * Catching without a subtransaction is sound where the transaction is certain
 * to abort.  What the error leaves behind until then: user id and settings of a
 * function are restored here, as are the SPI stack (of a worker) and the active
 * snapshots; lightweight locks are released; pins and the like belong to the
 * resource owner that fc_worker.c gives the phase, and are dropped with it.
 *
 * It is also sound where on_error lets the load go on, if the error comes from
 * code of core that changes nothing: an input function of a built-in type, a
 * verification of bytes, core's own search for a partition.  For values of
 * other types there is fc_error_catch_undo (fc_plan.c tells them apart).
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
#include "utils/guc.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "fc_error.h"
#include "fc_lines.h"

/*
 * Whatever an input function, a default or a constraint says of a record is
 * about data, an elog() too; what the server says of itself is not.
 */
bool
fc_error_is_of_data(const ErrorData *edata)
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
			return false;
		default:
			return edata->sqlerrcode != ERRCODE_DATA_CORRUPTED &&
				edata->sqlerrcode != ERRCODE_INDEX_CORRUPTED;
	}
}

static void
fc_error_text(char *dst, size_t size, const char *src)
{
	int			len = src ? (int) strlen(src) : 0;

	if (len >= (int) size)
		len = pg_mbcliplen(src, len, size - 1);
	if (len > 0)
		memcpy(dst, src, len);
	dst[len] = '\0';
}

static void
fc_error_fill(FcErrorSlot *slot, const ErrorData *edata)
{
	slot->sqlerrcode = edata->sqlerrcode;
	fc_error_text(slot->message, FC_ERROR_TEXT, edata->message);
	fc_error_text(slot->detail, FC_ERROR_TEXT, edata->detail);
	fc_error_text(slot->hint, FC_ERROR_TEXT, edata->hint);
	fc_error_text(slot->context, FC_ERROR_TEXT, edata->context);
	fc_error_text(slot->schema_name, FC_ERROR_NAME, edata->schema_name);
	fc_error_text(slot->table_name, FC_ERROR_NAME, edata->table_name);
	fc_error_text(slot->column_name, FC_ERROR_NAME, edata->column_name);
	fc_error_text(slot->datatype_name, FC_ERROR_NAME, edata->datatype_name);
	fc_error_text(slot->constraint_name, FC_ERROR_NAME, edata->constraint_name);
}

static void
fc_error_store(FcShared *shared, uint64 offset, uint64 length,
			   FcErrorKind kind, const ErrorData *edata)
{
	FcErrorSlot slot = {0};

	/* text is clipped outside the lock: a spinlock must be held briefly */
	slot.offset = offset;
	slot.length = length;
	slot.kind = kind;
	if (edata)
		fc_error_fill(&slot, edata);

	SpinLockAcquire(&shared->error_mutex);
	if (offset < pg_atomic_read_u64(&shared->error_offset))
	{
		memcpy(&shared->error, &slot, sizeof(slot));
		pg_atomic_write_u64(&shared->error_offset, offset);
	}
	SpinLockRelease(&shared->error_mutex);
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
	/* in the leader levels below ours belong to our caller */
	if (ctx->in_worker)
		AtEOSubXact_SPI(false, GetCurrentSubTransactionId());
	while (ActiveSnapshotSet() && GetActiveSnapshot() != state->snapshot)
		PopActiveSnapshot();
}

/*
 * Not about data: goes on, with the context that was kept from it.  The error
 * state was flushed.
 */
static void
fc_error_pass(ErrorData *edata, ErrorContextCallback *context_stack)
{
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
		if (!fc_error_is_of_data(edata))
			fc_error_pass(edata, context_stack);
		fc_error_state_restore(ctx, &state);
		ctx->failed = true;
	}
	PG_END_TRY();
	error_context_stack = context_stack;
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
fc_error_catch_undo(FcErrorBody body, void *arg)
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
		/* whatever the error is: nobody else knows of the subtransaction */
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(mcxt);
	CurrentResourceOwner = owner;
	error_context_stack = context_stack;
	if (edata && !fc_error_is_of_data(edata))
		fc_error_pass(edata, context_stack);
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
fc_error_stop(FcContext *ctx)
{
	ctx->stopped = true;
	pg_atomic_write_u32(&ctx->shared->stopped, 1);
}

uint64
fc_error_line(FcContext *ctx, uint64 offset, uint64 length)
{
	FcLines    *lines = fc_lines_begin(ctx);
	uint64		line = fc_lines_at(lines, offset, length);

	fc_lines_end(lines);
	return line;
}
