/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_INVITATIONS_H
#define SCHEDULER_STORE_ACCESS_INVITATIONS_H

/*
 * Invitations to organizations. An invitation is a membership with the status `invited`. Its user has no name, even if
 * a registered user has the address. So it grants no rights, and the organization does not learn whether the address is
 * registered. A user accepts it with the code from its mail, or because the address is theirs and confirmed. Acceptance
 * transfers the membership and its team memberships to that user. The invitation expires after 14 days.
 *
 * Rows have the shape `invitation`; `email` is as the organization wrote it.
 */

#include "scheduler/store/store.h"

struct invited {
	const char *membership_id;
	const char *user_id; /* the user who answers the invitation */
	bool with_code;      /* the user has presented its code: their address may differ */
};

/* Invitations to the user's confirmed address, sorted by organization. No rows if there are none. */
int invitations_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND if it does not exist, is for another user or has expired. */
int invitation_read(struct store *store, const struct invited *invited, struct rows *ret_rows, struct err *err);
/* Makes the user a member. If the code proves that the invited address is theirs, the address is confirmed.
 * ERR_NOT_FOUND as above; ERR_INVALID for a member. Uses the caller's transaction, or its own. */
int invitation_accept(struct store *store, const struct invited *invited, struct err *err);
/* ERR_NOT_FOUND as above. */
int invitation_decline(struct store *store, const struct invited *invited, struct err *err);

/* Queues the mail with the link. Call it in the transaction that creates the invitation. */
int invitation_mail_queue(struct store *store, const char *membership_id, struct err *err);
struct invitation_mail {
	const char *membership_id;
	const char *invited_by; /* the organization's name */
	const char *expires_at;
};
/* The text of that mail, with the link. The caller frees it. */
char *invitation_mail_text(const struct store *store, const struct invitation_mail *mail);
/* True if the code is that of the invitation. */
bool invitation_code_valid(const struct store *store, const char *membership_id, const char *code);

/* Deletes the user if they have no name and are not invited by any organization any more. */
int invited_users_delete(struct store *store, const char *user_id, struct err *err);
/* Deletes the invitations that have expired. */
int invitations_sweep(struct store *store, struct err *err);

#endif
