/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/tokens.h"

#include <string.h>

#define COLUMNS "t.id, t.user_id, t.pool_id, t.description, t.created_at, t.last_used_at, t.expired_at "

int token_create(
	struct store *store, const struct token_order *order, char **ret_token, struct id *ret_id, struct err *err)
{
	char *token = crypto_token(order->notifier ? "ry_notifier_" : order->user_id ? "ry_user_" : "ry_agent_");
	struct id id = id_new("at");
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(token, strlen(token), hash);
	if (db_query(store->db, NULL, err,
		    "insert into tokens (id, hash, user_id, pool_id, notifier, description, expired_at) "
		    "values ($1, $2, $3, $4, $5, $6, $7)",
		    P_TEXT(id.text), P_TEXT(hash), P_TEXT(order->user_id), P_TEXT(order->pool_id),
		    P_BOOL(order->notifier), P_TEXT(text_or_empty(order->description)),
		    P_TEXT(order->expires_at)) < 0) {
		free(token);
		return -1;
	}
	*ret_token = token;
	if (ret_id)
		*ret_id = id;
	return 0;
}

int token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from tokens t where t.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "token not found");
}

int tokens_of_user(struct store *store, const char *user_id, long long limit, long long offset, struct rows *ret_rows,
	struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select n.total, f.* from (select count(*) as total from tokens where user_id = $1) n left join "
		"(select " COLUMNS "from tokens t where t.user_id = $1 order by t.created_at desc, t.id "
		"limit $2 offset $3) f on true order by f.created_at desc, f.id",
		P_TEXT(user_id), P_INT(limit), P_INT(offset));
}

int token_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from tokens where id = $1", P_TEXT(id));
}
