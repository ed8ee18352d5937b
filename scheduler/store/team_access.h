/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TEAM_ACCESS_H
#define SCHEDULER_STORE_TEAM_ACCESS_H

/* What teams were given in workspaces and in projects: the two differ in little more than their names. */

#include "scheduler/auth/rights.h"
#include "scheduler/store/store.h"

enum access_place { IN_WORKSPACE, IN_PROJECT };

struct team_access {
	const char *team_id, *place_id; /* of a new one: a workspace or a project */
	const char *access;             /* the level's name */
	const json_t *detail;           /* of the workspace, or of the project */
	const json_t *workspace_detail; /* of the project's workspaces; else NULL */
	rights rights;
};

struct access_list {
	enum access_place place;
	const char *place_id;
	long long limit, offset;
};

/* Columns: id, team_id, place_id, organization_id, access, detail, workspace_detail (null in a workspace). Those of
 * teams that the viewer sees, with `total`; a row with a null id if the page is empty. */
int team_accesses_list(struct store *store, const struct access_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int team_access_read(
	struct store *store, enum access_place place, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID if the team has access already, or is none of the organization's that others see. */
int team_access_create(struct store *store, enum access_place place, const struct team_access *access,
	struct id *ret_id, struct err *err);
int team_access_update(struct store *store, enum access_place place, const char *id, const struct team_access *access,
	struct err *err);
int team_access_delete(struct store *store, enum access_place place, const char *id, struct err *err);

#endif
