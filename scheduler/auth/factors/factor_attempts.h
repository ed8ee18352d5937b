/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_FACTORS_FACTOR_ATTEMPTS_H
#define SCHEDULER_AUTH_FACTORS_FACTOR_ATTEMPTS_H

/*
 * Attempts of browsers: a sign-in that waits for a second factor, a sign-in with a passkey alone, or the registration
 * of a passkey. An attempt is no session. It belongs to a cookie of the browser, whose digest the database stores, so
 * any scheduler continues it. It is valid for ten minutes, and its challenge once.
 */

#include "common/crypto.h"
#include "scheduler/store/store.h"

#define FACTOR_COOKIE "runyard_factor"

enum factor_purpose {
	FOR_SECOND_FACTOR, /* the password was right */
	FOR_PASSKEY,       /* the browser has proved nothing yet */
	FOR_REGISTRATION,  /* the cookie is the session's */
};

struct factor_attempt {
	enum factor_purpose purpose;
	const char *cookie;
};

struct factor_attempt_order {
	struct factor_attempt attempt;
	const char *user_id;     /* NULL for FOR_PASSKEY */
	const char *return_path; /* or NULL */
};
/* Begins an attempt with a challenge, which the caller frees. */
int factor_attempt_begin(
	struct store *store, const struct factor_attempt_order *order, char **ret_challenge, struct err *err);
/* The attempt as a row of `factor_attempt_read`; no row if there is none. */
int factor_attempt_read(
	struct store *store, const struct factor_attempt *attempt, struct rows *ret_rows, struct err *err);
/* A new challenge for an attempt that has begun. The caller frees it. */
int factor_challenge_renew(
	struct store *store, const struct factor_attempt *attempt, char **ret_challenge, struct err *err);
/* Takes the challenge, which no other request gets then. NULL if there is none. The caller frees it. */
int factor_challenge_take(
	struct store *store, const struct factor_attempt *attempt, char **ret_challenge, struct err *err);
/* Counts a wrong answer. The tenth ends the attempt. */
int factor_attempt_fail(struct store *store, const struct factor_attempt *attempt, struct err *err);
/* Ends the attempt. *ret_ended is false if another request has ended it. */
int factor_attempt_end(struct store *store, const struct factor_attempt *attempt, bool *ret_ended, struct err *err);

/* The value of Set-Cookie; a NULL cookie deletes it. The caller frees it. */
char *factor_set_cookie(const struct store *store, const char *cookie);
/* Deletes old attempts and old links that set a password. */
int factor_attempts_sweep(struct store *store, struct err *err);

#endif
