/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_HAPPEN_H
#define SCHEDULER_DISPATCH_HAPPEN_H

/*
 * The one place where runs change. A decision is always: load the rows for update, run_step for each, save all
 * verdicts, let the queues of the workspaces that became free go on, commit, publish.
 */

#include "scheduler/store/runs.h"

enum happened {
	HAPPENED_NOT_YET,
	HAPPENED,          /* saved */
	HAPPENED_REFUSED,  /* the run does not accept it; `refused` says why */
	HAPPENED_LATE,     /* of an attempt that is over: duplicated, delayed or fenced */
	HAPPENED_UNPROVEN, /* of the current attempt, and the result's MAC does not verify */
	HAPPENED_BROKEN,   /* the run's row breaks an invariant, or would then; `refused` names it. Nothing is saved */
	HAPPENED_NOWHERE,  /* there is no such run */
};

struct happening {
	struct id run;
	struct run_event event; /* may_retry, cooled_off and started are filled in from the rows */
	struct id job;          /* set: only if this attempt is the run's */
	int attempt;
	const char *ended_lease; /* set: only while the attempt has this lease, which has ended (jobs.lease_until) */
	bool fenced;             /* whether its terraform started is not known: it counts as started */
	bool needs_proof;        /* the sender is known by the result's MAC alone */
	bool at_once;            /* a force-cancel need not wait until the cancel had its time */
	const char *actor;       /* user id, or NULL */
	const char *comment;     /* or NULL */
	const char *reason;      /* of the event, and shown as the run's error if it ends errored by it; or NULL */
	const struct job_result *result;

	enum happened outcome; /* filled in */
	bool applied;          /* filled in: the run has ended applied by it */
	const char *refused; /* filled in: why not, if the outcome is HAPPENED_REFUSED or HAPPENED_BROKEN; a constant */
};

/* Makes them happen in one transaction, in their order. -1 only if nothing was saved; what became of each is in it. */
int runs_happen(struct store *store, struct happening *items, size_t count, struct err *err);
/* One event by a person or a client: ERR_NOT_FOUND, or ERR_CONFLICT "transition not allowed" with the reason. */
int run_happens(struct store *store, struct happening *item, struct err *err);
/* Lets a workspace's queue go on, if it can: after an unlock, say. */
int workspace_kick(struct store *store, const char *workspace_id, struct err *err);

/* For callers with a transaction of their own: the same within it. `kicked` names workspaces whose queue may move. What
 * is to be published is appended to *outbox, for outbox_committed after the commit. */
int happen_within(struct store *store, struct happening *items, size_t count, struct db_array *kicked,
	struct outbox *outbox, struct err *err);
/* For who is about to create runs, and holds their workspaces locked: each takes its turn, if it may. The set has those
 * that are the first of their queue, or in none, and their workspaces; what they come to is added to *changes. */
void happen_created(const struct run_set *created, struct changes *changes);

#endif
