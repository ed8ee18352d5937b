/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/walk.h"

#include <string.h>

enum { MAX_RUNS = 4096 };

struct walk {
	struct run seen[MAX_RUNS];
	size_t count;
	walk_fn fn;
	void *data;
};

static bool run_same(const struct run *a, const struct run *b)
{
	return a->status == b->status && a->stage == b->stage && a->has_changes == b->has_changes &&
		a->queued == b->queued && a->underway == b->underway && a->stopping == b->stopping;
}

static void walk_see(struct walk *walk, const struct run *run)
{
	for (size_t i = 0; i < walk->count; i++)
		if (run_same(&walk->seen[i], run))
			return;
	if (walk->count == MAX_RUNS)
		abort(); /* the state machine has grown: raise the bound */
	walk->seen[walk->count++] = *run;
}

static void walk_step(struct walk *walk, const struct run *from, const struct run_event *event)
{
	struct verdict v = run_step(from, event);

	if (v.refused)
		return;
	walk->fn(walk->data, from, event, &v);
	walk_see(walk, &v.run);
}

size_t lifecycle_walk(const struct run *first, walk_fn fn, void *data)
{
	_cleanup_(freep) struct walk *walk = mem_new(1, sizeof(*walk));

	walk->fn = fn;
	walk->data = data;
	walk_see(walk, first);
	for (size_t i = 0; i < walk->count; i++) {
		struct run from = walk->seen[i];

		for (int kind = 0; kind < EVENT_COUNT; kind++)
			/* Closed windows are independent of all facts but changes. */
			for (int facts = 0; facts < 34; facts++) {
				struct run_event event = {
					.kind = (enum run_event_kind)kind,
					.has_changes = facts & 1,
					.may_retry = facts & 2,
					.cooled_off = facts & 4,
					.started = facts & 8,
					.state_owed = facts & 16,
					.window_closed = facts & 32,
				};

				walk_step(walk, &from, &event);
			}
	}
	return walk->count;
}
