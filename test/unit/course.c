/*-------------------------------------------------------------------------
 *
 * course.c
 *	  Tests of what a load does, from what is known about it (context/course.c).
 *
 * Each case is a load at a moment: its facts, and what its course says.  And
 * whatever is known, no load counts a record twice, or takes two ways at once.
 *
 *-------------------------------------------------------------------------
 */
#include "context/course.h"
#include "tap.h"

/* Kinds of tables: the key tells the partition, or core finds it, or neither */
#define ALL		.writes = true, .creates = true
#define RANGE	ALL, .partitioned = true, .keyed = true, .key_routes = true
#define LIST	ALL, .partitioned = true, .keyed = true, .routed = true
#define HEAP	ALL, .plain = true

typedef struct Case
{
	const char *load;
	FcFacts		facts;
	const char *course;			/* as told() tells it */
} Case;

static const Case cases[] = {
	{"a plain table", {HEAP},
	"turns, finds, in turn, flows: there is no key"},
	{"... by workers", {HEAP, .nworkers = 2},
	"turns, splits, in turn, flows: there is no key"},
	{"... with a key", {HEAP, .keyed = true},
	"offsets, finds, seeks, scans, samples, flows: there is a key"},
	{"... in key order", {HEAP, .keyed = true, .nworkers = 2},
	"offsets, guesses, seeks, scans, samples, flows: there is a key"},
	{"... sorted by columns", {HEAP, .sorts = true},
	"turns, finds, one sorts: there is no key"},
	{"packed files at once", {HEAP, .several = true, .heads = true, .grows = true, .nworkers = 4},
	"chunks, flows: there is no key, and several files are unpacked at once"},
	{"... once they are whole", {HEAP, .several = true, .heads = true, .nworkers = 4},
	"chunks, flows: there is no key, and several files are unpacked at once"},
	{"... whose rows are compared", {HEAP, .several = true, .heads = true, .compares = true, .nworkers = 4},
	"turns, in turn: there is no key"},
	{"one packed file", {HEAP, .heads = true, .grows = true, .nworkers = 4},
	"turns, in turn, flows: there is no key"},
	{"... that the leader loads", {HEAP, .heads = true, .grows = true},
	"turns, in turn, flows, waits: there is no key"},
	{"... that core loads", {HEAP, .heads = true, .grows = true, .nworkers = 4, .core = "the target has triggers"},
	"copy, alone, waits, attaches: the target has triggers"},
	{"partitioned by range", {RANGE, .nworkers = 2},
	"offsets, guesses, seeks, scans, samples, routes, flows: there is a key"},
	{"... by the leader", {RANGE},
	"offsets, finds, seeks, scans, samples, routes, flows: there is a key"},
	{"... that may be presorted", {RANGE, .look = true, .nworkers = 2},
	"offsets, guesses, seeks, looks, scans, samples, routes, flows: there is a key"},
	{"partitioned by list", {ALL, .partitioned = true, .routed = true, .nworkers = 2},
	"turns, splits, in turn, flows: there is no key"},
	{"... with a key", {LIST, .nworkers = 2},
	"offsets, guesses, seeks, scans, samples, flows: there is a key"},
	{"... sorted by columns", {LIST, .sorts = true},
	"offsets, finds, seeks, scans, samples, one sorts: there is a key"},
	{"... that may lack partitions", {ALL, .partitioned = true, .routed = true, .sprouts = true, .nworkers = 2},
	"turns, splits, in turn, flows, grows: there is no key"},
	{"... with a key", {LIST, .sprouts = true, .nworkers = 2},
	"offsets, splits, seeks, scans, samples, flows, grows: there is a key"},
	{"... of rows that come in", {ALL, .partitioned = true, .routed = true, .sprouts = true, .nworkers = 2, .received = true, .grows = true, .heads = true},
	"turns, in turn, flows, waits, grows: there is no key"},
	{"... that core loads", {ALL, .partitioned = true, .routed = true, .sprouts = true, .core = "the target has triggers"},
	"copy, splits, attaches, grows: the target has triggers"},
	{"... all of which are elsewhere", {ALL, .partitioned = true, .routed = true, .sprouts = true, .foreign = true, .all_foreign = true},
	"send, splits, flows: all partitions are foreign tables"},
	{"a trigger", {HEAP, .core = "the target has triggers"},
	"copy, alone, attaches: the target has triggers"},
	{"... whose rows are replaced", {HEAP, .replaces = true, .core = "the target has triggers"},
	"copy, splits, attaches: the target has triggers"},
	{"... with on_conflict", {HEAP, .conflicts = true, .core = "the target has triggers"},
	"copy, splits, attaches: the target has triggers"},
	{"... with rejects", {HEAP, .rejects = true, .core = "the target has triggers"},
	"copy, alone, splits, attaches: the target has triggers"},
	{"... of a partitioned table", {RANGE, .core = "the target has triggers"},
	"copy, splits, seeks, scans, routes, attaches: the target has triggers"},
	{"... with FREEZE", {RANGE, .frozen = true, .core = "the target has triggers"},
	"copy, alone, seeks, scans, routes, attaches: the target has triggers"},
	{"... whose partitions are there", {.writes = true, .partitioned = true, .keyed = true, .key_routes = true, .core = "the target has triggers"},
	"copy, alone, seeks, scans, routes, attaches: the target has triggers"},
	{"... but for a default partition", {.writes = true, .partitioned = true, .keyed = true, .key_routes = true, .keeps_default = true, .core = "the target has triggers"},
	"copy, splits, seeks, scans, routes, attaches: the target has triggers"},
	{"a temporary table", {HEAP, .leader = "the table is temporary"},
	"turns, finds, in turn, flows: there is no key; the table is temporary"},
	{"a row before a marker", {HEAP, .unsettled = true},
	"copy, alone, attaches: the first row ends with a marker, and not with a line end"},
	{"... and a trigger", {HEAP, .unsettled = true, .core = "the target has triggers"},
	"copy, alone, attaches: the first row ends with a marker, and not with a line end"},
	{"a binary file", {RANGE, .binary = true, .nworkers = 2},
	"offsets, splits, seeks, scans, samples, routes, flows: there is a key"},
	{"a client that gave up", {RANGE, .cut = true},
	"offsets, splits, seeks, scans, samples, routes, flows: there is a key"},
	{"numbers of a sequence", {RANGE, .numbered = true},
	"offsets, splits, seeks, scans, samples, routes: there is a key"},
	{"... of packed files", {RANGE, .numbered = true, .grows = true, .heads = true, .nworkers = 2},
	"offsets, scans, samples, routes: there is a key"},
	{"by workers, tolerates", {RANGE, .look = true, .nworkers = 2, .tolerates = true},
	"offsets, splits, seeks, scans, samples, routes, flows: there is a key"},
	{"by workers, effects", {RANGE, .look = true, .nworkers = 2, .effects = true},
	"offsets, splits, seeks, scans, samples, routes, flows: there is a key"},
	{"by workers, early", {RANGE, .look = true, .nworkers = 2, .early = true},
	"offsets, splits, seeks, looks, scans, routes, drops, flows: there is a key"},
	{"by workers, skips_empty", {RANGE, .look = true, .nworkers = 2, .skips_empty = true},
	"offsets, splits, seeks, scans, samples, routes, flows: there is a key"},
	{"by workers, filtered", {RANGE, .look = true, .nworkers = 2, .filtered = true},
	"offsets, splits, seeks, scans, samples, routes, flows: there is a key"},
	{"by workers, bounded", {RANGE, .look = true, .nworkers = 2, .bounded = true},
	"offsets, guesses, seeks, scans, samples, routes, flows: there is a key"},
	{"by workers, whole_keys", {RANGE, .look = true, .nworkers = 2, .whole_keys = true},
	"offsets, guesses, seeks, scans, samples, routes, flows: there is a key"},
	{"by workers, placed", {RANGE, .look = true, .nworkers = 2, .placed = true},
	"offsets, guesses, seeks, scans, routes, flows: there is a key"},
	{"by workers, visible", {RANGE, .look = true, .nworkers = 2, .visible = true},
	"offsets, guesses, seeks, scans, samples, routes, flows, attaches: there is a key"},
	{"received rows", {HEAP, .received = true, .grows = true, .heads = true},
	"turns, in turn, flows, once: there is no key"},
	{"... with rejects", {HEAP, .received = true, .grows = true, .heads = true, .rejects = true, .tolerates = true},
	"turns, in turn, flows: there is no key"},
	{"... read by the leader", {HEAP, .received = true, .grows = true, .heads = true, .leader = "the table is temporary"},
	"turns, in turn, flows, waits: there is no key; the table is temporary"},
	{"... in key order", {HEAP, .keyed = true, .received = true, .grows = true, .heads = true},
	"offsets, scans, samples, flows, waits: there is a key"},
	{"... with effects", {HEAP, .received = true, .grows = true, .heads = true, .effects = true},
	"turns, in turn, flows: there is no key"},
	{"... for other servers", {ALL, .received = true, .grows = true, .heads = true, .partitioned = true, .routed = true, .foreign = true},
	"turns, in turn, flows: there is no key"},
	{"kept elsewhere", {HEAP, .kept = "sent to shards"},
	"send, splits, flows: sent to shards"},
	{"... with triggers there", {HEAP, .kept = "sent to shards", .core = "the target has triggers"},
	"send, splits, flows: sent to shards"},
	{"... but unsettled", {HEAP, .kept = "sent to shards", .unsettled = true},
	"copy, alone, attaches: the first row ends with a marker, and not with a line end"},
	{"a foreign table", {ALL, .foreign = true, .all_foreign = true},
	"send, splits, flows: the target is a foreign table"},
	{"... that refuses", {ALL, .foreign = true, .refusal = "the target is a foreign table: it has triggers"},
	"copy, alone, attaches: the target is a foreign table: it has triggers"},
	{"all leaves are foreign", {RANGE, .foreign = true, .all_foreign = true},
	"send, splits, scans, samples, routes, flows: all partitions are foreign tables"},
	{"... in an analysis", {.partitioned = true, .keyed = true, .key_routes = true, .creates = true, .foreign = true, .all_foreign = true},
	"offsets, finds, seeks, scans, samples, routes, flows: there is a key"},
	{"... and replaced", {RANGE, .replaces = true, .foreign = true, .all_foreign = true},
	"offsets, finds, seeks, scans, samples, routes, flows: there is a key"},
	{"... with on_conflict", {RANGE, .conflicts = true, .foreign = true, .all_foreign = true},
	"offsets, finds, seeks, scans, samples, routes, flows: there is a key"},
	{"... but for one attached meanwhile", {RANGE, .foreign = true, .all_foreign = true, .attached = true},
	"offsets, finds, seeks, scans, samples, routes, flows: a partition was attached"},
	{"... of a list", {ALL, .partitioned = true, .routed = true, .foreign = true, .all_foreign = true, .attached = true},
	"turns, splits, in turn, flows: a partition was attached"},
	{"... not sent after all, and scanned", {RANGE, .foreign = true, .all_foreign = true, .spill = "the file is small"},
	"offsets, finds, seeks, scans, samples, routes, flows: the file is small"},
	{"some leaves are foreign", {RANGE, .foreign = true, .sends = true, .spill = "the file is small"},
	"offsets, finds, seeks, scans, samples, routes: the file is small"},
	{"in key order", {RANGE, .nworkers = 2, .look = true, .presorted = true},
	"presorted, splits, seeks, looks, routes, flows: the file is in key order"},
	{"... which it is not", {RANGE, .nworkers = 2, .look = true, .spill = "keys are random", .rows = true},
	"rows, splits, seeks, looks, scans, samples, spills, routes, flows: keys are random"},
	{"rows are spilled", {RANGE, .spill = "keys are random", .rows = true},
	"rows, splits, seeks, scans, samples, spills, routes, flows: keys are random"},
	{"... but not for an analysis", {.partitioned = true, .keyed = true, .key_routes = true, .creates = true, .spill = "keys are random", .rows = true},
	"rows, splits, seeks, scans, samples, routes, flows: keys are random"},
	{"offsets are", {RANGE, .spill = "rows are long"},
	"offsets, finds, seeks, scans, samples, routes, flows: rows are long"},
	{"a wrong guess", {RANGE, .nworkers = 2, .guessed_wrong = true, .spill = "keys are random", .rows = true},
	"rows, splits, seeks, scans, samples, spills, routes, flows: keys are random"},
	{"... of offsets", {RANGE, .nworkers = 2, .guessed_wrong = true, .spill = "rows are long"},
	"offsets, splits, seeks, scans, samples, routes, flows: rows are long"},
	{"looks again after a wrong guess", {RANGE, .nworkers = 2, .look = true, .guessed_wrong = true, .spill = "rows are long", .presorted = true},
	"presorted, splits, seeks, looks, routes, flows: the file is in key order"},
	{"a unique index", {HEAP, .unique = true, .nworkers = 2},
	"turns, splits, in turn, flows: a unique index must see the rows in file order"},
	{"... of packed files", {HEAP, .several = true, .heads = true, .unique = true, .nworkers = 4},
	"turns, in turn: a unique index must see the rows in file order"},
	{"... of a leaf that the key tells", {RANGE, .unique = true, .spill = "keys are random", .rows = true},
	"rows, splits, seeks, scans, samples, spills, routes, flows: keys are random"},
	{"... after a scan, where core routes", {LIST, .unique = true, .spill = "keys are random", .rows = true},
	"turns, splits, seeks, scans, samples, drops, in turn, flows: a unique index must see the rows in file order"},
	{"... and the key is dropped", {ALL, .partitioned = true, .routed = true, .dropped = true, .unique = true, .spill = "keys are random", .rows = true},
	"turns, splits, in turn, flows: a unique index must see the rows in file order"},
	{"a scan for missing partitions", {RANGE, .early = true, .visible = true, .spill = "partitions are found by key"},
	"offsets, finds, seeks, scans, routes, drops, flows, attaches: partitions are found by key"},
	{"... and the key is dropped", {ALL, .early = true, .visible = true, .partitioned = true, .routed = true, .dropped = true, .spill = "partitions are found by key"},
	"turns, splits, in turn, flows, attaches: rows are evaluated in file order"},
	{"... and a leaf has triggers", {ALL, .early = true, .visible = true, .partitioned = true, .routed = true, .dropped = true, .core_leaf = "a partition has triggers", .spill = "partitions are found by key"},
	"copy, alone, attaches: a partition has triggers"},
	{"a leaf with triggers", {RANGE, .core_leaf = "a partition has triggers", .spill = "keys are random", .rows = true},
	"copy, splits, seeks, scans, routes, attaches: a partition has triggers"},
	{"... and foreign keys", {RANGE, .core_leaf = "a partition has triggers", .foreign_keys = true},
	"copy, splits, seeks, scans, routes, attaches: a partition has triggers"},
	{"foreign keys of new leaves", {RANGE, .foreign_keys = true, .made = true},
	"offsets, finds, seeks, scans, samples, routes, flows: there is a key"},
	{"... attached before", {RANGE, .foreign_keys = true, .made = true, .visible = true},
	"copy, splits, seeks, scans, routes, attaches: foreign keys of partitions attached before the load are checked row by row"},
	{"... on other servers", {RANGE, .foreign_keys = true, .made = true, .visible = true, .placed = true},
	"offsets, finds, seeks, scans, routes, flows: there is a key"},
	{"... and none is made", {RANGE, .foreign_keys = true, .visible = true},
	"offsets, finds, seeks, scans, samples, routes, flows, attaches: there is a key"},
	{"a leaf with an index of the leader's", {RANGE, .leader_leaf = "an index expression is not parallel safe"},
	"offsets, finds, seeks, scans, samples, routes, flows: there is a key; an index expression is not parallel safe"},
};

