/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_RUNS_H
#define SCHEDULER_STORE_RUNS_RUNS_H

/*
 * Runs as rows: loads them for decisions, and saves the decisions in batches, with one statement per table. Only
 * runs/transition.c uses this module: it is the only place where a run changes.
 *
 * Locks are always taken in this order: workspaces, then runs, then jobs, each by id.
 */

#include "common/clock.h"
#include "common/crypto.h"
#include "proto/messages.h"
#include "scheduler/lifecycle/attempt.h"
#include "scheduler/lifecycle/run.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/store.h"

struct run_row {
	struct id id, workspace, organization, pool;
	struct run run;
	struct attempt job;
	char token_hash[SHA256_HEX_SIZE];  /* of the claimed attempt; "" if none is claimed (proto/mac.h) */
	char lease_until[CLOCK_TEXT_SIZE]; /* the attempt's, in PostgreSQL's format; "": none */
	bool cooled_off;                   /* a force-cancel is allowed now */
	bool plan_is_stale;                /* the workspace's state is not the one that the plan is based on */
	const char *broken; /* NULL, or the violated invariant (run_check), or why the row can't be read; a constant */
	bool unknown; /* a newer version wrote a state unknown to this version, so only that version may change the run
		       */
};

struct workspace_row {
	struct id id;
	bool locked, held;
	struct id current; /* a run's id; "": none */
};

struct run_set {
	struct run_row *runs;
	size_t run_count;
	struct workspace_row *workspaces;
	size_t workspace_count;
	bool watched;              /* one of the workspaces has a notification configuration */
	char now[CLOCK_TEXT_SIZE]; /* the transaction's time by PostgreSQL's clock */
};

/* The columns that decide whether a run may begin in a workspace, which is the statement's alias `workspace`; and a
 * function that reads them. The caller sets the row's id. */
#define WORKSPACE_ROW(workspace)                                                                                       \
	workspace ".current_run_id, " workspace ".locked_by is not null as locked, " workspace                         \
		  ".hold_job_id is not null as held "
void workspace_row_read(const struct rows *rows, int row, struct workspace_row *ret_workspace);

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

/* The effects of a decision, in addition to the run itself. */
struct run_change {
	const struct run_row *row; /* before the decision */
	const struct verdict *verdict;
	const char *actor;               /* user id, or NULL */
	const char *comment;             /* or NULL */
	const char *reason;              /* a reason for users, or NULL */
	const struct job_result *result; /* counts of the plan or apply, or NULL */
	enum run_event_kind event;
};

/* Decisions to be written: one JSON array and one statement per table. */
struct changes {
	char now[CLOCK_TEXT_SIZE];
	json_t *runs_new, *operations_new, *runs, *inputs, *holds, *jobs_new, *jobs_again, *jobs_stopped, *jobs_ended,
		*states, *task_stages, *policies, *costs, *operations, *workspaces, *ended, *comments, *events, *audits,
		*notifications;
	bool watched; /* set by the caller: one of the workspaces has a notification configuration */
	struct outbox outbox;
};

void changes_init(struct changes *changes, const char *now);
void changes_release(struct changes *changes);
/* Adds a run to create, with its plan and its apply, in its state before the first decision. A decision about it that
 * is added before the write is merged into it. */
void changes_create(struct changes *changes, const struct run_row *row, const char *actor);
/* Adds a decision, at most one per run. Borrows nothing after the call. */
void changes_add(struct changes *changes, const struct run_change *change);
/* Writes only the runs to create, in the open transaction. changes_save writes them too. */
int changes_save_new(struct store *store, struct changes *changes, struct err *err);
/* Writes all changes in the open transaction. The caller passes changes->outbox to outbox_committed after the
 * commit. */
int changes_save(struct store *store, struct changes *changes, struct err *err);

#endif
