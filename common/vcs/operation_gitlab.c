/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

/* GitLab's REST API, version 4. A project is named by its whole path, as one segment. */

static void gitlab_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_add(headers, "Authorization: Bearer ", api->token);
}

/* ---- bodies ---- */

static json_t *status_body(const json_t *arguments)
{
	const char *state = json_string_at(arguments, "state");
	bool bad = text_equal(state, "failure") || text_equal(state, "error");

	return json_pack("{ss ss ss ss}", "state", bad ? "failed" : state, "name", json_string_at(arguments, "context"),
		"description", json_string_at(arguments, "description"), "target_url",
		json_string_at(arguments, "url"));
}

static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss ss sb sb sb sb}", "url", json_string_at(arguments, "url"), "token",
		json_string_at(arguments, "secret"), "push_events", 1, "tag_push_events", 1, "merge_requests_events", 1,
		"enable_ssl_verification", 1);
}

/* ---- answers ---- */

static const struct vcs_item user = {{{"user", VCS_KEY, {"username"}}}};

static const struct vcs_item repository = {{
	{"id", VCS_ID, {"id"}},
	{"identifier", VCS_KEY, {"path_with_namespace"}},
	{"default_branch", VCS_NAME, {"default_branch"}},
	{"clone_url", VCS_URL, {"http_url_to_repo"}},
	{"web_url", VCS_URL, {"web_url"}},
}};

static const struct vcs_item branch = {{
	{"name", VCS_NAME, {"name"}},
	{"sha", VCS_COMMIT, {"commit.id"}},
}};

static const struct vcs_item commit = {{
	{"sha", VCS_COMMIT, {"id"}},
	{"message", VCS_TEXT, {"message"}},
	{"author", VCS_NAME, {"author_name"}},
	{"url", VCS_URL, {"web_url"}},
	{"at", VCS_TIME, {"authored_date"}},
	{"author_avatar_url", VCS_NONE, {NULL}},
	{"author_url", VCS_NONE, {NULL}},
}};

static const struct vcs_item pull = {{
	{"number", VCS_NUMBER, {"iid"}},
	{"head_sha", VCS_COMMIT, {"sha"}},
	{"head", VCS_NAME, {"source_branch"}},
	{"base", VCS_NAME, {"target_branch"}},
	{"fork", VCS_DIFFER, {"source_project_id", "target_project_id"}},
	{"draft", VCS_FLAG, {"draft"}},
	{"open", VCS_IS, {"state", "opened"}},
	{"title", VCS_TITLE, {"title"}},
	{"url", VCS_URL, {"web_url"}},
	{"sender", VCS_NAME, {"author.username"}},
}};

static const struct vcs_item hook = {{
	{"id", VCS_ID, {"id"}},
	{"url", VCS_URL, {"url"}},
}};

static const char *const file_paths[2] = {"new_path", "old_path"};

static json_t *read_compare(const struct vcs_answer *answer)
{
	json_t *result = vcs_read_files(answer, json_at(answer->body, "diffs"), VCS_ALL, file_paths);

	if (result && json_bool_at(answer->body, "compare_timeout", false))
		json_object_set_new(result, "whole", json_false());
	return result;
}

/* GitLab refuses a status that the commit has already: "Cannot transition status via :run from :running". */
static bool is_equal_transition(const struct vcs_answer *answer)
{
	const char *message = json_string_at(answer->body, "message");

	return answer->status == 400 && message && strstr(message, "Cannot transition status");
}

#define PROJECT "/projects/{project}"

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .item = &user},
	[VCS_OP_REPOSITORY] = {"GET", PROJECT, .item = &repository},
	[VCS_OP_LOCATE] = {"GET", "/projects/{id}", .item = &repository},
	[VCS_OP_REPOSITORIES] = {"GET",
		"/projects?membership=true&archived=false&order_by=last_activity_at&per_page=100&page={page}"
		"&search_namespaces=true&search={filter}",
		.item = &repository, .page = 100},
	[VCS_OP_BRANCH] = {"GET", PROJECT "/repository/branches/{branch}", .item = &branch},
	[VCS_OP_COMMIT] = {"GET", PROJECT "/repository/commits/{sha}", .item = &commit},
	[VCS_OP_COMMITS] = {"GET", PROJECT "/repository/commits?ref_name={branch}&per_page=20", .item = &commit,
		.page = VCS_COMMITS_MAX},
	[VCS_OP_COMPARE] = {"GET", PROJECT "/repository/compare?from={base}&to={head}&straight=true",
		.read = read_compare},
	[VCS_OP_PULL] = {"GET", PROJECT "/merge_requests/{number}", .item = &pull},
	[VCS_OP_PULLS] = {"GET", PROJECT "/merge_requests?state=opened&per_page=30&page={page}", .item = &pull,
		.page = 30},
	[VCS_OP_PULL_FILES] = {"GET", PROJECT "/merge_requests/{number}/diffs?per_page=100&page={page}",
		.files = file_paths, .page = 100},
	[VCS_OP_STATUS] = {"POST", PROJECT "/statuses/{sha}", .body = status_body, .taken = is_equal_transition},
	[VCS_OP_COMMENTS] = {"GET",
		PROJECT "/merge_requests/{number}/notes?order_by=created_at&sort=asc&per_page=100&page={page}",
		.item = &vcs_github_comment_item, .page = 100},
	[VCS_OP_COMMENT_CREATE] = {"POST", PROJECT "/merge_requests/{number}/notes", .body = vcs_github_comment,
		.item = &vcs_github_comment_item},
	[VCS_OP_COMMENT_EDIT] = {"PUT", PROJECT "/merge_requests/{number}/notes/{comment}", .body = vcs_github_comment,
		.item = &vcs_github_comment_item},
	[VCS_OP_HOOKS] = {"GET", PROJECT "/hooks?per_page=100&page={page}", .item = &hook, .page = 100},
	[VCS_OP_HOOK_CREATE] = {"POST", PROJECT "/hooks", .body = hook_body, .item = &vcs_made},
	[VCS_OP_HOOK_EDIT] = {"PUT", PROJECT "/hooks/{hook}", .body = hook_body, .item = &vcs_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", PROJECT "/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_gitlab_rows = {rows, gitlab_headers, NULL};