/* The course in words: way, steps, what else there is, and the reasons */
static const char *
told(const FcCourse *course)
{
	static const char *const ways[] = {"chunks", "turns", "send", "presorted", "offsets", "rows", "copy"};
	static const char *const finders[] = {"", ", finds", ", guesses"};
	static char text[512];
	const struct
	{
		bool		is;
		const char *word;
	}			words[] = {
		{course->core_alone, ", alone"}, {course->splits, ", splits"}, {course->seeks, ", seeks"}, {course->looks, ", looks"},
		{course->scans, ", scans"}, {course->samples, ", samples"}, {course->spills, ", spills"}, {course->routes, ", routes"},
		{course->drops_key, ", drops"}, {course->in_turn, ", in turn"}, {course->alone, ", one sorts"}, {course->flows, ", flows"}, {course->waits, ", waits"},
		{course->once, ", once"}, {course->attaches, ", attaches"}, {course->finds, ", grows"},
	};
	size_t		len = sprintf(text, "%s%s", ways[course->way], finders[course->unsplit]);

	for (size_t i = 0; i < lengthof(words); i++)
		if (words[i].is)
			len += sprintf(text + len, "%s", words[i].word);
	len += sprintf(text + len, ": %s", course->reason);
	if (course->leader)
		sprintf(text + len, "; %s", course->leader);
	return text;
}

