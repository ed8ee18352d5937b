/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_SITE_WORKSPACES_H
#define SCHEDULER_STORE_WORKSPACES_SITE_WORKSPACES_H

/* The workspaces of all organizations, for site admins. The shape `site_workspace`. */

#include "scheduler/store/store.h"

struct site_workspaces {
	const char *id;       /* one workspace; NULL: all */
	const char *search;   /* part of its name or of its organization's, or NULL */
	const char *statuses; /* of its current run, with commas; or NULL */
	const char *sort; /* name, current-run.created-at, latest-change-at; a hyphen before it reverses it; or NULL */
	long long limit, offset;
};
/* One page, with `total`; a row with a null id if it is empty. */
int site_workspaces_list(
	struct store *store, const struct site_workspaces *list, struct rows *ret_rows, struct err *err);
/* Numbers of workspaces by the status of their current run; null is those without one. */
int site_workspaces_count(struct store *store, struct rows *ret_rows, struct err *err);

#endif
