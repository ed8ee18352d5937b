/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notification_configurations.h"

#include "scheduler/store/notifications/notification_configurations.sql.h"
#include "scheduler/store/notifications/notification_urls.h"
#include "scheduler/store/content/seals.h"

enum { RESPONSES_KEPT = 10 };

/* ---- reading ---- */

#define COLUMNS                                                                                                        \
	"c.*, to_jsonb(c.triggers) as triggers_json, to_jsonb(c.email_addresses) as emails_json, "                     \
	"(select coalesce(jsonb_agg(u.user_id order by u.user_id), '[]') from notification_users u "                   \
	"where u.configuration_id = c.id) as users, "                                                                  \
	"(select coalesce(jsonb_agg(jsonb_build_object(" RESPONSE_URL_MEMBERS                                          \
	", 'body', r.body, 'code', r.code, 'headers', "                                                                \
	"r.headers, 'sent-at', to_char(r.sent_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), "           \
	"'successful', r.successful::text) order by r.id desc), '[]') from notification_responses r "                  \
	"where r.configuration_id = c.id) as responses "

/* The statements that differ between the kinds of subscribables. */
#define LIST_SQL(column)                                                                                               \
	"select t.total, c.* from (select count(*) as total from notification_configurations "                         \
	"where " column " = $1) t left join (select " COLUMNS "from notification_configurations c "                    \
	"where c." column " = $1 order by c.created_at, c.id limit $2 offset $3) c on true "                           \
	"order by c.created_at, c.id"

#define CREATE_SQL(table, column)                                                                                      \
	"insert into notification_configurations (id, organization_id, " column ", name, enabled, destination_type, "  \
	"url_sealed, token_sealed, triggers, email_addresses) select $2, organization_id, id, $3, $4, $5, $6, $7, "    \
	"array(select jsonb_array_elements_text($8::jsonb)), array(select jsonb_array_elements_text($9::jsonb)) "      \
	"from " table " where id = $1 and (select count(*) from notification_configurations where " column             \
	" = $1) < $10"

#define KIND(name, table, column)                                                                                      \
	{                                                                                                              \
		.what = (name), .read = "select id, organization_id from " table " where id = $1",                     \
		.lock = "select id from " table " where id = $1 for no key update", .list = LIST_SQL(column),          \
		.create = CREATE_SQL(table, column)                                                                    \
	}

static const struct {
	const char *what, *read, *lock, *list, *create;
} kinds[SUBSCRIBABLES] = {
	[OF_WORKSPACE] = KIND("workspace", "workspaces", "workspace_id"),
	[OF_PROJECT] = KIND("project", "projects", "project_id"),
	[OF_TEAM] = KIND("team", "teams", "team_id"),
};

int subscribable_read(
	struct store *store, enum subscribable kind, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query_sql(store->db, ret_rows, err, kinds[kind].read, P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%s not found", kinds[kind].what);
}

int notification_configurations_list(
	struct store *store, const struct notification_configuration_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query_sql(store->db, ret_rows, err, kinds[list->kind].list, P_TEXT(list->subscribable_id),
		P_INT(list->limit), P_INT(list->offset));
}

int notification_configuration_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, notification_configuration_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "notification configuration not found");
}

int notification_token_open(
	struct store *store, const struct rows *rows, int row, struct buf *ret_token, struct err *err)
{
	if (row_null(rows, row, "token_sealed"))
		return 0;
	return seal_open(
		store, NOTIFICATION_TOKEN_CONTEXT, (struct sealed_column){rows, row, "token_sealed"}, ret_token, err);
}

/* ---- creating and changing ---- */

struct saving {
	struct store *store;
	const struct notification_configuration *configuration;
	struct buf token, url; /* sealed; empty: there is none */
};

/* A sealed text as a parameter; null if it is empty. */
static struct db_param sealed_param(const struct buf *sealed)
{
	if (!sealed->len)
		return (struct db_param)P_TEXT(NULL);
	return (struct db_param)P_BYTES(sealed->data, sealed->len);
}

static void token_seal(struct saving *s)
{
	const char *token = text_or_empty(s->configuration->token);

	if (*token)
		seal_text(s->store, NOTIFICATION_TOKEN_CONTEXT, token, &s->token);
}

/* Replaces the configuration's users. All must be members. */
static int users_save(const struct saving *s, struct err *err)
{
	const struct notification_configuration *c = s->configuration;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!c->users)
		return 0;
	_cleanup_(freep) char *users = json_text(c->users);
	if (db_query(s->store->db, &rows, err, users_save, .id = c->id, .users = users) < 0)
		return -1;
	if (row_of(users_save, &rows, 0)->strangers)
		return err_at(err, "/data/relationships/users", "Users must be members of the organization");
	return 0;
}

