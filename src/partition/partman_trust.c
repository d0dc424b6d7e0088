/*-------------------------------------------------------------------------
 *
 * partition/partman_trust.c
 *	  Which roles own pg_partman, and can change what it runs.
 *
 * From version 5.2 on a role that may create in the database can install
 * pg_partman, owns all that is in it, and can name any table in its
 * part_config.  So a load uses pg_partman only if the extension, its schema,
 * its two tables and each of its functions belong to roles that may act as the
 * table's owner.
 *
 * Its functions run as the owner of the table in any load: they make commands
 * of names of and in the template, and crafted names make them run other
 * commands.  So no partitions are made if a role that may not act as the owner
 * can change the template or the schema.
 *
 * This file reads catalogs, and changes nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat/compat.h"
#include "partition/ddl.h"
#include "partition/partman.h"

void
fc_partman_refuse(FcPartman *partman, int sqlerrcode, char *detail)
{
	if (partman->refusal)
		return;
	partman->refusal =
		fc_fault("pg_partman", sqlerrcode,
				 psprintf("cannot create partitions of table \"%s\", which pg_partman manages",
						  partman->table),
				 detail,
				 pstrdup("Set missing_partitions to \"error\" or \"default\" to load into the partitions that exist, or switch fast_copy.use_partman off."));
}

/* The owner in a row of a catalog; InvalidOid: there is no such row */
static Oid
fc_partman_owner(int cache, Oid object, AttrNumber column)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(object));
	bool		isnull;
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = DatumGetObjectId(SysCacheGetAttr(cache, tuple, column, &isnull));
	ReleaseSysCache(tuple);
	return owner;
}

bool
fc_partman_trusts(const FcPartmanSearch *search, Oid role)
{
	if (role == ROLE_PG_DATABASE_OWNER)
		role = fc_partman_owner(DATABASEOID, MyDatabaseId, Anum_pg_database_datdba);
	return fc_owns_relation(RelationGetRelid(search->parent), role);
}

bool
fc_partman_is_trusted(const FcPartmanSearch *search)
{
	const Oid	owners[] = {search->owner,
		fc_partman_owner(NAMESPACEOID, search->schema, Anum_pg_namespace_nspowner),
		fc_ddl_class(search->partman->config).relowner,
	fc_ddl_class(search->config_sub).relowner};

	for (int i = 0; i < lengthof(owners); i++)
	{
		if (!OidIsValid(owners[i]) || fc_partman_trusts(search, owners[i]))
			continue;
		ereport(WARNING,
				(errmsg("pg_partman is skipped for table \"%s\"",
						RelationGetRelationName(search->parent)),
				 errdetail("It belongs to role \"%s\", which is neither a superuser nor the owner of the table.",
						   GetUserNameFromId(owners[i], true)),
				 errhint("Let a superuser own the extension and its tables, or switch fast_copy.use_partman off.")));
		return false;
	}
	return true;
}

/* Does the function find objects by a search_path of its own? */
static bool
fc_partman_has_path(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		isnull;
	Datum		value;
	bool		found;
	Datum	   *settings;
	int			n = 0;

	if (!HeapTupleIsValid(tuple))
		return false;
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	found = !isnull && strstr(TextDatumGetCString(value), "search_path") != NULL;
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proconfig, &isnull);
	if (!isnull)
		deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT,
						  &settings, NULL, &n);
	/* more than pg_catalog */
	for (int i = 0; i < n; i++)
	{
		char	   *setting = TextDatumGetCString(settings[i]);

		found |= strncmp(setting, "search_path=", strlen("search_path=")) == 0 &&
			strcmp(setting, "search_path=pg_catalog, pg_temp") != 0;
	}
	ReleaseSysCache(tuple);
	return found;
}

/*
 * Returns, in words, a role that is not trusted and may create objects in the
 * schema, or NULL
 */
