/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_MEMBERSHIPS_H
#define SCHEDULER_STORE_MEMBERSHIPS_H

/*
 * Who belongs to an organization. A new membership is an invitation (store/invitations.h), whether or not a person has
 * the address: its status is `invited`, and its user has no name, until the person accepts it.
 */

#include "scheduler/store/store.h"

struct membership_list {
	const char *organization_id;
	const char *search; /* part of a username or an address, or NULL */
	const char *emails; /* whole addresses separated by commas, or NULL */
	const char *status; /* or NULL */
	long long limit, offset;
};

/* Columns: id, organization_id, organization_name, user_id, email, username, status, created_at, teams (a JSON array of
 * ids: those that the viewer sees). Service users are left out. */
int memberships_list(struct store *store, const struct membership_list *list, struct rows *ret_rows, struct err *err);
/* Those with these ids; for later (db_ask). */
int memberships_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int membership_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

struct invitation {
	const char *organization_id;
	const char *email;
	const json_t *team_ids; /* teams to begin in, or NULL */
};
/* Invites, and queues the mail. ERR_INVALID for a member's address, for one that is invited already, and for a team
 * that is none of the organization's. */
int membership_create(struct store *store, const struct invitation *invitation, struct id *ret_id, struct err *err);
/* ERR_INVALID for the last owner. */
int membership_delete(struct store *store, const char *id, struct err *err);

#endif
