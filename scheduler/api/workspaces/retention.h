/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_RETENTION_H
#define SCHEDULER_API_WORKSPACES_RETENTION_H

#include "scheduler/api/api.h"

/* The relation to a data retention policy. NULL gives null. */
json_t *retention_to_one(const char *retention_id, bool retains_all);

#endif
