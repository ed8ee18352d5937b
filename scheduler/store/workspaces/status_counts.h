/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_STATUS_COUNTS_H
#define SCHEDULER_STORE_WORKSPACES_STATUS_COUNTS_H

/* Counts the workspaces of a list by the status of their current run, as filter[current-run][status] selects them. */

#include "scheduler/store/store.h"

/* Those that the requester may see, in the projects (ids, separated by commas; NULL: all). One row per status: status
 * (null: no run yet), workspaces, locked. Reads each workspace and its current run once. */
int workspaces_count_statuses(struct store *store, const char *organization_id, const char *project_ids,
	struct rows *ret_rows, struct err *err);

#endif
