/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/factors/factors.h"

#include <ctype.h>
#include <string.h>

#include "common/clock.h"
#include "scheduler/auth/factors/factors.sql.h"
#include "scheduler/auth/factors/totp.h"
#include "scheduler/store/content/seals.h"

#define SECRET_PREFIX "second-factor:"

enum { SEALED_LIMIT = 256, RECOVERY_LETTERS = 16, RECOVERY_BYTES = 10 };

int factor_standing_read(struct store *store, const char *user_id, struct factor_standing *ret, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct factor_standing_row *row;

	if (db_query(store->db, &rows, err, factor_standing, .user_id = user_id) < 0)
		return -1;
	row = row_of(factor_standing, &rows, 0);
	*ret = (struct factor_standing){.has_app = row->has_app,
		.has_passkey = row->has_passkey,
		.is_required = row->is_required,
		.has_password = row->has_password,
		.recovery_codes = row->recovery_codes};
	return 0;
}

int factors_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, factors_of_user, .user_id = user_id);
}

const char *factor_name(enum factor_result result)
{
	static const char *const names[] = {
		[FACTOR_APP] = "totp", [FACTOR_RECOVERY_CODE] = "recovery_code", [FACTOR_PASSKEY] = "passkey"};

	return (size_t)result < ARRAY_LEN(names) ? names[result] : NULL;
}

/* ---- the app ---- */

struct totp_order {
	struct store *store;
	const char *user_id, *secret;
};

static int totp_begin_in(void *data, struct err *err)
{
	const struct totp_order *o = data;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(rows_release) struct rows made = ROWS_INIT;
	const struct id id = id_new("2f");
	_cleanup_(freep) char *context = mem_printf(SECRET_PREFIX "%s", id.text);

	seal_text(o->store, context, o->secret, &sealed);
	if (db_query(o->store->db, NULL, err, totp_forget, .user_id = o->user_id) < 0 ||
		db_query(o->store->db, &made, err, totp_insert, .id = id.text, .user_id = o->user_id,
			.secret = db_blob(sealed.data, sealed.len)) < 0)
		return -1;
	return db_affected(&made) ? 0 : err_set(err, ERR_CONFLICT, "the account has an authenticator app already");
}

int totp_begin(struct store *store, const char *user_id, char **ret_secret, struct err *err)
{
	_cleanup_(crypto_secret_freep) char *secret = totp_secret_new();
	struct totp_order order = {store, user_id, secret};

	if (db_transaction(store->db, totp_begin_in, &order, err) < 0)
		return -1;
	*ret_secret = secret;
	secret = NULL;
	return 0;
}

struct totp_use {
	struct store *store;
	const char *user_id, *code;
	bool confirms; /* the first code of a secret that is not confirmed yet */
	enum factor_result result;
	char *secret; /* owned */
};

static int totp_use_in(void *data, struct err *err)
{
	struct totp_use *use = data;
	struct db *db = use->store->db;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct totp_lock_row *app;
	long long step;

	crypto_secret_freep(&use->secret);
	use->result = FACTOR_WRONG;
	if (db_query(db, &rows, err, totp_lock, .user_id = use->user_id) < 0)
		return -1;
	app = row_of(totp_lock, &rows, 0);
	if (!rows.count || app->is_confirmed == use->confirms)
		return use->confirms ? err_set(err, ERR_CONFLICT, "there is no authenticator app to confirm") : 0;
	if (!use->confirms && app->is_limited) {
		use->result = FACTOR_LIMITED;
		return 0;
	}
	if (secret_open(use->store, app->secret_sealed, SECRET_PREFIX, app->id, &use->secret, err) < 0)
		return -1;
	if (!totp_accepts(use->secret, use->code, clock_wall_us() / 1000000, app->last_step, &step))
		return use->confirms ? 0 : db_query(db, NULL, err, totp_failed, .id = app->id);
	use->result = FACTOR_APP;
	return db_query(db, NULL, err, totp_accepted, .id = app->id, .step = step);
}

