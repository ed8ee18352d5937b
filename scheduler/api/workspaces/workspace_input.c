/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/workspaces/auto_destroy.h"
#include "scheduler/api/workspaces/default_mode.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/http/fields.h"
#include "scheduler/store/names.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/store/workers/pools.h"
#include "scheduler/store/workers/tool_versions.h"
#include "scheduler/store/workspaces/projects.h"
#include "scheduler/store/workspaces/projects.sql.h"
#include "scheduler/store/workspaces/workspaces.h"
#include "scheduler/vcs/globs.h"

enum { MAX_LIST = 100 };

static const struct field columns[] = {
	{"agent-pool-id", FIELD_TEXT, "null"},
	{"auto-apply", FIELD_BOOL, "false"},
	{"description", FIELD_TEXT, "null"},
	{"execution-mode", FIELD_TEXT, "\"remote\""},
	{"name", FIELD_TEXT, "null"},
	{"structured-run-output-enabled", FIELD_BOOL, "true"},
	{"terraform-version", FIELD_TEXT, "\"\""},
	{"working-directory", FIELD_TEXT, "\"\""},
};

static const struct field settings[] = {
	{"allow-destroy-plan", FIELD_BOOL, "true"},
	{"assessments-enabled", FIELD_BOOL, "false"},
	{"auto-apply-run-trigger", FIELD_BOOL, "false"},
	{"auto-destroy-activity-duration", FIELD_TEXT, "null"},
	{"auto-destroy-at", FIELD_TEXT, "null"},
	{"cost-estimation-enabled", FIELD_BOOL, "null"}, /* null: inherited from the organization */
	{"file-triggers-enabled", FIELD_BOOL, "true"},
	{"global-remote-state", FIELD_BOOL, "false"},
	{"inherits-project-auto-destroy", FIELD_BOOL, "true"},
	{"migration-environment", FIELD_TEXT, "null"},
	{"project-remote-state", FIELD_BOOL, "false"},
	{"queue-all-runs", FIELD_BOOL, "false"},
	{"source-name", FIELD_TEXT, "null"},
	{"source-url", FIELD_TEXT, "null"},
	{"speculative-enabled", FIELD_BOOL, "true"},
	{"trigger-patterns", FIELD_TEXTS, "[]"},
	{"trigger-prefixes", FIELD_TEXTS, "[]"},
	{"vcs-fork-plans", FIELD_BOOL, "false"},
	{"vcs-newest-only", FIELD_BOOL, "false"},
	{"vcs-skip-drafts", FIELD_BOOL, "false"},
};

void workspace_settings_show(const json_t *set, json_t *attributes)
{
	fields_show(settings, ARRAY_LEN(settings), set, attributes);
	if (!json_object_get(set, "vcs-fork-plans"))
		json_object_set_new(attributes, "vcs-fork-plans", json_boolean(site_flag(SITE_ALLOWS_FORKS)));
}

void workspace_input_release(struct workspace_input *input)
{
	json_decref(input->fields);
	json_decref(input->settings);
	json_decref(input->tag_ids);
	json_decref(input->tag_names);
	json_decref(input->bindings);
}

/* ---- engine version and working directory ---- */

/* Accepts "1.11.4", "1.6.0-rc1", constraints such as "~> 1.11.0, != 1.11.2", and "latest". */
static bool engine_version_plausible(const char *version)
{
	static const char allowed[] = "0123456789.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-+~><=!, ";
	size_t operators = strspn(version, "~><=! v");

	if (!*version || strcmp(version, "latest") == 0)
		return true;
	return strlen(version) < 64 && version[strspn(version, allowed)] == '\0' && version[operators] >= '0' &&
		version[operators] <= '9' && strchr(version, '.');
}

int engine_version_check(const struct request *req, const char *version, struct err *err)
{
	static const char pointer[] = "/data/attributes/terraform-version";

	if (!engine_version_plausible(version))
		return err_at(err, pointer, "Terraform version is invalid");
	return tool_version_check(req->store, version, pointer, err);
}

static int version_check(const struct request *req, json_t *fields, struct err *err)
{
	const char *version = json_string_at(fields, "terraform-version");

	if (!version)
		return 0;
	if (engine_version_check(req, version, err) < 0)
		return -1;
	if (strcmp(version, "latest") == 0)
		json_object_set_new(fields, "terraform-version", json_string(""));
	return 0;
}

static int directory_check(const json_t *fields, struct err *err)
{
	const char *at = text_or_empty(json_string_at(fields, "working-directory"));

	if (strlen(at) > 1024)
		return err_at(err, "/data/attributes/working-directory", "Working directory is too long");
	while (*at) {
		size_t len = strcspn(at, "/");

		if (len == 2 && at[0] == '.' && at[1] == '.')
			return err_at(err, "/data/attributes/working-directory",
				"Working directory must not lead out of the configuration");
		at += len + (at[len] == '/');
	}
	return 0;
}

/* ---- execution mode ---- */

