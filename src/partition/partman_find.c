/*-------------------------------------------------------------------------
 *
 * partition/partman_find.c
 *	  Which tables pg_partman manages, and what it says about them.
 *
 *	pg_extension ──trusted?──► part_config ──checked──► FcPartman
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
 * fast_copy's own scan reads both tables without running code of users; they
 * stay locked until the transaction ends.  Nothing is changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/pg_authid.h"
#include "commands/extension.h"

#include "convert/pattern.h"
#include "partition/partition.h"

/* How pg_partman's functions are called: further arguments have defaults */
static const struct
{
	const char *name;
	const char *types;			/* of the arguments, an array */
}			partman_functions[FC_PARTMAN_NFUNCTIONS] = {
	[FC_PARTMAN_CHECK_NAME] = {"check_name_length", "{text,text,bool}"},
	[FC_PARTMAN_PARENT] = {"inherit_parent_properties", "{text,text,text}"},
	[FC_PARTMAN_TEMPLATE] = {"inherit_template_properties", "{text,text,text}"},
	[FC_PARTMAN_PRIVILEGES] = {"apply_privileges", "{text,text,text,text}"},
	[FC_PARTMAN_REPLICA_IDENTITY] = {"inherit_replica_identity", "{text,text,text}"},
	[FC_PARTMAN_PUBLICATIONS] = {"apply_publications", "{text,text,text}"},
};

/* A search for the pg_partman of one table */
typedef struct FcPartmanSearch
{
	FcPartman  *partman;		/* what the search has found */
	Relation	parent;
	Oid			extension;
	Oid			schema;
	Oid			owner;			/* of the extension */
	Oid			schema_owner;	/* InvalidOid: there is no such schema */
	Oid			database_owner;
	Oid			config_sub;		/* part_config_sub, or InvalidOid */
	TupleDesc	desc;			/* of part_config */
	HeapTuple	row;			/* the table's row in part_config */
} FcPartmanSearch;

/* Stores the first reason why fast_copy cannot make pg_partman's partitions */
static void
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

/*
 * May the role act as the owner of the table?  pg_partman's functions run as
 * the owner.
 */
static bool
fc_partman_trusts(const FcPartmanSearch *search, Oid role)
{
	return fc_owns_relation(RelationGetRelid(search->parent),
							role == ROLE_PG_DATABASE_OWNER ? search->database_owner : role);
}

/*
 * Returns false, with a WARNING, if a role that is not trusted owns
 * pg_partman, its schema or its tables: the load then does not read them.  It
 * throws no error, or a role could keep others from loading by installing
 * pg_partman.
 */
