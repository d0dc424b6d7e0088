/*-------------------------------------------------------------------------
 *
 * partition/sprout.c
 *	  Makes the partitions of a tree that rows lack (key/range.h).
 *
 * What is attached to a table that is there is made as a table of its own, and
 * attached when all below it is there: until then no other session waits for
 * it.  ATTACH builds its indexes, and looks into a default partition.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "errors/context.h"
#include "index/index.h"
#include "partition/partition.h"

/* The value of a list */
static char *
fc_sprout_value(const FcSprout *sprout)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(sprout->above->type, &output, &varlena);
	return OidOutputFunctionCall(output, sprout->value);
}

Oid
fc_sprout_parent(const FcSprout *sprout)
{
	while (sprout->above->sprout)
		sprout = sprout->above->sprout;
	return sprout->above->oid;
}

/* What follows a table's name in that of its partition, or stands for that */
static const char *
fc_sprout_end(const char *name, const char *above)
{
	size_t		len = above ? strlen(above) : 0;

	/* an analysis has not locked them */
	if (len == 0 || name == NULL)
		return "_p";
	return strncmp(name, above, len) == 0 ? name + len : psprintf("_%s", name);
}

char *
fc_sprout_name(const FcSprout *sprout, const char *above, Oid nspid)
{
	const FcRoute *route = sprout->above->route;

	return fc_name_free(above, OidIsValid(sprout->copied) ?
						fc_sprout_end(get_rel_name(sprout->copied), get_rel_name(sprout->above->oid)) :
						route ? fc_name_suffix(route, sprout->range.lo) : fc_name_of_value(fc_sprout_value(sprout)), nspid);
}

char *
fc_sprout_bound(const FcSprout *sprout)
{
	const FcRoute *route = sprout->above->route;

	if (OidIsValid(sprout->copied))
		return fc_ddl_of_catalogs(psprintf("SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE oid = %u", sprout->copied));
	return route ? psprintf("FOR VALUES %s", fc_range_text(route->type, &sprout->range)) :
		psprintf("FOR VALUES IN (%s)", quote_literal_cstr(fc_sprout_value(sprout)));
}

/* Makes one, in the schema and for the owner of the table that has it all */
static void
fc_sprout_make(FcSprout *sprout)
{
	Relation	parent = table_open(fc_sprout_parent(sprout), NoLock);
	Oid			nspid = RelationGetNamespace(parent);
	const FcSprout *above = sprout->above->sprout;
	char	   *by = sprout->branch == NULL ? "" :
		psprintf(" PARTITION BY %s", fc_ddl_of_catalogs(psprintf("SELECT pg_get_partkeydef(%u)", sprout->branch->oid)));

	sprout->name = fc_sprout_name(sprout, above ? above->name : RelationGetRelationName(parent), nspid);
	(void) fc_create_owned(parent, sprout->name, above ?
						   psprintf("CREATE TABLE %s PARTITION OF %s %s%s", fc_ddl_name(nspid, sprout->name),
									fc_ddl_name(nspid, above->name), fc_sprout_bound(sprout), by) :
						   fc_create_sql(parent, NULL, sprout->name, by), NULL, false);
	table_close(parent, NoLock);
}

/* Error context callback: what keeps ATTACH from taking a new table */
static void
fc_sprout_hint(void *arg)
{
	if (geterrcode() == ERRCODE_CHECK_VIOLATION && fc_error_wants_hint("updated partition constraint for default"))
		errhint("Move such rows out of the default partition first.");
	/* others are seen before, as the parent is locked */
	if (geterrcode() == ERRCODE_INVALID_OBJECT_DEFINITION && fc_error_wants_hint("partition \"%s\" would overlap partition"))
		errhint("The latter is pending detach. Wait until its DETACH is over, or finish it with ALTER TABLE ... DETACH PARTITION ... FINALIZE.");
}

static void
fc_sprout_attach(const FcSprout *sprout)
{
	Oid			parent = sprout->above->oid;
	Oid			default_oid = get_default_partition_oid(parent);
	ErrorContextCallback callback;
	FcProgressSlot slot;

	if (sprout->above->sprout)
		return;
	/* others wait behind the load, but never for long */
	if (OidIsValid(default_oid))
		fc_lock_patiently(default_oid, AccessExclusiveLock);
	fc_progress_slot_save(&slot);
	fc_error_context_push(&callback, fc_sprout_hint, NULL);
	fc_ddl_run(psprintf("ALTER TABLE %s ATTACH PARTITION %s %s", fc_ddl_table(parent),
						fc_ddl_name(get_rel_namespace(parent), sprout->name), fc_sprout_bound(sprout)));
	fc_error_context_pop();
	fc_progress_slot_restore(&slot);
}

void
fc_sprouts_make(const List *sprouts)
{
	int			level = fc_ddl_begin();

	Assert(!IsInParallelMode());
	/* values are read again as they were written */
	fc_ddl_set("datestyle", "ISO");
	fc_ddl_set("extra_float_digits", "3");
	foreach_ptr(FcSprout, sprout, sprouts)
	{
		CHECK_FOR_INTERRUPTS();
		fc_sprout_make(sprout);
	}
	foreach_ptr(const FcSprout, sprout, sprouts)
	{
		CHECK_FOR_INTERRUPTS();
		fc_sprout_attach(sprout);
	}
	fc_ddl_end(level, true);
	CommandCounterIncrement();
}
