/* SPDX-License-Identifier: MPL-2.0 */
/* Workspaces from no-code modules: how they are made, and moved to another version of the module. */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/registry/no_code/configuration.h"
#include "scheduler/api/registry/no_code/no_code_api.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/api/variables/variable_input.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/no_code/no_code.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/workspaces/configurations.h"
#include "scheduler/store/workspaces/workspaces.h"

enum { MAX_VARIABLES = 500 };

static const char variables_pointer[] = "/data/relationships/vars/data";

/* ---- the module ---- */

/* An enabled no-code module of the path, whose version can be used. */
static int module_usable(const struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct no_code_read_row *module;

	if (no_code_find(req, ret_rows, err) < 0)
		return -1;
	module = row_of(no_code_read, ret_rows, 0);
	if (may_with(req, CAN_READ_ORGANIZATION, (struct place){.organization = module->organization_id},
		    "no-code module", err) < 0)
		return -1;
	if (!module->enabled)
		return err_set(err, ERR_INVALID, "no-code provisioning is not enabled for the module");
	if (!module->version)
		return err_set(err, ERR_INVALID, "the module has no version that can be used");
	return 0;
}

/* ---- variables ---- */

/* True if the option is the value: as text, or as the expression that JSON is. */
static bool option_is(const json_t *option, const char *value)
{
	_cleanup_(freep) char *text = json_text(option);

	return text_equal(json_string_value(option), value) || text_equal(text, value);
}

static int option_check(const json_t *options, const struct variable *variable, const char *pointer, struct err *err)
{
	const json_t *option, *value;
	size_t i, k;

	json_array_foreach((json_t *)options, i, option)
	{
		bool found = false;

		if (!text_equal(json_string_at(option, "variable-name"), variable->key) ||
			!text_equal(variable->category, "terraform"))
			continue;
		json_array_foreach(json_object_get(option, "options"), k, value) found |=
			option_is(value, variable->value);
		if (!found)
			return err_at(
				err, pointer, "%s must be one of the values that the module allows", variable->key);
	}
	return 0;
}

/* Reads an item of `vars` like the body of a variable. */
static int variable_read_at(
	const struct request *req, json_t *item, size_t at, struct variable *variable, struct err *err)
{
	json_auto_t *body = json_pack("{sO}", "data", item);
	struct request of_item = *req;
	char pointer[128];

	of_item.body = body;
	*variable = (struct variable){.value = ""};
	if (variable_input_read(&of_item, variable, err) == 0) {
		variable->value = text_or_empty(variable->value);
		return 0;
	}
	if (text_starts(err->pointer, "/data/")) {
		snprintf(
			pointer, sizeof(pointer), "%s/%zu%.60s", variables_pointer, at, err->pointer + strlen("/data"));
		text_copy(err->pointer, sizeof(err->pointer), pointer);
	}
	return -1;
}

