/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/workspaces/archive.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/run_views.sql.h"
#include "scheduler/store/states/states.h"
#include "scheduler/store/states/states.sql.h"
#include "scheduler/store/workspaces/configurations.h"
#include "scheduler/store/workspaces/configurations.sql.h"
#include "scheduler/store/workspaces/workspaces.h"

/* The resources that a request for workspaces may include. */

enum { README_LIMIT = 1 << 20 };

static const struct inclusion of_workspaces[] = {
	{"organization", "workspaces", "organization", &kind_organizations},
	{"project", "workspaces", "project", &kind_projects},
	{"current-state-version", "workspaces", "current-state-version", &kind_states},
	{"locked-by", "workspaces", "locked-by", &kind_users}, {"locked-by", "workspaces", "locked-by", &kind_teams},
	{"locked-by", "workspaces", "locked-by", &kind_runs}, {"current-run", "workspaces", "current-run", &kind_runs},
	{"latest-run", "workspaces", "latest-run", &kind_runs}, {"current-run.plan", "runs", "plan", &kind_plans},
	{"latest-run.plan", "runs", "plan", &kind_plans}, {"current-run.apply", "runs", "apply", &kind_applies},
	{"current-run.configuration-version", "runs", "configuration-version", &kind_configurations},
	{"latest-run.configuration-version", "runs", "configuration-version", &kind_configurations},
	{"current-configuration-version", "workspaces", "current-configuration-version", &kind_configurations},
	{"current-configuration-version.ingress-attributes", "configuration-versions", "ingress-attributes",
		&kind_ingress_attributes},
	{"current-run.configuration-version.ingress-attributes", "configuration-versions", "ingress-attributes",
		&kind_ingress_attributes},
	{"latest-run.configuration-version.ingress-attributes", "configuration-versions", "ingress-attributes",
		&kind_ingress_attributes},
	{"agent-pool", "workspaces", "agent-pool", &kind_pools},
	{"current-assessment-result", "workspaces", "current-assessment-result", &kind_assessment_results},
	{"current-state-version.resources-processed", "state-versions", "resources-processed", NULL}, /* an attribute */
	{"vars", "workspaces", "vars", NULL}, {"outputs", "workspaces", "outputs", NULL},
	{"effective-tag-bindings", "workspaces", "effective-tag-bindings", NULL},
	{"recent-runs", "workspaces", "recent-runs", NULL},
	{"readme", "workspaces", "readme", NULL}, /* last: lists refuse it, since it reads an archive */
};

/* ---- outputs ---- */

/* Outputs of a workspace have their own type, with fewer attributes. */
static int output_include(struct store *store, const struct state_output_row *output, json_t *included, struct err *err)
{
	json_t *value = NULL;

	if (!output->sensitive && state_output_value(store, output, &value, err) < 0)
		return -1;
	json_array_append_new(included,
		resource_new("workspace-outputs", output->id,
			json_pack("{so sb so so}", "name", json_string_or_null(output->name), "sensitive",
				output->sensitive, "output-type", json_string_or_null(output->type), "value",
				value ? value : json_null()),
			NULL));
	return 0;
}

/* Adds an empty `outputs` relation to each workspace. `lists` maps a state version to the list of its workspace. */
static void outputs_prepare(json_t *workspaces, struct db_array *states, json_t *lists)
{
	json_t *workspace;
	size_t i;

	json_array_foreach(workspaces, i, workspace)
	{
		const char *state = json_string_at(workspace, "relationships.current-state-version.data.id");
		json_t *list = json_array();

		json_object_set_new(
			json_object_get(workspace, "relationships"), "outputs", json_pack("{so}", "data", list));
		if (!state)
			continue;
		db_array_add(states, state);
		json_object_set(lists, state, list);
	}
}

