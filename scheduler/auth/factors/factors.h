/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_FACTORS_FACTORS_H
#define SCHEDULER_AUTH_FACTORS_FACTORS_H

/*
 * Second factors of people: an authenticator app (TOTP), passkeys, and recovery codes for people who have lost both.
 * The first factor makes recovery codes; the last one that is removed deletes them. Secrets are sealed; recovery codes
 * are stored as digests.
 */

#include "scheduler/auth/factors/webauthn.h"
#include "scheduler/store/store.h"

struct factor_standing {
	bool has_app, has_passkey;
	bool is_required; /* by an organization or by the site */
	bool has_password;
	long long recovery_codes; /* that are left */
};
int factor_standing_read(struct store *store, const char *user_id, struct factor_standing *ret, struct err *err);
/* The confirmed factors, as the rows of `factors_of_user`. */
int factors_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err);

/* The result of a code or a passkey. */
enum factor_result {
	FACTOR_WRONG,
	FACTOR_LIMITED, /* too many wrong codes: try later */
	FACTOR_APP,
	FACTOR_RECOVERY_CODE,
	FACTOR_PASSKEY,
};
/* The name in sessions.factors and in audit events: "totp", "recovery_code", "passkey". */
const char *factor_name(enum factor_result result);

/* ---- the app ---- */

/* Makes a secret, which replaces one that was not confirmed. The caller frees it with crypto_secret_freep. ERR_CONFLICT
 * if the user has an app. */
int totp_begin(struct store *store, const char *user_id, char **ret_secret, struct err *err);
/* Confirms the app by its first code. FACTOR_APP or FACTOR_WRONG; *ret_secret is the secret for the next attempt (as
 * above). ERR_CONFLICT without a secret to confirm. */
int totp_confirm(struct store *store, const char *user_id, const char *code, enum factor_result *ret_result,
	char **ret_secret, struct err *err);

/* ---- codes at sign-in ---- */

/* Compares the text with the app's code, or with the recovery codes if it is as long as one. */
int factor_code_check(
	struct store *store, const char *user_id, const char *code, enum factor_result *ret_result, struct err *err);

/* ---- recovery codes ---- */

enum { RECOVERY_CODES = 10, RECOVERY_CODE_SIZE = 20 };
struct recovery_codes {
	char codes[RECOVERY_CODES][RECOVERY_CODE_SIZE]; /* "ABCD-EFGH-IJKL-MNOP" */
};
/* Replaces the user's recovery codes. */
int recovery_codes_make(struct store *store, const char *user_id, struct recovery_codes *ret_codes, struct err *err);
/* The digest of a code, which ignores case, blanks and hyphens. False if the text is no such code. */
bool recovery_code_digest(const char *code, char ret_digest[SHA256_HEX_SIZE]);

/* ---- passkeys ---- */

/* Verifies the browser's answer and stores the passkey. ERR_INVALID; ERR_CONFLICT if it is registered already. */
struct passkey_order {
	const char *user_id, *name, *challenge;
	struct webauthn_creation creation;
};
int passkey_add(struct store *store, const struct passkey_order *order, struct id *ret_id, struct err *err);

/* The ids of the passkeys among the rows of `factors_of_user`, for the browser's script. A new reference. */
json_t *passkey_ids(const struct rows *factors);

struct passkey_use {
	const char *user_id;   /* whose passkey it must be; NULL: anyone's, and it must have verified its user */
	const char *challenge; /* NULL: there is none, or it was used */
	const char *credential;
	struct webauthn_assertion assertion;
};
struct passkey_user {
	struct id factor, user;
	char username[64];
};
/* Verifies the browser's answer. ERR_INVALID says what is wrong: for the audit trail and the log. */
int passkey_check(struct store *store, const struct passkey_use *use, struct passkey_user *ret_user, struct err *err);

/* ---- organizations ---- */

/* ERR_INVALID at the pointer if an owner who signs in with a password has no second factor. */
int owners_factor_check(struct store *store, const char *organization_id, const char *pointer, struct err *err);

/* ---- removing ---- */

/* ERR_NOT_FOUND. */
int factor_remove(struct store *store, const char *user_id, const char *factor_id, struct err *err);
/* ERR_INVALID if the user has none. */
int factors_remove_all(struct store *store, const char *user_id, struct err *err);

#endif
