/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/store/notifications/notification_configurations.h"

#include <string.h>

#include "scheduler/api/access/emails.h"
#include "scheduler/api/notifications/notification_verify.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/http/relations.h"
#include "scheduler/lifecycle/triggers.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/notifications/notification_configurations.sql.h"
#include "scheduler/store/notifications/notification_urls.h"
#include "scheduler/store/notifications/notifications.h"

/* Notification configurations of workspaces, projects and teams. The destination of an enabled configuration is
 * verified at each save. */

enum { MAX_NAME = 255, MAX_TOKEN = 1000, MAX_EMAILS = 100, MAX_USERS = 100 };

/* The owner of a configuration: its parameter in the path, and its type. */
static const struct {
	const char *param, *type;
	enum permission permission;
} kinds[SUBSCRIBABLES] = {
	[OF_WORKSPACE] = {"workspace", "workspaces", CAN_MANAGE_WORKSPACE},
	[OF_PROJECT] = {"project", "projects", CAN_MANAGE_PROJECT},
	[OF_TEAM] = {"team", "teams", CAN_MANAGE_TEAMS},
};

/* ---- the resource ---- */

static enum subscribable kind_of(const struct notification_configuration_row *row)
{
	return row->workspace_id ? OF_WORKSPACE : row->project_id ? OF_PROJECT : OF_TEAM;
}

static const char *owner_of(const struct notification_configuration_row *row)
{
	return row->workspace_id ? row->workspace_id : row->project_id ? row->project_id : row->team_id;
}

/* The decrypted parts of a row. The URL is empty for e-mail. */
struct opened {
	struct buf url;
	json_t *responses;
};

static int opened_read(
	struct store *store, const struct notification_configuration_row *row, struct opened *ret, struct err *err)
{
	ret->url = (struct buf)BUF_INIT(NOTIFICATION_URL_LIMIT);
	ret->responses = NULL;
	if (notification_url_open(store, row->url_sealed, &ret->url, err) == 0 &&
		notification_responses_open(store, row->responses, &ret->responses, err) == 0)
		return 0;
	buf_release(&ret->url);
	return -1;
}

static json_t *url_or_null(const struct opened *opened)
{
	return json_string_or_null(opened->url.len ? buf_str(&opened->url) : NULL);
}

static int configuration_resource(
	struct store *store, const struct notification_configuration_row *row, json_t **ret_resource, struct err *err)
{
	_cleanup_(freep) char *self = mem_printf("/api/v2/notification-configurations/%s", row->id);
	struct opened opened;
	json_t *resource;

	if (opened_read(store, row, &opened, err) < 0)
		return -1;
	resource = resource_new("notification-configurations", row->id,
		json_pack("{ss sb ss so sn so so so so so so}", "name", row->name, "enabled", row->enabled,
			"destination-type", row->destination_type, "url", url_or_null(&opened), "token", "triggers",
			json_shown(row->triggers_json), "email-addresses", json_shown(row->emails_json),
			"external-email-addresses", json_shown(row->emails_json), "delivery-responses",
			opened.responses, "created-at", time_shown(row->created_at), "updated-at",
			time_shown(row->updated_at)),
		json_pack("{so so}", "subscribable", to_one(kinds[kind_of(row)].type, owner_of(row)), "users",
			many_shown("users", row->users)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	buf_release(&opened.url);
	*ret_resource = resource;
	return 0;
}

static int configuration_respond(struct request *req, struct response *res, int status,
	const struct notification_configuration_row *row, struct err *err)
{
	json_t *resource;

	if (configuration_resource(req->store, row, &resource, err) < 0)
		return -1;
	return respond_resource(res, status, resource);
}

static int configuration_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (notification_configuration_read(req->store, id, &rows, err) < 0)
		return -1;
	return configuration_respond(req, res, status, row_of(notification_configuration, &rows, 0), err);
}

/* ---- the owner in the path ---- */

static int may_at(
	const struct request *req, enum subscribable kind, const char *organization, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows team = ROWS_INIT;
	struct place place = {.organization = organization};

	if (kind == OF_TEAM && team_read(req->store, id, &team, err) < 0)
		return -1; /* a team that the actor may not see is not found */
	if (kind == OF_WORKSPACE)
		place.workspace = id;
	else if (kind == OF_PROJECT)
		place.project = id;
	return may_with(req, kinds[kind].permission, place, kinds[kind].param, err);
}

static int subscribable_in_path(
	const struct request *req, enum subscribable *ret_kind, struct rows *ret_rows, struct err *err)
{
	const struct subscribable_row *owner;
	int kind = 0;

	while (kind < SUBSCRIBABLES - 1 && !*param(req, kinds[kind].param))
		kind++;
	*ret_kind = (enum subscribable)kind;
	if (subscribable_read(req->store, *ret_kind, param(req, kinds[kind].param), ret_rows, err) < 0)
		return -1;
	owner = row_of(subscribable, ret_rows, 0);
	return may_at(req, *ret_kind, owner->organization_id, owner->id, err);
}

static int configuration_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct notification_configuration_row *row;

