/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/tokens.h"

#include <string.h>
#include <time.h>

#include "scheduler/store/access/response_scope.h"

#define COLUMNS                                                                                                        \
	"k.id, k.user_id, k.pool_id, k.team_id, t.kind as team_kind, "                                                 \
	"coalesce(p.organization_id, t.organization_id) as organization_id, "                                          \
	"coalesce(k.created_by, k.user_id) as creator_id, k.notifier, k.description, k.created_at, k.last_used_at, "   \
	"k.expired_at "

#define TABLES "from tokens k left join agent_pools p on p.id = k.pool_id left join teams t on t.id = k.team_id "

static const char *prefix_of(const struct token_order *order)
{
	if (order->notifier)
		return "ry_notifier_";
	if (order->team_id)
		return "ry_team_";
	return order->user_id ? "ry_user_" : "ry_agent_";
}

struct making {
	struct store *store;
	const struct token_order *order;
	const char *hash;
	struct id id;
};

/* Deletes the team's token without a description before it is replaced. The lock serializes concurrent replacements. */
static int make_room(const struct making *m, struct err *err)
{
	if (!m->order->team_id || m->order->description)
		return 0;
	if (db_query(m->store->db, NULL, err, "select 1 from teams where id = $1 for update",
		    P_TEXT(m->order->team_id)) < 0)
		return -1;
	return db_query(m->store->db, NULL, err, "delete from tokens where team_id = $1 and description is null",
		P_TEXT(m->order->team_id));
}

static int make_in(void *data, struct err *err)
{
	const struct making *m = data;
	const struct token_order *order = m->order;

	if (make_room(m, err) < 0)
		return -1;
	return db_query(m->store->db, NULL, err,
		"insert into tokens (id, hash, user_id, pool_id, notifier, team_id, description, expired_at, "
		"created_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		P_TEXT(m->id.text), P_TEXT(m->hash), P_TEXT(order->user_id), P_TEXT(order->pool_id),
		P_BOOL(order->notifier), P_TEXT(order->team_id),
		P_TEXT(order->team_id ? order->description : text_or_empty(order->description)),
		P_TEXT(order->expires_at), P_TEXT(order->created_by));
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

	crypto_sha256_hex(token, strlen(token), hash);
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
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where k.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "token not found");
}

/* By $1, the owner, and the range $2 and $3. */
#define TOKENS_WHERE(condition)                                                                                        \
	"select n.total, f.* from (select count(*) as total from tokens k where " condition                            \
	") n left join (select " COLUMNS TABLES "where " condition                                                     \
	" order by k.created_at desc, k.id limit $2 offset $3) f on true order by f.created_at desc, f.id"

int tokens_list(struct store *store, const struct token_list *list, struct rows *ret_rows, struct err *err)
{
	if (list->user_id)
		return db_query(store->db, ret_rows, err, TOKENS_WHERE("k.user_id = $1"), P_TEXT(list->user_id),
			P_INT(list->limit), P_INT(list->offset));
	if (list->pool_id)
		return db_query(store->db, ret_rows, err, TOKENS_WHERE("k.pool_id = $1"), P_TEXT(list->pool_id),
			P_INT(list->limit), P_INT(list->offset));
	if (list->team_id)
		return db_query(store->db, ret_rows, err, TOKENS_WHERE("k.team_id = $1"), P_TEXT(list->team_id),
			P_INT(list->limit), P_INT(list->offset));
	return db_query(store->db, ret_rows, err, TOKENS_WHERE("k.notifier and $1::text is null"), P_TEXT(NULL),
		P_INT(list->limit), P_INT(list->offset));
}

int token_ensure(struct store *store, const struct token_order *order, char **ret_token, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select 1 from tokens where (user_id = $1 or pool_id = $2 or $3 and notifier) "
		    "and (expired_at is null or expired_at > now()) limit 1",
		    P_TEXT(order->user_id), P_TEXT(order->pool_id), P_BOOL(order->notifier)) < 0)
		return -1;
	return rows.count ? 0 : token_create(store, order, ret_token, NULL, err);
}

int token_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from tokens where id = $1", P_TEXT(id));
}

/* ---- tokens of teams ---- */

int token_of_team(struct store *store, const char *team_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select " COLUMNS TABLES "where k.team_id = $1 and k.description is null", P_TEXT(team_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "token not found");
}

int tokens_of_teams(struct store *store, const struct team_token_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select k.id, row_number() over (order by "
		"case when $3::text = 'team-name' then lower(t.name) end, "
		"case when $3 = '-team-name' then lower(t.name) end desc, "
		"case when $3 = 'created-by' then lower(u.username) end, "
		"case when $3 = '-created-by' then lower(u.username) end desc, "
		"case when $3 = 'expired-at' then k.expired_at end, "
		"case when $3 = '-expired-at' then k.expired_at end desc, "
		"case when $3 = 'last-used-at' then k.last_used_at end, "
		"case when $3 = '-last-used-at' then k.last_used_at end desc, k.created_at desc, k.id) as place "
		"from tokens k join teams t on t.id = k.team_id left join users u on u.id = k.created_by "
		"where t.organization_id = $1 and ($2::text is null or strpos(lower(t.name), lower($2)) > 0) "
		"and " TEAM_IN_SCOPE("$6::boolean",
			"$7") ") "
			      "select n.total, f.* from (select count(*) as total from found) n left join "
			      "(select x.place, " COLUMNS TABLES
			      "join found x on x.id = k.id order by x.place limit $4 offset $5) f "
			      "on true order by f.place",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->sort), P_INT(list->limit),
		P_INT(list->offset),
		P_BOOL(response_scope_all(store->scope, list->organization_id, CAN_SEE_SECRET_TEAMS)),
		P_TEXT(response_scope_user(store->scope)));
}
