/*-------------------------------------------------------------------------
 *
 * partition/table.c
 *	  Makes a table without waiting for the disk, and empties it.
 *
 * Calls the parts of CREATE TABLE one by one: PostgreSQL 15 and 16 build the
 * TOAST table's index past shared buffers, and wait until its one page is on
 * disk.  These waits take most of the time of a load of thousands of small
 * partitions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/toast_compression.h"
#include "catalog/dependency.h"
#include "catalog/pg_opclass.h"
#include "catalog/toasting.h"
#include "commands/tablecmds.h"
#include "parser/parse_utilcmd.h"
#include "parser/parser.h"

#include "index/index.h"
#include "partition/partition.h"

/* Returns the columns that detoasting knows by their numbers */
static TupleDesc
fc_table_toast_columns(void)
{
	TupleDesc	desc = CreateTemplateTupleDesc(3);

	TupleDescInitEntry(desc, 1, "chunk_id", OIDOID, -1, 0);
	TupleDescInitEntry(desc, 2, "chunk_seq", INT4OID, -1, 0);
	TupleDescInitEntry(desc, 3, "chunk_data", BYTEAOID, -1, 0);
	for (int i = 0; i < desc->natts; i++)
	{
		TupleDescAttr(desc, i)->attstorage = TYPSTORAGE_PLAIN;
		TupleDescAttr(desc, i)->attcompression = InvalidCompressionMethod;
	}
	return fc_finish_desc(desc);
}

/*
 * Makes the index's page in shared buffers and logs it, like any later page of
 * an index: the next checkpoint writes it with all others
 */
static void
fc_table_toast_index(Oid toast, Oid table)
{
	Relation	rel = table_open(toast, ShareLock);
	IndexInfo  *info = makeNode(IndexInfo);
	Oid			collations[2] = {InvalidOid, InvalidOid};
	Oid			classes[2] = {OID_BTREE_OPS_OID, INT4_BTREE_OPS_OID};
	int16		options[2] = {0, 0};
	Relation	index;
	Oid			oid;

	info->ii_NumIndexAttrs = info->ii_NumIndexKeyAttrs = 2;
	info->ii_Unique = info->ii_ReadyForInserts = true;
	info->ii_Am = BTREE_AM_OID;
	info->ii_Context = CurrentMemoryContext;
	info->ii_IndexAttrNumbers[0] = 1;
	info->ii_IndexAttrNumbers[1] = 2;
	oid = fc_create_toast_index(rel, psprintf("pg_toast_%u_index", table), info,
								list_make2("chunk_id", "chunk_seq"),
								collations, classes, options);
	table_close(rel, NoLock);

	index = index_open(oid, AccessExclusiveLock);
	fc_index_begin_btree(index);
	fc_set_relstats(index, 1, 0, 0, 0);
	index_close(index, NoLock);
}

/*
 * Makes a table of the catalog alone, in the tablespace of "rel"; "like" is
 * what its row type is of, or InvalidOid
 */
static Oid
fc_table_define(const char *name, Oid nspid, Relation rel, Oid owner, Oid am, TupleDesc desc,
				List *constraints, char relkind, char persistence, Datum options, Oid like)
{
	Oid			table = heap_create_with_catalog(name, nspid, rel->rd_rel->reltablespace,
												 InvalidOid, InvalidOid, InvalidOid, owner, am,
												 desc, constraints, relkind, persistence, false, false,
												 ONCOMMIT_NOOP, options, false, true, true, like, NULL);

	CommandCounterIncrement();
	return table;
}

/* Makes the TOAST table, with these options, to be dropped with its table */
static void
fc_table_make_toast(Relation rel, Datum options)
{
	Oid			table = RelationGetRelid(rel);
	Form_pg_class form = rel->rd_rel;
	int			column = Anum_pg_class_reltoastrelid;
	bool		isnull = false;
	Oid			toast = fc_table_define(psprintf("pg_toast_%u", table), PG_TOAST_NAMESPACE, rel, form->relowner,
										table_relation_toast_am(rel), fc_table_toast_columns(), NIL,
										RELKIND_TOASTVALUE, form->relpersistence, options, InvalidOid);
	Datum		value = ObjectIdGetDatum(toast);
	ObjectAddress depender;
	ObjectAddress referenced;

	fc_table_toast_index(toast, table);
	fc_ddl_class_change(table, 1, &column, &value, &isnull);
	ObjectAddressSet(depender, RelationRelationId, toast);
	ObjectAddressSet(referenced, RelationRelationId, table);
	recordDependencyOn(&depender, &referenced, DEPENDENCY_INTERNAL);
	CommandCounterIncrement();
}

/* The CHECKs of the table, and its generated columns' expressions */
static List *
fc_table_constraints(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;
	List	   *list = NIL;

	for (int i = 0; constr && i < constr->num_defval; i++)
	{
		AttrNumber	attnum = constr->defval[i].adnum;

		if (TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated)
			list = lappend(list, fc_cook_constraint(CONSTR_DEFAULT, NULL, attnum, constr->defval[i].adbin));
	}
	for (int i = 0; constr && i < constr->num_check; i++)
		if (fc_check_is_enforced(&constr->check[i]))
			list = lappend(list, fc_cook_constraint(CONSTR_CHECK, constr->check[i].ccname, 0, constr->check[i].ccbin));
	return list;
}