static bool
fc_partman_is_trusted(const FcPartmanSearch *search)
{
	const Oid	owners[] = {search->owner, search->schema_owner,
		fc_ddl_class(search->partman->config).relowner,
	fc_ddl_class(search->config_sub).relowner};

	for (int i = 0; i < lengthof(owners); i++)
	{
		if (!OidIsValid(owners[i]) || fc_partman_trusts(search, owners[i]))
			continue;
		ereport(WARNING, errmsg("pg_partman is skipped for table \"%s\"",
								RelationGetRelationName(search->parent)),
				errdetail("It belongs to role \"%s\", which is neither a superuser nor the owner of the table.",
						  GetUserNameFromId(owners[i], true)),
				errhint("Let a superuser own the extension and its tables, or switch fast_copy.use_partman off."));
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

/*
 * Refuses a pg_partman whose functions run what they find in its schema, if a
 * role that is not trusted can create objects there.  Functions of 5.x do so:
 * they have the schema in their search_path, ahead of pg_catalog.
 */
static void
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

/* Finds the extension by its row in the catalog; false if there is none */
static bool
fc_partman_extension(FcPartmanSearch *search)
{
	char	   *found;
	int			major = 0;
	int			minor = 0;

	search->extension = get_extension_oid("pg_partman", true);
	if (!OidIsValid(search->extension))
		return false;
	found = fc_ddl_of_catalogs(psprintf("SELECT concat_ws(' ', extnamespace, extowner, coalesce(nspowner, 0), datdba, extversion) FROM pg_extension AS e "
								  "LEFT JOIN pg_namespace AS n ON n.oid = extnamespace, pg_database WHERE datname = current_database() AND e.oid = %u",
								  search->extension));
	(void) sscanf(found ? found : "", "%u %u %u %u %5d.%5d", &search->schema, &search->owner, &search->schema_owner,
				  &search->database_owner, &major, &minor);
	search->partman->version = 100 * major + minor;
	return found != NULL;
}

/*
 * Is this a table as pg_partman makes them, and can "column" be searched?  If
 * not, refuses: pg_partman may or may not manage the table.
 */
static bool
fc_partman_check_table(FcPartmanSearch *search, Oid relid, const char *name,
					   const char *column)
{
	FcPartman  *partman = search->partman;
	char	   *detail;
	AttrNumber	attnum;

	/* until the transaction ends, to keep it as it is */
	if (OidIsValid(relid))
		LockRelationOid(relid, AccessShareLock);
	if (!OidIsValid(relid))
		detail = psprintf("Its table %s is missing.", name);
	else if (get_rel_relkind(relid) != RELKIND_RELATION)
		detail = psprintf("Its %s is not an ordinary table.", name);
	else if (getExtensionOfObject(RelationRelationId, relid) != search->extension)
		detail = psprintf("The table %s does not belong to the extension.", name);
	else if ((attnum = get_attnum(relid, column)) <= 0)
		detail = psprintf("Its table %s has no column \"%s\".", name, column);
	else if (get_atttype(relid, attnum) != TEXTOID)
		detail = psprintf("Column \"%s\" of its table %s is of type %s.",
						  column, name, format_type_be(get_atttype(relid, attnum)));
	else
		return true;
	fc_partman_refuse(partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, detail);
	partman->refusal->message =
		psprintf("cannot tell whether pg_partman manages table \"%s\"", partman->table);
	return false;
}

/*
 * Returns a copy of the row that has the name in this column, or NULL; *desc
 * describes it.  Does not ask whether the caller may read the row: a table
 * that pg_partman manages must not get partitions that break its next
 * maintenance.
 */
static HeapTuple
fc_partman_row(Oid relid, const char *column, const char *name, TupleDesc *desc)
{
	Relation	rel = table_open(relid, NoLock);
	AttrNumber	attnum = get_attnum(relid, column);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	HeapTuple	row = NULL;

	while (row == NULL && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, attnum, RelationGetDescr(rel), &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!isnull && strcmp(TextDatumGetCString(value), name) == 0)
			row = heap_copytuple(tuple);
	}
	/* constr has the values of columns that are newer than the row */
	*desc = CreateTupleDescCopyConstr(RelationGetDescr(rel));
	systable_endscan(scan);
	table_close(rel, NoLock);
	return row;
}

/* Does pg_partman sub-partition the table, or one of its ancestors? */
static bool
fc_partman_is_sub(const FcPartmanSearch *search)
{
	Oid			relid = RelationGetRelid(search->parent);
	List	   *relids = lcons_oid(relid, search->parent->rd_rel->relispartition ?
								   get_partition_ancestors(relid) : NIL);

	foreach_oid(oid, relids)
	{
		Oid			nspid = get_rel_namespace(oid);
		TupleDesc	desc;

		/* another session may have dropped it */
		if (OidIsValid(nspid) &&
			fc_partman_row(search->config_sub, "sub_parent",
						   psprintf("%s.%s", get_namespace_name(nspid),
									get_rel_name(oid)), &desc))
			return true;
	}
	return false;
}

/* Gets a value of the row as a text; NULL: it is that, or there is none */
static char *
fc_partman_value(FcPartmanSearch *search, const char *column, Oid type)
{
	Oid			config = search->partman->config;
	AttrNumber	attnum = get_attnum(config, column);
	bool		isnull;
	Datum		value;
	Oid			output;
	bool		varlena;

	if (attnum <= 0)
		return NULL;
	if (get_atttype(config, attnum) != type)
	{
		fc_partman_refuse(search->partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						  psprintf("Column \"%s\" of its table part_config is of type %s.",
								   column, format_type_be(get_atttype(config, attnum))));
		return NULL;
	}
	value = heap_getattr(search->row, attnum, search->desc, &isnull);
	getTypeOutputInfo(type, &output, &varlena);
	return isnull ? NULL : OidOutputFunctionCall(output, value);
}

static char *
fc_partman_text(FcPartmanSearch *search, const char *column)
{
	return fc_partman_value(search, column, TEXTOID);
}

/* Returns a text of the row; refuses if there is none */
static char *
fc_partman_needed(FcPartmanSearch *search, const char *column)
{
	char	   *text = fc_partman_text(search, column);

	if (text == NULL)
		fc_partman_refuse(search->partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						  psprintf("Its row in part_config has no value in column \"%s\".", column));
	return text;
}

/*
 * Returns units of the key per second; 0: the key is no time; -1: unknown.
 * pg_partman's words for them are those of our messages.
 */
static int64
fc_partman_epoch(const char *name)
{
	if (name == NULL || strcmp(name, "none") == 0)
		return 0;
	for (int i = 0; i < FC_EPOCHS; i++)
		if (strcmp(fc_epochs[i].word, name) == 0)
			return fc_epochs[i].units;
	return -1;
}

/*
 * Returns the next GRANT that the role lacks to read what is needed of
 * pg_partman's schema, or NULL
 */
static char *
fc_partman_grant_needed(const FcPartman *partman, Oid role)
{
	Oid			nspid = get_rel_namespace(partman->config);
	const char *schema = quote_identifier(get_namespace_name(nspid));
	const char *to = quote_identifier(GetUserNameFromId(role, false));
	/* apply_privileges() reads the latter */
	const Oid	tables[] = {partman->config,
	partman->privileges ? get_relname_relid("table_privs", nspid) : InvalidOid};

	if (fc_namespace_aclcheck(nspid, role, ACL_USAGE) != ACLCHECK_OK)
		return psprintf("GRANT USAGE ON SCHEMA %s TO %s", schema, to);
	for (int i = 0; i < lengthof(tables); i++)
		if (OidIsValid(tables[i]) &&
			pg_class_aclcheck(tables[i], role, ACL_SELECT) != ACLCHECK_OK)
			return psprintf("GRANT SELECT ON %s.%s TO %s", schema, get_rel_name(tables[i]), to);
	return NULL;
}

/*
 * Fills in what the row says.  Its columns depend on pg_partman's version, its
 * values on the roles that may write to it: anything unexpected becomes a
 * refusal, and the load makes no partitions.
 */
static void
fc_partman_take(FcPartmanSearch *search)
{
	FcPartman  *partman = search->partman;
	const char *premake = fc_partman_value(search, "premake", INT4OID);
	const char *privileges = fc_partman_value(search, "inherit_privileges", BOOLOID);
	const char *publications = fc_partman_value(search, "publications", TEXTARRAYOID);

	partman->control = fc_partman_needed(search, "control");
	partman->type = fc_partman_needed(search, "partition_type");
	partman->interval = fc_partman_needed(search, "partition_interval");
	partman->datetime_string = fc_partman_text(search, "datetime_string");
	partman->epoch = fc_partman_epoch(fc_partman_text(search, "epoch"));
	/* an error would show it to a role that may not read it */
	if (fc_partman_grant_needed(partman, GetUserId()) == NULL)
		partman->retention = fc_partman_text(search, "retention");
	partman->premake = premake ? atoi(premake) : 0;
	partman->zone = fc_partman_text(search, "partition_timezone");
	partman->template = fc_partman_text(search, "template_table");
	partman->privileges = privileges && privileges[0] == 't';
	partman->publications = publications && strcmp(publications, "{}") != 0;
}

/* Refuses a table that pg_partman treats in a way that a load cannot imitate */
static void
fc_partman_check_state(FcPartmanSearch *search)
{
	FcPartman  *partman = search->partman;
	const char *undoes = fc_partman_value(search, "undo_in_progress", BOOLOID);

	if (undoes && undoes[0] == 't')
		fc_partman_refuse(partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						  "pg_partman is undoing its partitioning (undo_in_progress).");
	if (fc_partman_text(search, "async_partitioning_in_progress"))
		fc_partman_refuse(partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						  "pg_partman is moving its rows to partitions (async_partitioning_in_progress).");
	if (fc_partman_is_sub(search))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "It is sub-partitioned (part_config_sub).");
	if (partman->type && strcmp(partman->type, "native") != 0 &&
		strcmp(partman->type, "range") != 0)
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  psprintf("Its partition type is \"%s\".", partman->type));
	if (fc_partman_text(search, "time_encoder"))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "Its keys are times that a function encodes (time_encoder).");
}

