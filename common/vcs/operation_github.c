/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <string.h>

#include "common/vcs/ref.h"

/* GitHub's REST API, version 2022-11-28. */

enum { MAX_COMPARED = 300, MAX_DESCRIPTION = 140 };

static void github_headers(const struct vcs_api *api, json_t *headers)
{
	vcs_header_add(headers, "Authorization: Bearer ", api->token);
	vcs_header_add(headers, "X-GitHub-Api-Version: ", "2022-11-28");
}

/* ---- bodies ---- */

json_t *vcs_github_status(const json_t *arguments)
{
	char description[MAX_DESCRIPTION + 1];

	text_copy(description, sizeof(description), text_or_empty(json_string_at(arguments, "description")));
	return json_pack("{ss ss ss ss}", "state", json_string_at(arguments, "state"), "context",
		json_string_at(arguments, "context"), "description", description, "target_url",
		json_string_at(arguments, "url"));
}

json_t *vcs_github_comment(const json_t *arguments)
{
	return json_pack("{ss}", "body", json_string_at(arguments, "body"));
}

/* An App's installation creates a check run for each state, and GitHub shows the newest one of a name. */
static json_t *check_body(const json_t *arguments)
{
	const char *state = text_or_empty(json_string_at(arguments, "state"));
	const char *description = text_or_empty(json_string_at(arguments, "description"));
	bool pending = text_equal(state, "pending");
	json_t *body = json_pack("{ss ss ss ss s{ss ss}}", "name", json_string_at(arguments, "context"), "head_sha",
		json_string_at(arguments, "sha"), "status", pending ? "in_progress" : "completed", "details_url",
		json_string_at(arguments, "url"), "output", "title", *description ? description : state, "summary",
		*description ? description : state);

	if (body && !pending)
		json_object_set_new(
			body, "conclusion", json_string(text_equal(state, "success") ? "success" : "failure"));
	return body;
}

static json_t *hook_config(const json_t *arguments)
{
	return json_pack("{ss ss ss ss}", "url", json_string_at(arguments, "url"), "content_type", "json", "secret",
		json_string_at(arguments, "secret"), "insecure_ssl", "0");
}

static json_t *hook_body(const json_t *arguments)
{
	return json_pack("{ss sb s[sss] so}", "name", "web", "active", 1, "events", "push", "pull_request",
		"repository", "config", hook_config(arguments));
}

static json_t *hook_change(const json_t *arguments)
{
	return json_pack("{sb s[sss] so}", "active", 1, "events", "push", "pull_request", "repository", "config",
		hook_config(arguments));
}

/* ---- answers ---- */

const struct vcs_item vcs_github_user = {{{"user", VCS_KEY, {"login"}}}};

const struct vcs_item vcs_github_repository = {{
	{"id", VCS_ID, {"id"}},
	{"identifier", VCS_KEY, {"full_name"}},
	{"default_branch", VCS_NAME, {"default_branch"}},
	{"clone_url", VCS_URL, {"clone_url"}},
	{"web_url", VCS_URL, {"html_url"}},
}};

static const struct vcs_item branch = {{
	{"name", VCS_NAME, {"name"}},
	{"sha", VCS_COMMIT, {"commit.sha"}},
}};

const struct vcs_item vcs_github_commit = {{
	{"sha", VCS_COMMIT, {"sha"}},
	{"message", VCS_TEXT, {"commit.message"}},
	{"author", VCS_NAME, {"commit.author.name"}},
	{"url", VCS_URL, {"html_url"}},
	{"at", VCS_TIME, {"commit.author.date"}},
	{"author_avatar_url", VCS_URL, {"author.avatar_url"}},
	{"author_url", VCS_URL, {"author.html_url"}},
}};

static const char *const file_paths[2] = {"filename", "previous_filename"};

/* The list begins at the merge base, so it lacks the files of commits that a forced push removed. If the base is a
 * branch, those files are not wanted. */
static bool is_forced(const struct vcs_answer *answer)
{
	return vcs_sha_valid(json_string_at(answer->arguments, "base")) &&
		!text_equal(json_string_at(answer->body, "status"), "ahead");
}

/* The first page has all files, but no more than 300. */
static json_t *read_compare(const struct vcs_answer *answer)
{
	const json_t *files = json_at(answer->body, "files");
	json_t *result = vcs_read_files(answer, files, VCS_ALL, file_paths);

	if (result && (json_array_size(files) >= MAX_COMPARED || is_forced(answer)))
		json_object_set_new(result, "whole", json_false());
	return result;
}

