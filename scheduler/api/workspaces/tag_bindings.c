/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/registry/providers/providers.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/workspaces/projects.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/registry/modules.sql.h"
#include "scheduler/store/registry/providers/providers.sql.h"
#include "scheduler/store/workspaces/tags.sql.h"

enum { MAX_KEY = 128, MAX_VALUE = 256, MAX_LIST = 1000, MAX_FILTERS = 10 };

/* ---- input ---- */

int tag_text_check(const char *text, size_t max, const char *what, const char *pointer, struct err *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.=+-@:/ ";

	if (strlen(text) > max)
		return err_at(err, pointer, "%s is too long (maximum is %zu characters)", what, max);
	if (text[strspn(text, allowed)])
		return err_at(err, pointer,
			"%s may only contain letters, numbers, spaces and the characters _ . = + - @ : /", what);
	return 0;
}

static int binding_parse(const json_t *item, const char *pointer, json_t *by_key, struct err *err)
{
	const json_t *attributes = json_object_get(item, "attributes"), *value = json_object_get(attributes, "value");
	const char *key = text_or_empty(json_string_at(attributes, "key"));

	if (!text_equal(json_string_at(item, "type"), "tag-bindings"))
		return err_at(err, pointer, "Each item must have the type tag-bindings");
	if (value && !json_is_string(value) && !json_is_null(value))
		return err_at(err, pointer, "Value must be a string");
	if (!*key)
		return err_at(err, pointer, "Key can't be blank");
	if (text_starts(key, "hc:") || text_starts(key, "hcp:"))
		return err_at(err, pointer, "Key must not begin with hc: or hcp:");
	if (tag_text_check(key, MAX_KEY, "Key", pointer, err) < 0 ||
		tag_text_check(text_or_empty(json_string_value(value)), MAX_VALUE, "Value", pointer, err) < 0)
		return -1;
	json_object_set_new(by_key, key, json_string(text_or_empty(json_string_value(value))));
	return 0;
}

int bindings_parse(const json_t *list, const char *pointer, json_t **ret_bindings, struct err *err)
{
	json_auto_t *by_key = json_object();
	const json_t *item;
	const char *key;
	json_t *value;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > MAX_LIST)
		return err_at(err, pointer, "Data must be an array of at most %d tag bindings", MAX_LIST);
	json_array_foreach(list, i, item)
	{
		if (binding_parse(item, pointer, by_key, err) < 0)
			return -1;
	}
	*ret_bindings = json_array();
	json_object_foreach(by_key, key, value)
		json_array_append_new(*ret_bindings, json_pack("{ss sO}", "key", key, "value", value));
	return 0;
}

const json_t *body_relation_list(const struct request *req, const char *name)
{
	const json_t *relation = json_object_get(json_at(req->body, "data.relationships"), name);
	const json_t *data = json_object_get(relation, "data");

	return json_is_null(data) ? NULL : data;
}

static void searched_tags(const char *text, struct db_array *keys, struct db_array *values)
{
	while (*text) {
		size_t len = strcspn(text, ",");
		_cleanup_(freep) char *key = mem_printf("%.*s", (int)len, text);

		if (len) {
			db_array_add(keys, key);
			db_array_add(values, "");
		}
		text += len + (text[len] == ',');
	}
}

void tag_filters_read(const struct request *req, struct db_array *keys, struct db_array *values)
{
	for (int i = 0; i < MAX_FILTERS; i++) {
		_cleanup_(freep) char *key_name = mem_printf("filter[tagged][%d][key]", i);
		_cleanup_(freep) char *value_name = mem_printf("filter[tagged][%d][value]", i);
		const char *key = query(req, key_name);

		if (!*text_or_empty(key))
			continue;
		db_array_add(keys, key);
		db_array_add(values, text_or_empty(query(req, value_name)));
	}
	searched_tags(text_or_empty(query(req, "search[tags]")), keys, values);
}

/* ---- output ---- */

static json_t *binding_resource(const struct binding_row *binding, bool effective)
{
	json_t *resource = resource_new(effective ? "effective-tag-bindings" : "tag-bindings", binding->id,
		json_pack("{so so}", "key", json_string_or_null(binding->key), "value",
			json_string_or_null(binding->value)),
		effective ? json_pack("{so}", "inherited-from", to_one("projects", binding->inherited_from)) : NULL);

	if (binding->inherited_from) {
		_cleanup_(freep) char *link = mem_printf("/api/v2/projects/%s", binding->inherited_from);

		json_object_set_new(resource, "links", json_pack("{ss}", "inherited-from", link));
	}
	return resource;
}

/* Several workspaces may inherit the same binding. */
static void include_once(json_t *seen, const struct binding_row *binding, bool effective, json_t *included)
{
	if (json_object_get(seen, binding->id))
		return;
	json_object_set_new(seen, binding->id, json_true());
	json_array_append_new(included, binding_resource(binding, effective));
}

/* Nothing is inherited by modules and providers. */
static bool is_inherited(enum tagged kind)
{
	return kind != TAGGED_MODULE && kind != TAGGED_PROVIDER;
}

/* The relation that can be included. */
static const char *included_relation(enum tagged kind)
{
	return is_inherited(kind) ? "effective-tag-bindings" : "tag-bindings";
}

/* Adds an empty list to the relation of each resource, and to `lists` by its id. A module that another organization
 * shares has no relation to its tags. */
