/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_H
#define SCHEDULER_STORE_RUNS_H

/*
 * Runs as rows: loading them for a decision, and saving what was decided, many at a time with one statement a table.
 * Only dispatch/happen.c uses this: it is the one place where a run changes.
 *
 * Locks are taken in one order everywhere: workspaces, then runs, then jobs, each by id.
 */

#include "common/clock.h"
#include "common/crypto.h"
#include "proto/messages.h"
#include "scheduler/dispatch/outbox.h"
#include "scheduler/lifecycle/attempt.h"
#include "scheduler/lifecycle/run.h"
#include "scheduler/store/store.h"

struct run_row {
	struct id id, workspace, organization, pool;
	struct run run;
	struct attempt job;
	char token_hash[SHA256_HEX_SIZE];  /* of the attempt that is claimed; "" if none is (proto/mac.h) */
	char lease_until[CLOCK_TEXT_SIZE]; /* the attempt's, as PostgreSQL writes it; "": it has none */
	bool cooled_off;                   /* a force-cancel is allowed by now */
	bool plan_is_stale;                /* the workspace's state is not the one its plan was made from */
	const char *broken; /* NULL, or the invariant that the row breaks (run_check), or why it can't be read; a
			       constant */
	bool unknown;       /* another version wrote a state that this one does not know: it is left to that version */
};

struct workspace_row {
	struct id id;
	bool locked, held;
	struct id current; /* run; "" : none */
};

struct run_set {
	struct run_row *runs;
	size_t run_count;
	struct workspace_row *workspaces;
	size_t workspace_count;
	bool watched;              /* somebody asks for notifications of one of them */
	char now[CLOCK_TEXT_SIZE]; /* the transaction's time, by the database's clock */
};

/* What says whether a run may begin in a workspace, which stands in the statement by that name; and reading it. The
 * row's id is the caller's. */
#define WORKSPACE_ROW(workspace)                                                                                       \
	workspace ".current_run_id, " workspace ".locked_by is not null as locked, " workspace                         \
		  ".hold_job_id is not null as held "
void workspace_row_read(const struct rows *rows, int row, struct workspace_row *ret_workspace);

void run_set_release(struct run_set *set);
/* Before runs_load, by whoever is about to judge leases: locks the claimed jobs, after their workspaces. A heartbeat or
 * a start of terraform then comes before the judgement, and is seen by it, or after, and is refused. */
int runs_lock_leases(struct store *store, struct db_array *run_ids, struct err *err);
/* Locks and loads runs with their workspaces and jobs, in a transaction. Ids that are not there are left out. A broken
 * row is in the set, so that it does not stop the others (`broken`). */
int runs_load(struct store *store, struct db_array *run_ids, struct run_set *ret_set, struct err *err);
/* Locks workspaces and loads what could move in each: what is queued, in order, and saved plans. */
int runs_load_queues(struct store *store, struct db_array *workspace_ids, struct run_set *ret_set, struct err *err);

/* What a decision changes beyond the run itself. */
struct run_change {
	const struct run_row *row; /* as it was */
	const struct verdict *verdict;
	const char *actor;               /* user id, or NULL */
	const char *comment;             /* or NULL */
	const char *reason;              /* why it came to this, for people; or NULL */
	const struct job_result *result; /* the counts of its plan or apply; or NULL */
	enum run_event_kind event;
};

/* Decisions on their way into the tables: one JSON array a table, one statement each. */
struct changes {
	char now[CLOCK_TEXT_SIZE];
	json_t *runs_new, *operations_new, *runs, *inputs, *holds, *jobs_new, *jobs_again, *jobs_stopped, *jobs_ended,
		*states, *task_stages, *policies, *costs, *operations, *workspaces, *ended, *comments, *events, *audits,
		*notifications;
	bool watched; /* set by the caller: somebody asks for notifications of one of the workspaces */
	struct outbox outbox;
};

void changes_init(struct changes *changes, const char *now);
void changes_release(struct changes *changes);
/* Adds a run that is to be created, as it is before its first decision, with its plan and its apply. A decision about
 * it that is added before they are written is written with them. */
void changes_create(struct changes *changes, const struct run_row *row, const char *actor);
/* Adds a decision; a run at most once. Borrows nothing after the call. */
void changes_add(struct changes *changes, const struct run_change *change);
/* Writes the runs that are to be created, in the open transaction; changes_save does so too. */
int changes_save_new(struct store *store, struct changes *changes, struct err *err);
/* Writes all of them in the open transaction. The caller hands changes->outbox to outbox_committed after the commit. */
int changes_save(struct store *store, struct changes *changes, struct err *err);

#endif
