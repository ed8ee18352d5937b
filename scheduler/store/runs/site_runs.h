/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_SITE_RUNS_H
#define SCHEDULER_STORE_RUNS_SITE_RUNS_H

/* The runs of all organizations, for site admins. */

#include "scheduler/store/store.h"

struct site_runs {
	const char *run_id;    /* only this run, or NULL; if set, the other filters are ignored */
	const char *statuses;  /* separated by commas, or NULL */
	const char *search;    /* part of a workspace's or an organization's name, or NULL */
	const char *from, *to; /* times of creation, or NULL */
	long long limit, offset;
};
/* Columns id, workspace_id, organization_name, status, status_timestamps, has_changes, created_at; newest first. */
int site_runs_list(struct store *store, const struct site_runs *list, struct rows *ret_rows, struct err *err);

#endif
