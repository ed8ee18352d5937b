/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_INSTALLATIONS_H
#define SCHEDULER_STORE_VCS_INSTALLATIONS_H

/*
 * Installations of the site's GitHub App: the API's github-app-installations. An installation belongs to one
 * organization. A user who owns it at GitHub has connected it (auth/vcs/app.h).
 *
 * Rows are `vcs_installation`: call_error is why the last call to GitHub failed, blocked_until the end of a pause that
 * GitHub requested.
 */

#include "scheduler/store/vcs/connections.h"

/* An installation as GitHub's API describes it. */
struct installation {
	long long number;    /* GitHub's id */
	const char *account; /* its login */
	const char *kind;    /* "Organization" or "User" */
	const char *icon_url, *web_url;
};

/* Sorted by name, with `total`; a row with a null id if the page is empty. */
struct installation_list {
	struct db_array *organizations; /* ids; NULL: of all */
	const char *name;               /* NULL: of any */
	long long number;               /* 0: any */
	struct list_range range;
};
int installations_list(
	struct store *store, const struct installation_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND, also for one that was removed at GitHub. */
int installation_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

/* Connects an installation to the organization. ERR_CONFLICT if another one has it. */
int installation_connect(struct store *store, const char *organization_id, const struct installation *installation,
	struct id *ret_id, struct err *err);
/* Sets its agent pools. */
int installation_pools_set(struct store *store, const char *id, const struct vcs_pools *pools, struct err *err);
/* Stores the token. Repositories that were errored because of the installation are looked at again. */
struct installation_token {
	const char *token;
	long long expires_in; /* seconds */
};
int installation_token_put(
	struct store *store, const char *id, const struct installation_token *token, struct err *err);
/* Records that the installation can't be used. Its repositories become errored, and a vcs-event has the reason.
 * `removed`: it can never be used again. */
int installation_fail(struct store *store, const char *id, const char *why, bool removed, struct err *err);

/* ---- webhooks of the App ---- */

/* The row of an installation, by GitHub's number: the column id. No row if it is not connected. */
int installation_find(struct store *store, long long number, struct rows *ret_rows, struct err *err);
/* A delivery of the App about a repository. */
struct app_delivery {
	long long installation, repository; /* GitHub's numbers */
	const char *identifier;
};
/* Finds the repositories of the deliveries among those that the installations' organizations use. Columns: n (an index
 * of `deliveries`), id. */
int app_deliveries_find(struct store *store, const struct app_delivery *deliveries, size_t count, struct rows *ret_rows,
	struct err *err);

#endif
