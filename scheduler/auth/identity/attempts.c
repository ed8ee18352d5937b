/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/attempts.h"

#include <string.h>

#include "scheduler/auth/identity/attempts.sql.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/store/content/seals.h"

enum { SEALED_LIMIT = 16 << 10, MAX_TEXT = 200 };

/* Followed by the digest of the state; store/key_rotation.sql has it, too. */
#define SECRETS_SEAL "sign-in-attempt:"

void sign_in_attempt_release(struct sign_in_attempt *attempt)
{
	crypto_secret_freep(&attempt->state);
	crypto_secret_freep(&attempt->cookie);
	crypto_secret_freep(&attempt->secrets);
	free(attempt->request_id);
	free(attempt->return_path);
}

int sign_in_attempt_begin(struct store *store, const struct sign_in_attempt_order *order, const char *cookie,
	struct sign_in_attempt *ret_attempt, struct err *err)
{
	bool known = text_or_null(cookie) && strlen(cookie) <= MAX_TEXT;
	struct sign_in_attempt attempt = {
		.state = crypto_token(""), .cookie = known ? mem_text(cookie) : crypto_token("")};
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *context = NULL;
	char state[SHA256_HEX_SIZE], browser[SHA256_HEX_SIZE];

	session_hash(attempt.state, state);
	session_hash(attempt.cookie, browser);
	context = mem_printf(SECRETS_SEAL "%s", state);
	if (order->secrets)
		seal_text(store, context, order->secrets, &sealed);
	if (db_query(store->db, NULL, err, sign_in_attempt_begin, .state_hash = state,
		    .provider_id = order->provider_id, .browser_hash = browser, .purpose = order->purpose,
		    .user_id = order->user_id, .request_id = order->request_id,
		    .secrets_sealed = order->secrets ? db_blob(sealed.data, sealed.len) : db_blob(NULL, 0),
		    .return_path = order->return_path) < 0) {
		sign_in_attempt_release(&attempt);
		return -1;
	}
	*ret_attempt = attempt;
	return 0;
}

static int attempt_read(struct store *store, const char *context, const struct sign_in_attempt_redeem_row *row,
	struct sign_in_attempt *ret_attempt, struct err *err)
{
	_cleanup_(buf_release) struct buf secrets = BUF_INIT(SEALED_LIMIT);

	if (row->secrets_sealed.text && seal_open(store, context, row->secrets_sealed, &secrets, err) < 0)
		return -1;
	*ret_attempt = (struct sign_in_attempt){.request_id = mem_text(text_or_empty(row->request_id)),
		.return_path = mem_text(row->return_path),
		.secrets = row->secrets_sealed.text ? buf_take(&secrets) : NULL};
	text_copy(ret_attempt->purpose, sizeof(ret_attempt->purpose), row->purpose);
	text_copy(ret_attempt->provider_id.text, ID_SIZE, row->provider_id);
	text_copy(ret_attempt->user_id.text, ID_SIZE, text_or_empty(row->user_id));
	return 0;
}

int sign_in_attempt_redeem(struct store *store, const char *state, const char *cookie, const char *provider_id,
	struct sign_in_attempt *ret_attempt, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *context = NULL;
	char state_hash[SHA256_HEX_SIZE], browser[SHA256_HEX_SIZE];

	session_hash(state, state_hash);
	session_hash(text_or_empty(cookie), browser);
	if (db_query(store->db, &rows, err, sign_in_attempt_redeem, .state_hash = state_hash, .browser_hash = browser,
		    .provider_id = provider_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_FORBIDDEN,
			"This sign-in was used before, is older than ten minutes, or began in another browser. "
			"Sign in again.");
	context = mem_printf(SECRETS_SEAL "%s", state_hash);
	return attempt_read(store, context, row_of(sign_in_attempt_redeem, &rows, 0), ret_attempt, err);
}

char *sign_in_attempt_set_cookie(const struct store *store, const char *cookie)
{
	static const struct cookie_kind kind = {ATTEMPT_COOKIE, "/", 600};

	return cookie_header(store, &kind, cookie);
}

int sign_in_attempts_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, sign_in_attempts_sweep);
}
