/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/provider_sets/provider_sets.h"

#include <string.h>

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/projects.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/registry/provider_sets/provider_sets.sql.h"

/* Sets are managed by those who manage all projects. The right to read variable sets is enough to read them. */

enum { MAX_DESCRIPTION = 512, MAX_SOURCE = 255, SOURCE_PARTS = 3 };

/* ---- the resource ---- */

static const struct relation relations[] = {
	[PROVIDER_SET_WORKSPACES] = MANY_CELL("workspaces", "workspaces", provider_set, workspaces),
	[PROVIDER_SET_PROJECTS] = MANY_CELL("projects", "projects", provider_set, projects),
};

static const struct inclusion includes[] = {
	{"workspaces", "provider-sets", "workspaces", &kind_workspaces},
	{"projects", "provider-sets", "projects", &kind_projects},
};

static json_t *set_resource(const void *of_row)
{
	const struct provider_set_row *set = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/provider-sets/%s", set->id);
	json_t *related = json_pack("{so}", "organization", to_one("organizations", set->organization_name));
	json_t *resource;

	json_object_update_new(related, relations_shown(relations, ARRAY_LEN(relations), set));
	resource = resource_new("provider-sets", set->id,
		json_pack("{ss ss ss ss sb sb so so}", "name", set->name, "description", set->description,
			"provider-source", set->provider_source, "configuration-hcl", set->configuration_hcl, "global",
			set->global, "priority", set->priority, "created-at", time_shown(set->created_at), "updated-at",
			time_shown(set->updated_at)),
		related);
	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct resource_kind kind_provider_sets = {
	.type = "provider-sets", .show = set_resource, KIND_INCLUDES(includes)};

/* ---- reading ---- */

static int set_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	return provider_set_read(req->store, id, &rows, err) < 0
		? -1
		: respond_row(req, res, status, &(struct resource_rows){&kind_provider_sets, &rows}, err);
}

static int sets_show(struct request *req, struct response *res, struct provider_set_list *list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	if (includes_check(req, &kind_provider_sets, err) < 0 || page_read(req, &page, err) < 0)
		return -1;
	list->search = query(req, "q");
	list->limit = page.size;
	list->offset = page.offset;
	return provider_sets_list(req->store, list, &rows, err) < 0
		? -1
		: respond_rows(req, res, &page, &(struct resource_rows){&kind_provider_sets, &rows}, err);
}

int provider_sets_index(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	return sets_show(req, res, &(struct provider_set_list){.organization_id = scope.organization.text}, err);
}

int provider_sets_of_workspace(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	return sets_show(req, res,
		&(struct provider_set_list){
			.organization_id = scope.organization.text, .workspace_id = scope.workspace.text},
		err);
}

int provider_sets_of_project(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct project_row *project;

	if (project_in_path(req, &rows, err) < 0)
		return -1;
	project = row_of(project, &rows, 0);
	return sets_show(req, res,
		&(struct provider_set_list){.organization_id = project->organization_id, .project_id = project->id},
		err);
}

static int set_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (provider_set_read(req->store, param(req, "provider_set"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(provider_set, ret_rows, 0)->organization_id},
		"provider set", err);
}

int provider_sets_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_provider_sets, err) < 0 || set_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_provider_sets, &rows}, err);
}

int provider_sets_read_named(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (includes_check(req, &kind_provider_sets, err) < 0 || scope_organization(req, &scope, err) < 0 ||
		provider_set_find(req->store, scope.organization.text, param(req, "provider_set_name"), &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_provider_sets, &rows}, err);
}

/* ---- input ---- */

/* A set, and the lists of ids that it refers to. */
struct set_input {
	struct provider_set set;
	json_t *related[PROVIDER_SET_RELATIONS];
};

static void set_input_release(struct set_input *input)
{
	for (size_t i = 0; i < PROVIDER_SET_RELATIONS; i++)
		json_decref(input->related[i]);
}

/* [HOST/]NAMESPACE/TYPE. The worker writes it into a configuration, in quotes. */
static int source_check(const char *source, struct err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";
	const char *at = text_or_empty(source);
	int parts = 0;
	bool fits = strlen(at) <= MAX_SOURCE;

	for (size_t len; fits && parts < SOURCE_PARTS; at += len + 1) {
		len = strspn(at, letters);
		fits = len > 0 && (at[len] == '\0' || at[len] == '/');
		parts++;
		if (!fits || !at[len])
			return fits && parts > 1 ? 0
						 : err_at(err, "/data/attributes/provider-source",
							   "Provider source must be the address of a provider, such as "
							   "registry.terraform.io/hashicorp/aws");
	}
	return err_at(err, "/data/attributes/provider-source", "Provider source must be an address of at most %d parts",
		SOURCE_PARTS);
}

/*
 * The scheduler does not parse the text, as it parses no configuration: it is a tenant's, and a mistake of a parser
 * would concern all tenants. The worker refuses what is not one block `provider`, and its message is the run's error
 * (worker/engine/provider_sets.h).
 */
