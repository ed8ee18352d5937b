/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_payload.h"

#include "common/vcs/address.h"
#include "proto/states.h"
#include "scheduler/store/tasks/task_payload.sql.h"

/* Takes the text; the object has a copy. */
static void set_text(json_t *object, const char *key, char *text)
{
	json_object_set_new(object, key, json_string(text));
	free(text);
}

static void set_addresses(json_t *body, const struct task_call_row *call, const struct task_address *address)
{
	const char *run = call->run_id, *organization = call->organization, *workspace = call->workspace;
	struct id plan = id_sibling(run, "plan");

	set_text(body, "configuration_version_download_url",
		mem_printf("%s/api/v2/configuration-versions/%s/download", address->public_url,
			call->configuration_version_id));
	if (!text_equal(call->stage, stages[STAGE_PRE_PLAN].name))
		set_text(body, "plan_json_api_url",
			mem_printf("%s/api/v2/plans/%s/json-output", address->public_url, plan.text));
	set_text(body, "run_app_url",
		mem_printf("%s/app/%s/%s/runs/%s", address->public_url, organization, workspace, run));
	set_text(body, "workspace_app_url", mem_printf("%s/app/%s/%s", address->public_url, organization, workspace));
	set_text(body, "project_app_url",
		mem_printf("%s/app/%s/projects/%s", address->public_url, organization, call->project_id));
	set_text(body, "task_result_callback_url",
		mem_printf("%s/api/v2/task-results/%s/callback", address->callback_url, call->id));
}

/* The page of the workspace's repository; of plain git, the URL to clone it from. NULL if there is no repository. */
static char *repository_url(const struct task_call_row *call)
{
	enum vcs_provider provider = vcs_provider_of(call->provider);
	struct vcs_place place = {.http_url = call->provider_url, .identifier = call->repository};
	char *url;

	if (call->repository_url)
		return mem_text(call->repository_url);
	if (provider == VCS_PROVIDERS)
		return NULL;
	place.dialect = vcs_dialect_of(provider, call->provider_api_url);
	url = vcs_repository_url(&place);
	return url ? url : vcs_clone_url(&place);
}

/* The text; null if it is missing or empty. */
static json_t *json_text_or_null(const char *text)
{
	return json_string_or_null(text_or_null(text));
}

/* The branch and the repository are the workspace's; the commit and the pull request are those that the run plans. */
static void set_commit(json_t *body, const struct task_call_row *call)
{
	const char *const branches[] = {call->repository_branch, call->default_branch, call->commit_branch};
	_cleanup_(freep) char *url = repository_url(call);
	const char *branch = "";

	for (size_t i = 0; i < ARRAY_LEN(branches) && !*branch; i++)
		branch = text_or_empty(branches[i]);
	json_object_set_new(body, "vcs_branch", json_text_or_null(branch));
	json_object_set_new(body, "vcs_repo_url", json_string_or_null(url));
	json_object_set_new(body, "vcs_commit_hash", json_text_or_null(call->commit_sha));
	json_object_set_new(body, "vcs_commit_url", json_text_or_null(call->commit_url));
	json_object_set_new(body, "vcs_pull_request_url", json_text_or_null(call->pull_request_url));
}

char *task_payload(const struct task_call_row *call, const struct task_address *address)
{
	json_auto_t *body = json_pack("{si so ss s{sb} so sb so so so so so so so so so so so so}", "payload_version",
		1, "stage", json_string_or_null(call->stage), "access_token", address->token, "capabilities",
		"outcomes", 1, "configuration_version_id", json_string_or_null(call->configuration_version_id),
		"is_speculative", call->plan_only, "organization_name", json_string_or_null(call->organization),
		"run_created_at", json_string_or_null(call->run_created_at), "run_created_by",
		json_string_or_null(call->username), "run_id", json_string_or_null(call->run_id), "run_message",
		json_string_or_null(call->message), "task_result_enforcement_level",
		json_string_or_null(call->enforcement), "task_result_id", json_string_or_null(call->id), "workspace_id",
		json_string_or_null(call->workspace_id), "workspace_name", json_string_or_null(call->workspace),
		"workspace_working_directory", json_string_or_null(call->working_directory), "project_id",
		json_string_or_null(call->project_id), "project_name", json_string_or_null(call->project));

	set_commit(body, call);
	set_addresses(body, call, address);
	return json_text(body);
}