	if (notification_configuration_read(req->store, param(req, "notification"), ret_rows, err) < 0)
		return -1;
	row = row_of(notification_configuration, ret_rows, 0);
	return may_at(req, kind_of(row), row->organization_id, owner_of(row), err);
}

/* ---- reading ---- */

/* Without a page parameter the answer has all configurations and no pagination: there are few. */
int notification_configurations_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows at = ROWS_INIT, rows = ROWS_INIT;
	bool paged = query(req, "page[number]") || query(req, "page[size]");
	struct notification_configuration_list list;
	struct page page;
	json_auto_t *data = json_array();
	json_t *resource;

	if (page_read(req, &page, err) < 0 || subscribable_in_path(req, &list.kind, &at, err) < 0)
		return -1;
	list.subscribable_id = row_of(subscribable, &at, 0)->id;
	list.limit = paged ? page.size : MAX_NOTIFICATION_CONFIGURATIONS;
	list.offset = page.offset;
	if (notification_configurations_list(req->store, &list, &rows, err) < 0)
		return -1;
	page.total = row_of(notification_configuration, &rows, 0)->total;
	for (int i = 0; i < rows.count && row_of(notification_configuration, &rows, i)->id; i++) {
		if (configuration_resource(req->store, row_of(notification_configuration, &rows, i), &resource, err) <
			0)
			return -1;
		json_array_append_new(data, resource);
	}
	json_incref(data);
	return paged ? respond_page(req, res, &page, data, NULL) : respond_resource(res, 200, data);
}

int notification_configurations_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (configuration_in_path(req, &rows, err) < 0)
		return -1;
	return configuration_respond(req, res, 200, row_of(notification_configuration, &rows, 0), err);
}

/* ---- input ---- */

/* A configuration from a body. The lists are new references. */
struct input {
	struct notification_configuration configuration;
	json_t *triggers, *emails, *users;
	struct buf url; /* the stored URL */
};

static void input_release(struct input *input)
{
	json_decref(input->triggers);
	json_decref(input->emails);
	json_decref(input->users);
	buf_release(&input->url);
}

/* Reads a list without duplicates, in the order sent. A list that was not sent stays as it is; null is an empty
 * list. */
static int list_read(const struct request *req, const char *name, int (*check)(const char *text, struct err *err),
	json_t **list, struct err *err)
{
	json_auto_t *seen = json_object(), *read = json_array();
	const json_t *sent = NULL;
	json_t *item;
	size_t i;

	if (body_texts(req, name, &sent, err) < 0)
		return -1;
	if (!body_has(req, name))
		return 0;
	json_array_foreach((json_t *)sent, i, item)
	{
		if (check(json_string_value(item), err) < 0)
			return -1;
		if (!json_object_get(seen, json_string_value(item)))
			json_array_append(read, item);
		json_object_set(seen, json_string_value(item), item);
	}
	json_decref(*list);
	*list = json_incref(read);
	return 0;
}

static int trigger_check(const char *name, struct err *err)
{
	if (trigger_parse(name) != TRIGGER_COUNT)
		return 0;
	return err_at(err, "/data/attributes/triggers", "Triggers may not hold %.60s: it is not a known trigger", name);
}

static int address_check(const char *address, struct err *err)
{
	if (email_check(address, err) == 0 && mail_address_valid(address))
		return 0;
	return err_at(err, "/data/attributes/email-addresses", "Email addresses may only hold valid addresses");
}

/* PATCH replaces the users of an e-mail configuration even if the body has none. Clients depend on that. */
static int users_read(const struct request *req, struct input *input, struct err *err)
{
	json_t *users = NULL;

	if (body_relations(req, "users", "users", &users, err) < 0)
		return -1;
	json_decref(input->users);
	input->users = users ? users : json_array();
	if (json_array_size(input->users) > MAX_USERS)
		return err_at(err, "/data/relationships/users", "Users may be %d at the most", MAX_USERS);
	return 0;
}