/* Sets the variables of the body in the workspace. *ret_count: how many there were. */
static int variables_set(const struct request *req, const char *workspace_id, const struct no_code_read_row *module,
	size_t *ret_count, struct err *err)
{
	const json_t *list = json_at(req->body, "data.relationships.vars.data");
	json_t *item;
	json_auto_t *options = json_shown(module->options);
	struct variable variable;
	char pointer[128];
	size_t i;

	*ret_count = json_array_size(list);
	if (list && !json_is_null(list) && !json_is_array(list))
		return err_at(err, variables_pointer, "Vars must be an array");
	if (*ret_count > MAX_VARIABLES)
		return err_at(err, variables_pointer, "Vars are too many (maximum is %d)", MAX_VARIABLES);
	json_array_foreach(list, i, item)
	{
		snprintf(pointer, sizeof(pointer), "%s/%zu/attributes/value", variables_pointer, i);
		if (variable_read_at(req, item, i, &variable, err) < 0 ||
			option_check(options, &variable, pointer, err) < 0 ||
			no_code_variable_set(req->store, workspace_id, &variable, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the configuration and its run ---- */

/* The names of the workspace's variables: ["region"]. A new reference. */
static json_t *keys_read(struct store *store, const char *workspace_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *keys;

	if (no_code_keys(store, workspace_id, &rows, err) < 0)
		return NULL;
	keys = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(keys, json_string(row_of(no_code_keys, &rows, i)->key));
	return keys;
}

/* NULL while the version is not inspected: its inputs are not known then. */
static int description_read(struct store *store, const char *version_id, json_t **ret_description, struct err *err)
{
	struct err why = ERR_INIT;

	if (module_inspection_read(store, version_id, ret_description, &why) == 0 || why.kind == ERR_NOT_FOUND)
		return 0;
	*err = why;
	return -1;
}

static int configuration_make(const struct request *req, const char *workspace_id,
	const struct no_code_read_row *module, struct id *ret_id, struct err *err)
{
	const char *host = strstr(req->store->settings->public_url, "://");
	_cleanup_(freep) char *source = mem_printf("%s/%s/%s/%s", host ? host + 3 : "", module->organization_name,
		module->module_name, module->module_provider);
	_cleanup_(buf_release) struct buf archive = BUF_INIT(0);
	json_auto_t *keys = keys_read(req->store, workspace_id, err);
	json_auto_t *description = NULL;
	struct no_code_call call = {.source = source, .version = module->version, .keys = keys};
	const struct configuration_order order = {.workspace_id = workspace_id,
		.source = "tfe-module",
		.created_by = req->actor.user.text,
		.auto_queue_runs = true};
	bool first;

	if (!keys || description_read(req->store, module->version_id, &description, err) < 0)
		return -1;
	call.inputs = json_at(description, "root.inputs");
	call.outputs = json_at(description, "root.outputs");
	if (no_code_configuration(&call, &archive, err) < 0 ||
		no_code_workspace_set(req->store, workspace_id, module, err) < 0 ||
		configuration_create(req->store, &order, ret_id, err) < 0)
		return -1;
	return configuration_upload(req->store, ret_id->text, buf_bytes(&archive), &first, err);
}

/* Makes the configuration for the version that the module provisions now, and a run with it. */
static int run_queue(const struct request *req, const char *workspace_id, const struct no_code_read_row *module,
	enum choice auto_apply, struct id *ret_run, struct err *err)
{
	struct run_create_params order = {.workspace_id = workspace_id,
		.actor = req->actor.user.text,
		.source = "tfe-module",
		.plan_only = CHOICE_UNSET,
		.auto_apply = auto_apply};
	struct id configuration;

	if (body_text(req, "message", &order.message, err) < 0 ||
		configuration_make(req, workspace_id, module, &configuration, err) < 0)
		return -1;
	order.message = text_or_null(text_or_empty(order.message));
	order.configuration_version_id = configuration.text;
	return run_create(req->store, &order, ret_run, err);
}

/* ---- a new workspace ---- */

/* go-tfe sends a type of its own. */
static void type_settle(const struct request *req)
{
	json_t *data = json_object_get(req->body, "data");

	if (text_equal(json_string_at(data, "type"), "no-code-module-workspace"))
		json_object_set_new(data, "type", json_string("workspaces"));
}

static int provisioned_check(const struct workspace_input *input, struct err *err)
{
	if (input->repository.sent)
		return err_at(
			err, "/data/attributes/vcs-repo", "A workspace from a no-code module can't have a repository");
	if (text_equal(json_string_at(input->fields, "execution-mode"), "local"))
		return err_at(err, "/data/attributes/execution-mode", "Execution mode must be remote or agent");
	if (*text_or_empty(json_string_at(input->fields, "working-directory")))
		return err_at(err, "/data/attributes/working-directory",
			"A workspace from a no-code module can't have a working directory");
	return 0;
}

static int provision(const struct request *req, struct scope *scope, const struct no_code_read_row *module,
	const struct workspace_input *input, struct err *err)
{
	const struct workspace_attributes initial = {input->fields, input->settings};
	struct place place = {.organization = scope->organization.text};
	struct id run;
	size_t count;

	if (provisioned_check(input, err) < 0 || workspace_may_create(req, scope, input->fields, err) < 0 ||
		workspace_create(req->store, scope->organization.text, initial, &scope->workspace, err) < 0)
		return -1;
	place.workspace = scope->workspace.text;
	if (may_with(req, CAN_QUEUE_RUN, place, "workspace", err) < 0 ||
		variables_set(req, scope->workspace.text, module, &count, err) < 0)
		return -1;
	return run_queue(req, scope->workspace.text, module, CHOICE_UNSET, &run, err);
}

int no_code_provision(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct no_code_read_row *module;
	struct workspace_input input;
	struct scope scope = {.workspace = {""}};
	int result;

	if (module_usable(req, &rows, err) < 0)
		return -1;
	module = row_of(no_code_read, &rows, 0);
	text_copy(scope.organization.text, sizeof(scope.organization.text), module->organization_id);
	text_copy(scope.organization_name, sizeof(scope.organization_name), module->organization_name);
	type_settle(req);
	result = workspace_input_read(req, &scope, &input, err);
	if (result == 0)
		result = provision(req, &scope, module, &input, err);
	workspace_input_release(&input);
	return result == 0 ? workspace_show(req, res, 200, scope.workspace.text, err) : -1;
}

/* ---- an upgrade: a run with the configuration for the module's current version ---- */

static int upgrade_show(struct request *req, struct response *res, int status, const char *run_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct run_view_row *run;
	_cleanup_(freep) char *url = NULL;

	if (run_view(req->store, run_id, &rows, err) < 0)
		return -1;
	run = run_of(&rows);
	url = mem_printf("%s/app/runs/%s", req->store->settings->public_url, run->id);
	return respond_resource(res, status,
		resource_new("workspace-upgrade", run->id, json_pack("{ss ss}", "status", run->status, "plan-url", url),
			json_pack("{so}", "workspace", to_one("workspaces", run->workspace_id))));
}

/* The workspace of the path must be one of the module. */
static int workspace_of_module(
	const struct request *req, const char *module_id, struct scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (scope_workspace_id(req, param(req, "no_code_workspace"), ret_scope, err) < 0 ||
		no_code_workspace_find(req->store, ret_scope->workspace.text, &rows, err) < 0)
		return -1;
	if (!rows.count || !text_equal(row_of(no_code_workspace_find, &rows, 0)->no_code_module_id, module_id))
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	return 0;
}

int no_code_upgrade(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct no_code_read_row *module;
	struct scope scope;
	struct place place;
	struct id run;
	size_t count;

	if (module_usable(req, &rows, err) < 0)
		return -1;
	module = row_of(no_code_read, &rows, 0);
	type_settle(req);
	if (workspace_of_module(req, module->id, &scope, err) < 0 || body_check(req, "workspaces", err) < 0 ||
		variables_set(req, scope.workspace.text, module, &count, err) < 0)
		return -1;
	place = (struct place){.organization = scope.organization.text, .workspace = scope.workspace.text};
	if ((count && may_with(req, CAN_WRITE_VARIABLES, place, "workspace", err) < 0) ||
		run_queue(req, scope.workspace.text, module, CHOICE_NO, &run, err) < 0)
		return -1;
	return upgrade_show(req, res, 200, run.text, err);
}

/* The run of the path must be one of the workspace, and that one of the module. */
static int upgrade_in_path(const struct request *req, struct err *err)
{
	_cleanup_(rows_release) struct rows module = ROWS_INIT, run = ROWS_INIT;
	struct scope scope;

	if (no_code_find(req, &module, err) < 0 ||
		workspace_of_module(req, row_of(no_code_read, &module, 0)->id, &scope, err) < 0 ||
		run_view(req->store, param(req, "upgrade"), &run, err) < 0)
		return -1;
	if (!run.count || !text_equal(run_of(&run)->workspace_id, scope.workspace.text))
		return err_set(err, ERR_NOT_FOUND, "run not found");
	return 0;
}

int no_code_upgrade_read(struct request *req, struct response *res, struct err *err)
{
	return upgrade_in_path(req, err) < 0 ? -1 : upgrade_show(req, res, 200, param(req, "upgrade"), err);
}

int no_code_upgrade_confirm(struct request *req, struct response *res, struct err *err)
{
	struct run_transition item = {.event = {.kind = EV_CONFIRMED}, .actor = req->actor.user.text};

	if (upgrade_in_path(req, err) < 0 || (req->body && body_text(req, "message", &item.comment, err) < 0))
		return -1;
	text_copy(item.run.text, sizeof(item.run.text), param(req, "upgrade"));
	if (run_apply_transition(req->store, &item, err) < 0)
		return -1;
	return upgrade_show(req, res, 200, param(req, "upgrade"), err);
}
