/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/ssh_keys.h"

#include "scheduler/store/names.h"
#include "scheduler/store/content/seals.h"

enum { SEALED_LIMIT = 1 << 20 };

int ssh_keys_list(struct store *store, const char *organization_id, struct list_range range, struct rows *ret_rows,
	struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select t.total, k.* from (select count(*) as total from ssh_keys where organization_id = $1) t left "
		"join "
		"(select id, organization_id, name from ssh_keys where organization_id = $1 "
		"order by lower(name) limit $2 offset $3) k on true order by lower(k.name)",
		P_TEXT(organization_id), P_INT(range.limit), P_INT(range.offset));
}

int ssh_key_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select id, organization_id, name from ssh_keys where id = $1",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "SSH key not found");
}

int ssh_key_create(
	struct store *store, const char *organization_id, const struct ssh_key *key, struct id *ret_id, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	struct id id = id_new("sshkey");

	seal_text(store, id.text, key->value, &sealed);
	if (db_query(store->db, NULL, err,
		    "insert into ssh_keys (id, organization_id, name, value_sealed) values ($1, $2, $3, $4)",
		    P_TEXT(id.text), P_TEXT(organization_id), P_TEXT(key->name), P_BYTES(sealed.data, sealed.len)) < 0)
		return name_taken(store, "ssh_keys_name", err);
	*ret_id = id;
	return 0;
}

int ssh_key_update(struct store *store, const char *id, const struct ssh_key *key, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);

	if (key->value)
		seal_text(store, id, key->value, &sealed);
	if (db_query(store->db, NULL, err,
		    "update ssh_keys set name = coalesce($2, name), "
		    "value_sealed = case when $3 then $4::bytea else value_sealed end where id = $1",
		    P_TEXT(id), P_TEXT(key->name), P_BOOL(key->value != NULL),
		    P_BYTES(buf_str(&sealed), sealed.len)) < 0)
		return name_taken(store, "ssh_keys_name", err);
	return 0;
}

int ssh_key_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from ssh_keys where id = $1", P_TEXT(id));
}

int ssh_key_assign(struct store *store, const char *workspace_id, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update workspaces w set ssh_key_id = $2, updated_at = now() where id = $1 and ($2::text is null "
		    "or "
		    "exists (select 1 from ssh_keys k where k.id = $2 and k.organization_id = w.organization_id))",
		    P_TEXT(workspace_id), P_TEXT(id)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_at(err, "/data/attributes/id", "SSH key must exist");
}
