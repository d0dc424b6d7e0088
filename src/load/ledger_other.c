/*-------------------------------------------------------------------------
 *
 * load/ledger_other.c
 *	  Rows that a load with a ledger would replace, though files gave them
 *	  that it does not load again.
 *
 *	 ranges that are replaced, rows of the ledger ──► files that are "loaded"
 *		and have keys there ──► an error or, if the caller has said so, a
 *		WARNING; of files whose keys are not known always a WARNING
 *
 * The load has claimed its own files: their rows are "loading".  What others
 * commit after the load has noted its moment (fc_replace_begin) is not
 * replaced; their files may be told of nevertheless.
 *
 * A file may have been loaded into the target, into a partition of it, or into
 * the table that the target is a partition of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/ledger_row.h"

/* Appends the lower or the upper bounds of ranges, as a constant array */
static char *
fc_ledger_bounds(FcKeyType type, const List *ranges, bool lower)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "'{");
	foreach_ptr(const FcRange, range, ranges)
	{
		if (lower || !range->hi_max)
			appendStringInfo(&sql, "%s\"%s\"", foreach_current_index(range) > 0 ? "," : "", lower && range->lo_min && !fc_key_is_integer(type) ?
							 "-infinity" : fc_key_text(type, lower ? range->lo : range->hi));
	}
	appendStringInfo(&sql, "}'::%s[]", fc_ledger_key_type(type));
	return sql.data;
}

/* The OIDs of the target, of its partitions and of what it is a partition of */
static char *
fc_ledger_relatives(const FcTarget *target)
{
	List	   *relatives = target->plan->partitioned ? find_all_inheritors(target->oid, NoLock, NULL) : list_make1_oid(target->oid);
	StringInfoData sql;

	if (target->rel->rd_rel->relispartition)
		relatives = list_concat(relatives, get_partition_ancestors(target->oid));
	initStringInfo(&sql);
	foreach_oid(relative, relatives)
		appendStringInfo(&sql, "%s%u", sql.len > 0 ? "," : "", relative);
	return psprintf("'{%s}'::oid[]", sql.data);
}

/*
 * Returns a query for what is known, how many files there are and the names of
 * some.  Of the ranges that end after the first key of a file the first one
 * decides: does it begin before the file's last key?  Of a plain table without
 * replace_from all rows go.
 */
static char *
fc_ledger_query(const FcJob *job, const List *ranges)
{
	const FcTarget *target = &job->target;
	FcKeyType	type = target->plan->key.type;
	const char *known = psprintf("l.target = %u", target->oid);
	const char *hit = "l.key_column IS NOT NULL OR coalesce(l.rows, l.size) IS DISTINCT FROM 0";
	const char *unknown = hit;

	if (target->plan->partitioned || !target->plan->bounds.hi_max)
	{
		known = psprintf("coalesce(l.key_column = %s, false)", quote_literal_cstr(get_attname(target->oid, target->plan->key.attnum, false)));
		hit = psprintf("(%s)[width_bucket(l.first_key::%s, %s) + 1] <= l.last_key::%s", fc_ledger_bounds(type, ranges, true),
					   fc_ledger_key_type(type), fc_ledger_bounds(type, ranges, false), fc_ledger_key_type(type));
	}
	/* keys of other tables may be of other types: they are not looked at */
	return psprintf("SELECT %s, count(*), array_to_string((array_agg('\"' || left(l.path, 200) || '\"' ORDER BY l.path))[1:3], ', ') || "
					"CASE WHEN count(*) > 3 THEN ', and others' ELSE '' END FROM ONLY %s AS l "
					"WHERE CASE WHEN l.state = 'loading' OR l.state <> 'loaded' AND l.done_bytes IS NULL OR l.target::oid <> ALL (%s) THEN false WHEN %s THEN %s ELSE %s END AND %s AND l.path NOT IN (%s) GROUP BY 1 ORDER BY 1 DESC",
					known, fc_ddl_table(target->options->ledger), fc_ledger_relatives(target), known, hit, unknown, fc_ledger_counts(),
					fc_ledger_paths(job));
}

/* The fault of n files with these names */
static FcFault *
fc_ledger_other(const FcOptions *options, bool known, uint64 n, const char *names)
{

	return fc_fault("ledger", known && !options->replace_others ? ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE : ERRCODE_WARNING,
					psprintf("rows of %s %s replaced", fc_units_of(n, "other file"),
							 !known ? "may be" : options->replace_others ? "are" : "would be"),
					psprintf("Ledger \"%s\" has as loaded%s: %s.", get_rel_name(options->ledger),
							 known ? ", with keys in the same range" : ", without telling between which keys", names),
					psprintf("Name these files, too, so that their rows are loaded again; where_clause leaves out those of other partitions. "
							 "If the new rows stand for them, use other_files%s 'replace'.", fc_caller_arrow(options->caller)));
}

List *
fc_ledger_others(const FcJob *job, const List *ranges)
{
	const FcOptions *options = job->target.options;
	MemoryContext mcxt = CurrentMemoryContext;
	List	   *faults = NIL;
	Relation	rel;
	int			level;
	uint64		n;

	if (!OidIsValid(options->ledger) || job->target.plan->existing != FC_EXISTING_REPLACE || ranges == NIL || RecoveryInProgress())
		return NIL;
	rel = table_open(options->ledger, AccessShareLock);
	fc_ledger_check(rel);
	level = fc_ddl_begin();
	n = fc_ddl_execute(NULL, fc_ledger_query(job, ranges), 0, NULL, NULL, NULL);
	for (uint64 i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(mcxt);
		Datum		values[3];
		bool		nulls[3];

		heap_deform_tuple(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, values, nulls);
		faults = lappend(faults, fc_ledger_other(options, DatumGetBool(values[0]), DatumGetInt64(values[1]), TextDatumGetCString(values[2])));
		MemoryContextSwitchTo(old);
	}
	fc_ddl_end(level, false);
	table_close(rel, NoLock);
	return faults;
}
