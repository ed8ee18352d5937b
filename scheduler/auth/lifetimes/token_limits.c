/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/lifetimes/token_limits.h"

#include "common/log.h"
#include "scheduler/auth/lifetimes/token_limits.sql.h"
#include "scheduler/store/access/audit.h"

enum { MAX_DELETED = 100 };

/* ---- the longest lifetime ---- */

int token_ttls_read(struct store *store, const char *organization_id, const struct token_ttl_page *page,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, token_ttls_read, .organization_id = organization_id,
		.usual_ms = TOKEN_TTL_USUAL_MS, .limit = page->limit, .offset = page->offset);
}

int token_ttls_update(struct store *store, const char *organization_id, const json_t *policies, struct err *err)
{
	_cleanup_(freep) char *text = json_text(policies);

	return db_query(store->db, NULL, err, token_ttls_update, .organization_id = organization_id, .policies = text);
}

int token_ttls_ensure(struct store *store, const char *organization_id, struct err *err)
{
	return db_query(store->db, NULL, err, token_ttls_ensure, .organization_id = organization_id,
		.usual_ms = TOKEN_TTL_USUAL_MS);
}

int token_limit_read(struct store *store, const struct token_lifetime *token, bool *ret_exceeded, char ret_until[64],
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct token_limit_read_row *limit;

	if (db_query(store->db, &rows, err, token_limit_read, .team_id = token->team_id, .user_id = token->user_id,
		    .expires_at = token->expires_at) < 0)
		return -1;
	limit = row_of(token_limit_read, &rows, 0);
	*ret_exceeded = limit->exceeded;
	text_copy(ret_until, 64, text_or_empty(limit->until));
	return 0;
}

/* ---- unused tokens ---- */

static void deletion_add(struct audit_batch *batch, const struct tokens_unused_delete_row *token)
{
	char request[AUDIT_UUID_SIZE];

	audit_uuid(request);
	audit_add(batch,
		&(struct audit_event){.organization = token->organization_id,
			.actor_type = "system",
			.actor_name = "runyard-scheduler",
			.request = request,
			.action = "expire_unused",
			.resource_type = "authentication_token",
			.resource_id = token->id});
}

struct sweep {
	struct store *store;
	int count;
};

static int sweep_in(void *data, struct err *err)
{
	struct sweep *sweep = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct audit_batch batch;
	int result;

	if (db_query(sweep->store->db, &rows, err, tokens_unused_delete, .most = MAX_DELETED) < 0)
		return -1;
	sweep->count = rows.count;
	audit_batch_init(&batch);
	for (int i = 0; i < rows.count; i++)
		deletion_add(&batch, row_of(tokens_unused_delete, &rows, i));
	result = audit_insert(sweep->store, &batch, err);
	audit_batch_release(&batch);
	return result;
}

int tokens_unused_sweep(struct store *store, struct err *err)
{
	struct sweep sweep = {.store = store};

	do {
		if (db_transaction(store->db, sweep_in, &sweep, err) < 0)
			return -1;
	} while (sweep.count == MAX_DELETED);
	return 0;
}