int totp_confirm(struct store *store, const char *user_id, const char *code, enum factor_result *ret_result,
	char **ret_secret, struct err *err)
{
	struct totp_use use = {.store = store, .user_id = user_id, .code = code, .confirms = true};

	if (db_transaction(store->db, totp_use_in, &use, err) < 0) {
		crypto_secret_freep(&use.secret);
		return -1;
	}
	*ret_result = use.result;
	*ret_secret = use.secret;
	return 0;
}

/* ---- recovery codes ---- */

bool recovery_code_digest(const char *code, char ret_digest[SHA256_HEX_SIZE])
{
	char letters[RECOVERY_LETTERS];
	size_t len = 0;

	for (; *code; code++) {
		if (*code == ' ' || *code == '-')
			continue;
		if (len == sizeof(letters) || !isalnum((unsigned char)*code))
			return false;
		letters[len++] = (char)toupper((unsigned char)*code);
	}
	if (len != sizeof(letters))
		return false;
	crypto_sha256_hex(letters, len, ret_digest);
	return true;
}

static void recovery_code_make(char ret_code[RECOVERY_CODE_SIZE])
{
	unsigned char bytes[RECOVERY_BYTES];
	_cleanup_(crypto_secret_freep) char *letters = NULL;
	size_t at = 0;

	crypto_random(bytes, sizeof(bytes));
	letters = base32_encode(bytes, sizeof(bytes));
	for (size_t i = 0; i < RECOVERY_LETTERS; i++) {
		if (i && i % 4 == 0)
			ret_code[at++] = '-';
		ret_code[at++] = letters[i];
	}
	ret_code[at] = '\0';
}

struct recovery_order {
	struct store *store;
	const char *user_id;
	struct recovery_codes *codes;
};

static int recovery_codes_make_in(void *data, struct err *err)
{
	const struct recovery_order *o = data;
	_cleanup_(db_array_release) struct db_array digests = DB_ARRAY_INIT;
	char digest[SHA256_HEX_SIZE];

	for (size_t i = 0; i < RECOVERY_CODES; i++) {
		recovery_code_make(o->codes->codes[i]);
		recovery_code_digest(o->codes->codes[i], digest);
		db_array_add(&digests, digest);
	}
	if (db_query(o->store->db, NULL, err, recovery_codes_delete, .user_id = o->user_id) < 0)
		return -1;
	return db_query(o->store->db, NULL, err, recovery_codes_insert, .user_id = o->user_id, .digests = &digests);
}

int recovery_codes_make(struct store *store, const char *user_id, struct recovery_codes *ret_codes, struct err *err)
{
	struct recovery_order order = {store, user_id, ret_codes};

	return db_transaction(store->db, recovery_codes_make_in, &order, err);
}

/* ---- codes at sign-in ---- */

int factor_code_check(
	struct store *store, const char *user_id, const char *code, enum factor_result *ret_result, struct err *err)
{
	struct totp_use use = {.store = store, .user_id = user_id, .code = code};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char digest[SHA256_HEX_SIZE];
	int result;

	if (recovery_code_digest(code, digest)) {
		if (db_query(store->db, &rows, err, recovery_code_use, .user_id = user_id, .digest = digest) < 0)
			return -1;
		*ret_result = db_affected(&rows) ? FACTOR_RECOVERY_CODE : FACTOR_WRONG;
		return 0;
	}
	result = db_transaction(store->db, totp_use_in, &use, err);
	crypto_secret_freep(&use.secret);
	if (result == 0)
		*ret_result = use.result;
	return result;
}

/* ---- passkeys ---- */

