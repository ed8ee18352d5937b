/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/installations.h"

#include <stdio.h>

#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/installations.sql.h"

enum { TOKEN_LIMIT = 64 << 10 };

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "GitHub App installation not found");
}

int installations_list(
	struct store *store, const struct installation_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, installations_list, .organizations = list->organizations,
		.name = list->name, .number = list->number, .limit = list->range.limit, .offset = list->range.offset);
}

int installation_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, installation_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

/* GitHub never uses a number again, so a removed one that comes back was removed by mistake. */
int installation_connect(struct store *store, const char *organization_id, const struct installation *installation,
	struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, installation_connect, .new_id = id_new("ghain").text,
		    .number = installation->number, .organization_id = organization_id,
		    .account = installation->account, .kind = installation->kind, .icon_url = installation->icon_url,
		    .web_url = installation->web_url) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_CONFLICT, "This installation is connected to another organization.");
	text_copy(ret_id->text, ID_SIZE, row_of(installation_connect, &rows, 0)->id);
	return 0;
}

int installation_pools_set(struct store *store, const char *id, const struct vcs_pools *pools, struct err *err)
{
	return db_query(store->db, NULL, err, installation_pools_set, .id = id, .pool_id = pools->pool_id,
		.fork_pool_id = pools->fork_pool_id);
}

/* ---- its state ---- */

struct change {
	struct store *store;
	const char *id;
	const struct installation_token *token;
	const char *why; /* of a failure */
	bool removed;
};

static int token_in(void *data, struct err *err)
{
	const struct change *c = data;
	_cleanup_(freep) char *context = mem_printf(VCS_INSTALLATION_SEAL "%s", c->id);
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(TOKEN_LIMIT);

	seal_text(c->store, context, c->token->token, &sealed);
	if (db_query(c->store->db, NULL, err, installation_token_put, .id = c->id,
		    .token_sealed = db_blob(sealed.data, sealed.len), .expires_in = c->token->expires_in) < 0)
		return -1;
	return vcs_wake(c->store, err);
}

int installation_token_put(struct store *store, const char *id, const struct installation_token *token, struct err *err)
{
	struct change change = {.store = store, .id = id, .token = token};

	return db_transaction(store->db, token_in, &change, err);
}

int installation_fail(struct store *store, const char *id, const char *why, bool removed, struct err *err)
{
	return db_query(store->db, NULL, err, installation_fail, .id = id, .why = why, .removed = removed,
		.new_id = id_new("ve").text);
}

/* ---- webhooks ---- */

int installation_find(struct store *store, long long number, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, installation_find, .number = number);
}

int app_deliveries_find(struct store *store, const struct app_delivery *deliveries, size_t count, struct rows *ret_rows,
	struct err *err)
{
	_cleanup_(db_array_release) struct db_array installations = DB_ARRAY_INIT, numbers = DB_ARRAY_INIT,
						    identifiers = DB_ARRAY_INIT;

	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *number = mem_printf("%lld", deliveries[i].repository);

		db_array_add_int(&installations, deliveries[i].installation);
		db_array_add(&numbers, number);
		db_array_add(&identifiers, deliveries[i].identifier);
	}
	return db_query(store->db, ret_rows, err, app_deliveries_find, .installations = &installations,
		.numbers = &numbers, .identifiers = &identifiers);
}
