/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/variables/varsets.h"

#include "scheduler/api/api.h"

#include <strings.h>

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/variables/variable_input.h"
#include "scheduler/api/workspaces/projects.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/variables/varsets.h"
#include "scheduler/store/variables/varsets.sql.h"
#include "scheduler/store/workspaces/projects.h"

enum { MAX_NAME = 255, MAX_DESCRIPTION = 512, MAX_NEW = 1000 };

/* ---- relations ---- */

/* Those that clients set by ids. */
static const struct relation relations[] = {
	[VARSET_WORKSPACES] = MANY_CELL("workspaces", "workspaces", varset, workspaces),
	[VARSET_PROJECTS] = MANY_CELL("projects", "projects", varset, projects),
	[VARSET_RELATIONS] = MANY_CELL("vars", "vars", varset, vars), /* only shown */
};

static const struct inclusion includes[] = {
	{"workspaces", "varsets", "workspaces", &kind_workspaces},
	{"projects", "varsets", "projects", &kind_projects},
	{"vars", "varsets", "vars", &kind_variables},
	{"stacks", "varsets", "stacks", NULL},
};

/* ---- the resource ---- */

static json_t *parent_show(const struct varset_row *row)
{
	if (!row->project_id)
		return to_one("organizations", row->organization_name);
	return to_one("projects", row->project_id);
}

static json_t *varset_resource(const void *of_row)
{
	const struct varset_row *varset = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/varsets/%s", varset->id);
	json_t *related = json_pack("{so so}", "organization", to_one("organizations", varset->organization_name),
		"parent", parent_show(varset));
	json_t *resource;

	json_object_update_new(related, relations_shown(relations, ARRAY_LEN(relations), varset));
	resource = resource_new("varsets", varset->id,
		json_pack("{so so sb sb so so sI sI sI}", "name", json_string_or_null(varset->name), "description",
			json_string_or_null(varset->description), "global", varset->global, "priority",
			varset->priority, "created-at", time_shown(varset->created_at), "updated-at",
			time_shown(varset->updated_at), "var-count", (json_int_t)ids_count(varset->vars),
			"workspace-count", (json_int_t)ids_count(varset->workspaces), "project-count",
			(json_int_t)ids_count(varset->projects)),
		related);
	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct resource_kind kind_varsets = {.type = "varsets", .show = varset_resource, KIND_INCLUDES(includes)};

/* ---- permissions ---- */

/* A project's own sets need a permission in the project. All other sets need one in the organization. */
static int may_here(const struct request *req, const char *organization_id, const char *project_id, struct err *err)
{
	enum permission permission = req->route->permission;

	if (permission == CAN_WRITE_VARSETS && !project_id)
		permission = CAN_MANAGE_ALL_WORKSPACES;
	return may_with(req, permission, (struct place){.organization = organization_id, .project = project_id},
		"variable set", err);
}

int varset_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct varset_row *varset;

	if (varset_read(req->store, param(req, "varset"), ret_rows, err) < 0)
		return -1;
	varset = row_of(varset, ret_rows, 0);
	return may_here(req, varset->organization_id, varset->project_id, err);
}

/* ---- reading ---- */

static int varset_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	return varset_read(req->store, id, &rows, err) < 0
		? -1
		: respond_row(req, res, status, &(struct resource_rows){&kind_varsets, &rows}, err);
}

static int varsets_show(struct request *req, struct response *res, struct varset_list *list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	if (includes_check(req, &kind_varsets, err) < 0 || page_read(req, &page, err) < 0)
		return -1;
	list->search = query(req, "q");
	list->global = text_or_null(query(req, "filter[global]"));
	if (list->global && !text_equal(list->global, "true") && !text_equal(list->global, "false"))
		return err_set(err, ERR_MALFORMED, "filter[global] must be true or false");
	list->limit = page.size;
	list->offset = page.offset;
	return varsets_list(req->store, list, &rows, err) < 0
		? -1
		: respond_rows(req, res, &page, &(struct resource_rows){&kind_varsets, &rows}, err);
}

