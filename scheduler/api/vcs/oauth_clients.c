/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include <stdio.h>
#include <string.h>

#include "common/vcs/address.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/vcs/connections.h"
#include "scheduler/api/vcs/lookup.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/vcs/commit_contents.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/connections.sql.h"
#include "scheduler/store/vcs/tokens.h"

/* Connections to VCS providers. */

enum { MAX_NAME = 255, MAX_URL = 1024, MAX_KEY = 1000, MAX_SECRET = 64 << 10 };

/* ---- the resource ---- */

static const struct cell_shown attributes[] = {
	CELL("name", vcs_connection, name),
	CELL("service-provider", vcs_connection, provider),
	CELL("http-url", vcs_connection, http_url),
	CELL("api-url", vcs_connection, api_url),
	CELL("key", vcs_connection, key),
	CELL("rsa-public-key", vcs_connection, rsa_public_key),
	CELL("organization-scoped", vcs_connection, organization_scoped),
	CELL("call-error", vcs_connection, call_error),
	CELL_TIME("calls-blocked-until", vcs_connection, blocked_until),
	CELL_TIME("created-at", vcs_connection, created_at),
};

static json_t *tokens_relation(const struct vcs_connection_row *client)
{
	json_auto_t *ids = json_array();

	if (client->token_id)
		json_array_append_new(ids, json_string(client->token_id));
	return relation_linked(to_many("oauth-tokens", ids), "oauth-clients", client->id, "oauth-tokens");
}

static int client_resource(struct store *store, const void *row, json_t **ret_resource, struct err *err)
{
	const struct vcs_connection_row *client = row;
	enum vcs_provider provider = vcs_provider_of(client->provider);
	_cleanup_(freep) char *self = mem_printf("/api/v2/oauth-clients/%s", client->id);
	_cleanup_(freep) char *url =
		mem_printf("%s/auth/%s/callback", store->settings->public_url, client->callback_id);
	_cleanup_(freep) char *path = mem_printf("/auth/%s?organization_id=1", client->callback_id);
	json_t *shown = cells_shown(attributes, ARRAY_LEN(attributes), client);

	(void)err;
	json_object_set_new(shown, "service-provider-display-name",
		json_string_or_null(provider < VCS_PROVIDERS ? vcs_provider_display(provider) : NULL));
	json_object_set_new(shown, "callback-url", json_string(url));
	json_object_set_new(shown, "connect-path", json_string(path));
	*ret_resource = resource_new("oauth-clients", client->id, shown,
		json_pack("{so so so so so}", "organization", to_one("organizations", client->organization_name),
			"projects", many_shown("projects", client->projects), "oauth-tokens", tokens_relation(client),
			"agent-pool", to_one("agent-pools", client->pool_id), "fork-agent-pool",
			to_one("agent-pools", client->fork_pool_id)));
	json_object_set_new(*ret_resource, "links", json_pack("{ss}", "self", self));
	return 0;
}

static const struct inclusion includes[] = {
	{"oauth_tokens", "oauth-clients", "oauth-tokens", &kind_oauth_tokens},
	{"projects", "oauth-clients", "projects", &kind_projects},
	{"agent_pool", "oauth-clients", "agent-pool", &kind_pools},
};

const struct resource_kind kind_oauth_clients = {
	.type = "oauth-clients", .ask = vcs_connections_read_all, .make = client_resource, KIND_INCLUDES(includes)};

/* ---- reading ---- */

int vcs_connection_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (vcs_connection_read(req->store, param(req, "client"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(vcs_connection, ret_rows, 0)->organization_id},
		"OAuth client", err);
}

static int client_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (vcs_connection_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_oauth_clients, &rows}, err);
}

static int page_of_clients(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return vcs_connections_list(
		req->store, scope->organization.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int oauth_clients_index(struct request *req, struct response *res, struct err *err)
{
	return respond_whole_list(
		req, res, &(struct resource_list){&kind_oauth_clients, scope_organization, page_of_clients}, err);
}

int oauth_clients_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_oauth_clients, err) < 0 || vcs_connection_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_oauth_clients, &rows}, err);
}

/* ---- input ---- */

/* A connection from a body. The texts are borrowed from it, but for the URLs. */
struct client_input {
	struct vcs_connection connection;
	enum vcs_provider provider;
	const char *token; /* NULL: none was sent */
	struct vcs_trial_result tried;
	char *http_url, *api_url;
	json_t *projects;
};

static void client_input_release(struct client_input *input)
{
	free(input->http_url);
	free(input->api_url);
	json_decref(input->projects);
}

static int provider_read(const struct request *req, struct client_input *input, struct err *err)
{
	static const char pointer[] = "/data/attributes/service-provider";
	const char *name = NULL;

	if (body_text(req, "service-provider", &name, err) < 0)
		return -1;
	if (!*text_or_empty(name))
		return err_at(err, pointer, "Service provider can't be blank");
	input->provider = vcs_provider_of(name);
	if (input->provider == VCS_PROVIDERS)
		return err_at(err, pointer, "Service provider %.60s is not supported", name);
	if (input->provider == VCS_PROVIDER_GITHUB_APP)
		return err_at(err, pointer, "Service provider github_app has no OAuth client: install the App");
	input->connection.provider = vcs_provider_name(input->provider);
	return 0;
}

