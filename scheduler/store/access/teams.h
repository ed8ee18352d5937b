/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_TEAMS_H
#define SCHEDULER_STORE_ACCESS_TEAMS_H

/*
 * Teams of an organization. Each has a service user, the identity of its tokens. The service user is a member of the
 * team and of the organization like any other, and is hidden from lists of users.
 *
 * A secret team is visible to its members and to users with the permission to see all secret teams. Built-in teams for
 * the organization's own tokens are never visible.
 */

#include "scheduler/rights/rights.h"
#include "scheduler/store/store.h"

struct team {
	enum team_kind kind;
	const char *name, *visibility, *sso_team_id; /* sso_team_id may be NULL */
	const json_t *organization_access;           /* every flag (rights/rights.h) */
	bool allow_member_token_management;
};

struct team_list {
	const char *organization_id;
	const char *search; /* part of the name, or NULL */
	const char *names;  /* whole names separated by commas, or NULL */
	long long limit, offset;
};

/* The shape `team`. Its `rights` are the requester's in the organization; `users` and `memberships` are ids, without
 * the service user. ERR_NOT_FOUND, also for a team that the requester may not see. */
int team_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Reads the teams with these ids. The rows are available later (db_ask). */
int teams_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* Sorted by name, the owners first, with `total`; a row with a null id if the page is empty. */
int teams_list(struct store *store, const struct team_list *list, struct rows *ret_rows, struct err *err);

/* The organization's built-in team of that kind. */
int team_built_in(
	struct store *store, const char *organization_id, enum team_kind kind, struct rows *ret_rows, struct err *err);
/* Whether one of the teams, a JSON array of ids, is the owners team. */
int teams_include_owners(struct store *store, const json_t *team_ids, bool *ret_owners, struct err *err);
int team_has_member(struct store *store, const char *team_id, const char *user_id, bool *ret_member, struct err *err);

/* Uses the caller's transaction, or its own. ERR_INVALID "Name has already been taken". */
int team_create(
	struct store *store, const char *organization_id, const struct team *team, struct id *ret_id, struct err *err);
/* If organization_access is NULL, it and the rights are unchanged. */
int team_update(struct store *store, const char *id, const struct team *team, struct err *err);
/* Deletes the team, its tokens and its permissions. */
int team_delete(struct store *store, const char *id, struct err *err);

/* Creates the built-in teams of a new organization: its owners, and those for the organization's tokens. In the
 * caller's transaction. */
int teams_begin(struct store *store, const char *organization_id, struct err *err);
/* Makes the user a member of the organization and an owner. Does nothing for an owner. */
int owners_join(struct store *store, const char *organization_id, const char *user_id, struct err *err);

/* ---- members ---- */

/* The identification of members: by username, or by the id of their membership. */
enum member_name { BY_USERNAME, BY_MEMBERSHIP };

/* ERR_INVALID at /data if one is not a member of the organization. */
int team_members_add(
	struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err);
/* ERR_INVALID if it removes the last owner. */
int team_members_remove(
	struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err);
/* ERR_INVALID if the organization has no registered owner left. Call it within the transaction, after the change. */
int owners_check(struct store *store, const char *organization_id, struct err *err);

#endif