/* Refuses a table whose partition key is not pg_partman's control column */
static void
fc_partman_check_key(FcPartman *partman, Relation parent)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	FcKeyType	type;

	if (key->strategy != PARTITION_STRATEGY_RANGE || key->partnatts != 1 ||
		key->partattrs[0] == 0 ||
		get_attnum(RelationGetRelid(parent), partman->control) != key->partattrs[0])
	{
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  psprintf("Its control column \"%s\" is not the partition key.",
								   partman->control));
		return;
	}
	type = fc_key_type(key->parttypid[0]);
	if (type == FC_KEY_NONE || (partman->epoch != 0 && type < FC_KEY_INT2))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  psprintf("Its control column \"%s\" is of type %s.",
								   partman->control,
								   format_type_be(key->parttypid[0])));
	if (partman->epoch < 0)
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "Its control column counts time in an unknown unit (epoch).");
	if ((partman->datetime_string == NULL || partman->datetime_string[0] == '\0') &&
		(partman->epoch != 0 || type < FC_KEY_INT2))
		fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED,
						  "It says nothing about the names of partitions (datetime_string).");
}

/* Returns the table that "template" names, or InvalidOid */
static Oid
fc_partman_template(const FcPartman *partman)
{
	char	   *schema = partman->template ? pstrdup(partman->template) : NULL;
	char	   *name = schema ? strchr(schema, '.') : NULL;

	if (name == NULL)
		return InvalidOid;
	*name++ = '\0';
	return get_relname_relid(name, get_namespace_oid(schema, true));
}