/* Reads a URL without its last slashes. */
static int url_read(
	const struct request *req, const char *name, const struct client_input *input, char **ret_url, struct err *err)
{
	const char *url = NULL;
	char label[32], pointer[64];
	size_t len;

	text_label(label, sizeof(label), name);
	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", name);
	if (body_text(req, name, &url, err) < 0)
		return -1;
	if (!*text_or_empty(url))
		return err_at(err, pointer, "%s can't be blank", label);
	if (length_check(label, pointer, url, MAX_URL, err) < 0)
		return -1;
	if (vcs_http_url_check(vcs_dialect_of(input->provider, NULL), url, err) < 0) {
		text_copy(err->pointer, sizeof(err->pointer), pointer);
		return -1;
	}
	for (len = strlen(url); url[len - 1] == '/';)
		len--;
	*ret_url = mem_text(url);
	(*ret_url)[len] = '\0';
	return 0;
}

static int urls_read(const struct request *req, struct client_input *input, struct err *err)
{
	const char *api_url = NULL;

	if (url_read(req, "http-url", input, &input->http_url, err) < 0 || body_text(req, "api-url", &api_url, err) < 0)
		return -1;
	/* Plain git has no API. */
	if (input->provider == VCS_PROVIDER_GIT && !*text_or_empty(api_url))
		input->api_url = mem_text(input->http_url);
	else if (url_read(req, "api-url", input, &input->api_url, err) < 0)
		return -1;
	input->connection.http_url = input->http_url;
	input->connection.api_url = input->api_url;
	return 0;
}

/* The texts that a create and a change may have. "" counts as absent: clients send it for what is not set. */
static int texts_read(const struct request *req, struct client_input *input, struct err *err)
{
	struct vcs_connection *c = &input->connection;
	const struct {
		const char *name, *label;
		size_t max;
		const char **text;
	} texts[] = {
		{"name", "Name", MAX_NAME, &c->name},
		{"key", "Key", MAX_KEY, &c->key},
		{"rsa-public-key", "Rsa public key", MAX_SECRET, &c->rsa_public_key},
		{"secret", "Secret", MAX_SECRET, &c->secret},
		{"private-key", "Private key", MAX_SECRET, &c->private_key},
		{"oauth-token-string", "Oauth token string", MAX_SECRET, &input->token},
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		char pointer[64];

		snprintf(pointer, sizeof(pointer), "/data/attributes/%s", texts[i].name);
		if (body_long_text(req, texts[i].name, texts[i].text, err) < 0 ||
			length_check(texts[i].label, pointer, *texts[i].text, texts[i].max, err) < 0)
			return -1;
		*texts[i].text = text_or_null(*texts[i].text);
	}
	return c->name ? title_check("Name", "/data/attributes/name", c->name, MAX_NAME, err) : 0;
}