/* The options of a relation as pg_class has them, or 0 */
static Datum
fc_table_options(Oid relid)
{
	bool		isnull;
	Datum		options = SysCacheGetAttr(RELOID, fc_ddl_class_copy(relid), Anum_pg_class_reloptions, &isnull);

	return isnull ? (Datum) 0 : options;
}

Oid
fc_table_create_like(Relation rel, Oid nspid)
{
	Form_pg_class form = rel->rd_rel;
	Oid			table = fc_table_define(RelationGetRelationName(rel), nspid, rel, form->relowner, form->relam,
										RelationGetDescr(rel), fc_table_constraints(rel), RELKIND_RELATION,
										form->relpersistence, fc_table_options(RelationGetRelid(rel)), RelationGetRelid(rel));
	Relation	made = table_open(table, AccessExclusiveLock);

	if (OidIsValid(form->reltoastrelid))
		fc_table_make_toast(made, fc_table_options(form->reltoastrelid));
	table_close(made, NoLock);
	CommandCounterIncrement();
	return table;
}

/* The columns of the table, and one more, with another name than these */
static TupleDesc
fc_table_add_mark(Relation rel)
{
	TupleDesc	from = RelationGetDescr(rel);
	TupleDesc	desc = CreateTemplateTupleDesc(from->natts + 1);
	char	   *name = pstrdup("mark");

	for (AttrNumber attnum = 1; attnum <= from->natts; attnum++)
		TupleDescCopyEntry(desc, attnum, from, attnum);
	for (int i = 0; SearchSysCacheExistsAttName(RelationGetRelid(rel), name); i++)
		name = psprintf("mark%d", i);
	TupleDescInitEntry(desc, desc->natts, name, BOOLOID, -1, 0);
	return fc_finish_desc(desc);
}

Oid
fc_table_create_stage(Relation rel, Oid nspid, bool constrained, bool marks)
{
	TupleDesc	desc = marks ? fc_table_add_mark(rel) :
		constrained ? RelationGetDescr(rel) : CreateTupleDescCopy(RelationGetDescr(rel));
	Oid			table = fc_table_define(RelationGetRelationName(rel), nspid, rel, GetUserId(), HEAP_TABLE_AM_OID,
										desc, constrained ? fc_table_constraints(rel) : NIL, RELKIND_RELATION,
										RELPERSISTENCE_UNLOGGED, (Datum) 0, RelationGetRelid(rel));

	/* the init fork is synced */
	NewRelationCreateToastTable(table, (Datum) 0);
	CommandCounterIncrement();
	return table;
}

void
fc_table_create(const char *sql)
{
	RawStmt    *raw = linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT));
	RangeVar   *name = castNode(CreateStmt, raw->stmt)->relation;
	List	   *stmts = transformCreateStmt((CreateStmt *) raw->stmt, sql);

	Assert(!IsInParallelMode());
	while (stmts != NIL)
	{
		Node	   *stmt = linitial(stmts);

		stmts = list_delete_first(stmts);
		if (IsA(stmt, CreateStmt))
		{
			ObjectAddress table;
			Relation	rel;

			/* LIKE needs the name that transformCreateStmt made */
			name = ((CreateStmt *) stmt)->relation;
			/* its columns are inherited ones, as they will be in a partition */
			foreach_node(ColumnDef, column, ((CreateStmt *) stmt)->tableElts)
			{
				column->is_local = false;
				column->inhcount = 1;
			}
			table = DefineRelation((CreateStmt *) stmt, RELKIND_RELATION,
								   InvalidOid, NULL, sql);
			CommandCounterIncrement();
			rel = table_open(table.objectId, AccessExclusiveLock);
			if (table_relation_needs_toast_table(rel))
				fc_table_make_toast(rel, (Datum) 0);
			table_close(rel, NoLock);
		}
		else if (IsA(stmt, TableLikeClause))
			stmts = list_concat(expandTableLikeClause(name, (TableLikeClause *) stmt),
								stmts);
		else
		{
			/* an ALTER TABLE that LIKE leaves for later */
			PlannedStmt *wrapper = makeNode(PlannedStmt);

			wrapper->commandType = CMD_UTILITY;
			wrapper->utilityStmt = stmt;
			ProcessUtility(wrapper, sql, false, PROCESS_UTILITY_SUBCOMMAND, NULL, NULL,
						   None_Receiver, NULL);
		}
		CommandCounterIncrement();
	}
}

void
fc_table_truncate(Oid heap)
{
	Relation	rel = table_open(heap, AccessExclusiveLock);
	FcProgressSlot slot;

	fc_progress_slot_save(&slot);
	heap_truncate_one_rel(rel);
	fc_progress_slot_restore(&slot);
	table_close(rel, NoLock);
}
