/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/providers/gpg_keys.h"

#include "scheduler/store/names.h"
#include "scheduler/store/registry/providers/gpg_keys.sql.h"

static const char armor_pointer[] = "/data/attributes/ascii-armor";

int gpg_key_create(struct store *store, const struct gpg_key_draft *draft, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("gpg");

	if (db_query(store->db, &rows, err, gpg_key_create, .id = id.text, .organization_id = draft->organization_id,
		    .key_id = draft->key_id, .fingerprint = draft->fingerprint, .ascii_armor = draft->ascii_armor,
		    .max = MAX_GPG_KEYS) < 0)
		return value_taken(store, "registry_gpg_keys_key", "Key", armor_pointer, err);
	if (!rows.count)
		return err_at(err, "/data", "An organization can't have more than %d keys", MAX_GPG_KEYS);
	*ret_id = id;
	return 0;
}

static int first_found(const struct rows *rows, struct err *err)
{
	return rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "GPG key not found");
}

int gpg_key_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, gpg_key_read, .id = id) < 0 ? -1 : first_found(ret_rows, err);
}

int gpg_key_find(
	struct store *store, const char *organization_id, const char *key_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, gpg_key_find, .organization_id = organization_id, .key_id = key_id) < 0)
		return -1;
	return first_found(ret_rows, err);
}

int gpg_keys_list(struct store *store, struct db_array *organization_ids, const struct list_range *range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, gpg_keys_list, .organization_ids = organization_ids,
		.limit = range->limit, .offset = range->offset);
}

static int unused_check(const struct rows *rows, struct err *err)
{
	return rows->count
		? 0
		: err_set(err, ERR_CONFLICT, "versions of providers are signed by the key: delete them first");
}

int gpg_key_move(struct store *store, const char *id, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, gpg_key_move, .id = id, .organization_id = organization_id) < 0)
		return value_taken(store, "registry_gpg_keys_key", "Key", "/data/attributes/namespace", err);
	return unused_check(&rows, err);
}

int gpg_key_delete(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, gpg_key_delete, .id = id) < 0)
		return -1;
	return unused_check(&rows, err);
}
