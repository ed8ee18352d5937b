/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/modules.h"

#include <strings.h>

#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/vcs/vcs_repo.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/store/registry/modules.sql.h"
#include "scheduler/store/registry/no_code/no_code.h"

/* Modules of an organization's registry. */

/* ---- the resource ---- */

bool registry_may_manage(const struct store *store, const char *organization_id)
{
	return response_scope_rights(store->scope, organization_id) & right_of(CAN_MANAGE_MODULES);
}

bool registry_is_member(const struct store *store, const char *organization_id)
{
	return response_scope_rights(store->scope, organization_id) & right_of(CAN_READ_ORGANIZATION);
}

static json_t *versions_shown(const struct registry_module_row *m, bool member)
{
	json_t *versions = json_shown(m->versions), *version;
	size_t i;

	json_array_foreach(versions, i, version)
	{
		if (member)
			continue;
		json_object_set_new(version, "error", json_string(""));
		json_object_set_new(version, "test-run", json_null());
	}
	return versions;
}

/* NULL: it has no repository. */
static const char *mechanism_of(const char *repository)
{
	json_auto_t *used = json_shown(repository);

	if (!json_is_object(used))
		return NULL;
	return *text_or_empty(json_string_at(used, "branch")) ? "branch" : "git_tag";
}

static json_t *repository_shown(const struct store *store, const char *repository)
{
	json_t *shown = vcs_repo_shown(store, repository);
	json_auto_t *used = json_shown(repository);

	if (json_is_object(shown))
		json_object_update_new(shown,
			json_pack("{sb so so}", "tags", text_equal(mechanism_of(repository), "git_tag"),
				"source-directory",
				json_string_or_null(text_or_null(json_string_at(used, "source-directory"))),
				"tag-prefix", json_string_or_null(text_or_null(json_string_at(used, "tag-prefix")))));
	return shown;
}

static int module_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct registry_module_row *m = of_row;
	bool member = registry_is_member(store, m->organization_id);
	bool manages = registry_may_manage(store, m->organization_id);
	json_auto_t *no_code = m->no_code_id && member ? json_pack("[s]", m->no_code_id) : json_array();
	_cleanup_(freep) char *self = mem_printf("/api/v2/organizations/%s/registry-modules/%s/%s/%s/%s",
		m->organization_name, m->registry_name, m->namespace, m->name, m->provider);

	(void)err;
	*ret_resource = resource_new("registry-modules", m->id,
		json_pack("{ss ss ss ss ss so sb so so so so so s{sb sb sb}}", "name", m->name, "namespace",
			m->namespace, "registry-name", m->registry_name, "provider", m->provider, "status", m->status,
			"version-statuses", versions_shown(m, member), "no-code", m->no_code, "vcs-repo",
			member ? repository_shown(store, m->repository) : json_null(), "publishing-mechanism",
			json_string_or_null(mechanism_of(m->repository)), "created-at", time_shown(m->created_at),
			"updated-at", time_shown(m->updated_at), "test-config",
			member ? registry_test_config_shown(m) : json_null(), "permissions", "can-delete", manages,
			"can-resync", manages, "can-retry", manages),
		json_pack("{so so}", "organization", to_one("organizations", m->organization_name), "no-code-modules",
			to_many("no-code-modules", no_code)));
	if (member)
		registry_tags_link(*ret_resource);
	json_object_set_new(*ret_resource, "links", json_pack("{ss}", "self", self));
	return 0;
}

static int module_includes(const struct request *req, json_t *modules, json_t **ret_included, struct err *err)
{
	return bindings_include(req, TAGGED_MODULE, modules, ret_included, err);
}

/* Other values of `include` are ignored. */
static const struct resource_kind kind_registry_modules = {
	.type = "registry-modules", .make = module_resource, .include = module_includes};

void registry_tags_link(json_t *resource)
{
	json_object_set_new(json_object_get(resource, "relationships"), "tag-bindings",
		relation_linked(json_object(), json_string_at(resource, "type"), json_string_at(resource, "id"),
			"tag-bindings"));
}

/* ---- reading ---- */

static const char *param_or(const struct request *req, const char *name, const char *otherwise)
{
	return *param(req, name) ? param(req, name) : otherwise;
}

/* `:organization`, and the module's address in it. The names are borrowed from the scope and the path. */
static int address_in_path(
	const struct request *req, struct scope *ret_scope, struct module_address *ret_address, struct err *err)
{
	if (scope_organization(req, ret_scope, err) < 0)
		return -1;
	*ret_address = (struct module_address){.organization_id = ret_scope->organization.text,
		.registry_name = param_or(req, "registry", REGISTRY_PRIVATE),
		.namespace = param_or(req, "namespace", ret_scope->organization_name),
		.name = param(req, "module"),
		.provider = text_or_null(param(req, "module_provider"))};
	return 0;
}

