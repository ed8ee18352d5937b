/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/no_code/no_code.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/api/registry/no_code/no_code_api.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/module_versions.h"
#include "scheduler/store/registry/module_versions.sql.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/modules.sql.h"

/* Settings of no-code modules. */

enum { MAX_OPTIONS = 100, MAX_VALUES = 200, MAX_VALUE = 10000, MAX_TYPE = 10000 };

static const char options_pointer[] = "/data/relationships/variable-options/data";

/* ---- the resource ---- */

static json_t *option_shown(const json_t *option, const char *module_id)
{
	return resource_new("variable-options", json_string_at(option, "id"),
		json_pack("{sO sO sO}", "variable-name", json_object_get(option, "variable-name"), "variable-type",
			json_object_get(option, "variable-type"), "options", json_object_get(option, "options")),
		json_pack("{s{so}}", "no-code-allowed-module", "data", linkage("no-code-allowed-modules", module_id)));
}

static json_t *module_shown(const struct no_code_read_row *m, const json_t *options)
{
	_cleanup_(freep) char *self = mem_printf("/api/v2/no-code-modules/%s", m->id);
	json_t *links = json_array(), *shown, *option;
	size_t i;

	json_array_foreach((json_t *)options, i, option)
		json_array_append_new(links, linkage("variable-options", json_string_at(option, "id")));
	shown = resource_new("no-code-modules", m->id,
		json_pack("{so sb so}", "version-pin", json_string_or_null(m->version_pin), "enabled", m->enabled,
			"current-version", json_string_or_null(m->version)),
		json_pack("{so so s{so}}", "organization", to_one("organizations", m->organization_name),
			"registry-module", to_one("registry-modules", m->module_id), "variable-options", "data",
			links));
	json_object_set_new(shown, "links", json_pack("{ss}", "self", self));
	return shown;
}

/* The documented name has an underscore; go-tfe's has a hyphen. */
static int module_respond(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct no_code_read_row *module;
	json_auto_t *options = NULL;
	json_t *included = NULL, *option;
	size_t i;

	if (no_code_read(req->store, id, &rows, err) < 0)
		return -1;
	module = row_of(no_code_read, &rows, 0);
	options = json_shown(module->options);
	if (query_includes(req, "variable_options")) {
		included = json_array();
		json_array_foreach(options, i, option)
			json_array_append_new(included, option_shown(option, module->id));
	}
	return respond_including(res, status, module_shown(module, options), included);
}

/* ---- the body ---- */

static int option_values_check(const json_t *values, const char *pointer, struct err *err)
{
	const json_t *value;
	size_t i;

	if (!json_is_array(values) || json_array_size(values) > MAX_VALUES)
		return err_at(err, pointer, "Options must be an array of at most %d values", MAX_VALUES);
	json_array_foreach((json_t *)values, i, value)
	{
		_cleanup_(freep) char *text = json_text(value);

		if (strlen(text) > MAX_VALUE)
			return err_at(err, pointer, "An option is too long (maximum is %d bytes)", MAX_VALUE);
	}
	return 0;
}

/* An item of the relation. Its id is that of an option that it replaces; all are replaced, so it only stays the same.
 */
static int option_read(const json_t *item, size_t at, const json_t *old, json_t *options, struct err *err)
{
	const char *name = json_string_at(item, "attributes.variable-name"), *id = json_string_at(item, "id");
	const char *type = json_string_at(item, "attributes.variable-type");
	const json_t *values = json_at(item, "attributes.options");
	struct id made = id_new("ncvaropt");
	const json_t *option;
	char pointer[128];
	size_t i;

	snprintf(pointer, sizeof(pointer), "%s/%zu", options_pointer, at);
	if (!name || !*name || strlen(name) > MAX_MODULE_NAME * 2)
		return err_at(
			err, pointer, "Variable name must be a name of at most %d characters", MAX_MODULE_NAME * 2);
	if (!type || strlen(type) > MAX_TYPE)
		return err_at(err, pointer, "Variable type must be a type");
	if (option_values_check(values, pointer, err) < 0)
		return -1;
	json_array_foreach(options, i, option)
	{
		if (text_equal(json_string_at(option, "variable-name"), name))
			return err_at(err, pointer, "Variable name is there twice");
	}
	json_array_foreach((json_t *)old, i, option)
	{
		if (id && text_equal(json_string_at(option, "id"), id))
			text_copy(made.text, sizeof(made.text), id);
	}
	json_array_append_new(options,
		json_pack("{ss ss ss sO}", "id", made.text, "variable-name", name, "variable-type", type, "options",
			(json_t *)values));
	return 0;
}