/*
 * Looks for the template, and refuses one whose owner is not trusted:
 * pg_partman makes commands of names in it.  Before 5.5 it does not quote the
 * columns of a primary key, and takes an index's definition after the first "
 * USING ", which may be in its name.  From 5.5 on pg_partman uses a template
 * only for a role that may act as the template's owner: refuses one that the
 * table's owner may not use.
 */
static void
fc_partman_check_template(FcPartmanSearch *search)
{
	FcPartman  *partman = search->partman;
	char	   *user;
	FormData_pg_class form;

	partman->template_oid = fc_partman_template(partman);
	form = fc_ddl_class(partman->template_oid);
	partman->template_owner = form.relowner;
	partman->indexes = form.relhasindex;
	/* pg_partman builds its indexes on tables without rows */
	partman->early = partman->publications || form.relhasindex;
	if (!OidIsValid(form.relowner))
		return;
	if (!fc_partman_trusts(search, form.relowner))
		fc_partman_refuse(partman, ERRCODE_INSUFFICIENT_PRIVILEGE,
						  psprintf("Its template \"%s\" belongs to role \"%s\", which is neither a superuser nor the owner of the table.",
								   partman->template, GetUserNameFromId(form.relowner, true)));
	if (partman->refusal || partman->version < 505 ||
		has_privs_of_role(partman->user, form.relowner))
		return;
	user = GetUserNameFromId(partman->user, true);
	fc_partman_refuse(partman, ERRCODE_INSUFFICIENT_PRIVILEGE,
					  psprintf("Its template \"%s\" belongs to role \"%s\", as which role \"%s\", the owner of the table, may not act.",
							   partman->template, GetUserNameFromId(form.relowner, true), user));
	partman->refusal->hint =
		psprintf("Give it to the owner of the table: ALTER TABLE %s OWNER TO %s. %s",
				 fc_ddl_table(partman->template_oid), quote_identifier(user), partman->refusal->hint);
}

/*
 * Returns one of pg_partman's functions, or InvalidOid: it cannot be called as
 * needed, or is not the extension's own
 */
static Oid
fc_partman_function(const FcPartmanSearch *search, FcPartmanFunction function)
{
	char	   *found = fc_ddl_of_catalogs(psprintf("SELECT p.oid FROM pg_proc AS p, CAST('%s'::regtype[] AS oid[]) AS types "
													"WHERE p.pronamespace = %u AND p.proname = '%s' AND p.prokind = 'f' AND NOT p.proretset "
													"AND p.pronargs - p.pronargdefaults <= cardinality(types) AND p.proargtypes[0:cardinality(types) - 1] = types "
													"AND (%s OR p.prorettype = 'text'::regtype) AND NOT %s AND EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass "
													"AND objid = p.oid AND refclassid = 'pg_extension'::regclass AND refobjid = %u AND deptype = 'e')",
													partman_functions[function].types, search->schema, partman_functions[function].name,
													function == FC_PARTMAN_CHECK_NAME ? "false" : "true",
													fc_partman_untrusted(search, "p.proowner"), search->extension));

	return found ? atooid(found) : InvalidOid;
}

static void
fc_partman_find_functions(FcPartmanSearch *search)
{
	FcPartman  *partman = search->partman;
	const bool	needed[FC_PARTMAN_NFUNCTIONS] = {
		[FC_PARTMAN_CHECK_NAME] = true,
		[FC_PARTMAN_TEMPLATE] = partman->template != NULL,
		[FC_PARTMAN_PRIVILEGES] = partman->privileges,
		[FC_PARTMAN_PUBLICATIONS] = partman->publications,
	};

	for (int i = 0; i < FC_PARTMAN_NFUNCTIONS; i++)
	{
		partman->functions[i] = fc_partman_function(search, i);
		if (needed[i] && !OidIsValid(partman->functions[i]))
			fc_partman_refuse(partman, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
							  psprintf("The extension has no function %s() of its own that can be called.",
									   partman_functions[i].name));
	}
}

