/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables.h"

enum { MOST_VARIABLES = 1000, SEALED_LIMIT = 1 << 20 };

#define COLUMNS "id, workspace_id, key, value_sealed, description, category, hcl, sensitive, version_id, created_at "

static int key_taken(struct store *store, struct err *err)
{
	if (err->kind == ERR_CONFLICT && text_equal(db_constraint(store->db), "variables_key"))
		return err_at(err, "/data/attributes/key", "Key has already been taken");
	return -1;
}

/* Says nothing about the value, and differs after every change. */
static void version_id_make(char ret_hex[SHA256_HEX_SIZE])
{
	unsigned char random[32];

	crypto_random(random, sizeof(random));
	crypto_sha256_hex(random, sizeof(random), ret_hex);
}

int variables_list(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " COLUMNS "from variables where workspace_id = $1 order by key, category",
		P_TEXT(workspace_id));
}

int variable_read(struct store *store, const char *workspace_id, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from variables where workspace_id = $1 and id = $2",
		    P_TEXT(workspace_id), P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "variable not found");
}

int variable_create(struct store *store, const char *workspace_id, const struct variable *variable, struct id *ret_id,
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	struct id id = id_new("var");
	char version[SHA256_HEX_SIZE];

	version_id_make(version);
	store_seal(store, id.text, variable->value, &sealed);
	if (db_query(store->db, &rows, err,
		    "insert into variables (id, workspace_id, key, value_sealed, description, category, hcl, "
		    "sensitive, version_id) select $1, $2, $3, $4, $5, $6, $7, $8, $9 "
		    "where (select count(*) from variables where workspace_id = $2) < $10::bigint",
		    P_TEXT(id.text), P_TEXT(workspace_id), P_TEXT(variable->key), P_BYTES(sealed.data, sealed.len),
		    P_TEXT(variable->description), P_TEXT(variable->category), P_BOOL(variable->hcl),
		    P_BOOL(variable->sensitive), P_TEXT(version), P_INT(MOST_VARIABLES)) < 0)
		return key_taken(store, err);
	if (!db_affected(&rows))
		return err_at(
			err, "/data", "The workspace has %d variables already, and can't have more", MOST_VARIABLES);
	*ret_id = id;
	return 0;
}

int variable_update(struct store *store, const char *id, const struct variable *variable, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	char version[SHA256_HEX_SIZE];

	version_id_make(version);
	if (variable->value)
		store_seal(store, id, variable->value, &sealed);
	if (db_query(store->db, NULL, err,
		    "update variables set key = $2, value_sealed = case when $3 then $4::bytea else value_sealed end, "
		    "description = $5, category = $6, hcl = $7, sensitive = $8, version_id = $9 where id = $1",
		    P_TEXT(id), P_TEXT(variable->key), P_BOOL(variable->value != NULL),
		    P_BYTES(buf_str(&sealed), sealed.len), P_TEXT(variable->description), P_TEXT(variable->category),
		    P_BOOL(variable->hcl), P_BOOL(variable->sensitive), P_TEXT(version)) < 0)
		return key_taken(store, err);
	return 0;
}

int variable_delete(struct store *store, const char *workspace_id, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, "delete from variables where workspace_id = $1 and id = $2",
		    P_TEXT(workspace_id), P_TEXT(id)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_NOT_FOUND, "variable not found");
}