int registry_consumer_find(
	const struct request *req, const char *organization_id, struct id *ret_consumer, struct err *err)
{
	_cleanup_(db_array_release) struct db_array own = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (req->actor.kind == ACTOR_RUN)
		db_array_add(&own, req->actor.organization.text);
	else
		response_scope_organizations(&req->actor.scope, &own);
	if (module_consumers_among(req->store, organization_id, &own, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const char *id = row_of(module_consumers_among, &rows, i)->id;
		struct err hidden = ERR_INIT;

		if (may(req, (struct place){.organization = id}, "module", &hidden) < 0)
			continue;
		text_copy(ret_consumer->text, sizeof(ret_consumer->text), id);
		return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "module not found");
}

static int module_by_id(struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct registry_module_row *module;
	struct id consumer;

	if (registry_module_read(req->store, param(req, "module_id"), ret_rows, err) < 0)
		return -1;
	module = row_of(registry_module, ret_rows, 0);
	if (may(req, (struct place){.organization = module->organization_id}, "registry module", err) == 0)
		return 0;
	if (err->kind != ERR_NOT_FOUND || !text_equal(module->registry_name, REGISTRY_PRIVATE) ||
		!text_equal(req->route->method, "GET"))
		return -1;
	return registry_consumer_find(req, module->organization_id, &consumer, err);
}

int registry_module_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	struct module_address address;
	struct scope scope;
	bool own;

	if (*param(req, "module_id"))
		return module_by_id(req, ret_rows, err);
	if (address_in_path(req, &scope, &address, err) < 0 ||
		registry_module_find(req->store, &address, ret_rows, err) < 0)
		return -1;
	own = text_equal(row_of(registry_module, ret_rows, 0)->organization_id, scope.organization.text);
	if (!own && !text_equal(req->route->method, "GET"))
		return err_set(err, ERR_NOT_FOUND, "registry module not found");
	return 0;
}

void registry_audit(const struct request *req, const char *type, const char *id)
{
	json_auto_t *link = linkage(type, id);

	audit_note_document(req->audit, link);
}

int registry_module_show(
	struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	return respond_row(req, res, status, &(struct resource_rows){&kind_registry_modules, rows}, err);
}

static int list_page(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array keys = DB_ARRAY_INIT, values = DB_ARRAY_INIT;
	const struct module_list list = {.organization_id = scope->organization.text,
		.search = text_or_null(text_or_empty(query(req, "q"))),
		.registry_name = text_or_null(text_or_empty(query(req, "filter[registry_name]"))),
		.provider = text_or_null(text_or_empty(query(req, "filter[provider]"))),
		.owner = text_or_null(text_or_empty(query(req, "filter[organization_name]"))),
		.tag_keys = &keys,
		.tag_values = &values,
		.range = {page->size, page->offset}};

	tag_filters_read(req, &keys, &values);
	return registry_modules_list(req->store, &list, ret_rows, err);
}

int registry_modules_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_registry_modules, scope_organization, list_page}, err);
}

int registry_modules_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (registry_module_in_path(req, &rows, err) < 0)
		return -1;
	return registry_module_show(req, res, 200, &rows, err);
}

/* Whether a private module could be created with the name and the provider of the query. */
int registry_modules_validation(struct request *req, struct response *res, struct err *err)
{
	struct module_address address = {.registry_name = REGISTRY_PRIVATE,
		.namespace = "",
		.name = text_or_empty(query(req, "name")),
		.provider = text_or_empty(query(req, "provider"))};
	struct scope scope;
	_cleanup_(freep) char *id = NULL;
	bool valid;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	address.organization_id = scope.organization.text;
	if (registry_module_address_free(req->store, &address, &valid, err) < 0)
		return -1;
	id = mem_printf("%s/%s", address.name, address.provider);
	return respond_resource(res, 200,
		resource_new("registry-module-address-validations", id,
			json_pack("{ss ss sb}", "module-name", address.name, "provider-name", address.provider, "valid",
				valid),
			NULL));
}

/* ---- changes ---- */

static int no_code_refuse(struct err *err)
{
	return err_at(err, "/data/attributes/no-code", "Only private modules can be no-code modules");
}

/* An organization's token manages modules, but not which of them are no-code modules. */
static int no_code_set(
	const struct request *req, const char *organization_id, const char *module_id, bool no_code, struct err *err)
{
	if (may_with(req, CAN_MANAGE_NO_CODE, (struct place){.organization = organization_id}, "no-code module", err) <
		0)
		return -1;
	return no_code_switch(req->store, organization_id, module_id, no_code, err);
}

