/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/bootstrap.h"

#include "scheduler/auth/tokens.h"
#include "scheduler/store/names.h"
#include "scheduler/store/organizations.h"

struct bootstrapping {
	struct store *store;
	const struct bootstrap_order *order;
	json_t *result;
};

/* Each returns the id of what is there already, or makes it. */

static int user_ensure(struct store *store, const struct bootstrap_order *order, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("user");

	if (db_query(store->db, &rows, err,
		    "insert into users (id, username, email, is_site_admin) values ($1, $2, $3, true) "
		    "on conflict (lower(username)) do update set is_site_admin = true returning id",
		    P_TEXT(id.text), P_TEXT(order->username), P_TEXT(order->email)) < 0)
		return -1;
	text_copy(ret_id->text, sizeof(ret_id->text), row_text(&rows, 0, "id"));
	return 0;
}

static int organization_ensure(
	struct store *store, const struct bootstrap_order *order, const char *owner, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct organization_order wanted = {.name = order->organization, .email = order->email, .owner = owner};
	struct id id;

	if (organization_read(store, order->organization, &rows, err) == 0)
		return organization_join(store, row_text(&rows, 0, "id"), owner, err);
	return err->kind == ERR_NOT_FOUND ? organization_create(store, &wanted, &id, err) : -1;
}

static int pool_ensure(struct store *store, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("apool");

	if (db_query(store->db, &rows, err,
		    "insert into agent_pools (id, name) values ($1, 'default') "
		    "on conflict (coalesce(organization_id, ''), lower(name)) do update set name = excluded.name "
		    "returning id",
		    P_TEXT(id.text)) < 0)
		return -1;
	text_copy(ret_id->text, sizeof(ret_id->text), row_text(&rows, 0, "id"));
	return 0;
}

static int bootstrap_in(void *data, struct err *err)
{
	struct bootstrapping *b = data;
	_cleanup_(freep) char *user_token = NULL;
	_cleanup_(freep) char *agent_token = NULL;
	_cleanup_(freep) char *notifier_token = NULL;
	struct id user, pool;
	const struct token_order of_user = {.user_id = user.text, .description = "bootstrap"};
	const struct token_order of_pool = {.pool_id = pool.text, .description = "bootstrap"};
	const struct token_order of_notifier = {.notifier = true, .description = "bootstrap"};

	if (user_ensure(b->store, b->order, &user, err) < 0 ||
		organization_ensure(b->store, b->order, user.text, err) < 0 || pool_ensure(b->store, &pool, err) < 0 ||
		token_create(b->store, &of_user, &user_token, NULL, err) < 0 ||
		token_create(b->store, &of_pool, &agent_token, NULL, err) < 0 ||
		token_create(b->store, &of_notifier, &notifier_token, NULL, err) < 0)
		return -1;
	json_decref(b->result);
	b->result = json_pack("{s:s, s:s, s:s, s:s, s:s}", "user", b->order->username, "organization",
		b->order->organization, "token", user_token, "agent-token", agent_token, "notifier-token",
		notifier_token);
	return 0;
}

int bootstrap(struct store *store, const struct bootstrap_order *order, json_t **ret_result, struct err *err)
{
	struct bootstrapping b = {.store = store, .order = order};

	if (name_check("Username", NULL, order->username, err) < 0 ||
		name_check("Organization", NULL, order->organization, err) < 0)
		return -1;
	if (db_transaction(store->db, bootstrap_in, &b, err) < 0) {
		json_decref(b.result);
		return -1;
	}
	*ret_result = b.result;
	return 0;
}
