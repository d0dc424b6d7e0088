/*-------------------------------------------------------------------------
 *
 * load/access.c
 *	  What the caller may read, and load into.
 *
 * The rules are COPY's: INSERT on the columns, and DELETE if rows are replaced;
 * no row-level security, no read-only transaction; and for files
 * pg_read_server_files.  Without that
 * role a caller may load files below fast_copy.root_directory.  source/root.c
 * opens all files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rewrite/prs2lock.h"
#include "utils/rls.h"

#include "load/steps.h"
#include "sort/order_by.h"
#include "source/root.h"

/* A path as a pattern that only this very path matches */
static char *
fc_access_literally(const char *path)
{
	StringInfoData pattern;

	initStringInfo(&pattern);
	for (; *path != '\0'; path++)
		appendStringInfo(&pattern, strchr("*?[\\", *path) ? "[%c]" : "%c", *path);
	return pattern.data;
}

/*
 * The files that match, or the one of exactly this name if none does.  ERROR
 * 22023 if there are both: somebody who can make files there must not change
 * what the caller means.  With "always" only files that match are taken; if
 * there are none, a WARNING names the other one.
 */
static List *
fc_access_expand(const char *path, const char *root, bool always)
{
	List	   *found = fc_glob_expand(path, root);
	struct stat st;

	if (list_length(found) == 1 && strcmp(linitial(found), path) == 0)
		return found;
	if (fc_root_stat(root, path, false, &st) != 0)
	{
		fc_root_check_refused();
		return found;
	}
	if (found == NIL && !always)
		return list_make1(unconstify(char *, path));
	if (found == NIL || !always)
		ereport(always ? WARNING : ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				found == NIL ? errmsg("no file matches \"%s\", but one has this name", path) :
				errmsg("\"%s\" may mean the files that match, or the one of this name", path),
				errhint("Write [*], [?] and [[] for the characters themselves: \"%s\" is the one file. For all that match, rename it.",
						fc_access_literally(path)));
	return found;
}

/* The paths that the caller named, in the order of the load */
static List *
fc_access_paths(FcAccessed *accessed, const char *root, bool none_is_enough)
{
	List	   *paths = NIL;

	foreach_node(String, named, accessed->target->sources)
	{
		char	   *path = strVal(named);
		List	   *found;

		accessed->path = path;
		found = fc_glob_is_pattern(path) && !accessed->target->literal ?
			fc_access_expand(path, root, none_is_enough) : list_make1(path);
		if (found == NIL && !none_is_enough)
			fc_throw(ERRCODE_UNDEFINED_FILE, errmsg("no file matches \"%s\"", path),
					 errhint("The pattern is looked up on the machine of the server, as its user; a backslash takes the meaning from *, ? and [."));
		paths = list_concat(paths, found);
	}
	return paths;
}

static int
fc_access_file_cmp(const void *a, const void *b, void *arg)
{
	const FcFile *files = arg;
	uint32		na = *(const uint32 *) a;
	uint32		nb = *(const uint32 *) b;
	const FcFile *ia = &files[na];
	const FcFile *ib = &files[nb];

	if (ia->dev != ib->dev)
		return ia->dev < ib->dev ? -1 : 1;
	if (ia->ino != ib->ino)
		return ia->ino < ib->ino ? -1 : 1;
	return na < nb ? -1 : na > nb;
}

/* Compares files by device and inode, because one may have several names */
static void
fc_access_refuse_twice(const FcSource *source)
{
	Size		size = sizeof(uint32) * source->nfiles;
	uint32	   *order = MemoryContextAllocHuge(CurrentMemoryContext, size);
	const FcFile *files = source->files;

	for (uint32 i = 0; i < source->nfiles; i++)
		order[i] = i;
	qsort_arg(order, source->nfiles, sizeof(uint32), fc_access_file_cmp,
			  source->files);
	for (uint32 i = 1; i < source->nfiles; i++)
		if (files[order[i - 1]].ino == files[order[i]].ino &&
			files[order[i - 1]].dev == files[order[i]].dev)
			fc_throw(ERRCODE_INVALID_PARAMETER_VALUE, errmsg("file \"%s\" is named more than once",
															 fc_source_path(source, order[i])),
					 errdetail("\"%s\" is the same file.",
							   fc_source_path(source, order[i - 1])),
					 errhint("Name each file once in \"source\"; several patterns must not match the same file."));
	pfree(order);
}

List *
fc_access_list(const FcTarget *target)
{
	FcAccessed	accessed = {target};
	ErrorContextCallback callback;
	List	   *paths;

	fc_error_context_push(&callback, fc_access_hint_path, &accessed);
	paths = fc_access_paths(&accessed, fc_root_of_caller(), true);
	fc_error_context_pop();
	return paths;
}

FcSource *
fc_access_open(const FcTarget *target, uint64 most)
{
	FcAccessed	accessed = {target};
	ErrorContextCallback callback;
	FcSource   *source;

	fc_error_context_push(&callback, fc_access_hint_path, &accessed);
	source = fc_source_begin();
	foreach_ptr(char, path, fc_access_paths(&accessed, source->root, false))
	{
		CHECK_FOR_INTERRUPTS();
		accessed.path = fc_root_text(path);
		fc_source_add(source, path, -1, most);
		source->files[source->nfiles - 1].kind = fc_unpack_detect(source, source->nfiles - 1,
																   target->options->utf16);
	}
	fc_access_refuse_twice(source);
	fc_error_context_pop();
	return source;
}

