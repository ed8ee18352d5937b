/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_PERMISSIONS_H
#define SCHEDULER_API_ACCESS_PERMISSIONS_H

/* The `permissions` attribute of resources: the requester's permissions, by their names in the API. */

#include "scheduler/db/db.h"
#include "scheduler/rights/rights.h"

struct permission_shown {
	const char *name; /* "can-update" */
	enum permission permission;
};

/* {"can-update": true, ...} from a row's column `rights` (store/access/response_scope.h). A new reference. */
json_t *rights_shown(const struct permission_shown *table, size_t count, long long of_row);
/* Whether the row's `rights` include the permission. */
bool rights_may(long long of_row, enum permission permission);

#endif
