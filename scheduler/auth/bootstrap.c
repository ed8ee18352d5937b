/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/bootstrap.h"

#include "scheduler/auth/bootstrap.sql.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/auth/tokens.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/organizations.sql.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/users.h"
#include "scheduler/store/names.h"

struct bootstrapping {
	struct store *store;
	const struct bootstrap_order *order;
	json_t *result;
};

/* Each returns the id of the existing row, or creates it. */

static int user_ensure(struct store *store, const struct bootstrap_order *order, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, user_id_of_name, .username = order->username) < 0)
		return -1;
	if (rows.count)
		text_copy(ret_id->text, sizeof(ret_id->text), row_of(user_id_of_name, &rows, 0)->id);
	else if (user_register(store, order->username, order->email, ret_id, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, user_make_site_admin, .id = ret_id->text);
}

static int organization_ensure(
	struct store *store, const struct bootstrap_order *order, const char *owner, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct organization_order wanted = {.name = order->organization, .email = order->email, .owner = owner};
	struct id id;

	if (organization_read(store, order->organization, &rows, err) == 0)
		return owners_join(store, row_of(organization, &rows, 0)->id, owner, err);
	return err->kind == ERR_NOT_FOUND ? organization_create(store, &wanted, &id, err) : -1;
}

/* The shared pool, whatever its name is now. */
static int pool_ensure(struct store *store, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("apool");

	if (db_query(store->db, &rows, err, shared_pool_ensure, .id = id.text) < 0)
		return -1;
	text_copy(ret_id->text, sizeof(ret_id->text), row_of(shared_pool_ensure, &rows, 0)->id);
	return 0;
}

/* Sets a new password if the user has none; returns "" otherwise. The caller frees it. */
static int password_ensure(struct store *store, const char *user_id, char **ret_password, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, user_without_password, .user_id = user_id) < 0)
		return -1;
	*ret_password = rows.count ? crypto_token("") : mem_text("");
	return rows.count ? password_set(store, user_id, *ret_password, NULL, err) : 0;
}

static int bootstrap_in(void *data, struct err *err)
{
	struct bootstrapping *b = data;
	_cleanup_(freep) char *user_token = NULL;
	_cleanup_(freep) char *agent_token = NULL;
	_cleanup_(freep) char *notifier_token = NULL;
	_cleanup_(freep) char *password = NULL;
	struct id user, pool;
	const struct token_order of_user = {.user_id = user.text, .description = "bootstrap"};
	const struct token_order of_pool = {.pool_id = pool.text, .description = "bootstrap"};
	const struct token_order of_notifier = {.notifier = true, .description = "bootstrap"};

	if (user_ensure(b->store, b->order, &user, err) < 0 ||
		organization_ensure(b->store, b->order, user.text, err) < 0 || pool_ensure(b->store, &pool, err) < 0 ||
		token_ensure(b->store, &of_user, &user_token, err) < 0 ||
		token_ensure(b->store, &of_pool, &agent_token, err) < 0 ||
		token_ensure(b->store, &of_notifier, &notifier_token, err) < 0 ||
		password_ensure(b->store, user.text, &password, err) < 0)
		return -1;
	json_decref(b->result);
	b->result = json_pack("{s:s, s:s, s:s*, s:s*, s:s*}", "user", b->order->username, "organization",
		b->order->organization, "token", user_token, "agent-token", agent_token, "notifier-token",
		notifier_token);
	if (*password)
		json_object_set_new(b->result, "password", json_string(password));
	return 0;
}

static int made_in_one(struct store *store, const struct bootstrap_order *order,
	int (*make)(void *data, struct err *err), json_t **ret_result, struct err *err)
{
	struct bootstrapping b = {.store = store, .order = order};

	if (db_transaction(store->db, make, &b, err) < 0) {
		json_decref(b.result);
		return -1;
	}
	*ret_result = b.result;
	return 0;
}

int bootstrap(struct store *store, const struct bootstrap_order *order, json_t **ret_result, struct err *err)
{
	if (name_check("Username", NULL, order->username, err) < 0 ||
		name_check("Organization", NULL, order->organization, err) < 0 ||
		name_check_reserved("Organization", NULL, order->organization, err) < 0)
		return -1;
	return made_in_one(store, order, bootstrap_in, ret_result, err);
}

/* ---- further users ---- */

static int user_add_in(void *data, struct err *err)
{
	struct bootstrapping *b = data;
	_cleanup_(freep) char *password = NULL;
	struct id user;

	if (user_register(b->store, b->order->username, b->order->email, &user, err) < 0 ||
		password_ensure(b->store, user.text, &password, err) < 0)
		return -1;
	json_decref(b->result);
	b->result = json_pack("{s:s, s:s, s:s, s:s}", "user", b->order->username, "id", user.text, "email",
		b->order->email, "password", password);
	return 0;
}

int user_add(struct store *store, const char *username, const char *email, json_t **ret_result, struct err *err)
{
	const struct bootstrap_order order = {.username = username, .email = email};

	if (name_check("Username", NULL, username, err) < 0)
		return -1;
	return made_in_one(store, &order, user_add_in, ret_result, err);
}
