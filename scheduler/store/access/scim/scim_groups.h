/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_SCIM_SCIM_GROUPS_H
#define SCHEDULER_STORE_ACCESS_SCIM_SCIM_GROUPS_H

/* Groups that an identity provider maintains by SCIM. Changes are made in the caller's transaction, after
 * scim_group_lock; teams follow them by scim_teams_follow (scim_teams.h). */

#include "scheduler/store/access/scim/scim_users.h"

enum { SCIM_MAX_MEMBERS = 10000 };

/* ERR_CONFLICT if a group has that name, in any case. */
int scim_group_create(struct store *store, const char *display_name, const char *external_id, char ret_id[SCIM_ID_SIZE],
	struct err *err);
int scim_group_update(
	struct store *store, const char *id, const char *display_name, const char *external_id, struct err *err);
/* The shape `scim_group`; `members` is null if they were not asked for. ERR_NOT_FOUND. */
int scim_group_read(struct store *store, const char *id, bool members, struct rows *ret_rows, struct err *err);
/* Columns display_name, external_id. ERR_NOT_FOUND. */
int scim_group_lock(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* With `total`; one row with a null id if the page is empty. */
int scim_groups_list(struct store *store, const struct scim_list *list, struct rows *ret_rows, struct err *err);
/* For site admins: groups whose names contain the text (NULL: all), by name, with `total` and the number of members;
 * one row with a null id if the page is empty. */
struct scim_group_search {
	const char *text;
	long long limit, offset;
};
int scim_groups_search(
	struct store *store, const struct scim_group_search *search, struct rows *ret_rows, struct err *err);
int scim_group_delete(struct store *store, const char *id, struct err *err);

/* Changes of a group's members, in the order in which the operations of a request make them. */
struct scim_members {
	bool cleared;            /* all others are removed first */
	json_t *added, *removed; /* objects of ids; the values of `added` are the names to show, or null */
};
void scim_members_init(struct scim_members *members);
void scim_members_release(struct scim_members *members);
void scim_members_add(struct scim_members *members, const char *id, const char *display);
void scim_members_remove(struct scim_members *members, const char *id);
void scim_members_clear(struct scim_members *members);
bool scim_members_any(const struct scim_members *members);
/* ERR_NOT_FOUND if an added id is that of no user. ERR_TOO_LARGE for more than SCIM_MAX_MEMBERS. */
int scim_members_write(struct store *store, const char *group_id, const struct scim_members *members, struct err *err);

#endif
