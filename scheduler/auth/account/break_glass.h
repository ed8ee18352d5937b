/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_ACCOUNT_BREAK_GLASS_H
#define SCHEDULER_AUTH_ACCOUNT_BREAK_GLASS_H

/* Accounts for emergencies: they keep their password where sign-in by a provider is enforced. All site admins learn of
 * each of their sessions. */

#include "scheduler/store/store.h"

/* Queues a mail to all site admins if the account is one for emergencies. Call it in the sign-in's transaction. */
int break_glass_report(struct store *store, const char *user_id, bool *ret_is_break_glass, struct err *err);
/* ERR_NOT_FOUND. */
int break_glass_set(struct store *store, const char *user_id, bool wanted, struct err *err);
/* The same for the operator, by the user's name, with an audit event. ERR_NOT_FOUND. */
int break_glass_set_for(struct store *store, const char *username, bool wanted, struct err *err);

#endif
