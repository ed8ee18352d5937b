/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "tests/sim/world.h"

/* Enough for everything to end: holds last minutes, and a worker's machine may be away. */
enum { CALM_STEPS = 20000, CALM_TIME = 4 * 3600 * SECOND, MAX_PPM = 500 };

static void process_init(struct world *w, struct process *process, enum kind kind, int number)
{
	*process = (struct process){.kind = kind,
		.number = number,
		.life = 1,
		.clock_ppm = kind == WORKER || kind == NOTIFIER ? (int)roll(w, 2 * MAX_PPM) - MAX_PPM : 0};
}

static void tables_init(struct world *w)
{
	for (int i = 0; i < WORKSPACES; i++)
		w->db.workspaces[i] =
			(struct workspace){.organization = i % ORGANIZATIONS, .current = NONE, .state = {.job = NONE}};
	for (int i = 0; i < MOMENTS; i++)
		w->free[w->free_count++] = (short)(MOMENTS - 1 - i);
}

/* Some seeds have all faults, some one kind, some almost none. Each mix finds errors that the others hide. */
static void fault_rates_init(struct world *w)
{
	static const int small_faults[] = {0, 1, 1, 2, 8}, slow[] = {10, 100, 150, 500};
	static const int64_t max_pause[] = {10 * SECOND, 40 * SECOND, 40 * SECOND, 200 * SECOND};

	w->fault_rates.small_faults = small_faults[roll(w, ARRAY_LEN(small_faults))];
	w->fault_rates.slow = slow[roll(w, ARRAY_LEN(slow))];
	w->fault_rates.max_pause = max_pause[roll(w, ARRAY_LEN(max_pause))];
	w->fault_rates.kept = roll(w, 2);
}

void world_init(struct world *w, const struct plan *plan)
{
	memset(w, 0, offsetof(struct world, moments));
	memset(&w->heap, 0, sizeof(*w) - offsetof(struct world, heap));
	w->plan = *plan;
	w->random = plan->seed;
	tables_init(w);
	fault_rates_init(w);
	process_init(w, &w->broker, BROKER, 0);
	for (int i = 0; i < SCHEDULERS; i++)
		process_init(w, &w->schedulers[i], SCHEDULER, i);
	for (int i = 0; i < WORKERS; i++)
		process_init(w, &w->workers[i].process, WORKER, i);
	for (int i = 0; i < NOTIFIERS; i++)
		process_init(w, &w->notifiers[i].process, NOTIFIER, i);
	/* The clock does not start at 0: the first minutes are not special. */
	w->now = 1000 * SECOND;
	faults_begin(w);
	people_begin(w);
}

/* Resumes stalled processes, restarts dead ones, and ends all faults. */
static void faults_end(struct world *w)
{
	TRACE(w, NULL, "---- calm ----");
	w->calm = true;
	process_recover(w, &w->broker);
	for (int i = 0; i < SCHEDULERS; i++)
		process_recover(w, &w->schedulers[i]);
	for (int i = 0; i < WORKERS; i++)
		process_recover(w, &w->workers[i].process);
	for (int i = 0; i < NOTIFIERS; i++)
		process_recover(w, &w->notifiers[i].process);
}

bool world_run(struct world *w)
{
	int64_t give_up;

	while (w->step < w->plan.steps && !w->broken[0])
		world_move(w);
	faults_end(w);
	give_up = w->now + CALM_TIME;
	while (!w->broken[0] && !world_quiet(w) && w->step < w->plan.steps + CALM_STEPS && w->now < give_up)
		world_move(w);
	if (!w->broken[0])
		check_end(w);
	return !w->broken[0];
}
