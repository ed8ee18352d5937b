/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/oauth.h"

#include "scheduler/auth/oauth.sql.h"

#include <string.h>

enum { VERIFIER_MIN = 43, VERIFIER_MAX = 128 };

int oauth_code_create(struct store *store, const struct oauth_consent *consent, char **ret_code, struct err *err)
{
	_cleanup_(freep) char *code = crypto_token("");
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(code, strlen(code), hash);
	if (db_query(store->db, NULL, err, oauth_code_create, .hash = hash, .user_id = consent->user_id,
		    .challenge = consent->challenge, .redirect = consent->redirect,
		    .provider_id = consent->provider_id) < 0)
		return -1;
	*ret_code = code;
	code = NULL;
	return 0;
}

static bool exchange_valid(const struct oauth_exchange *exchange, const struct oauth_code_redeem_row *code)
{
	_cleanup_(freep) char *challenge = crypto_challenge(exchange->verifier);

	return strlen(exchange->verifier) >= VERIFIER_MIN && strlen(exchange->verifier) <= VERIFIER_MAX &&
		crypto_equal(challenge, code->challenge) && text_equal(exchange->redirect, code->redirect_uri);
}

int oauth_code_redeem(
	struct store *store, const struct oauth_exchange *exchange, struct rows *ret_user, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(exchange->code, strlen(exchange->code), hash);
	if (db_query(store->db, ret_user, err, oauth_code_redeem, .hash = hash) < 0)
		return -1;
	if (ret_user->count && !exchange_valid(exchange, row_of(oauth_code_redeem, ret_user, 0)))
		ret_user->count = 0;
	return 0;
}
