/*-------------------------------------------------------------------------
 *
 * partition/create.c
 *	  Makes the missing partitions.
 *
 *	precheck	has the caller the rights, and the default partition no
 *				rows that belong to it?
 *	create		a stand-alone table, equal to what PARTITION OF makes
 *	(rows and indexes, elsewhere)
 *	attach		partition/attach.c
 *
 * PARTITION OF itself would lock the parent against all sessions until the
 * load's end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"

#include "elsewhere/elsewhere.h"
#include "index/index.h"
#include "partition/partition.h"
#include "source/advice.h"

char *
fc_partition_text(const FcRoute *route, const FcNewPartition *part)
{
	return psprintf("from values %s", fc_key_text(route->type, part->range.lo));
}

/* Says how the current role can get to act as the table's owner */
static char *
fc_create_how_to_own(Relation parent)
{
	Oid			owner = parent->rd_rel->relowner;
	const char *name = quote_identifier(GetUserNameFromId(owner, false));

	if (superuser_arg(owner))
		return psprintf("Let a superuser give the table to a role that may load it: ALTER TABLE %s OWNER TO %s",
						fc_ddl_name(RelationGetNamespace(parent), RelationGetRelationName(parent)),
						fc_advice_role());
	if (is_member_of_role(GetUserId(), owner))
		return psprintf("As a member that does not inherit its privileges: SET ROLE %s", name);
	return psprintf("GRANT %s TO %s", name, fc_advice_role());
}

void
fc_partition_check_owner(Relation parent, Oid default_oid, int nparts, const char *first)
{
	if (fc_owns_relation(RelationGetRelid(parent), GetUserId()))
		return;
	fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg("must be owner of table %s", RelationGetRelationName(parent)),
			 errdetail_plural("The load has to create %d partition, %s, and only role \"%s\", the table's owner, or a member of it may do so.",
							  "The load has to create %d partitions, the first %s, and only role \"%s\", the table's owner, or a member of it may do so.",
							  nparts, nparts, first,
							  GetUserNameFromId(parent->rd_rel->relowner, false)),
			 errhint("%s; or create the partitions before the load. With missing_partitions \"error\" none are created, and the first row that lacks one is the error%s.",
					 fc_create_how_to_own(parent), OidIsValid(default_oid) ?
					 "; with \"default\" such rows go to the default partition" : ""));
}

/* May the parent's owner make tables where partitions of it belong? */
static bool
fc_create_owner_may_create(Relation parent, const struct FcRemoteTable *remote)
{
	Form_pg_class form = parent->rd_rel;
	Oid			tablespace = OidIsValid(form->reltablespace) ? form->reltablespace :
		GetDefaultTablespace(form->relpersistence, true);

	return fc_namespace_aclcheck(form->relnamespace, form->relowner,
								 ACL_CREATE) == ACLCHECK_OK &&
		(!OidIsValid(tablespace) || tablespace == MyDatabaseTableSpace ||
		 fc_tablespace_aclcheck(tablespace, form->relowner, ACL_CREATE) == ACLCHECK_OK) &&
		(remote == NULL ||
		 fc_elsewhere_get()->may_place(remote, form->relowner));
}

/*
 * A superuser may create in any schema, but pg_partman's functions create the
 * indexes of its template as the owner
 */
void
fc_partition_check_schema(Relation parent, const struct FcPartman *partman)
{
	Oid			nspid = RelationGetNamespace(parent);
	Oid			owner = parent->rd_rel->relowner;

	if ((!superuser() || (partman && partman->indexes)) &&
		fc_namespace_aclcheck(nspid, owner, ACL_CREATE) != ACLCHECK_OK)
		fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg("permission denied for schema %s", get_namespace_name(nspid)),
				 owner == GetUserId() ? 0 :
				 errdetail("New partitions of table \"%s\" belong to its owner, role \"%s\", who may not create tables there.",
						   RelationGetRelationName(parent),
						   GetUserNameFromId(owner, false)),
				 errhint("GRANT CREATE ON SCHEMA %s TO %s; or create the partitions before the load.",
						 quote_identifier(get_namespace_name(nspid)),
						 quote_identifier(GetUserNameFromId(owner, false))));
}

