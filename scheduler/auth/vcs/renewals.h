/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_VCS_RENEWALS_H
#define SCHEDULER_AUTH_VCS_RENEWALS_H

/*
 * When tokens that expire are renewed: OAuth's, by their refresh token, and those of installations of the site's GitHub
 * App. Each has a row with its next time, after three quarters of its life. The scheduler that takes a due row has a
 * minute to renew it (background/vcs/renewals.h). Schedulers listen to RENEWALS_CHANNEL for times that are sooner.
 */

#include "scheduler/store/store.h"

#define RENEWALS_CHANNEL "runyard_renewals"

/* Plans the next renewal of a connection's token, which has just been stored; 0 seconds: never. */
int renewal_plan_token(struct store *store, const char *connection_id, long long expires_in, struct err *err);
/* Plans the renewal of an installation's token: at once, or after its next success. */
int renewal_plan_installation(struct store *store, const char *installation_id, long long in_seconds, struct err *err);

/* The provider refused the token of a repository with 401. Plans its renewal at once. *ret_again is true if the refused
 * call may succeed with another token, so that its caller can try it again, once, after some seconds. Also for git. */
int renewal_hasten(struct store *store, const char *repository_id, bool *ret_again, struct err *err);

/* Takes due rows. Columns: subject_id, token_id or installation_id, generation, failures. */
int renewals_take(struct store *store, int max, struct rows *ret_rows, struct err *err);
/* Milliseconds until the next row is due; -1: there is none. */
int renewals_wait(struct store *store, long long *ret_ms, struct err *err);

struct renewal {
	const char *subject_id;
	long long generation, failures;
};
/* Whether the row is still that of the token that was renewed; locks it until the transaction ends. A user may have
 * replaced the token meanwhile. */
int renewal_is_current(struct store *store, const struct renewal *renewal, bool *ret_current, struct err *err);
/* Tries again later: after `retry_after` seconds, or with growing pauses (30 s to 15 min). */
int renewal_postpone(struct store *store, const struct renewal *renewal, long long retry_after, struct err *err);
/* Shows a failure among the organization's vcs-events. */
int renewal_note(struct store *store, const char *connection_id, const char *message, struct err *err);
/* The subject is never renewed again. */
int renewal_end(struct store *store, const struct renewal *renewal, struct err *err);

#endif