/* A token goes into headers and into answers to git: one line without control characters. */
static int secrets_check(const struct client_input *input, struct err *err)
{
	const struct vcs_connection *c = &input->connection;

	for (const char *at = text_or_empty(input->token); *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return err_at(err, "/data/attributes/oauth-token-string",
				"Oauth token string must be one line without control characters");
	for (const char *at = text_or_empty(c->key); *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return err_at(err, "/data/attributes/key", "Key must be one line without control characters");
	if (c->private_key && input->provider != VCS_PROVIDER_ADO_SERVER)
		return err_at(err, "/data/attributes/private-key", "Private key is for ado_server only");
	return 0;
}

static bool is_bitbucket_server(enum vcs_provider provider)
{
	return provider < VCS_PROVIDERS && vcs_dialect_of(provider, NULL) == VCS_BITBUCKET_SERVER;
}

static int key_check(const struct request *req, const struct client_input *input, struct err *err)
{
	const char *key = json_string_at(req->body, "data.attributes.key");

	if (key && !*key && is_bitbucket_server(input->provider))
		return err_at(err, "/data/attributes/key",
			"The Consumer Key for Bitbucket Data Center must be present. Please add a value for `key`.");
	return 0;
}

static int common_read(
	const struct request *req, const char *organization_id, struct client_input *input, struct err *err)
{
	if (texts_read(req, input, err) < 0 || key_check(req, input, err) < 0 || secrets_check(input, err) < 0 ||
		body_bool(req, "organization-scoped", &input->connection.organization_scoped, err) < 0)
		return -1;
	return vcs_pools_read(req, organization_id, &input->connection.pools, err);
}

/* Bitbucket Data Center's token may come later, and that of an OAuth application from a browser. Plain git may use ssh,
 * or need no credential. */
static int token_check(const struct client_input *input, struct err *err)
{
	bool application = input->connection.key && input->connection.secret;

	if (input->token || application || is_bitbucket_server(input->provider) || input->provider == VCS_PROVIDER_GIT)
		return 0;
	return err_at(err, "/data/attributes/oauth-token-string", "Oauth token string can't be blank");
}

static int create_read(
	const struct request *req, const char *organization_id, struct client_input *input, struct err *err)
{
	if (body_check(req, "oauth-clients", err) < 0 || provider_read(req, input, err) < 0 ||
		urls_read(req, input, err) < 0 || common_read(req, organization_id, input, err) < 0 ||
		token_check(input, err) < 0 || body_relations(req, "projects", "projects", &input->projects, err) < 0)
		return -1;
	input->connection.projects = input->projects;
	return 0;
}

/* ---- creating and changing ---- */

/* Plain git always has a row for its token, which may be empty, because the row has the SSH key. A renewal of the
 * earlier token may be running. It does not replace the new one: both lock the renewal's row first, then the token's.
 */
static int token_save(struct request *req, const char *id, const struct client_input *input, struct err *err)
{
	const struct vcs_token token = {
		.token = input->token, .verified = input->tried.verified, .user_name = text_or_null(input->tried.user)};

	if (!input->token && input->provider != VCS_PROVIDER_GIT)
		return 0;
	if (renewal_plan_token(req->store, id, 0, err) < 0)
		return -1;
	return vcs_token_put(req->store, id, &token, err);
}

/* Asks the provider about the token that was sent. */
static int token_try(struct request *req, struct client_input *input, const char *api_url, struct err *err)
{
	const struct vcs_trial trial = {.provider = input->provider,
		.api_url = api_url,
		.token = input->token,
		.pool_id = input->connection.pools.pool_id};

	return vcs_credential_try(req->store, &trial, &input->tried, err);
}

int oauth_clients_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(client_input_release) struct client_input input = {.connection = {.organization_scoped = true}};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || create_read(req, scope.organization.text, &input, err) < 0 ||
		token_try(req, &input, input.connection.api_url, err) < 0 || request_audit_begin(req, err) < 0 ||
		vcs_connection_create(req->store, scope.organization.text, &input.connection, &id, err) < 0 ||
		token_save(req, id.text, &input, err) < 0)
		return -1;
	return client_show(req, res, 201, id.text, err);
}

/* The credential belongs to the host of the URLs, so these stay. Clients send them unchanged. */
static int fixed_check(const struct request *req, const struct vcs_connection_row *client, struct err *err)
{
	const struct {
		const char *name, *now, *label;
	} fixed[] = {{"service-provider", client->provider, "Service provider"},
		{"http-url", client->http_url, "Http url"}, {"api-url", client->api_url, "Api url"}};

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		const char *sent = NULL, *now = fixed[i].now;
		char pointer[64];
		size_t len = strlen(now);

		if (body_text(req, fixed[i].name, &sent, err) < 0)
			return -1;
		if (!*text_or_empty(sent) || (text_starts(sent, now) && !sent[len + strspn(sent + len, "/")]))
			continue;
		snprintf(pointer, sizeof(pointer), "/data/attributes/%s", fixed[i].name);
		return err_at(err, pointer, "%s can't be changed: create another OAuth client", fixed[i].label);
	}
	return 0;
}

int oauth_clients_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(client_input_release) struct client_input input = {.http_url = NULL};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_connection_row *client;

	if (vcs_connection_in_path(req, &rows, err) < 0)
		return -1;
	client = row_of(vcs_connection, &rows, 0);
	input.provider = vcs_provider_of(client->provider);
	input.connection.organization_scoped = client->organization_scoped;
	input.connection.pools = (struct vcs_pools){.pool_id = client->pool_id, .fork_pool_id = client->fork_pool_id};
	if (body_check(req, "oauth-clients", err) < 0 || fixed_check(req, client, err) < 0 ||
		common_read(req, client->organization_id, &input, err) < 0 ||
		token_try(req, &input, client->api_url, err) < 0 || request_audit_begin(req, err) < 0 ||
		vcs_connection_update(req->store, client->id, &input.connection, err) < 0 ||
		(input.token && token_save(req, client->id, &input, err) < 0))
		return -1;
	return client_show(req, res, 200, client->id, err);
}

int oauth_clients_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (vcs_connection_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(vcs_connection, &rows, 0)->id;
	if (connection_contents_failed(req->store, id, "The connection to the repository was deleted.", err) < 0 ||
		vcs_connection_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- its projects ---- */

static int projects_in_body(const struct request *req, struct rows *ret_client, json_t **ret_ids, struct err *err)
{
	if (vcs_connection_in_path(req, ret_client, err) < 0)
		return -1;
	return body_linkage(req, "projects", ret_ids, err);
}

int oauth_clients_add_projects(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *ids = NULL;

	if (projects_in_body(req, &rows, &ids, err) < 0 ||
		vcs_connection_add_projects(req->store, row_of(vcs_connection, &rows, 0)->id, ids, "/data", err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int oauth_clients_remove_projects(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *ids = NULL;

	if (projects_in_body(req, &rows, &ids, err) < 0 ||
		vcs_connection_remove_projects(req->store, row_of(vcs_connection, &rows, 0)->id, ids, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
