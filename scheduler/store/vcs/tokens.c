/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/tokens.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/calls/removals.h"
#include "scheduler/store/vcs/tokens.sql.h"

enum { SEALED_LIMIT = 1 << 20 };

int vcs_tokens_list(struct store *store, const struct vcs_token_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_tokens_list, .organization_id = list->organization_id,
		.connection_id = list->connection_id, .limit = list->limit, .offset = list->offset);
}

int vcs_token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, vcs_token_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "OAuth token not found");
}

int vcs_tokens_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, vcs_tokens_read_all, .ids = ids);
}

/* Seals a text for that token. Nothing for NULL and "". */
static void seal(struct store *store, const char *context, const char *id, const char *text, struct buf *ret_sealed)
{
	_cleanup_(freep) char *of_token = mem_printf("%s%s", context, id);

	if (*text_or_empty(text))
		seal_text(store, of_token, text, ret_sealed);
}

#define SEALED(buf) db_blob(buf_str(&(buf)), (buf).len)

/* ---- the token ---- */

struct putting {
	struct store *store;
	const char *connection_id;
	const struct vcs_token *token;
};

/* The token's row is created first, since the seals are bound to its id. */
static int row_ensure(const struct putting *p, struct rows *ret_rows, struct err *err)
{
	return db_query(p->store->db, ret_rows, err, vcs_token_ensure, .new_id = id_new("ot").text,
		.connection_id = p->connection_id);
}

static int put_in(void *data, struct err *err)
{
	const struct putting *p = data;
	_cleanup_(buf_release) struct buf token = BUF_INIT(SEALED_LIMIT), refresh = BUF_INIT(SEALED_LIMIT);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (row_ensure(p, &rows, err) < 0)
		return -1;
	id = row_of(vcs_token_ensure, &rows, 0)->id;
	seal(p->store, VCS_TOKEN_SEAL, id, p->token->token, &token);
	seal(p->store, VCS_REFRESH_SEAL, id, p->token->refresh, &refresh);
	/* What the provider refused with the token before is tried again at once. */
	if (db_query(p->store->db, NULL, err, vcs_calls_of_connection_hasten, .connection_id = p->connection_id) < 0)
		return -1;
	return db_query(p->store->db, NULL, err, vcs_token_store, .id = id, .token_sealed = SEALED(token),
		.refresh_sealed = SEALED(refresh), .expires_in = p->token->expires_in, .user_name = p->token->user_name,
		.verified = p->token->verified);
}

int vcs_token_put(struct store *store, const char *connection_id, const struct vcs_token *token, struct err *err)
{
	struct putting p = {store, connection_id, token};

	return db_transaction(store->db, put_in, &p, err);
}

/* ---- SSH ---- */

int vcs_token_update(struct store *store, const char *id, const struct vcs_token_change *change, struct err *err)
{
	_cleanup_(buf_release) struct buf key = BUF_INIT(SEALED_LIMIT);

	seal(store, VCS_SSH_KEY_SEAL, id, change->ssh_key, &key);
	return db_query(store->db, NULL, err, vcs_token_update, .id = id, .key_changes = change->ssh_key != NULL,
		.ssh_key_sealed = SEALED(key), .host_keys = change->host_keys);
}

int vcs_token_judge(
	struct store *store, const char *connection_id, const struct vcs_token_verdict *verdict, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_token_judge, .connection_id = connection_id, .state = verdict->state,
		.error = verdict->error, .user_name = verdict->user_name, .generation = verdict->generation);
}

/* ---- deleting ---- */

struct deletion {
	struct store *store;
	const char *id;
};

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;

	if (vcs_removals_add(d->store, &(struct vcs_removals_of){.token_id = d->id}, err) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, vcs_token_delete, .id = d->id);
}

int vcs_token_delete(struct store *store, const char *id, struct err *err)
{
	struct deletion d = {store, id};

	return db_transaction(store->db, delete_in, &d, err);
}
