/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_TEAM_ACCESS_H
#define SCHEDULER_STORE_ACCESS_TEAM_ACCESS_H

/* Teams' permissions in workspaces and projects. Both kinds use the same statements on different tables. */

#include "scheduler/rights/rights.h"
#include "scheduler/store/store.h"

enum access_place { IN_WORKSPACE, IN_PROJECT };

struct team_access {
	const char *team_id, *place_id; /* for creation: a workspace or a project */
	const char *access;             /* the access level's name */
	const json_t *detail;           /* permissions in the workspace, or in the project */
	const json_t *workspace_detail; /* permissions in the project's workspaces; else NULL */
	rights rights;
};

struct access_list {
	enum access_place place;
	const char *place_id;
	const char *team_id; /* NULL: of all teams */
	long long limit, offset;
};

/* Lists the access of teams that the requester may see: the shape `team_access`, whose workspace_detail is null in a
 * workspace. A row with a null id if the page is empty. */
int team_accesses_list(struct store *store, const struct access_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int team_access_read(
	struct store *store, enum access_place place, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID if the team has access already, is not a team of the organization, is its owners team or is not visible
 * to the requester. */
int team_access_create(struct store *store, enum access_place place, const struct team_access *access,
	struct id *ret_id, struct err *err);
int team_access_update(struct store *store, enum access_place place, const char *id, const struct team_access *access,
	struct err *err);
int team_access_delete(struct store *store, enum access_place place, const char *id, struct err *err);

#endif
