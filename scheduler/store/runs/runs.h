/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_RUNS_H
#define SCHEDULER_STORE_RUNS_RUNS_H

/*
 * Runs as rows: loads them for decisions (store/runs/changes.h saves the decisions).
 *
 * Locks are always taken in this order: workspaces, then runs, then jobs, each by id.
 */

#include "common/clock.h"
#include "common/crypto.h"
#include "scheduler/lifecycle/attempt.h"
#include "scheduler/lifecycle/run.h"
#include "scheduler/store/store.h"

struct run_row {
	struct id id, workspace, organization, pool;
	struct run run;
	struct attempt job;
	char token_hash[SHA256_HEX_SIZE];  /* of the claimed attempt; "" if none is claimed (proto/mac.h) */
	char lease_until[CLOCK_TEXT_SIZE]; /* the attempt's, in PostgreSQL's format; "": none */
	char source[32];                   /* what created the run: a word of the API, such as tfe-ui */
	double changed_seconds;            /* the time since its last decision; 0 for a new run */
	bool cooled_off;                   /* a force-cancel is allowed now */
	bool window_closed;                /* applies may not start in the workspace now */
	bool plan_is_stale;                /* the workspace's state is not the one that the plan is based on */
	const char *broken; /* NULL, or the violated invariant (run_check), or why the row can't be read; a constant */
	bool unknown; /* a newer version wrote a state unknown to this version, so only that version may change the run
		       */
};

struct run_workspace {
	struct id id;
	bool locked, held;
	bool maintenance;  /* of the site */
	struct id current; /* a run's id; "": none */
};

struct run_set {
	struct run_row *runs;
	size_t run_count;
	struct run_workspace *workspaces;
	size_t workspace_count;
	bool watched;              /* one of the workspaces has a notification configuration */
	char now[CLOCK_TEXT_SIZE]; /* the transaction's time by PostgreSQL's clock */
};

/* The workspace of a row whose statement has the fragment workspace_row. The caller sets the id. */
#define WORKSPACE_OF_ROW(row)                                                                                          \
	((struct run_workspace){.locked = (row)->locked,                                                               \
		.held = (row)->held,                                                                                   \
		.maintenance = (row)->maintenance,                                                                     \
		.current = id_of((row)->current_run_id)})
/* NULL gives "". */
struct id id_of(const char *text);

void run_set_release(struct run_set *set);
/* Locks the claimed jobs, after their workspaces. Call it before runs_load if the decision is about leases. A
 * concurrent heartbeat or start of terraform then happens either before the decision, which sees it, or after it, and
 * is rejected. */
int runs_lock_leases(struct store *store, struct db_array *run_ids, struct err *err);
/* Locks and loads runs with their workspaces and jobs, in a transaction. Unknown ids are skipped. A broken row is
 * included with `broken` set, so that it does not block the others. */
int runs_load(struct store *store, struct db_array *run_ids, struct run_set *ret_set, struct err *err);
/* Locks workspaces and loads the runs that could proceed in each: the first of the queue, and saved plans. */
int runs_load_queues(struct store *store, struct db_array *workspace_ids, struct run_set *ret_set, struct err *err);

#endif
