/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CHANGE_REQUESTS_CHANGE_REQUESTS_H
#define SCHEDULER_STORE_CHANGE_REQUESTS_CHANGE_REQUESTS_H

/*
 * Change requests of workspaces. The rows are change_request_row.
 *
 * A workspace has at most MAX_OPEN_CHANGE_REQUESTS open ones, and keeps the newest MAX_ARCHIVED_CHANGE_REQUESTS that
 * are archived.
 */

#include "scheduler/store/store.h"

enum {
	MAX_OPEN_CHANGE_REQUESTS = 100,
	MAX_ARCHIVED_CHANGE_REQUESTS = 500,
	MAX_CHANGE_REQUEST_WORKSPACES = 1000, /* of one action */
};

enum change_request_filter { CHANGE_REQUESTS_ALL, CHANGE_REQUESTS_OPEN, CHANGE_REQUESTS_ARCHIVED };

struct change_request_list {
	const char *workspace_id;
	enum change_request_filter filter;
	struct list_range range;
};
/* One page: the open ones first, the newest first, with `total`; a row with a null id if the page is empty. */
int change_requests_list(
	struct store *store, const struct change_request_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int change_request_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

struct change_request_draft {
	const char *organization_id;
	const char *subject, *message, *created_by; /* the last one may be NULL */
	const json_t *workspace_ids;                /* texts, at most MAX_CHANGE_REQUEST_WORKSPACES; borrowed */
};
/*
 * Creates a request in each of the workspaces, and the notifications of them: change_requests_create_row. In a
 * transaction. ERR_INVALID if a workspace is not the organization's, or has the maximum number of open requests.
 */
int change_requests_create(
	struct store *store, const struct change_request_draft *draft, struct rows *ret_rows, struct err *err);
/* Archives an open request; one that is archived stays as it is. */
int change_request_archive(struct store *store, const char *id, const char *archived_by, struct err *err);

#endif