void
fc_partition_precheck(Relation parent, const FcRoute *route,
					  FcNewPartition *parts, int nparts, bool drained)
{
	Relation	defrel;

	if (nparts == 0)
		return;
	fc_partition_check_owner(parent, route->default_oid, nparts, fc_partition_text(route, parts));
	if (route->partman)
		fc_partman_check_owner(route->partman);
	fc_partition_check_schema(parent, route->partman);
	if (drained || !OidIsValid(route->default_oid))
		return;

	/*
	 * The lock is released before commit: a second load, with such a lock and
	 * waiting for the parent, would block this load's ATTACH.
	 */
	defrel = table_open(route->default_oid, AccessShareLock);
	(void) fc_vouch_check_default(defrel, parent, route, parts, nparts, false);
	table_close(defrel, AccessShareLock);
}

/*
 * LIKE copies what PARTITION OF inherits, but no indexes, identity, statistics
 * and comments; pg_partman copies comments, too, and from 5.2 on statistics.
 * Access method and tablespace are the parent's if it names one (the access
 * method from 17 on), else those of the settings.
 */
char *
fc_create_sql(Relation parent, const struct FcPartman *partman, const char *name, const char *by)
{
	Form_pg_class form = parent->rd_rel;
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
					 " INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION%s)%s",
					 fc_ddl_name(form->relnamespace, name),
					 fc_ddl_name(form->relnamespace, NameStr(form->relname)),
					 partman == NULL ? "" : partman->version < 502 ?
					 " INCLUDING COMMENTS" :
					 " INCLUDING COMMENTS INCLUDING STATISTICS", by);
	if (OidIsValid(form->relam))
		appendStringInfo(&sql, " USING %s",
						 quote_identifier(get_am_name(form->relam)));
	if (OidIsValid(form->reltablespace))
		appendStringInfo(&sql, " TABLESPACE %s",
						 quote_identifier(get_tablespace_name(form->reltablespace)));
	return sql.data;
}

/* Gives the table the owner's default privileges instead of the superuser's */
static void
fc_create_give_default_privileges(Oid table, Oid owner)
{
	Acl		   *acl = get_user_default_acl(OBJECT_TABLE, owner, get_rel_namespace(table));
	int			column = Anum_pg_class_relacl;
	bool		isnull;
	Datum		value = SysCacheGetAttr(RELOID, fc_ddl_class_copy(table), column, &isnull);
	Oid		   *before;
	Oid		   *after;
	int			nbefore = aclmembers(isnull ? NULL : DatumGetAclP(value), &before);
	int			nafter = aclmembers(acl, &after);

	value = PointerGetDatum(acl);
	isnull = acl == NULL;
	fc_ddl_class_change(table, 1, &column, &value, &isnull);
	updateAclDependencies(RelationRelationId, table, 0, owner, nbefore, before, nafter, after);
}

/*
 * The role that loads owns none of it, and code of the owner never runs as that
 * role.  A superuser may give the owner what the owner may not make.
 */
