/* SPDX-License-Identifier: MPL-2.0 */
#include <getopt.h>
#include <string.h>

#include "tests/sim/world.h"

/* runyard-sim: runs seeds one after the other until a check fails. See README.md. */

static const struct {
	const char *name, *what;
} flaws[FLAW_COUNT] = {
#define FLAW(symbol, name, what) [FLAW_##symbol] = {name, what},
#include "tests/sim/flaws.def"
#undef FLAW
};

struct arguments {
	struct plan plan;
	long long seeds;
	bool flaws, order;
};

static const char usage[] =
	"runyard-sim: Runyard in memory, under seeded faults\n\n"
	"  --seed N        the first seed (1)\n"
	"  --seeds N       how many (1)\n"
	"  --steps N       steps with faults, before the calm phase (1000)\n"
	"  --trace         prints every step\n"
	"  --break NAME    removes a protection, which the checks must find\n"
	"  --flaws         removes each protection in turn; fails if the checks do not find one within the seeds\n"
	"  --order         reads waiting jobs from standard input, prints the order of their claims\n";

/* ---- a failing seed ---- */

static void replay(struct world *w, const struct plan *plan)
{
	world_init(w, plan);
	world_run(w);
}

/* The fewest steps with faults with which a check still fails: found by doubling, then by bisection. */
static int steps_needed(struct world *w, struct plan plan)
{
	int low = 0, high = 1, max = plan.steps;

	for (plan.steps = high; plan.steps < max; plan.steps = high) {
		replay(w, &plan);
		if (w->broken[0])
			break;
		low = high;
		high *= 2;
	}
	high = high < max ? high : max;
	while (high - low > 1) {
		plan.steps = low + (high - low) / 2;
		replay(w, &plan);
		if (w->broken[0])
			high = plan.steps;
		else
			low = plan.steps;
	}
	return high;
}

static void report(struct world *w, struct plan plan)
{
	plan.steps = steps_needed(w, plan);
	replay(w, &plan);
	printf("seed %llu, step %d: %s\n", (unsigned long long)plan.seed, w->step, w->broken);
	printf("to trace it: runyard-sim --seed %llu --steps %d%s%s --trace\n", (unsigned long long)plan.seed,
		plan.steps, plan.flaw ? " --break " : "", plan.flaw ? flaws[plan.flaw].name : "");
}

/* ---- seeds ---- */

/* The first seed with which a check fails, or -1. */
static long long seeds_run(struct world *w, struct plan plan, long long seeds, long long *steps)
{
	for (long long i = 0; i < seeds; i++, plan.seed++) {
		world_init(w, &plan);
		if (!world_run(w))
			return (long long)plan.seed;
		*steps += w->step;
	}
	return -1;
}

static int run_seeds(struct world *w, const struct arguments *arguments)
{
	struct plan plan = arguments->plan;
	long long steps = 0, bad = seeds_run(w, plan, arguments->seeds, &steps);

	if (bad >= 0) {
		plan.seed = (uint64_t)bad;
		if (plan.trace)
			printf("seed %lld: %s\n", bad, w->broken);
		else
			report(w, plan);
		return 1;
	}
	printf("%lld seeds, %lld steps: no check failed\n", arguments->seeds, steps);
	return 0;
}

static int run_flaws(struct world *w, const struct arguments *arguments)
{
	int missed = 0;

	for (int flaw = FLAW_NONE + 1; flaw < FLAW_COUNT; flaw++) {
		struct plan plan = arguments->plan;
		long long steps = 0, bad;

		plan.flaw = (enum flaw)flaw;
		bad = seeds_run(w, plan, arguments->seeds, &steps);
		printf("%-20s %s: %s\n", flaws[flaw].name, flaws[flaw].what, bad < 0 ? "NOT FOUND" : w->broken);
		missed += bad < 0;
	}
	return missed ? 1 : 0;
}

/* ---- the order of claims ---- */

/* Input lines: "busy ORGANIZATION JOBS", "job CLASS ORGANIZATION CREATED ID", and finally "slots COUNT". */
static int print_claim_order(void)
{
	enum { MAX_JOBS = 512 };
	static struct waiting jobs[MAX_JOBS];
	static char ids[MAX_JOBS][ID_SIZE];
	static int busy[MAX_JOBS];
	size_t count = 0, order[MAX_JOBS], max = 0, picked;
	int organization, number;
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		long long created;

		if (sscanf(line, "busy %d %d", &organization, &number) == 2 && organization < MAX_JOBS)
			busy[organization] = number;
		else if (count < MAX_JOBS &&
			sscanf(line, "job %d %d %lld %39s", &number, &organization, &created, ids[count]) == 4)
			jobs[count] = (struct waiting){number, organization, created, ids[count]}, count++;
		else
			sscanf(line, "slots %zu", &max);
	}
	picked = claim_order(jobs, count, busy, max, order);
	for (size_t i = 0; i < picked; i++)
		printf("%s\n", jobs[order[i]].id);
	return 0;
}

/* ---- the command line ---- */

static enum flaw flaw_parse(const char *name)
{
	int flaw = FLAW_NONE + 1;

	while (flaw < FLAW_COUNT && !text_equal(flaws[flaw].name, name))
		flaw++;
	return (enum flaw)flaw;
}

static int arguments_read(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
		{"seeds", required_argument, NULL, 'n'}, {"steps", required_argument, NULL, 'm'},
		{"trace", no_argument, NULL, 't'}, {"break", required_argument, NULL, 'b'},
		{"flaws", no_argument, NULL, 'f'}, {"order", no_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};
	long long number = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (strchr("snm", option) && text_number(optarg, 0, INT32_MAX, &number) < 0)
			return -1;
		switch (option) {
		case 's':
			arguments->plan.seed = (uint64_t)number;
			break;
		case 'n':
			arguments->seeds = number;
			break;
		case 'm':
			arguments->plan.steps = (int)number;
			break;
		case 't':
			arguments->plan.trace = true;
			break;
		case 'f':
			arguments->flaws = true;
			break;
		case 'o':
			arguments->order = true;
			break;
		case 'b':
			arguments->plan.flaw = flaw_parse(optarg);
			break;
		default:
			return -1;
		}
	}
	return optind == argc && arguments->plan.flaw < FLAW_COUNT ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.plan = {.seed = 1, .steps = 1000}, .seeds = 1};
	_cleanup_(freep) struct world *w = mem_new(1, sizeof(*w));

	if (arguments_read(argc, argv, &arguments) < 0) {
		fputs(usage, stderr);
		return 2;
	}
	if (arguments.order)
		return print_claim_order();
	return arguments.flaws ? run_flaws(w, &arguments) : run_seeds(w, &arguments);
}
