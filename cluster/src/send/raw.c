/*-------------------------------------------------------------------------
 *
 * send/raw.c
 *	  May the records of leaves on other servers be sent as they are?
 *
 *	 options, columns of the target, the foreign table ──► a reason for core's
 *			CopyFrom, or none
 *
 * A field that is sent must give the row that core and postgres_fdw make of
 * it.  Whatever this side would do besides, or by its catalogs, is a reason.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "send/send.h"

/*
 * May the same text be another value on the other server?  Citus keeps types of
 * users the same on all nodes.
 */
static bool
fc_raw_type_differs(Oid type, bool citus)
{
	Oid			element = get_element_type(type);
	char		kind;

	if (OidIsValid(element))
		type = element;
	kind = get_typtype(type);
	if (citus && kind == TYPTYPE_DOMAIN)
		return fc_raw_type_differs(getBaseType(type), citus);
	if (citus && (kind == TYPTYPE_ENUM || kind == TYPTYPE_BASE) && type >= FirstNormalObjectId)
		return false;
	if (type >= FirstNormalObjectId || kind == TYPTYPE_COMPOSITE)
		return true;
	switch (type)
	{
		case XMLOID:			/* by the setting xmloption */
		case MONEYOID:			/* by lc_monetary */
		case ACLITEMOID:		/* the rest by names in catalogs */
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGNAMESPACEOID:
		case REGROLEOID:
			return true;
		default:
			return false;
	}
}

static const char *
fc_raw_columns_refusal(const FcTarget *target)
{
	const FcColumns *columns = &target->planned->columns;
	TupleDesc	desc = RelationGetDescr(target->rel);

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);

		if (att->attisdropped)
			continue;
		/* a shard's is generated in the same way */
		if (att->attgenerated && target->kept)
			continue;
		if (att->attgenerated)
			return "a column is generated";
		if (!list_member_int(columns->attnums, attnum))
			return "a column is not in the file";
		if (fc_raw_type_differs(att->atttypid, target->kept != NULL))
			return psprintf("column \"%s\" has a type that may be another one there",
							NameStr(att->attname));
	}
	for (int i = 0; i < list_length(columns->fields); i++)
	{
		if (list_nth_int(columns->fields, i) == 0)
			return "a field of the file is skipped";
		if (columns->patterns[i] || columns->flags[i] != 0)
			return "a field of the file is read in a way of its own";
	}
	return NULL;
}

static const char *
fc_raw_options_refusal(const FcTarget *target)
{
	const FcOptions *options = target->options;

	if (fc_format_is_binary(&options->format))
		return "the file is binary";
	if (options->own_grammar)
		return "COPY does not know the grammar of the file";
	if (options->on_error != FC_ON_ERROR_STOP)
		return "on_error goes on after bad records";
	if (target->planned->where != NIL)
		return "there is a condition";
	if (target->plan->order.nkeys > 0 || options->order_by != NIL)
		return "rows are to be in an order";
	if (options->freeze)
		return "rows are to be frozen";
	if (target->form.headers != NIL)
		return "files have different headers";
	if (options->default_string)
		return "fields may stand for defaults";
	/* a line of it alone, which is sent in quotes */
	if (fc_format_is_csv(&options->format) && strcmp(options->format.null_print, "\\.") == 0)
		return "NULL is written as the end of the data";
	if (options->skip_empty_lines || options->comment)
		return "lines are left out";
	if (options->pads)
		return "records may have too few fields";
	if (options->time_zone)
		return "times are in another time zone";
	if (target->form.encoding != GetDatabaseEncoding())
		return "the file is in another encoding than the database";
	if (target->plan->key.early)
		return "rows are evaluated in file order";
	return NULL;
}

const char *
fc_raw_refusal(const FcTarget *target, Relation foreign)
{
	const char *why;

	if ((why = fc_raw_options_refusal(target)) == NULL &&
		(why = fc_raw_columns_refusal(target)) == NULL &&
		(why = fc_dispatch_refusal(target->rel, target->planned->columns.fields)) == NULL)
		why = fc_remote_refusal(foreign);
	return why;
}

/*
 * Why the target's rows cannot be sent, or NULL.  Foreign keys are checked at
 * the shards, and partitions are the nodes' own.
 */
static const char *
fc_raw_shards_reason(const FcTarget *target)
{
	const char *why;

	if (target->course.core)
		return target->course.reason;
	/* only this transaction sees what Citus has made for it */
	if (target->rel->rd_createSubid != InvalidSubTransactionId)
		return "it was created in this transaction";
	if (fc_plan_triggers(target->rel) > FC_TRIGGERS_FOREIGN_KEYS)
		return "it has triggers";
	if (target->options->interval || target->options->nodes)
		return "partitions are not created there";
	if (target->options->missing != FC_MISSING_DEFAULT && fc_plan_has_default(target->oid))
		return "nodes have a default partition, and do as with missing_partitions => 'default'";
	why = fc_raw_options_refusal(target);
	return why ? why : fc_raw_columns_refusal(target);
}

const char *
fc_raw_shards_refusal(const FcTarget *target)
{
	const char *why = fc_raw_shards_reason(target);

	return why ? psprintf("Its rows cannot be sent to its shards: %s.", why) : NULL;
}
