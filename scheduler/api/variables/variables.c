/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/kinds.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/variables/variable_input.h"
#include "scheduler/api/variables/varsets.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/registry/test_beds.h"
#include "scheduler/store/variables/variables.sql.h"
#include "scheduler/store/variables/varsets.sql.h"

/* ---- the resource ---- */

static json_t *variable_owner_show(const struct variable_row *row)
{
	if (!row->varset_id)
		return json_pack("{so so}", "configurable", to_one("workspaces", row->workspace_id), "workspace",
			to_one("workspaces", row->workspace_id));
	return json_pack("{so}", "varset", to_one("varsets", row->varset_id));
}

static int variable_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct variable_row *variable = of_row;
	_cleanup_(buf_release) struct buf value = BUF_INIT(VARIABLE_VALUE_MAX);
	bool sensitive = variable->sensitive;

	if (!sensitive && seal_open(store, variable->id, variable->value_sealed, &value, err) < 0)
		return -1;
	*ret_resource = resource_new("vars", variable->id,
		json_pack("{s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "key", json_string_or_null(variable->key),
			"value", json_string_or_null(sensitive ? NULL : buf_str(&value)), "description",
			json_string_or_null(variable->description), "category", json_string_or_null(variable->category),
			"hcl", variable->hcl, "sensitive", sensitive, "version-id",
			json_string_or_null(variable->version_id), "created-at", time_shown(variable->created_at)),
		variable_owner_show(variable));
	return 0;
}

static int test_variable_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	if (variable_resource(store, of_row, ret_resource, err) < 0)
		return -1;
	json_object_del(*ret_resource, "relationships");
	return 0;
}

static const struct resource_kind kind_test_variables = {.type = "vars", .make = test_variable_resource};

const struct resource_kind kind_variables = {.type = "vars", .ask = variables_read_all, .make = variable_resource};

/* ---- the owner of variables ---- */

/* The workspace or variable set of the path, or the test bed of its module. */
struct owner {
	struct id id;
	struct variable_owner variables;
	bool is_test_bed; /* which is not named */
	bool is_module;   /* the path names a module that may be tested; it may have no test bed yet */
};

/* The first variable makes the test bed. */
static int module_in_path(struct request *req, struct owner *owner, struct err *err)
{
	struct id module;

	owner->is_test_bed = true;
	if (registry_tested_module(req, &module, err) < 0)
		return -1;
	owner->is_module = true;
	if (text_equal(req->route->method, "POST"))
		return test_bed_open(req->store, module.text, &owner->id, err);
	return test_bed_find(req->store, module.text, &owner->id, err);
}

static int owner_in_path(struct request *req, struct owner *ret_owner, struct err *err)
{
	struct scope scope;

	*ret_owner = (struct owner){.variables = {ret_owner->id.text, *param(req, "varset")}};
	if (*param(req, "module"))
		return module_in_path(req, ret_owner, err);
	if (ret_owner->variables.is_set) {
		_cleanup_(rows_release) struct rows rows = ROWS_INIT;

		if (varset_in_path(req, &rows, err) < 0)
			return -1;
		text_copy(ret_owner->id.text, ID_SIZE, row_of(varset, &rows, 0)->id);
		return 0;
	}
	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	ret_owner->id = scope.workspace;
	return 0;
}

/* ---- reading ---- */

static int variable_read_resource(
	struct store *store, const struct owner *owner, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (variable_read(store, &owner->variables, id, &rows, err) < 0)
		return -1;
	return (owner->is_test_bed ? test_variable_resource : variable_resource)(
		store, row_of(variable, &rows, 0), ret_resource, err);
}

/* The list is not paged: clients that import or plan need all variables. */
static int variables_show(struct request *req, struct response *res, const struct rows *rows, struct err *err)
{
	json_auto_t *data = json_array();

	if (rows_show(req->store, &kind_variables, rows, data, err) < 0)
		return -1;
	return respond_resource(res, 200, json_incref(data));
}

int variables_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct owner owner;

	if (owner_in_path(req, &owner, err) < 0 || variables_list(req->store, &owner.variables, &rows, err) < 0)
		return -1;
	return variables_show(req, res, &rows, err);
}

int test_variables_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err none = ERR_INIT;
	struct owner owner;
	struct page page;

	if (page_read(req, &page, err) < 0)
		return -1;
	/* Without a test bed, no owner has the empty id, and the page is empty. */
	if (owner_in_path(req, &owner, &none) < 0 && (none.kind != ERR_NOT_FOUND || !owner.is_module)) {
		*err = none;
		return -1;
	}
	if (variables_page(req->store, &owner.variables, (struct list_range){page.size, page.offset}, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_test_variables, &rows}, err);
}

int variables_all(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		variables_effective(req->store, scope.workspace.text, &rows, err) < 0)
		return -1;
	return variables_show(req, res, &rows, err);
}

int variables_read(struct request *req, struct response *res, struct err *err)
{
	struct owner owner;
	json_t *resource;

	if (owner_in_path(req, &owner, err) < 0)
		return -1;
	if (variable_read_resource(req->store, &owner, param(req, "variable"), &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

/* ---- creating and changing ---- */

int variables_create(struct request *req, struct response *res, struct err *err)
{
	struct variable variable = {.value = ""};
	struct owner owner;
	struct id id;
	json_t *resource;

	if (owner_in_path(req, &owner, err) < 0 || variable_input_read(req, &variable, err) < 0)
		return -1;
	variable.value = text_or_empty(variable.value);
	if (variable_create(req->store, &owner.variables, &variable, &id, err) < 0)
		return -1;
	if (variable_read_resource(req->store, &owner, id.text, &resource, err) < 0)
		return -1;
	return respond_resource(res, 201, resource);
}

int variables_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct variable variable = {.value = NULL};
	const struct variable_row *old;
	struct owner owner;
	json_t *resource;

	if (owner_in_path(req, &owner, err) < 0 ||
		variable_read(req->store, &owner.variables, param(req, "variable"), &rows, err) < 0)
		return -1;
	old = row_of(variable, &rows, 0);
	variable.key = old->key;
	variable.description = old->description;
	variable.category = old->category;
	variable.hcl = old->hcl;
	variable.sensitive = old->sensitive;
	if (variable_input_read(req, &variable, err) < 0)
		return -1;
	if (!variable.sensitive && old->sensitive)
		return err_at(err, "/data/attributes/sensitive", "Sensitive can't be turned off: make a new variable");
	if (variable_update(req->store, &owner.variables, old->id, &variable, err) < 0 ||
		variable_read_resource(req->store, &owner, old->id, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

int variables_delete(struct request *req, struct response *res, struct err *err)
{
	struct owner owner;

	if (owner_in_path(req, &owner, err) < 0 ||
		variable_delete(req->store, &owner.variables, param(req, "variable"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}