static char *
fc_partman_intruder(const FcPartmanSearch *search)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(search->schema));
	bool		isnull;
	Datum		value;
	char	   *who = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	value = SysCacheGetAttr(NAMESPACEOID, tuple, Anum_pg_namespace_nspacl, &isnull);
	if (!isnull)
	{
		Acl		   *acl = DatumGetAclP(value);
		const AclItem *items = ACL_DAT(acl);

		for (int i = 0; i < ACL_NUM(acl) && who == NULL; i++)
		{
			if ((ACLITEM_GET_PRIVS(items[i]) & ACL_CREATE) == 0)
				continue;
			if (items[i].ai_grantee == ACL_ID_PUBLIC)
				who = "Every role";
			else if (!fc_partman_trusts(search, items[i].ai_grantee))
				who = psprintf("Role \"%s\"", GetUserNameFromId(items[i].ai_grantee, true));
		}
	}
	ReleaseSysCache(tuple);
	return who;
}

/* Has a function of the server or of pg_partman this name? */
static bool
fc_partman_hides_function(const FcPartmanSearch *search, const char *name)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	bool		found = false;

	for (int i = 0; i < list->n_members && !found; i++)
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);

		found = form->pronamespace == PG_CATALOG_NAMESPACE ||
			getExtensionOfObject(ProcedureRelationId, form->oid) == search->extension;
	}
	ReleaseSysCacheList(list);
	return found;
}

/*
 * Returns the owner of an object that functions with the schema ahead in their
 * search_path would find in place of another; InvalidOid if it hides none
 */
static Oid
fc_partman_hider(const FcPartmanSearch *search, Oid class, Oid object)
{
	int			cache;
	HeapTuple	tuple;
	bool		isnull;
	char	   *name;
	Oid			owner = InvalidOid;

	if (class != ProcedureRelationId && class != OperatorRelationId &&
		class != TypeRelationId && class != RelationRelationId)
		return InvalidOid;
	cache = get_object_catcache_oid(class);
	tuple = SearchSysCache1(cache, ObjectIdGetDatum(object));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	name = NameStr(*DatumGetName(SysCacheGetAttr(cache, tuple, get_object_attnum_name(class), &isnull)));
	if (class == OperatorRelationId ||
		(class == ProcedureRelationId ? fc_partman_hides_function(search, name) :
		 fc_ddl_name_is_taken(name, PG_CATALOG_NAMESPACE)))
		owner = DatumGetObjectId(SysCacheGetAttr(cache, tuple, get_object_attnum_owner(class), &isnull));
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * Returns a role that is not trusted and owns an object in the schema that
 * pg_partman's functions would find in place of another, or InvalidOid
 */
static Oid
fc_partman_squatter(const FcPartmanSearch *search)
{
	Relation	rel = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			found = InvalidOid;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(NamespaceRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(search->schema));
	scan = systable_beginscan(rel, DependReferenceIndexId, true, NULL, 2, keys);
	while (!OidIsValid(found) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		Oid			owner = fc_partman_hider(search, form->classid, form->objid);

		if (OidIsValid(owner) && !fc_partman_trusts(search, owner))
			found = owner;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

void
fc_partman_check_schema(FcPartmanSearch *search)
{
	FcPartman  *partman = search->partman;
	bool		has_path = false;
	char	   *detail;
	char	   *who;
	Oid			squatter = InvalidOid;

	for (int i = 0; i < FC_PARTMAN_NFUNCTIONS; i++)
		has_path |= OidIsValid(partman->functions[i]) &&
			fc_partman_has_path(partman->functions[i]);
	if (!has_path || partman->refusal)
		return;
	who = fc_partman_intruder(search);
	if (who == NULL)
		squatter = fc_partman_squatter(search);
	if (who)
		detail = psprintf("%s may create objects in schema \"%s\", in which its functions look for others, and is neither a superuser nor the owner of the table.",
						  who, get_namespace_name(search->schema));
	else if (OidIsValid(squatter))
		detail = psprintf("Role \"%s\" owns objects in schema \"%s\" that its functions would find in place of others, and is neither a superuser nor the owner of the table.",
						  GetUserNameFromId(squatter, true), get_namespace_name(search->schema));
	else
		return;
	fc_partman_refuse(partman, ERRCODE_INSUFFICIENT_PRIVILEGE, detail);
	partman->refusal->hint =
		psprintf("%s %s",
				 who ? "Revoke CREATE on the schema from that role." : "Drop these objects, or give them to another owner.",
				 partman->refusal->hint);
}
