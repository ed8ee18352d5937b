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
	const struct job_result *result; /* counts of the plan or apply, or NULL */
	enum run_event_kind event;
};

/* The kinds of rows that decisions write: changes.def. */
enum changed_rows {
#define INSERTS(symbol, table, columns) CHANGED_##symbol,
#define WRITES(symbol, statement)       CHANGED_##symbol,
#define PASSES(symbol)                  CHANGED_##symbol,
#include "scheduler/store/runs/changes.def"
#undef INSERTS
#undef WRITES
#undef PASSES
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