const struct vcs_item vcs_github_pull = {{
	{"number", VCS_NUMBER, {"number"}},
	{"head_sha", VCS_COMMIT, {"head.sha"}},
	{"head", VCS_NAME, {"head.ref"}},
	{"base", VCS_NAME, {"base.ref"}},
	{"fork", VCS_DIFFER, {"head.repo.id", "base.repo.id"}},
	{"draft", VCS_FLAG, {"draft"}},
	{"open", VCS_IS, {"state", "open"}},
	{"title", VCS_TITLE, {"title"}},
	{"url", VCS_URL, {"html_url"}},
	{"sender", VCS_NAME, {"user.login"}},
}};

const struct vcs_item vcs_github_comment_item = {{
	{"id", VCS_ID, {"id"}},
	{"version", VCS_NONE, {NULL}},
	{"body", VCS_TEXT, {"body"}},
}};

const struct vcs_item vcs_github_hook = {{
	{"id", VCS_ID, {"id"}},
	{"url", VCS_URL, {"config.url"}},
}};

static const struct vcs_row rows[VCS_OPERATIONS] = {
	[VCS_OP_VERIFY] = {"GET", "/user", .item = &vcs_github_user},
	[VCS_OP_REPOSITORY] = {"GET", "/repos/{repo}", .item = &vcs_github_repository},
	[VCS_OP_LOCATE] = {"GET", "/repositories/{id}", .item = &vcs_github_repository},
	[VCS_OP_REPOSITORIES] = {"GET", "/{repositories}?per_page=100&page={page}", .item = &vcs_github_repository,
		.list = "repositories", .page = 100},
	[VCS_OP_BRANCH] = {"GET", "/repos/{repo}/branches/{branch}", .item = &branch},
	[VCS_OP_COMMIT] = {"GET", "/repos/{repo}/commits/{sha}", .item = &vcs_github_commit},
	[VCS_OP_COMMITS] = {"GET", "/repos/{repo}/commits?sha={branch}&per_page=20", .item = &vcs_github_commit,
		.page = VCS_COMMITS_MAX},
	[VCS_OP_COMPARE] = {"GET", "/repos/{repo}/compare/{base}...{head}", .read = read_compare},
	[VCS_OP_PULL] = {"GET", "/repos/{repo}/pulls/{number}", .item = &vcs_github_pull},
	[VCS_OP_PULLS] = {"GET", "/repos/{repo}/pulls?state=open&per_page=30&page={page}", .item = &vcs_github_pull,
		.page = 30},
	[VCS_OP_PULL_FILES] = {"GET", "/repos/{repo}/pulls/{number}/files?per_page=100&page={page}",
		.files = file_paths, .page = 100},
	[VCS_OP_STATUS] = {"POST", "/repos/{repo}/statuses/{sha}", .body = vcs_github_status},
	[VCS_OP_CHECK_RUN] = {"POST", "/repos/{repo}/check-runs", .body = check_body},
	[VCS_OP_COMMENTS] = {"GET", "/repos/{repo}/issues/{number}/comments?per_page=100&page={page}",
		.item = &vcs_github_comment_item, .page = 100},
	[VCS_OP_COMMENT_CREATE] = {"POST", "/repos/{repo}/issues/{number}/comments", .body = vcs_github_comment,
		.item = &vcs_github_comment_item},
	[VCS_OP_COMMENT_EDIT] = {"PATCH", "/repos/{repo}/issues/comments/{comment}", .body = vcs_github_comment,
		.item = &vcs_github_comment_item},
	[VCS_OP_HOOKS] = {"GET", "/repos/{repo}/hooks?per_page=100&page={page}", .item = &vcs_github_hook, .page = 100},
	[VCS_OP_HOOK_CREATE] = {"POST", "/repos/{repo}/hooks", .body = hook_body, .item = &vcs_made},
	[VCS_OP_HOOK_EDIT] = {"PATCH", "/repos/{repo}/hooks/{hook}", .body = hook_change, .item = &vcs_made},
	[VCS_OP_HOOK_DELETE] = {"DELETE", "/repos/{repo}/hooks/{hook}", .taken = vcs_is_gone},
};

const struct vcs_dialect_rows vcs_github_rows = {rows, github_headers, NULL};
