/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/policies/policy_sets.h"

#include "scheduler/api/api.h"

#include <string.h>

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/policies/policies.h"
#include "scheduler/api/policies/tag_selectors.h"
#include "scheduler/api/vcs/vcs_repo.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/policies/policies.h"
#include "scheduler/store/policies/policy_set_versions.h"
#include "scheduler/store/policies/policy_sets.h"
#include "scheduler/vcs/globs.h"

enum { MAX_DESCRIPTION = 1000, MAX_VERSION = 64, MAX_PATH = 1024, MAX_PATTERNS = 100 };

/* ---- relations ---- */

static const struct relation relations[SET_RELATIONS] = {
	[SET_POLICIES] = MANY_CELL("policies", "policies", policy_set, policies),
	[SET_WORKSPACES] = MANY_CELL("workspaces", "workspaces", policy_set, workspaces),
	[SET_WORKSPACE_EXCLUSIONS] = MANY_CELL("workspace-exclusions", "workspaces", policy_set, workspace_exclusions),
	[SET_PROJECTS] = MANY_CELL("projects", "projects", policy_set, projects),
	[SET_PROJECT_EXCLUSIONS] = MANY_CELL("project-exclusions", "projects", policy_set, project_exclusions),
};

static const struct relation single_relations[] = {
	ONE_CELL("organization", "organizations", policy_set, organization_name),
	ONE_CELL("current-version", "policy-set-versions", policy_set, current_version_id),
	ONE_CELL("newest-version", "policy-set-versions", policy_set, newest_version_id),
};

/* ---- the resource ---- */

static const struct field settings[] = {
	{"policy-update-patterns", FIELD_TEXTS, "[]"},
};

static json_t *set_attributes(const struct store *store, const struct policy_set_row *set)
{
	json_auto_t *stored = json_shown(set->settings);
	/* For Sentinel, the level of each policy says whether it can be overridden. */
	json_t *overridable = text_equal(set->kind, "opa") ? json_boolean(set->overridable) : json_null();
	json_t *attributes = json_pack("{ss ss ss sb so sb so so sI sI sI so sb so so}", "name", set->name,
		"description", set->description, "kind", set->kind, "global", set->global, "overridable", overridable,
		"agent-enabled", set->agent_enabled, "policy-tool-version",
		json_string_or_null(set->policy_tool_version), "policies-path", json_string_or_null(set->policies_path),
		"policy-count", (json_int_t)ids_count(set->policies), "workspace-count",
		(json_int_t)ids_count(set->workspaces), "project-count", (json_int_t)ids_count(set->projects),
		"vcs-repo", vcs_repo_shown(store, set->repository), "versioned", set->newest_version_id != NULL,
		"created-at", time_shown(set->created_at), "updated-at", time_shown(set->updated_at));

	fields_show(settings, ARRAY_LEN(settings), stored, attributes);
	json_object_set_new(attributes, "tag-selectors", json_shown(set->tag_selectors));
	return attributes;
}

static int set_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct policy_set_row *set = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/policy-sets/%s", set->id);
	json_t *related;

	(void)err;
	related = relations_shown(single_relations, ARRAY_LEN(single_relations), set);
	json_object_update_new(related, relations_shown(relations, SET_RELATIONS, set));
	*ret_resource = resource_new("policy-sets", set->id, set_attributes(store, set), related);
	json_object_set_new(*ret_resource, "links", json_pack("{ss}", "self", self));
	return 0;
}

/* ---- included ---- */

static const struct inclusion includes[] = {
	{"policies", "policy-sets", "policies", &kind_policies},
	{"workspaces", "policy-sets", "workspaces", &kind_workspaces},
	{"workspace_exclusions", "policy-sets", "workspace-exclusions", &kind_workspaces},
	{"projects", "policy-sets", "projects", &kind_projects},
	{"project_exclusions", "policy-sets", "project-exclusions", &kind_projects},
	{"current_version", "policy-sets", "current-version", &kind_policy_set_versions},
	{"newest_version", "policy-sets", "newest-version", &kind_policy_set_versions},
};

/* ---- reading ---- */

int policy_set_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (policy_set_read(req->store, param(req, "set"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = set_of(ret_rows)->organization_id}, "policy set", err);
}

const struct resource_kind kind_policy_sets = {
	.type = "policy-sets", .ask = policy_sets_read_all, .make = set_resource, KIND_INCLUDES(includes)};

static int set_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (policy_set_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_policy_sets, &rows}, err);
}

