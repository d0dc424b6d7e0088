/*-------------------------------------------------------------------------
 *
 * compat/compat.h
 *	  With its parts, compat/catalog.h, compat/storage.h and compat/versions.h,
 *	  the one place that knows PostgreSQL's versions (15 to 19).
 *
 * Each wrapper is called in one way in all versions.  Its comment tells which
 * version changed what it wraps, and how: "16:" means from 16 on.  It is a
 * macro where versions differ in a name, or in an argument that is always the
 * same.
 *
 * It also brings the headers of core that most files need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_COMPAT_H
#define FC_COMPAT_H

#include <unistd.h>

#include "access/attmap.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/parallel.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/alter.h"
#include "commands/copyfrom_internal.h"
#include "commands/progress.h"
#include "common/jsonapi.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_node.h"
#include "replication/origin.h"
#include "replication/slot.h"
#include "rewrite/rewriteHandler.h"
#include "storage/buffile.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#if PG_VERSION_NUM < 170000
#include "storage/sinvaladt.h"
#endif
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/guc_tables.h"
#include "utils/jsonfuncs.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/sortsupport.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat/catalog.h"
#include "compat/storage.h"

/* 16: the macros for values of variable length left postgres.h */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* An ERROR of this code, as ereport() has the rest */
#define fc_throw(code, ...) ereport(ERROR, (errcode(code), __VA_ARGS__))

/* ERROR about a file or a program, with the SQLSTATE that errno stands for */
#define fc_file_error(...) ereport(ERROR, (errcode_for_file_access(), __VA_ARGS__))

