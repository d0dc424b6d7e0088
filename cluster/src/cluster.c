/*-------------------------------------------------------------------------
 *
 * cluster.c
 *	  The entries of fast_copy_cluster: the table of functions for fast_copy,
 *	  and its own functions in SQL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat/compat.h"
#include "send/send.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fast_copy_resolve);
PG_FUNCTION_INFO_V1(fast_copy_in_doubt_now);

PGDLLEXPORT void _PG_init(void);
extern PGDLLEXPORT const FcElsewhere *fc_cluster_functions(const Size *version, int n,
															const FcServices *given);

/*
 * The functions of fast_copy, under their names.  fast_copy hands them over
 * when it first asks for ours.  fast_copy_resolve() and its view, which a
 * session may call without fast_copy, need none of them.
 */
static const FcServices *services = NULL;

#define FC_SERVICE_BODY(result, function, parameters, arguments) \
	result function parameters { return services->function arguments; }

FC_SERVICES(FC_SERVICE_BODY)

void
_PG_init(void)
{
	fc_transaction_watch();
}

static void
fc_cluster_check_options(const FcOptions *options)
{
	(void) fc_commit_of(options);
}

static List *
fc_cluster_places(const FcTarget *target, bool partman)
{
	List	   *servers = NIL;

	/* what is made there would stay when the session ends */
	if (target->rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("option \"%s\" cannot be used for temporary table \"%s\"",
						"nodes", target->relname)));
	if (partman)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" cannot be used for table \"%s\", which pg_partman manages",
						"nodes", target->relname),
				 errhint("Leave it out, or switch fast_copy.use_partman off.")));
	foreach_node(String, string, target->options->nodes)
		servers = list_append_unique_oid(servers, fc_resolve_server_named(strVal(string)));
	return servers;
}

static FcShards *
fc_cluster_keep(Oid table, const char **why)
{
	*why = NULL;
	return fc_citus_is_here() ? fc_shards_read(table, why) : NULL;
}

/* What core loads into foreign tables, postgres_fdw commits in one phase */
static void
fc_cluster_check_core(const FcTarget *target)
{
	if (fc_commit_of(target->options) != FC_COMMIT_TWO_PHASE)
		return;
	foreach_oid(oid, find_all_inheritors(target->oid, NoLock, NULL))
		if (get_rel_relkind(oid) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("rows of foreign table \"%s\" cannot be committed in two phases",
							get_rel_name(oid)),
					 errdetail("Rows would be loaded one by one, as COPY does: %s.",
							   target->course.reason),
					 errhint("Change that, or use remote_commit => 'one_phase': a failure during commit can leave some servers loaded then.")));
}

static bool
fc_cluster_may_place(const FcRemoteTable *remote, Oid role)
{
	return fc_server_aclcheck(remote->server, role, ACL_USAGE) == ACLCHECK_OK;
}

static FcDispatch *
fc_cluster_dispatch_begin(FcContext *ctx, FcParser *parser)
{
	return fc_dispatch_begin(ctx, parser, NULL, 0);
}

static bool
fc_cluster_dispatch_takes(FcDispatch *dispatch, const FcRecord *record)
{
	const FcDispatchLeaf *leaf;

	return fc_dispatch_find(dispatch, record, &leaf) == NULL && leaf && leaf->foreign;
}

/* The options of COPY, by which the other servers read what they get */
static char *
fc_cluster_with(const FcTarget *target)
{
	const FcDialect *dialect = &target->dialect;
	StringInfo	with = makeStringInfo();

	appendStringInfo(with, "FORMAT %s, DELIMITER %s, NULL %s, ENCODING %s",
					 dialect->mode == FC_MODE_CSV ? "csv" : "text",
					 quote_literal_cstr(psprintf("%c", dialect->delim)),
					 quote_literal_cstr(target->options->format.null_print),
					 quote_literal_cstr(GetDatabaseEncodingName()));
	if (dialect->mode == FC_MODE_CSV)
		appendStringInfo(with, ", QUOTE %s, ESCAPE %s",
						 quote_literal_cstr(psprintf("%c", dialect->quote)),
						 quote_literal_cstr(psprintf("%c", dialect->escape)));
	return with->data;
}

static FcSender *
fc_cluster_begin(FcTarget *target, const FcElsewhereLoad *load)
{
	/* rows without a partition there are treated as those without one here */
	char	   *fast = psprintf("fast_copy, missing_partitions %s",
								quote_literal_cstr(target->options->missing_partitions_word));
	FcSendPlan	plan = {
		.load = *load,
		.userid = GetUserId(),
		.attnums = target->planned->columns.attnums,
		.shards = target->kept,
		.options = {fc_cluster_with(target), fast}
	};

	fc_remote_commit_by(fc_commit_of(target->options));
	return fc_send_begin(&target->ctx, &plan);
}

static const FcElsewhere functions = {
	.check_options = fc_cluster_check_options,
	.places = fc_cluster_places,
	.keep = fc_cluster_keep,
	.keep_still = fc_shards_lock,
	.kept_refusal = fc_raw_shards_refusal,
	.kept_choice = "Citus keeps the rows in shards",
	.leaf_refusal = fc_raw_refusal,
	.check_core = fc_cluster_check_core,
	.place = fc_place_choose,
	.may_place = fc_cluster_may_place,
	.place_sql = fc_place_sql,
	.dispatch_begin = fc_cluster_dispatch_begin,
	.dispatch_takes = fc_cluster_dispatch_takes,
	.dispatch_end = fc_dispatch_end,
	.begin = fc_cluster_begin,
	.open = fc_send_open,
	.step = fc_send_step,
	.finish = fc_send_finish,
	.rows = fc_send_rows,
	.nleaves = fc_send_count,
	.sent = fc_send_sent,
	.end = fc_send_end,
	.complete = fc_remote_build_indexes,
	.has_made = fc_remote_has_made,
};

const FcElsewhere *
fc_cluster_functions(const Size *version, int n, const FcServices *given)
{
	static const Size own[] = FC_ELSEWHERE_VERSION;

	if (n != lengthof(own) || memcmp(version, own, sizeof(own)) != 0)
		return NULL;
	services = given;
	return &functions;
}

/* Returns the rows of fast_copy_resolve() and its view */
static Datum
fc_cluster_show_left(FunctionCallInfo fcinfo, Oid server, bool act)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(FcLeft, left, fc_resolve_servers(server, act))
	{
		Datum		values[5] = {0};
		bool		nulls[5] = {0};

		values[0] = DirectFunctionCall1(namein, CStringGetDatum(left->server));
		nulls[1] = nulls[2] = left->gid == NULL;
		if (left->gid)
			values[1] = CStringGetTextDatum(left->gid);
		values[2] = TimestampTzGetDatum(left->prepared);
		values[3] = CStringGetTextDatum(left->outcome);
		nulls[4] = left->detail == NULL;
		if (left->detail)
			values[4] = CStringGetTextDatum(left->detail);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Ends what loads that have crashed left prepared on servers */
Datum
fast_copy_resolve(PG_FUNCTION_ARGS)
{
	Oid			server = InvalidOid;

	PreventCommandIfParallelMode("fast_copy_resolve()");
	PreventCommandIfReadOnly("fast_copy_resolve()");
	if (!PG_ARGISNULL(0))
		server = fc_resolve_server_named(NameStr(*PG_GETARG_NAME(0)));
	return fc_cluster_show_left(fcinfo, server, true);
}

Datum
fast_copy_in_doubt_now(PG_FUNCTION_ARGS)
{
	return fc_cluster_show_left(fcinfo, InvalidOid, false);
}
