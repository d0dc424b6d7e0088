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
 * This file reads catalogs, some of them by SQL, and changes nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"

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

bool
fc_partman_trusts(const FcPartmanSearch *search, Oid role)
{
	return fc_owns_relation(RelationGetRelid(search->parent),
							role == ROLE_PG_DATABASE_OWNER ? search->database_owner : role);
}

bool
fc_partman_is_trusted(const FcPartmanSearch *search)
{
	const Oid	owners[] = {search->owner, search->schema_owner,
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

/* SQL: may this role, an expression, not act as the owner of the table? */
static char *
fc_partman_untrusted(const FcPartmanSearch *search, const char *role)
{
	return psprintf("NOT pg_has_role(CASE %s WHEN %u THEN %u ELSE %s END, %u, 'USAGE')", role, ROLE_PG_DATABASE_OWNER,
					search->database_owner, role, search->parent->rd_rel->relowner);
}

/*
 * Does one of its functions find objects by a search_path of its own, with more
 * than pg_catalog in it?
 */
static bool
fc_partman_has_path(const FcPartman *partman)
{
	char	   *functions = "0";

	for (int i = 0; i < FC_PARTMAN_NFUNCTIONS; i++)
		functions = psprintf("%s, %u", functions, partman->functions[i]);
	return fc_ddl_of_catalogs(psprintf("SELECT 'yes' FROM pg_proc WHERE oid IN (%s) AND (strpos(prosrc, 'search_path') > 0 OR EXISTS (SELECT FROM unnest(proconfig) AS s "
								 "WHERE starts_with(s, 'search_path=') AND s <> 'search_path=pg_catalog, pg_temp'))", functions)) != NULL;
}

/*
 * Returns, in words, a role that is not trusted and may create objects in the
 * schema, or NULL
 */
static char *
fc_partman_intruder(const FcPartmanSearch *search)
{
	return fc_ddl_of_catalogs(psprintf("SELECT CASE a.grantee WHEN 0 THEN 'Every role' ELSE format('Role \"%%s\"', pg_get_userbyid(a.grantee)) END "
								 "FROM pg_namespace AS n, aclexplode(n.nspacl) AS a WHERE n.oid = %u AND a.privilege_type = 'CREATE' AND (a.grantee = 0 OR %s)",
								 search->schema, fc_partman_untrusted(search, "a.grantee")));
}

/*
 * Returns the name of a role that is not trusted and owns an object in the
 * schema that pg_partman's functions would find in place of another, of the
 * server or of the extension; NULL: there is none
 */
static char *
fc_partman_squatter(const FcPartmanSearch *search)
{
	return fc_ddl_of_catalogs(psprintf("WITH core (name) AS (SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace "
								 "UNION SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace) "
								 "SELECT pg_get_userbyid(o.owner) FROM (SELECT relnamespace, relowner FROM pg_class, core WHERE relname = core.name "
								 "UNION ALL SELECT typnamespace, typowner FROM pg_type, core WHERE typname = core.name "
								 "UNION ALL SELECT oprnamespace, oprowner FROM pg_operator "
								 "UNION ALL SELECT p.pronamespace, p.proowner FROM pg_proc AS p, pg_proc AS q WHERE p.proname = q.proname AND "
								 "(q.pronamespace = 'pg_catalog'::regnamespace OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = q.oid "
								 "AND refclassid = 'pg_extension'::regclass AND refobjid = %u AND deptype = 'e'))) AS o (schema, owner) WHERE o.schema = %u AND %s",
								 search->extension, search->schema, fc_partman_untrusted(search, "o.owner")));
}

void
fc_partman_check_schema(FcPartmanSearch *search)
{
	FcPartman  *partman = search->partman;
	char	   *who = NULL;
	char	   *squatter = NULL;

	if (partman->refusal)
		return;
	if (fc_partman_has_path(partman) && (who = fc_partman_intruder(search)) == NULL)
		squatter = fc_partman_squatter(search);
	if (who)
		fc_partman_refuse(partman, ERRCODE_INSUFFICIENT_PRIVILEGE,
						  psprintf("%s may create objects in schema \"%s\", in which its functions look for others, and is neither a superuser nor the owner of the table.",
								   who, get_namespace_name(search->schema)));
	else if (squatter)
		fc_partman_refuse(partman, ERRCODE_INSUFFICIENT_PRIVILEGE,
						  psprintf("Role \"%s\" owns objects in schema \"%s\" that its functions would find in place of others, and is neither a superuser nor the owner of the table.",
								   squatter, get_namespace_name(search->schema)));
	else
		return;
	partman->refusal->hint =
		psprintf("%s %s",
				 who ? "Revoke CREATE on the schema from that role." : "Drop these objects, or give them to another owner.",
				 partman->refusal->hint);
}