static int recipients_check(const struct input *input, struct err *err)
{
	bool email = text_equal(input->configuration.destination_type, "email");

	if (!email && json_array_size(input->emails))
		return err_at(err, "/data/attributes/email-addresses",
			"Email addresses can be given only for the destination type email");
	if (!email && json_array_size(input->users))
		return err_at(
			err, "/data/relationships/users", "Users can be given only for the destination type email");
	if (json_array_size(input->emails) > MAX_EMAILS)
		return err_at(
			err, "/data/attributes/email-addresses", "Email addresses may be %d at the most", MAX_EMAILS);
	return 0;
}

static int destination_check(struct input *input, struct err *err)
{
	static const char *const types[] = {"generic", "slack", "microsoft-teams", "email"};
	struct notification_configuration *c = &input->configuration;
	size_t type = 0;

	while (type < ARRAY_LEN(types) && !text_equal(types[type], c->destination_type))
		type++;
	if (type == ARRAY_LEN(types))
		return err_at(err, "/data/attributes/destination-type",
			"Destination type must be generic, slack, microsoft-teams or email");
	if (!text_equal(c->destination_type, "email"))
		return test_request_url_check(c->url, err);
	if (*text_or_empty(c->url))
		return err_at(err, "/data/attributes/url", "URL must be blank for the destination type email");
	c->url = NULL;
	return 0;
}

static int input_check(struct input *input, struct err *err)
{
	struct notification_configuration *c = &input->configuration;

	if (!*text_or_empty(c->name) || !c->name[strspn(c->name, " \t\r\n")])
		return err_at(err, "/data/attributes/name", "Name can't be blank");
	if (strlen(c->name) > MAX_NAME || c->name[strcspn(c->name, "\r\n")])
		return err_at(
			err, "/data/attributes/name", "Name must be one line of %d characters at the most", MAX_NAME);
	if (strlen(text_or_empty(c->token)) > MAX_TOKEN)
		return err_at(err, "/data/attributes/token", "Token is too long (maximum is %d characters)", MAX_TOKEN);
	if (destination_check(input, err) < 0 || recipients_check(input, err) < 0)
		return -1;
	c->triggers = input->triggers;
	c->email_addresses = input->emails;
	c->users = input->users;
	return 0;
}

/* Clients send the type in singular or plural. */
static int type_check(const struct request *req, struct err *err)
{
	const char *type = json_string_at(req->body, "data.type");

	return body_check(
		req, text_equal(type, "notification-configuration") ? type : "notification-configurations", err);
}

/* Reads a body into *input. Attributes that were not sent stay as they are. */
static int input_read(const struct request *req, struct input *input, struct err *err)
{
	struct notification_configuration *c = &input->configuration;

	if (type_check(req, err) < 0 || body_text(req, "name", &c->name, err) < 0 ||
		body_text(req, "url", &c->url, err) < 0 || body_text(req, "token", &c->token, err) < 0 ||
		body_text(req, "destination-type", &c->destination_type, err) < 0 ||
		body_bool(req, "enabled", &c->enabled, err) < 0 ||
		list_read(req, "triggers", trigger_check, &input->triggers, err) < 0 ||
		list_read(req, "email-addresses", address_check, &input->emails, err) < 0 ||
		users_read(req, input, err) < 0)
		return -1;
	if (body_has(req, "token") && !c->token)
		c->token = ""; /* null removes the token */
	return input_check(input, err);
}

/* ---- creating and changing ---- */

/* Verifies the destination of an enabled configuration. E-mail is not verified, because no answer would arrive. */
static int input_verify(const struct request *req, struct notification_configuration *c, const char *token,
	struct notification_verification *v, struct err *err)
{
	if (!c->enabled || !c->url)
		return 0;
	c->verified = &v->response;
	return notification_verify(req->store, c, token, v, err);
}

int notification_configurations_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows at = ROWS_INIT;
	_cleanup_(input_release) struct input input = {.triggers = json_array(), .emails = json_array()};
	_cleanup_(notification_verification_release) struct notification_verification verification = {.body = NULL};
	struct notification_configuration *c = &input.configuration;
	struct id id = id_new("nc");

	if (subscribable_in_path(req, &c->kind, &at, err) < 0 || input_read(req, &input, err) < 0)
		return -1;
	c->id = id.text;
	c->subscribable_id = row_of(subscribable, &at, 0)->id;
	if (input_verify(req, c, text_or_empty(c->token), &verification, err) < 0 ||
		request_audit_begin(req, err) < 0 || notification_configuration_create(req->store, c, err) < 0)
		return -1;
	return configuration_show(req, res, 201, id.text, err);
}

