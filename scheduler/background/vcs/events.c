/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/vcs/events.h"

#include "scheduler/runs/registry/version_tests.h"
#include "scheduler/runs/vcs/deliveries.h"
#include "scheduler/runs/vcs/events.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/module_tags.h"
#include "scheduler/store/vcs/calls/event_asks.h"
#include "scheduler/store/vcs/calls/pulls.h"
#include "scheduler/store/vcs/contents.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/events/wake.h"

static int looks_step(struct store *store, bool *ret_more, struct err *err)
{
	*ret_more = false;
	return vcs_looks_due(store, err);
}

static int pulls_step(struct store *store, bool *ret_more, struct err *err)
{
	*ret_more = false;
	return vcs_pulls_enqueue(store, err);
}

static const struct listener_step steps[] = {
	{"deliveries", vcs_deliveries_read},
	{"events", vcs_events_decide},
	{"module tags", module_tags_step},
	{"tests of versions", version_tests_step},
	{"looks", looks_step},
	{"pull requests", pulls_step},
};

static const struct listener_sweep sweeps[] = {
	{"contents", 5000, vcs_contents_sweep},
	{"event reads", 30000, vcs_event_reads_expire},
	{"module inspections", 60000, module_inspections_sweep},
	{"old events", 600000, vcs_events_expire},
};

_Static_assert(ARRAY_LEN(sweeps) <= LISTENER_SWEEPS_MAX, "sweeps");

const struct listener_work vcs_event_work = {
	.channel = VCS_CHANNEL,
	.progress = "vcs",
	.steps = steps,
	.step_count = ARRAY_LEN(steps),
	.sweeps = sweeps,
	.sweep_count = ARRAY_LEN(sweeps),
	.next_due = vcs_next_due,
	.max_sleep_ms = 60000,
	.retry_ms = 2000,
};