static int input_read(const struct request *req, struct module_address *address, bool *no_code, struct err *err)
{
	if (body_check(req, "registry-modules", err) < 0 || body_text(req, "name", &address->name, err) < 0 ||
		body_text(req, "provider", &address->provider, err) < 0 ||
		body_text(req, "registry-name", &address->registry_name, err) < 0 ||
		body_text(req, "namespace", &address->namespace, err) < 0 ||
		body_bool(req, "no-code", no_code, err) < 0)
		return -1;
	if (!address->registry_name)
		address->registry_name = REGISTRY_PRIVATE;
	if (text_equal(address->registry_name, REGISTRY_PUBLIC))
		return *no_code ? no_code_refuse(err) : 0;
	if (!text_equal(address->registry_name, REGISTRY_PRIVATE))
		return err_at(err, "/data/attributes/registry-name", "Registry name must be private or public");
	if (*text_or_empty(address->namespace))
		return err_at(err, "/data/attributes/namespace",
			"Namespace can't be set: that of a private module is the organization's name");
	address->namespace = "";
	return 0;
}

int registry_modules_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct module_address address = {.registry_name = REGISTRY_PRIVATE};
	struct scope scope;
	struct id id;
	bool no_code = false;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, &address, &no_code, err) < 0)
		return -1;
	address.organization_id = scope.organization.text;
	if (registry_module_create(req->store, &address, &id, err) < 0 ||
		registry_test_config_take(req, id.text, err) < 0 ||
		(no_code && no_code_set(req, address.organization_id, id.text, true, err) < 0) ||
		registry_module_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return registry_module_show(req, res, 201, &rows, err);
}

static int no_code_change(const struct request *req, const struct registry_module_row *module, struct err *err)
{
	bool no_code = module->no_code;

	if (body_bool(req, "no-code", &no_code, err) < 0)
		return -1;
	if (no_code == module->no_code)
		return 0;
	if (!text_equal(module->registry_name, REGISTRY_PRIVATE))
		return no_code_refuse(err);
	return no_code_set(req, module->organization_id, module->id, no_code, err);
}

int registry_tags_take(
	const struct request *req, enum tagged kind, const char *id, const char *organization_id, struct err *err)
{
	static const char pointer[] = "/data/relationships/tag-bindings";
	const json_t *list = body_relation_list(req, "tag-bindings");
	json_auto_t *bindings = NULL;

	if (!list)
		return 0;
	if (bindings_parse(list, pointer, &bindings, err) < 0)
		return -1;
	return bindings_write(
		req->store, &(struct binding_order){kind, id, organization_id, bindings, true, pointer}, err);
}

int registry_modules_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, changed = ROWS_INIT;
	const struct registry_module_row *module;

	if (registry_module_in_path(req, &rows, err) < 0 || body_check(req, "registry-modules", err) < 0)
		return -1;
	module = row_of(registry_module, &rows, 0);
	registry_audit(req, "registry-modules", module->id);
	if (registry_repository_take(req, module, err) < 0 || no_code_change(req, module, err) < 0 ||
		registry_tags_take(req, TAGGED_MODULE, module->id, module->organization_id, err) < 0 ||
		registry_test_config_take(req, module->id, err) < 0 ||
		registry_module_read(req->store, module->id, &changed, err) < 0)
		return -1;
	return registry_module_show(req, res, 200, &changed, err);
}

int registry_modules_delete_provider(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (registry_module_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(registry_module, &rows, 0)->id;
	registry_audit(req, "registry-modules", id);
	if (registry_module_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* The event names the module by its name: there may be several. */
static int delete_named(
	struct request *req, struct response *res, const struct module_address *address, struct err *err)
{
	registry_audit(req, "registry-modules", address->name);
	if (registry_modules_delete(req->store, address, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int registry_modules_delete_named(struct request *req, struct response *res, struct err *err)
{
	struct module_address address;
	struct scope scope;

	if (address_in_path(req, &scope, &address, err) < 0)
		return -1;
	if (text_equal(address.registry_name, REGISTRY_PRIVATE)) {
		if (strcasecmp(address.namespace, scope.organization_name) != 0)
			return err_set(err, ERR_NOT_FOUND, "registry module not found");
		address.namespace = "";
	}
	return delete_named(req, res, &address, err);
}

/* The older path names no registry: public modules are deleted, too. */
int registry_modules_delete_any(struct request *req, struct response *res, struct err *err)
{
	struct module_address address;
	struct scope scope;

	if (address_in_path(req, &scope, &address, err) < 0)
		return -1;
	address.registry_name = NULL;
	address.namespace = NULL;
	return delete_named(req, res, &address, err);
}
