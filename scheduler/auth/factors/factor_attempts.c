/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/factors/factor_attempts.h"

#include "scheduler/auth/factors/factor_attempts.sql.h"
#include "scheduler/auth/sessions.h"

static const char *const purposes[] = {
	[FOR_SECOND_FACTOR] = "second_factor", [FOR_PASSKEY] = "passkey", [FOR_REGISTRATION] = "registration"};

struct attempt_key {
	char hash[SHA256_HEX_SIZE];
	const char *purpose;
};

static struct attempt_key key_of(const struct factor_attempt *attempt)
{
	struct attempt_key key = {.purpose = purposes[attempt->purpose]};

	session_hash(text_or_empty(attempt->cookie), key.hash);
	return key;
}

int factor_attempt_begin(
	struct store *store, const struct factor_attempt_order *order, char **ret_challenge, struct err *err)
{
	_cleanup_(freep) char *challenge = crypto_token("");
	const struct attempt_key key = key_of(&order->attempt);

	if (db_query(store->db, NULL, err, factor_attempt_begin, .browser_hash = key.hash, .purpose = key.purpose,
		    .user_id = order->user_id, .challenge = challenge, .return_path = order->return_path) < 0)
		return -1;
	*ret_challenge = challenge;
	challenge = NULL;
	return 0;
}

int factor_attempt_read(
	struct store *store, const struct factor_attempt *attempt, struct rows *ret_rows, struct err *err)
{
	const struct attempt_key key = key_of(attempt);

	return db_query(
		store->db, ret_rows, err, factor_attempt_read, .browser_hash = key.hash, .purpose = key.purpose);
}

int factor_challenge_renew(
	struct store *store, const struct factor_attempt *attempt, char **ret_challenge, struct err *err)
{
	_cleanup_(freep) char *challenge = crypto_token("");
	const struct attempt_key key = key_of(attempt);

	if (db_query(store->db, NULL, err, factor_challenge_set, .browser_hash = key.hash, .purpose = key.purpose,
		    .challenge = challenge) < 0)
		return -1;
	*ret_challenge = challenge;
	challenge = NULL;
	return 0;
}

int factor_challenge_take(
	struct store *store, const struct factor_attempt *attempt, char **ret_challenge, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct attempt_key key = key_of(attempt);

	if (db_query(store->db, &rows, err, factor_challenge_take, .browser_hash = key.hash, .purpose = key.purpose) <
		0)
		return -1;
	*ret_challenge = mem_text(row_of(factor_challenge_take, &rows, 0)->challenge);
	return 0;
}

int factor_attempt_fail(struct store *store, const struct factor_attempt *attempt, struct err *err)
{
	const struct attempt_key key = key_of(attempt);

	return db_query(store->db, NULL, err, factor_attempt_fail, .browser_hash = key.hash, .purpose = key.purpose);
}

int factor_attempt_end(struct store *store, const struct factor_attempt *attempt, bool *ret_ended, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct attempt_key key = key_of(attempt);

	if (db_query(store->db, &rows, err, factor_attempt_end, .browser_hash = key.hash, .purpose = key.purpose) < 0)
		return -1;
	*ret_ended = rows.count > 0;
	return 0;
}

char *factor_set_cookie(const struct store *store, const char *cookie)
{
	static const struct cookie_kind kind = {FACTOR_COOKIE, "/app/login", 0};

	return cookie_header(store, &kind, cookie);
}

int factor_attempts_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, factor_attempts_sweep);
}