static uint64_t random_state = 46;

static bool
any(int of)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % of == 0;
}

/* Facts as they may come together: each of some is true as often as not */
static FcFacts
draw(void)
{
	FcFacts		facts = {0};
	bool	   *flags[] = {
		&facts.early, &facts.writes, &facts.creates, &facts.keeps_default, &facts.frozen, &facts.replaces, &facts.bounded,
		&facts.conflicts, &facts.compares, &facts.whole_keys, &facts.sorts, &facts.effects, &facts.filtered, &facts.tolerates,
		&facts.skips_empty, &facts.numbered, &facts.foreign_keys, &facts.visible, &facts.placed, &facts.binary, &facts.several,
		&facts.grows, &facts.heads, &facts.received, &facts.cut, &facts.unsettled, &facts.look, &facts.foreign,
		&facts.all_foreign, &facts.attached, &facts.sends, &facts.unique, &facts.made, &facts.presorted,
		&facts.guessed_wrong, &facts.rows
	};

	for (size_t i = 0; i < lengthof(flags); i++)
		*flags[i] = any(4);
	facts.dropped = any(4);
	facts.partitioned = any(2);
	facts.plain = !facts.partitioned;
	facts.keyed = !facts.dropped && any(2);
	facts.key_routes = facts.keyed && facts.partitioned && any(2);
	facts.routed = facts.partitioned && !facts.key_routes;
	facts.sprouts = facts.routed && any(4);
	facts.rejects = facts.tolerates;
	facts.nworkers = any(2) ? 0 : 4;
	facts.core = any(8) ? "core" : NULL;
	facts.core_leaf = any(8) ? "leaf" : NULL;
	facts.leader = any(8) ? "leader" : NULL;
	facts.kept = any(16) ? "kept" : NULL;
	facts.refusal = any(16) ? "refusal" : NULL;
	facts.spill = any(2) ? "spill" : NULL;
	return facts;
}

