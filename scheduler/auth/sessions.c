/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/sessions.h"

#include "scheduler/auth/sessions.sql.h"

#include <stdio.h>
#include <string.h>

enum { MAX_AGENT = 256 };

void session_hash(const char *cookie, char ret_hash[SHA256_HEX_SIZE])
{
	crypto_sha256_hex(cookie, strlen(cookie), ret_hash);
}

int session_create(struct store *store, const struct session_order *order, char **ret_cookie, struct err *err)
{
	_cleanup_(db_array_release) struct db_array none = DB_ARRAY_INIT;
	_cleanup_(freep) char *cookie = crypto_token("");
	char hash[SHA256_HEX_SIZE], agent[MAX_AGENT];

	session_hash(cookie, hash);
	text_copy(agent, sizeof(agent), text_or_empty(order->agent));
	if (db_query(store->db, NULL, err, session_create, .hash = hash, .user_id = order->user_id,
		    .address = order->address, .agent = agent, .method = order->method,
		    .factors = order->factors ? order->factors : &none, .provider_id = order->provider_id,
		    .provider_session = order->provider_session) < 0)
		return -1;
	*ret_cookie = cookie;
	cookie = NULL;
	return 0;
}

int session_from(struct store *store, const char *username, const char *address, bool *ret_found, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, session_from_address, .username = username, .address = address) < 0)
		return -1;
	*ret_found = rows.count > 0;
	return 0;
}

int session_delete(struct store *store, const char *cookie, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	session_hash(cookie, hash);
	return db_query(store->db, NULL, err, session_delete, .hash = hash);
}

int sessions_end_others(struct store *store, const char *user_id, const char *keep_hash, struct err *err)
{
	return db_query(store->db, NULL, err, sessions_end_others, .user_id = user_id, .keep_session = keep_hash);
}

int sessions_end_of_provider(
	struct store *store, const struct session_end *end, struct rows *ret_users, struct err *err)
{
	return db_query(store->db, ret_users, err, sessions_end_of_provider, .provider_id = end->provider_id,
		.provider_session = end->provider_session, .issuer = end->issuer, .subject = end->subject);
}

int session_confirm(struct store *store, const char *cookie, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	session_hash(cookie, hash);
	return db_query(store->db, NULL, err, session_confirm, .hash = hash);
}

static void csrf_make(const struct store *store, size_t place, const char *cookie, char ret_token[SHA256_HEX_SIZE])
{
	unsigned char key[32];

	keyring_derive(store->keyring, place, "csrf", key);
	crypto_hmac_hex(key, sizeof(key), cookie, ret_token);
}

void session_csrf(const struct store *store, const char *cookie, char ret_token[SHA256_HEX_SIZE])
{
	csrf_make(store, 0, cookie, ret_token);
}

bool session_csrf_valid(const struct store *store, const char *cookie, const char *sent)
{
	bool valid = false;

	for (size_t place = 0; sent && place < keyring_count(store->keyring); place++) {
		char token[SHA256_HEX_SIZE];

		csrf_make(store, place, cookie, token);
		valid |= crypto_equal(token, sent);
	}
	return valid;
}

char *cookie_header(const struct store *store, const struct cookie_kind *kind, const char *cookie)
{
	const char *secure = text_starts(store->settings->public_url, "https://") ? "; Secure" : "";
	char age[32] = "";

	if (!cookie || kind->max_age)
		snprintf(age, sizeof(age), "; Max-Age=%d", cookie ? kind->max_age : 0);
	return mem_printf("%s=%s; Path=%s; HttpOnly; SameSite=Lax%s%s", kind->name, text_or_empty(cookie), kind->path,
		age, secure);
}

char *session_set_cookie(const struct store *store, const char *cookie)
{
	static const struct cookie_kind kind = {SESSION_COOKIE, "/", 0};

	return cookie_header(store, &kind, cookie);
}

int sessions_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, sessions_sweep);
}
