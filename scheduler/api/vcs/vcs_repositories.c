/* SPDX-License-Identifier: MPL-2.0 */
#include "common/crypto.h"
#include "common/vcs/address.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/vcs/vcs_repo.h"
#include "scheduler/http/columns.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/repositories.sql.h"

/* Repositories that workspaces, policy sets and modules use: whether they are found, when they were looked at, and
 * their hooks. */

static const struct cell_shown attributes[] = {
	CELL("identifier", vcs_repository, identifier),
	CELL("service-provider", vcs_repository, provider),
	CELL("default-branch", vcs_repository, default_branch),
	CELL("state", vcs_repository, state),
	CELL("error", vcs_repository, error),
	CELL_TIME("looked-at", vcs_repository, looked_at),
	CELL_TIME("look-due", vcs_repository, look_due),
	CELL("look-failures", vcs_repository, look_failures),
	CELL("look-error", vcs_repository, look_error),
	CELL("hook-error", vcs_repository, hook_error),
	CELL_TIME("hook-previous-until", vcs_repository, hook_previous_until),
	CELL_TIME("created-at", vcs_repository, created_at),
};
static const struct relation relations[] = {
	ONE_CELL("oauth-client", "oauth-clients", vcs_repository, connection_id),
	ONE_CELL("oauth-token", "oauth-tokens", vcs_repository, token_id),
	ONE_CELL("github-app-installation", "github-app-installations", vcs_repository, installation_id),
	MANY_CELL("workspaces", "workspaces", vcs_repository, workspaces),
	MANY_CELL("policy-sets", "policy-sets", vcs_repository, policy_sets),
};

static json_t *page_url(const struct vcs_repository_row *repository, enum vcs_provider provider)
{
	const struct vcs_place place = {.dialect = vcs_dialect_of(provider, repository->api_url),
		.http_url = repository->http_url,
		.identifier = repository->identifier};
	_cleanup_(freep) char *made = place.http_url ? vcs_repository_url(&place) : NULL;

	return json_string_or_null(repository->web_url ? repository->web_url : made);
}

static int repository_resource(struct store *store, const void *row, json_t **ret_resource, struct err *err)
{
	const struct vcs_repository_row *repository = row;
	enum vcs_provider provider = vcs_provider_of(repository->provider);
	_cleanup_(freep) char *self = mem_printf("/api/v2/vcs-repositories/%s", repository->id);
	json_t *shown = cells_shown(attributes, ARRAY_LEN(attributes), row);

	(void)err;
	json_object_set_new(shown, "web-url", page_url(repository, provider));
	json_object_set_new(shown, "webhook-url", vcs_webhook_url(store, provider, repository->hook));
	json_object_set_new(shown, "hook-made", json_boolean(repository->hook_external_id));
	*ret_resource = resource_new(
		"vcs-repositories", repository->id, shown, relations_shown(relations, ARRAY_LEN(relations), row));
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
static int secret_show(
	const struct request *req, const struct vcs_repository_row *repository, json_t *resource, struct err *err)
{
	const struct place place = {.organization = repository->organization_id};
	json_t *shown = json_object_get(resource, "attributes");
	struct err hidden = ERR_INIT;
	_cleanup_(crypto_secret_freep) char *secret = NULL;

	json_object_set_new(shown, "webhook-secret", json_null());
	if (json_is_null(json_object_get(shown, "webhook-url")) ||
		may_with(req, CAN_MANAGE_VCS, place, "repository", &hidden) < 0)
		return 0;
	if (vcs_hook_secret_read(req->store, repository->id, &secret, err) < 0)
		return -1;
	json_object_set_new(shown, "webhook-secret", json_string_or_null(secret));
	return 0;
}

/* Reads the repository in the path, if the actor has the route's permission. *ret_repository is borrowed from the rows.
 */
static int repository_in_path(
	struct request *req, struct rows *ret_rows, const struct vcs_repository_row **ret_repository, struct err *err)
{
	if (vcs_repository_read(req->store, param(req, "repository"), ret_rows, err) < 0)
		return -1;
	*ret_repository = row_of(vcs_repository, ret_rows, 0);
	return may(req, (struct place){.organization = (*ret_repository)->organization_id}, "repository", err);
}

int vcs_repositories_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_repository_row *repository;
	json_auto_t *data = json_array();
	json_t *resource, *included = NULL;

	if (includes_check(req, &kind_repositories, err) < 0 || repository_in_path(req, &rows, &repository, err) < 0 ||
		repository_resource(req->store, repository, &resource, err) < 0)
		return -1;
	json_array_append_new(data, resource);
	if (secret_show(req, repository, resource, err) < 0 ||
		includes_follow(req, &kind_repositories, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(resource), included);
}

/* ---- a new secret ---- */

static int rotation_check(const struct request *req, const struct vcs_repository_row *repository, struct err *err)
{
	json_auto_t *url = vcs_webhook_url(req->store, vcs_provider_of(repository->provider), repository->hook);

	if (!json_is_null(url))
		return 0;
	return err_set(err, ERR_CONFLICT,
		"the repository has no webhook: plain git has none, and the GitHub App has one for all repositories");
}

int vcs_repositories_rotate(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, changed = ROWS_INIT;
	const struct vcs_repository_row *repository;
	enum vcs_dialect dialect;
	json_t *resource;

	if (repository_in_path(req, &rows, &repository, err) < 0 || rotation_check(req, repository, err) < 0)
		return -1;
	dialect = vcs_dialect_named(repository->provider, repository->api_url);
	if (vcs_hook_secret_rotate(req->store, repository->id, dialect, err) < 0 ||
		repository_in_path(req, &changed, &repository, err) < 0 ||
		repository_resource(req->store, repository, &resource, err) < 0)
		return -1;
	if (secret_show(req, repository, resource, err) == 0)
		return respond_resource(res, 200, resource);
	json_decref(resource);
	return -1;
}
