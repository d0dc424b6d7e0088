/*-------------------------------------------------------------------------
 *
 * context/course.c
 *	  The course of a load, from what is known about it.
 *
 *	 facts ──► why core loads, if it must ──► way ──► what follows from it
 *
 * Code that learns something sets a fact, and load/way.c asks again.  Facts of
 * the plan stay; those of leaves and passes are what the last look or pass has
 * found, so that a pass that was in vain takes back what it seemed to show.
 *
 *-------------------------------------------------------------------------
 */
#include <stddef.h>

#include "context/course.h"
#include "grammar/assert.h"

/*
 * Why core loads, or NULL.  Of several reasons the one that was found last is
 * told, because it is the nearest to the rows.
 */
static const char *
fc_course_core(const FcFacts *facts)
{
	if (facts->core_leaf)
		return facts->core_leaf;
	if (facts->refusal)
		return facts->refusal;
	if (facts->unsettled)
		return "the first row ends with a marker, and not with a line end";
	/* what core would look after for a row is done where they are kept */
	if (facts->core && !facts->kept)
		return facts->core;
	if (facts->foreign_keys && facts->made && facts->visible && !facts->placed)
		return "foreign keys of partitions attached before the load are checked row by row";
	return NULL;
}

/*
 * The way, and why.  Where there is a unique index, of two equal rows the
 * second is refused.
 */
static FcCourse
fc_course_way(const FcFacts *facts)
{
	const char *core = fc_course_core(facts);
	FcWay		first = facts->keyed ? FC_WAY_OFFSETS : FC_WAY_TURNS;

	if (core)
		return (FcCourse) {.way = FC_WAY_COPY, .reason = core};
	if (facts->unique && (facts->routed || !facts->keyed))
		return (FcCourse) {.way = FC_WAY_TURNS, .reason = "a unique index must see the rows in file order"};
	if (facts->dropped)
		return (FcCourse) {.way = FC_WAY_TURNS, .reason = "rows are evaluated in file order"};
	if (facts->presorted)
		return (FcCourse) {.way = FC_WAY_PRESORTED, .reason = "the file is in key order"};
	if (facts->spill)
		return (FcCourse) {.way = facts->rows ? FC_WAY_ROWS : FC_WAY_OFFSETS, .reason = facts->spill};
	/* all records go to other servers, as they are; an analysis reads them */
	if (facts->kept ||
		(facts->all_foreign && !facts->attached && !facts->replaces && !facts->conflicts &&
		 (facts->writes || !facts->partitioned)))
		return (FcCourse) {.way = FC_WAY_SEND, .reason = facts->kept ? facts->kept :
		facts->partitioned ? "all partitions are foreign tables" : "the target is a foreign table"};
	if (facts->attached)
		return (FcCourse) {.way = first, .reason = "a partition was attached"};
	if (facts->keyed)
		return (FcCourse) {.way = first, .reason = "there is a key"};
	if (facts->heads && facts->several && !facts->compares)
		return (FcCourse) {.way = FC_WAY_CHUNKS, .reason = "there is no key, and several files are unpacked at once"};
	return (FcCourse) {.way = first, .reason = "there is no key"};
}

/*
 * One process that takes all chunks in their order knows where each begins.
 * Several that scan may guess it, if what they do can be forgotten once a guess
 * was wrong.  In binary files, and where the client has given up, only a split
 * tells where the data end; and numbers of sequences must be counted before.
 */
static FcUnsplit
fc_course_unsplit(const FcFacts *facts, FcWay way)
{
	if (facts->heads || facts->binary || facts->cut || facts->kept || facts->numbered ||
		facts->sprouts)
		return FC_UNSPLIT_NOT;
	if (facts->nworkers == 0)
		return way == FC_WAY_OFFSETS || (way == FC_WAY_TURNS && facts->plain) ?
			FC_UNSPLIT_FIND : FC_UNSPLIT_NOT;
	return way == FC_WAY_OFFSETS && !facts->guessed_wrong && !facts->tolerates && !facts->effects &&
		!facts->early && !facts->skips_empty && !facts->filtered ? FC_UNSPLIT_GUESS : FC_UNSPLIT_NOT;
}