/* What holds of any load */
static bool
sound(const FcFacts *facts, const FcCourse *course)
{
	bool		by_cells = course->way == FC_WAY_OFFSETS || course->way == FC_WAY_ROWS;

	return course->reason != NULL &&
		/* rows in key order need the key, and their counts are the scan's */
		!(by_cells && !facts->keyed && facts->spill == NULL) &&
		/* what reads the file once more has nothing counted, or drops it */
		!(course->way == FC_WAY_TURNS && facts->keyed && !course->drops_key) &&
		!(course->core && (course->fills || course->drops_key || course->looks || course->flows)) &&
		/* one finds the records */
		!(course->splits && course->unsplit != FC_UNSPLIT_NOT) &&
		!(course->unsplit == FC_UNSPLIT_GUESS && (facts->effects || facts->tolerates || facts->guessed_wrong)) &&
		/* what is read for partitions is read once more, and cut in one way */
		!(course->finds && (course->core_alone || course->once || course->unsplit != FC_UNSPLIT_NOT || (facts->grows && !course->waits))) &&
		/* what goes away, or is undone, must not have been seen */
		!(course->looks && (facts->visible || facts->effects)) &&
		!(course->once && (facts->rejects || facts->numbered || !course->in_turn)) &&
		!(facts->unique && !course->core && facts->routed && course->way != FC_WAY_TURNS);
}

static void
test_any(void)
{
	bool		all = true;

	for (int i = 0; i < 1000000 && all; i++)
	{
		FcFacts		facts = draw();
		FcCourse	course = fc_course(&facts);
		FcFacts		dropped = facts;

		all = sound(&facts, &course);
		if (course.drops_key)
		{
			/* the one step after it needs no other */
			dropped.dropped = dropped.routed = true;
			dropped.keyed = dropped.key_routes = false;
			course = fc_course(&dropped);
			all = all && !course.drops_key && course.way == FC_WAY_TURNS;
		}
		if (!all)
			printf("# number %d: %s\n", i, told(&course));
	}
	ok(all, "a million drawn loads are sound");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		FcCourse	course = fc_course(&cases[i].facts);

		is(told(&course), cases[i].course, cases[i].load);
	}
	test_any();
	return done_testing();
}
