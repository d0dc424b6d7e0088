/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  Tests of percent and time left (report/estimate.c).
 *
 * A load is taken through its phases, tick by tick: each goes on evenly, and
 * takes so many times what it should.
 *
 *-------------------------------------------------------------------------
 */
#include "report/estimate.h"
#include "tap.h"

#define TICK	0.05

/* What a simulated phase takes, and what is known in it of those that follow */
typedef struct Phase
{
	double		cost;
	double		times;			/* as long as that */
	double		after;
} Phase;

/* What was seen of a load */
typedef struct Seen
{
	bool		falls;			/* the time left never grew */
	bool		rises;			/* percent never went back */
	double		wrong;			/* by so much the time left was wrong at most,
								 * as a share of the load */
	double		share[8];		/* of the load, as each phase began */
	double		whole;			/* at the end */
} Seen;

static Seen
load(const Phase *phases, int n)
{
	FcEstimate	estimate = {.left = -1};
	Seen		seen = {true, true, 0};
	double		all = 0;
	double		now = 0;

	for (int i = 0; i < n; i++)
		all += phases[i].cost * phases[i].times;
	for (int i = 0; i < n; i++)
	{
		double		takes = phases[i].cost * phases[i].times;

		seen.share[i] = estimate.whole;
		for (double t = 0; t < takes; t += TICK)
		{
			double		left = estimate.left;
			double		whole = estimate.whole;

			fc_estimate_update(&estimate, phases[i].cost, phases[i].after, t / takes, t);
			seen.falls &= left < 0 || estimate.left <= left;
			seen.rises &= estimate.whole >= whole;
			if (estimate.left >= 0)
			{
				double		wrong = (estimate.left - (all - now - t)) / all;

				wrong = wrong < 0 ? -wrong : wrong;
				seen.wrong = wrong > seen.wrong ? wrong : seen.wrong;
			}
		}
		now += takes;
		fc_estimate_next(&estimate, takes);
	}
	seen.whole = estimate.whole;
	return seen;
}

/* Three years of days, 274 rows and an index each, as a sample foresees them */
static void
test_many_partitions(void)
{
	const FcEffort effort = {13e6, 300000, 1095, 1095, 1095, 1, 2};
	Phase		phases[5];
	double		after = 0;
	Seen		seen;

	phases[0].cost = fc_estimate_cost(&effort, FC_EFFORT_SCAN);
	phases[1].cost = fc_estimate_cost(&effort, FC_EFFORT_MAKE);
	phases[2].cost = fc_estimate_cost(&effort, FC_EFFORT_LOAD);
	phases[3].cost = fc_estimate_cost(&effort, FC_EFFORT_INDEX);
	phases[4].cost = fc_estimate_cost(&effort, FC_EFFORT_ATTACH);
	ok(phases[1].cost + phases[3].cost + phases[4].cost > 5 * (phases[0].cost + phases[2].cost),
	   "partitions and indexes take most of the load");
	for (int i = 4; i >= 0; i--)
	{
		phases[i].times = 10;
		phases[i].after = after;
		after += phases[i].cost;
	}
	seen = load(phases, 5);
	ok(seen.falls, "a steady load: the time left only falls");
	ok(seen.rises, "percent never goes back");
	ok(seen.share[2] > seen.share[1] + 0.2 && seen.share[4] > seen.share[3] + 0.3,
	   "percent moves while partitions are made, and indexes built");
	ok(seen.whole > 0.98 && seen.whole < 1, "it is nearly 100 at the end");
}

static void
test_few_partitions(void)
{
	const FcEffort effort = {13e9, 300e6, 10, 10, 10, 1, 2};

	ok(fc_estimate_cost(&effort, FC_EFFORT_MAKE) + fc_estimate_cost(&effort, FC_EFFORT_ATTACH) <
	   0.001 * fc_estimate_cost(&effort, FC_EFFORT_LOAD),
	   "few partitions take next to nothing");
	ok(fc_estimate_cost(&effort, FC_EFFORT_INDEX) > 0.5 * fc_estimate_cost(&effort, FC_EFFORT_LOAD), "but their indexes do");
}

/* Where rows go to tables with indexes, the load takes longer, and no phase follows */
static void
test_existing_partitions(void)
{
	FcEffort	effort = {13e9, 300e6, 10, 0, 10, 2, 2};
	double		empty;

	effort.tables = 0;
	ok(fc_estimate_cost(&effort, FC_EFFORT_INDEX) == 0, "no index is built");
	effort.indexes = 0;
	empty = fc_estimate_cost(&effort, FC_EFFORT_LOAD);
	effort.indexes = 2;
	ok(fc_estimate_cost(&effort, FC_EFFORT_LOAD) > 2 * empty, "but rows go into them");
}

/* Nobody knew before the second phase what would follow */
static void
test_surprise(void)
{
	const Phase phases[] = {{1, 1, 0.1}, {5, 1, 10}, {10, 1, 0}};
	Seen		seen = load(phases, lengthof(phases));

	ok(seen.rises, "a surprise: percent never goes back");
	ok(seen.share[2] > seen.share[1], "and goes on in the phase that follows");
	ok(seen.whole > 0.98 && seen.whole < 1, "up to the end");
}

/* Every phase takes as long as it should, half or three times as long */
static void
test_paces(void)
{
	static const double times[] = {0.5, 1, 3};
	const int	n = lengthof(times);
	bool		rises = true;
	bool		even = true;

	for (int i = 0; i < n * n * n; i++)
	{
		const Phase phases[] = {
			{2, times[i % n], 18}, {8, times[i / n % n], 10}, {10, times[i / n / n], 0}
		};
		Seen		seen = load(phases, lengthof(phases));

		rises &= seen.rises && seen.whole < 1;
		if (i % (n * n + n + 1) == 0)
			even &= seen.falls && seen.wrong < 0.6;
	}
	ok(rises, "percent rises whatever the phases take");
	ok(even, "the time left falls, whatever the pace of the machine");
}

static void
test_unknown(void)
{
	FcEstimate	estimate = {.left = -1};

	fc_estimate_update(&estimate, 0, 0, 0, 1);
	ok(estimate.whole == 0 && estimate.left == -1, "nothing is known of a load of nothing");
	fc_estimate_update(&estimate, 100, 100, 0.001, 1);
	ok(estimate.left == -1, "too little is done to tell the time left");
	fc_estimate_update(&estimate, 100, 100, 0.1, 1);
	ok(estimate.left > 10, "and then it is told");
	fc_estimate_update(&estimate, 100, 100, 0.1, 100);
	ok(estimate.left > 900, "which grows where a load stands still");
}

int
main(void)
{
	test_many_partitions();
	test_few_partitions();
	test_existing_partitions();
	test_surprise();
	test_paces();
	test_unknown();
	return done_testing();
}
