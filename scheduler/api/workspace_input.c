/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/fields.h"
#include "scheduler/api/workspaces.h"
#include "scheduler/store/names.h"

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
	{"cost-estimation-enabled", FIELD_BOOL, "null"}, /* null: as the organization has it */
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
};

void workspace_settings_show(const json_t *set, json_t *attributes)
{
	fields_show(settings, ARRAY_LEN(settings), set, attributes);
}

void workspace_input_release(struct workspace_input *input)
{
	json_decref(input->fields);
	json_decref(input->settings);
}

/* ---- the engine's version and the folder ---- */

/* "1.11.4", "1.6.0-rc1", constraints such as "~> 1.11.0, != 1.11.2", and "latest". */
static bool version_plausible(const char *version)
{
	static const char allowed[] = "0123456789.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-+~><=!, ";
	size_t operators = strspn(version, "~><=! v");

	if (!*version || strcmp(version, "latest") == 0)
		return true;
	return strlen(version) < 64 && version[strspn(version, allowed)] == '\0' && version[operators] >= '0' &&
		version[operators] <= '9' && strchr(version, '.');
}

static int version_check(json_t *fields, struct err *err)
{
	const char *version = json_string_at(fields, "terraform-version");

	if (!version)
		return 0;
	if (!version_plausible(version))
		return err_at(err, "/data/attributes/terraform-version", "Terraform version is invalid");
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

/* ---- where runs are executed ---- */

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

/* The mode of the project or else of the organization, for a workspace that has none of its own. */
static int mode_inherit(const struct request *req, const char *organization_id, json_t *fields, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(req->store->db, &rows, err,
		    "select coalesce(p.settings->>'default-execution-mode', o.settings->>'default-execution-mode', "
		    "'remote') as mode, p.settings->>'default-agent-pool-id' as pool "
		    "from organizations o join projects p on p.organization_id = o.id where o.id = $1 "
		    "and case when $2::text is null then p.is_default else p.id = $2 end",
		    P_TEXT(organization_id), P_TEXT(json_string_at(fields, "project-id"))) < 0)
		return -1;
	if (!rows.count)
		return 0;
	json_object_set_new(fields, "execution-mode", row_string(&rows, 0, "mode"));
	json_object_set_new(fields, "agent-pool-id", row_string(&rows, 0, "pool"));
	return 0;
}

static int project_read_relation(
	const struct request *req, const char *organization_id, json_t *fields, struct err *err)
{
	const char *project = body_relation(req, "project");
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!project)
		return 0;
	if (db_query(req->store->db, &rows, err, "select 1 from projects where id = $1 and organization_id = $2",
		    P_TEXT(project), P_TEXT(organization_id)) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, "/data/relationships/project", "Project must exist");
	json_object_set_new(fields, "project-id", json_string(project));
	return 0;
}

/* A workspace has its own mode once one was set, until setting-overwrites gives it back. */
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

static int pool_check(const struct request *req, const char *organization_id, const char *pool, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(req->store->db, &rows, err,
		    "select 1 from agent_pools where id = $1 and (organization_id is null or organization_id = $2)",
		    P_TEXT(pool), P_TEXT(organization_id)) < 0)
		return -1;
	return rows.count ? 0 : err_at(err, "/data/attributes/agent-pool-id", "Agent pool does not exist");
}

static int mode_check(const struct request *req, const char *organization_id, json_t *fields, struct err *err)
{
	const char *mode = json_string_at(fields, "execution-mode");
	const char *pool = json_string_at(fields, "agent-pool-id");
	bool agent = text_equal(mode, "agent");

	if (json_object_get(fields, "execution-mode") && !agent && !text_equal(mode, "remote") &&
		!text_equal(mode, "local"))
		return err_at(err, "/data/attributes/execution-mode", "Execution mode must be remote, local or agent");
	if (pool && !agent)
		return err_at(err, "/data/attributes/agent-pool-id",
			"Agent pool must not be specified unless using 'agent' execution mode");
	if (agent && !pool)
		return err_at(err, "/data/attributes/agent-pool-id",
			"Agent pool must be specified when using 'agent' execution mode");
	if (mode && !agent)
		json_object_set_new(fields, "agent-pool-id", json_null());
	return pool ? pool_check(req, organization_id, pool, err) : 0;
}

int workspace_input_read(const struct request *req, const char *organization_id, bool creating,
	struct workspace_input *ret_input, struct err *err)
{
	json_t *fields = json_object();

	*ret_input = (struct workspace_input){fields, json_object()};
	if (body_check(req, "workspaces", err) < 0 || fields_read(req, columns, ARRAY_LEN(columns), fields, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), ret_input->settings, err) < 0 ||
		project_read_relation(req, organization_id, fields, err) < 0 || version_check(fields, err) < 0 ||
		directory_check(fields, err) < 0 || mode_read_operations(req, fields, err) < 0 ||
		mode_check(req, organization_id, fields, err) < 0 ||
		mode_read(req, organization_id, creating, ret_input, err) < 0)
		return -1;
	if (!creating && !json_object_get(fields, "name"))
		return 0;
	return name_check("Name", "/data/attributes/name", json_string_at(fields, "name"), err);
}
