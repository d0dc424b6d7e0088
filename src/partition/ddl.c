/*-------------------------------------------------------------------------
 *
 * partition/ddl.c
 *	  Runs commands and queries that are made as text; and faults, reasons why
 *	  partitions must not, or should not, be made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/indexing.h"
#include "catalog/pg_authid.h"
#include "executor/instrument.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/inval.h"

#include "partition/partition.h"

void
fc_ddl_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

int
fc_ddl_pin(void)
{
	int			level;

	Assert(!IsParallelWorker() && !IsInParallelMode());
	level = NewGUCNestLevel();
	fc_ddl_set("search_path", "pg_catalog, pg_temp");
	return level;
}

int
fc_ddl_begin(void)
{
	int			level = fc_ddl_pin();

	SPI_connect();
	return level;
}

void
fc_ddl_end(int level, bool keep)
{
	Assert(!IsInParallelMode() && level > 0);
	SPI_finish();
	AtEOXact_GUC(keep, level);
}

void
fc_ddl_run(const char *sql)
{
	int			rc = SPI_execute(sql, false, 0);

	if (rc != SPI_OK_UTILITY)
		elog(ERROR, "unexpected result of \"%s\": %s", sql,
			 SPI_result_code_string(rc));
}

char *
fc_ddl_value(const char *sql)
{
	MemoryContext mcxt = CurrentMemoryContext;
	int			level = fc_ddl_begin();
	char	   *value = NULL;
	int			rc;

	PushActiveSnapshot(GetLatestSnapshot());
	rc = SPI_execute(sql, true, 1);
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "unexpected result of \"%s\": %s", sql,
			 SPI_result_code_string(rc));
	Assert(SPI_tuptable->tupdesc->natts == 1);
	MemoryContextSwitchTo(mcxt);
	if (SPI_processed > 0)
		value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	PopActiveSnapshot();
	fc_ddl_end(level, false);
	return value;
}

char *
fc_ddl_of_catalogs(const char *sql)
{
	Oid			userid;
	int			sec_context;
	char	   *value;

	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	value = fc_ddl_value(sql);
	SetUserIdAndSecContext(userid, sec_context);
	return value;
}

/*
 * Re-throws the caught error, in this memory context, without the line of its
 * context that shows our own command
 */
static void
fc_ddl_rethrow(const char *sql, MemoryContext mcxt)
{
	ErrorData  *edata;
	char	   *from;
	char	   *to;

	MemoryContextSwitchTo(mcxt);
	edata = CopyErrorData();
	FlushErrorState();
	from = edata->context ? strstr(edata->context, sql) : NULL;
	if (from == NULL)
		ReThrowError(edata);
	to = from + strcspn(from + strlen(sql), "\n") + strlen(sql);
	while (from > edata->context && from[-1] != '\n')
		from--;
	if (*to == '\n')
		to++;
	else if (from > edata->context)
		from--;
	memmove(from, to, strlen(to) + 1);
	if (edata->context[0] == '\0')
		edata->context = NULL;
	ReThrowError(edata);
}

uint64
fc_ddl_execute(SPIPlanPtr plan, const char *sql, int nargs, const Oid *types, Datum *values,
			   const char *nulls)
{
	MemoryContext mcxt = CurrentMemoryContext;
	volatile int rc = 0;

	PG_TRY();
	{
		rc = plan ? SPI_execute_plan(plan, values, nulls, false, 0) :
			SPI_execute_with_args(sql, nargs, unconstify(Oid *, types), values, nulls, false, 0);
	}
	PG_CATCH();
	{
		fc_ddl_rethrow(sql, mcxt);
	}
	PG_END_TRY();
	if (rc < 0)
		elog(ERROR, "%s failed: %s", plan ? "SPI_execute_plan" : "SPI_execute_with_args",
			 SPI_result_code_string(rc));
	return SPI_processed;
}

/*
 * A copy of the last row that the node below a ModifyTable returned, or NULL.
 * Triggers may have put another one into the scan's slot.
 */
static HeapTuple
fc_ddl_row(PlanState *below)
{
	HeapScanDesc scan;

	if (!IsA(below, SeqScanState) || below->ps_ProjInfo)
		return TupIsNull(below->ps_ResultTupleSlot) ? NULL :
			ExecCopySlotHeapTuple(below->ps_ResultTupleSlot);
	scan = (HeapScanDesc) ((SeqScanState *) below)->ss.ss_currentScanDesc;
	/* the scan may be between two pages */
	return scan && scan->rs_ctup.t_data && BufferIsValid(scan->rs_cbuf) &&
		BufferGetBlockNumber(scan->rs_cbuf) == ItemPointerGetBlockNumber(&scan->rs_ctup.t_self) ?
		heap_copytuple(&scan->rs_ctup) : NULL;
}

