/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_CHANGES_H
#define SCHEDULER_STORE_RUNS_CHANGES_H

/*
 * Decisions about runs as rows: saves them in batches, with one statement per kind of row. Only runs/transition.c and
 * runs/run_create.c use this module: no other code changes a run.
 */

#include "proto/messages.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/runs/runs.h"

/* The effects of a decision, in addition to the run itself. */
struct run_change {
	const struct run_row *row; /* before the decision */
	const struct verdict *verdict;
	const char *actor;               /* user id, or NULL */
	const char *comment;             /* or NULL */
	const char *reason;              /* a reason for users, or NULL */
	const struct job_result *result; /* of the plan or apply, if its worker reported the end; or NULL */
	enum run_event_kind event;
};

/*
 * The kinds of rows that decisions write (changes.sql), in the order in which they are written:
 *  - Ended jobs before new ones: a run has at most one job.
 *  - Runs before workspaces: the end of a run releases its workspace.
 *  - Runs, their inputs and operations before the versions of modules that they test.
 *  - Operations in the order of ids, the order in which uploads lock them: they have no other common lock.
 */
enum changed_rows {
	CHANGED_NEW_RUNS,
	CHANGED_NEW_OPERATIONS,
	CHANGED_HOLDS, /* written by holds_begin */
	CHANGED_ENDED_JOBS,
	CHANGED_RUNS,
	CHANGED_INPUTS,
	CHANGED_NEW_JOBS,
	CHANGED_RETRIED_JOBS,
	CHANGED_STOPPED_JOBS,
	CHANGED_STATES,
	CHANGED_OPERATIONS,
	CHANGED_TASK_STAGES,
	CHANGED_POLICIES,
	CHANGED_COSTS,
	CHANGED_WORKSPACES,
	CHANGED_ENDED_RUNS,
	CHANGED_ENDED_TESTS,
	CHANGED_COMMENTS,
	CHANGED_EVENTS,
	CHANGED_AUDITS,
	CHANGED_NOTIFICATIONS, /* written by notifications_put_up */
	CHANGED_COUNT
};

/* Decisions to be written: a JSON array of rows and one statement per kind. */
struct changes {
	char now[CLOCK_TEXT_SIZE];
	json_t *rows[CHANGED_COUNT];
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
/* Writes all changes and their messages in the open transaction. */
int changes_save(struct store *store, struct changes *changes, struct err *err);

#endif