static int rest_save(const struct saving *s, struct err *err)
{
	const struct notification_configuration *c = s->configuration;

	if (c->verified && notification_response_add(s->store, c->id, c->verified, err) < 0)
		return -1;
	return users_save(s, err);
}

static int create_in(void *data, struct err *err)
{
	struct saving *s = data;
	const struct notification_configuration *c = s->configuration;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *triggers = json_text(c->triggers), *emails = json_text(c->email_addresses);

	/* A separate statement, so that the next one counts rows which were committed while this one waited for the
	 * lock. */
	if (db_query_sql(s->store->db, NULL, err, kinds[c->kind].lock, P_TEXT(c->subscribable_id)) < 0 ||
		db_query_sql(s->store->db, &rows, err, kinds[c->kind].create, P_TEXT(c->subscribable_id), P_TEXT(c->id),
			P_TEXT(c->name), P_BOOL(c->enabled), P_TEXT(c->destination_type), sealed_param(&s->url),
			sealed_param(&s->token), P_TEXT(triggers), P_TEXT(emails),
			P_INT(MAX_NOTIFICATION_CONFIGURATIONS)) < 0)
		return -1;
	if (!db_affected(&rows))
		return err_at(err, "/data", "A %s may have %d notification configurations at the most",
			kinds[c->kind].what, MAX_NOTIFICATION_CONFIGURATIONS);
	return rest_save(s, err);
}

static int update_in(void *data, struct err *err)
{
	struct saving *s = data;
	const struct notification_configuration *c = s->configuration;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *triggers = json_text(c->triggers), *emails = json_text(c->email_addresses);

	/* The verification before this takes time. A concurrent change must not be overwritten. */
	if (db_query_sql(s->store->db, &rows, err,
		    "with gone as (delete from notifications where configuration_id = $1 and not $3) "
		    "update notification_configurations set name = $2, enabled = $3, url_sealed = $4::bytea, "
		    "token_sealed = case when $5 then $6::bytea else token_sealed end, "
		    "triggers = array(select jsonb_array_elements_text($7::jsonb)), "
		    "email_addresses = array(select jsonb_array_elements_text($8::jsonb)), updated_at = now() "
		    "where id = $1 and updated_at = $9::timestamptz",
		    P_TEXT(c->id), P_TEXT(c->name), P_BOOL(c->enabled), sealed_param(&s->url), P_BOOL(c->token != NULL),
		    sealed_param(&s->token), P_TEXT(triggers), P_TEXT(emails), P_TEXT(c->updated_at)) < 0)
		return -1;
	if (!db_affected(&rows))
		return err_set(err, ERR_CONFLICT, "the notification configuration was changed meanwhile: try again");
	return rest_save(s, err);
}

static int save(struct store *store, const struct notification_configuration *configuration,
	int (*fn)(void *data, struct err *err), struct err *err)
{
	struct saving s = {.store = store,
		.configuration = configuration,
		.token = BUF_INIT(NOTIFICATION_TOKEN_LIMIT),
		.url = BUF_INIT(NOTIFICATION_URL_LIMIT)};
	int result;

	token_seal(&s);
	notification_url_seal(store, configuration->url, &s.url);
	result = db_transaction(store->db, fn, &s, err);
	buf_release(&s.token);
	buf_release(&s.url);
	return result;
}

int notification_configuration_create(
	struct store *store, const struct notification_configuration *configuration, struct err *err)
{
	return save(store, configuration, create_in, err);
}

int notification_configuration_update(
	struct store *store, const struct notification_configuration *configuration, struct err *err)
{
	return save(store, configuration, update_in, err);
}

int notification_configuration_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, notification_configuration_delete, .id = id);
}

/* ---- responses of servers ---- */

int notification_response_add(struct store *store, const char *configuration_id,
	const struct notification_response *response, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(freep) char *headers = json_text(response->headers);
	_cleanup_(buf_release) struct buf url = BUF_INIT(NOTIFICATION_URL_LIMIT);

	db_array_add(&ids, configuration_id);
	notification_url_seal(store, response->url, &url);
	if (db_query(store->db, NULL, err, notification_response_add, .configuration_id = configuration_id,
		    .url_sealed = db_blob(url.data, url.len), .code = response->code, .body = response->body,
		    .headers = headers, .successful = response->successful) < 0)
		return -1;
	return notification_responses_trim(store, &ids, err);
}

int notification_responses_trim(struct store *store, struct db_array *configuration_ids, struct err *err)
{
	return db_query(store->db, NULL, err, notification_responses_trim, .configuration_ids = configuration_ids,
		.responses_kept = RESPONSES_KEPT);
}
