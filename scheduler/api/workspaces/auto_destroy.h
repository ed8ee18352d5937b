/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_AUTO_DESTROY_H
#define SCHEDULER_API_WORKSPACES_AUTO_DESTROY_H

/* Automatic destruction of a workspace's resources: at a set time, or at a set time after their last change. */

#include "scheduler/api/api.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

/* ERR_INVALID unless the duration is NULL, or has a form such as "14d" or "9999h". */
int duration_check(const char *duration, struct err *err);
/* Checks the attributes that a body set in `settings`, and combines them into one rule. */
int auto_destroy_read(json_t *settings, struct err *err);
/* Adds the attributes of a workspace's row: the inherited rule, and the time that results from it. */
void auto_destroy_show(const struct workspace_view_row *workspace, json_t *attributes);

#endif