static int page_of_sets(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct policy_set_list list = {.organization_id = scope->organization.text,
		.search = query(req, "search[name]"),
		.kind = query(req, "filter[kind]"),
		.versioned = text_or_null(query(req, "filter[versioned]")),
		.limit = page->size,
		.offset = page->offset};

	if (list.versioned && !text_equal(list.versioned, "true") && !text_equal(list.versioned, "false"))
		return err_set(err, ERR_MALFORMED, "filter[versioned] must be true or false");
	return policy_sets_list(req->store, &list, ret_rows, err);
}

int policy_sets_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_policy_sets, scope_organization, page_of_sets}, err);
}

int policy_sets_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_policy_sets, err) < 0 || policy_set_in_path(req, &rows, err) < 0)
		return -1;
	return set_show(req, res, 200, set_of(&rows)->id, err);
}

/* ---- input ---- */

/* A policy set and the JSON values that it refers to: new references. */
struct set_input {
	struct policy_set set;
	json_t *settings;
	json_t *related[SET_RELATIONS];
	json_t *tags;
	struct vcs_repo_input repository; /* borrows from the body */
};

static void set_input_release(struct set_input *input)
{
	json_decref(input->settings);
	json_decref(input->tags);
	for (size_t i = 0; i < SET_RELATIONS; i++)
		json_decref(input->related[i]);
}

static int set_check(struct policy_set *set, struct err *err)
{
	/* Only evaluations by agents use a pinned version. OPA always runs on agents. */
	if (text_equal(set->kind, "opa"))
		set->agent_enabled = true;
	if (!set->agent_enabled)
		set->tool_version = NULL;
	if (length_check("Description", "/data/attributes/description", set->description, MAX_DESCRIPTION, err) < 0 ||
		length_check("Policy tool version", "/data/attributes/policy-tool-version", set->tool_version,
			MAX_VERSION, err) < 0 ||
		length_check("Policies path", "/data/attributes/policies-path", set->policies_path, MAX_PATH, err) < 0)
		return -1;
	return name_check("Name", "/data/attributes/name", set->name, err);
}

static int patterns_check(const json_t *patterns, struct err *err)
{
	static const char pointer[] = "/data/attributes/policy-update-patterns";
	const json_t *item;
	size_t i;

	if (json_array_size(patterns) > MAX_PATTERNS)
		return err_at(err, pointer, "Policy update patterns are too many (maximum is %d)", MAX_PATTERNS);
	json_array_foreach((json_t *)patterns, i, item)
	{
		if (vcs_glob_check(json_string_value(item), err) < 0) {
			text_copy(err->pointer, sizeof(err->pointer), pointer);
			return -1;
		}
	}
	return 0;
}

/* Reads a body into *input. Attributes that were not sent stay as they are. */
static int input_read(const struct request *req, struct set_input *input, struct err *err)
{
	struct policy_set *set = &input->set;

	input->settings = json_object();
	set->settings = input->settings;
	if (body_check(req, "policy-sets", err) < 0 || body_text(req, "name", &set->name, err) < 0 ||
		body_text(req, "description", &set->description, err) < 0 ||
		body_bool(req, "global", &set->global, err) < 0 ||
		body_bool(req, "overridable", &set->overridable, err) < 0 ||
		body_bool(req, "agent-enabled", &set->agent_enabled, err) < 0 ||
		body_text(req, "policy-tool-version", &set->tool_version, err) < 0 ||
		body_text(req, "policies-path", &set->policies_path, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), input->settings, err) < 0 ||
		body_tag_selectors(req, &input->tags, err) < 0)
		return -1;
	set->tags = input->tags;
	set->description = text_or_empty(set->description);
	if (patterns_check(json_object_get(input->settings, "policy-update-patterns"), err) < 0 ||
		vcs_repo_input_read(req, &input->repository, err) < 0)
		return -1;
	return set_check(set, err);
}

static int related_read(const struct request *req, struct set_input *input, struct err *err)
{
	if (relations_read(req, relations, SET_RELATIONS, input->related, err) < 0)
		return -1;
	for (size_t i = 0; i < SET_RELATIONS; i++)
		input->set.related[i] = input->related[i];
	return 0;
}

/* ---- the repository ---- */

/* A set has policies or a repository. Update patterns without a repository are kept for a later one. */
static int exclusions_check(const struct policy_set_row *set, struct err *err)
{
	if (set->repository && ids_count(set->policies))
		return err_at(
			err, "/data/attributes/vcs-repo", "VCS repo can't be set: the policy set has single policies");
	return 0;
}

