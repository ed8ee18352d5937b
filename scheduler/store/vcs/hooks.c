/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/hooks.h"

#include <string.h>

#include "common/crypto.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/hooks.sql.h"
#include "scheduler/store/vcs/repositories.h"

enum { BODY_LIMIT = 32 << 20, UUID_SIZE = 36 };

void vcs_hook_release(struct vcs_hook *hook)
{
	crypto_secret_freep(&hook->secret);
	crypto_secret_freep(&hook->previous);
}

/* Whether PostgreSQL reads the text as a UUID. */
static bool uuid_valid(const char *id)
{
	size_t len = strspn(id, "0123456789abcdef-");

	if (len != UUID_SIZE || id[len])
		return false;
	for (size_t i = 0; i < UUID_SIZE; i++)
		if ((id[i] == '-') != (i == 8 || i == 13 || i == 18 || i == 23))
			return false;
	return true;
}

static int hook_fill(struct store *store, const struct vcs_hook_row *row, struct vcs_hook *hook)
{
	text_copy(hook->repository.text, ID_SIZE, row->id);
	hook->dialect = vcs_dialect_named(row->provider, row->api_url);
	if (secret_open(store, row->hook_secret_sealed, VCS_HOOK_SEAL, row->id, &hook->secret, &hook->err) < 0)
		return -1;
	return secret_open(store, row->hook_previous_sealed, VCS_HOOK_SEAL, row->id, &hook->previous, &hook->err);
}

static int hook_find(struct store *store, const struct rows *rows, struct vcs_hook *hook)
{
	for (int i = 0; i < rows->count; i++) {
		const struct vcs_hook_row *row = row_of(vcs_hook, rows, i);

		if (text_equal(row->hook, hook->id))
			return hook_fill(store, row, hook);
	}
	return err_set(&hook->err, ERR_NOT_FOUND, "there is nothing at this address");
}

int vcs_hooks_read(struct store *store, struct vcs_hook *hooks, size_t count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (size_t i = 0; i < count; i++)
		if (uuid_valid(hooks[i].id))
			db_array_add(&ids, hooks[i].id);
	if (ids.count && db_query(store->db, &rows, err, vcs_hooks_read, .ids = &ids) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		hook_find(store, &rows, &hooks[i]);
	return 0;
}

/* ---- deliveries ---- */

struct delivery_columns {
	struct db_array repositories, ids, events;
	struct db_bytes bodies;
};

static void columns_release(struct delivery_columns *columns)
{
	db_array_release(&columns->repositories);
	db_array_release(&columns->ids);
	db_array_release(&columns->events);
	db_bytes_release(&columns->bodies);
}

static int column_add(
	struct store *store, const struct vcs_delivery_row *delivery, struct delivery_columns *columns, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(BODY_LIMIT);

	if (keyring_seal(store->keyring, delivery->id, delivery->body, &sealed) < 0 ||
		db_bytes_add(&columns->bodies, sealed.data, sealed.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "the delivery is too large");
	db_array_add(&columns->repositories, delivery->repository_id);
	db_array_add(&columns->ids, delivery->id);
	db_array_add(&columns->events, delivery->event);
	return 0;
}

int vcs_deliveries_add(struct store *store, const struct vcs_delivery_row *deliveries, size_t count, struct err *err)
{
	_cleanup_(columns_release) struct delivery_columns columns = {
		DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT, DB_BYTES_INIT};

	for (size_t i = 0; i < count; i++)
		if (column_add(store, &deliveries[i], &columns, err) < 0)
			return -1;
	return count ? db_query(store->db, NULL, err, vcs_deliveries_insert, .repositories = &columns.repositories,
			       .ids = &columns.ids, .events = &columns.events, .bodies = &columns.bodies)
		     : 0;
}
