/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/tokens.h"

#include <string.h>
#include <time.h>

#include "scheduler/auth/lifetimes/token_limits.h"
#include "scheduler/auth/tokens.sql.h"
#include "scheduler/store/access/response_scope.h"

static const char *prefix_of(const struct token_order *order)
{
	if (order->notifier)
		return "ry_notifier_";
	if (order->team_id)
		return "ry_team_";
	if (order->read_only || order->workspace_id)
		return SCOPED_TOKEN_PREFIX;
	return order->user_id ? "ry_user_" : "ry_agent_";
}

void token_hash(const char *token, char ret_hash[SHA256_HEX_SIZE])
{
	_cleanup_(freep) char *scoped = NULL;

	if (text_starts(token, SCOPED_TOKEN_PREFIX)) {
		scoped = mem_printf("scoped:%s", token);
		token = scoped;
	}
	crypto_sha256_hex(token, strlen(token), ret_hash);
}

struct making {
	struct store *store;
	const struct token_order *order;
	const char *hash;
	struct id id;
	char until[64]; /* instead of the order's expiry; "": that one */
};

/* Deletes the team's token without a description before it is replaced. The lock serializes concurrent replacements. */
static int make_room(const struct making *m, struct err *err)
{
	if (!m->order->team_id || m->order->description)
		return 0;
	if (db_query(m->store->db, NULL, err, token_team_lock, .team_id = m->order->team_id) < 0)
		return -1;
	return db_query(m->store->db, NULL, err, team_token_replace, .team_id = m->order->team_id);
}

/* Agents' and notifiers' tokens have no limit. A person may ask for more than one of their organizations accepts. */
static int limit_expiry(struct making *m, struct err *err)
{
	const struct token_order *order = m->order;
	const struct token_lifetime wanted = {order->team_id, order->user_id, order->expires_at};
	bool exceeded = false;

	if (!order->user_id || (!order->team_id && !order->expires_by_default))
		return 0;
	if (token_limit_read(m->store, &wanted, &exceeded, m->until, err) < 0)
		return -1;
	if (exceeded && order->expires_at && !order->expires_by_default)
		return err_at(err, "/data/attributes/expired-at",
			"Expired at must not be later than the organization permits for such tokens: %s", m->until);
	if (!exceeded)
		m->until[0] = '\0';
	return 0;
}

static int make_in(void *data, struct err *err)
{
	struct making *m = data;
	const struct token_order *order = m->order;

	if (make_room(m, err) < 0 || limit_expiry(m, err) < 0)
		return -1;
	return db_query(m->store->db, NULL, err, token_insert, .id = m->id.text, .hash = m->hash,
		.user_id = order->user_id, .pool_id = order->pool_id, .notifier = order->notifier,
		.team_id = order->team_id,
		.description = order->team_id ? order->description : text_or_empty(order->description),
		.expires_at = m->until[0] ? m->until : order->expires_at, .created_by = order->created_by,
		.provider_id = text_or_null(order->provider_id), .read_only = order->read_only,
		.workspace_id = order->workspace_id);
}

static int description_taken(struct store *store, struct err *err)
{
	if (err->kind != ERR_CONFLICT || !text_equal(db_constraint(store->db), "tokens_team_description"))
		return -1;
	err_at(err, "/data/attributes/description", "Validation failed: Description has already been taken");
	text_copy(err->title, sizeof(err->title), "invalid attributes"); /* clients recognize the error by this title */
	return -1;
}

int token_create(
	struct store *store, const struct token_order *order, char **ret_token, struct id *ret_id, struct err *err)
{
	char *token = crypto_token(prefix_of(order));
	char hash[SHA256_HEX_SIZE];
	struct making m = {.store = store, .order = order, .hash = hash, .id = id_new("at")};

	token_hash(token, hash);
	if (db_transaction(store->db, make_in, &m, err) < 0) {
		free(token);
		return description_taken(store, err);
	}
	*ret_token = token;
	if (ret_id)
		*ret_id = m.id;
	return 0;
}

static void time_write(time_t time, char ret_time[32])
{
	struct tm parts;

	gmtime_r(&time, &parts);
	strftime(ret_time, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

void token_expiry(long long days, char ret_time[32])
{
	time_write(time(NULL) + (time_t)days * 86400, ret_time);
}

void token_expiry_usual(char ret_time[32])
{
	time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	parts.tm_year += TOKEN_YEARS;
	time_write(timegm(&parts), ret_time); /* timegm normalizes February 29 */
}

int token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, token_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "token not found");
}

int tokens_list(struct store *store, const struct token_list *list, struct rows *ret_rows, struct err *err)
{
	if (list->user_id)
		return db_query(store->db, ret_rows, err, tokens_of_user, .user_id = list->user_id,
			.unused_days = list->unused_days, .limit = list->limit, .offset = list->offset);
	if (list->pool_id)
		return db_query(store->db, ret_rows, err, tokens_of_pool, .pool_id = list->pool_id,
			.limit = list->limit, .offset = list->offset);
	if (list->team_id)
		return db_query(store->db, ret_rows, err, tokens_of_team, .team_id = list->team_id,
			.limit = list->limit, .offset = list->offset);
	return db_query(store->db, ret_rows, err, tokens_of_notifiers, .limit = list->limit, .offset = list->offset);
}

int token_ensure(struct store *store, const struct token_order *order, char **ret_token, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, token_valid_any, .user_id = order->user_id, .pool_id = order->pool_id,
		    .notifier = order->notifier) < 0)
		return -1;
	return rows.count ? 0 : token_create(store, order, ret_token, NULL, err);
}

int token_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, token_delete, .id = id);
}

int tokens_delete_all(struct store *store, const json_t *ids, struct err *err)
{
	_cleanup_(freep) char *text = json_text(ids);

	return db_query(store->db, NULL, err, tokens_delete, .ids = text);
}

/* ---- tokens of teams ---- */

int token_of_team(struct store *store, const char *team_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, team_token_unnamed, .team_id = team_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "token not found");
}

int tokens_of_teams(struct store *store, const struct team_token_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, team_tokens_list, .organization_id = list->organization_id,
		.search = list->search, .sort = list->sort, .unused_days = list->unused_days, .limit = list->limit,
		.offset = list->offset,
		.everywhere = response_scope_all(store->scope, list->organization_id, CAN_SEE_SECRET_TEAMS),
		.user = response_scope_user(store->scope));
}