/* Connects the stored set, which has the new path and patterns. */
static int repository_save(struct request *req, const char *id, const struct vcs_repo_input *input, struct err *err)
{
	_cleanup_(rows_release) struct rows before = ROWS_INIT, after = ROWS_INIT;
	json_auto_t *stored = NULL;
	struct vcs_use use = {.policies_path = NULL};

	if (policy_set_read(req->store, id, &before, err) < 0)
		return -1;
	stored = json_shown(set_of(&before)->settings);
	use.policies_path = set_of(&before)->policies_path;
	use.update_patterns = json_object_get(stored, "policy-update-patterns");
	if (vcs_repo_save(req, (struct vcs_user){VCS_USER_POLICY_SET, id}, input, &use, err) < 0 ||
		vcs_use_of_policies(req->store, id, use.policies_path, use.update_patterns, err) < 0 ||
		policy_set_read(req->store, id, &after, err) < 0)
		return -1;
	return exclusions_check(set_of(&after), err);
}

/* ---- creating and changing ---- */

int policy_sets_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(set_input_release) struct set_input input = {.set = {.kind = "sentinel"}};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || body_text(req, "kind", &input.set.kind, err) < 0 ||
		policy_kind_check(input.set.kind, err) < 0 || input_read(req, &input, err) < 0 ||
		related_read(req, &input, err) < 0 ||
		policy_set_create(req->store, scope.organization.text, &input.set, &id, err) < 0 ||
		repository_save(req, id.text, &input.repository, err) < 0)
		return -1;
	return set_show(req, res, 201, id.text, err);
}

int policy_sets_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(set_input_release) struct set_input input = {.settings = NULL};
	const struct policy_set_row *before;
	const char *kind;

	if (policy_set_in_path(req, &rows, err) < 0)
		return -1;
	before = set_of(&rows);
	kind = before->kind;
	input.set = (struct policy_set){.name = before->name,
		.description = before->description,
		.kind = kind,
		.global = before->global,
		.overridable = before->overridable,
		.agent_enabled = before->agent_enabled,
		.tool_version = before->policy_tool_version,
		.policies_path = before->policies_path};
	if (body_text(req, "kind", &kind, err) < 0)
		return -1;
	if (!text_equal(kind, input.set.kind))
		return err_at(err, "/data/attributes/kind", "Kind of a policy set can't be changed");
	if (input_read(req, &input, err) < 0 || policy_set_update(req->store, before->id, &input.set, err) < 0 ||
		repository_save(req, before->id, &input.repository, err) < 0)
		return -1;
	return set_show(req, res, 200, before->id, err);
}

int policy_sets_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (policy_set_in_path(req, &rows, err) < 0 || policy_set_delete(req->store, set_of(&rows)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- relationships ---- */

/* The set in the path, the relation in the path, and the ids in the body. */
static int relation_of_set(
	struct request *req, struct rows *ret_set, size_t *ret_relation, json_t **ret_ids, struct err *err)
{
	if (policy_set_in_path(req, ret_set, err) < 0 ||
		relation_in_path(req, relations, SET_RELATIONS, ret_relation, err) < 0)
		return -1;
	return body_linkage(req, relations[*ret_relation].type, ret_ids, err);
}

int policy_sets_attach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT;
	json_auto_t *ids = NULL;
	size_t relation;

	if (relation_of_set(req, &set, &relation, &ids, err) < 0 ||
		policy_set_attach(req->store, set_of(&set)->id,
			(struct policy_set_members){(enum set_relation)relation, ids}, "/data", err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int policy_sets_detach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT;
	json_auto_t *ids = NULL;
	size_t relation;

	if (relation_of_set(req, &set, &relation, &ids, err) < 0 ||
		policy_set_detach(req->store, set_of(&set)->id,
			(struct policy_set_members){(enum set_relation)relation, ids}, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- selectors of tags ---- */

static int selectors_of_set(struct request *req, struct rows *ret_set, json_t **ret_selectors, struct err *err)
{
	if (policy_set_in_path(req, ret_set, err) < 0)
		return -1;
	return tag_selectors_parse(json_object_get(req->body, "data"), "/data", ret_selectors, err);
}

int policy_set_tags_attach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT;
	json_auto_t *selectors = NULL;

	if (selectors_of_set(req, &set, &selectors, err) < 0 ||
		policy_set_tags_include(req->store, set_of(&set)->id, selectors, "/data", err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int policy_set_tags_detach(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT;
	json_auto_t *selectors = NULL;

	if (selectors_of_set(req, &set, &selectors, err) < 0 ||
		policy_set_tags_drop(req->store, set_of(&set)->id, selectors, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
