/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/reserved_tags.h"

#include "scheduler/store/names.h"
#include "scheduler/store/workspaces/reserved_tags.sql.h"

int reserved_tags_list(struct store *store, const char *organization_id, struct list_range range, struct rows *ret_rows,
	struct err *err)
{
	return db_query(store->db, ret_rows, err, reserved_tags_list, .organization_id = organization_id,
		.limit = range.limit, .offset = range.offset);
}

int reserved_tag_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, reserved_tag_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "reserved tag key not found");
}

static int key_taken(struct store *store, struct err *err)
{
	return value_taken(store, "reserved_tag_keys_key", "Key", "/data/attributes/key", err);
}

int reserved_tag_create(struct store *store, const char *organization_id, const char *key, bool disable_overrides,
	struct id *ret_id, struct err *err)
{
	struct id id = id_new("rtk");

	if (db_query(store->db, NULL, err, reserved_tag_create, .id = id.text, .organization_id = organization_id,
		    .key = key, .disable_overrides = disable_overrides) < 0)
		return key_taken(store, err);
	*ret_id = id;
	return 0;
}

int reserved_tag_update(struct store *store, const char *id, const char *key, bool disable_overrides, struct err *err)
{
	if (db_query(store->db, NULL, err, reserved_tag_update, .id = id, .key = key,
		    .disable_overrides = disable_overrides) < 0)
		return key_taken(store, err);
	return 0;
}

int reserved_tag_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, reserved_tag_delete, .id = id);
}

int reserved_tags_check(struct store *store, const struct tags_bound *bound, struct err *err)
{
	_cleanup_(db_array_release) struct db_array none = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, reserved_tags_inherited, .workspaces = bound->workspaces,
		    .names = bound->names ? bound->names : &none, .ids = bound->ids ? bound->ids : &none) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return err_at(err, bound->pointer,
		"Key %s is inherited from the project and reserved in the organization: a workspace can't override it",
		row_of(reserved_tags_inherited, &rows, 0)->key);
}