int passkey_add(struct store *store, const struct passkey_order *order, struct id *ret_id, struct err *err)
{
	_cleanup_(passkey_release) struct passkey passkey = PASSKEY_INIT;
	_cleanup_(rows_release) struct rows made = ROWS_INIT;
	_cleanup_(freep) char *credential = NULL;
	const struct webauthn_request request = {
		.origin = store->settings->public_url, .challenge = text_or_empty(order->challenge)};
	const struct id id = id_new("2f");

	if (!order->challenge)
		return err_set(err, ERR_INVALID, "the passkey was asked for too long ago, or in another browser");
	if (webauthn_creation_read(&request, &order->creation, &passkey, err) < 0)
		return -1;
	credential = crypto_base64url(passkey.id.data, passkey.id.len);
	if (db_query(store->db, &made, err, passkey_insert, .id = id.text, .user_id = order->user_id,
		    .name = order->name, .credential = credential, .algorithm = passkey.algorithm,
		    .public_key = db_blob(passkey.public_key.data, passkey.public_key.len),
		    .sign_count = passkey.sign_count) < 0)
		return -1;
	if (!db_affected(&made))
		return err_set(err, ERR_CONFLICT, "the passkey is registered already");
	*ret_id = id;
	return 0;
}

json_t *passkey_ids(const struct rows *factors)
{
	json_t *list = json_array();

	for (int i = 0; i < factors->count; i++) {
		const char *id = row_of(factors_of_user, factors, i)->credential_id;

		if (id)
			json_array_append_new(list, json_string(id));
	}
	return list;
}

/* Verifies the answer with the key of the row, and records the use. */
static int passkey_use(
	struct store *store, const struct passkey_use *use, const struct passkey_find_row *found, struct err *err)
{
	_cleanup_(passkey_release) struct passkey passkey = PASSKEY_INIT;
	_cleanup_(rows_release) struct rows changed = ROWS_INIT;
	const struct webauthn_request request = {.origin = store->settings->public_url,
		.challenge = use->challenge,
		.needs_verification = !use->user_id};
	long long sign_count;

	passkey.algorithm = (int)found->algorithm;
	hex_decode(found->public_key, &passkey.public_key);
	if (webauthn_assertion_verify(&request, &use->assertion, &passkey, &sign_count, err) < 0 ||
		db_query(store->db, &changed, err, passkey_used, .id = found->id, .sign_count = sign_count) < 0)
		return -1;
	return db_affected(&changed)
		? 0
		: err_set(err, ERR_INVALID, "the passkey's counter did not grow: its authenticator may be copied");
}

int passkey_check(struct store *store, const struct passkey_use *use, struct passkey_user *ret_user, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct passkey_find_row *found;

	if (!use->challenge)
		return err_set(err, ERR_INVALID, "the challenge was used, or is too old, or is of another browser");
	if (db_query(store->db, &rows, err, passkey_find, .credential = use->credential, .user_id = use->user_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_INVALID, "the passkey is not registered");
	found = row_of(passkey_find, &rows, 0);
	if (passkey_use(store, use, found, err) < 0)
		return -1;
	text_copy(ret_user->factor.text, ID_SIZE, found->id);
	text_copy(ret_user->user.text, ID_SIZE, found->user_id);
	text_copy(ret_user->username, sizeof(ret_user->username), text_or_empty(found->username));
	return 0;
}

/* ---- organizations ---- */

int owners_factor_check(struct store *store, const char *organization_id, const char *pointer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, owner_without_factor, .organization_id = organization_id) < 0)
		return -1;
	return rows.count ? err_at(err, pointer, "All owners need two-factor authentication first: %s has none",
				    row_of(owner_without_factor, &rows, 0)->username)
			  : 0;
}

/* ---- removing ---- */

struct factor_removal {
	struct store *store;
	const char *user_id, *factor_id;
};

static int factor_remove_in(void *data, struct err *err)
{
	const struct factor_removal *r = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(r->store->db, &rows, err, factor_delete, .id = r->factor_id, .user_id = r->user_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "second factor not found");
	return db_query(r->store->db, NULL, err, recovery_codes_clean, .user_id = r->user_id);
}

int factor_remove(struct store *store, const char *user_id, const char *factor_id, struct err *err)
{
	struct factor_removal removal = {store, user_id, factor_id};

	return db_transaction(store->db, factor_remove_in, &removal, err);
}

int factors_remove_all(struct store *store, const char *user_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, factors_delete, .user_id = user_id) < 0)
		return -1;
	return row_of(factors_delete, &rows, 0)->factors
		? 0
		: err_set(err, ERR_MALFORMED, "the user has no two-factor authentication");
}