static int configuration_check(const char *text, struct err *err)
{
	static const char pointer[] = "/data/attributes/configuration-hcl";

	if (!text || !text[strspn(text, " \t\r\n")])
		return err_at(err, pointer, "Configuration hcl can't be blank");
	return length_check("Configuration hcl", pointer, text, MAX_PROVIDER_SET_BYTES, err);
}

/* Sent attributes replace those of *set. go-tfe sends two of them with underscores when it changes a set. */
static int attributes_read(const struct request *req, struct provider_set *set, struct err *err)
{
	if (body_check(req, "provider-sets", err) < 0 || body_text(req, "name", &set->name, err) < 0 ||
		body_text(req, "description", &set->description, err) < 0 ||
		body_text(req, "provider_source", &set->source, err) < 0 ||
		body_text(req, "provider-source", &set->source, err) < 0 ||
		body_text(req, "configuration_hcl", &set->configuration, err) < 0 ||
		body_text(req, "configuration-hcl", &set->configuration, err) < 0 ||
		body_bool(req, "global", &set->global, err) < 0 || body_bool(req, "priority", &set->priority, err) < 0)
		return -1;
	set->description = text_or_empty(set->description);
	if (name_check("Name", "/data/attributes/name", set->name, err) < 0 ||
		length_check("Description", "/data/attributes/description", set->description, MAX_DESCRIPTION, err) < 0)
		return -1;
	return source_check(set->source, err) < 0 ? -1 : configuration_check(set->configuration, err);
}

static int input_read(const struct request *req, struct set_input *input, struct err *err)
{
	if (attributes_read(req, &input->set, err) < 0 ||
		relations_read(req, relations, PROVIDER_SET_RELATIONS, input->related, err) < 0)
		return -1;
	for (size_t i = 0; i < PROVIDER_SET_RELATIONS; i++) {
		if (input->set.global && json_array_size(input->related[i]))
			return err_at(err, "/data/attributes/global",
				"Global can't be set together with %s: it applies to all of them", relations[i].name);
		input->set.related[i] = input->related[i];
	}
	return 0;
}

/* ---- creating and changing ---- */

int provider_sets_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(set_input_release) struct set_input input = {.set = {.name = NULL}};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, &input, err) < 0 ||
		provider_set_create(req->store, scope.organization.text, &input.set, &id, err) < 0)
		return -1;
	return set_show(req, res, 201, id.text, err);
}

int provider_sets_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(set_input_release) struct set_input input = {.set = {.name = NULL}};
	const struct provider_set_row *old;

	if (set_in_path(req, &rows, err) < 0)
		return -1;
	old = row_of(provider_set, &rows, 0);
	input.set = (struct provider_set){.name = old->name,
		.description = old->description,
		.source = old->provider_source,
		.configuration = old->configuration_hcl,
		.global = old->global,
		.priority = old->priority};
	if (input_read(req, &input, err) < 0 || provider_set_update(req->store, old->id, &input.set, err) < 0)
		return -1;
	return set_show(req, res, 200, old->id, err);
}

int provider_sets_delete_one(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct provider_set_row *set;
	json_auto_t *ids = NULL;

	if (set_in_path(req, &rows, err) < 0)
		return -1;
	set = row_of(provider_set, &rows, 0);
	ids = json_pack("[s]", set->id);
	return provider_sets_delete(req->store, set->organization_id, ids, err) < 0 ? -1 : respond_empty(res, 204);
}

int provider_sets_delete_many(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *ids = NULL;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || body_linkage(req, "provider-sets", &ids, err) < 0 ||
		provider_sets_delete(req->store, scope.organization.text, ids, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- relationships ---- */

/* The set of the path, and the ids of the body for the relation of the path. A global set is refused. */
static int members_in_path(struct request *req, struct rows *ret_rows, struct provider_set_members *ret_members,
	json_t **ret_ids, struct err *err)
{
	size_t relation;

	if (set_in_path(req, ret_rows, err) < 0 ||
		relation_in_path(req, relations, PROVIDER_SET_RELATIONS, &relation, err) < 0 ||
		body_linkage(req, relations[relation].type, ret_ids, err) < 0)
		return -1;
	*ret_members = (struct provider_set_members){(enum provider_set_relation)relation, *ret_ids};
	if (!row_of(provider_set, ret_rows, 0)->global)
		return 0;
	return err_at(
		err, "/data", "A global provider set applies to all %s: none can be named", relations[relation].name);
}

int provider_sets_attach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct provider_set_members members;
	json_auto_t *ids = NULL;

	if (members_in_path(req, &rows, &members, &ids, err) < 0 ||
		provider_set_attach(req->store, row_of(provider_set, &rows, 0)->id, members, "/data", err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int provider_sets_detach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct provider_set_members members;
	json_auto_t *ids = NULL;

	if (members_in_path(req, &rows, &members, &ids, err) < 0 ||
		provider_set_detach(req->store, row_of(provider_set, &rows, 0)->id, members, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
