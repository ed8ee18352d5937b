/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/err.h"
#include "common/vcs/operation.h"

#define SHA "0123456789abcdef0123456789abcdef01234567"

static const struct {
	enum vcs_dialect dialect;
	const char *api_url, *identifier;
} apis[] = {
	{VCS_GITHUB, "https://api.github.com/", "acme/network"},
	{VCS_GITLAB, "https://gitlab.com/api/v4", "acme/a/b/network"},
	{VCS_GITEA, "https://gitea.example.com/api/v1", "acme/network"},
	{VCS_BITBUCKET_CLOUD, "https://api.bitbucket.org/2.0", "acme/network"},
	{VCS_BITBUCKET_SERVER, "https://bb.example.com", "ACME/network"},
	{VCS_AZURE, "https://dev.azure.com", "acme/my project/_git/network"},
};

static json_t *all_arguments(void)
{
	return json_pack("{ss ss ss ss ss ss si ss ss ss si ss ss ss ss ss ss ss}", "id", "17", "sha", SHA, "state",
		"pending", "context", "Runyard/acme", "description", "it runs", "url", "https://runyard.example.com/x",
		"number", 7, "body", "text", "comment", "12", "hook", "99", "page", 2, "secret", "hidden", "branch",
		"feature/x", "base", "main", "head", "topic", "event", "git.push", "project_id", "p", "repository_id",
		"r");
}

static struct vcs_api api_of(size_t i)
{
	return (struct vcs_api){.dialect = apis[i].dialect,
		.api_url = apis[i].api_url,
		.identifier = apis[i].identifier,
		.token = "a-token"};
}

/* ---- requests ---- */

static void every_operation_of_every_dialect_makes_a_request(void **state)
{
	json_auto_t *arguments = all_arguments();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(apis); i++) {
		const struct vcs_api api = api_of(i);

		for (int operation = 0; operation < VCS_OPERATIONS; operation++) {
			struct vcs_http http;
			struct err err = ERR_INIT;

			if (!vcs_operation_exists(api.dialect, operation))
				continue;
			assert_int_equal(vcs_http_make(&api, operation, arguments, &http, &err), 0);
			assert_non_null(http.method);
			assert_null(strchr(http.url, '{'));
			assert_null(strchr(http.url, ' '));
			assert_null(strstr(http.url, "a-token"));
			assert_null(strstr(http.url + strlen("https://"), "//"));
			assert_true(http.body || text_equal(http.method, "GET") || text_equal(http.method, "DELETE"));
			assert_true(json_array_size(http.headers) > 0);
			vcs_http_release(&http);
		}
	}
}

static void paths_are_those_that_the_providers_document(void **state)
{
	static const struct {
		size_t api;
		enum vcs_operation operation;
		const char *url;
	} cases[] = {
		{0, VCS_OP_STATUS, "https://api.github.com/repos/acme/network/statuses/" SHA},
		{0, VCS_OP_BRANCH, "https://api.github.com/repos/acme/network/branches/feature%2Fx"},
		{0, VCS_OP_COMMITS, "https://api.github.com/repos/acme/network/commits?sha=feature%2Fx&per_page=20"},
		{4, VCS_OP_COMMITS,
			"https://bb.example.com/rest/api/1.0/projects/ACME/repos/network/commits"
			"?until=refs%2Fheads%2Ffeature%2Fx&limit=20"},
		{1, VCS_OP_REPOSITORY, "https://gitlab.com/api/v4/projects/acme%2Fa%2Fb%2Fnetwork"},
		{1, VCS_OP_LOCATE, "https://gitlab.com/api/v4/projects/17"},
		{2, VCS_OP_LOCATE, "https://gitea.example.com/api/v1/repositories/17"},
		{3, VCS_OP_LOCATE, "https://api.bitbucket.org/2.0/repositories/acme/17"},
		{2, VCS_OP_COMMENT_EDIT, "https://gitea.example.com/api/v1/repos/acme/network/issues/comments/12"},
		{3, VCS_OP_STATUS,
			"https://api.bitbucket.org/2.0/repositories/acme/network/commit/" SHA "/statuses/build"},
		{4, VCS_OP_REPOSITORY, "https://bb.example.com/rest/api/1.0/projects/ACME/repos/network"},
		{5, VCS_OP_REPOSITORY,
			"https://dev.azure.com/acme/my%20project/_apis/git/repositories/network?api-version=6.0"},
	};
	json_auto_t *arguments = all_arguments();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct vcs_api api = api_of(cases[i].api);
		struct vcs_http http;
		struct err err = ERR_INIT;

		assert_int_equal(vcs_http_make(&api, cases[i].operation, arguments, &http, &err), 0);
		assert_string_equal(http.url, cases[i].url);
		vcs_http_release(&http);
	}
}

