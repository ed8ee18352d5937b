/* SPDX-License-Identifier: MPL-2.0 */
#include "common/crypto.h"
#include "common/vcs/address.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/vcs/vcs_repo.h"
#include "scheduler/http/columns.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/repositories.sql.h"

/* Repositories that workspaces and policy sets use: whether they are found, when they were looked at, and their
 * hooks. */

static const struct column_shown attributes[] = {
	{"identifier", row_string, "identifier"},
	{"service-provider", row_string, "provider"},
	{"default-branch", row_string, "default_branch"},
	{"state", row_string, "state"},
	{"error", row_string, "error"},
	{"looked-at", row_time, "looked_at"},
	{"look-due", row_time, "look_due"},
	{"look-failures", row_number, "look_failures"},
	{"look-error", row_string, "look_error"},
	{"hook-error", row_string, "hook_error"},
	{"hook-previous-until", row_time, "hook_previous_until"},
	{"created-at", row_time, "created_at"},
};

static json_t *page_url(const struct vcs_repository_row *row, enum vcs_provider provider)
{
	const char *http_url = row->http_url, *known = row->web_url;
	const struct vcs_place place = {
		.dialect = vcs_dialect_of(provider, row->api_url), .http_url = http_url, .identifier = row->identifier};
	_cleanup_(freep) char *url = known ? mem_text(known) : http_url ? vcs_repository_url(&place) : NULL;

	return json_string_or_null(url);
}

static int repository_resource(
	struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	const char *id = row_of(vcs_repository, rows, row)->id;
	enum vcs_provider provider = vcs_provider_of(row_of(vcs_repository, rows, row)->provider);
	_cleanup_(freep) char *self = mem_printf("/api/v2/vcs-repositories/%s", id);
	json_t *shown = columns_shown(attributes, ARRAY_LEN(attributes), rows, row);

	(void)err;
	json_object_set_new(shown, "web-url", page_url(row_of(vcs_repository, rows, row), provider));
	json_object_set_new(
		shown, "webhook-url", vcs_webhook_url(store, provider, row_of(vcs_repository, rows, row)->hook));
	json_object_set_new(shown, "hook-made", json_boolean(row_of(vcs_repository, rows, row)->hook_external_id));
	*ret_resource = resource_new("vcs-repositories", id, shown,
		json_pack("{so so so so so}", "oauth-client",
			to_one("oauth-clients", row_of(vcs_repository, rows, row)->connection_id), "oauth-token",
			to_one("oauth-tokens", row_of(vcs_repository, rows, row)->token_id), "github-app-installation",
			to_one("github-app-installations", row_of(vcs_repository, rows, row)->installation_id),
			"workspaces", many_shown("workspaces", row_of(vcs_repository, rows, row)->workspaces),
			"policy-sets", many_shown("policy-sets", row_of(vcs_repository, rows, row)->policy_sets)));
	json_object_set_new(*ret_resource, "links", json_pack("{ss}", "self", self));
	return 0;
}

static const struct inclusion includes[] = {
	{"workspaces", "vcs-repositories", "workspaces", &kind_workspaces},
	{"policy_sets", "vcs-repositories", "policy-sets", NULL},
	{"oauth_client", "vcs-repositories", "oauth-client", &kind_oauth_clients},
};

static const struct resource_kind kind_repositories = {
	.type = "vcs-repositories", .make = repository_resource, KIND_INCLUDES(includes)};

static int page_of_repositories(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return vcs_repositories_list(
		req->store, scope->organization.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int vcs_repositories_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_repositories, scope_organization, page_of_repositories}, err);
}

/* Adds the hook's secret for users with the permission to manage it. */
static int secret_show(const struct request *req, const struct rows *rows, json_t *resource, struct err *err)
{
	const struct place place = {.organization = row_of(vcs_repository, rows, 0)->organization_id};
	json_t *shown = json_object_get(resource, "attributes");
	struct err hidden = ERR_INIT;
	_cleanup_(crypto_secret_freep) char *secret = NULL;

	json_object_set_new(shown, "webhook-secret", json_null());
	if (json_is_null(json_object_get(shown, "webhook-url")) ||
		may_with(req, CAN_MANAGE_VCS, place, "repository", &hidden) < 0)
		return 0;
	if (vcs_hook_secret_read(req->store, row_of(vcs_repository, rows, 0)->id, &secret, err) < 0)
		return -1;
	json_object_set_new(shown, "webhook-secret", json_string_or_null(secret));
	return 0;
}

/* Reads the repository in the path, if the actor has the route's permission. */
static int repository_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (vcs_repository_read(req->store, param(req, "repository"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(vcs_repository, ret_rows, 0)->organization_id},
		"repository", err);
}

int vcs_repositories_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *data = json_array();
	json_t *resource, *included = NULL;

	if (includes_check(req, &kind_repositories, err) < 0 || repository_in_path(req, &rows, err) < 0 ||
		repository_resource(req->store, &rows, 0, &resource, err) < 0)
		return -1;
	json_array_append_new(data, resource);
	if (secret_show(req, &rows, resource, err) < 0 ||
		includes_follow(req, &kind_repositories, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(resource), included);
}

/* ---- a new secret ---- */

static int rotation_check(const struct request *req, const struct rows *rows, struct err *err)
{
	json_auto_t *url = vcs_webhook_url(req->store, vcs_provider_of(row_of(vcs_repository, rows, 0)->provider),
		row_of(vcs_repository, rows, 0)->hook);

	if (!json_is_null(url))
		return 0;
	return err_set(err, ERR_CONFLICT,
		"the repository has no webhook: plain git has none, and the GitHub App has one for all repositories");
}

int vcs_repositories_rotate(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, changed = ROWS_INIT;
	json_t *resource;

	if (repository_in_path(req, &rows, err) < 0 || rotation_check(req, &rows, err) < 0)
		return -1;
	if (vcs_hook_secret_rotate(req->store, row_of(vcs_repository, &rows, 0)->id, vcs_row_dialect(&rows, 0), err) <
			0 ||
		repository_in_path(req, &changed, err) < 0 ||
		repository_resource(req->store, &changed, 0, &resource, err) < 0)
		return -1;
	if (secret_show(req, &changed, resource, err) == 0)
		return respond_resource(res, 200, resource);
	json_decref(resource);
	return -1;
}
