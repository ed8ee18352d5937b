/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/ssh_keys.h"

#include "scheduler/store/names.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/variables/ssh_keys.sql.h"

enum { SEALED_LIMIT = 1 << 20 };

int ssh_keys_list(struct store *store, const char *organization_id, struct list_range range, struct rows *ret_rows,
	struct err *err)
{
	return db_query(store->db, ret_rows, err, ssh_keys_list, .organization_id = organization_id,
		.limit = range.limit, .offset = range.offset);
}

int ssh_key_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, ssh_key_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "SSH key not found");
}

int ssh_key_create(
	struct store *store, const char *organization_id, const struct ssh_key *key, struct id *ret_id, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	struct id id = id_new("sshkey");

	seal_text(store, id.text, key->value, &sealed);
	if (db_query(store->db, NULL, err, ssh_key_create, .id = id.text, .organization_id = organization_id,
		    .name = key->name, .value_sealed = db_blob(sealed.data, sealed.len)) < 0)
		return name_taken(store, "ssh_keys_name", err);
	*ret_id = id;
	return 0;
}

int ssh_key_update(struct store *store, const char *id, const struct ssh_key *key, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);

	if (key->value)
		seal_text(store, id, key->value, &sealed);
	if (db_query(store->db, NULL, err, ssh_key_update, .id = id, .name = key->name, .has_value = key->value != NULL,
		    .value_sealed = db_blob(buf_str(&sealed), sealed.len)) < 0)
		return name_taken(store, "ssh_keys_name", err);
	return 0;
}

int ssh_key_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, ssh_key_delete, .id = id);
}

int ssh_key_assign(struct store *store, const char *workspace_id, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, ssh_key_assign, .workspace_id = workspace_id, .id = id) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_at(err, "/data/attributes/id", "SSH key must exist");
}
