/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_MEMBERSHIPS_H
#define SCHEDULER_STORE_ACCESS_MEMBERSHIPS_H

/*
 * Members of organizations. A new membership is an invitation (store/access/invitations.h), whether or not a registered
 * user has the address. Until a user accepts it, its status is `invited` and its user has no name.
 */

#include "scheduler/store/store.h"

struct membership_list {
	const char *organization_id;
	const char *search; /* part of a username or an address, or NULL */
	const char *emails; /* whole addresses separated by commas, or NULL */
	const char *status; /* or NULL */
	long long limit, offset;
};

/* The shape `membership`; its teams are those that the requester may see. Service users are excluded. */
int memberships_list(struct store *store, const struct membership_list *list, struct rows *ret_rows, struct err *err);
/* The same for the organizations of a user, without invitations: whoever is invited does not see the organization. */
int memberships_of_user(
	struct store *store, const char *user_id, struct list_range range, struct rows *ret_rows, struct err *err);
/* The same for the members of a team. `status`: or NULL. */
int memberships_of_team(struct store *store, const char *team_id, const char *status, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* Reads the memberships with these ids. The rows are available later (db_ask). */
int memberships_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int membership_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

struct invitation {
	const char *organization_id;
	const char *email;
	const json_t *team_ids; /* initial teams, or NULL */
};
/* Creates an invitation and queues its mail. ERR_INVALID if the address belongs to a member or is invited already, and
 * for a team of another organization. */
int membership_create(struct store *store, const struct invitation *invitation, struct id *ret_id, struct err *err);
/* Whether removing the member needs more than the management of memberships. One row if the member is an owner (column
 * `owners`), or is in a team that the requester may not see. */
int membership_guarded(
	struct store *store, const char *organization_id, const char *user_id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID if it removes the last owner. ERR_FORBIDDEN for a member by a SCIM group. */
int membership_delete(struct store *store, const char *id, struct err *err);

#endif
