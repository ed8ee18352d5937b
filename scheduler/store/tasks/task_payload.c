/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_payload.h"

#include "common/vcs/address.h"
#include "proto/states.h"

/* Takes the text; the object has a copy. */
static void set_text(json_t *object, const char *key, char *text)
{
	json_object_set_new(object, key, json_string(text));
	free(text);
}

static void set_addresses(json_t *body, const struct rows *rows, int row, const struct task_address *address)
{
	const char *run = row_text(rows, row, "run_id");
	const char *organization = row_text(rows, row, "organization");
	const char *workspace = row_text(rows, row, "workspace");
	const char *project = row_text(rows, row, "project_id");
	struct id plan = id_sibling(run, "plan");

	set_text(body, "configuration_version_download_url",
		mem_printf("%s/api/v2/configuration-versions/%s/download", address->public_url,
			row_text(rows, row, "configuration_version_id")));
	if (!text_equal(row_text(rows, row, "stage"), stages[STAGE_PRE_PLAN].name))
		set_text(body, "plan_json_api_url",
			mem_printf("%s/api/v2/plans/%s/json-output", address->public_url, plan.text));
	set_text(body, "run_app_url",
		mem_printf("%s/app/%s/%s/runs/%s", address->public_url, organization, workspace, run));
	set_text(body, "workspace_app_url", mem_printf("%s/app/%s/%s", address->public_url, organization, workspace));
	set_text(body, "project_app_url",
		mem_printf("%s/app/%s/projects/%s", address->public_url, organization, project));
	set_text(body, "task_result_callback_url",
		mem_printf("%s/api/v2/task-results/%s/callback", address->callback_url, row_text(rows, row, "id")));
}

static json_t *column(const struct rows *rows, int row, const char *name)
{
	return json_string_or_null(row_text(rows, row, name));
}

/* The page of the workspace's repository; of plain git, the URL to clone it from. NULL if there is no repository. */
static char *repository_url(const struct rows *rows, int row)
{
	enum vcs_provider provider = vcs_provider_of(row_text(rows, row, "provider"));
	struct vcs_place place = {
		.http_url = row_text(rows, row, "provider_url"), .identifier = row_text(rows, row, "repository")};
	char *url;

	if (row_text(rows, row, "repository_url"))
		return mem_text(row_text(rows, row, "repository_url"));
	if (provider == VCS_PROVIDERS)
		return NULL;
	place.dialect = vcs_dialect_of(provider, row_text(rows, row, "provider_api_url"));
	url = vcs_repository_url(&place);
	return url ? url : vcs_clone_url(&place);
}

/* The text of the column; null if that is missing or empty. */
static json_t *column_or_null(const struct rows *rows, int row, const char *name)
{
	return json_string_or_null(text_or_null(row_text(rows, row, name)));
}

/* The branch and the repository are the workspace's; the commit and the pull request are those that the run plans. */
static void set_commit(json_t *body, const struct rows *rows, int row)
{
	static const char *const branches[] = {"repository_branch", "default_branch", "commit_branch"};
	_cleanup_(freep) char *url = repository_url(rows, row);
	const char *branch = "";

	for (size_t i = 0; i < ARRAY_LEN(branches) && !*branch; i++)
		branch = text_or_empty(row_text(rows, row, branches[i]));
	json_object_set_new(body, "vcs_branch", json_string_or_null(text_or_null(branch)));
	json_object_set_new(body, "vcs_repo_url", json_string_or_null(url));
	json_object_set_new(body, "vcs_commit_hash", column_or_null(rows, row, "commit_sha"));
	json_object_set_new(body, "vcs_commit_url", column_or_null(rows, row, "commit_url"));
	json_object_set_new(body, "vcs_pull_request_url", column_or_null(rows, row, "pull_request_url"));
}

char *task_payload(const struct rows *rows, int row, const struct task_address *address)
{
	json_auto_t *body = json_pack("{si so ss s{sb} so sb so so so so so so so so so so so so}", "payload_version",
		1, "stage", column(rows, row, "stage"), "access_token", address->token, "capabilities", "outcomes", 1,
		"configuration_version_id", column(rows, row, "configuration_version_id"), "is_speculative",
		row_bool(rows, row, "plan_only"), "organization_name", column(rows, row, "organization"),
		"run_created_at", column(rows, row, "run_created_at"), "run_created_by", column(rows, row, "username"),
		"run_id", column(rows, row, "run_id"), "run_message", column(rows, row, "message"),
		"task_result_enforcement_level", column(rows, row, "enforcement"), "task_result_id",
		column(rows, row, "id"), "workspace_id", column(rows, row, "workspace_id"), "workspace_name",
		column(rows, row, "workspace"), "workspace_working_directory", column(rows, row, "working_directory"),
		"project_id", column(rows, row, "project_id"), "project_name", column(rows, row, "project"));

	set_commit(body, rows, row);
	set_addresses(body, rows, row, address);
	return json_text(body);
}
