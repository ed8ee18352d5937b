/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/oauth.h"

#include <string.h>

enum { VERIFIER_MIN = 43, VERIFIER_MAX = 128 };

int oauth_code_create(struct store *store, const struct oauth_consent *consent, char **ret_code, struct err *err)
{
	_cleanup_(freep) char *code = crypto_token("");
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(code, strlen(code), hash);
	if (db_query(store->db, NULL, err,
		    "insert into oauth_codes (hash, user_id, challenge, redirect_uri) values ($1, $2, $3, $4)",
		    P_TEXT(hash), P_TEXT(consent->user_id), P_TEXT(consent->challenge), P_TEXT(consent->redirect)) < 0)
		return -1;
	*ret_code = code;
	code = NULL;
	return 0;
}

static bool exchange_valid(const struct oauth_exchange *exchange, const struct rows *code)
{
	_cleanup_(freep) char *challenge = crypto_challenge(exchange->verifier);

	return strlen(exchange->verifier) >= VERIFIER_MIN && strlen(exchange->verifier) <= VERIFIER_MAX &&
		crypto_equal(challenge, row_text(code, 0, "challenge")) &&
		text_equal(exchange->redirect, row_text(code, 0, "redirect_uri"));
}

int oauth_code_redeem(
	struct store *store, const struct oauth_exchange *exchange, struct rows *ret_user, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(exchange->code, strlen(exchange->code), hash);
	if (db_query(store->db, ret_user, err,
		    "with c as (delete from oauth_codes where hash = $1 returning *) "
		    "select c.user_id, c.challenge, c.redirect_uri, u.username from c join users u on u.id = c.user_id "
		    "where c.created_at > now() - interval '5 minutes'",
		    P_TEXT(hash)) < 0)
		return -1;
	if (ret_user->count && !exchange_valid(exchange, ret_user))
		ret_user->count = 0;
	return 0;
}