/* 17: loops over lists that declare what they take of each cell */
#ifndef foreach_ptr
#define fc_foreach(type, pointer, var, list, first) \
	for (type pointer var = 0, pointer var##__outer = (type pointer) 1; var##__outer; var##__outer = 0) \
		for (ForEachState var##__state = {(list), 0}; \
			 var##__state.i < list_length(var##__state.l) && \
			 (var = first(list_nth_cell(var##__state.l, var##__state.i)), true); \
			 var##__state.i++)
#define foreach_ptr(type, var, list)	fc_foreach(type, *, var, list, lfirst)
#define foreach_node(type, var, list)	foreach_ptr(type, var, list)
#define foreach_oid(var, list)	fc_foreach(Oid, , var, list, lfirst_oid)
#define foreach_int(var, list)	fc_foreach(int, , var, list, lfirst_int)
#endif

/* 19: says where a case goes on into the next one */
#ifndef pg_fallthrough
#define pg_fallthrough __attribute__((fallthrough))
#endif

/* 17: COPY shows in its progress what it skips */
#ifndef PROGRESS_COPY_TUPLES_SKIPPED
#define PROGRESS_COPY_TUPLES_SKIPPED 6
#endif

/* 16: COPY has DEFAULT */
#define FC_CORE_HAS_DEFAULT	(PG_VERSION_NUM >= 160000)

/* 16: standbys have logical replication slots, too, unknown to the primary */
#define FC_CORE_STANDBYS_DECODE	(PG_VERSION_NUM >= 160000)

/* 16: these take missing_ok */
#define fc_build_attrmap(in, out) build_attrmap_by_name(in, out FC_16_ADDS(, false))
#define fc_build_attrmap_if_req(in, out) build_attrmap_by_name_if_req(in, out FC_16_ADDS(, false))

/* 16: BufFileReadExact; 15's BufFileRead leaves a short read to the caller */
static inline void
fc_buffile_read(BufFile *file, void *ptr, size_t size)
{
#if PG_VERSION_NUM >= 160000
	BufFileReadExact(file, ptr, size);
#else
	if (BufFileRead(file, ptr, size) != size)
		fc_file_error(errmsg("could not read from temporary file: %m"));
#endif
}

/* 16: BufFileWrite takes a pointer to const */
#define fc_buffile_write(file, ptr, size) BufFileWrite(file, (void *) (ptr), size)

/* 16: ExecInsertIndexTuples takes onlySummarizing.  19: flags in place of it */
static inline List *
fc_insert_index_tuples(ResultRelInfo *rri, TupleTableSlot *slot, EState *estate)
{
	return FC_19(ExecInsertIndexTuples(rri, estate, 0, slot, NIL, NULL),
				 ExecInsertIndexTuples(rri, slot, estate, false, false, NULL, NIL FC_16_ADDS(, false)));
}

/*
 * 16: takes the heap.  17: no snapshot.  19: says whether it wants the stack.
 * The leaf where the key belongs, locked to be changed
 */
static inline Buffer
fc_bt_search(Relation index, Relation heap, BTScanInsert key)
{
	Buffer		buf;

	(void) FC_17(_bt_search(index, heap, key, &buf, BT_WRITE FC_19_ADDS(, true)),
				 _bt_search(index FC_16_ADDS(, heap), key, &buf, BT_WRITE, NULL));
	return buf;
}

/* 19: a changed page of a B-tree has an LSN also where nothing is logged */
#define fc_set_fake_lsn(rel, page) FC_19(PageSetLSN(page, XLogGetFakeLSN(rel)), (void) 0)

/* 18: "reverse" in place of a strategy.  The order of a B-tree's column */
static inline void
fc_prepare_index_sort(Relation index, int column, SortSupport order)
{
	bool		desc = (index->rd_indoption[column] & INDOPTION_DESC) != 0;

	order->ssup_cxt = CurrentMemoryContext;
	order->ssup_collation = index->rd_indcollation[column];
	order->ssup_nulls_first = (index->rd_indoption[column] & INDOPTION_NULLS_FIRST) != 0;
	order->ssup_attno = column + 1;
	PrepareSortSupportFromIndexRel(index, FC_18(desc, desc ? BTGreaterStrategyNumber : BTLessStrategyNumber), order);
}

/*
 * 16: permissions left the range table entry for a list of their own.  Those
 * that a query's one table needs
 */
#define fc_rte_permissions(pstate) \
	(((ParseNamespaceItem *) linitial((pstate)->p_namespace))->FC_16(p_perminfo, p_rte))

/* 16: takes permissions.  18: takes the relations that pruning left: all */
#define fc_init_range_table(estate, pstate) \
	ExecInitRangeTable(estate, (pstate)->p_rtable FC_16_ADDS(, (pstate)->p_rteperminfos) \
					   FC_18_ADDS(, bms_make_singleton(1)))

/* 16: renamed.  ERROR 42501 unless the user may do what the range table asks */
#define fc_check_permissions(pstate) \
	FC_16(ExecCheckPermissions((pstate)->p_rtable, (pstate)->p_rteperminfos, true), \
		  ExecCheckRTPerms((pstate)->p_rtable, true))

/* 16: core extends a table by many blocks at once (see compat/extend.c) */
#define FC_CORE_EXTENDS_BY_MANY	(PG_VERSION_NUM >= 160000)

/* 17: renamed.  The process of a transaction, or NULL */
static inline PGPROC *
fc_vxid_proc(VirtualTransactionId vxid)
{
	return FC_17(vxid.procNumber == INVALID_PROC_NUMBER ? NULL : ProcNumberGetProc(vxid.procNumber),
				 vxid.backendId == InvalidBackendId ? NULL : BackendIdGetProc(vxid.backendId));
}

/* 17: a parameter.  Does the transaction hold the lock, or a stronger one? */
#define fc_lock_is_held(tag, mode) \
	FC_17(LockHeldByMe(tag, mode, true), LockOrStrongerHeldByMe(tag, mode))

/* 17: extensions name their wait events */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name) PG_WAIT_EXTENSION
#endif

/* What a process of a load waits for, as compat/wait_event.c names it */
typedef enum FcWaitEvent
{
	FC_WAIT_INFLOW,
	FC_WAIT_LOCK,
	FC_WAIT_PROGRAM,
	FC_WAIT_RATE,
	FC_WAIT_READ,
	FC_WAIT_REPLICA,
	FC_WAIT_RING,
	FC_WAIT_TURN,
	FC_WAIT_UNPACK,
	FC_WAIT_WORKERS
} FcWaitEvent;

/* To be called where an error may be thrown, before any place where none may */
extern uint32 fc_wait_event(FcWaitEvent event);

/* 17: a set of events belongs to a resource owner */
#define fc_create_wait_event_set(n) \
	CreateWaitEventSet(FC_17(CurrentResourceOwner, CurrentMemoryContext), n)

/* 16: one check of ownership and one of privileges for all kinds of objects */
#define fc_owns_relation(oid, role) \
	FC_16(object_ownercheck(RelationRelationId, oid, role), pg_class_ownercheck(oid, role))
#define fc_namespace_aclcheck(oid, role, mode) \
	FC_16(object_aclcheck(NamespaceRelationId, oid, role, mode), pg_namespace_aclcheck(oid, role, mode))
#define fc_tablespace_aclcheck(oid, role, mode) \
	FC_16(object_aclcheck(TableSpaceRelationId, oid, role, mode), pg_tablespace_aclcheck(oid, role, mode))
#define fc_server_aclcheck(oid, role, mode) \
	FC_16(object_aclcheck(ForeignServerRelationId, oid, role, mode), \
		  pg_foreign_server_aclcheck(oid, role, mode))

/* 17: AlterObjectOwner_internal takes the catalog by its OID */
static inline void
fc_change_statistics_owner(Oid statistics, Oid owner)
{
#if PG_VERSION_NUM >= 170000
	AlterObjectOwner_internal(StatisticExtRelationId, statistics, owner);
#else
	Relation	catalog = table_open(StatisticExtRelationId, RowExclusiveLock);

	AlterObjectOwner_internal(catalog, statistics, owner);
	table_close(catalog, RowExclusiveLock);
#endif
}

/*
 * 18: a library of "$libdir/NAME" is looked for in dynamic_library_path.  Is it
 * there?
 */
static inline bool
fc_library_is_there(const char *name)
{
	char	   *file = psprintf("%s%s", name, DLSUFFIX);

	return FC_18(find_in_path(file, Dynamic_library_path, "dynamic_library_path", "$libdir", pkglib_path) != NULL,
				 access(psprintf("%s/%s", pkglib_path, file), R_OK) == 0);
}

/* 17: building an index leaves it to the next checkpoint to sync it */
#define FC_CORE_SYNCS_INDEXES	(PG_VERSION_NUM < 170000)

/* 18: the list of CHECK expressions has another name */
#define fc_check_exprs(rri) ((rri)->FC_18(ri_CheckConstraintExprs, ri_ConstraintExprs))

/* 17: the server keeps old rows for as long as a snapshot may see them */
#if PG_VERSION_NUM >= 170000
#define OldSnapshotThresholdActive() false
#endif

/* 18: whether a query runs once is not asked */
#define fc_executor_run(query) \
	FC_18(ExecutorRun(query, ForwardScanDirection, 0), ExecutorRun(query, ForwardScanDirection, 0, true))

/* 19: EXPLAIN says what it wants of a plan */
#define fc_plan_query(query, sql, params) pg_plan_query(query, sql, 0, params FC_19_ADDS(, NULL))

/* 18: a CHECK need not be enforced */
#define fc_check_is_enforced(check) FC_18((check)->ccenforced, true)

/* 18: a generated column need not be stored */
#define fc_is_virtual(att) FC_18(((att)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL), false)
#define fc_has_virtual(desc) FC_18(((desc)->constr && (desc)->constr->has_generated_virtual), false)

/* A CHECK's expression, with those of virtual columns in place of them */
static inline Node *
fc_check_expression(Relation rel, const ConstrCheck *check)
{
	Node	   *expr = stringToNode(check->ccbin);

	return FC_18(expand_generated_columns_in_expr(expr, rel, 1), expr);
}

/* 18: takes tupleid.  Would the index take the row? */
static inline bool
fc_check_index(ResultRelInfo *rri, TupleTableSlot *slot, EState *estate,
			   Oid index)
{
	ItemPointerData none pg_attribute_unused();
	ItemPointerData conflict;
	List	   *arbiter = list_make1_oid(index);
	bool		free;

	ItemPointerSetInvalid(&none);
	free = ExecCheckIndexConstraints(rri, slot, estate, &conflict FC_18_ADDS(, &none), arbiter);
	list_free(arbiter);
	return free;
}

/* 16: takes escontext.  Reads a qualified name as to_regclass does */
#define fc_string_to_names(name) stringToQualifiedNameList(name FC_16_ADDS(, NULL))

/* 17: code run as the table's owner sees pg_catalog and pg_temp only */
#define fc_restrict_search_path() FC_17(RestrictSearchPath(), (void) 0)

/* 17: intervals can be infinite */
#define fc_interval_is_infinite(span) FC_17(INTERVAL_NOT_FINITE(span), false)

/*
 * 16: vacuum takes the strategy and a memory context.  19: each of VACUUM and
 * ANALYZE has a duration from which it is logged.  Analyzes the tables of a
 * list of VacuumRelation, within the transaction.
 */
static inline void
fc_analyze_tables(List *tables)
{
	VacuumParams params = {0};

	params.options = VACOPT_ANALYZE;
	params.FC_19(log_analyze_min_duration, log_min_duration) = -1;
	vacuum(tables, &params, FC_16(GetAccessStrategy(BAS_VACUUM), NULL)
		   FC_16_ADDS(, CurrentMemoryContext), false);
}

/* 16: takes escontext.  Rounds to the precision of a column */
#define fc_adjust_timestamp(stamp, typmod) AdjustTimestampForTypmod(stamp, typmod FC_16_ADDS(, NULL))

/*
 * 16: DecodeTimezoneAbbrev gives the type by reference, and returns why it
 * could not read the zone.  This returns TZ, DTZ, DYNTZ or UNKNOWN_FIELD;
 * *offset is seconds east.
 */
static inline int
fc_decode_timezone_abbrev(char *lowtoken, int *offset, pg_tz **tz)
{
#if PG_VERSION_NUM >= 160000
	DateTimeErrorExtra extra;
	int			type;

	if (DecodeTimezoneAbbrev(0, lowtoken, &type, offset, tz, &extra) != 0)
		return UNKNOWN_FIELD;
	return type;
#else
	return DecodeTimezoneAbbrev(0, lowtoken, offset, tz);
#endif
}

/* 19: one field tells the format of COPY */
#define fc_format_is_binary(options) FC_19(((options)->format == COPY_FORMAT_BINARY), (options)->binary)
#define fc_format_is_csv(options) FC_19(((options)->format == COPY_FORMAT_CSV), (options)->csv_mode)

/* 19: the type of a row that was put together needs this before it is used */
static inline TupleDesc
fc_finish_desc(TupleDesc desc)
{
	FC_19_ADDS(TupleDescFinalize(desc);)
	return desc;
}

/* 19: table_beginscan takes flags.  Begins to read all rows */
#define fc_begin_scan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL FC_19_ADDS(, SO_NONE))

/* 19: renamed.  The replication origin of the session */
typedef FC_19(ReplOriginId, RepOriginId) FcOrigin;
#define fc_session_origin FC_19(replorigin_xact_state.origin, replorigin_session_origin)

/* 19: a slot has its process's number, not its PID.  0: not in use */
static inline int
fc_slot_pid(const ReplicationSlot *slot)
{
	return FC_19(slot->active_proc == INVALID_PROC_NUMBER ? 0 : GetPGProcByNumber(slot->active_proc)->pid,
				 slot->active_pid);
}

/* 19: the condition of COPY cannot be about system columns */
#define FC_CORE_REFUSES_SYSTEM_COLUMNS	(PG_VERSION_NUM >= 190000)

/* 18: text's end-of-copy marker must be alone on its line */
#define FC_CORE_LONE_MARKER	(PG_VERSION_NUM >= 180000)

/* 18: CSV has no marker of the end of the data */
#define FC_CORE_CSV_MARKER	(PG_VERSION_NUM < 180000)

/* 16: an error of COPY may be about no line in particular: is it? */
#define fc_copy_relname_only(cstate) FC_16((cstate)->relname_only, false)

/* 18: COPY evaluates the defaults of a record that it passes over, too */
#define FC_CORE_NUMBERS_ALL	(PG_VERSION_NUM >= 180000)

/* 18: NOT NULL is a constraint */
#ifndef CONSTRAINT_NOTNULL
#define CONSTRAINT_NOTNULL 'n'
#endif

/* 17: an identity column is one in all partitions */
#define fc_inherit_identity(column, parent) FC_17(((column)->attidentity = (parent)->attidentity), (void) 0)

/*
 * Is it a moment to core?  From 16 on DecodeDateTime tells more about what is
 * wrong.
 */
static inline bool
fc_core_is_moment(const char *s)
{
	char		work[MAXDATELEN + MAXDATEFIELDS];
	char	   *fields[MAXDATEFIELDS];
	int			types[MAXDATEFIELDS];
	int			n;
	int			type;
	int			zone;
	struct pg_tm tm;
	fsec_t		fsec;
	FC_16_ADDS(DateTimeErrorExtra extra;)

	return ParseDateTime(s, work, sizeof(work), fields, types, MAXDATEFIELDS, &n) == 0 &&
		DecodeDateTime(fields, types, n, &type, &tm, &fsec, &zone FC_16_ADDS(, &extra)) == 0 &&
		type == DTK_DATE;
}

/* 17: the caller may give the context */
#define fc_json_lex(json, len, escapes) \
	makeJsonLexContextCstringLen(FC_17_ADDS(NULL,) json, len, GetDatabaseEncoding(), escapes)

/* 16: what the parser calls returns whether it is to go on */
typedef FC_16(JsonParseErrorType, void) FcJsonResult;
#define FC_JSON_SUCCESS	FC_16(JSON_SUCCESS, )

/* 16: an error may be saved.  Throws what the lexer or the parser has found */
#define fc_json_throw(error, lex) \
	FC_16(json_errsave_error(error, lex, NULL), json_ereport_error(error, lex))

/* 16: core finds a setting by its name.  It must be there */
static inline const struct config_generic *
fc_find_setting(const char *name)
{
#if PG_VERSION_NUM >= 160000
	return find_option(name, false, false, ERROR);
#else
	struct config_generic **settings = get_guc_variables();
	int			i = 0;

	while (strcmp(settings[i]->name, name) != 0)
		i++;
	return settings[i];
#endif
}

#endif							/* FC_COMPAT_H */