/*
 * May a presorted file be loaded without a scan?  It may turn out to be in
 * another order.  So all its partitions must be new, to be dropped then; and
 * rows that are loaded twice must be neither left out nor numbered, nor have
 * effects.
 */
static bool
fc_course_looks(const FcFacts *facts)
{
	return facts->look && facts->key_routes && facts->creates && !facts->placed &&
		!facts->effects && !facts->tolerates && !facts->numbered &&
		!facts->skips_empty && !facts->filtered && !facts->bounded && !facts->whole_keys &&
		!facts->visible;
}

/*
 * Does core load the file alone?  Not if rows are replaced, or if missing
 * partitions are to be made, or rows without one refused, which a scan finds;
 * with FREEZE they are not, because core refuses that for a partitioned table.
 */
static bool
fc_course_core_alone(const FcFacts *facts)
{
	return !facts->replaces && !facts->conflicts && !facts->sprouts &&
		(!facts->key_routes || facts->frozen || (!facts->creates && !facts->keeps_default));
}

/* Sets what follows from the way, and which steps are needed */
static void
fc_course_follow(const FcFacts *facts, FcCourse *course)
{
	course->core = course->way == FC_WAY_COPY;
	course->sends_all = course->way == FC_WAY_SEND;
	course->chunks = course->way <= FC_WAY_PRESORTED;
	course->spills = course->way == FC_WAY_ROWS && facts->writes;
	course->in_turn = course->way == FC_WAY_TURNS && !facts->sorts;
	course->attaches = course->core || (facts->visible && !facts->placed);

	course->finds = facts->sprouts && !course->sends_all;
	course->core_alone = course->core && fc_course_core_alone(facts);
	course->seeks = facts->keyed && !facts->grows && !course->sends_all;
	course->scans = facts->keyed && course->way != FC_WAY_PRESORTED;
	course->routes = facts->key_routes;
	course->fills = !course->core;
	/* what the scan has counted the load would count once more */
	course->drops_key = course->fills && facts->keyed && (facts->early || course->way == FC_WAY_TURNS);
}

FcCourse
fc_course(const FcFacts *facts)
{
	FcCourse	course = fc_course_way(facts);

	course.leader = facts->leader ? facts->leader : facts->leader_leaf;
	fc_course_follow(facts, &course);
	course.unsplit = fc_course_unsplit(facts, course.way);
	/* core needs the records only to count the lines of rejects */
	course.splits = course.unsplit == FC_UNSPLIT_NOT && !facts->heads &&
		(!course.core_alone || facts->rejects);
	course.looks = !course.core && fc_course_looks(facts);
	course.samples = course.scans && !course.core && !facts->placed && !(facts->early && facts->key_routes);
	course.alone = facts->sorts && (facts->routed || !facts->keyed);
	/* the turns of several files have no gap once all chunks are known */
	course.flows = !course.core && !facts->sends && !facts->sorts && !facts->numbered &&
		!(facts->several && course.way == FC_WAY_TURNS);
	/* the leader alone takes only what he reads once as it comes */
	course.waits = facts->grows && (course.core || course.sends_all || course.leader != NULL || course.finds ||
									(facts->nworkers == 0 && !(facts->received && course.in_turn)));
	course.once = facts->received && !facts->foreign && course.in_turn && !facts->rejects &&
		!facts->conflicts && !facts->numbered && !facts->effects && course.leader == NULL && !course.finds;
	/* who reads what, and in which order, excludes others */
	Assert(course.reason != NULL && course.core == (course.way == FC_WAY_COPY));
	Assert(course.core + course.chunks + (course.way >= FC_WAY_OFFSETS && course.way <= FC_WAY_ROWS) == 1 && course.chunks >= course.sends_all);
	Assert(!course.core_alone || course.core);
	Assert(!course.splits || course.unsplit == FC_UNSPLIT_NOT);
	Assert(!course.in_turn || course.way == FC_WAY_TURNS);
	Assert(!course.once || course.in_turn);
	Assert(!course.spills || course.way == FC_WAY_ROWS);
	return course;
}
