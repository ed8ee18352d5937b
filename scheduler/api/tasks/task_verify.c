/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/tasks/task_verify.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/api/tasks/test_request.h"
#include "scheduler/store/forwards/forwards.h"
#include "scheduler/store/tasks/tasks.h"

#define SIGNATURE "X-TFC-Task-Signature"

/* Of a test request that a worker sends. */
enum { CONNECT_MS = 5000, RESPONSE_MS = 5000, ANSWER_LIMIT = 64 << 10 };

/* ---- the test request ---- */

void task_request_release(struct task_request *request)
{
	free(request->body);
	free(request->user_agent);
}

void task_request_sign(const struct store *store, char *body, const char *key, struct task_request *ret_request)
{
	*ret_request = (struct task_request){
		.body = body, .user_agent = mem_printf("TFC/1.0 (+%s; TFC)", store->settings->public_url)};
	if (*key)
		crypto_hmac_sha512_hex(key, strlen(key), body, strlen(body), ret_request->signature);
}

/* Texts of the test request. %s is the API's public URL. */
static const char *const test_texts[][2] = {
	{"stage", "test"},
	{"access_token", TASK_TEST_TOKEN},
	{"configuration_version_download_url", "%s/api/v2/configuration-versions/cv-0000000000000000/download"},
	{"configuration_version_id", "cv-0000000000000000"},
	{"plan_json_api_url", "%s/api/v2/plans/plan-0000000000000000/json-output"},
	{"run_app_url", "%s/app/test/test/runs/run-0000000000000000"},
	{"run_created_by", "test"},
	{"run_id", "run-0000000000000000"},
	{"run_message", "A test of the run task's URL"},
	{"task_result_callback_url", "%s/api/v2/task-results/taskrs-0000000000000000/callback"},
	{"task_result_enforcement_level", "test"},
	{"task_result_id", "taskrs-0000000000000000"},
	{"vcs_branch", "main"},
	{"vcs_commit_url", "%s/app/test/vcs/commit/0000000"},
	{"vcs_pull_request_url", "%s/app/test/vcs/pull/0"},
	{"vcs_repo_url", "%s/app/test/vcs"},
	{"vcs_commit_hash", "0000000000000000000000000000000000000000"},
	{"workspace_app_url", "%s/app/test/workspaces/test"},
	{"workspace_id", "ws-0000000000000000"},
	{"workspace_name", "test"},
	{"workspace_working_directory", "/"},
	{"project_id", "prj-0000000000000000"},
	{"project_name", "test"},
	{"project_app_url", "%s/app/test/projects/prj-0000000000000000"},
};

static json_t *test_text(const struct store *store, const char *text)
{
	_cleanup_(freep) char *url =
		mem_printf("%s%s", store->settings->public_url, text + (text_starts(text, "%s") ? 2 : 0));

	return json_string(text_starts(text, "%s") ? url : text);
}

void task_request_test(
	const struct store *store, const char *organization, const char *key, struct task_request *ret_request)
{
	json_auto_t *body = json_pack("{si s{sb} sb ss ss}", "payload_version", 1, "capabilities", "outcomes", 1,
		"is_speculative", 0, "organization_name", organization, "run_created_at", "2020-01-01T00:00:00.000Z");

	for (size_t i = 0; i < ARRAY_LEN(test_texts); i++)
		json_object_set_new(body, test_texts[i][0], test_text(store, test_texts[i][1]));
	task_request_sign(store, json_text(body), key, ret_request);
}

/* ---- sending ---- */

static int refuse(const char *why, struct err *err)
{
	return err_at(err, "/data/attributes/url", "URL must answer the verification request with status 200: %s", why);
}

static int verify_here(const struct store *store, const struct task_request *request, const char *url, struct err *err)
{
	_cleanup_(test_request_answer_release) struct test_request_answer answer;

	test_request_send(store->settings->task_guard,
		&(struct test_request){.url = url,
			.body = request->body,
			.signature = SIGNATURE,
			.signature_value = request->signature,
			.user_agent = request->user_agent},
		&answer);
	return answer.status == 200 ? 0 : refuse(answer.why, err);
}

static json_t *forwarded_request(const struct task_request *request, const char *url)
{
	_cleanup_(freep) char *signature =
		mem_printf(SIGNATURE "%s%s", *request->signature ? ": " : ";", request->signature);
	_cleanup_(freep) char *agent = mem_printf("User-Agent: %s", request->user_agent);

	return json_pack("{ss ss s[ssss] ss si si si}", "method", "POST", "url", url, "headers", signature, agent,
		"Content-Type: application/json", "Accept: application/json", "body", request->body, "connect-ms",
		CONNECT_MS, "response-ms", RESPONSE_MS, "answer-limit", ANSWER_LIMIT);
}

static int verify_by_worker(
	const struct store *store, const struct task_request *request, const struct task *task, struct err *err)
{
	json_auto_t *forwarded = forwarded_request(request, task->url), *answer = NULL;
	struct id id = id_new("fwd");
	const struct forward forward = {.id = id.text, .pool_id = task->pool_id, .request = forwarded};
	char status[32];

	if (forward_send(store, &forward, &answer, err) < 0)
		return -1;
	if (json_int_at(answer, "status", 0) == 200 || json_bool_at(answer, "unserved", false))
		return 0;
	snprintf(status, sizeof(status), "it answered %lld", json_int_at(answer, "status", 0));
	return refuse(json_int_at(answer, "status", 0) ? status : text_or_empty(json_string_at(answer, "error")), err);
}

int task_verify(
	const struct store *store, const char *organization, const struct task *task, const char *key, struct err *err)
{
	_cleanup_(task_request_release) struct task_request request = {.body = NULL};

	task_request_test(store, organization, key, &request);
	return task->pool_id ? verify_by_worker(store, &request, task, err)
			     : verify_here(store, &request, task->url, err);
}