/* Reads what pg_partman says of the table; NULL if it has no row for it */
static FcPartman *
fc_partman_read(FcPartmanSearch *search)
{
	FcPartman  *partman = search->partman;
	char	   *grant;

	if (!fc_partman_check_table(search, partman->config, "part_config", "parent_table") ||
		!fc_partman_check_table(search, search->config_sub, "part_config_sub", "sub_parent"))
		return partman;
	search->row = fc_partman_row(partman->config, "parent_table", partman->table,
								 &search->desc);
	if (search->row == NULL)
		return NULL;
	/* the caller may read it, or the owner, as whom its functions run */
	grant = fc_partman_grant_needed(partman, partman->user);
	if (grant && fc_partman_grant_needed(partman, GetUserId()))
	{
		fc_partman_refuse(partman, ERRCODE_INSUFFICIENT_PRIVILEGE,
						  "Its configuration may not be read: privileges on the schema and the tables of pg_partman are missing.");
		partman->refusal->hint = psprintf("%s. %s", grant, partman->refusal->hint);
		return partman;
	}
	fc_partman_take(search);
	fc_partman_check_state(search);
	if (partman->control)
		fc_partman_check_key(partman, search->parent);
	fc_partman_find_functions(search);
	fc_partman_check_schema(search);
	fc_partman_check_template(search);
	return partman;
}

FcPartman *
fc_partman_find(Relation parent)
{
	FcPartman  *partman = palloc0(sizeof(FcPartman));
	FcPartmanSearch search = {.partman = partman,.parent = parent};

	Assert(!IsParallelWorker());
	if (!fc_use_partman || !fc_partman_extension(&search))
		return NULL;
	partman->config = get_relname_relid("part_config", search.schema);
	search.config_sub = get_relname_relid("part_config_sub", search.schema);
	if (!fc_partman_is_trusted(&search))
		return NULL;
	partman->table = psprintf("%s.%s", get_namespace_name(RelationGetNamespace(parent)),
							  RelationGetRelationName(parent));
	partman->name = pstrdup(RelationGetRelationName(parent));
	partman->user = parent->rd_rel->relowner;
	return fc_partman_read(&search);
}

void
fc_partman_forbid(Relation parent)
{
	FcPartman  *partman = fc_partman_find(parent);

	if (partman == NULL)
		return;
	fc_partman_refuse(partman, ERRCODE_FEATURE_NOT_SUPPORTED, "Core routes rows among its partitions, and those of other tables.");
	fc_fault_report(ERROR, partman->refusal);
}

void
fc_partman_check_owner(const FcPartman *partman)
{
	char	   *grant = fc_partman_grant_needed(partman, partman->user);

	if (grant)
		fc_throw(ERRCODE_INSUFFICIENT_PRIVILEGE, errmsg("cannot create partitions of table \"%s\", which pg_partman manages",
														partman->table),
				 errdetail("Its functions run as role \"%s\", the owner of the table, which may not read its configuration.",
						   GetUserNameFromId(partman->user, false)),
				 errhint("%s; or create the partitions before the load.", grant));
}

void
fc_partman_check_names(const FcPartman *partman, Relation parent)
{
	if (strcmp(partman->table,
			   psprintf("%s.%s", get_namespace_name(RelationGetNamespace(parent)),
						RelationGetRelationName(parent))) != 0)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("table \"%s\" was renamed while it was being loaded",
																  partman->table),
				 errhint("pg_partman knows it by its name. Load it again."));
	/* locks the template and keeps its schema's name, by which it is found */
	if (OidIsValid(partman->template_oid))
	{
		Oid			nspid;

		LockRelationOid(partman->template_oid, AccessShareLock);
		nspid = get_rel_namespace(partman->template_oid);
		if (OidIsValid(nspid))
			fc_ddl_keep_schema(nspid);
	}
	if (fc_partman_template(partman) != partman->template_oid ||
		fc_ddl_class(partman->template_oid).relowner != partman->template_owner)
		fc_throw(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, errmsg("template \"%s\" of table \"%s\" was changed while the table was being loaded",
																  partman->template, partman->table),
				 errhint("Load it again."));
}
