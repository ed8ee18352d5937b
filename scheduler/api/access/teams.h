/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_TEAMS_H
#define SCHEDULER_API_ACCESS_TEAMS_H

#include "scheduler/api/api.h"
#include "scheduler/store/access/teams.sql.h"

/* The team in the path, if the actor sees it and has the route's permission: a row of store/access/teams.h.
 * ERR_NOT_FOUND. */
int team_in_path(const struct request *req, struct rows *ret_rows, struct err *err);
bool team_is_owners(const struct team_row *row);

#endif