const FcSource *
fc_access_named(const FcJob *job)
{
	if (job->intake.packed)
		return job->intake.packed;
	return fc_target_unconverted(&job->target);
}

/*
 * Checks the privileges of a load.  An analysis inserts nothing and does not
 * ask the hooks of other extensions; they see its command.
 */
static void
fc_access_check_permissions(FcTarget *target)
{
	const FcPlan *plan = target->plan;
	FcPlanned  *planned = target->planned;
	ExecutorCheckPerms_hook_type hook = ExecutorCheckPerms_hook;
	ErrorContextCallback callback;

	fc_error_context_push(&callback, fc_access_hint_grant, target);
	PG_TRY();
	{
		if (!fc_caller_writes(plan->caller))
			ExecutorCheckPerms_hook = NULL;
		if (fc_plan_replaces(plan))
			fc_executor_require_delete(planned->pstate, plan->partitioned || !plan->bounds.hi_max ?
									   plan->key.attnum : InvalidAttrNumber);
		else if (plan->dedup.marks)
			fc_executor_require_delete(planned->pstate, InvalidAttrNumber);
		if (target->options->conflict != FC_CONFLICT_ERROR)
			fc_executor_require_conflict(planned->pstate, fc_sort_keys_columns(list_concat_copy(planned->keys, planned->newest)),
										 target->options->conflict == FC_CONFLICT_UPDATE ?
										 planned->columns.attnums : NIL);
		fc_check_permissions(planned->pstate);
	}
	PG_FINALLY();
	{
		ExecutorCheckPerms_hook = hook;
	}
	PG_END_TRY();
	fc_error_context_pop();
}

void
fc_access_lock_target(const FcOptions *options)
{
	if (options->existing != FC_EXISTING_KEEP &&
		(options->move != FC_MOVE_NOTHING || get_rel_relkind(options->target) == RELKIND_RELATION) &&
		pg_class_aclcheck(options->target, GetUserId(), ACL_DELETE) == ACLCHECK_OK)
		fc_lock_patiently(options->target, ShareUpdateExclusiveLock);
}

/* Has the table a rule for DELETE, or, if not "deletes", for other commands? */
static bool
fc_access_has_rules(Relation rel, bool deletes)
{
	for (int i = 0; rel->rd_rules && i < rel->rd_rules->numLocks; i++)
		if ((rel->rd_rules->rules[i]->event == CMD_DELETE) == deletes)
			return true;
	return false;
}

/* ERROR 0A000 if rows of the target can never be replaced, or be in conflict */
static void
fc_access_check_replaced(FcTarget *target)
{
	const char *why = NULL;
	bool		replaces = fc_plan_replaces(target->plan);

	if (target->rel->rd_rel->relkind != RELKIND_RELATION && !target->plan->partitioned)
		why = "It is no table of this server.";
	else if (target->kept)
		why = "Another extension keeps its rows.";
	else if (!replaces && fc_access_has_rules(target->rel, false))
		why = "It has rules for INSERT or UPDATE.";
	else if ((replaces || target->plan->dedup.marks) && fc_access_has_rules(target->rel, true))
		why = "It has rules for DELETE.";
	else if (target->options->nodes != NIL)
		why = "Its partitions are created on other servers.";
	if (why)
		fc_unsupported(replaces ? errmsg("cannot replace rows of table \"%s\"", target->relname) :
					   errmsg("cannot load rows into table \"%s\" with on_conflict", target->relname),
					   errdetail("%s", why));
}

void
fc_access_refuse_rls(Oid table)
{
	if (check_enable_rls(table, InvalidOid, false) == RLS_ENABLED)
		fc_unsupported(errmsg("COPY FROM not supported with row-level security"),
					   errhint("Use INSERT statements instead."));
}

void
fc_access_check_target(FcJob *job)
{
	FcTarget   *target = &job->target;

	/* where core opens the target, accelerate.c has checked it */
	if (fc_caller_opened_by_core(target->options->caller))
		return;
	fc_access_check_permissions(target);
	if (fc_plan_moves(target->plan) && check_enable_rls(target->oid, InvalidOid, false) == RLS_ENABLED)
		fc_plan_refuse_move(target->rel, "Row-level security hides rows of it from the caller.", NULL);
	fc_access_refuse_rls(target->oid);
	if (XactReadOnly && !target->rel->rd_islocaltemp && fc_caller_writes(target->options->caller))
		PreventCommandIfReadOnly(fc_caller_wrote_copy(target->options->caller) ? "COPY FROM" :
								 fc_plan_moves(target->plan) ? strVal(linitial(target->options->sources)) : "fast_copy()");
	target->kept = fc_keeper_check(target->oid);
	if (target->kept && !fc_caller_writes(target->options->caller))
		fc_keeper_refuse(target->oid, "Rows are checked where they are loaded.");
	if (fc_plan_replaces(target->plan) || target->options->conflict != FC_CONFLICT_ERROR)
		fc_access_check_replaced(target);
}
