/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/providers/providers.h"

#include <strings.h>

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/organizations.sql.h"
#include "scheduler/store/registry/providers/providers.h"
#include "scheduler/store/registry/providers/providers.sql.h"

/* Providers of an organization's registry. */

/* ---- the resource ---- */

bool providers_managed(const struct store *store, const char *organization_id)
{
	return response_scope_rights(store->scope, organization_id) & right_of(CAN_MANAGE_PROVIDERS);
}

void signed_link_set(json_t *links, const char *name, const struct store *store, const char *path)
{
	_cleanup_(freep) char *url = path ? signed_url(store, path) : NULL;

	json_object_set_new(links, name, json_string_or_null(url));
}

static int provider_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct registry_provider_row *m = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/organizations/%s/registry-providers/%s/%s/%s",
		m->organization_name, m->registry_name, m->namespace, m->name);

	(void)err;
	*ret_resource = resource_new("registry-providers", m->id,
		json_pack("{ss ss ss so so so s{sb}}", "name", m->name, "namespace", m->namespace, "registry-name",
			m->registry_name, "latest-version", json_string_or_null(m->latest), "created-at",
			time_shown(m->created_at), "updated-at", time_shown(m->updated_at), "permissions", "can-delete",
			providers_managed(store, m->organization_id)),
		json_pack("{so so}", "organization", to_one("organizations", m->organization_name),
			"registry-provider-versions", many_shown("registry-provider-versions", m->version_ids)));
	registry_tags_link(*ret_resource);
	json_object_set_new(*ret_resource, "links", json_pack("{ss}", "self", self));
	return 0;
}

static const struct inclusion includes[] = {
	{"registry-provider-versions", "registry-providers", "registry-provider-versions", &kind_provider_versions},
	{"tag-bindings", "registry-providers", "tag-bindings", NULL},
};
static int provider_includes(const struct request *req, json_t *providers, json_t **ret_included, struct err *err);
static const struct resource_kind kind_registry_providers = {.type = "registry-providers",
	.make = provider_resource,
	KIND_INCLUDES(includes),
	.include = provider_includes,
	.no_page = true};

static int provider_includes(const struct request *req, json_t *providers, json_t **ret_included, struct err *err)
{
	if (includes_follow(req, &kind_registry_providers, providers, ret_included, err) < 0)
		return -1;
	return bindings_include(req, TAGGED_PROVIDER, providers, ret_included, err);
}

static int provider_show(
	struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	return respond_row(req, res, status, &(struct resource_rows){&kind_registry_providers, rows}, err);
}

/* ---- reading ---- */

int registry_namespace_find(
	const struct request *req, const char *name, const char *what, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (organization_lookup(req->store, name, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "%s not found", what);
	id = row_of(organization_lookup, &rows, 0)->id;
	if (may(req, (struct place){.organization = id}, what, err) < 0)
		return -1;
	text_copy(ret_id->text, sizeof(ret_id->text), id);
	return 0;
}

static int provider_by_id(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (registry_provider_read(req->store, param(req, "registry_provider_id"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(registry_provider, ret_rows, 0)->organization_id},
		"registry provider", err);
}

int registry_provider_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	struct provider_address address = {.registry_name = param(req, "registry"),
		.namespace = param(req, "namespace"),
		.name = param(req, "registry_provider")};
	struct scope scope;

	if (*param(req, "registry_provider_id"))
		return provider_by_id(req, ret_rows, err);
	if (scope_organization(req, &scope, err) < 0)
		return -1;
	address.organization_id = scope.organization.text;
	return registry_provider_find(req->store, &address, ret_rows, err);
}

static int list_page(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT, values = DB_ARRAY_INIT;
	const struct provider_list list = {.organization_id = scope->organization.text,
		.search = text_or_null(text_or_empty(query(req, "q"))),
		.registry_name = text_or_null(text_or_empty(query(req, "filter[registry_name]"))),
		.owner = text_or_null(text_or_empty(query(req, "filter[organization_name]"))),
		.tag_keys = &keys,
		.tag_values = &values,
		.range = {page->size, page->offset}};

	tag_filters_read(req, &keys, &values);
	return registry_providers_list(req->store, &list, ret_rows, err);
}

int registry_providers_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_registry_providers, scope_organization, list_page}, err);
}

int registry_providers_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_registry_providers, err) < 0 || registry_provider_in_path(req, &rows, err) < 0)
		return -1;
	return provider_show(req, res, 200, &rows, err);
}

/* ---- changes ---- */

static int registry_name_check(const char *name, struct err *err)
{
	static const char pointer[] = "/data/attributes/registry-name";

	if (!*text_or_empty(name))
		return err_at(err, pointer, "Registry name can't be blank\nRegistry name is not included in the list");
	if (!text_equal(name, REGISTRY_PUBLIC) && !text_equal(name, REGISTRY_PRIVATE))
		return err_at(err, pointer, "Registry name is not included in the list");
	return 0;
}

static int input_read(
	const struct request *req, const struct scope *scope, struct provider_address *address, struct err *err)
{
	if (body_check(req, "registry-providers", err) < 0 || body_text(req, "name", &address->name, err) < 0 ||
		body_text(req, "namespace", &address->namespace, err) < 0 ||
		body_text(req, "registry-name", &address->registry_name, err) < 0 ||
		registry_name_check(address->registry_name, err) < 0)
		return -1;
	if (text_equal(address->registry_name, REGISTRY_PUBLIC))
		return 0;
	if (*text_or_empty(address->namespace) && strcasecmp(address->namespace, scope->organization_name) != 0)
		return err_at(err, "/data/attributes/namespace",
			"Namespace of a private provider must be the organization's name");
	address->namespace = "";
	return 0;
}

int registry_providers_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct provider_address address = {.organization_id = NULL};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, &scope, &address, err) < 0)
		return -1;
	address.organization_id = scope.organization.text;
	if (registry_provider_create(req->store, &address, &id, err) < 0 ||
		registry_provider_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return provider_show(req, res, 201, &rows, err);
}

/* Only tags can be changed. go-tfe sends no type. */
int registry_providers_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct registry_provider_row *provider;
	json_t *data = json_object_get(req->body, "data");

	if (registry_provider_in_path(req, &rows, err) < 0)
		return -1;
	if (!*text_or_empty(json_string_at(data, "type")))
		json_object_set_new(data, "type", json_string("registry-providers"));
	if (body_check(req, "registry-providers", err) < 0)
		return -1;
	provider = row_of(registry_provider, &rows, 0);
	registry_audit(req, "registry-providers", provider->id);
	if (registry_tags_take(req, TAGGED_PROVIDER, provider->id, provider->organization_id, err) < 0)
		return -1;
	return provider_show(req, res, 200, &rows, err);
}

int registry_providers_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (registry_provider_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(registry_provider, &rows, 0)->id;
	registry_audit(req, "registry-providers", id);
	if (registry_provider_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
