/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_TRANSITION_H
#define SCHEDULER_RUNS_TRANSITION_H

/*
 * The only module that changes runs. Every decision takes the same steps: load the rows for update, call run_step for
 * each, save all verdicts, move the queues of the workspaces that became free, commit, publish.
 */

#include "scheduler/store/runs/changes.h"

enum transition_outcome {
	TRANSITION_PENDING,
	TRANSITION_APPLIED,  /* saved */
	TRANSITION_REFUSED,  /* the run does not accept it; `refused` says why */
	TRANSITION_LATE,     /* from an attempt that has ended: duplicated, delayed or fenced */
	TRANSITION_UNPROVEN, /* from the current attempt, but the result's MAC does not verify */
	TRANSITION_BROKEN,   /* the run's row breaks an invariant, or would after the event; `refused` names it. Nothing
			      is   saved */
	TRANSITION_NO_RUN,   /* there is no such run */
};

struct run_transition {
	struct id run;
	struct run_event event; /* may_retry, cooled_off and started are filled in from the rows */
	struct id job;          /* if set: the event applies only to this attempt */
	int attempt;
	const char *ended_lease; /* if set: applies only while jobs.lease_until is this time, and it has passed */
	bool of_content;         /* it is about its configuration's files: applies only until STAGE_FETCH has passed */
	bool fenced;             /* it is unknown whether terraform started: treated as started */
	bool needs_proof;        /* only the result's MAC authenticates the sender */
	bool at_once;            /* allows a force-cancel without the waiting time after the cancel, and an apply
				  * outside of maintenance windows */
	const char *actor;       /* user id, or NULL */
	const char *comment;     /* or NULL */
	const char *reason;      /* reason of the event or NULL; the run's error if the event ends it errored */
	const struct job_result *result;

	enum transition_outcome outcome; /* filled in */
	bool applied;                    /* filled in: the event ended the run as applied */
	struct id told;      /* filled in: the plan or apply whose log gets the reason, which no worker gave; or "" */
	const char *refused; /* filled in: the reason for TRANSITION_REFUSED or TRANSITION_BROKEN; a constant */
};

/* Applies the events in one transaction, in their order. Returns -1 only if nothing was saved. Each item has its
 * outcome. */
int runs_apply_transitions(struct store *store, struct run_transition *items, size_t count, struct err *err);
/* Applies one event of a person or a client. ERR_NOT_FOUND, or ERR_CONFLICT "transition not allowed" with the
 * reason. */
int run_apply_transition(struct store *store, struct run_transition *item, struct err *err);
/* Moves a workspace's queue on if possible, for example after an unlock. */
int workspace_kick(struct store *store, const char *workspace_id, struct err *err);

/* The same for callers with a transaction of their own. `kicked` names workspaces whose queues may move. */
int transitions_apply_within(
	struct store *store, struct run_transition *items, size_t count, struct db_array *kicked, struct err *err);
/* For a caller that is about to create runs and holds the locks of their workspaces: starts those whose turn it is. The
 * set has the workspaces and those of the runs that are first in their queue or in no queue. Adds the verdicts to
 * *changes. */
void transitions_of_created(const struct run_set *created, struct changes *changes);

#endif
