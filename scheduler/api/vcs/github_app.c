/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include <string.h>

#include "common/clock.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/vcs/connections.h"
#include "scheduler/api/vcs/lookup.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/response_scope.sql.h"
#include "scheduler/store/vcs/credentials.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/store/vcs/installations.h"
#include "scheduler/store/vcs/installations.sql.h"
#include "scheduler/vcs/proof.h"

/* Installations of the site's GitHub App. */

/* ---- the resource ---- */

static const struct cell_shown attributes[] = {
	CELL("name", vcs_installation, name),
	CELL("installation-id", vcs_installation, installation_id),
	CELL("icon-url", vcs_installation, icon_url),
	CELL("installation-type", vcs_installation, kind),
	CELL("installation-url", vcs_installation, web_url),
	CELL("error", vcs_installation, error),
	CELL("call-error", vcs_installation, call_error),
	CELL_TIME("calls-blocked-until", vcs_installation, blocked_until),
	CELL_TIME("created-at", vcs_installation, created_at),
};
static const struct relation relations[] = {
	ONE_CELL("organization", "organizations", vcs_installation, organization_name),
	ONE_CELL("agent-pool", "agent-pools", vcs_installation, pool_id),
	ONE_CELL("fork-agent-pool", "agent-pools", vcs_installation, fork_pool_id),
};

static json_t *installation_resource(const void *row)
{
	const struct vcs_installation_row *installation = row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/github-app/installation/%s", installation->id);
	json_t *resource = resource_new("github-app-installations", installation->id,
		cells_shown(attributes, ARRAY_LEN(attributes), row),
		relations_shown(relations, ARRAY_LEN(relations), row));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct resource_kind kind_installations = {
	.type = "github-app-installations", .show = installation_resource};

/* The organizations of the requester; with permission to read them, as for a single installation. */
static void organizations_of(const struct request *req, struct db_array *organizations)
{
	const struct rows *memberships = &req->actor.scope.memberships;

	for (int i = 0; i < memberships->count; i++) {
		const char *id = row_of(requester, memberships, i)->organization_id;
		struct err ignored = ERR_INIT;

		if (id &&
			actor_may(req->store, &req->actor, CAN_READ_ORGANIZATION, (struct place){.organization = id},
				&ignored) == 0)
			db_array_add(organizations, id);
	}
}

static int page_of_installations(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const char *number = query(req, "filter[installation_id]"), *name = query(req, "filter[name]");
	_cleanup_(db_array_release) struct db_array organizations = DB_ARRAY_INIT;
	struct installation_list list = {.organizations = req->actor.is_site_admin ? NULL : &organizations,
		.name = text_or_null(name),
		.range = {page->size, page->offset}};

	(void)scope;
	organizations_of(req, &organizations);
	if (*text_or_empty(number) && text_number(number, 1, INT64_MAX, &list.number) < 0)
		list.number = -1; /* none has such a number */
	return installations_list(req->store, &list, ret_rows, err);
}

int github_app_installations(struct request *req, struct response *res, struct err *err)
{
	return respond_whole_list(
		req, res, &(struct resource_list){&kind_installations, NULL, page_of_installations}, err);
}

/* The installation in the path, if the actor has the permission in its organization. */
static int installation_in_path(
	const struct request *req, enum permission permission, struct rows *ret_rows, struct err *err)
{
	if (installation_read(req->store, param(req, "installation"), ret_rows, err) < 0)
		return -1;
	return may_with(req, permission,
		(struct place){.organization = row_of(vcs_installation, ret_rows, 0)->organization_id},
		"GitHub App installation", err);
}

int github_app_installation(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (installation_in_path(req, CAN_READ_ORGANIZATION, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_installations, &rows}, err);
}

int github_app_installation_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, changed = ROWS_INIT;
	const struct vcs_installation_row *installation;
	struct vcs_pools pools;

	if (installation_in_path(req, CAN_MANAGE_VCS, &rows, err) < 0 ||
		body_check(req, "github-app-installations", err) < 0)
		return -1;
	installation = row_of(vcs_installation, &rows, 0);
	pools = (struct vcs_pools){.pool_id = installation->pool_id, .fork_pool_id = installation->fork_pool_id};
	if (vcs_pools_read(req, installation->organization_id, &pools, err) < 0 ||
		installation_pools_set(req->store, installation->id, &pools, err) < 0 ||
		installation_read(req->store, installation->id, &changed, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_installations, &changed}, err);
}

int github_app_installation_repositories(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(vcs_credential_release) struct vcs_credential credential = VCS_CREDENTIAL_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (installation_in_path(req, CAN_CREATE_WORKSPACE, &rows, err) < 0 ||
		vcs_credential_of_installation(req->store, row_of(vcs_installation, &rows, 0)->id, &credential, err) <
			0)
		return -1;
	return respond_provider_repositories(req, res, &credential, err);
}
