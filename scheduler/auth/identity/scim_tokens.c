/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/scim_tokens.h"

#include <string.h>

#include "scheduler/auth/identity/scim_tokens.sql.h"

int scim_token_find(struct store *store, const char *hash, struct scim_token *ret_token, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct scim_token_find_row *row;

	if (db_query(store->db, &rows, err, scim_token_find, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "the token is not valid");
	row = row_of(scim_token_find, &rows, 0);
	if (row->stale &&
		db_query_one_of(store->db, NULL, err, &scim_token_use_statement, scim_token_find, .hash = hash) < 0)
		return -1;
	*ret_token = (struct scim_token){.is_enabled = row->is_enabled, .is_paused = row->is_paused};
	text_copy(ret_token->id.text, ID_SIZE, row->id);
	return 0;
}

int scim_tokens_list(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_tokens_list);
}

int scim_token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, scim_token_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "token not found");
}

int scim_token_create(struct store *store, const struct scim_token_order *order, char **ret_token,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(freep) char *token = crypto_token(SCIM_TOKEN_PREFIX);
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(token, strlen(token), hash);
	if (db_query(store->db, ret_rows, err, scim_token_create, .id = id_new("at").text, .hash = hash,
		    .description = order->description, .created_by = order->created_by,
		    .expires_at = order->expires_at) < 0)
		return -1;
	if (!ret_rows->count)
		return err_set(err, ERR_MALFORMED, "Expired at must be 29 to 365 days in the future");
	*ret_token = token;
	token = NULL;
	return 0;
}

int scim_token_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, scim_token_delete, .id = id);
}
