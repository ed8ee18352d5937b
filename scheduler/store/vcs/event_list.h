/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENT_LIST_H
#define SCHEDULER_STORE_VCS_EVENT_LIST_H

/*
 * Lists events of repositories, for the API.
 *
 * Rows are `vcs_event`.
 */

#include "scheduler/store/store.h"

struct vcs_event_list {
	const char *organization_id;
	/* NULL: any. Times as PostgreSQL reads them; lists are separated by commas. */
	const char *from, *to, *levels, *connection_ids;
	const char *workspace; /* events that decided something for the workspace with this name */
	long long limit, offset;
};
/* The newest first, with `total`; a row with a null id if the page is empty. */
int vcs_events_list(struct store *store, const struct vcs_event_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int vcs_event_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The outcomes of the event in the workspaces that the requester sees, and in policy sets. Columns: subject_id, name,
 * reason, run_id, configuration_version_id. */
int vcs_outcomes_read(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err);

#endif