Oid
fc_create_owned(Relation parent, const char *name, const char *sql,
				const struct FcRemoteTable *remote, bool plain)
{
	Oid			owner = parent->rd_rel->relowner;
	bool		give = superuser() && !fc_create_owner_may_create(parent, remote);
	Oid			userid;
	int			sec_context;
	Oid			table;
	Relation	rel;

	GetUserIdAndSecContext(&userid, &sec_context);
	if (!give)
		SetUserIdAndSecContext(owner, sec_context | SECURITY_LOCAL_USERID_CHANGE);
	/* making small tables takes mostly waits for the disk */
	if (plain && FC_CORE_SYNCS_INDEXES && XLogIsNeeded() &&
		!fc_attach_is_watched() && !RelationUsesLocalBuffers(parent))
		fc_table_create(sql);
	else
		fc_ddl_run(sql);
	SetUserIdAndSecContext(userid, sec_context);
	table = get_relname_relid(name, RelationGetNamespace(parent));
	if (!OidIsValid(table))
		fc_throw(ERRCODE_OBJECT_IN_USE, errmsg("could not find the table \"%s\" just created", name),
				 errhint("Look for event triggers that give new tables another name or schema."));
	if (give)
	{
		ATExecChangeOwner(table, owner, false, AccessExclusiveLock);
		CommandCounterIncrement();
		fc_create_give_default_privileges(table, owner);
		/* extended statistics are objects of their own */
		rel = table_open(table, NoLock);
		foreach_oid(oid, RelationGetStatExtList(rel))
			fc_change_statistics_owner(oid, owner);
		table_close(rel, NoLock);
		CommandCounterIncrement();
	}
	return table;
}

/* Refuses a new table to which an event trigger or a hook has written */
static void
fc_create_check_empty(const FcNewPartition *part)
{
	Relation	rel = table_open(part->range.partition, NoLock);

	Assert(part->remote != NULL || rel->rd_createSubid != InvalidSubTransactionId);
	if (part->remote == NULL && RelationGetNumberOfBlocks(rel) > 0)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("new partition \"%s\" has rows before it is loaded", part->name));
	table_close(rel, NoLock);
}

/*
 * Makes one partition; its name is in "mcxt".  "before" is the name of the one
 * made before it, or NULL.  SPI is connected.
 */
static void
fc_create_one(Relation parent, const FcRoute *route, FcNewPartition *part,
			  const char *before, MemoryContext mcxt)
{
	char	   *name = fc_name_choose(parent, route, &part->range, before);
	MemoryContext old = MemoryContextSwitchTo(part->remote ? mcxt : CurrentMemoryContext);
	char	   *sql = part->remote ? fc_elsewhere_get()->place_sql(parent, name, part->remote) :
		fc_create_sql(parent, route->partman, name, "");
	FcProgressSlot slot;

	MemoryContextSwitchTo(old);
	fc_progress_slot_save(&slot);
	Assert(!OidIsValid(part->range.partition) && !fc_ddl_name_is_taken(name, RelationGetNamespace(parent)));
	part->range.partition = fc_create_owned(parent, name, sql, part->remote, part->remote == NULL);
	fc_progress_slot_restore(&slot);
	if (route->partman)
		fc_partman_prepare(route->partman, RelationGetNamespace(parent), name);
	part->name = MemoryContextStrdup(mcxt, name);
}

void
fc_partition_create(FcContext *ctx, const FcRoute *route,
					FcNewPartition *parts, int nparts)
{
	Relation	parent = ctx->target;
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext each;
	int			level;

	Assert(CheckRelationLockedByMe(parent, AccessShareLock, true));
	if (nparts == 0)
		return;
	fc_ddl_keep_schema(RelationGetNamespace(parent));
	if (route->partman)
		fc_partman_check_names(route->partman, parent);
	level = fc_ddl_begin();
	each = fc_context_memory(CurrentMemoryContext, "partition");
	MemoryContextSwitchTo(each);
	for (int i = 0; i < nparts; i++)
	{
		Assert(i == 0 || parts[i - 1].range.hi <= parts[i].range.lo);
		CHECK_FOR_INTERRUPTS();
		fc_create_one(parent, route, &parts[i], i > 0 ? parts[i - 1].name : NULL,
					  caller);
		MemoryContextReset(each);
		fc_context_progress(ctx);
	}
	fc_ddl_end(level, true);
	CommandCounterIncrement();
	for (int i = 0; i < nparts; i++)
		fc_create_check_empty(&parts[i]);
}

void
fc_partition_drop(Oid partition)
{
	ObjectAddress address;

	Assert(!IsInParallelMode() && OidIsValid(partition));
	ObjectAddressSet(address, RelationRelationId, partition);
	performDeletion(&address, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
}