/* Sets *options (owned) to those of the body, or leaves them. */
static int options_read(const struct request *req, json_t **options, struct err *err)
{
	const json_t *relation = json_at(req->body, "data.relationships.variable-options");
	const json_t *sent = json_object_get(relation, "data"), *item;
	json_auto_t *read = json_array();
	size_t i;

	if (!relation || json_is_null(relation) || json_is_null(sent))
		return 0;
	if (!json_is_array(sent) || json_array_size(sent) > MAX_OPTIONS)
		return err_at(err, options_pointer, "Variable options must be an array of at most %d", MAX_OPTIONS);
	json_array_foreach((json_t *)sent, i, item)
	{
		if (option_read(item, i, *options, read, err) < 0)
			return -1;
	}
	json_decref(*options);
	*options = json_incref(read);
	return 0;
}

/* The module of the body must be a private one of the organization. Others do not exist for the requester. */
static int registry_module_check(
	const struct request *req, const char *organization_id, const char *id, struct rows *ret_rows, struct err *err)
{
	struct err hidden = ERR_INIT;
	const struct registry_module_row *module;

	if (registry_module_read(req->store, text_or_empty(id), ret_rows, &hidden) < 0 &&
		hidden.kind != ERR_NOT_FOUND) {
		*err = hidden;
		return -1;
	}
	module = hidden.kind == ERR_NONE ? row_of(registry_module, ret_rows, 0) : NULL;
	if (!module || !text_equal(module->organization_id, organization_id) ||
		!text_equal(module->registry_name, REGISTRY_PRIVATE))
		return err_at(err, "/data/relationships/registry-module",
			"Registry module must be a private module of the organization");
	return 0;
}

static int pin_check(const struct request *req, const struct no_code_settings *settings, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!settings->version_pin)
		return 0;
	if (module_version_find(req->store, settings->module_id, settings->version_pin, &rows, err) == 0)
		return 0;
	return err->kind != ERR_NOT_FOUND ? -1
					  : err_at(err, "/data/attributes/version-pin",
						    "Version pin must be a version of the module, or \"latest\"");
}

/* Reads the body over *settings. `options` is owned by the caller. */
static int settings_read(const struct request *req, const char *organization_id, struct no_code_settings *settings,
	json_t **options, struct err *err)
{
	_cleanup_(rows_release) struct rows module = ROWS_INIT;
	/* The documentation has the singular, which is no type of a resource. */
	const char *id = json_string_at(req->body, "data.relationships.registry-module.data.id");

	if (body_check(req, "no-code-modules", err) < 0 ||
		body_text(req, "version-pin", &settings->version_pin, err) < 0 ||
		body_bool(req, "enabled", &settings->enabled, err) < 0 || options_read(req, options, err) < 0)
		return -1;
	if (id)
		settings->module_id = id;
	if (text_equal(settings->version_pin, "latest") || text_equal(settings->version_pin, ""))
		settings->version_pin = NULL;
	settings->options = *options;
	if (registry_module_check(req, organization_id, settings->module_id, &module, err) < 0)
		return -1;
	return pin_check(req, settings, err);
}

/* ---- the routes ---- */

