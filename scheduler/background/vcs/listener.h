/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_VCS_LISTENER_H
#define SCHEDULER_BACKGROUND_VCS_LISTENER_H

/*
 * A thread that works in rounds: it runs the steps and the sweeps that are due, then sleeps until more is due. A
 * notification of its channel, or a thread of this process, wakes it earlier. Every replica runs one: the statements'
 * locks share the work.
 */

#include "scheduler/store/store.h"

struct listener_step {
	const char *name;
	/* *ret_more: there may be more work of this step. */
	int (*run)(struct store *store, bool *ret_more, struct err *err);
};

struct listener_sweep {
	const char *name;
	int every_ms;
	int (*run)(struct store *store, struct err *err);
};

enum { LISTENER_SWEEPS_MAX = 4 };

struct listener_work {
	const char *channel;
	const char *progress;              /* its name in /healthz; NULL for a thread that waits for other servers */
	const struct listener_step *steps; /* in the order in which one makes work for the next */
	size_t step_count;
	const struct listener_sweep *sweeps; /* the most frequent one first: the others run in a round that is due */
	size_t sweep_count;                  /* at most LISTENER_SWEEPS_MAX */
	/* Milliseconds until a step has work; -1: never. It includes the work of all earlier notifications. */
	int (*next_due)(struct store *store, long long *ret_ms, struct err *err);
	int max_sleep_ms; /* a notification may be lost with its connection */
	int retry_ms;     /* after a failure */
};

struct listener;

/* Borrows `work` until listener_stop. The store's connection is not used: the thread has its own. */
int listener_start(const struct listener_work *work, const struct store *store, const char *database_url,
	struct listener **ret_listener, struct err *err);
/* Makes the next round begin now. That round also notifies the other replicas. From any thread, and cheap: requests
 * that are batched call it instead of a statement that each would wait for. NULL-safe. */
void listener_wake(struct listener *listener);
/* Waits for the step that runs. NULL-safe. */
void listener_stop(struct listener *listener);

#endif
