/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_EXPLORER_EXPLORER_H
#define SCHEDULER_STORE_EXPLORER_EXPLORER_H

/* The explorer: searches what all workspaces of an organization have and use, as far as the requester sees them. */

#include "scheduler/store/explorer/explorer_query.h"
#include "scheduler/store/store.h"

/* The part of the result, in the shape `explorer_row`: `total` is null if the rows are too many to be counted. One row
 * with a null id if the part is empty. */
int explorer_run(struct store *store, const char *organization_id, struct explorer_query *query,
	struct list_range range, struct rows *ret_rows, struct err *err);

#endif
