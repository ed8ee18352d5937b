/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_RUN_VIEWS_H
#define SCHEDULER_STORE_RUNS_RUN_VIEWS_H

/* Read access to runs, plans and applies. */

#include "scheduler/lifecycle/run.h"
#include "scheduler/store/store.h"

/* One row with all data of a run's resource: run_view_row. ERR_NOT_FOUND. */
int run_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The same row, available later (db_ask); no row if there is no such run. */
int run_view_ask(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int run_views_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* Whether the workspace has such a run. */
int run_belongs(struct store *store, const char *run_id, const char *workspace_id, bool *ret_belongs, struct err *err);
/* The lifecycle's form of a row that has the columns of a run's decision. An unknown status or stage is read as errored
 * or none. */
#define RUN_OF_ROW(row)                                                                                                \
	run_of_words((row)->status, (row)->stage,                                                                      \
		&(struct run){                                                                                         \
			.stages = (uint32_t)(row)->stages,                                                             \
			.assessment = (row)->assessment,                                                               \
			.query = (row)->query,                                                                         \
			.test = (row)->test,                                                                           \
			.plan_only = (row)->plan_only,                                                                 \
			.save_plan = (row)->save_plan,                                                                 \
			.auto_apply = (row)->auto_apply,                                                               \
			.allow_empty_apply = (row)->allow_empty_apply,                                                 \
			.has_changes = (row)->has_changes,                                                             \
			.queued = (row)->queued,                                                                       \
			.underway = (row)->underway,                                                                   \
			.stopping = (enum stop)(row)->stopping,                                                        \
		})
/* The rest of the run, with its status and stage. */
struct run run_of_words(const char *status, const char *stage, const struct run *rest);

/* A list's filter; NULL: no restriction. Multiple values are separated by commas. */
struct run_filter {
	const char *workspace_id;    /* a workspace whose runs the requester may read; NULL: the whole organization */
	const char *organization_id; /* NULL: the workspace's */
	const char *status, *status_group, *operation, *source, *workspace_names, *pool_names;
	const char *search; /* the run's id, or a part of its message or of its creator's name */
	const char *user;   /* part of the creator's name */
	const char *commit; /* the commit of its configuration */
	long long year;     /* year of creation, or 0 */
	bool past_year;     /* created within the past year */
	bool queue;         /* runs that wait or hold, the longest waiting first */
	long long limit, offset;
};
/* Reads the page's rows, the newest first; they are available later (db_ask). Plan-only runs are excluded unless
 * `operation` asks for them. */
int run_views_ask_page(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err);
/* Counts the runs on all pages: one runs_total_row, available later. */
int run_views_ask_count(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err);

/* A page of the workspace's query runs, the newest first: run_view_row with `total`; a row with a null id if the page
 * is empty. */
int query_runs_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err);

/* The last runs of each workspace whose runs the requester may read, plan-only runs excluded: workspace_id, and runs, a
 * JSON array of {id, status}, the newest first. */
int runs_recent_of(struct store *store, struct db_array *workspace_ids, struct rows *ret_rows, struct err *err);

/* A list of the runs of all organizations, for site admins. */
struct site_runs {
	const char *run_id;    /* only this run, or NULL; if set, the other filters are ignored */
	const char *statuses;  /* separated by commas, or NULL */
	const char *search;    /* part of a workspace's or an organization's name, or NULL */
	const char *from, *to; /* times of creation, or NULL */
	long long limit, offset;
};
/* Rows are site_run_row, the newest first. */
int site_runs_list(struct store *store, const struct site_runs *list, struct rows *ret_rows, struct err *err);

/* One row of a plan or apply: operation_row. ERR_NOT_FOUND. */
int operation_view(struct store *store, const char *operation_id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int operation_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

/* The values of the run's sensitive variables, as an array of strings, for redaction. The run that wrote the state on
 * which the plan is based counts, too: the plan has its values as those before the change. */
int run_secrets(struct store *store, const char *run_id, json_t **ret_values, struct err *err);

#endif
