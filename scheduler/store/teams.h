/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TEAMS_H
#define SCHEDULER_STORE_TEAMS_H

/*
 * Teams of an organization. Each has a service user, whom its tokens act as: a member of that team and of the
 * organization like any other, and left out wherever people are shown.
 *
 * A secret team is seen by its own members, and by who may see all secret ones. Those that only the organization's
 * tokens act as are seen by nobody.
 */

#include "scheduler/auth/rights.h"
#include "scheduler/store/store.h"

struct team {
	enum team_kind kind;
	const char *name, *visibility, *sso_team_id; /* sso_team_id may be NULL */
	const json_t *organization_access;           /* every flag (auth/rights.h) */
	bool allow_member_token_management;
};

struct team_list {
	const char *organization_id;
	const char *search; /* part of the name, or NULL */
	const char *names;  /* whole names separated by commas, or NULL */
	long long limit, offset;
};

/* Columns: the table's but `rights`, which is what the viewer may in the organization; organization_name, users and
 * memberships (JSON arrays of ids, without the service user). ERR_NOT_FOUND, also for a team that the viewer does not
 * see. */
int team_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Those with these ids; for later (db_ask). */
int teams_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* By name, the owners first, and `total`; a row with a null id if the page is empty. */
int teams_list(struct store *store, const struct team_list *list, struct rows *ret_rows, struct err *err);

/* In a transaction of its own or the caller's. ERR_INVALID "Name has already been taken". */
int team_create(
	struct store *store, const char *organization_id, const struct team *team, struct id *ret_id, struct err *err);
/* Its organization_access and its rights stay as they are if that is NULL. */
int team_update(struct store *store, const char *id, const struct team *team, struct err *err);
/* With its tokens and whatever it was given. */
int team_delete(struct store *store, const char *id, struct err *err);

/* What a new organization begins with: its owners, and those that its tokens act as. In the caller's transaction. */
int teams_begin(struct store *store, const char *organization_id, struct err *err);
/* Makes the user a member of the organization and one of its owners; nothing happens if it is one. */
int owners_join(struct store *store, const char *organization_id, const char *user_id, struct err *err);

/* ---- members ---- */

/* How members are named: by username, or by the id of their membership. */
enum member_name { BY_USERNAME, BY_MEMBERSHIP };

/* ERR_INVALID at /data if one is no member of the organization. */
int team_members_add(
	struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err);
/* ERR_INVALID if no owner would be left. */
int team_members_remove(
	struct store *store, const char *team_id, enum member_name by, const json_t *names, struct err *err);
/* Refuses (ERR_INVALID) what would leave the organization without an owner who has registered; asked within a
 * transaction, after the change. */
int owners_check(struct store *store, const char *organization_id, struct err *err);

#endif