static int mode_read_operations(const struct request *req, json_t *fields, struct err *err)
{
	bool operations = true;

	if (!body_has(req, "operations"))
		return 0;
	if (json_object_get(fields, "execution-mode"))
		return err_at(err, "/data/attributes/operations",
			"Operations is deprecated and can't be set together with execution mode");
	if (body_bool(req, "operations", &operations, err) < 0)
		return -1;
	json_object_set_new(fields, "execution-mode", json_string(operations ? "remote" : "local"));
	return 0;
}

/* A workspace without its own mode inherits that of the project, or else of the organization. */
static int mode_inherit(const struct request *req, const char *organization_id, json_t *fields, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (project_inherited_mode(req->store, organization_id, json_string_at(fields, "project-id"), &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	json_object_set_new(
		fields, "execution-mode", json_string_or_null(row_of(project_inherited_mode, &rows, 0)->mode));
	json_object_set_new(
		fields, "agent-pool-id", json_string_or_null(row_of(project_inherited_mode, &rows, 0)->pool));
	return 0;
}

static int project_read_relation(
	const struct request *req, const char *organization_id, json_t *fields, struct err *err)
{
	const char *project;
	bool belongs;

	if (body_to_one(req, "project", "projects", &project, err) < 0)
		return -1;
	if (!project)
		return 0;
	if (project_belongs(req->store, project, organization_id, &belongs, err) < 0)
		return -1;
	if (!belongs)
		return err_at(err, "/data/relationships/project", "Project must exist");
	json_object_set_new(fields, "project-id", json_string(project));
	return 0;
}

/* The pool as a relation, which is the same as the attribute. */
static int pool_read_relation(const struct request *req, json_t *fields, struct err *err)
{
	const char *pool;

	if (body_to_one(req, "agent-pool", "agent-pools", &pool, err) < 0)
		return -1;
	if (pool && !body_has(req, "agent-pool-id"))
		json_object_set_new(fields, "agent-pool-id", json_string(pool));
	return 0;
}

/* A workspace that sets a mode keeps it until setting-overwrites restores inheritance. */
static int mode_read(const struct request *req, const char *organization_id, bool creating,
	struct workspace_input *input, struct err *err)
{
	const json_t *overwrites = json_at(req->body, "data.attributes.setting-overwrites");
	const json_t *wanted = json_object_get(overwrites, "execution-mode");
	bool own = json_object_get(input->fields, "execution-mode") != NULL;

	if (overwrites && !json_is_object(overwrites) && !json_is_null(overwrites))
		return err_at(err, "/data/attributes/setting-overwrites", "Setting overwrites must be an object");
	if (own && !json_is_false(wanted)) {
		json_object_set_new(input->settings, "setting-overwrites",
			json_pack("{s:b, s:b}", "execution-mode", 1, "agent-pool", 1));
		return 0;
	}
	if (!creating && !json_is_false(wanted))
		return 0;
	json_object_set_new(
		input->settings, "setting-overwrites", json_pack("{s:b, s:b}", "execution-mode", 0, "agent-pool", 0));
	return mode_inherit(req, organization_id, input->fields, err);
}

/* Clients send an empty text for no agent pool. */
static void pool_of_none_read(json_t *fields)
{
	if (text_equal(json_string_at(fields, "agent-pool-id"), ""))
		json_object_set_new(fields, "agent-pool-id", json_null());
}

/* A pool that is sent without a mode is checked against the workspace's current mode. */
static int mode_of_pool(const struct request *req, const struct scope *scope, const json_t *fields,
	struct rows *ret_rows, struct err *err)
{
	if (json_object_get(fields, "execution-mode") || !json_object_get(fields, "agent-pool-id") ||
		!*scope->workspace.text)
		return 0;
	return workspace_lookup(req->store, scope->workspace.text, ret_rows, err);
}

static int mode_check(const struct request *req, const struct scope *scope, json_t *fields, struct err *err)
{
	_cleanup_(rows_release) struct rows present = ROWS_INIT;
	const struct pool_use use = {.organization_id = scope->organization.text,
		.project_id = json_string_at(fields, "project-id"),
		.workspace_id = *scope->workspace.text ? scope->workspace.text : NULL};
	const char *mode = json_string_at(fields, "execution-mode"), *pool;
	bool agent;

	pool_of_none_read(fields);
	pool = json_string_at(fields, "agent-pool-id");
	if (mode_of_pool(req, scope, fields, &present, err) < 0)
		return -1;
	agent = text_equal(present.count ? row_of(workspace_lookup, &present, 0)->execution_mode : mode, "agent");
	if (json_object_get(fields, "execution-mode") &&
		mode_word_check(mode, "/data/attributes/execution-mode", "Execution mode", err) < 0)
		return -1;
	if (pool && !agent)
		return err_at(err, "/data/attributes/agent-pool-id",
			"Agent pool must not be specified unless using 'agent' execution mode");
	if (agent && !pool)
		return err_at(err, "/data/attributes/agent-pool-id",
			"Agent pool must be specified when using 'agent' execution mode");
	if (mode && !agent)
		json_object_set_new(fields, "agent-pool-id", json_null());
	return pool ? pool_use_check(req->store, pool, &use, "/data/attributes/agent-pool-id", err) : 0;
}

/* ---- the other settings ---- */

static const struct {
	const char *name, *what;
	size_t max;
} lengths[] = {{"description", "Description", 2048}, {"migration-environment", "Migration environment", 255},
	{"source-name", "Source name", 255}, {"source-url", "Source url", 2048}};

static int lengths_check(const struct workspace_input *input, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		const char *text = json_string_at(input->fields, lengths[i].name);
		char pointer[64];

		if (!text)
			text = json_string_at(input->settings, lengths[i].name);
		snprintf(pointer, sizeof(pointer), "/data/attributes/%s", lengths[i].name);
		if (length_check(lengths[i].what, pointer, text, lengths[i].max, err) < 0)
			return -1;
	}
	return 0;
}

/* A prefix is a path without wildcards: as a pattern it names no file, but its text has the same limits. */
static bool folder_valid(const char *folder)
{
	struct err ignored = ERR_INIT;

	return strlen(folder) && vcs_glob_check(folder, &ignored) == 0;
}

static int paths_check(const json_t *patterns, const json_t *prefixes, struct err *err)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)patterns, i, item)
	{
		if (vcs_glob_check(json_string_value(item), err) < 0) {
			text_copy(err->pointer, sizeof(err->pointer), "/data/attributes/trigger-patterns");
			return -1;
		}
	}
	json_array_foreach((json_t *)prefixes, i, item)
	{
		if (!folder_valid(json_string_value(item)))
			return err_at(err, "/data/attributes/trigger-prefixes",
				"Trigger prefixes must be folders of the repository");
	}
	return 0;
}

