/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_RETENTION_H
#define SCHEDULER_API_WORKSPACES_RETENTION_H

#include "scheduler/api/api.h"

/* The relation to the data retention policy of a row with retention_id and retains_all. */
json_t *retention_relation(const struct rows *rows, int row);

#endif