static void hostile_arguments_can_not_leave_the_path(void **state)
{
	static const char *const identifiers[] = {"acme/..", "../x", "acme/./x", "", "acme//x"};
	json_auto_t *arguments = json_pack("{ss}", "branch", "..");
	struct vcs_api api = api_of(0);
	struct vcs_http http;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(vcs_http_make(&api, VCS_OP_BRANCH, arguments, &http, &err), -1);
	for (size_t i = 0; i < ARRAY_LEN(identifiers); i++) {
		api.identifier = identifiers[i];
		assert_int_equal(vcs_http_make(&api, VCS_OP_REPOSITORY, NULL, &http, &err), -1);
	}
	api.identifier = "acme/x?y#z";
	assert_int_equal(vcs_http_make(&api, VCS_OP_REPOSITORY, NULL, &http, &err), 0);
	assert_string_equal(http.url, "https://api.github.com/repos/acme/x%3Fy%23z");
	vcs_http_release(&http);
	api.token = "a\r\nX-Evil: 1";
	assert_int_equal(vcs_http_make(&api, VCS_OP_REPOSITORY, NULL, &http, &err), 0);
	for (size_t i = 0; i < json_array_size(http.headers); i++)
		assert_null(strpbrk(json_string_value(json_array_get(http.headers, i)), "\r\n"));
	vcs_http_release(&http);
}