int varsets_index(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	return varsets_show(req, res, &(struct varset_list){.organization_id = scope.organization.text}, err);
}

int varsets_of_workspace(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	return varsets_show(req, res,
		&(struct varset_list){.organization_id = scope.organization.text, .workspace_id = scope.workspace.text},
		err);
}

int varsets_of_project(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct project_row *project;

	if (project_in_path(req, &rows, err) < 0)
		return -1;
	project = row_of(project, &rows, 0);
	return varsets_show(req, res,
		&(struct varset_list){.organization_id = project->organization_id, .project_id = project->id}, err);
}

int varsets_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_varsets, err) < 0 || varset_in_path(req, &rows, err) < 0)
		return -1;
	return varset_show(req, res, 200, row_of(varset, &rows, 0)->id, err);
}

/* ---- input ---- */

/* A variable set and the values that it refers to. */
struct varset_input {
	struct varset set;
	json_t *related[VARSET_RELATIONS];
	struct variable *variables;
};

static void varset_input_release(struct varset_input *input)
{
	for (size_t i = 0; i < VARSET_RELATIONS; i++)
		json_decref(input->related[i]);
	free(input->variables);
}

static int attributes_read(const struct request *req, struct varset *set, struct err *err)
{
	if (body_check(req, "varsets", err) < 0 || body_text(req, "name", &set->name, err) < 0 ||
		body_text(req, "description", &set->description, err) < 0 ||
		body_bool(req, "global", &set->global, err) < 0 || body_bool(req, "priority", &set->priority, err) < 0)
		return -1;
	set->description = text_or_empty(set->description);
	if (title_check("Name", "/data/attributes/name", set->name, MAX_NAME, err) < 0)
		return -1;
	return length_check("Description", "/data/attributes/description", set->description, MAX_DESCRIPTION, err);
}

static int variable_read_item(const struct request *req, json_t *item, struct variable *ret_variable, struct err *err)
{
	struct request one = *req;
	int result;

	*ret_variable = (struct variable){.value = ""};
	one.body = json_pack("{sO}", "data", item);
	result = variable_input_read(&one, ret_variable, err);
	json_decref(one.body);
	ret_variable->value = text_or_empty(ret_variable->value);
	return result;
}

/* Reads the variables to add. Items with only an id exist already, and are skipped. */
static int variables_read_items(const struct request *req, struct varset_input *input, struct err *err)
{
	static const char pointer[] = "/data/relationships/vars";
	const json_t *list = json_at(req->body, "data.relationships.vars.data");
	json_t *item;
	size_t i;

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list) || json_array_size(list) > MAX_NEW)
		return err_at(err, pointer, "Data must be an array of at most %d variables", MAX_NEW);
	input->variables = mem_new(json_array_size(list) + 1, sizeof(*input->variables));
	input->set.variables = input->variables;
	json_array_foreach(list, i, item)
	{
		if (!json_is_object(item))
			return err_at(err, pointer, "Each item must be a variable");
		if (!json_object_get(item, "attributes") && json_string_at(item, "id"))
			continue;
		if (variable_read_item(req, item, &input->variables[input->set.variable_count], err) < 0)
			return varset_variable_refused(err, i);
		input->set.variable_count++;
	}
	return 0;
}

/* Refuses attributes that exclude each other. */
static int scope_check(const struct varset *set, struct err *err)
{
	if (set->global && set->project_id)
		return err_at(err, "/data/attributes/global", "Global can't be set for a variable set of a project");
	for (size_t i = 0; set->global && i < VARSET_RELATIONS; i++)
		if (json_array_size(set->related[i]))
			return err_at(err, "/data/attributes/global",
				"Global can't be set together with %s: it applies to all of them", relations[i].name);
	return 0;
}

