/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/passwords.h"

#include <crypt.h>
#include <string.h>

#include "scheduler/auth/passwords.sql.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/store/access/audit.h"

/* The hash that a password is compared with if there is no such user, so that the time does not reveal that. */
static const char nobodys[] = "$y$j9T$QxqmqrR0AZampXS7i0LTm.$YwAHbUajiv6YiZDAQemT2rkYSFeESes.EIV3JgVvWV/";

int password_check(const char *pointer, const char *password, struct err *err)
{
	size_t len = strlen(text_or_empty(password));

	if (len < PASSWORD_LEAST)
		return err_at(err, text_or_empty(pointer), "Password is too short (minimum is %d characters)",
			PASSWORD_LEAST);
	if (len > MAX_PASSWORD)
		return err_at(
			err, text_or_empty(pointer), "Password is too long (maximum is %d characters)", MAX_PASSWORD);
	return 0;
}

/* Returns the hash in *ret_hash, which the caller frees. */
static int password_hash(const char *password, char **ret_hash, struct err *err)
{
	_cleanup_(freep) struct crypt_data *data = mem_new(1, sizeof(*data));
	char salt[CRYPT_GENSALT_OUTPUT_SIZE];
	const char *hash = NULL;

	if (crypt_gensalt_rn("$y$", 0, NULL, 0, salt, sizeof(salt)))
		hash = crypt_r(password, salt, data);
	if (!hash || *hash == '*')
		return err_set(err, ERR_INTERNAL, "libxcrypt does not hash with yescrypt");
	*ret_hash = mem_text(hash);
	return 0;
}

static bool password_matches(const char *password, const char *hash)
{
	_cleanup_(freep) struct crypt_data *data = mem_new(1, sizeof(*data));
	const char *same = crypt_r(password, hash, data);

	return same && *same != '*' && crypto_equal(same, hash);
}

struct setting {
	struct store *store;
	const char *user_id, *hash, *keep_session;
};

static int set_in(void *data, struct err *err)
{
	struct setting *s = data;

	if (db_query(s->store->db, NULL, err, password_update, .user_id = s->user_id, .hash = s->hash) < 0)
		return -1;
	return sessions_end_others(s->store, s->user_id, s->keep_session, err);
}

int password_set(
	struct store *store, const char *user_id, const char *password, const char *keep_session, struct err *err)
{
	_cleanup_(freep) char *hash = NULL;
	struct setting s = {.store = store, .user_id = user_id, .keep_session = keep_session};

	if (password_hash(password, &hash, err) < 0)
		return -1;
	s.hash = hash;
	return db_transaction(store->db, set_in, &s, err);
}

static int set_for_in(void *data, struct err *err)
{
	struct setting *s = data;
	char request[AUDIT_UUID_SIZE];
	const struct audit_event event = {.actor_type = "system",
		.actor_name = "runyard-scheduler",
		.request = request,
		.action = "set_password",
		.resource_type = "user",
		.resource_id = s->user_id};

	audit_uuid(request);
	return set_in(s, err) < 0 ? -1 : audit_write(s->store, &event, err);
}

int password_set_for(struct store *store, const char *username, const char *password, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *hash = NULL;
	struct setting s = {.store = store};

	if (db_query(store->db, &rows, err, person_of_name, .username = username) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "there is no user '%s'", username);
	if (password_hash(password, &hash, err) < 0)
		return -1;
	s.hash = hash;
	s.user_id = row_of(person_of_name, &rows, 0)->id;
	return db_transaction(store->db, set_for_in, &s, err);
}

int password_alternatives_check(struct store *store, const char *pointer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct password_alternatives_row *found;

	if (db_query(store->db, &rows, err, password_alternatives) < 0)
		return -1;
	found = row_of(password_alternatives, &rows, 0);
	if (!found->has_provider)
		return err_at(err, pointer, "Passwords are needed: no identity provider is enabled");
	if (!found->has_break_glass)
		return err_at(err, pointer, "Passwords are needed: no break-glass account has a password");
	return 0;
}

int password_alternatives_keep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct password_alternatives_row *found;

	if (db_query(store->db, &rows, err, password_alternatives) < 0)
		return -1;
	found = row_of(password_alternatives, &rows, 0);
	if (found->takes_passwords || (found->has_provider && found->has_break_glass))
		return 0;
	return err_set(err, ERR_INVALID,
		"sign-in with passwords is switched off, so the last identity provider and the last break-glass "
		"account stay: switch passwords on first");
}

int password_verify(
	struct store *store, const char *username, const char *password, struct id *ret_user, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct password_read_row *user;

	if (db_query(store->db, &rows, err, password_read, .username = username) < 0)
		return -1;
	user = rows.count ? row_of(password_read, &rows, 0) : NULL;
	*ret_user = (struct id){""};
	if (password_matches(password, user ? user->password_hash : nobodys) && user)
		text_copy(ret_user->text, sizeof(ret_user->text), user->id);
	return 0;
}