static int input_of(
	struct store *store, const struct notification_configuration_row *row, struct input *ret_input, struct err *err)
{
	struct buf url = BUF_INIT(NOTIFICATION_URL_LIMIT);

	if (notification_url_open(store, row->url_sealed, &url, err) < 0)
		return -1;
	*ret_input = (struct input){.configuration = {.id = row->id,
					    .name = row->name,
					    .destination_type = row->destination_type,
					    .url = url.len ? buf_str(&url) : NULL,
					    .enabled = row->enabled,
					    .updated_at = row->updated_at},
		.triggers = json_shown(row->triggers_json),
		.emails = json_shown(row->emails_json),
		.users = json_shown(row->users),
		.url = url};
	return 0;
}

/* Stores what changed of `before`. */
static int input_store(struct request *req, struct response *res, const struct notification_configuration_row *before,
	const struct input *input, struct err *err)
{
	_cleanup_(notification_verification_release) struct notification_verification verification = {.body = NULL};
	_cleanup_(buf_release) struct buf token = BUF_INIT(NOTIFICATION_TOKEN_LIMIT);
	struct notification_configuration c = input->configuration;

	if (!c.token && notification_token_open(req->store, before->token_sealed, &token, err) < 0)
		return -1;
	if (input_verify(req, &c, c.token ? c.token : buf_str(&token), &verification, err) < 0 ||
		request_audit_begin(req, err) < 0 || notification_configuration_update(req->store, &c, err) < 0)
		return -1;
	return configuration_show(req, res, 200, c.id, err);
}

int notification_configurations_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(input_release) struct input input = {.users = NULL};
	const struct notification_configuration_row *before;

	if (configuration_in_path(req, &rows, err) < 0)
		return -1;
	before = row_of(notification_configuration, &rows, 0);
	if (input_of(req->store, before, &input, err) < 0 || input_read(req, &input, err) < 0)
		return -1;
	if (!text_equal(input.configuration.destination_type, before->destination_type))
		return err_at(err, "/data/attributes/destination-type", "Destination type can't be changed");
	return input_store(req, res, before, &input, err);
}

int notification_configurations_enable(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(input_release) struct input input = {.users = NULL};
	const struct notification_configuration_row *before;

	if (configuration_in_path(req, &rows, err) < 0)
		return -1;
	before = row_of(notification_configuration, &rows, 0);
	if (input_of(req->store, before, &input, err) < 0)
		return -1;
	input.configuration.enabled = true;
	if (input_check(&input, err) < 0)
		return -1;
	return input_store(req, res, before, &input, err);
}

int notification_configurations_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (configuration_in_path(req, &rows, err) < 0 ||
		notification_configuration_delete(req->store, row_of(notification_configuration, &rows, 0)->id, err) <
			0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- verifying ---- */

/* Stores the destination's response, whether the verification succeeds or not. */
static int address_verify(const struct request *req, const struct notification_configuration *c,
	struct db_hex token_sealed, struct err *err)
{
	_cleanup_(notification_verification_release) struct notification_verification verification = {.body = NULL};
	_cleanup_(buf_release) struct buf token = BUF_INIT(NOTIFICATION_TOKEN_LIMIT);
	struct err ignored = ERR_INIT;
	int result;

	if (notification_token_open(req->store, token_sealed, &token, err) < 0)
		return -1;
	result = notification_verify(req->store, c, buf_str(&token), &verification, err);
	if (notification_response_add(req->store, c->id, &verification.response, result < 0 ? &ignored : err) < 0)
		return -1;
	return result;
}

/* A notifier sends the e-mail, and reports the outcome later. */
int notification_configurations_verify(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(input_release) struct input input = {.users = NULL};
	const struct notification_configuration_row *row;
	int result;

	if (configuration_in_path(req, &rows, err) < 0)
		return -1;
	row = row_of(notification_configuration, &rows, 0);
	if (input_of(req->store, row, &input, err) < 0)
		return -1;
	result = input.configuration.url ? address_verify(req, &input.configuration, row->token_sealed, err)
					 : notification_verification_put_up(req->store, input.configuration.id, err);
	return result < 0 ? -1 : configuration_show(req, res, 200, input.configuration.id, err);
}