uint64
fc_ddl_change(const char *sql, Snapshot snapshot, HeapTuple *row, uint64 *met)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "fast_copy command",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	List	   *queries;
	QueryDesc  *query;
	uint64		changed;

	Assert(!IsInParallelMode());
	CommandCounterIncrement();
	PushCopiedSnapshot(snapshot ? snapshot : GetTransactionSnapshot());
	UpdateActiveSnapshotCommandId();
	queries = pg_analyze_and_rewrite_fixedparams(linitial_node(RawStmt, pg_parse_query(sql)), sql, NULL, 0, NULL);
	/* tables with rules are refused, but triggers may have made one since */
	if (list_length(queries) != 1 || linitial_node(Query, queries)->querySource != QSRC_ORIGINAL)
		fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("a rule was created while the table was being loaded"),
				 errhint("Look for such a command in the functions that are called for each row."));
	query = CreateQueryDesc(fc_plan_query(linitial_node(Query, queries), sql, NULL), sql, GetActiveSnapshot(),
							InvalidSnapshot, None_Receiver, NULL, NULL, met ? INSTRUMENT_ROWS : 0);
	ExecutorStart(query, 0);
	PG_TRY();
	{
		fc_executor_run(query);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		if (row)
			*row = fc_ddl_row(outerPlanState(query->planstate));
		PG_RE_THROW();
	}
	PG_END_TRY();
	changed = query->estate->es_processed;
	if (met)
		*met = query->planstate->instrument->ntuples2 -
			query->planstate->instrument->nfiltered1;
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	PopActiveSnapshot();
	CommandCounterIncrement();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return changed;
}

char *
fc_ddl_name(Oid nspid, const char *relname)
{
	return quote_qualified_identifier(get_namespace_name(nspid), relname);
}

char *
fc_ddl_table(Oid table)
{
	const char *name = get_rel_name(table);

	if (name == NULL)
		fc_throw(ERRCODE_UNDEFINED_TABLE, errmsg("relation with OID %u does not exist", table));
	return fc_ddl_name(get_rel_namespace(table), name);
}

bool
fc_ddl_name_is_taken(const char *name, Oid nspid)
{
	return OidIsValid(get_relname_relid(name, nspid)) ||
		SearchSysCacheExists2(TYPENAMENSP, CStringGetDatum(name),
							  ObjectIdGetDatum(nspid));
}

FormData_pg_class
fc_ddl_class(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	FormData_pg_class form = {0};

	if (HeapTupleIsValid(tuple))
	{
		memcpy(&form, GETSTRUCT(tuple), CLASS_TUPLE_SIZE);
		ReleaseSysCache(tuple);
	}
	return form;
}

HeapTuple
fc_ddl_class_copy(Oid relid)
{
	HeapTuple	tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	return tuple;
}

void
fc_ddl_class_change(Oid relid, int n, int *columns, Datum *values, bool *nulls)
{
	Relation	classes = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = heap_modify_tuple_by_cols(fc_ddl_class_copy(relid), RelationGetDescr(classes),
												  n, columns, values, nulls);

	CatalogTupleUpdate(classes, &tuple->t_self, tuple);
	heap_freetuple(tuple);
	table_close(classes, RowExclusiveLock);
}

/*
 * RENAME takes no lock on the schema.  But it changes a key of the row, and
 * so waits for a transaction that has locked the row as a foreign key would.
 */
void
fc_ddl_keep_schema(Oid nspid)
{
	Relation	schemas = table_open(NamespaceRelationId, RowShareLock);
	TM_Result	result;

	Assert(!IsInParallelMode());
	do
	{
		HeapTuple	tuple = SearchSysCacheCopy1(NAMESPACEOID, ObjectIdGetDatum(nspid));
		TM_FailureData failure;
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		if (!HeapTupleIsValid(tuple))
			fc_throw(ERRCODE_UNDEFINED_SCHEMA, errmsg("schema with OID %u does not exist", nspid));
		result = heap_lock_tuple(schemas, tuple, GetCurrentCommandId(true),
								 LockTupleKeyShare, LockWaitBlock, false,
								 &buffer, &failure);
		ReleaseBuffer(buffer);
		heap_freetuple(tuple);
		/* other sessions may have changed names meanwhile */
		AcceptInvalidationMessages();
	} while (result == TM_Updated || result == TM_Deleted);
	table_close(schemas, RowShareLock);
	if (result != TM_Ok)
		elog(ERROR, "could not lock schema %u: %d", nspid, result);
}

FcFault *
fc_fault(const char *name, int sqlerrcode, char *message, char *detail, char *hint)
{
	FcFault    *fault = palloc(sizeof(FcFault));

	*fault = (FcFault) {name, sqlerrcode, message, detail, hint};
	return fault;
}

List *
fc_faults_add(List *faults, FcFault *fault)
{
	return fault ? lappend(faults, fault) : faults;
}

void
fc_fault_report(int elevel, const FcFault *fault)
{
	if (fault == NULL)
		return;
	ereport(elevel, errcode(fault->sqlerrcode),
			errmsg("%s", fault->message),
			fault->detail ? errdetail("%s", fault->detail) : 0,
			fault->hint ? errhint("%s", fault->hint) : 0);
}