static void a_missing_argument_is_refused(void **state)
{
	json_auto_t *arguments = json_pack("{ss}", "sha", SHA);
	const struct vcs_api api = api_of(0);
	struct vcs_http http;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(vcs_http_make(&api, VCS_OP_STATUS, arguments, &http, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
}

/* ---- answers ---- */

static json_t *read_as(enum vcs_dialect dialect, enum vcs_operation operation, const char *text)
{
	json_auto_t *body = json_of(text), *arguments = json_pack("{ss}", "branch", "main");
	const struct vcs_answer answer = {
		.dialect = dialect, .operation = operation, .arguments = arguments, .status = 200, .body = body};
	struct err err = ERR_INIT;
	json_t *result = NULL;

	vcs_answer_read(&answer, &result, &err);
	return result;
}

static void pull_requests_are_read_alike(void **state)
{
	static const struct {
		enum vcs_dialect dialect;
		const char *text;
	} cases[] = {
		{VCS_GITHUB,
			"{\"number\":7,\"state\":\"open\",\"title\":\"T\",\"head\":{\"sha\":\"" SHA
			"\",\"ref\":\"topic\",\"repo\":{\"id\":1}},\"base\":{\"ref\":\"main\",\"repo\":{\"id\":2}}}"},
		{VCS_GITLAB,
			"{\"iid\":7,\"state\":\"opened\",\"title\":\"T\",\"sha\":\"" SHA
			"\",\"source_branch\":\"topic\",\"target_branch\":\"main\",\"source_project_id\":1,"
			"\"target_project_id\":2}"},
		{VCS_BITBUCKET_SERVER,
			"{\"id\":7,\"state\":\"OPEN\",\"title\":\"T\",\"fromRef\":{\"displayId\":\"topic\","
			"\"latestCommit\":\"" SHA
			"\",\"repository\":{\"id\":1}},\"toRef\":{\"displayId\":\"main\",\"repository\":{\"id\":2}}}"},
		{VCS_AZURE,
			"{\"pullRequestId\":7,\"status\":\"active\",\"title\":\"T\",\"sourceRefName\":"
			"\"refs/heads/topic\",\"targetRefName\":\"refs/heads/main\",\"forkSource\":{},"
			"\"lastMergeSourceCommit\":{\"commitId\":\"" SHA "\"}}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *pull = read_as(cases[i].dialect, VCS_OP_PULL, cases[i].text);

		assert_int_equal(json_int_at(pull, "number", 0), 7);
		assert_string_equal(json_string_at(pull, "head_sha"), SHA);
		assert_string_equal(json_string_at(pull, "head"), "topic");
		assert_string_equal(json_string_at(pull, "base"), "main");
		assert_true(json_bool_at(pull, "fork", false));
		assert_true(json_bool_at(pull, "open", false));
	}
}

static void commits_are_read_alike(void **state)
{
	static const struct {
		enum vcs_dialect dialect;
		const char *text, *at;
	} cases[] = {
		{VCS_GITHUB,
			"[{\"sha\":\"" SHA "\",\"commit\":{\"message\":\"M\",\"author\":{\"name\":\"Ann\",\"date\":"
			"\"2026-11-23T10:00:00Z\"}},\"author\":null}]",
			"2026-11-23T10:00:00Z"},
		{VCS_GITLAB, "[{\"id\":\"" SHA "\",\"message\":\"M\",\"author_name\":\"Ann\",\"authored_date\":\"T\"}]",
			"T"},
		{VCS_BITBUCKET_SERVER,
			"{\"values\":[{\"id\":\"" SHA
			"\",\"message\":\"M\",\"author\":{\"name\":\"Ann\"},\"authorTimestamp\":1000},{\"id\":\"" SHA
			"\",\"authorTimestamp\":253402300800000}],\"isLastPage\":true}",
			"1970-01-01T00:00:01.000Z"},
		{VCS_AZURE,
			"{\"value\":[{\"commitId\":\"" SHA
			"\",\"comment\":\"M\",\"author\":{\"name\":\"Ann\",\"date\":\"T\"}},{\"commitId\":\"x\"}]}",
			"T"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_auto_t *list = read_as(cases[i].dialect, VCS_OP_COMMITS, cases[i].text);
		const json_t *items = json_at(list, "items"), *commit = json_array_get(items, 0);

		assert_string_equal(json_string_at(commit, "sha"), SHA);
		assert_string_equal(json_string_at(commit, "message"), "M");
		assert_string_equal(json_string_at(commit, "author"), "Ann");
		assert_string_equal(json_string_at(commit, "at"), cases[i].at);
		assert_true(json_is_null(json_at(commit, "author_avatar_url")));
		if (cases[i].dialect == VCS_BITBUCKET_SERVER)
			assert_true(json_is_null(json_at(json_array_get(items, 1), "at")));
		else
			assert_int_equal(json_array_size(items), 1);
	}
}

static void a_fork_that_is_gone_is_not_taken_for_the_repository(void **state)
{
	json_auto_t *pull = read_as(VCS_GITHUB, VCS_OP_PULL,
		"{\"number\":7,\"head\":{\"sha\":\"" SHA
		"\",\"ref\":\"t\",\"repo\":null},\"base\":{\"ref\":\"main\",\"repo\":{\"id\":2}}}");

	(void)state;
	assert_true(json_is_null(json_at(pull, "fork")));
}

static void answers_of_another_form_are_refused(void **state)
{
	static const char *const texts[] = {
		"{}", "[]", "null", "\"x\"", "7", "[[[]]]", "{\"id\":{}}", "{\"number\":-1}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (size_t api = 0; api < ARRAY_LEN(apis); api++) {
			assert_null(read_as(apis[api].dialect, VCS_OP_PULL, texts[i]));
			assert_null(read_as(apis[api].dialect, VCS_OP_BRANCH, texts[i]));
			assert_null(read_as(apis[api].dialect, VCS_OP_COMMIT, texts[i]));
			json_decref(read_as(apis[api].dialect, VCS_OP_COMMITS, texts[i]));
			json_decref(read_as(apis[api].dialect, VCS_OP_COMMENTS, texts[i]));
			json_decref(read_as(apis[api].dialect, VCS_OP_HOOKS, texts[i]));
			json_decref(read_as(apis[api].dialect, VCS_OP_PULLS, texts[i]));
			json_decref(read_as(apis[api].dialect, VCS_OP_COMPARE, texts[i]));
		}
}

/* ---- judgement ---- */

static struct vcs_verdict judge(enum vcs_dialect dialect, int status, const char *headers, const char *body)
{
	json_auto_t *head = json_of(headers), *value = json_of(body);
	const struct vcs_answer answer = {.dialect = dialect,
		.operation = VCS_OP_STATUS,
		.status = status,
		.headers = head,
		.body = value,
		.now = 1000};
	struct vcs_verdict verdict;

	vcs_answer_judge(&answer, &verdict);
	return verdict;
}

static void limits_are_waited_for(void **state)
{
	static const struct {
		int status;
		const char *headers, *body;
		int wait_s;
	} cases[] = {
		{429, "{\"retry-after\":[\"17\"]}", "null", 17},
		{429, "{}", "null", 60},
		{403, "{\"x-ratelimit-remaining\":[\"0\"],\"x-ratelimit-reset\":[\"1120\"]}", "null", 120},
		{403, "{}", "{\"message\":\"You have exceeded a secondary rate limit.\"}", 60},
		{429, "{\"ratelimit-remaining\":[\"0\"],\"ratelimit-reset\":[\"1005\"]}", "null", 5},
		{429, "{\"retry-after\":[\"999999999999\"]}", "null", 3600},
		{429, "{\"retry-after\":[\"-5\"]}", "null", 60},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct vcs_verdict verdict = judge(VCS_GITHUB, cases[i].status, cases[i].headers, cases[i].body);

		assert_int_equal(verdict.fate, VCS_AGAIN);
		assert_true(verdict.limited);
		assert_int_equal(verdict.wait_s, cases[i].wait_s);
	}
}

static void the_fate_follows_from_the_status(void **state)
{
	static const struct {
		int status;
		enum vcs_fate fate;
	} cases[] = {{200, VCS_TAKEN}, {201, VCS_TAKEN}, {204, VCS_TAKEN}, {301, VCS_NEVER}, {400, VCS_NEVER},
		{401, VCS_AGAIN}, {403, VCS_NEVER}, {404, VCS_NEVER}, {408, VCS_AGAIN}, {422, VCS_NEVER},
		{500, VCS_AGAIN}, {503, VCS_AGAIN}, {0, VCS_AGAIN}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(judge(VCS_GITHUB, cases[i].status, "{}", "{}").fate, cases[i].fate);
	assert_true(judge(VCS_GITHUB, 401, "{}", "{}").unauthorized);
	assert_true(judge(VCS_GITHUB, 404, "{}", "{}").missing);
}

static void an_equal_transition_counts_as_taken_at_gitlab_only(void **state)
{
	static const char body[] = "{\"message\":\"Cannot transition status via :run from :running\"}";

	(void)state;
	assert_int_equal(judge(VCS_GITLAB, 400, "{}", body).fate, VCS_TAKEN);
	assert_int_equal(judge(VCS_GITHUB, 400, "{}", body).fate, VCS_NEVER);
	assert_int_equal(judge(VCS_GITLAB, 400, "{}", "{\"message\":\"state is invalid\"}").fate, VCS_NEVER);
}

static void a_reason_is_one_printable_line(void **state)
{
	struct vcs_verdict verdict = judge(VCS_GITHUB, 422, "{}", "{\"message\":\"one\\ntwo\\u001b[31m\"}");

	(void)state;
	assert_null(strpbrk(verdict.why, "\n\x1b"));
	assert_non_null(strstr(verdict.why, "one two"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_of_every_dialect_makes_a_request),
		cmocka_unit_test(paths_are_those_that_the_providers_document),
		cmocka_unit_test(hostile_arguments_can_not_leave_the_path),
		cmocka_unit_test(a_missing_argument_is_refused),
		cmocka_unit_test(commits_are_read_alike),
		cmocka_unit_test(pull_requests_are_read_alike),
		cmocka_unit_test(a_fork_that_is_gone_is_not_taken_for_the_repository),
		cmocka_unit_test(answers_of_another_form_are_refused),
		cmocka_unit_test(limits_are_waited_for),
		cmocka_unit_test(the_fate_follows_from_the_status),
		cmocka_unit_test(an_equal_transition_counts_as_taken_at_gitlab_only),
		cmocka_unit_test(a_reason_is_one_printable_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