int no_code_find(const struct request *req, struct rows *ret_rows, struct err *err)
{
	return no_code_read(req->store, param(req, "no_code_module"), ret_rows, err);
}

static int module_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (no_code_find(req, ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(no_code_read, ret_rows, 0)->organization_id},
		"no-code module", err);
}

int no_code_modules_create(struct request *req, struct response *res, struct err *err)
{
	struct no_code_settings settings = {.enabled = true};
	json_auto_t *options = json_array();
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 ||
		settings_read(req, scope.organization.text, &settings, &options, err) < 0 ||
		no_code_create(req->store, scope.organization.text, &settings, &id, err) < 0)
		return -1;
	return module_respond(req, res, 200, id.text, err);
}

int no_code_modules_read(struct request *req, struct response *res, struct err *err)
{
	static const char *const includes[] = {"variable_options", "variable-options", NULL};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (query_includes_check(req, includes, err) < 0 || module_in_path(req, &rows, err) < 0)
		return -1;
	return module_respond(req, res, 200, row_of(no_code_read, &rows, 0)->id, err);
}

/* An input of the version, with the values that the settings allow. */
static json_t *variable_shown(const char *version_id, const json_t *input, const json_t *options)
{
	const char *name = text_or_empty(json_string_at(input, "name"));
	_cleanup_(freep) char *id = mem_printf("%s/%s", version_id, name);
	json_t *allowed = json_array(), *option, *value;
	size_t i, k;

	json_array_foreach((json_t *)options, i, option)
	{
		if (!text_equal(json_string_at(option, "variable-name"), name))
			continue;
		json_array_foreach(json_object_get(option, "options"), k, value)
		{
			_cleanup_(freep) char *text = json_text(value);

			json_array_append_new(
				allowed, json_string(json_is_string(value) ? json_string_value(value) : text));
		}
	}
	return resource_new("registry-module-variables", id,
		json_pack("{ss ss ss sb sb so}", "name", name, "type", text_or_empty(json_string_at(input, "type")),
			"description", text_or_empty(json_string_at(input, "description")), "required",
			json_bool_at(input, "required", false), "sensitive", json_bool_at(input, "sensitive", false),
			"options", allowed),
		NULL);
}

/* The inputs of a version of the module, for a form. 404 while the version is not inspected. */
int no_code_variables_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, version = ROWS_INIT;
	json_auto_t *description = NULL, *options = NULL;
	const char *version_id;
	json_t *list, *input;
	size_t i;

	if (module_in_path(req, &rows, err) < 0 ||
		module_version_find(req->store, row_of(no_code_read, &rows, 0)->module_id, param(req, "module_version"),
			&version, err) < 0)
		return -1;
	version_id = row_of(module_version, &version, 0)->id;
	if (module_inspection_read(req->store, version_id, &description, err) < 0)
		return -1;
	options = json_shown(row_of(no_code_read, &rows, 0)->options);
	list = json_array();
	json_array_foreach(json_at(description, "root.inputs"), i, input)
		json_array_append_new(list, variable_shown(version_id, input, options));
	return respond_resource(res, 200, list);
}

int no_code_modules_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct no_code_read_row *module;
	struct no_code_settings settings;
	json_auto_t *options = NULL;

	if (module_in_path(req, &rows, err) < 0)
		return -1;
	module = row_of(no_code_read, &rows, 0);
	options = json_shown(module->options);
	settings = (struct no_code_settings){
		.module_id = module->module_id, .version_pin = module->version_pin, .enabled = module->enabled};
	if (settings_read(req, module->organization_id, &settings, &options, err) < 0 ||
		no_code_update(req->store, module->id, &settings, err) < 0)
		return -1;
	return module_respond(req, res, 200, module->id, err);
}

int no_code_modules_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (module_in_path(req, &rows, err) < 0)
		return -1;
	registry_audit(req, "no-code-modules", row_of(no_code_read, &rows, 0)->id);
	if (no_code_delete(req->store, row_of(no_code_read, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
