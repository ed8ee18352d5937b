/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_WAITING_WAITS_H
#define SCHEDULER_LIFECYCLE_WAITING_WAITS_H

/* Why a run waits: a pure function of the facts that decide whether it may start and who works on it. */

#include "scheduler/lifecycle/queue.h"

enum wait_kind {
#define WAIT(symbol, code, event, text) WAIT_##symbol,
#include "scheduler/lifecycle/waiting/waits.def"
#undef WAIT
	WAIT_COUNT
};

/* The pool of a waiting job. */
struct pool_view {
	bool drained;
	bool failover;                     /* an epoch began less than one lease ago, and the run is not plan-only */
	bool key_missing;                  /* no scheduler that was asked has the key of its secrets */
	bool pool_full, organization_full; /* their quotas are used up */
	long long accepting;               /* live workers that claim jobs */
	long long willing, slots, free;    /* of them, those that take jobs of the run's stage, and their slots */
};

struct wait_facts {
	struct run run;
	struct queue_view workspace;
	bool first;       /* no queued run of the workspace precedes it */
	bool job_waiting; /* its job waits for a worker */
	bool git_waiting; /* it fetches, and the git job of its commit waits for a worker */
	struct pool_view pool;
};

/* WAIT_NONE for a run that has ended, or whose work is underway and was not asked to stop. */
enum wait_kind wait_of(const struct wait_facts *facts);
const char *wait_code(enum wait_kind kind);
/* The action of the run event that notes the wait, or NULL. */
const char *wait_event(enum wait_kind kind);

#endif