static int outputs_include(const struct request *req, json_t *workspaces, json_t *included, struct err *err)
{
	_cleanup_(db_array_release) struct db_array states = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *lists = json_object();

	outputs_prepare(workspaces, &states, lists);
	if (outputs_of_states(req->store, &states, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct state_output_row *output = row_of(state_output, &rows, i);

		json_array_append_new(
			json_object_get(lists, output->state_version_id), linkage("workspace-outputs", output->id));
		if (output_include(req->store, output, included, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- variables ---- */

/* Those of the workspaces whose variables the requester may read. */
static int variables_include(const struct request *req, const json_t *workspaces, json_t *included, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const json_t *workspace, *link;
	size_t i, j;

	json_array_foreach(workspaces, i, workspace)
	{
		if (!json_bool_at(json_at(workspace, "attributes.permissions"), "can-read-variable", false))
			continue;
		json_array_foreach(json_at(workspace, "relationships.vars.data"), j, link)
			db_array_add(&ids, json_string_at(link, "id"));
	}
	if (!ids.count)
		return 0;
	if (kind_read(req->store, &kind_variables, &ids, &rows, err) < 0)
		return -1;
	return rows_show(req->store, &kind_variables, &rows, included, err);
}

/* ---- recent runs ---- */

static int recent_runs_include(const struct request *req, json_t *workspaces, json_t *included, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *workspace;
	size_t i;

	json_array_foreach(workspaces, i, workspace)
	{
		const char *id = json_string_at(workspace, "id");

		db_array_add(&ids, id);
		json_object_set_new(json_object_get(workspace, "relationships"), "recent-runs",
			to_one("workspace-recent-runs", id));
	}
	if (runs_recent_of(req->store, &ids, &rows, err) < 0)
		return -1;
	for (int row = 0; row < rows.count; row++) {
		const struct runs_recent_of_row *recent = row_of(runs_recent_of, &rows, row);

		json_array_append_new(included,
			resource_new("workspace-recent-runs", recent->workspace_id,
				json_pack("{so}", "runs", json_shown(recent->runs)), NULL));
	}
	return 0;
}

/* ---- the readme ---- */

/* Looks in the working directory first, then at the archive's root. */
static int readme_find(struct store *store, const char *id, struct buf *out, bool *ret_found, struct err *err)
{
	_cleanup_(buf_release) struct buf archive = BUF_INIT(BODY_ARCHIVE);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct configuration_files_current_row *current;

	*ret_found = false;
	if (configuration_files_current(store, id, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	current = row_of(configuration_files_current, &rows, 0);
	if (blob_get(store, current->blob_id, &archive, err) < 0)
		return -1;
	archive_file(buf_bytes(&archive), current->working_directory, "README.md", out, ret_found);
	return 0;
}

static int readme_include(const struct request *req, json_t *workspace, json_t *included, struct err *err)
{
	const char *id = json_string_at(workspace, "id");
	_cleanup_(buf_release) struct buf text = BUF_INIT(README_LIMIT);
	json_t *raw;
	bool found;

	if (readme_find(req->store, id, &text, &found, err) < 0)
		return -1;
	raw = found ? json_stringn(buf_str(&text), text.len) : NULL;
	json_object_set_new(
		json_object_get(workspace, "relationships"), "readme", to_one("workspace-readme", raw ? id : NULL));
	if (raw)
		json_array_append_new(
			included, resource_new("workspace-readme", id, json_pack("{so}", "raw-markdown", raw), NULL));
	return 0;
}

static int workspace_includes(const struct request *req, json_t *workspaces, json_t **ret_included, struct err *err)
{
	json_t *included = NULL;

	if (includes_follow(req, &kind_single_workspace, workspaces, &included, err) < 0)
		return -1;
	if (!included) {
		*ret_included = NULL;
		return 0;
	}
	if ((query_includes(req, "vars") && variables_include(req, workspaces, included, err) < 0) ||
		(query_includes(req, "outputs") && outputs_include(req, workspaces, included, err) < 0) ||
		(query_includes(req, "recent-runs") && recent_runs_include(req, workspaces, included, err) < 0) ||
		(query_includes(req, "readme") &&
			readme_include(req, json_array_get(workspaces, 0), included, err) < 0) ||
		bindings_include(req, TAGGED_WORKSPACE, workspaces, &included, err) < 0) {
		json_decref(included);
		return -1;
	}
	*ret_included = included;
	return 0;
}

const struct resource_kind kind_workspaces = {.type = "workspaces",
	.ask = workspaces_read_all,
	.make = workspace_make,
	.includes = of_workspaces,
	.includes_count = ARRAY_LEN(of_workspaces) - 1,
	.include = workspace_includes};

const struct resource_kind kind_single_workspace = {
	.type = "workspaces", .make = workspace_make, KIND_INCLUDES(of_workspaces), .include = workspace_includes};