/* Reads a body into *input. Attributes that were not sent stay as they are. */
static int input_read(const struct request *req, struct varset_input *input, struct err *err)
{
	if (attributes_read(req, &input->set, err) < 0 ||
		relations_read(req, relations, VARSET_RELATIONS, input->related, err) < 0 ||
		variables_read_items(req, input, err) < 0)
		return -1;
	for (size_t i = 0; i < VARSET_RELATIONS; i++)
		input->set.related[i] = input->related[i];
	return scope_check(&input->set, err);
}

/* ---- creating and changing ---- */

static int project_check(
	const struct request *req, const char *organization_id, const char *project_id, struct err *err)
{
	bool belongs;

	if (project_belongs(req->store, project_id, organization_id, &belongs, err) < 0)
		return -1;
	return belongs ? 0 : err_at(err, "/data/relationships/parent", "Parent must exist in the organization");
}

/* Reads the parent: the organization, or one of its projects. */
static int parent_read(
	const struct request *req, const struct scope *scope, const char **ret_project_id, struct err *err)
{
	const json_t *parent = json_at(req->body, "data.relationships.parent.data");
	const char *type = json_string_at(parent, "type"), *id = json_string_at(parent, "id");

	*ret_project_id = NULL;
	if (!parent || json_is_null(parent))
		return 0;
	if (id && text_equal(type, "organizations") && strcasecmp(id, scope->organization_name) == 0)
		return 0;
	if (!id || !text_equal(type, "projects"))
		return err_at(err, "/data/relationships/parent", "Parent must be the organization or a project of it");
	*ret_project_id = id;
	return project_check(req, scope->organization.text, id, err);
}

int varsets_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(varset_input_release) struct varset_input input = {.variables = NULL};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || body_check(req, "varsets", err) < 0 ||
		parent_read(req, &scope, &input.set.project_id, err) < 0 ||
		may_here(req, scope.organization.text, input.set.project_id, err) < 0 ||
		input_read(req, &input, err) < 0 ||
		varset_create(req->store, scope.organization.text, &input.set, &id, err) < 0)
		return -1;
	return varset_show(req, res, 201, id.text, err);
}

int varsets_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(varset_input_release) struct varset_input input = {.variables = NULL};
	const struct varset_row *old;

	if (varset_in_path(req, &rows, err) < 0)
		return -1;
	old = row_of(varset, &rows, 0);
	input.set = (struct varset){.name = old->name,
		.description = old->description,
		.project_id = old->project_id,
		.global = old->global,
		.priority = old->priority};
	if (input_read(req, &input, err) < 0 || varset_update(req->store, old->id, &input.set, err) < 0)
		return -1;
	return varset_show(req, res, 200, old->id, err);
}

int varsets_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (varset_in_path(req, &rows, err) < 0 || varset_delete(req->store, row_of(varset, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- relationships ---- */

/* The set in the path, and the relation in the path and the body. A global set is refused. */
static int relation_of_set(
	struct request *req, struct rows *ret_rows, size_t *ret_relation, json_t **ret_ids, struct err *err)
{
	if (varset_in_path(req, ret_rows, err) < 0 ||
		relation_in_path(req, relations, VARSET_RELATIONS, ret_relation, err) < 0 ||
		body_linkage(req, relations[*ret_relation].type, ret_ids, err) < 0)
		return -1;
	if (!row_of(varset, ret_rows, 0)->global)
		return 0;
	return err_at(err, "/data", "A global variable set applies to all %s: none can be named",
		relations[*ret_relation].name);
}

int varsets_attach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *ids = NULL;
	size_t relation;

	if (relation_of_set(req, &rows, &relation, &ids, err) < 0 ||
		varset_attach(req->store, row_of(varset, &rows, 0)->id,
			(struct varset_members){(enum varset_relation)relation, ids}, "/data", err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int varsets_detach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *ids = NULL;
	size_t relation;

	if (relation_of_set(req, &rows, &relation, &ids, err) < 0 ||
		varset_detach(req->store, row_of(varset, &rows, 0)->id,
			(struct varset_members){(enum varset_relation)relation, ids}, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
