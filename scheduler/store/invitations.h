/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_INVITATIONS_H
#define SCHEDULER_STORE_INVITATIONS_H

/*
 * Invitations into organizations. An invitation is a membership with the status `invited`. It belongs to a user without
 * a name, also where a person already has the address. So it gives nobody a right, and the organization does not learn
 * who is registered. A person accepts it with the code of its mail, or because the address is theirs and confirmed; the
 * membership and the places in teams become theirs then. It expires INVITATION_DAYS after it was made.
 *
 * Columns read: id, organization_id, organization_name, email (as the organization wrote it), created_at, expires_at.
 */

#include "scheduler/store/store.h"

#define INVITATION_DAYS "14"

/* The conditions that the membership `m` is an invitation that can still be accepted, and that it is one no more. */
#define INVITATION_VALID   "m.status = 'invited' and m.created_at > now() - interval '" INVITATION_DAYS " days' "
#define INVITATION_EXPIRED "m.status = 'invited' and m.created_at <= now() - interval '" INVITATION_DAYS " days' "

struct invited {
	const char *membership_id;
	const char *user_id; /* the person who answers the invitation */
	bool with_code;      /* they have shown its code: their address may be another one */
};

/* Those to the person's confirmed address, by organization. Without a row if there are none. */
int invitations_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND also for one that is not this person's, or has expired. */
int invitation_read(struct store *store, const struct invited *invited, struct rows *ret_rows, struct err *err);
/* Makes the person a member. An address that the code proves to be theirs is confirmed. ERR_NOT_FOUND as above;
 * ERR_INVALID for a member. In a transaction of its own or the caller's. */
int invitation_accept(struct store *store, const struct invited *invited, struct err *err);
/* ERR_NOT_FOUND as above. */
int invitation_decline(struct store *store, const struct invited *invited, struct err *err);

/* Queues the mail that brings the link. In the transaction that makes the invitation. */
int invitation_mail_queue(struct store *store, const char *membership_id, struct err *err);
/* The text of that mail, with the link. `rows` has membership_id, invited_by and expires_at. The caller frees it. */
char *invitation_mail_text(const struct store *store, const struct rows *rows, int row);
/* True if the code is that of the invitation. */
bool invitation_code_valid(const struct store *store, const char *membership_id, const char *code);

/* Deletes the user if they have no name and no organization invites them any more. */
int invited_users_delete(struct store *store, const char *user_id, struct err *err);
/* Deletes the invitations that have expired. */
int invitations_sweep(struct store *store, struct err *err);

#endif
