/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notification_configurations.h"

#include "scheduler/store/notifications/notification_configurations.sql.h"
#include "scheduler/store/notifications/notification_urls.h"
#include "scheduler/store/content/seals.h"

enum { RESPONSES_KEPT = 10 };

/* ---- reading ---- */

/* The statements that differ between the kinds of subscribables. */
static const struct {
	const char *what;
	const struct db_statement *read, *lock, *list, *create;
} kinds[SUBSCRIBABLES] = {
	[OF_WORKSPACE] = {"workspace", &workspace_subscribable_statement, &workspace_subscribable_lock_statement,
		&workspace_configurations_statement, &workspace_configuration_create_statement},
	[OF_PROJECT] = {"project", &project_subscribable_statement, &project_subscribable_lock_statement,
		&project_configurations_statement, &project_configuration_create_statement},
	[OF_TEAM] = {"team", &team_subscribable_statement, &team_subscribable_lock_statement,
		&team_configurations_statement, &team_configuration_create_statement},
};

int subscribable_read(
	struct store *store, enum subscribable kind, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query_one_of(store->db, ret_rows, err, kinds[kind].read, workspace_subscribable, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%s not found", kinds[kind].what);
}

int notification_configurations_list(
	struct store *store, const struct notification_configuration_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query_one_of(store->db, ret_rows, err, kinds[list->kind].list, workspace_configurations,
		.subscribable_id = list->subscribable_id, .limit = list->limit, .offset = list->offset);
}

int notification_configuration_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, notification_configuration_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "notification configuration not found");
}

int notification_token_open(struct store *store, struct db_hex sealed, struct buf *ret_token, struct err *err)
{
	return sealed.text ? seal_open(store, NOTIFICATION_TOKEN_CONTEXT, sealed, ret_token, err) : 0;
}

/* ---- creating and changing ---- */

struct saving {
	struct store *store;
	const struct notification_configuration *configuration;
	struct buf token, url; /* sealed; empty: there is none */
};

/* A sealed text as a parameter; null if it is empty. */
static struct db_blob sealed_param(const struct buf *sealed)
{
	return sealed->len ? db_blob(sealed->data, sealed->len) : db_blob(NULL, 0);
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
	if (db_query(s->store->db, &rows, err, notification_users_save, .id = c->id, .users = users) < 0)
		return -1;
	if (row_of(notification_users_save, &rows, 0)->strangers)
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
	if (db_query_one_of(s->store->db, NULL, err, kinds[c->kind].lock, workspace_subscribable,
		    .id = c->subscribable_id) < 0 ||
		db_query_one_of(s->store->db, &rows, err, kinds[c->kind].create, workspace_configuration_create,
			.subscribable_id = c->subscribable_id, .id = c->id, .name = c->name, .enabled = c->enabled,
			.destination_type = c->destination_type, .url_sealed = sealed_param(&s->url),
			.token_sealed = sealed_param(&s->token), .triggers = triggers, .emails = emails,
			.max = MAX_NOTIFICATION_CONFIGURATIONS) < 0)
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
	if (db_query(s->store->db, &rows, err, notification_configuration_update, .id = c->id, .name = c->name,
		    .enabled = c->enabled, .url_sealed = sealed_param(&s->url), .sets_token = c->token != NULL,
		    .token_sealed = sealed_param(&s->token), .triggers = triggers, .emails = emails,
		    .updated_at = c->updated_at) < 0)
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
		.kept = RESPONSES_KEPT);
}