static void relations_open(json_t *resources, enum tagged kind, struct db_array *owners, json_t *lists)
{
	const char *name = included_relation(kind);
	json_t *resource;
	size_t i;

	json_array_foreach(resources, i, resource)
	{
		json_t *relations = json_object_get(resource, "relationships"), *list = json_array();
		const char *id = json_string_at(resource, "id");

		if (is_inherited(kind))
			json_object_set_new(relations, name, json_object());
		if (json_object_set_new(json_object_get(relations, name), "data", list) < 0)
			continue;
		db_array_add(owners, id);
		json_object_set(lists, id, list);
	}
}

int bindings_include(const struct request *req, enum tagged kind, json_t *resources, json_t **included, struct err *err)
{
	_cleanup_(db_array_release) struct db_array owners = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *lists = json_object(), *seen = json_object();
	const char *name = included_relation(kind);
	bool effective = is_inherited(kind);

	if (!query_includes(req, name))
		return 0;
	relations_open(resources, kind, &owners, lists);
	if (bindings_read(req->store, &(struct binding_list){kind, &owners, effective}, &rows, err) < 0)
		return -1;
	if (!*included)
		*included = json_array();
	for (int row = 0; row < rows.count; row++) {
		const struct binding_row *binding = row_of(binding, &rows, row);

		json_array_append_new(json_object_get(lists, binding->owner), linkage(name, binding->id));
		include_once(seen, binding, effective, *included);
	}
	return 0;
}

/* ---- bindings of one workspace, project, module or provider ---- */

struct tagged_scope {
	enum tagged kind;
	struct id owner, organization;
};

static void scope_write(
	enum tagged kind, const char *owner_id, const char *organization_id, struct tagged_scope *ret_scope)
{
	ret_scope->kind = kind;
	text_copy(ret_scope->owner.text, sizeof(ret_scope->owner.text), owner_id);
	text_copy(ret_scope->organization.text, sizeof(ret_scope->organization.text), organization_id);
}

static int workspace_scope(struct request *req, struct tagged_scope *ret_scope, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	scope_write(TAGGED_WORKSPACE, scope.workspace.text, scope.organization.text, ret_scope);
	return 0;
}

static int project_scope(struct request *req, struct tagged_scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct project_row *project;

	if (project_in_path(req, &rows, err) < 0)
		return -1;
	project = row_of(project, &rows, 0);
	scope_write(TAGGED_PROJECT, project->id, project->organization_id, ret_scope);
	return 0;
}

/* Organizations with which a module is shared do not see its tags. */
static int module_scope(struct request *req, struct tagged_scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct registry_module_row *module;

	if (registry_module_in_path(req, &rows, err) < 0)
		return -1;
	module = row_of(registry_module, &rows, 0);
	if (!registry_is_member(req->store, module->organization_id))
		return err_set(err, ERR_NOT_FOUND, "registry module not found");
	scope_write(TAGGED_MODULE, module->id, module->organization_id, ret_scope);
	return 0;
}

static int provider_scope(struct request *req, struct tagged_scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (registry_provider_in_path(req, &rows, err) < 0)
		return -1;
	scope_write(TAGGED_PROVIDER, row_of(registry_provider, &rows, 0)->id,
		row_of(registry_provider, &rows, 0)->organization_id, ret_scope);
	return 0;
}

static int tagged_in_path(struct request *req, struct tagged_scope *ret_scope, struct err *err)
{
	if (*param(req, "workspace"))
		return workspace_scope(req, ret_scope, err);
	if (*param(req, "registry_provider_id"))
		return provider_scope(req, ret_scope, err);
	return *param(req, "module_id") ? module_scope(req, ret_scope, err) : project_scope(req, ret_scope, err);
}

static int bindings_show(
	struct request *req, struct response *res, const struct tagged_scope *scope, bool effective, struct err *err)
{
	_cleanup_(db_array_release) struct db_array owners = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *list;

	db_array_add(&owners, scope->owner.text);
	if (bindings_read(req->store, &(struct binding_list){scope->kind, &owners, effective}, &rows, err) < 0)
		return -1;
	list = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(list, binding_resource(row_of(binding, &rows, i), effective));
	return respond_resource(res, 200, list);
}

int tag_bindings_index(struct request *req, struct response *res, struct err *err)
{
	struct tagged_scope scope;

	if (tagged_in_path(req, &scope, err) < 0)
		return -1;
	return bindings_show(req, res, &scope, false, err);
}

int tag_bindings_effective(struct request *req, struct response *res, struct err *err)
{
	struct tagged_scope scope;

	if (tagged_in_path(req, &scope, err) < 0)
		return -1;
	return bindings_show(req, res, &scope, true, err);
}

/* Changes the bindings, or replaces all of them. */
static int bindings_take(struct request *req, bool replace, struct tagged_scope *ret_scope, struct err *err)
{
	json_auto_t *bindings = NULL;

	if (tagged_in_path(req, ret_scope, err) < 0 ||
		bindings_parse(json_object_get(req->body, "data"), "/data", &bindings, err) < 0)
		return -1;
	return bindings_write(req->store,
		&(struct binding_order){ret_scope->kind, ret_scope->owner.text, ret_scope->organization.text, bindings,
			replace, "/data"},
		err);
}

int tag_bindings_add(struct request *req, struct response *res, struct err *err)
{
	struct tagged_scope scope;

	return bindings_take(req, false, &scope, err) < 0 ? -1 : respond_empty(res, 204);
}

int tag_bindings_replace(struct request *req, struct response *res, struct err *err)
{
	struct tagged_scope scope;

	return bindings_take(req, true, &scope, err) < 0 ? -1 : respond_empty(res, 204);
}

int tag_bindings_update(struct request *req, struct response *res, struct err *err)
{
	struct tagged_scope scope;

	if (bindings_take(req, false, &scope, err) < 0)
		return -1;
	return bindings_show(req, res, &scope, false, err);
}