static int triggers_check(json_t *set, struct err *err)
{
	json_t *patterns = json_object_get(set, "trigger-patterns"),
	       *prefixes = json_object_get(set, "trigger-prefixes");

	if (json_array_size(patterns) && json_array_size(prefixes))
		return err_at(err, "/data/attributes/trigger-patterns",
			"Trigger patterns can't be combined with trigger prefixes");
	if (json_array_size(patterns) > MAX_LIST || json_array_size(prefixes) > MAX_LIST)
		return err_at(err, "/data/attributes/trigger-patterns", "Trigger patterns and prefixes are too many");
	if (paths_check(patterns, prefixes, err) < 0)
		return -1;
	/* Prefixes and patterns exclude each other: setting one clears the other. */
	if (json_array_size(patterns))
		json_object_set_new(set, "trigger-prefixes", json_array());
	else if (json_array_size(prefixes))
		json_object_set_new(set, "trigger-patterns", json_array());
	return 0;
}

static int sharing_check(json_t *set, struct err *err)
{
	bool global = json_bool_at(set, "global-remote-state", false);
	bool project = json_bool_at(set, "project-remote-state", false);

	if (global && project)
		return err_at(err, "/data/attributes/project-remote-state",
			"Project remote state cannot be enabled when global remote state sharing is enabled");
	if (global || project)
		json_object_set_new(set, global ? "project-remote-state" : "global-remote-state", json_false());
	return 0;
}

static int tags_read(const struct request *req, struct workspace_input *input, struct err *err)
{
	static const char tags[] = "/data/relationships/tags", bindings[] = "/data/relationships/tag-bindings";
	const json_t *list = body_relation_list(req, "tags");

	if (list && tags_parse(list, tags, &input->tag_ids, &input->tag_names, err) < 0)
		return -1;
	list = body_relation_list(req, "tag-bindings");
	return list ? bindings_parse(list, bindings, &input->bindings, err) : 0;
}

static int settings_check(const struct request *req, struct workspace_input *input, struct err *err)
{
	if (lengths_check(input, err) < 0 || triggers_check(input->settings, err) < 0 ||
		sharing_check(input->settings, err) < 0 || auto_destroy_read(input->settings, err) < 0 ||
		vcs_repo_input_read(req, &input->repository, err) < 0)
		return -1;
	return tags_read(req, input, err);
}

int workspace_input_read(
	const struct request *req, const struct scope *scope, struct workspace_input *ret_input, struct err *err)
{
	const char *organization_id = scope->organization.text;
	bool creating = !*scope->workspace.text;
	json_t *fields = json_object();

	*ret_input = (struct workspace_input){.fields = fields, .settings = json_object()};
	if (body_check(req, "workspaces", err) < 0 || fields_read(req, columns, ARRAY_LEN(columns), fields, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), ret_input->settings, err) < 0 ||
		project_read_relation(req, organization_id, fields, err) < 0 || version_check(req, fields, err) < 0 ||
		directory_check(fields, err) < 0 || mode_read_operations(req, fields, err) < 0 ||
		pool_read_relation(req, fields, err) < 0 || mode_check(req, scope, fields, err) < 0 ||
		mode_read(req, organization_id, creating, ret_input, err) < 0 ||
		settings_check(req, ret_input, err) < 0)
		return -1;
	if (!creating && !json_object_get(fields, "name"))
		return 0;
	return name_check("Name", "/data/attributes/name", json_string_at(fields, "name"), err);
}
