/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_RUN_EVENTS_H
#define SCHEDULER_STORE_RUNS_RUN_EVENTS_H

/* Events and comments of runs. Events of the lifecycle are written with their transitions (store/runs/changes.c). This
 * module writes the other events. */

#include "scheduler/store/store.h"

/* A run's events, first to last: run_event_shown_row. */
int events_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* One event. ERR_NOT_FOUND. */
int run_event_view(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err);
/* Adds an event with a description for users. */
int run_event_describe(
	struct store *store, const char *run_id, const char *action, const char *description, struct err *err);
struct run_event_row {
	const char *run_id, *action;
	const char *description;        /* for users; NULL: none */
	const char *actor, *comment_id; /* or NULL */
};
/* Many events by their ids; unknown ids are skipped. The rows are available later (db_ask). */
int run_event_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
int run_event_add(struct store *store, const struct run_event_row *event, struct err *err);
/* Adds an event, unless the run has one with that action. *ret_added says whether it was added. */
int run_event_add_once(struct store *store, const struct run_event_row *event, bool *ret_added, struct err *err);

/* A run's comments, first to last: comment_row. */
int comments_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int comment_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* One comment. ERR_NOT_FOUND. */
int comment_view(struct store *store, const char *comment_id, struct rows *ret_rows, struct err *err);
struct new_comment {
	const char *run_id, *user_id, *body;
};
/* Creates a comment, and its run event. */
int comment_create(struct store *store, const struct new_comment *comment, struct id *ret_id, struct err *err);

#endif
