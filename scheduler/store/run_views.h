/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUN_VIEWS_H
#define SCHEDULER_STORE_RUN_VIEWS_H

/* Runs, plans, applies and what was said about them, for reading. */

#include "scheduler/lifecycle/run.h"
#include "scheduler/store/store.h"

/* One row with everything a run's resource shows. ERR_NOT_FOUND. */
int run_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The same of many ids, those that are there; for later (db_ask). */
int run_views_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The lifecycle's view of such a row, to ask it what the run accepts. */
struct run run_of_view(const struct rows *rows, int row);

/* What a list is narrowed to; NULL: anything. Words are separated by commas. */
struct run_filter {
	const char *workspace_id;    /* whose runs the viewer may read; NULL: all of the organization's */
	const char *organization_id; /* NULL: the workspace's */
	const char *status, *status_group, *operation, *source, *workspace_names, *pool_names;
	const char *search; /* its id, or part of its message or of the name of who ordered it */
	const char *user;   /* part of the name of who ordered it */
	const char *commit; /* that its configuration comes of */
	long long year;     /* of its creation, or 0 */
	bool past_year;     /* not older than that */
	bool queue;         /* those that wait or hold, the longest waiting first */
	long long limit, offset;
};
/* The page's rows, newest first, for later (db_ask). Plan-only runs are left out unless `operation` asks for them. */
int run_views_ask_page(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err);
/* How many there are on all pages: one row with `total`, for later. */
int run_views_ask_count(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err);

/* One row of a plan or apply: operations' columns, run_id, json_log, has_changes, organization_id. ERR_NOT_FOUND. */
int operation_view(struct store *store, const char *operation_id, struct rows *ret_rows, struct err *err);
/* The same of many ids, those that are there; for later (db_ask). */
int operation_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

/* The values that were sensitive in the run's variables, as an array of texts: for taking them out of what is shown. */
int run_secrets(struct store *store, const char *run_id, json_t **ret_values, struct err *err);

#endif
